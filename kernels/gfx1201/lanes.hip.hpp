// Exchange between the lanes of a wave.
#pragma once

#include "kernels/gfx1201/types.hip.hpp"

namespace radiance::gfx1201 {

// The value of lane `own ^ kMask`, kMask below 16.
template <int kMask>
RADIANCE_DEVICE u32 exchange_in_row(u32 x) {
  constexpr int kRowXmask = 0x160;
  return static_cast<u32>(
      __builtin_amdgcn_update_dpp(0, static_cast<i32>(x), kRowXmask | kMask, 0xf, 0xf, true));
}

// The value of lane `own ^ 16`.
RADIANCE_DEVICE u32 exchange_rows(u32 x) {
  return __builtin_amdgcn_permlanex16(x, x, 0x76543210u, 0xfedcba98u, false, false);
}

// The largest value of the wave, in every lane. All lanes must be active.
RADIANCE_DEVICE u32 wave_max(u32 x) {
  const auto larger = [](u32 a, u32 b) { return a > b ? a : b; };
  x = larger(x, exchange_in_row<1>(x));
  x = larger(x, exchange_in_row<2>(x));
  x = larger(x, exchange_in_row<4>(x));
  x = larger(x, exchange_in_row<8>(x));
  return larger(x, exchange_rows(x));
}

}  // namespace radiance::gfx1201
