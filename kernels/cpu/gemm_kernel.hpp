// The interface between the cpu backend and its kernels, one table an instruction set.
//
// Files that define kernels are compiled for their instruction set. So that no inline function of
// theirs can be picked by the linker for a machine that lacks it, they include only this header,
// intrinsics and headers whose functions are always inlined or in unnamed namespaces; a test looks
// for weak symbols in their objects.
#pragma once

#include <cstddef>
#include <cstdint>

namespace radiance::cpu {

enum class Format : int { kInt4, kMxfp4 };
enum class DType : int { kBf16, kF16, kF32 };

// The form in which a kernel reads the quantized activations of one row. kRowPadding zeros follow
// the bf16 and fp32 forms: kernels that take k in steps may read, and multiply by zero, that far
// past a row's end.
enum class RowForm : int {
  kBf16,    // 2 bytes an element
  kF32,     // 4 bytes an element
  kDigits,  // integers as two signed digits, and a list of what they leave out: row_integers.hpp
  kWords,   // the same integers as 16-bit words
};
constexpr int64_t kRowPadding = 32;
// Rows that kernels read at once: so many are allocated, and those past m may hold anything.
constexpr int64_t kRowBlock = 32;

// One product: `m` rows against some tiles of a packed weight.
struct GemmTask {
  Format format;
  int64_t n, k, group;
  const uint8_t* codes;   // layout.hpp
  const uint8_t* scales;  // layout.hpp
  int64_t m;
  const uint8_t* rows;    // [m] rows of the kernel's RowForm
  int64_t row_bytes;      // from one row to the next
  const float* x_scales;  // [m]
  uint8_t* y;             // [m][ldy] of y_type
  DType y_type;
  int64_t ldy;
  const uint8_t* bias;  // [n] of bias_type, or null
  DType bias_type;
};

namespace {

struct BlockRange {
  int64_t begin, end;  // in blocks of 8 k
};

inline int64_t groups_of(const GemmTask& task) { return (task.k + task.group - 1) / task.group; }

// The blocks of group g; the last group may be short.
inline BlockRange group_blocks(const GemmTask& task, int64_t g) {
  const int64_t begin = g * task.group;
  const int64_t end = begin + task.group < task.k ? begin + task.group : task.k;
  return {begin / 8, end / 8};
}

// Rows of pass p when `left` rows remain for `passes` - p passes: as even as can be, since a pass
// of few rows costs nearly what a full one does.
inline int64_t even_share(int64_t left, int64_t passes) { return (left + passes - 1) / passes; }

inline int64_t no_scratch(int64_t /*m*/, int64_t /*k*/, int64_t /*group*/) { return 0; }

}  // namespace

constexpr int64_t kAnyM = INT64_MAX;

// The multiply-accumulates of a kernel on registers alone.
struct PeakKernel {
  const char* instruction;
  float (*run)(int64_t iterations);
  int64_t macs;  // of an iteration: weights times rows, however many products each of them takes
};

struct GemmKernel {
  const char* name;
  // Calls of up to so many rows are planned for this kernel, if none before it in its table is.
  int64_t planned_m;
  RowForm form;
  // Rows a call may have at most; more are cut into several calls.
  int64_t max_m;
  // Units of work are multiples of this many tiles where N allows: what the kernel takes side by
  // side.
  int64_t tile_granule;
  // Bytes of scratch that a thread needs; the caller aligns it to 64.
  int64_t (*scratch_bytes)(int64_t m, int64_t k, int64_t group);
  void (*run)(const GemmTask& task, int64_t tile_begin, int64_t tile_end, void* scratch);
  const PeakKernel* peak;
};

// Quantization of one row of k activations: DESIGN contract, bit-equal on every instruction set.
struct RowKernels {
  // Returns the scale; NaN, and every byte 0x7f, for a row that holds NaN or infinity.
  float (*quantize)(const void* x, DType type, int64_t k, uint8_t* xq);
  // sums[g] = the exact sum of the group's values, rounded once to float.
  void (*group_sums)(const uint8_t* xq, int64_t k, int64_t group, float* sums);
  // Writes the row in a form, with its padding. k and group are multiples of 8.
  void (*expand)(const uint8_t* xq, int64_t k, int64_t group, RowForm form, uint8_t* row);
};

struct ArchKernels {
  const GemmKernel* gemm;  // by planned_m; the last takes any number of rows
  int gemm_count;
  const RowKernels* rows;
  // Reads bytes (a multiple of 64) and returns something that depends on all of them.
  uint64_t (*stream_read)(const uint8_t* data, int64_t bytes);
};

extern const ArchKernels kPortableKernels;
extern const ArchKernels kAvx2Kernels;
extern const ArchKernels kAvx2VnniKernels;  // where AVX-VNNI is
extern const ArchKernels kAvx512Kernels;
extern const ArchKernels kAvx512SplitDotKernels;  // where vdpbf16ps is slow
extern const ArchKernels kAmxKernels;

}  // namespace radiance::cpu
