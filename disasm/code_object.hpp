// AMD GPU code objects: the ELF files that a HIP module is loaded from, alone or in a clang offload
// bundle.
//
// The input is untrusted: offsets, sizes, strings and alignments are checked before use, and what
// is wrong is said in one sentence (CodeObjectError). Layout: LLVM's "User Guide for AMDGPU
// Backend".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace radiance::disasm {

class CodeObjectError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The file is sound but holds nothing for the asked target.
class WrongTargetError : public CodeObjectError {
 public:
  using CodeObjectError::CodeObjectError;
};

// The 64 bytes of a `NAME.kd` symbol.
struct KernelDescriptor {
  uint32_t group_segment_bytes = 0;    // static LDS
  uint32_t private_segment_bytes = 0;  // scratch a lane
  uint32_t kernarg_bytes = 0;
  int64_t entry_offset = 0;  // from the descriptor to the first instruction
  uint32_t pgm_rsrc1 = 0;
  uint32_t pgm_rsrc2 = 0;
  uint32_t pgm_rsrc3 = 0;
  uint16_t code_properties = 0;
  uint16_t kernarg_preload = 0;

  unsigned user_sgprs() const { return pgm_rsrc2 >> 1 & 31; }
  bool has_private_segment() const { return pgm_rsrc2 & 1; }
  bool workgroup_id(int axis) const { return pgm_rsrc2 >> (7 + axis) & 1; }
  unsigned workitem_id_axes() const { return pgm_rsrc2 >> 11 & 3; }  // 0: x, 1: x y, 2: x y z
  unsigned float_mode() const { return pgm_rsrc1 >> 12 & 255; }      // MODE bits 0..7
  bool wave32() const { return code_properties >> 10 & 1; }
  bool dynamic_stack() const { return code_properties >> 11 & 1; }
  // User SGPRs in their order; each is present where its bit is set.
  bool dispatch_ptr() const { return code_properties >> 1 & 1; }
  bool queue_ptr() const { return code_properties >> 2 & 1; }
  bool kernarg_segment_ptr() const { return code_properties >> 3 & 1; }
  bool dispatch_id() const { return code_properties >> 4 & 1; }
  bool private_segment_size() const { return code_properties >> 6 & 1; }
};

struct KernelArgument {
  uint32_t offset = 0;
  uint32_t size = 0;
  std::string kind;  // "by_value", "global_buffer", "hidden_block_count_x", ...
  std::string name;
};

struct Kernel {
  std::string name;
  uint64_t descriptor_address = 0;
  uint64_t entry = 0;       // address of the first instruction
  uint64_t code_bytes = 0;  // size of the function's symbol, or up to the end of its section
  KernelDescriptor descriptor;
  // From the metadata note; zero where it does not say.
  uint32_t vgprs = 0;
  uint32_t sgprs = 0;
  uint32_t vgpr_spills = 0;
  uint32_t sgpr_spills = 0;
  uint32_t max_workgroup_size = 1024;
  std::array<uint32_t, 3> required_workgroup_size{};  // zero: any
  std::vector<KernelArgument> arguments;
};

struct Symbol {
  enum class Kind : uint8_t { kFunction, kObject, kOther };
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  Kind kind = Kind::kOther;
};

class CodeObject {
 public:
  // `file` is an ELF code object or a bundle that holds one for `target`. Targets compare up to the
  // first
  // ':' (features such as xnack do not matter here). Throws CodeObjectError.
  static CodeObject parse(std::span<const uint8_t> file, std::string_view target = "gfx1201");

  const std::string& target() const { return target_; }
  const std::vector<Kernel>& kernels() const { return kernels_; }
  const Kernel* find_kernel(std::string_view name) const;
  const std::vector<Symbol>& symbols() const { return symbols_; }
  const Symbol* find_symbol(std::string_view name) const;

  // The loaded image at address 0, before relocation: segments in place, the rest zero.
  std::span<const uint8_t> image() const { return image_; }
  // Writes the image into `memory` (at least image().size() bytes) and applies the relocations as
  // if it stood at address `base`.
  void load(std::span<uint8_t> memory, uint64_t base) const;

  // The executable section as an address range of the image.
  uint64_t text_address() const { return text_address_; }
  uint64_t text_bytes() const { return text_bytes_; }
  std::span<const uint8_t> text() const {
    return std::span(image_).subspan(text_address_, text_bytes_);
  }
  // The machine code of a kernel, from the image.
  std::span<const uint8_t> code(const Kernel& kernel) const {
    return std::span(image_).subspan(kernel.entry, kernel.code_bytes);
  }

  // The bytes of a section that may not be loaded: .debug* and .comment; empty where there is none.
  std::span<const uint8_t> section(std::string_view name) const;

 private:
  struct Relocation {
    uint64_t address;
    uint32_t type;
    int64_t addend;
    uint64_t symbol_value;
  };
  friend class CodeObjectReader;

  struct Section {
    std::string name;
    std::vector<uint8_t> bytes;
  };

  std::string target_;
  std::vector<uint8_t> image_;
  uint64_t text_address_ = 0;
  uint64_t text_bytes_ = 0;
  std::vector<Kernel> kernels_;
  std::vector<Symbol> symbols_;
  std::vector<Relocation> relocations_;
  std::vector<Section> sections_;
};

}  // namespace radiance::disasm
