// The cpu target: which thread quantizes which rows and multiplies which tiles.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "kernels/cpu/backend.hpp"
#include "kernels/cpu/layout.hpp"
#include "kernels/cpu/pack.hpp"
#include "kernels/cpu/policy.hpp"
#include "kernels/cpu/row_integers.hpp"
#include "runtime/cpu_device.hpp"

namespace radiance {
namespace {

using cpu::DType;
using cpu::GemmKernel;
using cpu::GemmTask;
using cpu::RowForm;

constexpr int64_t kAlignment = 64;

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

DType to_dtype(radiance_dtype type) {
  return type == RADIANCE_BF16 ? DType::kBf16 : type == RADIANCE_F16 ? DType::kF16 : DType::kF32;
}

int64_t element_bytes(radiance_dtype type) { return type == RADIANCE_F32 ? 4 : 2; }

// Not a multiple of a page: rows of the same k would fall into the same cache sets.
int64_t row_stride(RowForm form, const WeightShape& shape) {
  const int64_t padded = shape.k + cpu::kRowPadding;
  const int64_t bytes =
      round_up(form == RowForm::kBf16  ? padded * 2
               : form == RowForm::kF32 ? padded * 4
                                       : cpu::integer_row_bytes(shape.k, shape.group),
               kAlignment);
  return bytes % 4096 == 0 ? bytes + kAlignment : bytes;
}

// Where things stand in a workspace.
struct Workspace {
  int64_t rows, scales, quantized, scratch;  // offsets; the last two are one part a thread
  int64_t quantized_stride, scratch_stride;
  int64_t bytes;
};

Workspace lay_out(const GemmKernel& kernel, const WeightShape& shape, int64_t m, int threads) {
  Workspace w{};
  w.scales = round_up(m, cpu::kRowBlock) * row_stride(kernel.form, shape);
  w.quantized = w.scales + round_up(m * 4, kAlignment);
  w.quantized_stride = round_up(shape.k, kAlignment);
  w.scratch = w.quantized + w.quantized_stride * threads;
  w.scratch_stride = round_up(kernel.scratch_bytes(m, shape.k, shape.group), kAlignment);
  w.bytes = w.scratch + w.scratch_stride * threads;
  return w;
}

// Hands out tiles: large runs first, small ones at the end so that threads finish together.
class TileQueue {
 public:
  TileQueue(int64_t tiles, int64_t granule, int threads)
      : tiles_(tiles), granule_(granule), threads_(threads) {}

  bool take(int64_t* begin, int64_t* end) {
    int64_t at = next_.load(std::memory_order_relaxed);
    int64_t to;
    do {
      if (at >= tiles_) return false;
      const int64_t share = (tiles_ - at) / (3 * threads_) / granule_ * granule_;
      to = std::min(tiles_, at + std::clamp(share, granule_, 4 * granule_));
    } while (!next_.compare_exchange_weak(at, to, std::memory_order_relaxed));
    *begin = at;
    *end = to;
    return true;
  }

 private:
  const int64_t tiles_, granule_;
  const int threads_;
  std::atomic<int64_t> next_{0};
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(CpuDevice& device)
      : device_(device), kernels_(cpu::arch_kernels(device.arch())) {}

  const char* target() const override { return "cpu"; }
  uint32_t layout_version() const override { return cpu::kLayoutVersion; }

  // A cache line, which is what other libraries' allocators give: a copy that one made is usable.
  uintptr_t packed_alignment() const override { return kAlignment; }

  size_t packed_bytes(const WeightShape& shape) const override {
    return sizeof(PackedHeader) + cpu::packed_code_bytes(shape) + cpu::packed_scale_bytes(shape);
  }

  void pack(const WeightShape& shape, const radiance_weight_desc& weight, void* packed) override {
    PackedHeader header = make_header(shape, target(), layout_version(), packed_bytes(shape));
    header.scales_offset = header.codes_offset + cpu::packed_code_bytes(shape);
    std::memcpy(packed, &header, sizeof(header));
    auto* bytes = static_cast<uint8_t*>(packed);
    TileQueue queue(cpu::tiles_of(shape.n), 4, device_.pool().threads());
    device_.pool().run([&](int) {
      int64_t begin, end;
      while (queue.take(&begin, &end)) {
        cpu::pack_tiles(shape, weight.codes, weight.scales, begin, end, bytes + header.codes_offset,
                        bytes + header.scales_offset);
      }
    });
  }

  size_t workspace_bytes(const WeightShape& shape, int64_t max_m) const override {
    int64_t bytes = 0;
    for (int i = 0; i < kernels_.gemm_count; ++i) {
      const GemmKernel& kernel = kernels_.gemm[i];
      const int64_t m = std::min(max_m, kernel.max_m);
      bytes = std::max(bytes, lay_out(kernel, shape, m, device_.pool().threads()).bytes);
    }
    return static_cast<size_t>(bytes);
  }

  Plan plan(const WeightShape& shape, int64_t m) const override {
    return cpu::plans(device_.arch(), shape, m).front();
  }

  std::vector<Plan> configs(const WeightShape& shape, int64_t m) const override {
    return cpu::plans(device_.arch(), shape, m);
  }

  void quantize(const QuantizeCall& call) override {
    for_rows(call.m, call.k, [&](int64_t m, int) {
      uint8_t* xq = call.xq + m * call.k;
      const auto* x =
          static_cast<const uint8_t*>(call.x) + m * call.ldx * element_bytes(call.x_dtype);
      call.scales[m] = kernels_.rows->quantize(x, to_dtype(call.x_dtype), call.k, xq);
      if (call.row_sums != nullptr) {
        const int64_t groups = (call.k + call.group - 1) / call.group;
        kernels_.rows->group_sums(xq, call.k, call.group, call.row_sums + m * groups);
      }
    });
  }

  void gemm(const PackedHeader& header, const void* packed, const GemmCall& call) override {
    const GemmKernel& kernel = cpu::choose_kernel(device_.arch(), call.m, call.config);
    const int64_t k = header.k;
    run_chunks(kernel, header, packed, call, [&](int64_t m, float* scale, uint8_t*, uint8_t* row) {
      *scale = call.x_scales[m];
      kernels_.rows->expand(call.xq + m * k, k, header.group, kernel.form, row);
    });
  }

  void forward(const PackedHeader& header, const void* packed, const ForwardCall& call) override {
    const GemmKernel& kernel = cpu::choose_kernel(device_.arch(), call.gemm.m, call.gemm.config);
    const int64_t k = header.k;
    const int64_t stride = call.ldx * element_bytes(call.x_dtype);
    const auto* x = static_cast<const uint8_t*>(call.x);
    run_chunks(kernel, header, packed, call.gemm,
               [&](int64_t m, float* scale, uint8_t* xq, uint8_t* row) {
                 *scale = kernels_.rows->quantize(x + m * stride, to_dtype(call.x_dtype), k, xq);
                 kernels_.rows->expand(xq, k, header.group, kernel.form, row);
               });
  }

  void stream_read(const void* data, size_t bytes, StreamHandle) override {
    constexpr int64_t kPart = int64_t{1} << 20;
    const auto* from = static_cast<const uint8_t*>(data);
    const auto total = static_cast<int64_t>(bytes);
    TileQueue queue((total + kPart - 1) / kPart, 1, device_.pool().threads());
    std::atomic<uint64_t> seen{0};
    device_.pool().run([&](int) {
      int64_t begin, end;
      uint64_t mine = 0;
      while (queue.take(&begin, &end)) {
        mine ^= kernels_.stream_read(from + begin * kPart,
                                     std::min(total, end * kPart) - begin * kPart);
      }
      seen.fetch_xor(mine, std::memory_order_relaxed);
    });
    stream_result_.store(seen.load(), std::memory_order_relaxed);
  }

  PeakProbe peak(const char* config, double seconds) override {
    const cpu::PeakKernel& kernel = *cpu::choose_kernel(device_.arch(), cpu::kAnyM, config).peak;
    using Clock = std::chrono::steady_clock;
    std::atomic<int64_t> iterations{0};
    const auto start = Clock::now();
    const auto elapsed = [&] {
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    device_.pool().run([&](int) {
      float sum = 0;
      int64_t done = 0;
      for (constexpr int64_t kBatch = 2000; done == 0 || elapsed() < seconds; done += kBatch) {
        sum += kernel.run(kBatch);
      }
      iterations.fetch_add(done);
      peak_result_.store(sum, std::memory_order_relaxed);
    });
    const double rate = static_cast<double>(iterations.load() * kernel.macs) / elapsed();
    return {kernel.instruction, rate};
  }

 private:
  // Calls row(m, worker) for every row, on as many threads as it is worth waking.
  template <typename Row>
  void for_rows(int64_t rows, int64_t k, Row&& row) {
    constexpr int64_t kWorthWaking = 1 << 16;  // elements: about 20 us of quantization
    if (rows == 1 || rows * k < kWorthWaking) {
      for (int64_t m = 0; m < rows; ++m) row(m, 0);
      return;
    }
    TileQueue queue(rows, 1, device_.pool().threads());
    device_.pool().share([&](int worker) {
      int64_t begin, end;
      while (queue.take(&begin, &end)) {
        for (int64_t m = begin; m < end; ++m) row(m, worker);
      }
    });
  }

  // Whether a multiplication takes longer than waking a thread does. Fitted to one thread of a Xeon
  // with AMX: 45, 86 and 139 us for 1, 4 and 16 rows of 3072 x 576. Below, all of a small model's
  // layers took two to three times as long on two virtual cores of one physical core as on one of
  // them.
  static bool worth_waking(const WeightShape& shape, int64_t m) {
    constexpr int64_t kWorth = int64_t{1} << 24;  // 60 to 90 us
    return shape.n * shape.k * (m + 5) >= kWorth;
  }

  // Cuts the call into runs of rows that the kernel takes, fills each run's rows through
  // fill(m, &scale, xq scratch, row), and multiplies.
  template <typename Fill>
  void run_chunks(const GemmKernel& kernel, const PackedHeader& header, const void* packed,
                  const GemmCall& call, Fill&& fill) {
    const WeightShape shape = header.shape();
    const int threads = device_.pool().threads();
    int64_t m0 = 0;
    for (int64_t left = (call.m + kernel.max_m - 1) / kernel.max_m; left > 0; --left) {
      const int64_t m = (call.m - m0 + left - 1) / left;
      const Workspace layout = lay_out(kernel, shape, m, threads);
      auto* workspace = static_cast<uint8_t*>(call.workspace);
      auto* scales = reinterpret_cast<float*>(workspace + layout.scales);
      const int64_t stride = row_stride(kernel.form, shape);
      for_rows(m, shape.k, [&](int64_t i, int worker) {
        fill(m0 + i, scales + i, workspace + layout.quantized + worker * layout.quantized_stride,
             workspace + i * stride);
      });
      const auto* bytes = static_cast<const uint8_t*>(packed);
      const GemmTask task = {
          shape.format == RADIANCE_MXFP4 ? cpu::Format::kMxfp4 : cpu::Format::kInt4,
          shape.n,
          shape.k,
          shape.group,
          bytes + header.codes_offset,
          bytes + header.scales_offset,
          m,
          workspace,
          stride,
          scales,
          static_cast<uint8_t*>(call.y) + m0 * call.ldy * element_bytes(call.y_dtype),
          to_dtype(call.y_dtype),
          call.ldy,
          static_cast<const uint8_t*>(call.bias),
          to_dtype(call.bias_dtype)};
      TileQueue queue(cpu::tiles_of(shape.n), kernel.tile_granule, threads);
      const auto multiply = [&](int worker) {
        uint8_t* scratch = workspace + layout.scratch + worker * layout.scratch_stride;
        int64_t begin, end;
        while (queue.take(&begin, &end)) kernel.run(task, begin, end, scratch);
      };
      if (worth_waking(shape, m)) {
        device_.pool().share(multiply);
      } else {
        multiply(0);
      }
      m0 += m;
    }
  }

  CpuDevice& device_;
  const cpu::ArchKernels& kernels_;
  // Where the probes leave what they read, so that no compiler drops them.
  std::atomic<uint64_t> stream_result_{0};
  std::atomic<float> peak_result_{0};
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(CpuDevice& device) {
  return std::make_unique<CpuBackend>(device);
}

}  // namespace radiance
