#include "disasm/disassembler.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace radiance::disasm {
namespace {

// LLVM's C interface (llvm-c/Disassembler.h, llvm-c/Target.h), written out: building needs no LLVM
// headers.
struct Llvm {
  void (*initialize_target_info)();
  void (*initialize_target_mc)();
  void (*initialize_disassembler)();
  void* (*create)(const char* triple, const char* cpu, const char* features, void* user, int tag,
                  void* operand_info, void* symbol_lookup);
  size_t (*instruction)(void* context, uint8_t* bytes, uint64_t size, uint64_t pc, char* text,
                        size_t text_size);
  void (*dispose)(void* context);
};

template <typename F>
void load(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  if (!function) throw DisassemblerMissing(std::string("LLVM's library has no function ") + name);
}

Llvm load_llvm() {
  const char* named = std::getenv("RADIANCE_LLVM");
  constexpr const char* kNames[] = {"libLLVM.so.22.1", "libLLVM-22.so", "libLLVM.so.23.1",
                                    "libLLVM.so"};
  void* library = nullptr;
  if (named) {
    library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
  } else {
    for (const char* name : kNames) {
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library) break;
    }
  }
  if (!library) {
    throw DisassemblerMissing(std::string("cannot load LLVM's library (looked for ") +
                              (named ? named : "libLLVM.so.22.1; install libllvm22") + ")");
  }
  Llvm llvm{};
  load(library, "LLVMInitializeAMDGPUTargetInfo", llvm.initialize_target_info);
  load(library, "LLVMInitializeAMDGPUTargetMC", llvm.initialize_target_mc);
  load(library, "LLVMInitializeAMDGPUDisassembler", llvm.initialize_disassembler);
  load(library, "LLVMCreateDisasmCPUFeatures", llvm.create);
  load(library, "LLVMDisasmInstruction", llvm.instruction);
  load(library, "LLVMDisasmDispose", llvm.dispose);
  llvm.initialize_target_info();
  llvm.initialize_target_mc();
  llvm.initialize_disassembler();
  return llvm;
}

const Llvm& llvm() {
  static const Llvm functions = load_llvm();
  return functions;
}

// Tabs and runs of blanks become one blank; none at either end.
std::string squeeze(const char* text) {
  std::string out;
  for (const char* c = text; *c; ++c) {
    if (!std::isspace(static_cast<unsigned char>(*c))) {
      out += *c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

}  // namespace

Disassembler::Disassembler(const std::string& cpu, const std::string& features)
    : dispose_(llvm().dispose) {
  const std::string all =
      features.empty() ? std::string("+real-true16") : features + ",+real-true16";
  context_ =
      llvm().create("amdgcn-amd-amdhsa", cpu.c_str(), all.c_str(), nullptr, 0, nullptr, nullptr);
  if (!context_) throw DisassemblerMissing("this LLVM has no AMDGPU target for \"" + cpu + "\"");
}

Disassembler::~Disassembler() { dispose_(context_); }

std::optional<Disassembler::Line> Disassembler::decode(std::span<const uint8_t> bytes,
                                                       uint64_t address) {
  // The longest instruction and more, padded: LLVM 22 crashes where a literal lies behind the end.
  uint8_t padded[32] = {};
  std::copy_n(bytes.begin(), std::min(bytes.size(), sizeof padded), padded);
  char text[512];
  const size_t size =
      llvm().instruction(context_, padded, sizeof padded, address, text, sizeof text);
  if (size == 0 || size > bytes.size()) return std::nullopt;
  return Line{address, static_cast<uint32_t>(size), squeeze(text)};
}

}  // namespace radiance::disasm
