#include "disasm/message_pack.hpp"

#include <gtest/gtest.h>

namespace radiance::disasm {
namespace {

std::vector<uint8_t> bytes(std::initializer_list<int> list) {
  std::vector<uint8_t> out;
  for (const int b : list) out.push_back(static_cast<uint8_t>(b));
  return out;
}

TEST(MessagePack, Scalars) {
  EXPECT_EQ(std::get<uint64_t>(read_message_pack(bytes({0x7f})).value), 127u);
  EXPECT_EQ(std::get<uint64_t>(read_message_pack(bytes({0xcd, 0x12, 0x34})).value), 0x1234u);
  EXPECT_EQ(std::get<int64_t>(read_message_pack(bytes({0xff})).value), -1);
  EXPECT_EQ(std::get<int64_t>(read_message_pack(bytes({0xd1, 0xff, 0x00})).value), -256);
  EXPECT_EQ(std::get<bool>(read_message_pack(bytes({0xc3})).value), true);
  EXPECT_EQ(std::get<double>(read_message_pack(bytes({0xca, 0x3f, 0xc0, 0, 0})).value), 1.5);
  EXPECT_EQ(*read_message_pack(bytes({0xa2, 'h', 'i'})).string(), "hi");
  EXPECT_TRUE(std::holds_alternative<std::monostate>(read_message_pack(bytes({0xc0})).value));
}

TEST(MessagePack, MapsAndArrays) {
  // {"a": [1, "x"], "b": true}
  const auto value =
      read_message_pack(bytes({0x82, 0xa1, 'a', 0x92, 1, 0xa1, 'x', 0xa1, 'b', 0xc3}));
  ASSERT_NE(value.find("a"), nullptr);
  EXPECT_EQ(value.find("a")->array()->size(), 2u);
  EXPECT_EQ(value.number("b", 0), 1u);
  EXPECT_EQ(value.number("c", 7), 7u);
  EXPECT_EQ(value.find("c"), nullptr);
  EXPECT_EQ(value.text("a"), "");
}

TEST(MessagePack, EveryTruncationIsRefused) {
  const auto whole = bytes({0x82, 0xa1, 'a', 0x92, 1, 0xa1, 'x', 0xa1, 'b', 0xcd, 1, 2});
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(read_message_pack(std::span(whole).first(size)), MessagePackError) << size;
  }
}

TEST(MessagePack, WhatLiesAboutItsSizeIsRefused) {
  EXPECT_THROW(read_message_pack(bytes({0xdb, 0xff, 0xff, 0xff, 0xff, 'x'})), MessagePackError);
  EXPECT_THROW(read_message_pack(bytes({0xdd, 0xff, 0xff, 0xff, 0xff, 1})), MessagePackError);
  EXPECT_THROW(read_message_pack(bytes({0xdf, 0xff, 0xff, 0xff, 0xff})), MessagePackError);
  EXPECT_THROW(read_message_pack(bytes({0x81, 1, 1})),
               MessagePackError);  // a key that is no string
  EXPECT_THROW(read_message_pack(bytes({0xc1})), MessagePackError);
  EXPECT_THROW(read_message_pack(std::vector<uint8_t>(1000, 0x91)), MessagePackError);  // nesting
}

}  // namespace
}  // namespace radiance::disasm
