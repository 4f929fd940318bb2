#include "disasm/line_table.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace radiance::disasm {
namespace {

// Bytes in order; throws std::out_of_range at their end.
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::span<const uint8_t> take(uint64_t size) {
    if (size > bytes_.size()) throw std::out_of_range("line table");
    const auto out = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return out;
  }
  template <typename T>
  T value() {
    T out;
    std::memcpy(&out, take(sizeof(T)).data(), sizeof(T));
    return out;
  }
  uint64_t uleb() {
    uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = value<uint8_t>();
      if (shift < 64) out |= static_cast<uint64_t>(byte & 127) << shift;
      if (!(byte & 128)) return out;
    }
  }
  int64_t sleb() {
    uint64_t out = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = value<uint8_t>();
      if (shift < 64) out |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte & 128) continue;
      if (byte & 64 && shift + 7 < 64) out |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(out);
    }
  }
  std::string string() {
    const auto* begin = reinterpret_cast<const char*>(bytes_.data());
    const size_t length = strnlen(begin, bytes_.size());
    take(length + 1);
    return {begin, length};
  }

 private:
  std::span<const uint8_t> bytes_;
};

std::string string_at(std::span<const uint8_t> section, uint64_t offset) {
  if (offset >= section.size()) throw std::out_of_range("line table");
  return Reader(section.subspan(offset)).string();
}

// DW_LNCT_path; DW_FORM_*
constexpr uint64_t kPath = 1;
enum Form : uint64_t {
  kUdata = 0x0f,
  kData1 = 0x0b,
  kData2 = 0x05,
  kData4 = 0x06,
  kData8 = 0x07,
  kData16 = 0x1e,
  kString = 0x08,
  kStrp = 0x0e,
  kLineStrp = 0x1f,
};

}  // namespace

// One unit's header and line-number program (DWARF 5, section 6.2).
class LineProgram {
 public:
  LineProgram(LineTable& table, Reader unit, std::span<const uint8_t> line_strings,
              std::span<const uint8_t> strings)
      : table_(table), unit_(unit), line_strings_(line_strings), strings_(strings) {}

  void run() {
    if (unit_.value<uint16_t>() != 5) return;
    unit_.take(2);  // sizes of an address and of a segment selector
    Reader header(unit_.take(unit_.value<uint32_t>()));
    minimum_length_ = header.value<uint8_t>();
    header.take(2);  // operations an instruction, default is_stmt
    line_base_ = static_cast<int>(header.value<uint8_t>() ^ 0x80) - 0x80;  // signed
    line_range_ = header.value<uint8_t>();
    opcode_base_ = header.value<uint8_t>();
    if (line_range_ == 0 || opcode_base_ == 0) return;
    for (int i = 1; i < opcode_base_; ++i) operands_.push_back(header.value<uint8_t>());
    read_names(header);  // directories: only the names of files are shown
    first_file_ = static_cast<uint32_t>(table_.files_.size());
    for (std::string& name : read_names(header)) {
      table_.files_.push_back(name.substr(name.rfind('/') + 1));
    }
    while (!unit_.empty()) step();
  }

 private:
  std::vector<std::string> read_names(Reader& header) {
    const auto formats = header.value<uint8_t>();
    std::vector<std::pair<uint64_t, uint64_t>> fields;
    for (int i = 0; i < formats; ++i) {
      const uint64_t content = header.uleb();
      fields.emplace_back(content, header.uleb());
    }
    const uint64_t count = header.uleb();
    std::vector<std::string> names;
    if (fields.empty()) return names;
    for (uint64_t i = 0; i < count; ++i) {
      std::string name;
      for (const auto& [content, form] : fields) {
        const std::string text = read_form(header, form);
        if (content == kPath) name = text;
      }
      names.push_back(std::move(name));
    }
    return names;
  }

  std::string read_form(Reader& header, uint64_t form) const {
    switch (form) {
      case kString:
        return header.string();
      case kLineStrp:
        return string_at(line_strings_, header.value<uint32_t>());
      case kStrp:
        return string_at(strings_, header.value<uint32_t>());
      case kUdata:
        header.uleb();
        return {};
      case kData1:
        header.take(1);
        return {};
      case kData2:
        header.take(2);
        return {};
      case kData4:
        header.take(4);
        return {};
      case kData8:
        header.take(8);
        return {};
      case kData16:
        header.take(16);
        return {};
      default:
        throw std::out_of_range("line table");
    }
  }

  void step() {
    const auto opcode = unit_.value<uint8_t>();
    if (opcode >= opcode_base_) {
      const int adjusted = opcode - opcode_base_;
      address_ += static_cast<uint64_t>(adjusted / line_range_) * minimum_length_;
      line_ += static_cast<uint32_t>(line_base_ + adjusted % line_range_);
      emit(first_file_ + file_);
      return;
    }
    switch (opcode) {
      case 0:
        extended();
        return;
      case 1:
        emit(first_file_ + file_);
        return;
      case 2:
        address_ += unit_.uleb() * minimum_length_;
        return;
      case 3:
        line_ += static_cast<uint32_t>(unit_.sleb());
        return;
      case 4:
        file_ = static_cast<uint32_t>(unit_.uleb());
        return;
      case 8:  // DW_LNS_const_add_pc
        address_ += static_cast<uint64_t>((255 - opcode_base_) / line_range_) * minimum_length_;
        return;
      case 9:
        address_ += unit_.value<uint16_t>();
        return;
      default:
        for (int i = 0; i < operands_[opcode - 1u]; ++i) unit_.uleb();
        return;
    }
  }

  void extended() {
    Reader body(unit_.take(unit_.uleb()));
    const auto opcode = body.value<uint8_t>();
    if (opcode == 1) {  // DW_LNE_end_sequence
      emit(LineTable::kEnd);
      address_ = 0;
      file_ = 1;
      line_ = 1;
    } else if (opcode == 2) {  // DW_LNE_set_address
      address_ = body.value<uint64_t>();
    }
  }

  void emit(uint32_t file) { table_.rows_.push_back({address_, file, line_}); }

  LineTable& table_;
  Reader unit_;
  std::span<const uint8_t> line_strings_;
  std::span<const uint8_t> strings_;
  std::vector<uint8_t> operands_;
  uint8_t minimum_length_ = 1;
  int line_base_ = 0;
  int line_range_ = 1;
  int opcode_base_ = 1;
  uint32_t first_file_ = 0;
  uint64_t address_ = 0;
  uint32_t file_ = 1;
  uint32_t line_ = 1;
};

LineTable::LineTable(std::span<const uint8_t> debug_line, std::span<const uint8_t> debug_line_str,
                     std::span<const uint8_t> debug_str) {
  try {
    Reader section(debug_line);
    while (!section.empty()) {
      const auto bytes = section.take(section.value<uint32_t>());
      LineProgram(*this, Reader(bytes), debug_line_str, debug_str).run();
    }
  } catch (const std::out_of_range&) {
    // Lines are a convenience of messages: a damaged table must not keep a code object from
    // loading.
    rows_.clear();
  }
  // Where one function ends and the next begins, the beginning counts.
  std::ranges::stable_sort(rows_, {},
                           [](const Row& row) { return std::pair(row.address, row.file != kEnd); });
}

std::string LineTable::find(uint64_t address) const {
  auto after = std::ranges::upper_bound(rows_, address, {}, &Row::address);
  if (after == rows_.begin()) return {};
  const Row& row = *std::prev(after);
  if (row.file == kEnd || row.file >= files_.size() || row.line == 0) return {};
  return files_[row.file] + ":" + std::to_string(row.line);
}

}  // namespace radiance::disasm
