#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/backend.hpp"
#include "numerics/e8m0.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"

namespace radiance {
namespace {

constexpr int64_t kMaxExtent = int64_t{1} << 31;  // of N and of K: keeps every product in 64 bits
constexpr int64_t kMxfp4Group = 32;

[[noreturn]] void refuse(radiance_status status, const std::string& sentence) {
  throw Error(status, sentence);
}

void check_extent(const char* name, int64_t value) {
  if (value < 1 || value >= kMaxExtent) {
    refuse(RADIANCE_INVALID_ARGUMENT,
           std::string(name) + " is " + std::to_string(value) + ", not between 1 and 2^31 - 1");
  }
}

}  // namespace

WeightShape checked_shape(const radiance_weight_desc& weight) {
  check_extent("n", weight.n);
  check_extent("k", weight.k);
  WeightShape shape{weight.format, weight.n, weight.k, weight.group};
  switch (weight.format) {
    case RADIANCE_AUTOROUND_INT4:
      if (weight.k % kCodesPerWord != 0) {
        refuse(RADIANCE_UNSUPPORTED,
               "k is " + std::to_string(weight.k) + "; int4 codes need a multiple of 8");
      }
      if (weight.group == -1) shape.group = weight.k;
      if (shape.group < 1 || shape.group % kCodesPerWord != 0) {
        refuse(RADIANCE_UNSUPPORTED, "group is " + std::to_string(weight.group) +
                                         "; supported are multiples of 8, and -1 for all of k");
      }
      shape.group = std::min(shape.group, shape.k);
      return shape;
    case RADIANCE_MXFP4:
      if (weight.k % kMxfp4Group != 0) {
        refuse(RADIANCE_UNSUPPORTED,
               "k is " + std::to_string(weight.k) + "; MXFP4 needs a multiple of 32");
      }
      if (weight.group != 0 && weight.group != kMxfp4Group) {
        refuse(RADIANCE_UNSUPPORTED,
               "group is " + std::to_string(weight.group) + "; MXFP4 has blocks of 32");
      }
      shape.group = kMxfp4Group;
      return shape;
  }
  refuse(RADIANCE_INVALID_ARGUMENT,
         "format " + std::to_string(static_cast<int>(weight.format)) + " is not known");
}

void check_scales(const WeightShape& shape, const void* scales) {
  const int64_t groups = shape.groups();
  if (shape.format == RADIANCE_MXFP4) {
    const auto* bytes = static_cast<const uint8_t*>(scales);
    for (int64_t i = 0; i < shape.n * groups; ++i) {
      if (bytes[i] == kE8m0Nan) {
        refuse(RADIANCE_BAD_INPUT, "the E8M0 scale of n " + std::to_string(i / groups) +
                                       ", block " + std::to_string(i % groups) +
                                       " is 255, which is NaN");
      }
    }
    return;
  }
  const auto* halves = static_cast<const uint16_t*>(scales);
  for (int64_t i = 0; i < shape.n * groups; ++i) {
    if (!f16_is_finite(halves[i])) {
      refuse(RADIANCE_BAD_INPUT, "the scale of group " + std::to_string(i / shape.n) + ", n " +
                                     std::to_string(i % shape.n) + " is not finite");
    }
  }
}

PackedHeader make_header(const WeightShape& shape, const char* target, uint32_t layout_version,
                         size_t packed_bytes) {
  PackedHeader header{};
  std::memcpy(header.magic, PackedHeader::kMagic, sizeof(header.magic));
  std::memcpy(header.target, target, std::min(std::strlen(target), sizeof(header.target) - 1));
  header.layout_version = layout_version;
  header.format = static_cast<uint32_t>(shape.format);
  header.n = shape.n;
  header.k = shape.k;
  header.group = shape.group;
  header.packed_bytes = packed_bytes;
  header.codes_offset = sizeof(PackedHeader);
  return header;
}

}  // namespace radiance
