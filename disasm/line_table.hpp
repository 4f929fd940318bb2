// Source lines of addresses, from a code object's DWARF 5 .debug_line section. What the section
// holds is untrusted; a table that does not make sense is taken as no table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace radiance::disasm {

class LineTable {
 public:
  LineTable() = default;
  // The sections' bytes; .debug_line_str and .debug_str hold the file names.
  LineTable(std::span<const uint8_t> debug_line, std::span<const uint8_t> debug_line_str,
            std::span<const uint8_t> debug_str);

  // "file.hip:42", or empty.
  std::string find(uint64_t address) const;

 private:
  struct Row {
    uint64_t address;
    uint32_t file;  // into files_; kEnd behind the last instruction of a sequence
    uint32_t line;
  };
  static constexpr uint32_t kEnd = UINT32_MAX;
  friend class LineProgram;

  std::vector<std::string> files_;
  std::vector<Row> rows_;  // by address
};

}  // namespace radiance::disasm
