// The gfx1201 target: which kernel is launched with what.
#include "kernels/gfx1201/backend.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/gfx1201/ablations.hpp"
#include "kernels/gfx1201/code_objects.hpp"
#include "kernels/gfx1201/mxfp4_geometry.hpp"
#include "kernels/gfx1201/mxfp4_kernels.hpp"
#include "kernels/gfx1201/mxfp4_pack.hpp"
#include "kernels/gfx1201/pack.hpp"
#include "kernels/gfx1201/policy.hpp"
#include "kernels/gfx1201/probes.hpp"
#include "numerics/e4m3.hpp"
#include "runtime/hip_module.hpp"

namespace radiance {
namespace {

using gfx1201::Choice;
using gfx1201::GemmParams;
using gfx1201::Kernel;
using gfx1201::Mxfp4GeneralParams;
using gfx1201::Mxfp4Params;
using gfx1201::PeakParams;
using gfx1201::QuantizeParams;
using gfx1201::RowSumParams;
using gfx1201::StreamParams;
using gfx1201::Traits;
using gfx1201::Workspace;

int64_t ceil_div(int64_t value, int64_t by) { return (value + by - 1) / by; }

// The grid of a launch, or an error if it has more workgroups than a dimension takes.
unsigned grid_of(int64_t blocks, const char* what) {
  constexpr int64_t kMost = 0x7fffff;  // times 256 threads: 32 bits of work-items
  if (blocks > kMost) {
    throw Error(RADIANCE_UNSUPPORTED, std::string(what) + " would take " + std::to_string(blocks) +
                                          " workgroups, a launch takes " + std::to_string(kMost));
  }
  return static_cast<unsigned>(blocks);
}

// The matrix kernels, indexed as a Choice says.
struct MatrixKernels {
  hip::Function decode[gfx1201::kMaxRowTiles][2];  // [row tiles - 1][split]
  hip::Function prefill[2];                        // [column tiles / 4]
};

class Gfx1201Backend final : public Backend {
 public:
  explicit Gfx1201Backend(HipDevice& device)
      : device_(device),
        decode_(device, image("autoround_decode")),
        decode_groups_(device, image("autoround_decode_groups")),
        prefill_(device, image("autoround_prefill")),
        prefill_groups_(device, image("autoround_prefill_groups")),
        decode_baseline_(device, image("autoround_decode_baseline")),
        prefill_baseline_(device, image("autoround_prefill_baseline")),
        quantize_(device, image("quantize_activations")),
        general_(device, image("general")),
        stream_(device, image("stream_probe")),
        peak_(device, image("peak_probe")),
        ablations_(device),
        mxfp4_(device),
        shipped_{matrix_kernels(decode_, prefill_, "", ""),
                 matrix_kernels(decode_groups_, prefill_groups_, "", "_g64"),
                 matrix_kernels(decode_groups_, prefill_groups_, "", "_g32")},
        baseline_(matrix_kernels(decode_baseline_, prefill_baseline_, "_baseline", "")),
        group_fold_function_(prefill_baseline_.function("autoround_prefill_baseline_n2_group")),
        quantize_function_(quantize_.function("quantize_activations")),
        row_sums_function_(quantize_.function("row_sums")),
        general_function_(general_.function("general")),
        stream_function_(stream_.function("stream_read")),
        peak_function_(peak_.function("peak")),
        probes_(gfx1201::make_hardware_probes(device)),
        never_(device, 256) {
    traits_.units = device.info().units;
    traits_.keeps_subnormals = keeps_subnormals();
  }

  const char* target() const override { return "gfx1201"; }
  uint32_t layout_version() const override { return gfx1201::kLayoutVersion; }

  size_t packed_bytes(const WeightShape& shape) const override {
    if (shape.format == RADIANCE_MXFP4) return gfx1201::mxfp4_layout(shape).bytes;
    return sizeof(PackedHeader) + gfx1201::packed_payload_bytes(shape, folds(shape));
  }

  void pack(const WeightShape& shape, const radiance_weight_desc& weight, void* packed) override {
    std::vector<uint8_t> host(packed_bytes(shape));
    PackedHeader header = make_header(shape, target(), layout_version(), host.size());
    if (shape.format == RADIANCE_MXFP4) {
      gfx1201::pack_mxfp4(shape, weight.codes, weight.scales, traits_.keeps_subnormals, header,
                          host.data());
    } else {
      header.scales_offset =
          sizeof(PackedHeader) + gfx1201::packed_scales_offset(shape, folds(shape));
      gfx1201::pack_payload(shape, folds(shape), weight.codes, weight.scales,
                            host.data() + sizeof(PackedHeader));
    }
    std::memcpy(host.data(), &header, sizeof(header));
    device_.upload(packed, host.data(), host.size());
  }

  size_t workspace_bytes(const WeightShape& shape, int64_t max_m) const override {
    return static_cast<size_t>(gfx1201::lay_out_workspace(shape, max_m, traits_).bytes);
  }

  Plan plan(const WeightShape& shape, int64_t m) const override {
    return configs(shape, m).front();
  }
  std::vector<Plan> configs(const WeightShape& shape, int64_t m) const override {
    return gfx1201::plans(shape, m, traits_);
  }

  void quantize(const QuantizeCall& call) override {
    const HipScope scope(device_.driver(), device_.id());
    launch_quantize(call);
    if (call.row_sums == nullptr) return;
    RowSumParams params{call.xq, call.row_sums, call.k, call.group, ceil_div(call.k, call.group)};
    void* parameters[] = {&params};
    HipLaunch how;
    how.grid[0] = grid_of(call.m * params.groups, "summing rows");
    how.block = gfx1201::kWave;
    how.stream = call.stream;
    launch(device_, row_sums_function_, how, parameters);
  }

  void gemm(const PackedHeader& header, const void* packed, const GemmCall& call) override {
    const gfx1201::AblationKernel* ablation =
        gfx1201::find_ablation(call.config, header.shape(), call.m, traits_);
    const Choice choice = ablation != nullptr
                              ? ablation->choice
                              : gfx1201::choose(header.shape(), call.m, traits_, call.config);
    check(choice, call, call.xq);
    const HipScope scope(device_.driver(), device_.id());
    launch_gemm(header, packed, call, choice, call.xq, call.x_scales,
                ablation != nullptr ? ablations_.function(*ablation) : nullptr);
  }

  void forward(const PackedHeader& header, const void* packed, const ForwardCall& call) override {
    const WeightShape shape = header.shape();
    const Choice choice = gfx1201::choose(shape, call.gemm.m, traits_, call.gemm.config);
    const Workspace where = gfx1201::lay_out_workspace(shape, call.gemm.m, traits_);
    auto* workspace = static_cast<uint8_t*>(call.gemm.workspace);
    QuantizeCall quantize;
    quantize.m = call.gemm.m;
    quantize.k = shape.k;
    quantize.x = call.x;
    quantize.x_dtype = call.x_dtype;
    quantize.ldx = call.ldx;
    quantize.xq = workspace + where.xq;
    quantize.scales = reinterpret_cast<float*>(workspace + where.scales);
    quantize.stream = call.gemm.stream;
    check(choice, call.gemm, quantize.xq);
    const HipScope scope(device_.driver(), device_.id());
    launch_quantize(quantize);
    launch_gemm(header, packed, call.gemm, choice, quantize.xq, quantize.scales);
  }

  std::vector<Ablation> ablations(const WeightShape& shape, int64_t m) const override {
    std::vector<Ablation> all;
    for (const gfx1201::AblationKernel& kernel : gfx1201::ablation_kernels()) {
      if (!gfx1201::takes(kernel, shape, m, traits_)) continue;
      all.push_back(
          {kernel.config, gfx1201::config_name(kernel.choice), kernel.what, kernel.right});
    }
    return all;
  }

  HardwareProbes* hardware_probes() override { return probes_.get(); }

  void stream_read(const void* data, size_t bytes, StreamHandle stream) override {
    const HipScope scope(device_.driver(), device_.id());
    StreamParams params{data, static_cast<int64_t>(bytes / 16), never_.get<uint32_t>()};
    HipLaunch how;
    how.grid[0] = static_cast<unsigned>(8 * traits_.units);
    how.block = gfx1201::kStreamThreads;
    how.stream = stream;
    void* parameters[] = {&params, how.grid.data()};
    launch(device_, stream_function_, how, parameters);
  }

  // The emulator has no rate of its own: 0 there.
  PeakProbe peak(const char* /*config*/, double seconds) override {
    constexpr const char* kInstruction = "v_wmma_f32_16x16x16_fp8_fp8";
    if (device_.driver().is_emulator()) return {kInstruction, 0};
    // A wave and unit of 16x16x16 is 8 clocks of a SIMD; four waves share each SIMD.
    PeakParams params{std::max<int64_t>(1, static_cast<int64_t>(seconds * 2.4e9 /
                                                                (8 * gfx1201::kPeakChains * 4))),
                      never_.get<float>()};
    void* parameters[] = {&params};
    HipLaunch how;
    how.grid[0] = static_cast<unsigned>(traits_.units);
    how.block = gfx1201::kThreads;
    const EventHandle first = device_.create_event(), second = device_.create_event();
    device_.record(first, nullptr);
    {
      const HipScope scope(device_.driver(), device_.id());
      launch(device_, peak_function_, how, parameters);
    }
    device_.record(second, nullptr);
    const double us = device_.elapsed_us(first, second);
    device_.destroy_event(first);
    device_.destroy_event(second);
    const double macs = static_cast<double>(params.iterations) * gfx1201::kPeakChains * 16 * 16 *
                        16 * gfx1201::kWaves * traits_.units;
    return {kInstruction, macs / us * 1e6};
  }

 private:
  static const void* image(const char* name) { return gfx1201::code_object(name).data(); }

  static MatrixKernels matrix_kernels(const HipModule& decode, const HipModule& prefill,
                                      const std::string& kind, const std::string& group) {
    MatrixKernels kernels{};
    for (int tiles = 1; tiles <= gfx1201::kMaxRowTiles; ++tiles) {
      std::string name = "autoround_decode";
      name.append(kind).append("_r").append(std::to_string(tiles));
      kernels.decode[tiles - 1][0] = decode.function((name + group).c_str());
      kernels.decode[tiles - 1][1] = decode.function(name.append("_split").append(group).c_str());
    }
    for (const int tiles : {2, 4}) {
      std::string name = "autoround_prefill";
      name.append(kind).append("_n").append(std::to_string(tiles)).append(group);
      kernels.prefill[tiles / 4] = prefill.function(name.c_str());
    }
    return kernels;
  }

  // On either side: weights and activations both have them.
  bool keeps_subnormals() {
    const HardwareProbes::OperandTable table = probes_->multiply_by_one();
    for (int b = 0; b < 256; ++b) {
      const float value = e4m3_to_f32(static_cast<u8>(b));
      const bool subnormal = (b & 0x78) == 0;
      if (subnormal && (table.left[b] != value || table.right[b] != value)) return false;
    }
    return true;
  }

  // What the chosen kernel needs besides what linear/ has checked.
  static void check(const Choice& choice, const GemmCall& call, const uint8_t* xq) {
    if (choice.kernel == Kernel::kGeneral) return;
    if (reinterpret_cast<uintptr_t>(xq) % 16 != 0) {
      throw Error(RADIANCE_INVALID_ARGUMENT,
                  "xq is not aligned to 16 bytes, which the matrix kernels need");
    }
    if (call.ldy > gfx1201::kMaxOutputStride) {
      throw Error(RADIANCE_UNSUPPORTED, "ldy is " + std::to_string(call.ldy) +
                                            "; the gfx1201 kernels take up to " +
                                            std::to_string(gfx1201::kMaxOutputStride));
    }
  }

  void launch_quantize(const QuantizeCall& call) {
    QuantizeParams params{call.x, call.xq,  call.scales,
                          call.k, call.ldx, static_cast<int32_t>(call.x_dtype)};
    void* parameters[] = {&params};
    HipLaunch how;
    how.grid[0] = grid_of(call.m, "quantizing rows");
    how.block = gfx1201::kQuantizeThreads;
    how.stream = call.stream;
    launch(device_, quantize_function_, how, parameters);
  }

  void launch_gemm(const PackedHeader& header, const void* packed, const GemmCall& call,
                   const Choice& choice, const uint8_t* xq, const float* x_scales,
                   hip::Function instead = nullptr) {
    if (choice.kernel == Kernel::kGeneral) {
      launch_general(header, packed, call, xq, x_scales);
      return;
    }
    const WeightShape shape = header.shape();
    const auto* base = static_cast<const uint8_t*>(packed);
    auto* workspace = static_cast<uint8_t*>(call.workspace);
    const Workspace where = gfx1201::lay_out_workspace(shape, call.m, traits_);
    GemmParams params{};
    params.codes = base + header.codes_offset;
    params.scales = reinterpret_cast<const uint16_t*>(base + header.scales_offset);
    params.xq = xq;
    params.x_scales = x_scales;
    params.y = call.y;
    params.bias = call.bias;
    params.partials = reinterpret_cast<float*>(workspace + where.partials);
    params.counters = reinterpret_cast<uint32_t*>(workspace + where.counters);
    params.ldy = call.ldy;
    params.m = static_cast<int32_t>(call.m);
    params.n = static_cast<int32_t>(shape.n);
    params.slabs = static_cast<int32_t>(shape.k / gfx1201::kSlabK);
    params.tiles = static_cast<int32_t>(ceil_div(shape.n, gfx1201::kTileN));
    params.parts = choice.split;
    params.y_type = static_cast<int32_t>(call.y_dtype);
    params.bias_type = static_cast<int32_t>(call.bias_dtype);
    const bool mxfp4 = shape.format == RADIANCE_MXFP4;
    Mxfp4Params mxfp4_params{params, exponents(header, packed)};
    void* parameters[] = {mxfp4 ? static_cast<void*>(&mxfp4_params) : &params};
    HipLaunch how;
    how.block = gfx1201::kThreads;
    how.stream = call.stream;
    if (choice.kernel == Kernel::kDecode) {
      how.grid[0] = grid_of(ceil_div(shape.n, gfx1201::kDecodeN), "a decode");
      how.grid[1] = static_cast<unsigned>(choice.split);
    } else {
      how.grid[0] = grid_of(ceil_div(call.m, gfx1201::kPrefillM) *
                                ceil_div(shape.n, gfx1201::prefill_n(choice.column_tiles)),
                            "a prefill");
    }
    launch(device_,
           instead != nullptr ? instead
           : mxfp4            ? mxfp4_.function(choice, gfx1201::is_folded(header))
                              : int4_function(choice, folds(shape)),
           how, parameters);
  }

  int folds(const WeightShape& shape) const {
    return gfx1201::scale_folds(shape, traits_.keeps_subnormals);
  }

  hip::Function int4_function(const Choice& choice, int folds) const {
    // Of one, two or four scales a slab.
    const MatrixKernels& kernels = choice.baseline ? baseline_ : shipped_[folds / 2];
    if (choice.kernel == Kernel::kDecode) {
      return kernels.decode[choice.row_tiles - 1][choice.split > 1 ? 1 : 0];
    }
    return choice.group_fold ? group_fold_function_ : kernels.prefill[choice.column_tiles / 4];
  }

  // MXFP4: the rows' powers of two.
  static const int16_t* exponents(const PackedHeader& header, const void* packed) {
    return reinterpret_cast<const int16_t*>(static_cast<const uint8_t*>(packed) +
                                            header.extra_offset);
  }

  void launch_general(const PackedHeader& header, const void* packed, const GemmCall& call,
                      const uint8_t* xq, const float* x_scales) {
    GeneralParams params = general_params(header, packed, call, xq, x_scales);
    Mxfp4GeneralParams mxfp4_params{params, exponents(header, packed)};
    const bool mxfp4 = header.format == RADIANCE_MXFP4;
    void* parameters[] = {mxfp4 ? static_cast<void*>(&mxfp4_params) : &params};
    HipLaunch how;
    how.grid = {grid_of(ceil_div(header.n, gfx1201::kGeneralThreads), "features"),
                grid_of(ceil_div(call.m, gfx1201::kGeneralRows), "rows"), 1};
    how.block = gfx1201::kGeneralThreads;
    how.stream = call.stream;
    launch(device_, mxfp4 ? mxfp4_.function(Choice{}, false) : general_function_, how, parameters);
  }

  HipDevice& device_;
  HipModule decode_, decode_groups_, prefill_, prefill_groups_, decode_baseline_, prefill_baseline_,
      quantize_, general_, stream_, peak_;
  gfx1201::Ablations ablations_;
  gfx1201::Mxfp4Kernels mxfp4_;
  MatrixKernels shipped_[3], baseline_;
  hip::Function group_fold_function_, quantize_function_, row_sums_function_, general_function_,
      stream_function_, peak_function_;
  std::unique_ptr<HardwareProbes> probes_;
  Buffer never_;
  Traits traits_;
};

}  // namespace

std::unique_ptr<Backend> make_gfx1201_backend(HipDevice& device) {
  return std::make_unique<Gfx1201Backend>(device);
}

}  // namespace radiance
