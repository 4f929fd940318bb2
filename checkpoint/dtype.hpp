// The element types that safetensors files name.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace radiance {

enum class Dtype : uint8_t {
  kBool,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kI64,
  kU64,
  kF64,
};

struct DtypeInfo {
  Dtype dtype;
  std::string_view name;  // as safetensors spells it
  int bytes;              // an element
  bool is_float;
};

inline constexpr DtypeInfo kDtypes[] = {
    {Dtype::kBool, "BOOL", 1, false},     {Dtype::kU8, "U8", 1, false},
    {Dtype::kI8, "I8", 1, false},         {Dtype::kF8E5M2, "F8_E5M2", 1, true},
    {Dtype::kF8E4M3, "F8_E4M3", 1, true}, {Dtype::kF8E8M0, "F8_E8M0", 1, true},
    {Dtype::kI16, "I16", 2, false},       {Dtype::kU16, "U16", 2, false},
    {Dtype::kF16, "F16", 2, true},        {Dtype::kBF16, "BF16", 2, true},
    {Dtype::kI32, "I32", 4, false},       {Dtype::kU32, "U32", 4, false},
    {Dtype::kF32, "F32", 4, true},        {Dtype::kI64, "I64", 8, false},
    {Dtype::kU64, "U64", 8, false},       {Dtype::kF64, "F64", 8, true},
};

constexpr const DtypeInfo& dtype_info(Dtype dtype) { return kDtypes[static_cast<int>(dtype)]; }

static_assert([] {
  for (int i = 0; i < static_cast<int>(std::size(kDtypes)); ++i) {
    if (static_cast<int>(kDtypes[i].dtype) != i) return false;
  }
  return true;
}());

constexpr std::string_view dtype_name(Dtype dtype) { return dtype_info(dtype).name; }
constexpr int dtype_bytes(Dtype dtype) { return dtype_info(dtype).bytes; }
constexpr bool is_float(Dtype dtype) { return dtype_info(dtype).is_float; }

// The types a weight may be quantized from.
constexpr bool is_weight_float(Dtype dtype) {
  return dtype == Dtype::kBF16 || dtype == Dtype::kF16 || dtype == Dtype::kF32;
}

constexpr std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (const DtypeInfo& info : kDtypes) {
    if (info.name == name) return info.dtype;
  }
  return std::nullopt;
}

}  // namespace radiance
