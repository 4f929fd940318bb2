// The int4 -> e4m3 table, derived a second time by search and compared with the one that kernels
// use.
#pragma once

#include <array>
#include <cstdint>

#include "radiance/radiance.h"

namespace radiance::lab {

struct CodeEntry {
  int code = 0;
  float value = 0;     // what the code stands for
  int byte = -1;       // the e4m3 byte that decodes to it, by search of all 256; -1 if none does
  int table_byte = 0;  // the byte in numerics' table
  bool good() const { return byte == table_byte; }
};

struct CodeTableReport {
  radiance_format format = RADIANCE_AUTOROUND_INT4;
  std::array<CodeEntry, 16> entries;
  // The bytes as little-endian words, as byte-permute instructions take them: codes 0..3, 4..7,
  // 8..11, 12..15.
  std::array<uint32_t, 4> words;
  bool good() const;
};

CodeTableReport code_table_report(radiance_format format);

}  // namespace radiance::lab
