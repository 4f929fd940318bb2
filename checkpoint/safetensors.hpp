// One safetensors file: u64 header length, a JSON header, the tensors' bytes without gaps.
//
// The file is untrusted: everything the header says is checked against the file before any of it is
// used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/dtype.hpp"
#include "checkpoint/mapped_file.hpp"

namespace radiance {

// The limit the safetensors format sets itself.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

struct TensorInfo {
  std::string name;
  Dtype dtype = Dtype::kU8;
  std::vector<int64_t> shape;  // outermost first; empty is a scalar
  uint64_t begin = 0;          // bytes from the start of the file
  uint64_t end = 0;

  uint64_t bytes() const { return end - begin; }
};

// "[640, 17408]"
std::string shape_text(std::span<const int64_t> shape);

struct SafetensorsHeader {
  std::map<std::string, std::string> metadata;  // "__metadata__"
  std::vector<TensorInfo> tensors;              // in the order of their bytes
};

// Checks and reads the header of a file of which `file` holds at least the first
// min(file_bytes, 8 + header length) bytes; `where` names it in sentences. Throws Error
// (RADIANCE_BAD_INPUT): header length past the file or the limit, malformed JSON, duplicate names,
// unknown dtypes, shapes that overflow or disagree with their offsets, offsets past the end,
// overlaps and gaps.
SafetensorsHeader parse_safetensors_header(std::span<const uint8_t> file, uint64_t file_bytes,
                                           const std::string& where);

// A mapped file with a checked header.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::vector<TensorInfo>& tensors() const { return header_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  const MappedFile& file() const { return file_; }

  // The tensor's bytes; not necessarily aligned to its element.
  std::span<const uint8_t> bytes(const TensorInfo& tensor) const {
    return file_.bytes().subspan(tensor.begin, tensor.bytes());
  }

 private:
  MappedFile file_;
  SafetensorsHeader header_;
};

}  // namespace radiance
