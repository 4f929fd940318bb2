// Hand-written assembly as the disassembler would print it.
#pragma once

#include <string>
#include <vector>

#include "census/instruction.hpp"

namespace radiance::census::test {

// One instruction or "label:" a line; a branch names a label. Empty lines and what follows a ';'
// are skipped. Every instruction takes 8 bytes from address 0x1000 on.
std::vector<Instruction> listing(const std::string& text);

}  // namespace radiance::census::test
