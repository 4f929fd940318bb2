#include "checkpoint/checkpoint.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checkpoint/completeness.hpp"
#include "checkpoint/failure.hpp"
#include "checkpoint/json.hpp"

namespace radiance {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t kMaxConfigBytes = 16u << 20;
constexpr size_t kMaxThrown = 8;  // problems in one sentence

struct Configuration {
  ModelConfig model;
  QuantizationConfig quantization;
  std::vector<std::string> problems;
};

bool says_the_same(const QuantizationConfig& a, const QuantizationConfig& b) {
  return a.packing == b.packing && a.packing_name == b.packing_name && a.bits == b.bits &&
         a.group == b.group && a.sym == b.sym && a.overrides.size() == b.overrides.size();
}

// config.json's quantization_config counts; a file of its own beside it must say the same.
Configuration read_configuration(const fs::path& directory) {
  Configuration configuration;
  const fs::path path = directory / "config.json";
  std::error_code error;
  if (!fs::exists(path, error)) {
    bad_input("{} is no checkpoint: it has no config.json", directory.string());
  }
  const std::string where = path.string();
  const nlohmann::json config = parse_json(read_text_file(path, kMaxConfigBytes), where);
  configuration.model = parse_model_config(config, where);

  const auto embedded = [&]() -> const nlohmann::json* {
    for (const nlohmann::json* object :
         {&config, config.contains("text_config") ? &config.at("text_config") : nullptr}) {
      if (object == nullptr || !object->is_object()) continue;
      const auto it = object->find("quantization_config");
      if (it != object->end() && !it->is_null()) return &*it;
    }
    return nullptr;
  }();
  bool found = embedded != nullptr;
  if (found) {
    configuration.quantization =
        parse_quantization_config(*embedded, where + ": quantization_config");
  }
  for (const char* name : {"quantization_config.json", "quantize_config.json"}) {
    const fs::path file = directory / name;
    if (!fs::exists(file, error)) continue;
    QuantizationConfig beside = parse_quantization_config(
        parse_json(read_text_file(file, kMaxConfigBytes), file.string()), file.string());
    if (!found) {
      configuration.quantization = std::move(beside);
      found = true;
    } else if (!says_the_same(configuration.quantization, beside)) {
      const QuantizationConfig& first = configuration.quantization;
      configuration.problems.push_back(fmt::format(
          "{} ({}, {} bits, group {}, sym {}) and {} ({}, {} bits, group {}, sym {}) disagree",
          first.source, packing_text(first), first.bits, first.group, first.sym, beside.source,
          packing_text(beside), beside.bits, beside.group, beside.sym));
    }
  }
  return configuration;
}

void note_unmatched(const QuantizationConfig& config, const std::vector<LinearModule>& modules,
                    std::vector<std::string>& notes) {
  std::vector<std::string> unmatched;
  for (const SchemeOverride& entry : config.overrides) {
    if (std::none_of(modules.begin(), modules.end(),
                     [&](const LinearModule& module) { return applies_to(entry, module.name); })) {
      unmatched.push_back(entry.key);
    }
  }
  if (!unmatched.empty()) {
    notes.push_back(fmt::format("{} keys of extra_config match no layer, the first is {}",
                                unmatched.size(), quote_name(unmatched.front())));
  }
}

}  // namespace

Checkpoint Checkpoint::open(const fs::path& directory, const OpenOptions& options) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    bad_input("{} is no checkpoint: it is not a directory", directory.string());
  }
  Configuration configuration = read_configuration(directory);
  Checkpoint checkpoint(TensorStore::open(directory));
  checkpoint.directory_ = directory;
  checkpoint.model_ = std::move(configuration.model);
  checkpoint.quantization_ = std::move(configuration.quantization);
  std::vector<std::string>& problems = checkpoint.problems_;
  problems = std::move(configuration.problems);

  ModuleSurvey survey = survey_modules(checkpoint.store_, checkpoint.quantization_);
  problems.insert(problems.end(), survey.problems.begin(), survey.problems.end());
  checkpoint.modules_ = std::move(survey.modules);
  checkpoint.passed_through_ = std::move(survey.passed_through);
  for (const std::string& name : checkpoint.store_.unindexed()) {
    problems.push_back(
        fmt::format("tensor {} is read by nothing: the index does not name it", quote_name(name)));
  }
  CompletenessReport complete = check_completeness(checkpoint.model_, checkpoint.quantization_,
                                                   checkpoint.store_, checkpoint.modules_);
  problems.insert(problems.end(), complete.problems.begin(), complete.problems.end());
  checkpoint.notes_ = std::move(complete.notes);
  note_unmatched(checkpoint.quantization_, checkpoint.modules_, checkpoint.notes_);
  for (const std::string& file : checkpoint.store_.unread_files()) {
    checkpoint.notes_.push_back(
        fmt::format("file {} is no part of the checkpoint", quote_name(file)));
  }
  if (options.check_values) {
    for (LinearModule& module : checkpoint.modules_) check_module_values(module, problems);
  }
  if (!options.allow_problems && !problems.empty()) {
    std::string sentence = fmt::format("{}: {}", directory.string(), problems.front());
    for (size_t i = 1; i < std::min(problems.size(), kMaxThrown); ++i) {
      sentence += "; " + problems[i];
    }
    if (problems.size() > kMaxThrown) {
      sentence += fmt::format("; and {} more problems", problems.size() - kMaxThrown);
    }
    throw Error(RADIANCE_BAD_INPUT, sentence);
  }
  return checkpoint;
}

const LinearModule* Checkpoint::find(std::string_view name) const {
  const auto it = std::lower_bound(
      modules_.begin(), modules_.end(), name,
      [](const LinearModule& module, std::string_view wanted) { return module.name < wanted; });
  return it != modules_.end() && it->name == name ? &*it : nullptr;
}

bool Checkpoint::servable() const {
  bool quantized = false;
  for (const LinearModule& module : modules_) {
    if (module.verdict == Verdict::kRefused || module.verdict == Verdict::kAsymmetric) return false;
    quantized |= module.verdict == Verdict::kServable;
  }
  return quantized && problems_.empty();
}

double Checkpoint::bits_per_weight() const {
  double bits = 0;
  double weights = 0;
  for (const LinearModule& module : modules_) {
    if (module.packing == Packing::kNone || module.n == 0 || module.k == 0) continue;
    bits += 8.0 * static_cast<double>(module.weight_bytes());
    weights += static_cast<double>(module.n) * static_cast<double>(module.k);
  }
  return weights == 0 ? 0 : bits / weights;
}

}  // namespace radiance
