#include "checkpoint/architecture.hpp"

#include <algorithm>

namespace radiance {

namespace {

constexpr std::string_view kLlamaLike[] = {"llama", "mistral", "qwen2", "qwen3"};
constexpr std::string_view kQwen35[] = {"qwen3_5", "qwen3_5_text"};

template <size_t kCount>
bool contains(const std::string_view (&list)[kCount], std::string_view value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

bool is_linear_attention(const ModelConfig& model, int64_t layer) {
  if (static_cast<size_t>(layer) < model.layer_types.size()) {
    return model.layer_types[static_cast<size_t>(layer)] == "linear_attention";
  }
  // Qwen3.5's default: layers 3, 7, 11, ... have full attention.
  const int64_t interval = model.full_attention_interval == 0 ? 4 : model.full_attention_interval;
  return (layer + 1) % interval != 0;
}

}  // namespace

bool is_known_architecture(std::string_view model_type) {
  return contains(kLlamaLike, model_type) || contains(kQwen35, model_type);
}

std::vector<ExpectedLinear> expected_linears(const ModelConfig& model, int64_t layer) {
  if (!is_known_architecture(model.model_type)) return {};
  const bool qwen35 = contains(kQwen35, model.model_type);
  const int64_t hidden = model.hidden_size;
  std::vector<ExpectedLinear> linears;
  if (qwen35 && is_linear_attention(model, layer)) {
    const int64_t keys = model.linear_num_key_heads * model.linear_key_head_dim;
    const int64_t values = model.linear_num_value_heads * model.linear_value_head_dim;
    linears = {{"linear_attn.in_proj_qkv", keys && values ? 2 * keys + values : 0, hidden},
               {"linear_attn.in_proj_z", values, hidden},
               {"linear_attn.in_proj_a", model.linear_num_value_heads, hidden},
               {"linear_attn.in_proj_b", model.linear_num_value_heads, hidden},
               {"linear_attn.out_proj", hidden, values}};
  } else {
    const int64_t queries = model.num_attention_heads * model.head_dim;
    const int64_t keys = model.num_key_value_heads * model.head_dim;
    const int64_t gated = qwen35 && model.attention_output_gate ? 2 : 1;
    linears = {{"self_attn.q_proj", gated * queries, hidden},
               {"self_attn.k_proj", keys, hidden},
               {"self_attn.v_proj", keys, hidden},
               {"self_attn.o_proj", hidden, queries}};
  }
  linears.push_back({"mlp.gate_proj", model.intermediate_size, hidden});
  linears.push_back({"mlp.up_proj", model.intermediate_size, hidden});
  linears.push_back({"mlp.down_proj", hidden, model.intermediate_size});
  return linears;
}

const std::vector<FusedLinear>& fused_linears() {
  static const std::vector<FusedLinear> fused = {
      {"qkv_proj", {"q_proj", "k_proj", "v_proj"}},
      {"gate_up_proj", {"gate_proj", "up_proj"}},
      {"in_proj_qkvz", {"in_proj_qkv", "in_proj_z"}},
      {"in_proj_ba", {"in_proj_b", "in_proj_a"}},
  };
  return fused;
}

}  // namespace radiance
