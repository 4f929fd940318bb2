#include "checkpoint/completeness.hpp"

#include <algorithm>
#include <set>

#include "checkpoint/architecture.hpp"
#include "checkpoint/failure.hpp"

namespace radiance {

namespace {

// More missing layers than this are one sentence.
constexpr size_t kMaxListed = 16;

// Where the language model's blocks lie, by class of model.
constexpr std::string_view kBlockPrefixes[] = {"model.layers.", "model.language_model.layers.",
                                               "language_model.model.layers.", "layers."};

bool has_tensor_below(const TensorStore& store, std::string_view prefix) {
  const auto it = store.tensors().lower_bound(prefix);
  return it != store.tensors().end() && std::string_view(it->first).starts_with(prefix);
}

const LinearModule* find_module(const std::vector<LinearModule>& modules, std::string_view name) {
  const auto it = std::lower_bound(
      modules.begin(), modules.end(), name,
      [](const LinearModule& module, std::string_view wanted) { return module.name < wanted; });
  return it != modules.end() && it->name == name ? &*it : nullptr;
}

// The fused module that would hold this linear: "self_attn.qkv_proj" for "self_attn.q_proj".
std::string fused_name(std::string_view name) {
  const std::string_view last = last_component(name);
  for (const FusedLinear& fused : fused_linears()) {
    if (std::find(fused.members.begin(), fused.members.end(), last) != fused.members.end()) {
      return std::string(name.substr(0, name.size() - last.size())) + std::string(fused.name);
    }
  }
  return {};
}

void check_shape(const LinearModule& module, const ExpectedLinear& expected,
                 CompletenessReport& report) {
  // 0: refused before its shape was known, or not given by config.json.
  const bool n_differs = expected.n != 0 && module.n != 0 && module.n != expected.n;
  const bool k_differs = expected.k != 0 && module.k != 0 && module.k != expected.k;
  if (n_differs || k_differs) {
    // Wrong bits show as a wrong shape: an unusual number of them is named.
    const int64_t bits = module.scheme.bits;
    const bool unusual = module.packing != Packing::kNone && bits != 4;
    report.problems.push_back(fmt::format(
        "module {} has N {}, K {}{}, but config.json gives N {}, K {}", quote_name(module.name),
        module.n, module.k, unusual ? fmt::format(" at {} bits (supported are 4)", bits) : "",
        expected.n == 0 ? module.n : expected.n, expected.k == 0 ? module.k : expected.k));
  }
}

void check_blocks(const ModelConfig& model, const TensorStore& store,
                  const std::vector<LinearModule>& modules, CompletenessReport& report) {
  if (!is_known_architecture(model.model_type) || model.num_hidden_layers == 0) return;
  const auto* prefix = std::find_if(std::begin(kBlockPrefixes), std::end(kBlockPrefixes),
                                    [&](std::string_view p) { return has_tensor_below(store, p); });
  if (prefix == std::end(kBlockPrefixes)) {
    report.problems.push_back(
        fmt::format("no tensor of the model's {} blocks is present", model.num_hidden_layers));
    return;
  }
  std::vector<std::string> missing;
  for (int64_t layer = 0; layer < model.num_hidden_layers; ++layer) {
    for (const ExpectedLinear& expected : expected_linears(model, layer)) {
      const std::string name = fmt::format("{}{}.{}", *prefix, layer, expected.name);
      if (const LinearModule* module = find_module(modules, name)) {
        check_shape(*module, expected, report);
      } else if (find_module(modules, fused_name(name)) == nullptr) {
        missing.push_back(name);
      }
    }
  }
  if (missing.size() > kMaxListed) {
    report.problems.push_back(
        fmt::format("{} linear layers of {} blocks have no tensors, the first is {}",
                    missing.size(), model.num_hidden_layers, quote_name(missing.front())));
  } else {
    for (const auto& name : missing) {
      report.problems.push_back(
          fmt::format("module {} is left unfilled: it has no tensors", quote_name(name)));
    }
  }
  const std::string beyond = fmt::format("{}{}.", *prefix, model.num_hidden_layers);
  if (has_tensor_below(store, beyond)) {
    report.problems.push_back(
        fmt::format("tensors below {} are read by nothing: config.json gives {} blocks",
                    quote_name(beyond), model.num_hidden_layers));
  }
}

void check_fused(const QuantizationConfig& config, const std::vector<LinearModule>& modules,
                 CompletenessReport& report) {
  for (const LinearModule& module : modules) {
    const std::string fused = fused_name(module.name);
    if (fused.empty()) continue;
    // Once a fused module: from its first member.
    const std::string_view last = last_component(module.name);
    const std::string_view fused_last = last_component(fused);
    const auto it =
        std::find_if(fused_linears().begin(), fused_linears().end(),
                     [&](const FusedLinear& candidate) { return candidate.name == fused_last; });
    if (it->members.front() != last) continue;
    try {
      (void)scheme_of(config, fused);
    } catch (const Error& e) {
      report.problems.push_back(e.what());
    }
  }
}

void check_outside(const ModelConfig& model, const TensorStore& store, CompletenessReport& report) {
  const bool partial =
      std::none_of(store.tensors().begin(), store.tensors().end(),
                   [](const auto& entry) { return !in_numbered_block(entry.first); });
  if (partial) {
    report.notes.push_back(
        "a part of a model: it has no tensors outside its blocks (embeddings, norm, lm_head)");
    return;
  }
  if (!is_known_architecture(model.model_type)) return;
  std::set<std::string, std::less<>> ends;
  for (const auto& [name, tensor] : store.tensors()) {
    if (in_numbered_block(name)) continue;
    for (const std::string_view end : {"embed_tokens", "norm", "lm_head"}) {
      const size_t dot = name.rfind('.');
      if (dot != std::string::npos &&
          last_component(std::string_view(name).substr(0, dot)) == end) {
        ends.emplace(end);
      }
    }
  }
  for (const char* end : {"embed_tokens", "norm"}) {
    if (ends.count(end) == 0) {
      report.problems.push_back(
          fmt::format("module {} is left unfilled: it has no tensors", quote_name(end)));
    }
  }
  if (ends.count("lm_head") == 0 && model.tie_word_embeddings == false) {
    report.problems.push_back(
        "module 'lm_head' is left unfilled: it has no tensors and tie_word_embeddings is false");
  }
  if (model.tie_word_embeddings == true) {
    report.notes.push_back(ends.count("lm_head") == 0
                               ? "lm_head is tied to the embeddings"
                               : "tie_word_embeddings is true, but lm_head has tensors of its own");
  }
}

}  // namespace

CompletenessReport check_completeness(const ModelConfig& model, const QuantizationConfig& config,
                                      const TensorStore& store,
                                      const std::vector<LinearModule>& modules) {
  CompletenessReport report;
  check_blocks(model, store, modules, report);
  check_fused(config, modules, report);
  check_outside(model, store, report);
  return report;
}

}  // namespace radiance
