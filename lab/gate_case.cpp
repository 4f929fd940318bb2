#include "lab/gate_case.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "lab/elements.hpp"
#include "lab/guarded_buffer.hpp"
#include "radiance/error.hpp"

namespace radiance::lab {

namespace {

bool same_float(float a, float b) {
  return float_bits(a) == float_bits(b) || (std::isnan(a) && std::isnan(b));
}

// Where the device's quantized rows differ from the host's, "" if nowhere.
std::string compare_quantized(const QuantizedRows& host, int64_t first_row, int64_t m,
                              const uint8_t* xq, const float* scales, const float* row_sums) {
  const int64_t groups = (host.k + host.group - 1) / host.group;
  for (int64_t row = 0; row < m; ++row) {
    const int64_t host_row = first_row + row;
    const float scale = host.scales[static_cast<size_t>(host_row)];
    if (!same_float(scales[row], scale)) {
      return fmt::format("row {}'s scale is {:.9g}, the host's {:.9g}", row, scales[row], scale);
    }
    for (int64_t k = 0; k < host.k; ++k) {
      const uint8_t want = host.xq[static_cast<size_t>(host_row * host.k + k)];
      const uint8_t got = xq[row * host.k + k];
      if (got != want) {
        return fmt::format("xq[{}][{}] is {:#04x}, the host's {:#04x}", row, k, got, want);
      }
    }
    for (int64_t g = 0; g < groups; ++g) {
      const float want = host.row_sums[static_cast<size_t>(host_row * groups + g)];
      const float got = row_sums[row * groups + g];
      if (!same_float(got, want)) {
        return fmt::format("row {}'s sum of group {} is {:.9g}, the host's {:.9g}", row, g, got,
                           want);
      }
    }
  }
  return "";
}

void note_failure(std::string* failure, const std::string& what) {
  if (failure->empty()) *failure = what;
}

// Everything one launch has on the device.
struct DeviceBuffers {
  GuardedBuffer x, xq, scales, row_sums, workspace;
  Buffer bias, y;
};

}  // namespace

Problem::Problem(Random& random, HostWeight host_weight, HostRows host_rows)
    : weight(std::move(host_weight)),
      rows(std::move(host_rows)),
      quantized(quantize_rows(rows, weight.shape.group)),
      reference(reference_product(weight, quantized)) {
  constexpr radiance_dtype kDtypes[] = {RADIANCE_BF16, RADIANCE_F16, RADIANCE_F32};
  bias_dtype = kDtypes[random.below(3)];
  bias = random_bias(random, bias_dtype, weight.shape.n);
}

CaseResult case_of(const Problem& problem, const Variation& variation, const std::string& config) {
  CaseResult result;
  result.suite = variation.suite;
  result.name = variation.name;
  result.format = problem.weight.shape.format;
  result.config = config;
  result.m = variation.m;
  result.n = problem.weight.shape.n;
  result.k = problem.weight.shape.k;
  result.group = problem.weight.shape.group;
  result.out_dtype = variation.out_dtype;
  result.bias = variation.bias;
  return result;
}

std::optional<std::string> find_config(const Backend& backend, const WeightShape& shape, int64_t m,
                                       const std::string& prefix) {
  std::optional<std::string> first;
  for (Plan& plan : backend.configs(shape, m)) {
    if (plan.config == prefix) return plan.config;
    if (!first && plan.config.starts_with(prefix)) first = std::move(plan.config);
  }
  for (Ablation& ablation : backend.ablations(shape, m)) {
    if (ablation.config == prefix) return std::move(ablation.config);
  }
  return first;
}

Launch launch(const DeviceWeight& weight, const Problem& problem, const Variation& variation) {
  Device& device = weight.engine().device();
  const Linear& linear = weight.linear();
  const WeightShape shape = linear.shape();
  const int64_t m = variation.m;

  Launch result;
  result.layout = {variation.out_dtype, m, shape.n, variation.ldy == 0 ? shape.n : variation.ldy};
  const std::optional<std::string> forced =
      variation.config_prefix.empty()
          ? std::nullopt
          : find_config(weight.engine().backend(), shape, m, variation.config_prefix);
  result.config = forced ? *forced : linear.plan(m).config;
  if (!variation.config_prefix.empty() && !forced && !variation.may_fall_back) {
    throw Error(RADIANCE_UNSUPPORTED, "no legal configuration begins with " +
                                          variation.config_prefix + "; the policy's is " +
                                          result.config);
  }

  const int64_t row_bytes = problem.rows.ld * element_bytes(problem.rows.dtype);
  const auto workspace_bytes = static_cast<int64_t>(linear.workspace_bytes(m));
  DeviceBuffers on{GuardedBuffer(device, m * row_bytes, 0),
                   GuardedBuffer(device, m * shape.k, 0xff),
                   GuardedBuffer(device, m * 4, 0xff),
                   GuardedBuffer(device, m * shape.groups() * 4, 0xff),
                   GuardedBuffer(device, workspace_bytes, 0),
                   Buffer(device, problem.bias.size()),
                   Buffer(device, static_cast<size_t>(result.layout.image_bytes()))};
  device.upload(on.x.get(), problem.rows.data.data() + variation.first_row * row_bytes,
                static_cast<size_t>(m * row_bytes));
  device.upload(on.bias.get(), problem.bias.data(), problem.bias.size());

  QuantizeCall quantize;
  quantize.m = m;
  quantize.k = shape.k;
  quantize.x = on.x.get();
  quantize.x_dtype = problem.rows.dtype;
  quantize.ldx = problem.rows.ld;
  quantize.xq = on.xq.get<uint8_t>();
  quantize.scales = on.scales.get<float>();
  quantize.group = shape.group;
  quantize.row_sums = on.row_sums.get<float>();
  weight.engine().quantize(quantize);
  device.synchronize(nullptr);

  std::string broken;
  const std::vector<uint8_t> xq = on.xq.read("xq", &broken);
  const std::vector<uint8_t> scales = on.scales.read("the activation scales", &broken);
  const std::vector<uint8_t> sums = on.row_sums.read("the row sums", &broken);
  note_failure(&result.failure,
               compare_quantized(problem.quantized, variation.first_row, m, xq.data(),
                                 reinterpret_cast<const float*>(scales.data()),
                                 reinterpret_cast<const float*>(sums.data())));

  ForwardCall call;
  call.x = on.x.get();
  call.x_dtype = problem.rows.dtype;
  call.ldx = problem.rows.ld;
  call.gemm.m = m;
  call.gemm.xq = on.xq.get<uint8_t>();
  call.gemm.x_scales = on.scales.get<float>();
  call.gemm.y = on.y.get<uint8_t>() + result.layout.origin();
  call.gemm.y_dtype = variation.out_dtype;
  call.gemm.ldy = variation.ldy;
  call.gemm.bias = variation.bias ? on.bias.get() : nullptr;
  call.gemm.bias_dtype = problem.bias_dtype;
  call.gemm.workspace = on.workspace.get();
  call.gemm.workspace_bytes = static_cast<size_t>(workspace_bytes);
  call.gemm.config = forced ? forced->c_str() : nullptr;

  const std::vector<uint8_t> poison = poisoned_image(result.layout);
  std::vector<uint8_t> image(poison.size());
  for (int run = 0; run < 2; ++run) {
    device.upload(on.y.get(), poison.data(), poison.size());
    if (variation.forward) {
      linear.forward(call);
    } else {
      linear.gemm(call.gemm);
    }
    device.synchronize(nullptr);
    device.download(image.data(), on.y.get(), image.size());
    if (run == 0) result.image = image;
  }
  const std::string difference = compare_images(result.layout, result.image, image);
  if (!difference.empty()) note_failure(&result.failure, "of the same call twice, " + difference);

  // The inputs stay what they were, and nothing is written around them.
  const std::vector<uint8_t> x_after = on.x.read("x", &broken);
  if (std::memcmp(x_after.data(), problem.rows.data.data() + variation.first_row * row_bytes,
                  x_after.size()) != 0) {
    note_failure(&result.failure, "the activations were written");
  }
  if (on.xq.read("xq", &broken) != xq) note_failure(&result.failure, "the product wrote to xq");
  on.workspace.read("the workspace", &broken);
  if (!broken.empty()) note_failure(&result.failure, broken);
  return result;
}

CaseResult judge(const Problem& problem, const Variation& variation, const Launch& launched,
                 const std::string& target) {
  const WeightShape& shape = problem.weight.shape;
  CaseResult result = case_of(problem, variation, launched.config);
  std::vector<double> bias(static_cast<size_t>(shape.n));
  for (int64_t n = 0; n < shape.n; ++n) {
    bias[static_cast<size_t>(n)] = load_float(problem.bias.data(), problem.bias_dtype, n);
  }
  Expectation expectation;
  expectation.value = problem.reference.value.data() + variation.first_row * shape.n;
  expectation.magnitude = problem.reference.magnitude.data() + variation.first_row * shape.n;
  expectation.bias = variation.bias ? bias.data() : nullptr;
  expectation.bound = bound_for(variation.out_dtype, target);
  expectation.exact = variation.exact;
  const OutputVerdict verdict = check_output(launched.layout, launched.image, expectation);
  result.rel = verdict.rel;
  result.max_elem = verdict.max_elem;
  result.reason = launched.failure.empty() ? verdict.failure : launched.failure;
  if (!result.reason.empty()) result.status = Status::kFailed;
  if (launched.config.rfind(variation.config_prefix, 0) != 0) {
    result.note =
        "no legal configuration begins with " + variation.config_prefix + ": this is the policy's";
  }
  return result;
}

CaseResult run_case(const DeviceWeight& weight, const Problem& problem,
                    const Variation& variation) {
  try {
    return judge(problem, variation, launch(weight, problem, variation),
                 weight.engine().backend().target());
  } catch (const Error& error) {
    CaseResult refused = case_of(problem, variation, variation.config_prefix);
    refused.status = Status::kFailed;
    refused.reason = error.what();
    return refused;
  }
}

}  // namespace radiance::lab
