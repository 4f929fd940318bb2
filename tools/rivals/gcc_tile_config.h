// Included before every C++ file of ggml when gcc builds it. The intrinsic of gcc before 12.4 and
// 13.3 says that it reads 8 of the 64 bytes (PR 114098), so that the optimizer drops the stores to
// the others, and ggml's AMX kernels stop at an illegal instruction.
#if defined(__AMX_TILE__) && !defined(__clang__)
#include <immintrin.h>

static inline __attribute__((always_inline)) void rivals_tile_loadconfig(const void* config) {
  struct Bytes {
    char bytes[64];
  };
  __asm__ volatile("ldtilecfg\t%X0" ::"m"(*(const struct Bytes*)config));
}
#define _tile_loadconfig rivals_tile_loadconfig
#endif
