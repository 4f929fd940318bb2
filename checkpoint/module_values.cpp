// The checks that read a module's values: zeros, g_idx, scales.
#include <cstring>

#include "checkpoint/failure.hpp"
#include "checkpoint/linear_module.hpp"
#include "numerics/e8m0.hpp"
#include "numerics/f16.hpp"

namespace radiance {

namespace {

// Tensors are not necessarily aligned in their file.
template <typename T>
T element(std::span<const uint8_t> bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

// How many elements satisfy `is_bad`, and the first that does.
struct Count {
  size_t bad = 0;
  size_t first = 0;
};

template <typename T, typename IsBad>
Count count_bad(std::span<const uint8_t> bytes, IsBad is_bad) {
  Count count;
  const size_t elements = bytes.size() / sizeof(T);
  for (size_t i = 0; i < elements; ++i) count.bad += is_bad(element<T>(bytes, i)) ? 1 : 0;
  for (size_t i = 0; count.bad != 0 && i < elements; ++i) {
    if (is_bad(element<T>(bytes, i))) {
      count.first = i;
      break;
    }
  }
  return count;
}

std::string place(const Tensor& tensor, size_t index) {
  const auto columns = static_cast<size_t>(tensor.shape().back());
  return fmt::format("[{}][{}]", index / columns, index % columns);
}

void check_scales(const LinearModule& module) {
  if (module.packing == Packing::kMxfp4) {
    const Tensor& scales = *module.tensors.weight_scale;
    const Count count = count_bad<uint8_t>(scales.bytes(), [](u8 s) { return s == kE8m0Nan; });
    if (count.bad != 0) {
      bad_input("tensor {} holds {} scales of 255 (NaN), the first at {}",
                quote_name(scales.name()), count.bad, place(scales, count.first));
    }
    return;
  }
  const Tensor& scales = *module.tensors.scales;
  const Count count = count_bad<uint16_t>(scales.bytes(), [](u16 s) { return !f16_is_finite(s); });
  if (count.bad != 0) {
    bad_input("tensor {} holds {} scales that are not finite, the first at {}",
              quote_name(scales.name()), count.bad, place(scales, count.first));
  }
}

void check_group_index(LinearModule& module) {
  if (module.tensors.g_idx == nullptr) return;
  const Tensor& tensor = *module.tensors.g_idx;
  const auto bytes = tensor.bytes();
  const int64_t group = module.scheme.group == -1 ? module.k : module.scheme.group;
  module.g_idx = GroupIndex::kTrivial;
  for (int64_t k = 0; k < module.k; ++k) {
    const int32_t found = element<int32_t>(bytes, static_cast<size_t>(k));
    if (found != k / group) {
      module.g_idx = GroupIndex::kPermuted;
      module.verdict = Verdict::kRefused;
      module.reason = fmt::format(
          "tensor {} permutes the groups: k {} belongs to group {}, supported is k / {} = {}",
          quote_name(tensor.name()), k, found, group, k / group);
      return;
    }
  }
}

// Appends a problem when the configuration claims symmetry.
void check_zeros(LinearModule& module, std::vector<std::string>& problems) {
  const Tensor& zeros = *module.tensors.qzeros;
  const bool v1 = module.packing == Packing::kGptqV1;
  const uint32_t expected = v1 ? 0x77777777u : 0x88888888u;
  const uint32_t other = v1 ? 0x88888888u : 0x77777777u;
  const Count count =
      count_bad<uint32_t>(zeros.bytes(), [=](uint32_t word) { return word != expected; });
  if (count.bad == 0) {
    module.zero = ZeroKind::kConstant8;
    return;
  }
  module.zero = ZeroKind::kAsymmetric;
  const size_t words = zeros.bytes().size() / sizeof(uint32_t);
  const uint32_t first = element<uint32_t>(zeros.bytes(), count.first);
  module.reason = fmt::format(
      "tensor {} has asymmetric zeros: {} of {} words are not {:#010x} (zero 8), the first at {} "
      "is "
      "{:#010x}",
      quote_name(zeros.name()), count.bad, words, expected, place(zeros, count.first), first);
  if (count.bad == words &&
      count_bad<uint32_t>(zeros.bytes(), [=](uint32_t word) { return word != other; }).bad == 0) {
    module.reason += v1 ? "; all words are, as gptq_v2 would store zero 8"
                        : "; all words are, as gptq (v1) would store zero 8";
  }
  if (module.verdict != Verdict::kRefused) module.verdict = Verdict::kAsymmetric;
  if (module.scheme.sym) problems.push_back(module.reason + ", but the configuration says sym");
}

}  // namespace

void check_module_values(LinearModule& module, std::vector<std::string>& problems) {
  if (module.packing == Packing::kNone || module.verdict != Verdict::kServable) return;
  try {
    check_scales(module);
    if (module.packing == Packing::kMxfp4) return;
    check_zeros(module, problems);
    check_group_index(module);
  } catch (const Error& e) {
    module.verdict = Verdict::kRefused;
    module.reason = e.what();
    problems.push_back(e.what());
  }
}

}  // namespace radiance
