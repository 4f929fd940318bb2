// Files that exist whole or not at all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "radiance/error.hpp"

namespace radiance {

// Writing failed (a full disk, no permission): not the input's fault, and trying again may help.
class OutputError : public Error {
 public:
  explicit OutputError(const std::string& sentence) : Error(RADIANCE_BAD_INPUT, sentence) {}
};

// Writes beside `path` under a temporary name; commit() makes it durable and renames it. Destroyed
// without a commit it leaves nothing. Every function throws OutputError naming the file and the
// system's reason.
class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Claims the disk space, so that a full disk shows before the work and not after it.
  void reserve(uint64_t bytes);
  void write_at(uint64_t offset, std::span<const uint8_t> bytes);
  void append(std::span<const uint8_t> bytes);
  void commit();

 private:
  [[noreturn]] void fail_with(int error) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  uint64_t end_ = 0;  // where append continues
};

// The whole of a text file at once.
void write_text_file(const std::filesystem::path& path, std::string_view text);

}  // namespace radiance
