// Writes one safetensors file, a tensor or a part of one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/dtype.hpp"
#include "checkpoint/output_file.hpp"

namespace radiance {

struct TensorSpec {
  std::string name;
  Dtype dtype = Dtype::kU8;
  std::vector<int64_t> shape;

  uint64_t bytes() const;
};

// The header goes first, so all tensors are announced at once; their bytes may then come in any
// order, and nothing is buffered. The file appears under its name with finish(). Throws OutputError
// when writing fails, Error (RADIANCE_INTERNAL) when a tensor is unknown, overrun or left unfilled.
class SafetensorsWriter {
 public:
  // Tensors are laid out by falling element size, then by name, which aligns every one of them.
  SafetensorsWriter(const std::filesystem::path& path, std::vector<TensorSpec> tensors,
                    const std::map<std::string, std::string>& metadata);

  // The next bytes of the tensor.
  void append(std::string_view tensor, std::span<const uint8_t> bytes);
  void finish();

  uint64_t file_bytes() const { return file_bytes_; }

 private:
  struct Slot {
    uint64_t next;  // bytes from the start of the file
    uint64_t end;
  };

  OutputFile file_;
  std::map<std::string, Slot, std::less<>> slots_;
  uint64_t file_bytes_ = 0;
};

}  // namespace radiance
