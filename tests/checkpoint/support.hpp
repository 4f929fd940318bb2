// What the checkpoint tests share: temporary directories, hand-made safetensors files, and checks
// on the sentences of errors.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "radiance/error.hpp"

namespace radiance::test {

// Removed with everything in it when it goes.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, std::string_view bytes);
std::string read_file(const std::filesystem::path& path);

// Runs `action`, which must throw Error with this status and a sentence that holds every part.
void expect_error(radiance_status status, std::initializer_list<std::string_view> parts,
                  const std::function<void()>& action);

// A whole safetensors file around any header text; nothing is checked.
std::string safetensors_file(const std::string& header, std::string_view data);

struct RawTensor {
  std::string name;
  std::string dtype;
  std::vector<int64_t> shape;
  std::string bytes;
};

// A well-formed file, written independently of the library's writer.
std::string safetensors_file(const std::vector<RawTensor>& tensors);

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

// A quantized weight by its elements, from which the packings are made.
struct Int4Fixture {
  int64_t n;
  int64_t k;
  int64_t group;                 // -1: all of k
  std::vector<uint8_t> codes;    // [n][k]
  std::vector<uint16_t> scales;  // [groups][n]
  std::vector<uint8_t> zeros;    // [groups][n]

  Int4Fixture(int64_t n, int64_t k, int64_t group, uint32_t seed, bool asymmetric = false);
  int64_t groups() const { return group == -1 ? 1 : (k + group - 1) / group; }

  // The tensors below `name` as GPTQ (zero_shift 1: v1, 0: v2) and AWQ store them.
  std::vector<RawTensor> gptq(const std::string& name, int zero_shift) const;
  std::vector<RawTensor> awq(const std::string& name) const;
  // [k / 8][n], what loading should give.
  std::vector<uint32_t> words() const;
};

// A directory with config.json and model.safetensors, changed by tests before it is written.
struct CheckpointBuilder {
  nlohmann::json config = {{"model_type", "test"}};
  std::vector<RawTensor> tensors;

  void add(RawTensor tensor) { tensors.push_back(std::move(tensor)); }
  void add(const std::vector<RawTensor>& more) {
    tensors.insert(tensors.end(), more.begin(), more.end());
  }
  // A bf16 tensor of normally distributed values.
  void add_bf16(const std::string& name, const std::vector<int64_t>& shape, uint32_t seed = 1,
                float deviation = 0.05f);
  void remove(const std::string& name);
  RawTensor& at(const std::string& name);
  void write(const std::filesystem::path& directory) const;

  // quantization_config of the usual exports.
  static nlohmann::json auto_round(int64_t group);
};

// A complete little llama: two blocks, hidden 64, intermediate 96, 2 heads of 32 and 1 kv head.
// Float, or quantized as auto_round:auto_gptq.
CheckpointBuilder small_llama();
CheckpointBuilder small_quantized_llama(int64_t group = 32);

}  // namespace radiance::test
