#include "kernels/gfx1201/mxfp4_pack.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/gfx1201/mxfp4_geometry.hpp"

namespace radiance::gfx1201 {
namespace {

constexpr int kBias = 127;  // of s
constexpr int kLargestScale =
    227;  // of unfolded blocks: 2^100, sums of which are far from overflow

constexpr int kFoldedByte = 0;  // of the header's reserved ones

size_t round_up_256(size_t bytes) { return (bytes + 255) / 256 * 256; }

int64_t tiles_of(const WeightShape& shape) { return (shape.n + kTileN - 1) / kTileN; }
int64_t slabs_of(const WeightShape& shape) { return (shape.k + kSlabK - 1) / kSlabK; }

// One weight as the checkpoint holds it.
class Source {
 public:
  Source(const WeightShape& shape, const void* codes, const void* scales)
      : shape_(shape),
        codes_(static_cast<const uint8_t*>(codes)),
        scales_(static_cast<const uint8_t*>(scales)) {}

  u32 code(int64_t n, int64_t k) const {
    if (n >= shape_.n || k >= shape_.k) return 0;
    return codes_[(n * shape_.k + k) / 2] >> (k % 2 * 4) & 15u;
  }
  int scale(int64_t n, int64_t block) const { return scales_[n * (shape_.k / kBlockK) + block]; }
  int64_t blocks() const { return shape_.k / kBlockK; }

  bool zero(int64_t n, int64_t block) const {
    const uint8_t* first = codes_ + (n * shape_.k + block * kBlockK) / 2;
    return std::all_of(first, first + kBlockK / 2, [](uint8_t pair) { return (pair & 0x77) == 0; });
  }

  // The smallest and the largest s of a row's blocks that are not zero; {255, -1} if all are.
  struct Reach {
    int smallest = 255, largest = -1;
  };
  Reach reach(int64_t n) const {
    Reach reach;
    for (int64_t block = 0; block < blocks(); ++block) {
      if (zero(n, block)) continue;
      reach.smallest = std::min(reach.smallest, scale(n, block));
      reach.largest = std::max(reach.largest, scale(n, block));
    }
    return reach;
  }

 private:
  WeightShape shape_;
  const uint8_t* codes_;
  const uint8_t* scales_;
};

void pack_codes(const Source& source, int64_t n0, int64_t k0, uint8_t* tile) {
  auto* words = reinterpret_cast<u32*>(tile);
  for (int n = 0; n < kTileN; ++n) {
    for (int step = 0; step < kSteps; ++step) {
      for (int half = 0; half < 2; ++half) {
        u32 word = 0;
        for (int j = 0; j < 8; ++j) {
          const u32 code = source.code(n0 + n, k0 + fragment_k(step, half, j));
          word |= code << mxfp4_shift(j);
        }
        words[tile_word(n, step, half)] = word;
      }
    }
  }
}

}  // namespace

Mxfp4Layout mxfp4_layout(const WeightShape& shape) {
  const auto tiles = static_cast<size_t>(tiles_of(shape));
  const auto slabs = static_cast<size_t>(slabs_of(shape));
  Mxfp4Layout layout;
  layout.codes = sizeof(PackedHeader);
  layout.blocks = layout.codes + tiles * slabs * kTileBytes;
  layout.rows = round_up_256(layout.blocks + tiles * slabs * kBlockBytes);
  layout.bytes = round_up_256(layout.rows + tiles * kTileN * sizeof(int16_t));
  return layout;
}

bool is_folded(const PackedHeader& header) { return header.reserved[kFoldedByte] != 0; }

int64_t pack_mxfp4(const WeightShape& shape, const void* codes, const void* scales,
                   bool keeps_subnormals, PackedHeader& header, uint8_t* packed) {
  const Source source(shape, codes, scales);
  const int fold_min = keeps_subnormals ? kFoldMin : kFoldMinNormal;
  const Mxfp4Layout layout = mxfp4_layout(shape);
  std::memset(packed + layout.codes, 0, layout.bytes - layout.codes);

  std::vector<Source::Reach> reaches;
  int64_t outside = 0, refused = 0;
  for (int64_t n = 0; n < shape.n; ++n) {
    const Source::Reach reach = source.reach(n);
    outside += reach.largest - reach.smallest > kFoldMax - fold_min;
    refused += reach.largest - reach.smallest > kLargestScale;
    reaches.push_back(reach);
  }
  if (refused > 0) {
    throw Error(RADIANCE_UNSUPPORTED, std::to_string(refused) + " of " + std::to_string(shape.n) +
                                          " features have MXFP4 blocks that are more than 2^" +
                                          std::to_string(kLargestScale) + " apart");
  }
  const bool folded = outside == 0 && shape.k % kSlabK == 0;
  header.scales_offset = layout.blocks;
  header.extra_offset = layout.rows;
  header.reserved[kFoldedByte] = folded ? 1 : 0;

  // What is taken from a row's s; the row's power of two gives it back.
  const auto base = [&](int64_t n) {
    const int largest = reaches[static_cast<size_t>(n)].largest;
    if (largest < 0) return 0;
    return folded ? largest - kFoldMax : std::max(0, largest - kLargestScale);
  };
  auto* rows = reinterpret_cast<int16_t*>(packed + layout.rows);
  for (int64_t n = 0; n < shape.n; ++n) {
    rows[n] = static_cast<int16_t>(folded ? base(n) - kBias : base(n));
  }
  const int64_t slabs = slabs_of(shape);
  for (int64_t tile = 0; tile < tiles_of(shape); ++tile) {
    for (int64_t slab = 0; slab < slabs; ++slab) {
      const int64_t at = tile * slabs + slab;
      pack_codes(source, tile * kTileN, slab * kSlabK, packed + layout.codes + at * kTileBytes);
      uint8_t* to = packed + layout.blocks + at * kBlockBytes;
      for (int i = 0; i < kTileN; ++i) {
        const int64_t n = tile * kTileN + i;
        for (int b = 0; b < kBlocks; ++b) {
          const int64_t block = slab * kBlocks + b;
          if (n >= shape.n || block >= source.blocks() || source.zero(n, block)) continue;
          const int s = source.scale(n, block) - base(n);
          to[i * kBlocks + b] = static_cast<uint8_t>(folded ? 8 * (s - kFoldMin) : s);
        }
      }
    }
  }
  return outside;
}

}  // namespace radiance::gfx1201
