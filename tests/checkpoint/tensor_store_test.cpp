#include "checkpoint/tensor_store.hpp"

#include "support.hpp"

namespace radiance {
namespace {

using test::expect_error;
using test::RawTensor;
using test::safetensors_file;
using test::TempDir;
using test::write_file;

RawTensor byte_tensor(const std::string& name) { return {name, "U8", {1}, "x"}; }

void write_index(const TempDir& dir, const std::string& map) {
  write_file(dir / kIndexFileName, R"({"metadata":{"total_size":2},"weight_map":)" + map + "}");
}

TEST(TensorStore, ReadsOneFile) {
  TempDir dir;
  write_file(dir / kSingleFileName, safetensors_file({byte_tensor("b"), byte_tensor("a")}));
  write_file(dir / "consolidated.safetensors", "not read");
  const auto store = TensorStore::open(dir.path());
  EXPECT_EQ(store.tensors().begin()->first, "a");
  EXPECT_EQ(store.find("b")->dtype(), Dtype::kU8);
  EXPECT_EQ(store.find("c"), nullptr);
  EXPECT_EQ(store.unread_files(), std::vector<std::string>{"consolidated.safetensors"});
}

TEST(TensorStore, ReadsShards) {
  TempDir dir;
  write_file(dir / "m-1.safetensors", safetensors_file({byte_tensor("a")}));
  write_file(dir / "m-2.safetensors", safetensors_file({byte_tensor("b"), byte_tensor("extra")}));
  write_index(dir, R"({"a":"m-1.safetensors","b":"m-2.safetensors"})");
  const auto store = TensorStore::open(dir.path());
  EXPECT_EQ(store.shards().size(), 2u);
  EXPECT_TRUE(store.has_index());
  EXPECT_NE(store.find("b"), nullptr);
  EXPECT_EQ(store.unindexed(), std::vector<std::string>{"extra"});
}

TEST(TensorStore, RefusesAMissingShard) {
  TempDir dir;
  write_file(dir / "m-1.safetensors", safetensors_file({byte_tensor("a")}));
  write_index(dir, R"({"a":"m-1.safetensors","b":"m-2.safetensors"})");
  expect_error(RADIANCE_BAD_INPUT, {"'m-2.safetensors'", "missing", "'b'"},
               [&] { TensorStore::open(dir.path()); });
}

TEST(TensorStore, RefusesAShardThatLacksATensor) {
  TempDir dir;
  write_file(dir / "m-1.safetensors", safetensors_file({byte_tensor("a")}));
  write_index(dir, R"({"a":"m-1.safetensors","b":"m-1.safetensors"})");
  expect_error(RADIANCE_BAD_INPUT, {"'m-1.safetensors'", "lacks tensor 'b'"},
               [&] { TensorStore::open(dir.path()); });
  // In another shard than the index says.
  write_file(dir / "m-2.safetensors", safetensors_file({byte_tensor("b"), byte_tensor("c")}));
  write_index(dir, R"({"a":"m-1.safetensors","b":"m-1.safetensors","c":"m-2.safetensors"})");
  expect_error(RADIANCE_BAD_INPUT, {"'m-1.safetensors'", "lacks tensor 'b'"},
               [&] { TensorStore::open(dir.path()); });
}

TEST(TensorStore, RefusesATensorPresentTwice) {
  TempDir dir;
  write_file(dir / "m-1.safetensors", safetensors_file({byte_tensor("a")}));
  write_file(dir / "m-2.safetensors", safetensors_file({byte_tensor("b"), byte_tensor("a")}));
  write_index(dir, R"({"a":"m-1.safetensors","b":"m-2.safetensors"})");
  expect_error(RADIANCE_BAD_INPUT, {"'a'", "present twice", "m-1.safetensors", "m-2.safetensors"},
               [&] { TensorStore::open(dir.path()); });
}

TEST(TensorStore, RefusesBadIndices) {
  TempDir dir;
  write_file(dir / "m-1.safetensors", safetensors_file({byte_tensor("a")}));
  write_index(dir, R"({"a":"../m-1.safetensors"})");
  expect_error(RADIANCE_BAD_INPUT, {"'a'", "'../m-1.safetensors'"},
               [&] { TensorStore::open(dir.path()); });
  write_index(dir, R"({"a":7})");
  expect_error(RADIANCE_BAD_INPUT, {"'a'", "is 7"}, [&] { TensorStore::open(dir.path()); });
  write_index(dir, "{}");
  expect_error(RADIANCE_BAD_INPUT, {"names no tensor"}, [&] { TensorStore::open(dir.path()); });
  write_index(dir, R"({"a":"m-1.safetensors","a":"m-1.safetensors"})");
  expect_error(RADIANCE_BAD_INPUT, {"'a'", "twice"}, [&] { TensorStore::open(dir.path()); });
  write_file(dir / kIndexFileName, "[]");
  expect_error(RADIANCE_BAD_INPUT, {"weight_map"}, [&] { TensorStore::open(dir.path()); });
}

TEST(TensorStore, RefusesWhatIsNoCheckpoint) {
  TempDir dir;
  expect_error(RADIANCE_BAD_INPUT, {"no checkpoint", kSingleFileName},
               [&] { TensorStore::open(dir.path()); });
  expect_error(RADIANCE_BAD_INPUT, {"no checkpoint", "not a directory"},
               [&] { TensorStore::open(dir / "absent"); });
  // Two candidates, and nothing says which.
  write_file(dir / "m-1.safetensors", safetensors_file({byte_tensor("a")}));
  write_file(dir / kSingleFileName, safetensors_file({byte_tensor("a")}));
  write_index(dir, R"({"a":"m-1.safetensors"})");
  expect_error(RADIANCE_BAD_INPUT, {"which one counts is unclear"},
               [&] { TensorStore::open(dir.path()); });
}

}  // namespace
}  // namespace radiance
