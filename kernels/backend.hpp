// What every target implements: packing, activation quantization, the product, and the instruments
// that the lab measures it with. One object a device; its methods are thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/hardware_probes.hpp"
#include "radiance/radiance.h"
#include "runtime/device.hpp"

namespace radiance {

// Format, N, K and group of a weight. group is resolved: never -1, never above k.
struct WeightShape {
  radiance_format format = RADIANCE_AUTOROUND_INT4;
  int64_t n = 0;
  int64_t k = 0;
  int64_t group = 0;

  int64_t groups() const { return (k + group - 1) / group; }
};

// The shape of a description after checking that it can be: throws Error (invalid argument, or
// unsupported) with a sentence.
WeightShape checked_shape(const radiance_weight_desc& weight);

// Checks scales (finite; no E8M0 NaN): throws Error (bad input) naming the first bad one.
void check_scales(const WeightShape& shape, const void* scales);

// The first bytes of a packed weight, on every target.
struct PackedHeader {
  static constexpr char kMagic[8] = {'R', 'A', 'D', 'P', 'A', 'C', 'K', '\0'};
  char magic[8];
  char target[16];  // "cpu", "gfx1201", "sm90"
  uint32_t layout_version;
  uint32_t format;
  int64_t n, k, group;
  uint64_t packed_bytes;
  uint64_t codes_offset;  // from the start of the header, like the next two
  uint64_t scales_offset;
  uint64_t extra_offset;  // 0 if the layout has none
  uint8_t reserved[256 - 8 - 16 - 8 - 24 - 32];

  WeightShape shape() const { return {static_cast<radiance_format>(format), n, k, group}; }
};
static_assert(sizeof(PackedHeader) == 256);

// A header with everything but scales_offset and extra_offset; the codes follow it.
PackedHeader make_header(const WeightShape& shape, const char* target, uint32_t layout_version,
                         size_t packed_bytes);

// Which kernel, and why: the policy's answer for one call.
struct Plan {
  std::string config;  // a name that GemmCall::config accepts
  std::string reason;  // one line
};

// A variant that leaves something out, or adds it, to show by the time what it costs. Its results
// may be wrong.
struct Ablation {
  std::string config;  // a name that GemmCall::config accepts
  std::string of;      // the configuration that it is a variant of
  std::string what;    // one line
  bool right = false;  // whether its results are right all the same
};

struct QuantizeCall {
  int64_t m = 0, k = 0;
  const void* x = nullptr;
  radiance_dtype x_dtype = RADIANCE_BF16;
  int64_t ldx = 0;
  uint8_t* xq = nullptr;
  float* scales = nullptr;
  int64_t group = 0;
  float* row_sums = nullptr;
  StreamHandle stream = nullptr;
};

struct GemmCall {
  int64_t m = 0;
  const uint8_t* xq = nullptr;
  const float* x_scales = nullptr;
  void* y = nullptr;
  radiance_dtype y_dtype = RADIANCE_BF16;
  int64_t ldy = 0;
  const void* bias = nullptr;
  radiance_dtype bias_dtype = RADIANCE_BF16;
  void* workspace = nullptr;
  size_t workspace_bytes = 0;
  StreamHandle stream = nullptr;
  const char* config = nullptr;  // nullptr: the policy chooses
};

struct ForwardCall {
  GemmCall gemm;  // xq and x_scales unused
  const void* x = nullptr;
  radiance_dtype x_dtype = RADIANCE_BF16;
  int64_t ldx = 0;
};

// The result of a register-only peak probe.
struct PeakProbe {
  std::string instruction;  // "vdpbf16ps"
  double macs_per_second = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual const char* target() const = 0;
  virtual uint32_t layout_version() const = 0;

  // What the address of a packed weight is a multiple of.
  virtual uintptr_t packed_alignment() const { return 256; }
  virtual size_t packed_bytes(const WeightShape& shape) const = 0;
  // weight has been checked; packed is device memory of packed_bytes.
  virtual void pack(const WeightShape& shape, const radiance_weight_desc& weight, void* packed) = 0;

  virtual size_t workspace_bytes(const WeightShape& shape, int64_t max_m) const = 0;

  // The policy: pure functions of the shape, m and the device's size.
  virtual Plan plan(const WeightShape& shape, int64_t m) const = 0;
  // Every configuration that is legal for this call, the planned one first.
  virtual std::vector<Plan> configs(const WeightShape& shape, int64_t m) const = 0;

  virtual void quantize(const QuantizeCall& call) = 0;
  // `packed` is the device address of the weight that `header` (host) describes.
  virtual void gemm(const PackedHeader& header, const void* packed, const GemmCall& call) = 0;
  virtual void forward(const PackedHeader& header, const void* packed, const ForwardCall& call) = 0;

  // ---- instruments ----
  // gemm() takes their names like those of configs(), which does not list them.
  virtual std::vector<Ablation> ablations(const WeightShape& /*shape*/, int64_t /*m*/) const {
    return {};
  }
  // What the kernels assume of the hardware, to be checked; null where they assume nothing. Lives
  // as long as the backend.
  virtual HardwareProbes* hardware_probes() { return nullptr; }
  // Reads `bytes` of device memory once, as fast as the device can, with as many threads as a gemm
  // would use. bytes is a multiple of 64.
  virtual void stream_read(const void* data, size_t bytes, StreamHandle stream) = 0;
  // Runs only the multiply-accumulates of a configuration (null: of that for many rows) on
  // registers, on every unit that a gemm uses, for about `seconds`.
  virtual PeakProbe peak(const char* config, double seconds) = 0;
};

// The backend for a device. It borrows the device, which must outlive it.
std::unique_ptr<Backend> make_backend(Device& device);

}  // namespace radiance
