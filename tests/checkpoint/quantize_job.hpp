// A conversion to run: a source with a model, and where its destination will be.
#pragma once

#include <filesystem>

#include "checkpoint/quantize.hpp"
#include "support.hpp"

namespace radiance::test {

// The model over three shards and an index.
inline void write_sharded(const CheckpointBuilder& builder,
                          const std::filesystem::path& directory) {
  builder.write(directory);
  std::filesystem::remove(directory / "model.safetensors");
  nlohmann::json map;
  std::vector<RawTensor> shards[3];
  for (const auto& tensor : builder.tensors) {
    const size_t shard = tensor.name.starts_with("model.layers.0.")   ? 0
                         : tensor.name.starts_with("model.layers.1.") ? 1
                                                                      : 2;
    shards[shard].push_back(tensor);
    map[tensor.name] = "m-" + std::to_string(shard) + ".safetensors";
  }
  for (size_t i = 0; i < 3; ++i) {
    write_file(directory / ("m-" + std::to_string(i) + ".safetensors"),
               safetensors_file(shards[i]));
  }
  write_file(directory / "model.safetensors.index.json",
             nlohmann::json{{"metadata", {{"total_size", 1}}}, {"weight_map", map}}.dump());
}

// Source and destination, with a model in the source.
struct Job {
  TempDir dir;
  std::filesystem::path source = dir / "source";
  std::filesystem::path destination = dir / "destination";
  QuantizeOptions options;

  explicit Job(const CheckpointBuilder& builder = small_llama()) {
    builder.write(source);
    write_file(source / "tokenizer.json", "tokens");
    write_file(source / "pytorch_model.bin", "weights of another format");
    options.threads = 2;
    options.group = 32;
  }
  QuantizeReport run() const { return quantize_checkpoint(source, destination, options); }
};

}  // namespace radiance::test
