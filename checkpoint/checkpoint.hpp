// A checkpoint directory: what it holds, whether it holds together, and its weights.
//
//   const auto checkpoint = radiance::Checkpoint::open("/models/x");
//   for (const auto& module : checkpoint.modules()) {
//     if (module.verdict != radiance::Verdict::kServable) continue;
//     const auto weight = checkpoint.load_linear(module);
//   }
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "checkpoint/linear_module.hpp"
#include "checkpoint/model_config.hpp"
#include "checkpoint/quantization_config.hpp"
#include "checkpoint/tensor_store.hpp"

namespace radiance {

// An int4 weight in the order of radiance_weight_desc (RADIANCE_AUTOROUND_INT4), whatever the
// checkpoint's packing: W[n][k] = (code - zero) * scale[k / group][n].
struct Int4Weight {
  int64_t n = 0;
  int64_t k = 0;                 // a multiple of 8
  int64_t group = -1;            // a multiple of 8, or -1 for one group of k
  std::vector<uint32_t> codes;   // [k / 8][n], eight codes a word along k, lowest k lowest
  std::vector<uint16_t> scales;  // fp16 [ceil(k / group)][n], finite, any sign
  std::vector<uint8_t> zeros;    // [ceil(k / group)][n], 0..15; empty when all are 8
  std::vector<float> bias;       // [n]; empty when the layer has none
};

// An MXFP4 weight in the order of radiance_weight_desc (RADIANCE_MXFP4).
struct Mxfp4Weight {
  int64_t n = 0;
  int64_t k = 0;                // a multiple of 32
  std::vector<uint8_t> codes;   // [n][k / 2], the lower nibble is the lower k
  std::vector<uint8_t> scales;  // [n][k / 32], E8M0, none of them 255
  std::vector<float> bias;      // [n]; empty when the layer has none
};

using LinearWeight = std::variant<Int4Weight, Mxfp4Weight>;

struct OpenOptions {
  // List problems() instead of throwing the first.
  bool allow_problems = false;
  // Read zeros, g_idx and scales of every quantized module (a thirtieth of the weights). Off: a
  // module's are read when it is loaded.
  bool check_values = true;
};

struct LoadOptions {
  bool allow_asymmetric = false;
};

// Movable, not copyable; LinearModule refers into it. Const functions may be called from several
// threads.
class Checkpoint {
 public:
  // Throws Error (RADIANCE_BAD_INPUT) for files that are malformed or missing, and, unless
  // allow_problems, for a checkpoint with contradictions, unread parts or unfilled modules.
  static Checkpoint open(const std::filesystem::path& directory, const OpenOptions& options = {});

  const std::filesystem::path& directory() const { return directory_; }
  const ModelConfig& model() const { return model_; }
  const QuantizationConfig& quantization() const { return quantization_; }
  const TensorStore& tensors() const { return store_; }

  // Ordered by name.
  const std::vector<LinearModule>& modules() const { return modules_; }
  const LinearModule* find(std::string_view name) const;
  // Float tensors that belong to no linear layer: norms, embeddings, convolutions.
  const std::vector<std::string>& passed_through() const { return passed_through_; }
  // What contradicts itself, is read by nothing or left unfilled; one sentence each.
  const std::vector<std::string>& problems() const { return problems_; }
  // What is worth knowing and harms nothing.
  const std::vector<std::string>& notes() const { return notes_; }

  // Whether there are quantized layers, all of them loadable, and no problems.
  bool servable() const;
  // Stored bits (codes, scales, zeros, g_idx) a weight of the quantized layers; 0 if there are
  // none.
  double bits_per_weight() const;

  // The weight of one of modules(). Checks its values. Throws Error with the module's reason:
  // RADIANCE_UNSUPPORTED for a refused or float module and for asymmetric zeros that are not
  // allowed, RADIANCE_BAD_INPUT for scales that are not finite.
  LinearWeight load_linear(const LinearModule& module, const LoadOptions& options = {}) const;
  // The same, when the caller knows which it is; throws RADIANCE_UNSUPPORTED when it is the other.
  Int4Weight load_int4(const LinearModule& module, const LoadOptions& options = {}) const;
  Mxfp4Weight load_mxfp4(const LinearModule& module) const;

  // Any float tensor (F16, BF16, F32), converted, in its own order. Throws Error
  // (RADIANCE_INVALID_ARGUMENT) when there is none of the name, RADIANCE_UNSUPPORTED for other
  // dtypes.
  std::vector<float> load_float(std::string_view tensor_name) const;

 private:
  explicit Checkpoint(TensorStore store) : store_(std::move(store)) {}

  std::filesystem::path directory_;
  TensorStore store_;
  ModelConfig model_;
  QuantizationConfig quantization_;
  std::vector<LinearModule> modules_;
  std::vector<std::string> passed_through_;
  std::vector<std::string> problems_;
  std::vector<std::string> notes_;
};

}  // namespace radiance
