// LLVM's text of one instruction to an Instruction.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>

#include "emulator/instruction.hpp"

namespace radiance::emulator {

// Constants broadcast to all lanes, one copy a value.
class ConstantPool {
 public:
  // lanes[0] and lanes[1]: the low and the high dword.
  const Lanes* broadcast(uint64_t value);

 private:
  struct Pair {
    Lanes lanes[2];
  };
  std::map<uint64_t, Pair> pairs_;  // nodes stay where they are
};

// Fills everything but address, bytes, text and branch targets. An instruction that is not
// supported gets a handler that stops the launch with its name (and opcode = nullptr). `halves`
// receives the two halves of a VOPD instruction, which the result points to.
void decode_text(std::string_view text, Instruction& out, ConstantPool& pool,
                 std::deque<Instruction>& halves);

}  // namespace radiance::emulator
