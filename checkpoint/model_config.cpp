#include "checkpoint/model_config.hpp"

#include "checkpoint/failure.hpp"
#include "checkpoint/json.hpp"

namespace radiance {

namespace {

constexpr int64_t kMaxDimension = (int64_t{1} << 31) - 1;
constexpr int64_t kMaxLayers = 10'000;

}  // namespace

ModelConfig parse_model_config(const nlohmann::json& config, const std::string& where) {
  if (!config.is_object()) bad_input("{} is no JSON object", where);
  const auto nested = config.find("text_config");
  const bool has_text = nested != config.end() && nested->is_object();
  const nlohmann::json& text = has_text ? *nested : config;

  const auto dimension = [&](const char* key, int64_t limit = kMaxDimension) -> int64_t {
    const auto value = int_field(text, key, where);
    if (!value) return 0;
    if (*value < 1 || *value > limit) {
      bad_input("{}: {} is {}, supported are 1 to {}", where, key, *value, limit);
    }
    return *value;
  };
  ModelConfig model;
  model.model_type = string_field(text, "model_type", where)
                         .value_or(string_field(config, "model_type", where).value_or(""));
  model.hidden_size = dimension("hidden_size");
  model.intermediate_size = dimension("intermediate_size");
  model.num_hidden_layers = dimension("num_hidden_layers", kMaxLayers);
  model.num_attention_heads = dimension("num_attention_heads");
  model.num_key_value_heads = dimension("num_key_value_heads");
  if (model.num_key_value_heads == 0) model.num_key_value_heads = model.num_attention_heads;
  model.head_dim = dimension("head_dim");
  if (model.head_dim == 0 && model.num_attention_heads != 0 &&
      model.hidden_size % model.num_attention_heads == 0) {
    model.head_dim = model.hidden_size / model.num_attention_heads;
  }
  // transformers writes it at the top, some exporters only beside the text model's fields.
  model.tie_word_embeddings = bool_field(config, "tie_word_embeddings", where);
  if (!model.tie_word_embeddings && has_text) {
    model.tie_word_embeddings = bool_field(text, "tie_word_embeddings", where);
  }
  model.attention_output_gate = bool_field(text, "attn_output_gate", where).value_or(true);
  model.full_attention_interval = dimension("full_attention_interval");
  model.linear_num_key_heads = dimension("linear_num_key_heads");
  model.linear_num_value_heads = dimension("linear_num_value_heads");
  model.linear_key_head_dim = dimension("linear_key_head_dim");
  model.linear_value_head_dim = dimension("linear_value_head_dim");

  if (const auto types = text.find("layer_types"); types != text.end() && types->is_array()) {
    for (const auto& type : *types) {
      if (!type.is_string()) {
        bad_input("{}: layer_types holds {}, supported are strings", where, json_excerpt(type));
      }
      model.layer_types.push_back(type.get<std::string>());
    }
  }
  return model;
}

}  // namespace radiance
