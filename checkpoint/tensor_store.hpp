// The tensors of a checkpoint directory: one model.safetensors, or shards and their index.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors.hpp"

namespace radiance {

inline constexpr const char* kSingleFileName = "model.safetensors";
inline constexpr const char* kIndexFileName = "model.safetensors.index.json";

// A tensor and the file that holds it; valid as long as its TensorStore.
struct Tensor {
  const TensorInfo* info = nullptr;
  const SafetensorsFile* shard = nullptr;

  const std::string& name() const { return info->name; }
  Dtype dtype() const { return info->dtype; }
  const std::vector<int64_t>& shape() const { return info->shape; }
  std::span<const uint8_t> bytes() const { return shard->bytes(*info); }
  void drop_pages() const { shard->file().drop(bytes()); }
};

class TensorStore {
 public:
  // Throws Error (RADIANCE_BAD_INPUT): a directory without safetensors or with a single file and an
  // index that does not name it, a malformed file, an index that names a missing shard, a file
  // outside the directory or a tensor that its shard lacks, a tensor present in two shards.
  static TensorStore open(const std::filesystem::path& directory);

  // Ordered by name.
  const std::map<std::string, Tensor, std::less<>>& tensors() const { return tensors_; }
  const Tensor* find(std::string_view name) const;
  // In the order of their names.
  const std::vector<std::unique_ptr<SafetensorsFile>>& shards() const { return shards_; }
  bool has_index() const { return has_index_; }
  // Tensors that lie in a shard although the index does not name them.
  const std::vector<std::string>& unindexed() const { return unindexed_; }
  // *.safetensors files of the directory that are not part of the checkpoint.
  const std::vector<std::string>& unread_files() const { return unread_files_; }

 private:
  void add_shard(const std::filesystem::path& path);

  std::vector<std::unique_ptr<SafetensorsFile>> shards_;
  std::map<std::string, Tensor, std::less<>> tensors_;
  std::vector<std::string> unindexed_;
  std::vector<std::string> unread_files_;
  bool has_index_ = false;
};

// The index's weight_map: tensor name -> shard file name. Throws Error (RADIANCE_BAD_INPUT) for
// malformed JSON or a shard name that is no plain *.safetensors file name.
std::map<std::string, std::string> parse_index(std::string_view text, const std::string& where);

}  // namespace radiance
