// The inner loops of eight rows of words by three tiles, in assembly: in C++ GCC 12 moves the 24
// sums between registers some ninety times a part, and spills them where the loop is unrolled.
//
// zmm0 to 23 are the sums, three a row; 24 to 26 the tiles' codes of a pair of k; 27 to 29 the
// rows'.
#pragma once

#include "kernels/cpu/avx512/words.hpp"

namespace radiance::cpu {
namespace {

#define RADIANCE_SUMS "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23"

#define RADIANCE_ROW(address, row, sum0, sum1, sum2) \
  "vpbroadcastd 4*pair" address ", %%zmm" row        \
  "\n"                                               \
  "vpdpwssd %%zmm" row ", %%zmm24, %%zmm" sum0       \
  "\n"                                               \
  "vpdpwssd %%zmm" row ", %%zmm25, %%zmm" sum1       \
  "\n"                                               \
  "vpdpwssd %%zmm" row ", %%zmm26, %%zmm" sum2 "\n"

// The eight rows' pair of k times the tiles' in zmm24 to 26.
#define RADIANCE_ROWS                                               \
  RADIANCE_ROW("(%[rows])", "27", "0", "1", "2")                    \
  RADIANCE_ROW("(%[rows],%[row_bytes])", "28", "3", "4", "5")       \
  RADIANCE_ROW("(%[rows],%[row_bytes],2)", "29", "6", "7", "8")     \
  RADIANCE_ROW("(%[rows3])", "27", "9", "10", "11")                 \
  RADIANCE_ROW("(%[rows3],%[row_bytes])", "28", "12", "13", "14")   \
  RADIANCE_ROW("(%[rows3],%[row_bytes],2)", "29", "15", "16", "17") \
  RADIANCE_ROW("(%[rows6])", "27", "18", "19", "20")                \
  RADIANCE_ROW("(%[rows6],%[row_bytes])", "28", "21", "22", "23")

#define RADIANCE_NEXT_ROWS \
  "add $16, %[rows]\n"     \
  "add $16, %[rows3]\n"    \
  "add $16, %[rows6]\n"

#define RADIANCE_STORE_SUMS               \
  ".irp r, " RADIANCE_SUMS                \
  "\n"                                    \
  "vmovdqa64 %%zmm\\r, 64*\\r(%[sums])\n" \
  ".endr\n"

#define RADIANCE_SUM_REGISTERS                                                                  \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",      \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", \
      "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29"

// sums[row][tile], 64 bytes each: over `blocks` blocks (one at least) of 8 k of 8 rows and of three
// tiles that were unpacked into a panel, `stride` apart, lines of 64 bytes a pair of k.
inline void dot_panel_8x3(const uint8_t* panel, int64_t stride, const uint8_t* rows,
                          int64_t row_bytes, int64_t blocks, __m512i* sums) {
  const uint8_t* rows3 = rows + 3 * row_bytes;
  const uint8_t* rows6 = rows + 6 * row_bytes;
  asm volatile(".irp r, " RADIANCE_SUMS
               "\n"
               "vpxord %%zmm\\r, %%zmm\\r, %%zmm\\r\n"
               ".endr\n"
               ".p2align 6\n"
               "1:\n"
               ".set pair, 0\n"
               ".rept 4\n"
               "vmovdqa64 64*pair(%[panel]), %%zmm24\n"
               "vmovdqa64 64*pair(%[panel],%[stride]), %%zmm25\n"
               "vmovdqa64 64*pair(%[panel],%[stride],2), %%zmm26\n" RADIANCE_ROWS
               ".set pair, pair + 1\n"
               ".endr\n"
               "add $256, %[panel]\n" RADIANCE_NEXT_ROWS
               "dec %[blocks]\n"
               "jnz 1b\n" RADIANCE_STORE_SUMS
               : [panel] "+r"(panel), [rows] "+r"(rows), [rows3] "+r"(rows3), [rows6] "+r"(rows6),
                 [blocks] "+r"(blocks)
               : [stride] "r"(stride), [row_bytes] "r"(row_bytes), [sums] "r"(sums)
               : "memory", "cc", RADIANCE_SUM_REGISTERS);
}

// The same of int4 codes as they are packed, unpacked on the way as words 8 more than their values,
// from sums that begin at begin[row]. Reads ahead `ahead` bytes of each tile.
inline void dot_codes_8x3(const uint8_t* const* codes, const i32* begin, const uint8_t* rows,
                          int64_t row_bytes, int64_t blocks, __m512i* sums) {
  const uint8_t* rows3 = rows + 3 * row_bytes;
  const uint8_t* rows6 = rows + 6 * row_bytes;
  const uint8_t* codes0 = codes[0];
  const uint8_t* codes1 = codes[1];
  const uint8_t* codes2 = codes[2];
  const __m512i mask = _mm512_set1_epi32(0x000f000f);
#define RADIANCE_MIDDLE_WORDS(bits)    \
  "vpsrlw $" bits                      \
  ", (%[codes0]), %%zmm24\n"           \
  "vpsrlw $" bits                      \
  ", (%[codes1]), %%zmm25\n"           \
  "vpsrlw $" bits                      \
  ", (%[codes2]), %%zmm26\n"           \
  "vpandd %[mask], %%zmm24, %%zmm24\n" \
  "vpandd %[mask], %%zmm25, %%zmm25\n" \
  "vpandd %[mask], %%zmm26, %%zmm26\n"
  asm volatile(
      ".irp r, 0,1,2,3,4,5,6,7\n"
      "vpbroadcastd 4*\\r(%[begin]), %%zmm\\r\n"
      ".endr\n"
      // From the last on, so that none is overwritten before it was copied.
      "vmovdqa64 %%zmm7, %%zmm21\n vmovdqa64 %%zmm7, %%zmm22\n vmovdqa64 %%zmm7, %%zmm23\n"
      "vmovdqa64 %%zmm6, %%zmm18\n vmovdqa64 %%zmm6, %%zmm19\n vmovdqa64 %%zmm6, %%zmm20\n"
      "vmovdqa64 %%zmm5, %%zmm15\n vmovdqa64 %%zmm5, %%zmm16\n vmovdqa64 %%zmm5, %%zmm17\n"
      "vmovdqa64 %%zmm4, %%zmm12\n vmovdqa64 %%zmm4, %%zmm13\n vmovdqa64 %%zmm4, %%zmm14\n"
      "vmovdqa64 %%zmm3, %%zmm9\n vmovdqa64 %%zmm3, %%zmm10\n vmovdqa64 %%zmm3, %%zmm11\n"
      "vmovdqa64 %%zmm2, %%zmm6\n vmovdqa64 %%zmm2, %%zmm7\n vmovdqa64 %%zmm2, %%zmm8\n"
      "vmovdqa64 %%zmm1, %%zmm3\n vmovdqa64 %%zmm1, %%zmm4\n vmovdqa64 %%zmm1, %%zmm5\n"
      "vmovdqa64 %%zmm0, %%zmm1\n vmovdqa64 %%zmm0, %%zmm2\n"
      ".p2align 6\n"
      "1:\n"
      "vpandd (%[codes0]), %[mask], %%zmm24\n"
      "vpandd (%[codes1]), %[mask], %%zmm25\n"
      "vpandd (%[codes2]), %[mask], %%zmm26\n"
      "prefetcht0 %c[ahead](%[codes0])\n"
      "prefetcht0 %c[ahead](%[codes1])\n"
      "prefetcht0 %c[ahead](%[codes2])\n"
      ".set pair, 0\n" RADIANCE_ROWS RADIANCE_MIDDLE_WORDS("4") ".set pair, 1\n" RADIANCE_ROWS
          RADIANCE_MIDDLE_WORDS("8") ".set pair, 2\n" RADIANCE_ROWS
                                     "vpsrlw $12, (%[codes0]), %%zmm24\n"
                                     "vpsrlw $12, (%[codes1]), %%zmm25\n"
                                     "vpsrlw $12, (%[codes2]), %%zmm26\n"
                                     ".set pair, 3\n" RADIANCE_ROWS
                                     "add $64, %[codes0]\n"
                                     "add $64, %[codes1]\n"
                                     "add $64, %[codes2]\n" RADIANCE_NEXT_ROWS
                                     "dec %[blocks]\n"
                                     "jnz 1b\n" RADIANCE_STORE_SUMS
      : [codes0] "+r"(codes0), [codes1] "+r"(codes1), [codes2] "+r"(codes2), [rows] "+r"(rows),
        [rows3] "+r"(rows3), [rows6] "+r"(rows6), [blocks] "+r"(blocks)
      : [row_bytes] "r"(row_bytes), [sums] "r"(sums), [begin] "r"(begin), [mask] "v"(mask),
        [ahead] "i"(4096 / 3 / 64 * 64)
      : "memory", "cc", RADIANCE_SUM_REGISTERS);
#undef RADIANCE_MIDDLE_WORDS
}

#undef RADIANCE_SUMS
#undef RADIANCE_ROW
#undef RADIANCE_ROWS
#undef RADIANCE_NEXT_ROWS
#undef RADIANCE_STORE_SUMS
#undef RADIANCE_SUM_REGISTERS

}  // namespace
}  // namespace radiance::cpu
