#include "lab/code_table_report.hpp"

#include <gtest/gtest.h>

namespace radiance::lab {
namespace {

TEST(CodeTableReport, BothTablesAreFoundBySearch) {
  for (const radiance_format format : {RADIANCE_AUTOROUND_INT4, RADIANCE_MXFP4}) {
    const CodeTableReport report = code_table_report(format);
    EXPECT_TRUE(report.good());
    for (const CodeEntry& entry : report.entries) {
      const uint32_t word = report.words[static_cast<size_t>(entry.code / 4)];
      EXPECT_EQ(static_cast<int>((word >> (8 * (entry.code % 4))) & 0xff), entry.byte);
    }
  }
}

TEST(CodeTableReport, CodesAreOffsetByEight) {
  const CodeTableReport report = code_table_report(RADIANCE_AUTOROUND_INT4);
  EXPECT_EQ(report.entries[0].value, -8);
  EXPECT_EQ(report.entries[8].value, 0);
  EXPECT_EQ(report.entries[15].value, 7);
}

TEST(CodeTableReport, AWrongByteIsNotGood) {
  CodeTableReport report = code_table_report(RADIANCE_AUTOROUND_INT4);
  ++report.entries[3].table_byte;
  EXPECT_FALSE(report.good());
}

}  // namespace
}  // namespace radiance::lab
