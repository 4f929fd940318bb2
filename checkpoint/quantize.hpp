// Makes a quantized checkpoint from a float one, by rounding to nearest.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace radiance {

enum class QuantizeFormat {
  kAutoRound,  // auto_round:auto_gptq, symmetric int4
  kMxfp4,      // compressed-tensors' mxfp4-pack-quantized
};

struct QuantizeProgress {
  std::string tensor;  // the one just written
  size_t shards_done = 0;
  size_t shards = 0;
  uint64_t bytes_done = 0;  // of the source's tensors, skipped shards included
  uint64_t bytes = 0;
};

struct QuantizeOptions {
  QuantizeFormat format = QuantizeFormat::kAutoRound;
  int64_t group = 128;  // 128, 64, 32 or -1; MXFP4 has 32 and ignores it
  int threads = 0;      // 0: as many as the machine has
  // Called after every tensor. What it throws stops the work as a kill would.
  std::function<void(const QuantizeProgress&)> progress;
};

// A quantized layer's weight against the source's.
struct LayerError {
  std::string name;
  int64_t n = 0;
  int64_t k = 0;
  double relative = 0;  // Frobenius
  double largest = 0;   // absolute
};

struct QuantizeReport {
  std::vector<LayerError> layers;  // ordered by name
  std::vector<std::string> kept;   // linear layers within the blocks left at 16 bits
  double relative = 0;             // Frobenius, of all quantized weights together
  uint64_t source_bytes = 0;       // of tensors
  uint64_t written_bytes = 0;      // of safetensors files, skipped ones included
  size_t shards = 0;
  size_t shards_skipped = 0;  // finished by an earlier run
};

// What records a conversion's settings, its source's identity and its finished shards, in the
// destination.
inline constexpr const char* kJournalName = "radiance_quantize.json";

// Quantizes the linear layers within the blocks whose N and K are multiples of 32 (auto-round's
// rule); the rest, lm_head, embeddings and norms among it, keeps its dtype. One output shard an
// input shard; tokenizer and other small files are copied; config.json comes last, so that an
// unfinished destination is no checkpoint.
//
// Streams: peak memory is about one source tensor and its quantized form. Each shard appears by a
// rename and is recorded in the journal; a run with the same source and settings continues after
// the shards that are finished, any other is refused. Throws Error: RADIANCE_INVALID_ARGUMENT for
// options, RADIANCE_UNSUPPORTED or RADIANCE_BAD_INPUT for a source that cannot be quantized (the
// destination is then left as it was), OutputError when writing fails (finished shards stay).
QuantizeReport quantize_checkpoint(const std::filesystem::path& source,
                                   const std::filesystem::path& destination,
                                   const QuantizeOptions& options);

}  // namespace radiance
