#include "lab/code_table_report.hpp"

#include <algorithm>

#include "lab/inputs.hpp"
#include "numerics/code_table.hpp"

namespace radiance::lab {

bool CodeTableReport::good() const {
  return std::all_of(entries.begin(), entries.end(),
                     [](const CodeEntry& entry) { return entry.good(); });
}

CodeTableReport code_table_report(radiance_format format) {
  const CodeTable& table = format == RADIANCE_MXFP4 ? kE2m1CodeTable : kInt4CodeTable;
  CodeTableReport report;
  report.format = format;
  for (int code = 0; code < 16; ++code) {
    CodeEntry& entry = report.entries[static_cast<size_t>(code)];
    entry.code = code;
    entry.value = code_value(format, static_cast<uint32_t>(code));
    for (int byte = 0; byte < 256; ++byte) {
      // By bits: e2m1 has two zeros, and their signs are kept.
      if (float_bits(e4m3_to_f32(static_cast<u8>(byte))) == float_bits(entry.value)) {
        entry.byte = byte;
      }
    }
    entry.table_byte = table.byte[code];
  }
  for (int i = 0; i < 4; ++i) report.words[static_cast<size_t>(i)] = table.word(i);
  return report;
}

}  // namespace radiance::lab
