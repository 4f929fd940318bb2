#include "checkpoint/inspection.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "checkpoint/failure.hpp"

namespace radiance {

namespace {

// "model.layers.*.mlp.up_proj": members of one family in one line.
std::string family(const std::string& name) {
  std::string out;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t dot = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, dot - begin);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    out += (begin == 0 ? "" : ".") + (number ? std::string("*") : part);
    begin = dot + 1;
  }
  return out;
}

std::vector<std::string> with_counts(const std::map<std::string, size_t>& families) {
  std::vector<std::string> names;
  for (const auto& [name, count] : families) {
    names.push_back(count == 1 ? name : fmt::format("{} ({})", name, count));
  }
  return names;
}

const char* group_index_name(GroupIndex g_idx) {
  switch (g_idx) {
    case GroupIndex::kAbsent:
      return "absent";
    case GroupIndex::kTrivial:
      return "trivial";
    case GroupIndex::kPermuted:
      return "permuted";
    case GroupIndex::kUnchecked:
      break;
  }
  return "unchecked";
}

// The worst of what the layers have, in the order of the enumerations' names below.
template <typename Kind>
Kind worst(Kind a, Kind b, std::initializer_list<Kind> order) {
  const auto rank = [&](Kind kind) {
    return std::find(order.begin(), order.end(), kind) - order.begin();
  };
  return rank(a) < rank(b) ? b : a;
}

std::vector<LayerClass> classify(const std::vector<LinearModule>& modules) {
  std::map<std::tuple<std::string, int64_t, int64_t, int64_t, std::string, std::string>, LayerClass>
      classes;
  for (const LinearModule& module : modules) {
    const std::string scheme = scheme_name(module);
    const std::string verdict = verdict_name(module.verdict);
    const std::string zero = zero_name(module.zero);
    LayerClass& entry = classes[{verdict, module.n, module.k, module.scheme.group, scheme, zero}];
    if (entry.count++ == 0) {
      entry.n = module.n;
      entry.k = module.k;
      entry.scheme = scheme;
      entry.group = module.scheme.group;
      entry.zero = zero;
      entry.verdict = verdict;
    }
    const std::string name = family(module.name);
    if (std::find(entry.names.begin(), entry.names.end(), name) == entry.names.end()) {
      entry.names.push_back(name);
    }
  }
  std::vector<LayerClass> list;
  for (auto& [key, entry] : classes) list.push_back(std::move(entry));
  // Quantized before 16-bit before refused, the largest first.
  std::sort(list.begin(), list.end(), [](const LayerClass& a, const LayerClass& b) {
    const auto key = [](const LayerClass& c) {
      const int rank = c.verdict == "ok" ? 0 : c.verdict == "16-bit" ? 1 : 2;
      return std::tuple(rank, -static_cast<double>(c.n) * static_cast<double>(c.k), c.n, c.group,
                        std::string_view(c.scheme), std::string_view(c.zero));
    };
    return key(a) < key(b);
  });
  return list;
}

std::string packing_layout(const Checkpoint& checkpoint) {
  const QuantizationConfig& config = checkpoint.quantization();
  const std::string groups = config.group == -1 ? "1" : fmt::format("K/{}", config.group);
  switch (config.packing) {
    case Packing::kGptqV1:
    case Packing::kGptqV2:
      return fmt::format(": qweight [K/8, N] i32, qzeros [{0}, N/8] i32, scales [{0}, N] f16",
                         groups);
    case Packing::kAwq:
      return fmt::format(": qweight [K, N/8] i32, qzeros [{0}, N/8] i32, scales [{0}, N] f16",
                         groups);
    case Packing::kMxfp4:
      return ": weight_packed [N, K/2] u8, weight_scale [N, K/32] u8";
    default:
      return "";
  }
}

std::string symmetry(const Inspection& inspection, Packing packing) {
  if (inspection.zero == "none") return inspection.sym ? "true: no zeros are stored" : "false";
  std::string text = inspection.sym ? "true" : "false";
  if (inspection.zero == "8") {
    return text + fmt::format(": every qzeros word (all {}) is {}, zero = 8 everywhere",
                              inspection.zero_words,
                              packing == Packing::kGptqV1 ? "0x77777777" : "0x88888888");
  }
  return text + ", but zeros are " + inspection.zero;
}

}  // namespace

Inspection inspect(const Checkpoint& checkpoint) {
  Inspection result;
  const QuantizationConfig& config = checkpoint.quantization();
  result.packing = packing_text(config);
  result.bits = config.bits;
  result.group = config.group;
  result.sym = config.sym;
  ZeroKind zero = ZeroKind::kNone;
  GroupIndex g_idx = GroupIndex::kAbsent;
  std::map<std::string, size_t> unquantized;
  for (const LinearModule& module : checkpoint.modules()) {
    if (module.verdict == Verdict::kFloat) {
      ++result.unquantized;
      ++unquantized[family(module.name)];
      continue;
    }
    if (module.packing != Packing::kNone) ++result.quantized;
    if (module.verdict != Verdict::kServable && result.refused++ == 0) {
      result.first_refusal = module.name + ": " + module.reason;
    }
    zero =
        worst(zero, module.zero,
              {ZeroKind::kNone, ZeroKind::kConstant8, ZeroKind::kUnchecked, ZeroKind::kAsymmetric});
    g_idx = worst(
        g_idx, module.g_idx,
        {GroupIndex::kAbsent, GroupIndex::kTrivial, GroupIndex::kUnchecked, GroupIndex::kPermuted});
    if (module.tensors.qzeros != nullptr) {
      result.zero_words += module.tensors.qzeros->bytes().size() / sizeof(uint32_t);
    }
  }
  result.unquantized_names = with_counts(unquantized);
  result.zero = zero_name(zero);
  result.g_idx = group_index_name(g_idx);
  result.bits_per_weight = checkpoint.bits_per_weight();
  result.servable = checkpoint.servable();
  result.classes = classify(checkpoint.modules());
  return result;
}

nlohmann::json inspection_json(const Checkpoint& checkpoint, const Inspection& inspection) {
  nlohmann::json layers = nlohmann::json::array();
  for (const LinearModule& module : checkpoint.modules()) {
    layers.push_back({{"name", module.name},
                      {"N", module.n},
                      {"K", module.k},
                      {"scheme", scheme_name(module)},
                      {"bits", module.scheme.bits},
                      {"group", module.scheme.group},
                      {"zero", zero_name(module.zero)},
                      {"g_idx", group_index_name(module.g_idx)},
                      {"bias", module.tensors.bias != nullptr},
                      {"verdict", verdict_name(module.verdict)},
                      {"reason", module.reason}});
  }
  nlohmann::json shapes = nlohmann::json::array();
  for (const LayerClass& entry : inspection.classes) {
    shapes.push_back({{"N", entry.n},
                      {"K", entry.k},
                      {"scheme", entry.scheme},
                      {"group", entry.group},
                      {"verdict", entry.verdict},
                      {"count", entry.count},
                      {"names", entry.names}});
  }
  nlohmann::json bits_per_weight;
  if (inspection.bits_per_weight != 0) bits_per_weight = inspection.bits_per_weight;
  return {{"path", checkpoint.directory().string()},
          {"packing", inspection.packing},
          {"bits", inspection.bits},
          {"group_size", inspection.group},
          {"sym", inspection.sym},
          {"zero", inspection.zero},
          {"zero_words", inspection.zero_words},
          {"g_idx", inspection.g_idx},
          {"bits_per_weight", bits_per_weight},
          {"quantized", inspection.quantized},
          {"unquantized", inspection.unquantized},
          {"unquantized_names", inspection.unquantized_names},
          {"layers", layers},
          {"shapes", shapes},
          {"passed_through", checkpoint.passed_through()},
          {"servable", inspection.servable},
          {"problems", checkpoint.problems()},
          {"notes", checkpoint.notes()}};
}

std::string inspection_text(const Checkpoint& checkpoint, const Inspection& inspection,
                            bool all_tensors) {
  std::string out;
  const auto field = [&](std::string_view name, const std::string& value) {
    out += fmt::format("{:<15} {}\n", name, value);
  };
  const auto list = [](const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
  };
  const QuantizationConfig& config = checkpoint.quantization();
  field("checkpoint", checkpoint.directory().string());
  field("model", checkpoint.model().model_type.empty() ? "unknown" : checkpoint.model().model_type);
  field("packing", inspection.packing + packing_layout(checkpoint));
  if (config.packing != Packing::kNone) {
    field("bits / group", fmt::format("{} / {}", inspection.bits, inspection.group));
    field("sym", symmetry(inspection, config.packing));
    field("g_idx", inspection.g_idx);
  }
  field("quantized", fmt::format("{} linear layers", inspection.quantized));
  field("unquantized",
        fmt::format("{} linear layers{}", inspection.unquantized,
                    inspection.unquantized == 0 ? "" : ": " + list(inspection.unquantized_names)));
  std::map<std::string, size_t> passed;
  for (const auto& name : checkpoint.passed_through()) ++passed[family(name)];
  field("passed through",
        fmt::format("{} other float tensors{}", checkpoint.passed_through().size(),
                    passed.empty() ? "" : ": " + list(with_counts(passed))));
  if (inspection.bits_per_weight != 0) {
    field("bits/weight",
          fmt::format("{:.4f} (stored bytes over weights)", inspection.bits_per_weight));
  }

  out += fmt::format("\n{:>7} {:>7}  {:<6} {:>5}  {:<10} {:>5}  {}\n", "N", "K", "scheme", "group",
                     "verdict", "count", "layers");
  for (const LayerClass& entry : inspection.classes) {
    out += fmt::format("{:>7} {:>7}  {:<6} {:>5}  {:<10} {:>5}  {}\n", entry.n, entry.k,
                       entry.scheme, entry.group == 0 ? "-" : std::to_string(entry.group),
                       entry.verdict, entry.count, list(entry.names));
  }
  if (all_tensors) {
    out += "\ntensors\n";
    for (const auto& [name, tensor] : checkpoint.tensors().tensors()) {
      out += fmt::format("  {:<60} {:<5} {}\n", name, dtype_name(tensor.dtype()),
                         shape_text(tensor.shape()));
    }
  }
  const auto section = [&](const char* title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    out += fmt::format("\n{}\n", title);
    for (const auto& line : lines) out += "  " + line + "\n";
  };
  section("notes", checkpoint.notes());
  section("problems", checkpoint.problems());
  std::vector<std::string> refused;
  for (const LinearModule& module : checkpoint.modules()) {
    if (module.verdict == Verdict::kRefused || module.verdict == Verdict::kAsymmetric) {
      refused.push_back(module.name + ": " + module.reason);
    }
  }
  section("refused layers", refused);
  if (inspection.servable) {
    out += "\nverdict: every quantized layer can be served\n";
  } else if (inspection.quantized == 0 && checkpoint.problems().empty()) {
    out += "\nverdict: nothing is quantized\n";
  } else {
    out += fmt::format("\nverdict: not servable ({} problems, {} refused layers)\n",
                       checkpoint.problems().size(), inspection.refused);
  }
  return out;
}

}  // namespace radiance
