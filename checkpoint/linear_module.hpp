// The linear layers of a checkpoint, as its tensors and its configuration describe them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/scheme.hpp"
#include "checkpoint/tensor_store.hpp"

namespace radiance {

enum class ZeroKind {
  kNone,        // no zeros: 16-bit, MXFP4
  kConstant8,   // every stored zero means 8: codes mean -8..7
  kAsymmetric,  // some do not
  kUnchecked,   // not read (OpenOptions::check_values off), or cannot be
};

enum class GroupIndex {
  kAbsent,
  kTrivial,   // g_idx[k] == k / group
  kPermuted,  // anything else
  kUnchecked,
};

enum class Verdict {
  kServable,    // a symmetric int4 or MXFP4 layer: load_linear gives it
  kFloat,       // kept at 16 or 32 bits
  kAsymmetric,  // load_linear gives it only with allow_asymmetric
  kRefused,     // see the reason
};

// The tensors of one module; null where the checkpoint has none.
struct ModuleTensors {
  const Tensor* weight = nullptr;         // float [n][k]
  const Tensor* qweight = nullptr;        // GPTQ [k / 8][n], AWQ [k][n / 8]; I32
  const Tensor* qzeros = nullptr;         // [ceil(k / group)][n / 8]; I32
  const Tensor* scales = nullptr;         // [ceil(k / group)][n]; F16
  const Tensor* g_idx = nullptr;          // [k]; I32
  const Tensor* weight_packed = nullptr;  // MXFP4 [n][k / 2]; U8
  const Tensor* weight_scale = nullptr;   // MXFP4 [n][k / 32]; U8
  const Tensor* bias = nullptr;           // float [n]
};

// The rule of a mixture-of-experts router: a matrix in a block that no quantizer touches.
inline constexpr const char* kRouterRule = "a router";

struct LinearModule {
  std::string name;  // "model.layers.0.mlp.down_proj"
  ModuleScheme scheme;
  Packing packing = Packing::kNone;  // kNone: a float weight
  int64_t n = 0;                     // output features; 0 when the tensors do not say
  int64_t k = 0;                     // input features
  ZeroKind zero = ZeroKind::kNone;
  GroupIndex g_idx = GroupIndex::kAbsent;
  ModuleTensors tensors;
  Verdict verdict = Verdict::kRefused;
  std::string reason;  // of a verdict other than kServable

  int64_t groups() const;         // scale rows: ceil(k / group)
  uint64_t weight_bytes() const;  // stored for the weight: codes, zeros, scales, g_idx
};

const char* zero_name(ZeroKind zero);                 // "none", "8", "asymmetric", "unchecked"
const char* verdict_name(Verdict verdict);            // "ok", "16-bit", "asymmetric", "refused"
std::string scheme_name(const LinearModule& module);  // "int4", "mxfp4", "bf16", "int8", ...

struct ModuleSurvey {
  std::vector<LinearModule> modules;        // ordered by name
  std::vector<std::string> passed_through;  // float tensors that belong to no module
  std::vector<std::string> problems;        // contradictions: one sentence each
};

// Groups the tensors into modules and checks each module's tensors against its scheme: siblings,
// dtypes, shapes. Values are not read. Modules are what is stored as quantized, and the float
// matrices within the blocks and of lm_head.
ModuleSurvey survey_modules(const TensorStore& store, const QuantizationConfig& config);

// Reads zeros, g_idx and scales of a quantized module and settles its zero, g_idx and verdict.
// Appends contradictions to `problems`.
void check_module_values(LinearModule& module, std::vector<std::string>& problems);

}  // namespace radiance
