// The emulator's interface: load code objects, launch kernels. The HIP runtime library and the
// tests use it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "disasm/code_object.hpp"
#include "emulator/counters.hpp"
#include "emulator/memory.hpp"

namespace radiance::emulator {

class Program;

using Dim3 = std::array<uint32_t, 3>;

// A loaded code object: its image in Memory, its code decoded when a kernel is first launched.
class Module {
 public:
  // Throws disasm::CodeObjectError (WrongTargetError for another target), std::bad_alloc.
  Module(Memory& memory, std::span<const uint8_t> file);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Null where there is none of that name. Valid as long as the module.
  const disasm::Kernel* find_kernel(std::string_view name) const;
  // Device address and size of a variable (hipModuleGetGlobal).
  std::optional<std::pair<void*, size_t>> find_global(std::string_view name) const;

  // "file.hip:42" of a loaded instruction, empty where the file has no line table.
  std::string source_line(uint64_t address) const;

  const disasm::CodeObject& code() const { return code_; }
  uint64_t base() const { return base_; }
  // The decoded code; a launch makes it on first use, once, for all threads.
  const Program& program() const;

 private:
  Memory& memory_;
  disasm::CodeObject code_;
  uint64_t base_ = 0;
  struct Decoded;
  std::unique_ptr<Decoded> decoded_;
};

// An instruction that is executed as s_nop: to see whether a check notices that it is missing.
struct Omission {
  std::string kernel;
  uint64_t offset = 0;  // bytes from the kernel's first instruction
};

struct LaunchOptions {
  unsigned threads = 0;  // 0: as many as the host has
  bool strict = false;
  // Runs workgroups in a random order and interleaves the waves of each at random points; the same
  // seed gives the same interleaving within a workgroup. Without: in order, each wave up to its
  // next barrier.
  std::optional<uint64_t> seed;
  // Instructions that one wave may execute before the launch stops as an endless loop.
  uint64_t instruction_budget = 4'000'000'000;
  std::optional<Omission> omit;
  // The matrix unit takes subnormal 8-bit floats for zeros, as others do: to run what a kernel's
  // host code does on such a device.
  bool flush_fp8 = false;
};

enum class LaunchStatus : uint8_t {
  kDone,
  kBadConfiguration,  // refused before running: grid, block, LDS or kernarg
  kFault,             // stopped while running
};

struct LaunchResult {
  LaunchStatus status = LaunchStatus::kDone;
  std::string error;  // one sentence; empty where done
  Counters counters;
  bool ok() const { return status == LaunchStatus::kDone; }
};

// Runs a kernel to its end, or to its first fault.
//
// grid: workgroups, block: work items a workgroup. kernarg holds the explicit arguments (as a HIP
// kernarg buffer lays them out); fewer bytes than these is an error, hidden arguments beyond them
// are filled in from grid and block where the caller's buffer does not reach.
LaunchResult launch(Memory& memory, const Module& module, const disasm::Kernel& kernel, Dim3 grid,
                    Dim3 block, uint32_t dynamic_lds_bytes, std::span<const uint8_t> kernarg,
                    const LaunchOptions& options = {});

// A table of all supported opcodes by family, for people.
std::string supported_matrix();

// What is missing on this host to run the emulator (a sentence), or empty.
std::string missing_on_this_host();

}  // namespace radiance::emulator
