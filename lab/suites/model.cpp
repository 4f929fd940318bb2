#include <fmt/format.h>

#include <set>
#include <tuple>

#include "checkpoint/checkpoint.hpp"
#include "lab/elements.hpp"
#include "lab/gate_case.hpp"
#include "lab/suites/suites.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

constexpr int64_t kRows[] = {1, 5, 16, 64};
constexpr int64_t kMostRows = 64;

template <typename T>
std::vector<uint8_t> as_bytes(const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {bytes, bytes + values.size() * sizeof(T)};
}

// The layer's weight as the gate holds one; *bias is its bias, empty if it has none.
HostWeight load_weight(const Checkpoint& checkpoint, const LinearModule& module,
                       std::vector<float>* bias) {
  HostWeight weight;
  const LinearWeight loaded = checkpoint.load_linear(module);
  if (const auto* int4 = std::get_if<Int4Weight>(&loaded)) {
    weight = empty_weight(RADIANCE_AUTOROUND_INT4, int4->n, int4->k, int4->group);
    weight.codes = as_bytes(int4->codes);
    weight.scales = as_bytes(int4->scales);
    *bias = int4->bias;
  } else {
    const auto& mxfp4 = std::get<Mxfp4Weight>(loaded);
    weight = empty_weight(RADIANCE_MXFP4, mxfp4.n, mxfp4.k, 32);
    weight.codes = mxfp4.codes;
    weight.scales = mxfp4.scales;
    *bias = mxfp4.bias;
  }
  return weight;
}

void run_layer(Gate& gate, const Checkpoint& checkpoint, const LinearModule& module,
               uint64_t index) {
  Random random = gate.random("model", index);
  std::vector<float> bias;
  HostWeight weight = load_weight(checkpoint, module, &bias);
  HostRows rows = random_rows(random, RADIANCE_BF16, kMostRows, weight.shape.k);
  Problem problem(random, std::move(weight), std::move(rows));
  if (!bias.empty()) {
    problem.bias_dtype = RADIANCE_F32;
    problem.bias = as_bytes(bias);
  }
  const DeviceWeight device_weight(gate.engine(), problem.weight);
  const double negative_scales = problem.weight.negative_scale_share();
  for (const int64_t m : kRows) {
    Variation variation;
    variation.suite = "model";
    variation.name = module.name;
    variation.m = m;
    variation.bias = !bias.empty();
    CaseResult result = run_case(device_weight, problem, variation);
    result.negative_scales = negative_scales;
    gate.add(std::move(result));
  }
}

void add_refusal(Gate& gate, const LinearModule& module, const std::string& reason) {
  CaseResult refused;
  refused.suite = "model";
  refused.name = module.name;
  refused.format = module.packing == Packing::kMxfp4 ? RADIANCE_MXFP4 : RADIANCE_AUTOROUND_INT4;
  refused.n = module.n;
  refused.k = module.k;
  refused.group = module.scheme.group;
  refused.status = Status::kFailed;
  refused.reason = reason;
  gate.add(std::move(refused));
}

}  // namespace

// Layers of one shape and scheme run the same code, so that the first of each kind stands for all,
// unless all are asked for. Fused layers (q, k and v in one) are not formed.
void run_model_suite(Gate& gate) {
  const Checkpoint checkpoint = Checkpoint::open(gate.options().model);
  std::set<std::tuple<int64_t, int64_t, int64_t, Packing, bool>> seen;
  uint64_t index = 0;
  for (const LinearModule& module : checkpoint.modules()) {
    if (module.verdict == Verdict::kFloat) continue;
    if (module.verdict != Verdict::kServable) {
      add_refusal(gate, module, module.reason);
      continue;
    }
    const bool is_new = seen.emplace(module.n, module.k, module.scheme.group, module.packing,
                                     module.tensors.bias != nullptr)
                            .second;
    if (!is_new && !gate.options().every_layer) continue;
    gate.progress("model " + module.name);
    try {
      run_layer(gate, checkpoint, module, index++);
    } catch (const Error& error) {
      add_refusal(gate, module, error.what());
    }
  }
  if (gate.results().empty() || gate.results().back().suite != "model") {
    throw Error(RADIANCE_BAD_INPUT, gate.options().model + " has no quantized linear layer");
  }
}

}  // namespace radiance::lab
