#include "checkpoint/quantization_config.hpp"

#include <nlohmann/json.hpp>

#include "checkpoint/failure.hpp"
#include "checkpoint/json.hpp"

namespace radiance {

namespace {

int64_t checked_bits(int64_t bits, const std::string& where) {
  if (bits < 1 || bits > 32) bad_input("{}: bits is {}, supported is 4", where, bits);
  return bits;
}

int64_t checked_group(int64_t group, const std::string& where) {
  if (group != -1 && (group < 1 || group > (1 << 30))) {
    bad_input("{}: group_size is {}, supported are multiples of 8 and -1", where, group);
  }
  return group;
}

// A list of strings, nested lists flattened; a string is split at commas, as auto-round does.
void collect_names(const nlohmann::json& value, const std::string& where,
                   std::vector<std::string>& names) {
  if (value.is_null()) return;
  if (value.is_array()) {
    for (const auto& entry : value) collect_names(entry, where, names);
    return;
  }
  if (!value.is_string()) {
    bad_input("{} holds {}, supported are names", where, json_excerpt(value));
  }
  const auto& text = value.get_ref<const std::string&>();
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    size_t first = begin;
    size_t last = comma;
    while (first < last && text[first] == ' ') ++first;
    while (last > first && (text[last - 1] == ' ' || text[last - 1] == '.')) --last;
    if (last > first) names.push_back(text.substr(first, last - first));
    begin = comma + 1;
  }
}

std::vector<std::string> names_field(const nlohmann::json& json, const char* key,
                                     const std::string& where) {
  std::vector<std::string> names;
  if (json.contains(key)) collect_names(json.at(key), where + ": " + key, names);
  return names;
}

void parse_overrides(const nlohmann::json& json, const std::string& where,
                     QuantizationConfig& config) {
  const auto it = json.find("extra_config");
  if (it == json.end() || it->is_null()) return;
  if (!it->is_object()) bad_input("{}: extra_config is no JSON object", where);
  for (const auto& [key, entry] : it->items()) {
    const std::string subject = where + ": extra_config entry " + quote_name(key);
    if (!entry.is_object()) bad_input("{} is no JSON object", subject);
    SchemeOverride override_entry;
    override_entry.key = key;
    if (const auto bits = int_field(entry, "bits", subject)) {
      override_entry.bits = checked_bits(*bits, subject);
    }
    if (const auto group = int_field(entry, "group_size", subject)) {
      override_entry.group = checked_group(*group, subject);
    }
    override_entry.sym = bool_field(entry, "sym", subject);
    override_entry.data_type = string_field(entry, "data_type", subject);
    if (has_regex_character(key)) override_entry.pattern.emplace(key, where + ": extra_config");
    config.overrides.push_back(std::move(override_entry));
  }
}

void refuse_if_set(const nlohmann::json& json, const char* key, const std::string& where) {
  const auto it = json.find(key);
  if (it != json.end() && !it->is_null() && !it->empty()) {
    fail(RADIANCE_UNSUPPORTED,
         "{}: {} is set, which changes the weights' meaning; it is unsupported", where, key);
  }
}

void parse_gptq(const nlohmann::json& json, const std::string& where, QuantizationConfig& config) {
  // AutoGPTQ knew one format only and did not write its name.
  const auto format = string_field(json, "checkpoint_format", where).value_or("gptq");
  config.packing_name = format == "gptq" ? "gptq" : "gptq (" + format + ")";
  config.packing = format == "gptq"      ? Packing::kGptqV1
                   : format == "gptq_v2" ? Packing::kGptqV2
                                         : Packing::kUnknown;
  config.desc_act = bool_field(json, "desc_act", where).value_or(false);
  config.lm_head = bool_field(json, "lm_head", where).value_or(false);
  config.only_modules = names_field(json, "modules_in_block_to_quantize", where);
  refuse_if_set(json, "dynamic", where);  // GPTQModel's per-module overrides
}

void parse_awq(const nlohmann::json& json, const std::string& where, QuantizationConfig& config) {
  const auto version = string_field(json, "version", where).value_or("gemm");
  const bool gemm = version == "gemm" || version == "GEMM";
  config.packing_name = gemm ? "awq" : "awq (" + version + ")";
  config.packing = gemm ? Packing::kAwq : Packing::kUnknown;
  if (const auto bits = int_field(json, "w_bit", where)) config.bits = checked_bits(*bits, where);
  if (const auto group = int_field(json, "q_group_size", where)) {
    config.group = checked_group(*group, where);
  }
  config.sym = !bool_field(json, "zero_point", where).value_or(true);
  config.not_converted = names_field(json, "modules_to_not_convert", where);
}

void parse_auto_round(const nlohmann::json& json, const std::string& where,
                      QuantizationConfig& config) {
  config.packing_name = string_field(json, "packing_format", where)
                            .value_or(string_field(json, "backend", where).value_or("auto_round"));
  const std::string& name = config.packing_name;
  if (name == "auto_round:auto_gptq" || name == "auto_round:gptq") {
    config.packing = Packing::kGptqV1;
  } else if (name == "auto_round:auto_awq" || name == "auto_round:awq") {
    config.packing = Packing::kAwq;
  } else {
    config.packing = Packing::kUnknown;
  }
  if (config.data_type != "int" && !config.data_type.starts_with("int_")) {
    config.packing = Packing::kUnknown;
    config.packing_name += " with data_type " + config.data_type;
  }
  config.blocks = names_field(json, "block_name_to_quantize", where);
  if (config.blocks.empty()) config.blocks = names_field(json, "to_quant_block_names", where);
  parse_overrides(json, where, config);
  refuse_if_set(json, "rotation_config", where);
}

void parse_compressed_tensors(const nlohmann::json& json, const std::string& where,
                              QuantizationConfig& config) {
  config.packing_name = string_field(json, "format", where).value_or("compressed-tensors");
  refuse_if_set(json, "transform_config", where);
  const auto groups = json.find("config_groups");
  if (groups == json.end() || !groups->is_object() || groups->empty()) {
    bad_input("{}: config_groups is no JSON object with an entry", where);
  }
  if (groups->size() != 1) {
    fail(RADIANCE_UNSUPPORTED, "{}: config_groups has {} entries, supported is one", where,
         groups->size());
  }
  const nlohmann::json& group = groups->front();
  const std::string subject = where + ": config_groups." + quote_name(groups->begin().key());
  const auto weights = group.is_object() ? group.find("weights") : group.end();
  if (!group.is_object() || weights == group.end() || !weights->is_object()) {
    bad_input("{}: weights is no JSON object", subject);
  }
  for (const auto& target : names_field(group, "targets", subject)) {
    if (target != "Linear") {
      fail(RADIANCE_UNSUPPORTED, "{}: targets holds {}, supported is 'Linear'", subject,
           quote_name(target));
    }
  }
  config.bits = checked_bits(int_field(*weights, "num_bits", subject).value_or(0), subject);
  config.group = checked_group(int_field(*weights, "group_size", subject).value_or(-1), subject);
  config.sym = bool_field(*weights, "symmetric", subject).value_or(true);
  config.data_type = string_field(*weights, "type", subject).value_or("int");
  const auto format = string_field(group, "format", subject).value_or(config.packing_name);
  if (format == "mxfp4-pack-quantized") {
    config.packing = Packing::kMxfp4;
    config.packing_name = format;
    if (config.bits != 4 || config.group != 32 || config.data_type != "float" || !config.sym) {
      bad_input(
          "{}: {} with num_bits {}, group_size {}, type {}, symmetric {} contradicts itself; "
          "supported are 4, 32, 'float', true",
          subject, format, config.bits, config.group, quote_name(config.data_type), config.sym);
    }
  } else {
    config.packing = Packing::kUnknown;
  }
  for (const auto& name : names_field(json, "ignore", where)) {
    if (name.starts_with("re:")) {
      config.ignored_patterns.emplace_back(std::string_view(name).substr(3), where + ": ignore");
    } else {
      config.ignored.push_back(name);
    }
  }
}

}  // namespace

QuantizationConfig parse_quantization_config(const nlohmann::json& json, const std::string& where) {
  if (!json.is_object()) bad_input("{} is no JSON object", where);
  QuantizationConfig config;
  config.source = where;
  // AutoGPTQ's quantize_config.json predates the field.
  config.quant_method = string_field(json, "quant_method", where).value_or("gptq");
  config.data_type = string_field(json, "data_type", where).value_or("int");
  if (const auto bits = int_field(json, "bits", where)) config.bits = checked_bits(*bits, where);
  if (const auto group = int_field(json, "group_size", where)) {
    config.group = checked_group(*group, where);
  }
  config.sym = bool_field(json, "sym", where).value_or(true);

  if (config.quant_method == "auto-round" || config.quant_method == "intel/auto-round" ||
      config.quant_method == "auto_round") {
    parse_auto_round(json, where, config);
  } else if (config.quant_method == "gptq") {
    parse_gptq(json, where, config);
  } else if (config.quant_method == "awq") {
    parse_awq(json, where, config);
  } else if (config.quant_method == "compressed-tensors") {
    parse_compressed_tensors(json, where, config);
  } else {
    config.packing = Packing::kUnknown;
    config.packing_name = config.quant_method;
  }
  if (config.packing != Packing::kMxfp4 && config.packing != Packing::kUnknown &&
      config.bits == 16) {
    bad_input("{} gives no bits", where);
  }
  return config;
}

std::string packing_text(const QuantizationConfig& config) {
  return config.packing == Packing::kNone ? "none" : config.packing_name;
}

}  // namespace radiance
