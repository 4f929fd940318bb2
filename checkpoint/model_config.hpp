// What config.json says about the model's shape.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace radiance {

// Dimensions are 0 where the file does not give them.
struct ModelConfig {
  std::string model_type;  // of the language model: text_config's where there is one
  int64_t hidden_size = 0;
  int64_t intermediate_size = 0;
  int64_t num_hidden_layers = 0;
  int64_t num_attention_heads = 0;
  int64_t num_key_value_heads = 0;
  int64_t head_dim = 0;
  std::optional<bool> tie_word_embeddings;
  bool attention_output_gate = true;     // Qwen3.5: q_proj has a gate's rows too
  std::vector<std::string> layer_types;  // one a layer: "full_attention", "linear_attention"
  int64_t full_attention_interval = 0;   // every so-many-th layer, where layer_types is absent
  int64_t linear_num_key_heads = 0;
  int64_t linear_num_value_heads = 0;
  int64_t linear_key_head_dim = 0;
  int64_t linear_value_head_dim = 0;
};

// Throws Error (RADIANCE_BAD_INPUT) for a field of the wrong type or a dimension outside 1..2^31-1.
ModelConfig parse_model_config(const nlohmann::json& config, const std::string& where);

}  // namespace radiance
