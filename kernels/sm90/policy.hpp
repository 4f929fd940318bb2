// Which sm90 kernel a call takes: a pure function of the shape, the tokens and the multiprocessors.
#pragma once

#include <string>
#include <vector>

#include "kernels/backend.hpp"
#include "kernels/sm90/geometry.hpp"

namespace radiance::sm90 {

// The configurations that are legal for m tokens, the planned one first: "decode/t8" ..
// "decode/t64" (tokens of the tile), "prefill/t128", "prefill/t256", "general".
std::vector<Plan> plans(const WeightShape& shape, int64_t m, int multiprocessors);

struct Choice {
  enum class Kernel { kDecode, kPrefill, kGeneral } kernel;
  int tokens;  // of the tile
};

// The configuration called `config`, or the planned one if null. Throws Error if it is not legal.
Choice choose(const WeightShape& shape, int64_t m, int multiprocessors, const char* config);

// Tiles of tokens whose activations, k bytes a token, stay in the second level cache.
int prefill_band(int64_t k, int tokens);

// How prefill's tiles of `slabs` slabs are spread over blocks: the first `shared_tiles` of them by
// stream-K, the others whole.
struct PrefillGrid {
  int blocks;
  int shared_tiles;
};
PrefillGrid prefill_grid(int64_t m, int64_t tiles, int64_t slabs, int multiprocessors);

// The decode kernel's tile for m tokens at most 64.
int decode_tokens(int64_t m);

// Bytes of partial sums that a block of a call of m tokens leaves, and the most that one does under
// any configuration that is legal for m, or for fewer.
int64_t partial_bytes(const Choice& choice, int64_t m);
int64_t partial_bytes(int64_t m);

// How many of its slabs a decode block has yet to copy when it lets the next kernel start; -1: all.
int decode_trigger(int64_t places, int64_t blocks, int tokens);

// Bytes of a workspace that hold decode's counters, one for 64 features: as many for weights of
// every shape, because the layers of a model share a workspace, and where one counts another must
// leave nothing (a block then waited for ever). Weights of more features than that, a million, take
// prefill.
constexpr int64_t kCounterBytes = int64_t{64} << 10;

}  // namespace radiance::sm90
