#include "checkpoint/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "checkpoint/failure.hpp"

namespace radiance {

OutputFile::OutputFile(const std::filesystem::path& path)
    : path_(path), temporary_(path.string() + ".partial") {
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) fail_with(errno);
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(temporary_.c_str());
  }
}

void OutputFile::fail_with(int error) const {
  throw OutputError(fmt::format("{} cannot be written: {}", path_.string(), std::strerror(error)));
}

void OutputFile::reserve(uint64_t bytes) {
  if (bytes == 0) return;
  const int error = ::posix_fallocate(fd_, 0, static_cast<off_t>(bytes));
  // Not every file system can; then the writes themselves will tell.
  if (error != 0 && error != EOPNOTSUPP && error != EINVAL && error != ENODEV) fail_with(error);
}

void OutputFile::write_at(uint64_t offset, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_with(written < 0 ? errno : ENOSPC);
    offset += static_cast<uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void OutputFile::append(std::span<const uint8_t> bytes) {
  write_at(end_, bytes);
  end_ += bytes.size();
}

void OutputFile::commit() {
  // Delayed allocation may report a full disk only here.
  if (::fsync(fd_) != 0) fail_with(errno);
  const int closed = ::close(fd_);
  const int close_error = errno;
  fd_ = -1;
  if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = closed != 0 ? close_error : errno;
    ::unlink(temporary_.c_str());
    fail_with(error);
  }
  // The rename itself lives in the directory.
  const auto parent = path_.parent_path();
  const int directory =
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

void write_text_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  file.commit();
}

}  // namespace radiance
