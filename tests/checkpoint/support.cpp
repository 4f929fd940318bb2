#include "support.hpp"

#include <fmt/core.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "numerics/bf16.hpp"
#include "numerics/f16.hpp"
#include "numerics/int4.hpp"

namespace radiance::test {

namespace fs = std::filesystem;

TempDir::TempDir() {
  std::string pattern = (fs::temp_directory_path() / "radiance-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  ASSERT_TRUE(file.good()) << path;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

void expect_error(radiance_status status, std::initializer_list<std::string_view> parts,
                  const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    EXPECT_EQ(e.status(), status) << e.what();
    for (const std::string_view part : parts) {
      EXPECT_NE(std::string_view(e.what()).find(part), std::string_view::npos)
          << "no \"" << part << "\" in: " << e.what();
    }
    EXPECT_EQ(std::string_view(e.what()).find('\n'), std::string_view::npos) << e.what();
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

std::string safetensors_file(const std::string& header, std::string_view data) {
  const uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + std::string(data);
}

std::string safetensors_file(const std::vector<RawTensor>& tensors) {
  nlohmann::json header = nlohmann::json::object();
  std::string data;
  for (const RawTensor& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  return safetensors_file(header.dump(), data);
}

Int4Fixture::Int4Fixture(int64_t n_, int64_t k_, int64_t group_, uint32_t seed, bool asymmetric)
    : n(n_), k(k_), group(group_) {
  std::mt19937 random(seed);
  codes.resize(static_cast<size_t>(n * k));
  for (auto& code : codes) code = static_cast<uint8_t>(random() % 16);
  scales.resize(static_cast<size_t>(groups() * n));
  zeros.assign(scales.size(), 8);
  for (size_t i = 0; i < scales.size(); ++i) {
    const float magnitude = static_cast<float>(random() % 1000 + 1) * 1e-4f;
    scales[i] = f32_to_f16(random() % 2 == 0 ? magnitude : -magnitude);
    if (asymmetric) zeros[i] = static_cast<uint8_t>(random() % 16);
  }
}

std::vector<uint32_t> Int4Fixture::words() const {
  std::vector<uint32_t> words(static_cast<size_t>(k / 8 * n));
  for (int64_t row = 0; row < n; ++row) {
    for (int64_t i = 0; i < k; ++i) {
      words[static_cast<size_t>(i / 8 * n + row)] |=
          static_cast<uint32_t>(codes[static_cast<size_t>(row * k + i)]) << (4 * (i % 8));
    }
  }
  return words;
}

std::vector<RawTensor> Int4Fixture::gptq(const std::string& name, int zero_shift) const {
  std::vector<uint32_t> packed(static_cast<size_t>(groups() * (n / 8)));
  for (int64_t g = 0; g < groups(); ++g) {
    for (int64_t row = 0; row < n / 8 * 8; ++row) {
      const uint32_t stored = (static_cast<uint32_t>(zeros[static_cast<size_t>(g * n + row)]) +
                               16u - static_cast<uint32_t>(zero_shift)) &
                              0xfu;
      packed[static_cast<size_t>(g * (n / 8) + row / 8)] |= stored << (4 * (row % 8));
    }
  }
  return {{name + ".qweight", "I32", {k / 8, n}, bytes_of(words())},
          {name + ".qzeros", "I32", {groups(), n / 8}, bytes_of(packed)},
          {name + ".scales", "F16", {groups(), n}, bytes_of(scales)}};
}

std::vector<RawTensor> Int4Fixture::awq(const std::string& name) const {
  // The order of AWQ's nibbles, written out here and not taken from the code under test.
  constexpr int64_t order[8] = {0, 2, 4, 6, 1, 3, 5, 7};
  const auto pack = [&](int64_t rows, auto value) {
    std::vector<uint32_t> packed(static_cast<size_t>(rows * (n / 8)));
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t word = 0; word < n / 8; ++word) {
        for (int64_t i = 0; i < 8; ++i) {
          packed[static_cast<size_t>(r * (n / 8) + word)] |=
              static_cast<uint32_t>(value(r, word * 8 + order[i])) << (4 * i);
        }
      }
    }
    return packed;
  };
  const auto code = [&](int64_t i, int64_t row) { return codes[static_cast<size_t>(row * k + i)]; };
  const auto zero = [&](int64_t g, int64_t row) { return zeros[static_cast<size_t>(g * n + row)]; };
  return {{name + ".qweight", "I32", {k, n / 8}, bytes_of(pack(k, code))},
          {name + ".qzeros", "I32", {groups(), n / 8}, bytes_of(pack(groups(), zero))},
          {name + ".scales", "F16", {groups(), n}, bytes_of(scales)}};
}

void CheckpointBuilder::add_bf16(const std::string& name, const std::vector<int64_t>& shape,
                                 uint32_t seed, float deviation) {
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  std::vector<uint16_t> values(count);
  for (auto& value : values) value = f32_to_bf16(normal(random));
  add({name, "BF16", shape, bytes_of(values)});
}

void CheckpointBuilder::remove(const std::string& name) {
  std::erase_if(tensors, [&](const RawTensor& tensor) { return tensor.name == name; });
}

RawTensor& CheckpointBuilder::at(const std::string& name) {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [&](const RawTensor& tensor) { return tensor.name == name; });
  if (it == tensors.end()) throw std::runtime_error("no tensor " + name);
  return *it;
}

void CheckpointBuilder::write(const fs::path& directory) const {
  fs::create_directories(directory);
  write_file(directory / "config.json", config.dump(2));
  write_file(directory / "model.safetensors", safetensors_file(tensors));
}

nlohmann::json CheckpointBuilder::auto_round(int64_t group) {
  return {{"bits", 4},
          {"data_type", "int"},
          {"group_size", group},
          {"sym", true},
          {"autoround_version", "0.12.3"},
          {"block_name_to_quantize", "model.layers"},
          {"quant_method", "auto-round"},
          {"packing_format", "auto_round:auto_gptq"}};
}

namespace {

struct Linear {
  const char* name;
  int64_t n;
  int64_t k;
};
constexpr Linear kLinears[] = {{"self_attn.q_proj", 64, 64}, {"self_attn.k_proj", 32, 64},
                               {"self_attn.v_proj", 32, 64}, {"self_attn.o_proj", 64, 64},
                               {"mlp.gate_proj", 96, 64},    {"mlp.up_proj", 96, 64},
                               {"mlp.down_proj", 64, 96}};

CheckpointBuilder llama_without_linears() {
  CheckpointBuilder builder;
  builder.config = {{"model_type", "llama"},        {"hidden_size", 64},
                    {"intermediate_size", 96},      {"num_hidden_layers", 2},
                    {"num_attention_heads", 2},     {"num_key_value_heads", 1},
                    {"tie_word_embeddings", false}, {"torch_dtype", "bfloat16"}};
  builder.add_bf16("lm_head.weight", {80, 64}, 2);
  builder.add_bf16("model.embed_tokens.weight", {80, 64}, 3);
  builder.add_bf16("model.norm.weight", {64}, 4);
  for (int layer = 0; layer < 2; ++layer) {
    const std::string prefix = fmt::format("model.layers.{}.", layer);
    builder.add_bf16(prefix + "input_layernorm.weight", {64}, 5);
    builder.add_bf16(prefix + "post_attention_layernorm.weight", {64}, 6);
  }
  return builder;
}

}  // namespace

CheckpointBuilder small_llama() {
  CheckpointBuilder builder = llama_without_linears();
  uint32_t seed = 100;
  for (int layer = 0; layer < 2; ++layer) {
    const std::string prefix = fmt::format("model.layers.{}.", layer);
    for (const Linear& linear : kLinears) {
      builder.add_bf16(prefix + linear.name + ".weight", {linear.n, linear.k}, ++seed);
    }
  }
  return builder;
}

CheckpointBuilder small_quantized_llama(int64_t group) {
  CheckpointBuilder builder = llama_without_linears();
  builder.config["quantization_config"] = CheckpointBuilder::auto_round(group);
  uint32_t seed = 200;
  for (int layer = 0; layer < 2; ++layer) {
    const std::string prefix = fmt::format("model.layers.{}.", layer);
    for (const Linear& linear : kLinears) {
      builder.add(Int4Fixture(linear.n, linear.k, group, ++seed).gptq(prefix + linear.name, 1));
    }
  }
  return builder;
}

}  // namespace radiance::test
