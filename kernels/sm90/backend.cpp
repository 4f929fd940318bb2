// The sm90 target: which kernel is launched with what.
#include "kernels/sm90/backend.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "kernels/sm90/cubins.hpp"
#include "kernels/sm90/pack.hpp"
#include "kernels/sm90/policy.hpp"
#include "runtime/cuda_module.hpp"

namespace radiance {
namespace {

using sm90::Choice;
using sm90::GemmParams;
using sm90::QuantizeParams;
using sm90::RowSumParams;
using sm90::ScaleKind;

int64_t round_up(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

const char* kind_name(ScaleKind kind) {
  switch (kind) {
    case ScaleKind::kSlab:
      return "slab";
    case ScaleKind::kHalf:
      return "half";
    case ScaleKind::kStep:
      return "step";
    case ScaleKind::kE8m0:
      return "e8m0";
  }
  return "";
}

// Where things stand in a workspace.
struct Workspace {
  int64_t quantized = 0, counters = 0, partials = 0, scales = 0, xq = 0, bytes = 0;
};

class Sm90Backend final : public Backend {
 public:
  explicit Sm90Backend(CudaDevice& device)
      : device_(device),
        decode_(device, sm90::decode_cubin),
        prefill_(device, sm90::prefill_cubin),
        quantize_(device, sm90::quantize_cubin),
        general_(device, sm90::general_cubin),
        probes_(device, sm90::probes_cubin) {
    for (const ScaleKind kind :
         {ScaleKind::kSlab, ScaleKind::kHalf, ScaleKind::kStep, ScaleKind::kE8m0}) {
      for (const int tokens : {8, 16, 32, 64}) {
        decode_functions_[{kind, tokens}] = decode_.function(
            (std::string("decode_") + kind_name(kind) + "_" + std::to_string(tokens)).c_str(),
            sm90::decode_shared_bytes(tokens));
      }
      for (const int tokens : {128, 256}) {
        prefill_functions_[{kind, tokens}] = prefill_.function(
            (std::string("prefill_") + kind_name(kind) + "_" + std::to_string(tokens)).c_str(),
            sm90::kSharedBytes);
      }
    }
    quantize_function_ = quantize_.function("quantize");
    row_sums_function_ = quantize_.function("row_sums");
    general_function_ = general_.function("general");
    stream_function_ = probes_.function("stream_read");
    peak_function_ = probes_.function("peak");
    never_ = Buffer(device, 256);
  }

  const char* target() const override { return "sm90"; }
  uint32_t layout_version() const override { return sm90::kLayoutVersion; }

  size_t packed_bytes(const WeightShape& shape) const override {
    return sizeof(PackedHeader) + sm90::packed_payload_bytes(shape);
  }

  void pack(const WeightShape& shape, const radiance_weight_desc& weight, void* packed) override {
    std::vector<uint8_t> host(packed_bytes(shape));
    PackedHeader header = make_header(shape, target(), layout_version(), host.size());
    header.scales_offset = sizeof(PackedHeader) + sm90::packed_scales_offset(shape);
    std::memcpy(host.data(), &header, sizeof(header));
    sm90::pack_payload(shape, weight.codes, weight.scales, host.data() + sizeof(PackedHeader));
    device_.upload(packed, host.data(), host.size());
  }

  size_t workspace_bytes(const WeightShape& shape, int64_t max_m) const override {
    return static_cast<size_t>(lay_out(shape, max_m).bytes);
  }

  Plan plan(const WeightShape& shape, int64_t m) const override {
    return sm90::plans(shape, m, units()).front();
  }
  std::vector<Plan> configs(const WeightShape& shape, int64_t m) const override {
    return sm90::plans(shape, m, units());
  }

  void quantize(const QuantizeCall& call) override {
    const CudaScope scope(device_.context());
    launch_quantize(call);
    if (call.row_sums == nullptr) return;
    RowSumParams params{call.xq, call.row_sums, call.k, call.group,
                        (call.k + call.group - 1) / call.group};
    void* parameters[] = {&params};
    CudaLaunch how;
    how.grid[0] = static_cast<unsigned>(call.m * params.groups);
    how.block = 32;
    how.stream = call.stream;
    launch(row_sums_function_, how, parameters);
  }

  void gemm(const PackedHeader& header, const void* packed, const GemmCall& call) override {
    const Choice choice = sm90::choose(header.shape(), call.m, units(), call.config);
    const CudaScope scope(device_.context());
    launch_gemm(header, packed, call, choice, call.xq, call.x_scales);
  }

  void forward(const PackedHeader& header, const void* packed, const ForwardCall& call) override {
    const WeightShape shape = header.shape();
    const Choice choice = sm90::choose(shape, call.gemm.m, units(), call.gemm.config);
    const CudaScope scope(device_.context());
    const Workspace where = lay_out(shape, call.gemm.m);
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
    const bool fused = choice.kernel == Choice::Kernel::kDecode;
    if (!fused) launch_quantize(quantize);
    launch_gemm(header, packed, call.gemm, choice, quantize.xq, quantize.scales,
                fused ? &quantize : nullptr);
  }

  void stream_read(const void* data, size_t bytes, StreamHandle stream) override {
    const CudaScope scope(device_.context());
    int64_t count = static_cast<int64_t>(bytes / 16);
    void* never = never_.get();
    void* parameters[] = {&data, &count, &never};
    CudaLaunch how;
    how.grid[0] = static_cast<unsigned>(4 * units());
    how.block = 512;
    how.stream = stream;
    launch(stream_function_, how, parameters);
  }

  PeakProbe peak(const char* /*config*/, double seconds) override {
    const CudaScope scope(device_.context());
    const EventHandle first = device_.create_event(), second = device_.create_event();
    // One iteration is four 64 x 128 x 32 multiplications a warpgroup: about 250 clocks for two.
    int iterations = std::max(1, static_cast<int>(seconds * 1.5e9 / 500));
    void* never = never_.get();
    void* parameters[] = {&iterations, &never};
    CudaLaunch how;
    how.grid[0] = static_cast<unsigned>(units());
    how.block = 256;
    device_.record(first, nullptr);
    launch(peak_function_, how, parameters);
    device_.record(second, nullptr);
    const double us = device_.elapsed_us(first, second);
    device_.destroy_event(first);
    device_.destroy_event(second);
    const double macs = static_cast<double>(iterations) * 4 * 64 * 128 * 32 * 2 * units();
    return {"wgmma e4m3", macs / us * 1e6};
  }

 private:
  int units() const { return device_.info().units; }

  // Counters come first: whatever weight and m a call has, they lie in the same place and stay
  // zero.
  Workspace lay_out(const WeightShape& shape, int64_t m) const {
    Workspace w;
    w.counters = 256;
    w.partials = w.counters + sm90::kCounterBytes;
    w.scales = w.partials + units() * sm90::partial_bytes(m);
    w.xq = w.scales + round_up(m * 4, 256);
    w.bytes = w.xq + round_up(m * shape.k, 256);
    return w;
  }

  static QuantizeParams quantize_params(const QuantizeCall& call) {
    return {call.x, call.xq, call.scales, call.k, call.ldx, static_cast<int32_t>(call.x_dtype)};
  }

  void launch_quantize(const QuantizeCall& call) {
    QuantizeParams params = quantize_params(call);
    void* parameters[] = {&params};
    CudaLaunch how;
    how.grid[0] = static_cast<unsigned>(call.m);
    how.block = 256;
    how.stream = call.stream;
    how.overlaps_previous = true;
    launch(quantize_function_, how, parameters);
  }

  void launch_gemm(const PackedHeader& header, const void* packed, const GemmCall& call,
                   const Choice& choice, const uint8_t* xq, const float* x_scales,
                   const QuantizeCall* quantize = nullptr) {
    if (choice.kernel == Choice::Kernel::kGeneral) {
      launch_general(header, packed, call, xq, x_scales);
      return;
    }
    const WeightShape shape = header.shape();
    // choose() gives these kernels only shapes that have one.
    const ScaleKind kind = sm90::scale_kind(shape).value_or(ScaleKind::kSlab);
    cuda::TensorMap map = tensor_map(xq, call.m, shape.k, choice.tokens);
    auto* workspace = static_cast<uint8_t*>(call.workspace);
    const Workspace where = lay_out(shape, call.m);
    GemmParams params{};
    params.units = static_cast<const uint8_t*>(packed) + header.codes_offset;
    params.x_scales = x_scales;
    params.y = call.y;
    params.bias = call.bias;
    params.partials = reinterpret_cast<float*>(workspace + where.partials);
    params.counters = reinterpret_cast<uint32_t*>(workspace + where.counters);
    if (quantize != nullptr) params.quantize = quantize_params(*quantize);
    params.quantized = reinterpret_cast<uint32_t*>(workspace + where.quantized);
    params.ldy = call.ldy;
    params.m = static_cast<int32_t>(call.m);
    params.n = static_cast<int32_t>(shape.n);
    params.slabs = static_cast<int32_t>((shape.k + sm90::kSlabK - 1) / sm90::kSlabK);
    params.y_type = static_cast<int32_t>(call.y_dtype);
    params.bias_type = static_cast<int32_t>(call.bias_dtype);
    CudaLaunch how;
    how.stream = call.stream;
    how.overlaps_previous = true;
    if (choice.kernel == Choice::Kernel::kDecode) {
      const int64_t tile_n = sm90::decode_tile_units(choice.tokens) * sm90::kTileN;
      const int64_t tiles = (shape.n + tile_n - 1) / tile_n;
      how.grid[0] = static_cast<unsigned>(std::min<int64_t>(units(), tiles * params.slabs));
      how.block = static_cast<unsigned>(sm90::decode_threads(choice.tokens));
      how.shared_bytes = static_cast<unsigned>(sm90::decode_shared_bytes(choice.tokens));
      params.trigger = sm90::decode_trigger(tiles * params.slabs, how.grid[0], choice.tokens);
      void* parameters[] = {&map, &params};
      launch(decode_functions_.at({kind, choice.tokens}), how, parameters);
    } else {
      const int64_t tiles_m = (call.m + choice.tokens - 1) / choice.tokens;
      const int64_t tiles_n = (shape.n + sm90::kPrefillN - 1) / sm90::kPrefillN;
      const sm90::PrefillGrid grid =
          sm90::prefill_grid(call.m, tiles_m * tiles_n, params.slabs, units());
      params.tiles_m = static_cast<int32_t>(tiles_m);
      params.tiles_n = static_cast<int32_t>(tiles_n);
      params.shared_tiles = grid.shared_tiles;
      params.band = sm90::prefill_band(shape.k, choice.tokens);
      params.band_tiles = params.band * params.tiles_n;
      cuda::TensorMap y_map{};
      params.copies_out = output_map(call, shape.n, y_map) ? 1 : 0;
      how.grid[0] = static_cast<unsigned>(grid.blocks);
      how.block = sm90::kPrefillThreads;
      how.shared_bytes = sm90::kSharedBytes;
      void* parameters[] = {&map, &y_map, &params};
      launch(prefill_functions_.at({kind, choice.tokens}), how, parameters);
    }
  }

  void launch_general(const PackedHeader& header, const void* packed, const GemmCall& call,
                      const uint8_t* xq, const float* x_scales) {
    GeneralParams params = general_params(header, packed, call, xq, x_scales);
    void* parameters[] = {&params};
    CudaLaunch how;
    how.grid = {static_cast<unsigned>((header.n + 127) / 128),
                static_cast<unsigned>((call.m + 7) / 8), 1};
    how.block = 128;
    how.stream = call.stream;
    launch(general_function_, how, parameters);
  }

  // xq as a matrix of bytes, boxes of `tokens` rows by a slab; zero outside.
  static cuda::TensorMap tensor_map(const uint8_t* xq, int64_t m, int64_t k, int tokens) {
    if (reinterpret_cast<uintptr_t>(xq) % 16 != 0) {
      throw Error(RADIANCE_INVALID_ARGUMENT,
                  "xq is not aligned to 16 bytes, which the tensor core kernels need");
    }
    constexpr int kUint8 = 0;
    return matrix_map(kUint8, xq, m, k, k, {sm90::kSlabK, static_cast<uint32_t>(tokens)},
                      "describing the activations");
  }

  // y for copies of 64 features by 128 tokens; false if its type or alignment has none, or n:
  // copies end at whole 16 bytes, and would write up to seven elements behind a row's end.
  static bool output_map(const GemmCall& call, int64_t n, cuda::TensorMap& map) {
    constexpr int kUint16 = 1;
    if (call.y_dtype == RADIANCE_F32 || reinterpret_cast<uintptr_t>(call.y) % 16 != 0 ||
        call.ldy % 8 != 0 || n % 8 != 0) {
      return false;
    }
    map = matrix_map(kUint16, call.y, call.m, n, 2 * call.ldy,
                     {sm90::kTileN, sm90::kPrefillOutputTokens}, "describing the outputs");
    return true;
  }

  // Rows of `columns` elements, `stride` bytes apart; boxes of {columns, rows}, 128 bytes wide and
  // so swizzled.
  static cuda::TensorMap matrix_map(int type, const void* data, int64_t rows, int64_t columns,
                                    int64_t stride, std::array<uint32_t, 2> box,
                                    const char* doing) {
    constexpr int kNoInterleave = 0, kSwizzle128 = 3, kPromote256 = 3, kZeroFill = 0;
    cuda::TensorMap map;
    const uint64_t extents[2] = {static_cast<uint64_t>(columns), static_cast<uint64_t>(rows)};
    const uint64_t strides[1] = {static_cast<uint64_t>(stride)};
    const uint32_t steps[2] = {1, 1};
    cuda::check(cuda::driver().tensor_map_encode(&map, type, 2, const_cast<void*>(data), extents,
                                                 strides, box.data(), steps, kNoInterleave,
                                                 kSwizzle128, kPromote256, kZeroFill),
                doing);
    return map;
  }

  CudaDevice& device_;
  CudaModule decode_, prefill_, quantize_, general_, probes_;
  std::map<std::pair<ScaleKind, int>, cuda::Function> decode_functions_;
  std::map<std::pair<ScaleKind, int>, cuda::Function> prefill_functions_;
  cuda::Function quantize_function_, row_sums_function_, general_function_, stream_function_,
      peak_function_;
  Buffer never_;
};

}  // namespace

std::unique_ptr<Backend> make_sm90_backend(CudaDevice& device) {
  return std::make_unique<Sm90Backend>(device);
}

}  // namespace radiance
