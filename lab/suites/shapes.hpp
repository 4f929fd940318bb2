// The gate's shapes.
#pragma once

#include <cstdint>
#include <string>

namespace radiance::lab {

struct GateShape {
  int64_t n, k;
  std::string name() const { return std::to_string(n) + "x" + std::to_string(k); }
};

inline const GateShape kDecodeShapes[] = {
    {128, 512}, {48, 640}, {200, 384}, {5120, 8704}, {17408, 5120}};
inline constexpr int64_t kDecodeRows[] = {1, 2, 3, 5, 8, 9, 13, 16, 17, 32, 40, 64};

inline const GateShape kPrefillShapes[] = {{256, 512}, {64, 384}, {200, 640}};
inline constexpr int64_t kPrefillRows[] = {1, 3, 16, 17, 64, 127, 256, 257, 512};

inline const GateShape kCrossShapes[] = {{17408, 5120}, {5120, 8704}, {5120, 5120}};

inline constexpr int64_t kGateGroup = 128;

}  // namespace radiance::lab
