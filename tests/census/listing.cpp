#include "tests/census/listing.hpp"

#include <map>
#include <sstream>
#include <stdexcept>

namespace radiance::census::test {

std::vector<Instruction> listing(const std::string& text) {
  constexpr uint64_t kStart = 0x1000;
  constexpr uint32_t kSize = 8;
  std::vector<Line> lines;
  std::map<std::string, uint64_t> labels;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    line = line.substr(0, line.find(';'));
    const size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos) continue;
    line = line.substr(first, line.find_last_not_of(' ') + 1 - first);
    const uint64_t address = kStart + kSize * lines.size();
    if (line.back() == ':') {
      labels[line.substr(0, line.size() - 1)] = address;
    } else {
      lines.push_back({address, kSize, line});
    }
  }
  std::vector<Instruction> instructions;
  for (Line& line : lines) {
    if (line.text.starts_with("s_branch ") || line.text.starts_with("s_cbranch_")) {
      const size_t space = line.text.find(' ');
      const auto label = labels.find(line.text.substr(space + 1));
      if (label == labels.end()) throw std::runtime_error("no label for " + line.text);
      const auto words = static_cast<int64_t>(label->second - line.address - line.size) / 4;
      // As objdump prints it: the 16 bits without a sign.
      line.text = line.text.substr(0, space + 1) + std::to_string(words & 0xffff);
    }
    instructions.push_back(parse_instruction(line));
  }
  return instructions;
}

}  // namespace radiance::census::test
