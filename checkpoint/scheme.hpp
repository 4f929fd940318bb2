// Which scheme a module has, by the configuration alone.
//
// auto-round and vLLM disagree in the corners; ours: the exact name first (also with and without a
// leading "model."), then the longest matching pattern of extra_config, then the list of blocks (a
// prefix matches only at a name boundary: "layers.1" is not "layers.10"), then the global scheme.
// Modules outside the blocks are 16-bit, lm_head too unless it is listed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "checkpoint/quantization_config.hpp"

namespace radiance {

struct ModuleScheme {
  bool quantized = false;
  int64_t bits = 16;
  int64_t group = 0;  // as configured, -1 for all of K; 0 when not quantized
  bool sym = true;
  std::string rule;  // which rule decided, for people

  bool same_format(const ModuleScheme& other) const {
    return quantized == other.quantized && bits == other.bits && group == other.group &&
           sym == other.sym;
  }
};

// `name` is a module's name ("model.layers.0.mlp.down_proj"). For a fused name ("...qkv_proj") that
// no entry names, the members' common scheme; throws Error (RADIANCE_BAD_INPUT) saying which
// members differ.
ModuleScheme scheme_of(const QuantizationConfig& config, std::string_view name);

// Whether `name` is the prefix or lies below it in the module tree.
bool is_below(std::string_view name, std::string_view prefix);

// Whether the name lies in a numbered block of the language model ("model.layers.3.mlp.up_proj"):
// where a configuration that lists no blocks quantizes. Blocks of vision towers and of multi-token
// prediction do not count.
bool in_numbered_block(std::string_view name);

// Whether scheme_of would look at the global scheme for this name.
bool in_quantized_blocks(const QuantizationConfig& config, std::string_view name);

// The part of a name after its last dot.
std::string_view last_component(std::string_view name);

// Whether the override's key names this module, by name or pattern.
bool applies_to(const SchemeOverride& entry, std::string_view name);

}  // namespace radiance
