// Disassembly of AMD GPU machine code by LLVM's MC layer.
//
// LLVM is loaded at run time through the C interface that is stable across releases, so nothing
// that uses this library links LLVM. The result is assembly text; the emulator parses it into
// operands and the census classifies it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace radiance::disasm {

// No usable LLVM on this machine; the message says what was looked for.
class DisassemblerMissing : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Not for use by two threads at once; construct one each (LLVM's own state is shared safely).
class Disassembler {
 public:
  struct Line {
    uint64_t address;
    uint32_t size;  // bytes
    std::string
        text;  // one instruction, fields separated by single spaces: "v_add_f32_e32 v1, v2, v3"
  };

  // Throws DisassemblerMissing. The environment variable RADIANCE_LLVM names another library file.
  // Instructions with 16-bit operands print register halves (v0.l, v0.h), whatever the features.
  explicit Disassembler(const std::string& cpu = "gfx1201", const std::string& features = "");
  ~Disassembler();
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;

  // The instruction at the first byte, or nothing where LLVM knows none. `address` is where the
  // bytes lie.
  std::optional<Line> decode(std::span<const uint8_t> bytes, uint64_t address);

 private:
  void* context_;
  void (*dispose_)(void*);
};

}  // namespace radiance::disasm
