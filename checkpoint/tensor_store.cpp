#include "checkpoint/tensor_store.hpp"

#include <algorithm>
#include <set>

#include "checkpoint/failure.hpp"
#include "checkpoint/json.hpp"

namespace radiance {

namespace fs = std::filesystem;

std::map<std::string, std::string> parse_index(std::string_view text, const std::string& where) {
  const nlohmann::json json = parse_json(text, where);
  if (!json.is_object() || !json.contains("weight_map") || !json.at("weight_map").is_object()) {
    bad_input("{} has no weight_map object", where);
  }
  std::map<std::string, std::string> map;
  for (const auto& [tensor, shard] : json.at("weight_map").items()) {
    if (!shard.is_string()) {
      bad_input("{}: the shard of tensor {} is {}, supported is a file name", where,
                quote_name(tensor), json_excerpt(shard));
    }
    const auto& name = shard.get_ref<const std::string&>();
    // A path could lead out of the directory.
    if (name.find('/') != std::string::npos || name.find('\0') != std::string::npos ||
        !name.ends_with(".safetensors")) {
      bad_input("{}: the shard of tensor {} is {}, supported is a *.safetensors file beside it",
                where, quote_name(tensor), quote_name(name));
    }
    map.emplace(tensor, name);
  }
  if (map.empty()) bad_input("{} names no tensor", where);
  return map;
}

void TensorStore::add_shard(const fs::path& path) {
  shards_.push_back(std::make_unique<SafetensorsFile>(path));
  const SafetensorsFile* shard = shards_.back().get();
  for (const TensorInfo& info : shard->tensors()) {
    const auto [it, added] = tensors_.try_emplace(info.name, Tensor{&info, shard});
    if (!added) {
      bad_input("tensor {} is present twice: in {} and in {}", quote_name(info.name),
                it->second.shard->file().path().filename().string(), path.filename().string());
    }
  }
}

const Tensor* TensorStore::find(std::string_view name) const {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? nullptr : &it->second;
}

TensorStore TensorStore::open(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) {
    bad_input("{} is no checkpoint: it is not a directory", directory.string());
  }
  std::set<std::string> present;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(".safetensors")) present.insert(name);
  }
  if (error) bad_input("{} cannot be read: {}", directory.string(), error.message());

  TensorStore store;
  const fs::path index_path = directory / kIndexFileName;
  std::set<std::string> used;
  if (fs::exists(index_path, error)) {
    store.has_index_ = true;
    const std::string where = index_path.string();
    const auto map = parse_index(read_text_file(index_path, 256u << 20), where);
    for (const auto& [tensor, shard] : map) used.insert(shard);
    if (present.count(kSingleFileName) != 0 && used.count(kSingleFileName) == 0) {
      bad_input("{} holds both {} and an index that does not name it: which one counts is unclear",
                directory.string(), kSingleFileName);
    }
    for (const std::string& shard : used) {
      if (present.count(shard) == 0) {
        const auto first = std::find_if(map.begin(), map.end(),
                                        [&](const auto& entry) { return entry.second == shard; });
        bad_input("shard {} is missing from {}: the index places tensor {} in it",
                  quote_name(shard), directory.string(), quote_name(first->first));
      }
      store.add_shard(directory / shard);
    }
    for (const auto& [tensor, shard] : map) {
      const Tensor* found = store.find(tensor);
      if (found == nullptr || found->shard->file().path().filename() != shard) {
        bad_input("shard {} of {} lacks tensor {}, which the index places in it", quote_name(shard),
                  directory.string(), quote_name(tensor));
      }
    }
    for (const auto& [name, tensor] : store.tensors_) {
      if (map.count(name) == 0) store.unindexed_.push_back(name);
    }
  } else if (present.count(kSingleFileName) != 0) {
    used.insert(kSingleFileName);
    store.add_shard(directory / kSingleFileName);
  } else {
    bad_input("{} is no checkpoint: it holds neither {} nor {}", directory.string(),
              kSingleFileName, kIndexFileName);
  }
  std::set_difference(present.begin(), present.end(), used.begin(), used.end(),
                      std::back_inserter(store.unread_files_));
  return store;
}

}  // namespace radiance
