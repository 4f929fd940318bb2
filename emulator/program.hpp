// The decoded code of one code object.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "disasm/disassembler.hpp"
#include "emulator/decode.hpp"
#include "emulator/instruction.hpp"

namespace radiance::emulator {

// What happens behind the last decoded instruction of a function.
enum class PastEnd : uint8_t {
  kStops,  // the launch stops: code ran off its end
  kEnds,   // the wave ends, as by s_endpgm: straight runs of instructions in tests
};

class Program {
 public:
  // `code` stands at `address` and must outlive the program. `starts` are addresses at which
  // functions begin; code is decoded function by function when it is first asked for.
  Program(std::span<const uint8_t> code, uint64_t address, std::vector<uint64_t> starts,
          PastEnd past_end = PastEnd::kStops);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // The instruction at `address`, or null where none begins there. Safe from several threads.
  const Instruction* find(uint64_t address) const;

 private:
  struct Function {
    uint64_t begin = 0;
    uint64_t end = 0;
    std::vector<Instruction> instructions;  // in order, a sentinel last
    std::vector<uint32_t> index;            // by dword: 1 + the instruction's index, 0 inside one
  };
  std::unique_ptr<Function> decode(uint64_t begin, uint64_t end) const;

  std::span<const uint8_t> code_;
  uint64_t address_;
  std::vector<uint64_t> starts_;
  PastEnd past_end_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Function>> functions_;  // by the index of their start
  mutable std::unique_ptr<disasm::Disassembler> disassembler_;
  mutable ConstantPool pool_;
  mutable std::deque<Instruction> halves_;
  mutable std::deque<std::string> texts_;
};

}  // namespace radiance::emulator
