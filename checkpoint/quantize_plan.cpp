#include "checkpoint/quantize_plan.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "checkpoint/failure.hpp"

namespace radiance {

namespace {

using Json = nlohmann::ordered_json;

// auto-round leaves any other layer at 16 bits, and kernels rely on it.
constexpr int64_t kShapeMultiple = 32;

bool has_quantizable_shape(const LinearModule& module) {
  return module.n % kShapeMultiple == 0 && module.k % kShapeMultiple == 0 && module.n > 0 &&
         module.k > 0;
}

// "model.layers" of "model.layers.12.mlp.up_proj".
std::string block_prefix(const std::string& name) {
  for (size_t begin = 0; begin < name.size();) {
    const size_t dot = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, dot - begin);
    if (begin > 0 && !part.empty() && part.find_first_not_of("0123456789") == std::string::npos) {
      return name.substr(0, begin - 1);
    }
    begin = dot + 1;
  }
  return name;
}

std::set<std::string> choose_modules(const Checkpoint& source, QuantizePlan& plan) {
  std::set<std::string> chosen;
  std::set<std::string> blocks;
  for (const LinearModule& module : source.modules()) {
    if (!in_numbered_block(module.name)) {
      plan.kept_outside.push_back(module.name);
    } else if (module.scheme.rule == kRouterRule || !has_quantizable_shape(module)) {
      plan.kept.push_back(module.name);
    } else {
      const Tensor& weight = *module.tensors.weight;
      if (!is_weight_float(weight.dtype())) {
        fail(RADIANCE_UNSUPPORTED, "tensor {} is {}, supported sources are BF16, F16 and F32",
             quote_name(weight.name()), dtype_name(weight.dtype()));
      }
      chosen.insert(weight.name());
      blocks.insert(block_prefix(module.name));
    }
  }
  plan.blocks.assign(blocks.begin(), blocks.end());
  return chosen;
}

Json auto_round_config(const QuantizePlan& plan) {
  Json config = {{"bits", 4},
                 {"data_type", "int"},
                 {"group_size", plan.group},
                 {"sym", true},
                 {"iters", 0}};  // rounded to nearest, nothing was trained
  if (plan.blocks.size() == 1) {
    config["block_name_to_quantize"] = plan.blocks.front();
  } else {
    config["block_name_to_quantize"] = plan.blocks;
  }
  config["quant_method"] = "auto-round";
  config["packing_format"] = "auto_round:auto_gptq";
  if (!plan.kept.empty()) {
    Json& extra = config["extra_config"] = Json::object();
    for (const auto& name : plan.kept) extra[name] = {{"bits", 16}, {"data_type", "fp"}};
  }
  return config;
}

Json mxfp4_config(const QuantizePlan& plan) {
  const Json weights = {{"actorder", nullptr},
                        {"block_structure", nullptr},
                        {"dynamic", false},
                        {"group_size", 32},
                        {"num_bits", 4},
                        {"observer", "minmax"},
                        {"observer_kwargs", Json::object()},
                        {"scale_dtype", "torch.uint8"},
                        {"strategy", "group"},
                        {"symmetric", true},
                        {"type", "float"},
                        {"zp_dtype", nullptr}};
  const Json group = {{"format", "mxfp4-pack-quantized"},
                      {"input_activations", nullptr},
                      {"output_activations", nullptr},
                      {"targets", Json::array({"Linear"})},
                      {"weights", weights}};
  // The target is a class: every linear layer that is not quantized has to be named.
  std::set<std::string> ignore(plan.kept.begin(), plan.kept.end());
  ignore.insert(plan.kept_outside.begin(), plan.kept_outside.end());
  ignore.insert("lm_head");
  return {{"config_groups", {{"group_0", group}}},
          {"format", "mxfp4-pack-quantized"},
          {"global_compression_ratio", nullptr},
          {"ignore", ignore},
          {"kv_cache_scheme", nullptr},
          {"quant_method", "compressed-tensors"},
          {"quantization_status", "compressed"}};
}

Json quantization_config(const QuantizePlan& plan) {
  return plan.format == QuantizeFormat::kMxfp4 ? mxfp4_config(plan) : auto_round_config(plan);
}

}  // namespace

QuantizePlan plan_quantization(const Checkpoint& source, const QuantizeOptions& options) {
  const std::string where = source.directory().string();
  if (source.quantization().packing != Packing::kNone) {
    fail(RADIANCE_UNSUPPORTED, "{} is quantized already ({}), supported are float checkpoints",
         where, packing_text(source.quantization()));
  }
  // Its Conv1D layers hold [k][n].
  if (source.model().model_type == "gpt2") {
    fail(RADIANCE_UNSUPPORTED,
         "{}: model_type gpt2 stores transposed weights, which is unsupported", where);
  }
  QuantizePlan plan;
  plan.format = options.format;
  plan.group = options.format == QuantizeFormat::kMxfp4 ? 32 : options.group;
  const std::set<std::string> chosen = choose_modules(source, plan);
  if (chosen.empty()) {
    fail(RADIANCE_UNSUPPORTED,
         "{} has no linear layer to quantize: none within numbered blocks with N and K multiples "
         "of {}",
         where, kShapeMultiple);
  }
  // Matrices that are no modules (vision towers, prediction heads) are linear layers to a server.
  for (const auto& name : source.passed_through()) {
    const Tensor& tensor = *source.tensors().find(name);
    if (tensor.shape().size() == 2 && name.ends_with(".weight")) {
      plan.kept_outside.push_back(name.substr(0, name.size() - std::string(".weight").size()));
    }
  }
  for (const auto& shard : source.tensors().shards()) {
    PlannedShard planned{shard->file().path().filename().string(), shard.get(), {}};
    for (const TensorInfo& info : shard->tensors()) {
      const bool quantize = chosen.count(info.name) != 0;
      const std::string_view module_name(info.name.data(),
                                         info.name.size() - (quantize ? 7 : 0));  // ".weight"
      planned.tensors.push_back(
          {source.tensors().find(info.name), quantize ? source.find(module_name) : nullptr});
    }
    plan.shards.push_back(std::move(planned));
  }
  return plan;
}

std::vector<TensorSpec> output_tensors(const QuantizePlan& plan, const PlannedTensor& tensor) {
  if (tensor.module == nullptr) {
    return {{tensor.source->name(), tensor.source->dtype(), tensor.source->shape()}};
  }
  const std::string& name = tensor.module->name;
  const int64_t n = tensor.module->n;
  const int64_t k = tensor.module->k;
  if (plan.format == QuantizeFormat::kMxfp4) {
    return {{name + ".weight_packed", Dtype::kU8, {n, k / 2}},
            {name + ".weight_scale", Dtype::kU8, {n, k / 32}}};
  }
  const int64_t groups = plan.group == -1 ? 1 : (k + plan.group - 1) / plan.group;
  return {{name + ".qweight", Dtype::kI32, {k / 8, n}},
          {name + ".qzeros", Dtype::kI32, {groups, n / 8}},
          {name + ".scales", Dtype::kF16, {groups, n}}};
}

std::string quantization_config_text(const QuantizePlan& plan) {
  return quantization_config(plan).dump(2) + "\n";
}

std::string model_config_text(const QuantizePlan& plan, const std::string& source_config) {
  Json config = Json::parse(source_config);
  config["quantization_config"] = quantization_config(plan);
  return config.dump(2) + "\n";
}

}  // namespace radiance
