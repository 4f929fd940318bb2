// A code object or bundle as a program gives it to hipModuleLoadData: without a size, before memory
// that may end; then parsed, placed and relocated, and its line table asked.
#include "disasm/code_object.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "disasm/line_table.hpp"
#include "emulator/hip/errors.hpp"
#include "emulator/hip/module.hpp"

namespace {

using namespace radiance;

// The input, ending where memory does.
class AtEndOfMemory {
 public:
  AtEndOfMemory(const uint8_t* data, size_t size) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t rounded = (size + page - 1) / page * page;
    bytes_ = rounded + page;
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) std::abort();
    auto* const end = static_cast<uint8_t*>(memory_) + rounded;
    if (mprotect(end, page, PROT_NONE) != 0) std::abort();
    begin_ = end - size;
    std::copy(data, data + size, end - size);
  }
  ~AtEndOfMemory() { munmap(memory_, bytes_); }
  AtEndOfMemory(const AtEndOfMemory&) = delete;
  AtEndOfMemory& operator=(const AtEndOfMemory&) = delete;

  const void* begin() const { return begin_; }

 private:
  void* memory_;
  size_t bytes_;
  const void* begin_;
};

void find_end(const uint8_t* data, size_t size) {
  const AtEndOfMemory input(data, size);
  try {
    const std::vector<uint8_t> image = emulator::hip::copy_image(input.begin());
    if (image.size() > size || !std::equal(image.begin(), image.end(), data)) std::abort();
  } catch (const emulator::hip::Failure& failure) {
    if (failure.sentence().empty()) std::abort();
  }
}

void load(const disasm::CodeObject& object) {
  constexpr uint64_t kBase = 0x7f0000001000;
  std::vector<uint8_t> memory(object.image().size());
  object.load(memory, kBase);
  const disasm::LineTable lines(object.section(".debug_line"), object.section(".debug_line_str"),
                                object.section(".debug_str"));
  for (const disasm::Kernel& kernel : object.kernels()) {
    if (object.code(kernel).size() != kernel.code_bytes) std::abort();
    if (object.find_kernel(kernel.name) == nullptr) std::abort();
    (void)lines.find(kernel.entry);
    (void)lines.find(kernel.entry + kernel.code_bytes);
  }
  for (const disasm::Symbol& symbol : object.symbols()) {
    if (object.find_symbol(symbol.name) == nullptr) std::abort();
  }
  (void)object.text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  find_end(data, size);
  try {
    load(disasm::CodeObject::parse({data, size}));
  } catch (const disasm::CodeObjectError& error) {
    if (std::strlen(error.what()) == 0) std::abort();
  }
  return 0;
}
