// What a conversion will write: which tensors are quantized, and the configuration that says so.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/quantize.hpp"
#include "checkpoint/safetensors_writer.hpp"

namespace radiance {

struct PlannedTensor {
  const Tensor* source = nullptr;
  const LinearModule* module = nullptr;  // set when it is quantized, else it is copied
};

struct PlannedShard {
  std::string file_name;
  const SafetensorsFile* source = nullptr;
  std::vector<PlannedTensor> tensors;  // in the order of the source's bytes
};

struct QuantizePlan {
  QuantizeFormat format = QuantizeFormat::kAutoRound;
  int64_t group = 128;
  std::vector<PlannedShard> shards;
  std::vector<std::string> blocks;        // prefixes of the quantized blocks: "model.layers"
  std::vector<std::string> kept;          // linear layers within them that stay 16-bit
  std::vector<std::string> kept_outside;  // matrices outside of them
};

// Throws Error: RADIANCE_UNSUPPORTED for a source that is quantized already, whose architecture
// stores transposed weights, whose weights have another dtype, or with nothing to quantize.
QuantizePlan plan_quantization(const Checkpoint& source, const QuantizeOptions& options);

// The tensors that stand for one source tensor in the output.
std::vector<TensorSpec> output_tensors(const QuantizePlan& plan, const PlannedTensor& tensor);

// quantization_config as auto-round or compressed-tensors would write it, as JSON text; and the
// source's config.json, its keys in their order, with that in it.
std::string quantization_config_text(const QuantizePlan& plan);
std::string model_config_text(const QuantizePlan& plan, const std::string& source_config);

}  // namespace radiance
