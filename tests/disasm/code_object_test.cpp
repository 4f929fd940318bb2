#include "disasm/code_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "disasm/line_table.hpp"

namespace radiance::disasm {
namespace {

using testing::HasSubstr;

std::vector<uint8_t> read_file(const std::string& name) {
  std::ifstream file(RADIANCE_KERNELS "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string error_of(std::span<const uint8_t> file) {
  try {
    CodeObject::parse(file);
  } catch (const CodeObjectError& error) {
    return error.what();
  }
  return "";
}

TEST(CodeObject, KernelsAsTheyWereCompiled) {
  const CodeObject object = CodeObject::parse(read_file("kernels.gfx1201.hsaco"));
  EXPECT_EQ(object.target(), "gfx1201");
  ASSERT_EQ(object.kernels().size(), 2u);
  const Kernel* reverse = object.find_kernel("reverse");
  ASSERT_NE(reverse, nullptr);
  EXPECT_EQ(reverse->descriptor.group_segment_bytes, 1024u);
  EXPECT_EQ(reverse->descriptor.private_segment_bytes, 0u);
  EXPECT_EQ(reverse->descriptor.kernarg_bytes, 20u);
  EXPECT_TRUE(reverse->descriptor.wave32());
  EXPECT_TRUE(reverse->descriptor.kernarg_segment_ptr());
  EXPECT_EQ(reverse->descriptor.float_mode(), 0xf0u);
  EXPECT_EQ(reverse->max_workgroup_size, 256u);
  EXPECT_GT(reverse->vgprs, 0u);
  ASSERT_EQ(reverse->arguments.size(), 3u);
  EXPECT_EQ(reverse->arguments[0].kind, "global_buffer");
  EXPECT_EQ(reverse->arguments[2].kind, "by_value");
  EXPECT_EQ(reverse->arguments[2].offset, 16u);
  EXPECT_EQ(reverse->arguments[2].size, 4u);
  EXPECT_EQ(object.code(*reverse).size(), reverse->code_bytes);
  const Kernel* indexed = object.find_kernel("indexed");
  ASSERT_NE(indexed, nullptr);
  EXPECT_GE(indexed->descriptor.private_segment_bytes, 64u);
  EXPECT_TRUE(indexed->descriptor.has_private_segment());
  EXPECT_EQ(object.find_kernel("missing"), nullptr);
}

TEST(CodeObject, LoadingAppliesRelocations) {
  const CodeObject object = CodeObject::parse(read_file("kernels.gfx1201.hsaco"));
  const Symbol* table = object.find_symbol("table");
  const Symbol* end = object.find_symbol("table_end");
  ASSERT_NE(table, nullptr);
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(table->size, 16u);
  constexpr uint64_t kBase = 0x12345678000;
  std::vector<uint8_t> memory(object.image().size());
  object.load(memory, kBase);
  uint64_t pointer = 0;
  std::memcpy(&pointer, memory.data() + end->address, sizeof pointer);
  EXPECT_EQ(pointer, kBase + table->address + 16);
  std::vector<uint8_t> small(object.image().size() - 1);
  EXPECT_THROW(object.load(small, kBase), CodeObjectError);
}

TEST(CodeObject, Bundles) {
  const auto bundle = read_file("kernels.bundle");
  EXPECT_EQ(CodeObject::parse(bundle).target(), "gfx1201");
  EXPECT_EQ(CodeObject::parse(bundle, "amdgcn-amd-amdhsa--gfx1100:xnack-").target(), "gfx1100");
  try {
    CodeObject::parse(bundle, "gfx942");
    FAIL();
  } catch (const WrongTargetError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the bundle holds none for gfx942"));
    EXPECT_THAT(error.what(), HasSubstr("gfx1100"));
  }
}

TEST(CodeObject, OtherTargets) {
  EXPECT_THROW(CodeObject::parse(read_file("kernels.gfx1100.hsaco")), WrongTargetError);
  EXPECT_EQ(error_of(read_file("kernels.gfx1100.hsaco")),
            "code object: compiled for gfx1100, this is gfx1201");
  auto x86 = read_file("kernels.gfx1201.hsaco");
  x86[18] = 62;
  x86[19] = 0;
  EXPECT_EQ(error_of(x86), "code object: ELF machine 62 is not AMDGPU (224)");
}

TEST(CodeObject, WhatIsNoElf) {
  EXPECT_EQ(error_of({}), "code object: this is no ELF file");
  const std::string text = "CCOB and more";
  EXPECT_THAT(error_of({reinterpret_cast<const uint8_t*>(text.data()), text.size()}),
              HasSubstr("compressed offload bundles"));
}

TEST(CodeObject, EveryTruncationIsRefused) {
  const auto whole = read_file("kernels.gfx1201.hsaco");
  for (size_t size = 0; size < whole.size(); size += size < 512 ? 1 : 37) {
    EXPECT_NE(error_of(std::span(whole).first(size)), "") << size;
  }
}

// Damaged files parse or are refused, and what parses has kernels inside its image.
TEST(CodeObject, DamageDoesNoHarm) {
  const auto whole = read_file("kernels.gfx1201.hsaco");
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    auto damaged = whole;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      // Half of them in the headers, where a byte decides most.
      const size_t at = random() % (random() % 2 ? damaged.size() : size_t{1200});
      damaged[at] = static_cast<uint8_t>(random() % 3 ? random() : 0xff);
    }
    try {
      const CodeObject object = CodeObject::parse(damaged);
      for (const Kernel& kernel : object.kernels()) {
        EXPECT_EQ(object.code(kernel).size(), kernel.code_bytes);
      }
      std::vector<uint8_t> memory(object.image().size());
      object.load(memory, 0x1000);
      const LineTable lines(object.section(".debug_line"), object.section(".debug_line_str"),
                            object.section(".debug_str"));
      lines.find(0x1600);
    } catch (const CodeObjectError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(LineTable, NamesTheLinesOfTheSource) {
  const CodeObject object = CodeObject::parse(read_file("kernels.gfx1201.hsaco"));
  const LineTable lines(object.section(".debug_line"), object.section(".debug_line_str"),
                        object.section(".debug_str"));
  const Kernel* kernel = object.find_kernel("indexed");
  bool found = false;
  for (uint64_t at = kernel->entry; at < kernel->entry + kernel->code_bytes; at += 4) {
    found = found || lines.find(at) == "kernels.hip:22";
  }
  EXPECT_TRUE(found);
  EXPECT_EQ(lines.find(0), "");
  EXPECT_EQ(LineTable().find(kernel->entry), "");
}

}  // namespace
}  // namespace radiance::disasm
