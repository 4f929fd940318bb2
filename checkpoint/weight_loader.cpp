// Checkpoint's loading functions: one order in memory, whatever the packing on disk.
#include <algorithm>
#include <cstring>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/failure.hpp"
#include "checkpoint/float_tensor.hpp"
#include "numerics/int4.hpp"

namespace radiance {

namespace {

template <typename T>
std::vector<T> copy_elements(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

std::vector<float> load_bias(const LinearModule& module) {
  const Tensor* bias = module.tensors.bias;
  if (bias == nullptr) return {};
  std::vector<float> values(static_cast<size_t>(module.n));
  convert_to_float(bias->dtype(), bias->bytes(), values);
  return values;
}

// AWQ's [k][n / 8] words to GPTQ's [k / 8][n].
std::vector<uint32_t> repack_awq(const std::vector<uint32_t>& source, int64_t n, int64_t k) {
  std::vector<uint32_t> codes(static_cast<size_t>(k / kCodesPerWord * n));
  for (int64_t row = 0; row < k; ++row) {
    const uint32_t* from = source.data() + row * (n / kCodesPerWord);
    uint32_t* to = codes.data() + row / kCodesPerWord * n;
    const int shift = static_cast<int>(row % kCodesPerWord) * 4;
    for (int64_t word = 0; word < n / kCodesPerWord; ++word) {
      for (int i = 0; i < kCodesPerWord; ++i) {
        to[word * kCodesPerWord + kAwqOrder[i]] |= int4_code(from[word], i) << shift;
      }
    }
  }
  return codes;
}

// [groups][n] zeros as numbers 0..15.
std::vector<uint8_t> unpack_zeros(const LinearModule& module) {
  const Tensor& tensor = *module.tensors.qzeros;
  const std::vector<uint32_t> words = copy_elements<uint32_t>(tensor);
  const int64_t columns = tensor.shape()[1];
  if (columns * kCodesPerWord < module.n) {
    fail(RADIANCE_UNSUPPORTED,
         "tensor {} has asymmetric zeros for {} of {} features only; supported is one each",
         quote_name(tensor.name()), columns * kCodesPerWord, module.n);
  }
  std::vector<uint8_t> zeros(static_cast<size_t>(module.groups() * module.n));
  for (int64_t g = 0; g < module.groups(); ++g) {
    for (int64_t n = 0; n < module.n; ++n) {
      const uint32_t word = words[static_cast<size_t>(g * columns + n / kCodesPerWord)];
      const int feature = static_cast<int>(n % kCodesPerWord);
      const bool awq = module.packing == Packing::kAwq;
      uint32_t zero = int4_code(word, awq ? awq_nibble(feature) : feature);
      // v1 stores zero - 1 in four bits, so that a zero of 0 is stored as 15.
      if (module.packing == Packing::kGptqV1) zero = (zero + 1) & 0xfu;
      zeros[static_cast<size_t>(g * module.n + n)] = static_cast<uint8_t>(zero);
    }
  }
  return zeros;
}

// A copy of the module whose values have been checked and whose verdict allows loading.
LinearModule loadable(const LinearModule& module, const LoadOptions& options) {
  LinearModule checked = module;
  std::vector<std::string> problems;
  check_module_values(checked, problems);
  if (checked.verdict == Verdict::kServable ||
      (checked.verdict == Verdict::kAsymmetric && options.allow_asymmetric)) {
    return checked;
  }
  if (checked.verdict == Verdict::kFloat) {
    fail(RADIANCE_UNSUPPORTED, "module {} is not quantized ({}): it has no packed weight",
         quote_name(module.name), module.reason);
  }
  // Asymmetry is legal, only no kernel here takes it; other problems are contradictions.
  const bool bad = !problems.empty() && checked.verdict != Verdict::kAsymmetric;
  fail(bad ? RADIANCE_BAD_INPUT : RADIANCE_UNSUPPORTED, "module {} is refused: {}",
       quote_name(module.name), checked.reason);
}

Int4Weight read_int4(const LinearModule& module) {
  Int4Weight weight;
  weight.n = module.n;
  weight.k = module.k;
  weight.group = module.scheme.group;
  weight.codes = copy_elements<uint32_t>(*module.tensors.qweight);
  if (module.packing == Packing::kAwq) {
    weight.codes = repack_awq(weight.codes, module.n, module.k);
  }
  weight.scales = copy_elements<uint16_t>(*module.tensors.scales);
  if (module.zero == ZeroKind::kAsymmetric) {
    weight.zeros = unpack_zeros(module);
    // Words that differ only in nibbles past N.
    if (std::all_of(weight.zeros.begin(), weight.zeros.end(),
                    [](uint8_t zero) { return zero == kSymmetricZero; })) {
      weight.zeros.clear();
    }
  }
  weight.bias = load_bias(module);
  return weight;
}

Mxfp4Weight read_mxfp4(const LinearModule& module) {
  return {module.n, module.k, copy_elements<uint8_t>(*module.tensors.weight_packed),
          copy_elements<uint8_t>(*module.tensors.weight_scale), load_bias(module)};
}

}  // namespace

LinearWeight Checkpoint::load_linear(const LinearModule& module, const LoadOptions& options) const {
  const LinearModule checked = loadable(module, options);
  if (checked.packing == Packing::kMxfp4) return read_mxfp4(checked);
  return read_int4(checked);
}

Int4Weight Checkpoint::load_int4(const LinearModule& module, const LoadOptions& options) const {
  const LinearModule checked = loadable(module, options);
  if (checked.packing == Packing::kMxfp4) {
    fail(RADIANCE_UNSUPPORTED, "module {} is MXFP4, wanted is int4", quote_name(module.name));
  }
  return read_int4(checked);
}

Mxfp4Weight Checkpoint::load_mxfp4(const LinearModule& module) const {
  const LinearModule checked = loadable(module, {});
  if (checked.packing != Packing::kMxfp4) {
    fail(RADIANCE_UNSUPPORTED, "module {} is int4, wanted is MXFP4", quote_name(module.name));
  }
  return read_mxfp4(checked);
}

std::vector<float> Checkpoint::load_float(std::string_view tensor_name) const {
  const Tensor* tensor = store_.find(tensor_name);
  if (tensor == nullptr) {
    fail(RADIANCE_INVALID_ARGUMENT, "{} has no tensor {}", directory_.string(),
         quote_name(tensor_name));
  }
  if (!is_weight_float(tensor->dtype())) {
    fail(RADIANCE_UNSUPPORTED, "tensor {} is {}, supported are F16, BF16 and F32",
         quote_name(tensor_name), dtype_name(tensor->dtype()));
  }
  const auto bytes = tensor->bytes();
  std::vector<float> values(bytes.size() / static_cast<size_t>(dtype_bytes(tensor->dtype())));
  convert_to_float(tensor->dtype(), bytes, values);
  return values;
}

}  // namespace radiance
