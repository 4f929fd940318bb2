#include "linear/linear.hpp"

#include <cstring>
#include <string>

namespace radiance {
namespace {

constexpr uintptr_t kWorkspaceAlignment = 256;

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(RADIANCE_INVALID_ARGUMENT, sentence);
}

void check_dtype(const char* name, radiance_dtype type) {
  if (type != RADIANCE_BF16 && type != RADIANCE_F16 && type != RADIANCE_F32) {
    refuse(std::string(name) + " is " + std::to_string(static_cast<int>(type)) +
           ", not one of bf16, f16 and f32");
  }
}

void check_pointer(const char* name, const void* pointer, uintptr_t alignment) {
  if (pointer == nullptr) refuse(std::string(name) + " is null");
  if (reinterpret_cast<uintptr_t>(pointer) % alignment != 0) {
    refuse(std::string(name) + " is not aligned to " + std::to_string(alignment) + " bytes");
  }
}

uintptr_t element_bytes(radiance_dtype type) { return type == RADIANCE_F32 ? 4 : 2; }

void check_rows(int64_t m) {
  if (m < 0 || m >= int64_t{1} << 31) {
    refuse("m is " + std::to_string(m) + ", not between 0 and 2^31 - 1");
  }
}

// A leading dimension: 0 means tight.
int64_t checked_stride(const char* name, int64_t stride, int64_t tight) {
  if (stride == 0) return tight;
  if (stride < tight || stride >= int64_t{1} << 40) {
    refuse(std::string(name) + " is " + std::to_string(stride) + ", less than the row's " +
           std::to_string(tight) + " elements or absurdly large");
  }
  return stride;
}

}  // namespace

Engine::Engine(const std::string& name, const DeviceOptions& options)
    : device_(open_device(name, options)), backend_(make_backend(*device_)) {}

Buffer Engine::pack(const radiance_weight_desc& weight) const {
  Buffer packed(*device_, backend_->packed_bytes(checked_shape(weight)));
  pack(weight, packed.get(), packed.bytes());
  return packed;
}

void Engine::pack(const radiance_weight_desc& weight, void* packed, size_t packed_bytes) const {
  const WeightShape shape = checked_shape(weight);
  check_pointer("codes", weight.codes, 1);
  check_pointer("scales", weight.scales, 1);
  check_pointer("packed", packed, backend_->packed_alignment());
  const size_t needed = backend_->packed_bytes(shape);
  if (packed_bytes < needed) {
    refuse("packed has " + std::to_string(packed_bytes) + " bytes, this weight takes " +
           std::to_string(needed));
  }
  check_scales(shape, weight.scales);
  backend_->pack(shape, weight, packed);
}

void Engine::quantize(const QuantizeCall& given) const {
  QuantizeCall call = given;
  check_rows(call.m);
  if (call.k < 1 || call.k >= int64_t{1} << 31) {
    refuse("k is " + std::to_string(call.k) + ", not between 1 and 2^31 - 1");
  }
  check_dtype("x_dtype", call.x_dtype);
  call.ldx = checked_stride("ldx", call.ldx, call.k);
  if (call.group == -1 || call.group > call.k) call.group = call.k;
  if (call.row_sums != nullptr && call.group < 1) {
    refuse("group is " + std::to_string(call.group) + "; row sums need a positive one, or -1");
  }
  if (call.m == 0) return;
  check_pointer("x", call.x, element_bytes(call.x_dtype));
  check_pointer("xq", call.xq, 1);
  check_pointer("scales", call.scales, 4);
  if (call.row_sums != nullptr) check_pointer("row_sums", call.row_sums, 4);
  backend_->quantize(call);
}

Linear::Linear(const Engine& engine, const void* packed, size_t packed_bytes)
    : engine_(&engine), packed_(packed) {
  check_pointer("packed", packed, engine.backend().packed_alignment());
  if (packed_bytes < sizeof(PackedHeader)) {
    throw Error(RADIANCE_BAD_INPUT,
                "a packed weight of " + std::to_string(packed_bytes) + " bytes has no header");
  }
  engine.device().download(&header_, packed, sizeof(header_));
  const Backend& backend = engine.backend();
  if (std::memcmp(header_.magic, PackedHeader::kMagic, sizeof(header_.magic)) != 0) {
    throw Error(RADIANCE_BAD_INPUT, "this memory does not hold a packed weight");
  }
  header_.target[sizeof(header_.target) - 1] = '\0';
  if (std::string(header_.target) != backend.target()) {
    throw Error(RADIANCE_VERSION_MISMATCH, std::string("the weight is packed for ") +
                                               header_.target + ", this device is " +
                                               backend.target());
  }
  if (header_.layout_version != backend.layout_version()) {
    throw Error(RADIANCE_VERSION_MISMATCH,
                "the weight is packed in layout version " + std::to_string(header_.layout_version) +
                    ", this library uses " + std::to_string(backend.layout_version()));
  }
  radiance_weight_desc desc{};
  desc.format = static_cast<radiance_format>(header_.format);
  desc.n = header_.n;
  desc.k = header_.k;
  desc.group = header_.group;
  const WeightShape shape = checked_shape(desc);
  if (header_.packed_bytes != backend.packed_bytes(shape) || packed_bytes < header_.packed_bytes) {
    throw Error(RADIANCE_BAD_INPUT, "a packed weight of this shape takes " +
                                        std::to_string(backend.packed_bytes(shape)) +
                                        " bytes, not " + std::to_string(packed_bytes));
  }
}

size_t Linear::workspace_bytes(int64_t max_m) const {
  check_rows(max_m);
  return max_m == 0 ? 0 : engine_->backend().workspace_bytes(shape(), max_m);
}

void Linear::check_gemm(GemmCall& call) const {
  check_dtype("y_dtype", call.y_dtype);
  call.ldy = checked_stride("ldy", call.ldy, header_.n);
  check_pointer("y", call.y, element_bytes(call.y_dtype));
  if (call.bias != nullptr) {
    check_dtype("bias_dtype", call.bias_dtype);
    check_pointer("bias", call.bias, element_bytes(call.bias_dtype));
  }
  check_pointer("workspace", call.workspace, kWorkspaceAlignment);
  const size_t needed = workspace_bytes(call.m);
  if (call.workspace_bytes < needed) {
    throw Error(RADIANCE_WORKSPACE_TOO_SMALL,
                "the workspace has " + std::to_string(call.workspace_bytes) + " bytes, " +
                    std::to_string(call.m) + " rows need " + std::to_string(needed));
  }
}

void Linear::forward(ForwardCall call) const {
  check_rows(call.gemm.m);
  check_dtype("x_dtype", call.x_dtype);
  call.ldx = checked_stride("ldx", call.ldx, header_.k);
  if (call.gemm.m == 0) return;
  check_pointer("x", call.x, element_bytes(call.x_dtype));
  check_gemm(call.gemm);
  engine_->backend().forward(header_, packed_, call);
}

void Linear::gemm(GemmCall call) const {
  check_rows(call.m);
  if (call.m == 0) return;
  check_pointer("xq", call.xq, 1);
  check_pointer("x_scales", call.x_scales, 4);
  check_gemm(call);
  engine_->backend().gemm(header_, packed_, call);
}

Plan Linear::plan(int64_t m) const {
  check_rows(m);
  if (m == 0) refuse("no kernel runs for 0 rows");
  return engine_->backend().plan(shape(), m);
}

}  // namespace radiance
