// How long an image is that a program gives without a size, and copying it without trust: its
// headers may lie, or the memory end before they say.
#include <elf.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/module.hpp"

namespace radiance::emulator::hip {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 32;
constexpr char kBundleMagic[] = "__CLANG_OFFLOAD_BUNDLE__";
constexpr char kCompressedMagic[] = "CCOB";

// Asks the kernel to copy, which says so where there is no memory instead of ending the process.
bool read_memory(const void* from, void* to, size_t bytes) {
  iovec local{to, bytes};
  iovec remote{const_cast<void*>(from), bytes};
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

class Image {
 public:
  explicit Image(const void* begin) : begin_(static_cast<const uint8_t*>(begin)) {}

  template <typename T>
  T read(uint64_t offset) const {
    T value;
    if (offset > kMostBytes || !read_memory(begin_ + offset, &value, sizeof(value))) {
      fail(kInvalidImage, "the code object's headers name more bytes than there are");
    }
    return value;
  }

  bool starts_with(const char* magic, uint64_t offset = 0) const {
    char bytes[32] = {};
    const size_t length = std::strlen(magic);
    return read_memory(begin_ + offset, bytes, length) && std::memcmp(bytes, magic, length) == 0;
  }

 private:
  const uint8_t* begin_;
};

uint64_t end_of(uint64_t offset, uint64_t bytes) {
  if (offset > kMostBytes || bytes > kMostBytes) {
    fail(kInvalidImage, "the code object's headers name more than 4 GiB");
  }
  return offset + bytes;
}

uint64_t elf_bytes(const Image& image) {
  const auto header = image.read<Elf64_Ehdr>(0);
  uint64_t end = end_of(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment = image.read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
    end = std::max(end, end_of(segment.p_offset, segment.p_filesz));
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto section = image.read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_NOBITS) {
      end = std::max(end, end_of(section.sh_offset, section.sh_size));
    }
  }
  return std::max<uint64_t>(end, sizeof(Elf64_Ehdr));
}

// Magic, the number of entries, then each entry's offset, size, length of its name, and the name.
uint64_t bundle_bytes(const Image& image) {
  constexpr uint64_t kMostEntries = 4096;
  uint64_t at = sizeof(kBundleMagic) - 1;
  const auto entries = image.read<uint64_t>(at);
  require(entries <= kMostEntries, kInvalidImage, "the offload bundle names too many entries");
  at += sizeof(uint64_t);
  uint64_t end = at;
  for (uint64_t i = 0; i < entries; ++i) {
    end = std::max(end, end_of(image.read<uint64_t>(at), image.read<uint64_t>(at + 8)));
    at = end_of(at + 24, image.read<uint64_t>(at + 16));
  }
  return std::max(end, at);
}

}  // namespace

std::vector<uint8_t> copy_image(const void* begin) {
  const Image image(begin);
  uint64_t bytes = 0;
  if (image.starts_with(ELFMAG)) {
    bytes = elf_bytes(image);
  } else if (image.starts_with(kBundleMagic)) {
    bytes = bundle_bytes(image);
  } else if (image.starts_with(kCompressedMagic)) {
    fail(kInvalidImage, "the offload bundle is compressed; build it with --no-offload-compress");
  } else {
    fail(kInvalidImage, "the image is neither an ELF file nor an offload bundle");
  }
  // A lie is mostly a large one: look at the end before making room for all of it.
  image.read<uint8_t>(bytes - 1);
  std::vector<uint8_t> copy(bytes);
  require(read_memory(begin, copy.data(), copy.size()), kInvalidImage,
          "the code object's headers name more bytes than there are");
  return copy;
}

}  // namespace radiance::emulator::hip
