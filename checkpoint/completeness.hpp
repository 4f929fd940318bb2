// Whether a checkpoint fills the model it claims to be.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/linear_module.hpp"
#include "checkpoint/model_config.hpp"

namespace radiance {

struct CompletenessReport {
  std::vector<std::string> problems;
  std::vector<std::string> notes;
};

// Checks, for architectures that are known, that every block has its linear layers, in the shapes
// that config.json gives them; that members of a fused module agree; that the parts outside the
// blocks are there. A directory with nothing outside the blocks (a cut-out of a model) is noted and
// not held to the last.
CompletenessReport check_completeness(const ModelConfig& model, const QuantizationConfig& config,
                                      const TensorStore& store,
                                      const std::vector<LinearModule>& modules);

}  // namespace radiance
