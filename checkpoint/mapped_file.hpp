// A whole file, mapped read-only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace radiance {

// What tells one version of a file from another.
struct FileIdentity {
  uint64_t bytes = 0;
  int64_t modified_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

// Movable, not copyable. The file must not shrink while it is mapped: reading past its new end
// would raise SIGBUS, as with every mapping.
class MappedFile {
 public:
  // Throws Error (RADIANCE_BAD_INPUT) when the path cannot be opened or is no regular file.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  const FileIdentity& identity() const { return identity_; }
  const std::filesystem::path& path() const { return path_; }

  // Gives the pages of this part of the file back to the system; reading them again is still right,
  // only slower. `part` lies within bytes().
  void drop(std::span<const uint8_t> part) const;

 private:
  std::filesystem::path path_;
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
  FileIdentity identity_;
};

// The whole of a text file. Throws Error (RADIANCE_BAD_INPUT) when it cannot be read or is larger
// than max_bytes.
std::string read_text_file(const std::filesystem::path& path, uint64_t max_bytes);

}  // namespace radiance
