// Marks functions that host and device code share.
//
// The numerics headers include no standard library header, so that a device compiler without any
// (clang -x hip -nogpuinc for gfx1201) can use them: they rest on compiler builtins alone.
#pragma once

#if defined(__CUDACC__) || defined(__HIP__)
#define RADIANCE_HOST_DEVICE __attribute__((host)) __attribute__((device))
#else
// Always inlined on the host: files that are compiled for an instruction set of their own use these
// functions, and must not leave a copy that the linker could pick for every caller.
#define RADIANCE_HOST_DEVICE __attribute__((always_inline))
#endif

namespace radiance {

using u8 = __UINT8_TYPE__;
using u16 = __UINT16_TYPE__;
using u32 = __UINT32_TYPE__;
using u64 = __UINT64_TYPE__;
using i8 = __INT8_TYPE__;
using i16 = __INT16_TYPE__;
using i32 = __INT32_TYPE__;

RADIANCE_HOST_DEVICE constexpr u32 float_bits(float x) { return __builtin_bit_cast(u32, x); }
RADIANCE_HOST_DEVICE constexpr float float_from_bits(u32 b) { return __builtin_bit_cast(float, b); }

}  // namespace radiance
