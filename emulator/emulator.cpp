#include "emulator/emulator.hpp"

#include <fmt/format.h>

#include <mutex>
#include <new>

#include "disasm/line_table.hpp"
#include "emulator/program.hpp"

namespace radiance::emulator {

struct Module::Decoded {
  explicit Decoded(std::span<const uint8_t> code, uint64_t address, std::vector<uint64_t> starts)
      : program(code, address, std::move(starts)) {}
  Program program;
  // Made when the first fault asks for a line.
  std::once_flag lines_made;
  disasm::LineTable lines;
};

Module::Module(Memory& memory, std::span<const uint8_t> file)
    : memory_(memory), code_(disasm::CodeObject::parse(file)) {
  const size_t bytes = code_.image().size();
  auto* image = static_cast<uint8_t*>(memory_.allocate(bytes, 0));
  if (!image) throw std::bad_alloc();
  base_ = reinterpret_cast<uint64_t>(image);
  try {
    code_.load({image, bytes}, base_);
    std::vector<uint64_t> starts;
    for (const disasm::Symbol& symbol : code_.symbols()) {
      if (symbol.kind == disasm::Symbol::Kind::kFunction) starts.push_back(base_ + symbol.address);
    }
    for (const disasm::Kernel& kernel : code_.kernels()) starts.push_back(base_ + kernel.entry);
    decoded_ = std::make_unique<Decoded>(
        std::span<const uint8_t>(image + code_.text_address(), code_.text_bytes()),
        base_ + code_.text_address(), std::move(starts));
  } catch (...) {
    memory_.free(image);
    throw;
  }
}

Module::~Module() { memory_.free(reinterpret_cast<void*>(base_)); }

const disasm::Kernel* Module::find_kernel(std::string_view name) const {
  return code_.find_kernel(name);
}

std::optional<std::pair<void*, size_t>> Module::find_global(std::string_view name) const {
  const disasm::Symbol* symbol = code_.find_symbol(name);
  if (!symbol || symbol->kind != disasm::Symbol::Kind::kObject) return std::nullopt;
  return std::pair(reinterpret_cast<void*>(base_ + symbol->address),
                   static_cast<size_t>(symbol->size));
}

std::string Module::source_line(uint64_t address) const {
  std::call_once(decoded_->lines_made, [this] {
    decoded_->lines =
        disasm::LineTable(code_.section(".debug_line"), code_.section(".debug_line_str"),
                          code_.section(".debug_str"));
  });
  return decoded_->lines.find(address - base_);
}

const Program& Module::program() const { return decoded_->program; }

std::string missing_on_this_host() {
#ifdef __AVX2__
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    return "this build of the emulator needs a processor with AVX2 and FMA";
  }
#endif
  return {};
}

}  // namespace radiance::emulator
