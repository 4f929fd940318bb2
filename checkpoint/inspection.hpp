// What a checkpoint actually is, in the form that people and programs read.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"

namespace radiance {

// Linear layers that share shape, scheme and verdict.
struct LayerClass {
  int64_t n = 0;
  int64_t k = 0;
  std::string scheme;  // "int4", "bf16", ...
  int64_t group = 0;   // -1: all of k; 0: not quantized
  std::string zero;
  std::string verdict;
  size_t count = 0;
  std::vector<std::string> names;  // of its members, block numbers as '*', each once
};

struct Inspection {
  std::string packing;
  int64_t bits = 0;
  int64_t group = 0;
  bool sym = true;
  std::string zero;   // "8" when every zero of every layer is, "asymmetric", "none", "unchecked"
  std::string g_idx;  // "absent", "trivial", "permuted", "unchecked"
  uint64_t zero_words = 0;  // stored, of all layers
  size_t quantized = 0;
  size_t unquantized = 0;                      // linear layers kept at 16 bits
  std::vector<std::string> unquantized_names;  // block numbers as '*', with their count
  size_t refused = 0;                          // layers whose verdict is neither ok nor 16-bit
  std::string first_refusal;                   // "name: reason"
  double bits_per_weight = 0;                  // 0 when nothing is quantized
  bool servable = false;
  std::vector<LayerClass> classes;
};

Inspection inspect(const Checkpoint& checkpoint);

// The fields of `radiance inspect --json` but those that every report has.
nlohmann::json inspection_json(const Checkpoint& checkpoint, const Inspection& inspection);

// The tables of `radiance inspect`; with `all_tensors`, every tensor too.
std::string inspection_text(const Checkpoint& checkpoint, const Inspection& inspection,
                            bool all_tensors);

}  // namespace radiance
