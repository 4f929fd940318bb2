#include "checkpoint/linear_module.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "checkpoint/failure.hpp"

namespace radiance {

namespace {

constexpr int64_t kMxfp4Group = 32;

struct Part {
  std::string_view suffix;
  const Tensor* ModuleTensors::* member;
};
constexpr Part kParts[] = {
    {"weight", &ModuleTensors::weight},
    {"qweight", &ModuleTensors::qweight},
    {"qzeros", &ModuleTensors::qzeros},
    {"scales", &ModuleTensors::scales},
    {"g_idx", &ModuleTensors::g_idx},
    {"weight_packed", &ModuleTensors::weight_packed},
    {"weight_scale", &ModuleTensors::weight_scale},
    {"bias", &ModuleTensors::bias},
};

bool has_int4_part(const ModuleTensors& t) {
  return t.qweight != nullptr || t.qzeros != nullptr || t.scales != nullptr || t.g_idx != nullptr;
}

bool has_mxfp4_part(const ModuleTensors& t) {
  return t.weight_packed != nullptr || t.weight_scale != nullptr;
}

// A mixture-of-experts router is a matrix in a block, but no quantizer touches it and most do not
// list it.
bool is_router(std::string_view name) {
  const std::string_view last = last_component(name);
  return last == "gate" || last == "router" || last == "shared_expert_gate";
}

// Throws the sentence that the caller records as a problem.
void require(const Tensor& tensor, Dtype dtype, const std::vector<int64_t>& shape,
             const std::string& because) {
  if (tensor.dtype() != dtype) {
    bad_input("tensor {} is {}, supported is {}", quote_name(tensor.name()),
              dtype_name(tensor.dtype()), dtype_name(dtype));
  }
  if (tensor.shape() != shape) {
    bad_input("tensor {} has shape {}, but {} needs {}", quote_name(tensor.name()),
              shape_text(tensor.shape()), because, shape_text(shape));
  }
}

void require_matrix(const Tensor& tensor, Dtype dtype) {
  if (tensor.dtype() != dtype || tensor.shape().size() != 2 || tensor.shape()[0] < 1 ||
      tensor.shape()[1] < 1) {
    bad_input("tensor {} is {} {}, supported is {} with two dimensions", quote_name(tensor.name()),
              dtype_name(tensor.dtype()), shape_text(tensor.shape()), dtype_name(dtype));
  }
}

void require_bias(const LinearModule& module) {
  const Tensor* bias = module.tensors.bias;
  if (bias == nullptr) return;
  if (!is_weight_float(bias->dtype()) || bias->shape() != std::vector<int64_t>{module.n}) {
    bad_input("tensor {} is {} {}, supported is F16, BF16 or F32 [{}]", quote_name(bias->name()),
              dtype_name(bias->dtype()), shape_text(bias->shape()), module.n);
  }
}

void refuse(LinearModule& module, std::string reason) {
  module.verdict = Verdict::kRefused;
  module.reason = std::move(reason);
}

void check_int4(LinearModule& module, const QuantizationConfig& config) {
  const ModuleTensors& t = module.tensors;
  module.zero = ZeroKind::kUnchecked;
  if (t.g_idx != nullptr) module.g_idx = GroupIndex::kUnchecked;
  for (const Part& part : kParts) {
    const bool needed =
        part.suffix == "qweight" || part.suffix == "qzeros" || part.suffix == "scales";
    if (needed && t.*part.member == nullptr) {
      bad_input("module {} has quantized tensors but lacks {}", quote_name(module.name),
                quote_name(module.name + "." + std::string(part.suffix)));
    }
  }
  if (config.packing != Packing::kGptqV1 && config.packing != Packing::kGptqV2 &&
      config.packing != Packing::kAwq) {
    if (config.packing != Packing::kUnknown) {
      bad_input("module {} is stored as int4, but {} says packing {}", quote_name(module.name),
                config.source.empty() ? "the configuration" : config.source, packing_text(config));
    }
    refuse(module, fmt::format("packing {} is unknown; supported are auto_round:auto_gptq, "
                               "auto_round:auto_awq, gptq, gptq_v2, awq (gemm), "
                               "mxfp4-pack-quantized",
                               quote_name(config.packing_name)));
    return;
  }
  require_matrix(*t.qweight, Dtype::kI32);
  const int64_t rows = t.qweight->shape()[0];
  const int64_t columns = t.qweight->shape()[1];
  const bool awq = config.packing == Packing::kAwq;
  const int64_t bits = module.scheme.bits;
  module.k = awq ? rows : rows * 32 / bits;
  module.n = awq ? columns * 32 / bits : columns;
  if (bits != 4) {
    refuse(module, fmt::format("bits is {}, supported is 4", bits));
    return;
  }
  if (module.k % 8 != 0) {
    refuse(module, fmt::format("K is {}, supported are multiples of 8", module.k));
    return;
  }
  const int64_t group = module.scheme.group;
  if (group != -1 && group % 8 != 0) {
    refuse(module, fmt::format("group_size is {}, supported are multiples of 8 and -1", group));
    return;
  }
  const std::string because =
      fmt::format("group_size {} with K {}, N {}", group, module.k, module.n);
  require(*t.scales, Dtype::kF16, {module.groups(), module.n}, because);
  require_matrix(*t.qzeros, Dtype::kI32);
  // Exporters disagree about the words of an N that is no multiple of 32.
  const int64_t words = t.qzeros->shape()[1];
  if (t.qzeros->shape()[0] != module.groups() ||
      (words != module.n / 8 && words != module.n / 32 * 4 && words != (module.n + 7) / 8)) {
    bad_input("tensor {} has shape {}, but {} needs {}", quote_name(t.qzeros->name()),
              shape_text(t.qzeros->shape()), because,
              shape_text(std::vector<int64_t>{module.groups(), module.n / 8}));
  }
  if (t.g_idx != nullptr) require(*t.g_idx, Dtype::kI32, {module.k}, because);
  require_bias(module);
  module.verdict = Verdict::kServable;
}

void check_mxfp4(LinearModule& module, const QuantizationConfig& config) {
  const ModuleTensors& t = module.tensors;
  for (const auto& [suffix, tensor] :
       {std::pair{"weight_packed", t.weight_packed}, {"weight_scale", t.weight_scale}}) {
    if (tensor == nullptr) {
      bad_input("module {} has quantized tensors but lacks {}", quote_name(module.name),
                quote_name(module.name + "." + suffix));
    }
  }
  if (config.packing != Packing::kMxfp4) {
    if (config.packing != Packing::kUnknown) {
      bad_input("module {} is stored as compressed-tensors, but the configuration says packing {}",
                quote_name(module.name), packing_text(config));
    }
    refuse(module, fmt::format("packing {} is unknown; of compressed-tensors, supported is "
                               "mxfp4-pack-quantized",
                               quote_name(config.packing_name)));
    return;
  }
  require_matrix(*t.weight_packed, Dtype::kU8);
  module.n = t.weight_packed->shape()[0];
  module.k = t.weight_packed->shape()[1] * 2;
  if (module.k % kMxfp4Group != 0) {
    refuse(module, fmt::format("K is {}, supported are multiples of 32", module.k));
    return;
  }
  require(*t.weight_scale, Dtype::kU8, {module.n, module.k / kMxfp4Group},
          fmt::format("MXFP4 with K {}, N {}", module.k, module.n));
  require_bias(module);
  module.verdict = Verdict::kServable;
}

void check_quantized(LinearModule& module, const QuantizationConfig& config) {
  if (module.tensors.weight != nullptr) {
    bad_input("module {} has both a quantized and a float weight", quote_name(module.name));
  }
  if (!module.scheme.quantized) {
    bad_input("module {} has quantized tensors, but is 16-bit by the configuration ({})",
              quote_name(module.name), module.scheme.rule);
  }
  if (has_int4_part(module.tensors)) {
    if (has_mxfp4_part(module.tensors)) {
      bad_input("module {} has tensors of two packings", quote_name(module.name));
    }
    check_int4(module, config);
  } else {
    check_mxfp4(module, config);
  }
}

// Whether a float matrix of this name is a linear layer that the configuration speaks about.
bool is_linear_place(const QuantizationConfig& config, std::string_view name) {
  return last_component(name) == "lm_head" || in_numbered_block(name) ||
         (!config.blocks.empty() && in_quantized_blocks(config, name));
}

void survey_one(LinearModule module, const QuantizationConfig& config, ModuleSurvey& survey) {
  const ModuleTensors& t = module.tensors;
  const auto pass_through = [&](const Tensor* tensor) {
    if (tensor == nullptr) return;
    if (is_float(tensor->dtype())) {
      survey.passed_through.push_back(tensor->name());
    } else {
      survey.problems.push_back(fmt::format("tensor {} ({} {}) is read by nothing",
                                            quote_name(tensor->name()), dtype_name(tensor->dtype()),
                                            shape_text(tensor->shape())));
    }
  };
  try {
    if (has_int4_part(t) || has_mxfp4_part(t)) {
      module.packing = config.packing;
      module.scheme = scheme_of(config, module.name);
      check_quantized(module, config);
    } else if (t.weight != nullptr && t.weight->shape().size() == 2 &&
               is_float(t.weight->dtype()) && is_linear_place(config, module.name)) {
      module.scheme = scheme_of(config, module.name);
      module.n = t.weight->shape()[0];
      module.k = t.weight->shape()[1];
      if (is_router(module.name)) module.scheme = {false, 16, 0, true, kRouterRule};
      if (module.scheme.quantized) {
        bad_input("tensor {} is {}, but module {} is quantized by the configuration ({})",
                  quote_name(t.weight->name()), dtype_name(t.weight->dtype()),
                  quote_name(module.name), module.scheme.rule);
      }
      module.verdict = Verdict::kFloat;
      module.reason = module.scheme.rule;
    } else {
      pass_through(t.weight);
      pass_through(t.bias);
      return;
    }
  } catch (const Error& e) {
    refuse(module, e.what());
    survey.problems.push_back(e.what());
  }
  survey.modules.push_back(std::move(module));
}

}  // namespace

int64_t LinearModule::groups() const {
  if (packing == Packing::kMxfp4) return k / kMxfp4Group;
  return scheme.group <= 0 ? 1 : (k + scheme.group - 1) / scheme.group;
}

uint64_t LinearModule::weight_bytes() const {
  uint64_t bytes = 0;
  for (const Part& part : kParts) {
    const Tensor* tensor = tensors.*part.member;
    if (tensor != nullptr && tensor != tensors.bias) bytes += tensor->info->bytes();
  }
  return bytes;
}

const char* zero_name(ZeroKind zero) {
  switch (zero) {
    case ZeroKind::kNone:
      return "none";
    case ZeroKind::kConstant8:
      return "8";
    case ZeroKind::kAsymmetric:
      return "asymmetric";
    case ZeroKind::kUnchecked:
      break;
  }
  return "unchecked";
}

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kServable:
      return "ok";
    case Verdict::kFloat:
      return "16-bit";
    case Verdict::kAsymmetric:
      return "asymmetric";
    case Verdict::kRefused:
      break;
  }
  return "refused";
}

std::string scheme_name(const LinearModule& module) {
  if (module.packing == Packing::kMxfp4) return "mxfp4";
  if (module.packing != Packing::kNone) return fmt::format("int{}", module.scheme.bits);
  if (module.tensors.weight == nullptr) return "unknown";
  std::string name(dtype_name(module.tensors.weight->dtype()));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

ModuleSurvey survey_modules(const TensorStore& store, const QuantizationConfig& config) {
  ModuleSurvey survey;
  std::map<std::string, ModuleTensors, std::less<>> by_module;
  for (const auto& [name, tensor] : store.tensors()) {
    const std::string_view suffix = last_component(name);
    const auto* part = std::find_if(std::begin(kParts), std::end(kParts),
                                    [&](const Part& p) { return p.suffix == suffix; });
    if (part != std::end(kParts) && suffix.size() < name.size()) {
      by_module[name.substr(0, name.size() - suffix.size() - 1)].*(part->member) = &tensor;
    } else if (is_float(tensor.dtype())) {
      survey.passed_through.push_back(name);
    } else {
      survey.problems.push_back(fmt::format("tensor {} ({} {}) is read by nothing",
                                            quote_name(name), dtype_name(tensor.dtype()),
                                            shape_text(tensor.shape())));
    }
  }
  for (const auto& [name, tensors] : by_module) {
    LinearModule module;
    module.name = name;
    module.tensors = tensors;
    survey_one(std::move(module), config, survey);
  }
  std::sort(survey.passed_through.begin(), survey.passed_through.end());
  return survey;
}

}  // namespace radiance
