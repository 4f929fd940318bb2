// The linear layers that a block of a known architecture must have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/model_config.hpp"

namespace radiance {

struct ExpectedLinear {
  std::string name;  // within its block: "self_attn.q_proj"
  int64_t n = 0;     // 0: the configuration does not say
  int64_t k = 0;
};

bool is_known_architecture(std::string_view model_type);

// Of block `layer`; empty when the architecture is not known.
std::vector<ExpectedLinear> expected_linears(const ModelConfig& model, int64_t layer);

// Serving engines, and some checkpoints, join linears that read the same input: "qkv_proj" is made
// of "q_proj", "k_proj", "v_proj". `name` is a last name component.
struct FusedLinear {
  std::string_view name;
  std::vector<std::string_view> members;
};
const std::vector<FusedLinear>& fused_linears();

}  // namespace radiance
