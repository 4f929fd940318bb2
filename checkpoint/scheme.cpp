#include "checkpoint/scheme.hpp"

#include <algorithm>
#include <cctype>

#include "checkpoint/architecture.hpp"
#include "checkpoint/failure.hpp"

namespace radiance {

namespace {

constexpr std::string_view kModelPrefix = "model.";

std::string_view without_model(std::string_view name) {
  return name.starts_with(kModelPrefix) ? name.substr(kModelPrefix.size()) : name;
}

ModuleScheme global_scheme(const QuantizationConfig& config, std::string rule) {
  return {true, config.bits, config.group, config.sym, std::move(rule)};
}

ModuleScheme unquantized(std::string rule) { return {false, 16, 0, true, std::move(rule)}; }

ModuleScheme overridden(const QuantizationConfig& config, const SchemeOverride& entry) {
  const int64_t bits = entry.bits.value_or(config.bits);
  const std::string rule = "extra_config " + quote_name(entry.key);
  const bool is_float =
      entry.data_type && (*entry.data_type == "fp" || *entry.data_type == "float");
  if (bits >= 16 || (is_float && !entry.bits)) return unquantized(rule);
  return {true, bits, entry.group.value_or(config.group), entry.sym.value_or(config.sym), rule};
}

bool ignored(const QuantizationConfig& config, std::string_view name) {
  const auto named = [&](const std::string& entry) {
    return without_model(entry) == without_model(name);
  };
  return std::any_of(config.ignored.begin(), config.ignored.end(), named) ||
         std::any_of(config.ignored_patterns.begin(), config.ignored_patterns.end(),
                     [&](const NamePattern& pattern) { return pattern.matches_start(name); });
}

// Whether `part` ("lm_head", "mlp.gate") appears in the name between boundaries.
bool has_part(std::string_view name, std::string_view part) {
  for (size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
    const size_t end = at + part.size();
    if ((at == 0 || name[at - 1] == '.') && (end == name.size() || name[end] == '.')) return true;
  }
  return false;
}

bool has_any_part(std::string_view name, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return has_part(name, part); });
}

const SchemeOverride* find_override(const QuantizationConfig& config, std::string_view name) {
  for (const auto& entry : config.overrides) {
    if (!entry.pattern && without_model(entry.key) == without_model(name)) return &entry;
  }
  const SchemeOverride* longest = nullptr;
  for (const auto& entry : config.overrides) {
    if (entry.pattern && (longest == nullptr || entry.key.size() > longest->key.size()) &&
        entry.pattern->found_in(name)) {
      longest = &entry;
    }
  }
  return longest;
}

ModuleScheme fused_scheme(const QuantizationConfig& config, std::string_view name,
                          const FusedLinear& fused) {
  const std::string_view parent = name.substr(0, name.size() - fused.name.size());
  ModuleScheme first;
  std::string first_name;
  for (const std::string_view member : fused.members) {
    const std::string member_name = std::string(parent) + std::string(member);
    ModuleScheme scheme = scheme_of(config, member_name);
    if (first_name.empty()) {
      first = std::move(scheme);
      first_name = member_name;
    } else if (!scheme.same_format(first)) {
      bad_input(
          "{}: the members {} and {} of the fused module {} have different schemes ({} bits, "
          "group {} and {} bits, group {}); supported are equal ones",
          config.source, quote_name(first_name), quote_name(member_name), quote_name(name),
          first.bits, first.group, scheme.bits, scheme.group);
    }
  }
  return first;
}

}  // namespace

bool is_below(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && (name.size() == prefix.size() || name[prefix.size()] == '.');
}

std::string_view last_component(std::string_view name) {
  return name.substr(name.rfind('.') + 1);  // npos + 1 is 0: the whole name
}

bool in_numbered_block(std::string_view name) {
  for (const std::string_view outside : {"visual", "vision_tower", "vision_model", "mtp"}) {
    if (is_below(without_model(name), outside)) return false;
  }
  size_t begin = 0;
  std::string_view previous;
  while (begin < name.size()) {
    const size_t dot = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, dot - begin);
    const bool number = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
    if (number && dot < name.size() &&
        (previous == "layers" || previous == "h" || previous == "blocks")) {
      return true;
    }
    previous = part;
    begin = dot + 1;
  }
  return false;
}

bool in_quantized_blocks(const QuantizationConfig& config, std::string_view name) {
  if (config.blocks.empty()) return in_numbered_block(name);
  return std::any_of(config.blocks.begin(), config.blocks.end(), [&](const std::string& block) {
    return is_below(without_model(name), without_model(block));
  });
}

bool applies_to(const SchemeOverride& entry, std::string_view name) {
  return entry.pattern ? entry.pattern->found_in(name)
                       : without_model(entry.key) == without_model(name);
}

ModuleScheme scheme_of(const QuantizationConfig& config, std::string_view name) {
  if (config.packing == Packing::kNone) return unquantized("no quantization_config");
  if (const SchemeOverride* entry = find_override(config, name)) return overridden(config, *entry);
  for (const FusedLinear& fused : fused_linears()) {
    if (last_component(name) == fused.name) return fused_scheme(config, name, fused);
  }
  if (config.quant_method == "compressed-tensors") {
    // "Linear" is a class, not a place: everything that is not ignored.
    return ignored(config, name) ? unquantized("ignore") : global_scheme(config, "targets");
  }
  if (last_component(name) == "lm_head") {
    return config.lm_head ? global_scheme(config, "lm_head") : unquantized("lm_head is not listed");
  }
  if (!in_quantized_blocks(config, name)) return unquantized("outside the quantized blocks");
  if (has_any_part(name, config.not_converted)) return unquantized("modules_to_not_convert");
  if (!config.only_modules.empty() && !has_any_part(name, config.only_modules)) {
    return unquantized("not in modules_in_block_to_quantize");
  }
  return global_scheme(config, config.blocks.empty() ? "global" : "block_name_to_quantize");
}

}  // namespace radiance
