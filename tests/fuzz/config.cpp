// config.json with its quantization_config, and the index: the first byte says which.
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>

#include "checkpoint/architecture.hpp"
#include "checkpoint/json.hpp"
#include "checkpoint/model_config.hpp"
#include "checkpoint/quantization_config.hpp"
#include "checkpoint/scheme.hpp"
#include "checkpoint/tensor_store.hpp"
#include "radiance/error.hpp"

namespace {

void read_config(std::string_view text) {
  using namespace radiance;
  const nlohmann::json json = parse_json(text, "config.json");
  const ModelConfig model = parse_model_config(json, "config.json");
  for (int64_t layer = 0; layer < 8; ++layer) (void)expected_linears(model, layer);
  const auto it = json.find("quantization_config");
  if (it == json.end()) return;
  const QuantizationConfig config = parse_quantization_config(*it, "quantization_config");
  for (const char* name : {"model.layers.0.mlp.up_proj", "model.layers.1.self_attn.qkv_proj",
                           "model.language_model.layers.3.linear_attn.in_proj_ba", "lm_head", ""}) {
    const ModuleScheme scheme = scheme_of(config, name);
    if (scheme.quantized && (scheme.bits < 1 || scheme.group == 0 || scheme.group < -1)) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] == 'i') {
      (void)radiance::parse_index(text, "index");
    } else {
      read_config(text);
    }
  } catch (const radiance::Error&) {
  }
  return 0;
}
