// quantization_config: how a checkpoint says that it is quantized.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/name_pattern.hpp"

namespace radiance {

// Where the codes lie and what the zeros mean.
enum class Packing {
  kNone,     // not quantized
  kGptqV1,   // codes along k; qzeros hold zero - 1
  kGptqV2,   // codes along k; qzeros hold the zero
  kAwq,      // codes along n, interleaved; qzeros hold the zero
  kMxfp4,    // compressed-tensors' mxfp4-pack-quantized
  kUnknown,  // named by packing_name, refused
};

// One entry of extra_config: fields that are absent are the global ones.
struct SchemeOverride {
  std::string key;  // a module's name, or a pattern
  std::optional<int64_t> bits;
  std::optional<int64_t> group;
  std::optional<bool> sym;
  std::optional<std::string> data_type;
  std::optional<NamePattern> pattern;  // set when the key is one
};

struct QuantizationConfig {
  std::string source;        // the file, for sentences
  std::string quant_method;  // "auto-round", "gptq", "awq", "compressed-tensors", "" if none
  Packing packing = Packing::kNone;
  std::string packing_name;  // as written: "auto_round:auto_gptq"
  std::string data_type = "int";
  int64_t bits = 16;
  int64_t group = -1;  // consecutive k a scale covers; -1: all of K
  bool sym = true;
  bool desc_act = false;
  bool lm_head = false;                    // GPTQModel's flag
  std::vector<std::string> blocks;         // prefixes of quantized blocks; empty: not said
  std::vector<SchemeOverride> overrides;   // in the file's order of keys
  std::vector<std::string> only_modules;   // optimum: names within a block; empty: all
  std::vector<std::string> not_converted;  // AWQ: modules kept at 16 bits, by name parts
  // compressed-tensors: exact names, or "re:" patterns anchored at the start.
  std::vector<std::string> ignored;
  std::vector<NamePattern> ignored_patterns;
};

// `json` is the quantization_config object. Throws Error: RADIANCE_BAD_INPUT for fields of the
// wrong type or value, RADIANCE_UNSUPPORTED for a feature that changes the meaning of the weights
// and that nothing here understands. Bits other than 4 and unknown packings are recorded, not
// thrown: they become the modules' verdict.
QuantizationConfig parse_quantization_config(const nlohmann::json& json, const std::string& where);

std::string packing_text(const QuantizationConfig& config);

}  // namespace radiance
