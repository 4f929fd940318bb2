#include "disasm/code_object.hpp"

#include <algorithm>
#include <cstring>

#include "disasm/message_pack.hpp"

namespace radiance::disasm {
namespace {

// No kernel library comes near this; a corrupt header asking for more must not exhaust the machine.
constexpr uint64_t kMaxImageBytes = 256ull << 20;

constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view kCompressedMagic = "CCOB";

[[noreturn]] void fail(const std::string& what) { throw CodeObjectError("code object: " + what); }

std::span<const uint8_t> part(std::span<const uint8_t> bytes, uint64_t offset, uint64_t size,
                              const char* what) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    fail(std::string(what) + " lies outside the file");
  }
  return bytes.subspan(offset, size);
}

template <typename T>
T read(std::span<const uint8_t> bytes, uint64_t offset, const char* what) {
  T out;
  std::memcpy(&out, part(bytes, offset, sizeof(T), what).data(), sizeof(T));
  return out;
}

// The zero-ended string at `offset` of a string table.
std::string string_at(std::span<const uint8_t> table, uint64_t offset) {
  if (offset >= table.size()) fail("a name lies outside its string table");
  const auto* begin = reinterpret_cast<const char*>(table.data()) + offset;
  const size_t left = table.size() - offset;
  const size_t length = strnlen(begin, left);
  if (length == left) fail("a string table does not end in zero");
  return {begin, length};
}

std::string_view processor(std::string_view target) {
  target = target.substr(0, target.find(':'));
  const size_t dash = target.rfind('-');
  return dash == std::string_view::npos ? target : target.substr(dash + 1);
}

// EF_AMDGPU_MACH of the targets that can be mistaken for each other here.
struct Machine {
  uint32_t flag;
  std::string_view name;
};
constexpr Machine kMachines[] = {
    {0x30, "gfx908"},  {0x36, "gfx1030"}, {0x3f, "gfx90a"}, {0x41, "gfx1100"}, {0x46, "gfx1101"},
    {0x47, "gfx1102"}, {0x48, "gfx1200"}, {0x4c, "gfx942"}, {0x4e, "gfx1201"}, {0x4f, "gfx950"},
};

std::string machine_name(uint32_t flags) {
  for (const Machine& machine : kMachines) {
    if (machine.flag == (flags & 0xff)) return std::string(machine.name);
  }
  return "AMDGPU machine " + std::to_string(flags & 0xff);
}

// The entry of a bundle that is for `target`.
std::span<const uint8_t> unbundle(std::span<const uint8_t> file, std::string_view target) {
  const auto count = read<uint64_t>(file, kBundleMagic.size(), "the bundle's header");
  uint64_t at = kBundleMagic.size() + 8;
  std::string found;
  for (uint64_t i = 0; i < count; ++i) {
    const auto offset = read<uint64_t>(file, at, "a bundle entry");
    const auto size = read<uint64_t>(file, at + 8, "a bundle entry");
    const auto length = read<uint64_t>(file, at + 16, "a bundle entry");
    const auto triple = part(file, at + 24, length, "a bundle entry's name");
    at += 24 + length;
    const std::string name(reinterpret_cast<const char*>(triple.data()), triple.size());
    if (name.find("amdgcn") == std::string::npos) continue;
    if (processor(name) == target) return part(file, offset, size, "a bundled code object");
    found += (found.empty() ? "" : ", ") + std::string(processor(name));
  }
  throw WrongTargetError("code object: the bundle holds none for " + std::string(target) +
                         " (it holds: " + (found.empty() ? "no AMD GPU" : found) + ")");
}

}  // namespace

// Reads one ELF file; CodeObject's fields are filled in the order of the functions.
class CodeObjectReader {
 public:
  CodeObjectReader(std::span<const uint8_t> file, std::string_view target)
      : file_(file), wanted_(target) {}

  CodeObject read_all() {
    read_header();
    read_segments();
    read_sections();
    read_symbols();
    read_relocations();
    read_kernels();
    return std::move(out_);
  }

 private:
  struct SectionHeader {
    std::string name;
    uint32_t type;
    uint64_t flags, address, offset, size;
    uint32_t link;
    uint64_t entry_bytes;
  };

  static constexpr uint32_t kNoBits = 8, kSymtab = 2, kRela = 4, kRel = 9, kNote = 7, kDynsym = 11;
  static constexpr uint64_t kAlloc = 2, kExecutable = 4;

  void read_header() {
    if (file_.size() < 64 || std::memcmp(file_.data(), "\177ELF", 4) != 0) {
      fail("this is no ELF file");
    }
    if (file_[4] != 2 || file_[5] != 1) fail("not a 64-bit little-endian ELF file");
    if (const auto machine = read<uint16_t>(file_, 18, "the header"); machine != 224) {
      throw WrongTargetError("code object: ELF machine " + std::to_string(machine) +
                             " is not AMDGPU (224)");
    }
    if (read<uint16_t>(file_, 16, "the header") != 3) fail("not a linked (shared) object");
    const std::string machine = machine_name(read<uint32_t>(file_, 48, "the header"));
    if (machine != wanted_) {
      throw WrongTargetError("code object: compiled for " + machine + ", this is " +
                             std::string(wanted_));
    }
    out_.target_ = machine;
  }

  void read_segments() {
    const auto offset = read<uint64_t>(file_, 32, "the header");
    const auto size = read<uint16_t>(file_, 54, "the header");
    const auto count = read<uint16_t>(file_, 56, "the header");
    if (count && size != 56) fail("program headers of an unknown size");
    const auto table = part(file_, offset, uint64_t{size} * count, "the program header table");
    for (unsigned i = 0; i < count; ++i) {
      const auto header = table.subspan(i * 56ull, 56);
      if (read<uint32_t>(header, 0, "") != 1) continue;  // PT_LOAD
      const auto address = read<uint64_t>(header, 16, "");
      const auto file_bytes = read<uint64_t>(header, 32, "");
      const auto memory_bytes = read<uint64_t>(header, 40, "");
      if (file_bytes > memory_bytes || address > kMaxImageBytes ||
          memory_bytes > kMaxImageBytes - address) {
        fail("a segment's size or address is out of range");
      }
      const auto from = part(file_, read<uint64_t>(header, 8, ""), file_bytes, "a segment");
      if (out_.image_.size() < address + memory_bytes) out_.image_.resize(address + memory_bytes);
      std::copy(from.begin(), from.end(), out_.image_.begin() + static_cast<ptrdiff_t>(address));
    }
    if (out_.image_.empty()) fail("nothing to load");
  }

  void read_sections() {
    const auto offset = read<uint64_t>(file_, 40, "the header");
    const auto size = read<uint16_t>(file_, 58, "the header");
    const auto count = read<uint16_t>(file_, 60, "the header");
    const auto names = read<uint16_t>(file_, 62, "the header");
    if (count == 0 || size != 64) fail("no section headers");
    const auto table = part(file_, offset, uint64_t{size} * count, "the section header table");
    for (unsigned i = 0; i < count; ++i) {
      const auto header = table.subspan(i * 64ull, 64);
      SectionHeader section{};
      section.type = read<uint32_t>(header, 4, "");
      section.flags = read<uint64_t>(header, 8, "");
      section.address = read<uint64_t>(header, 16, "");
      section.offset = read<uint64_t>(header, 24, "");
      section.size = read<uint64_t>(header, 32, "");
      section.link = read<uint32_t>(header, 40, "");
      section.entry_bytes = read<uint64_t>(header, 56, "");
      headers_.push_back(std::move(section));
    }
    if (names >= count) fail("the section names are missing");
    const auto name_table = bytes_of(headers_[names]);
    for (unsigned i = 0; i < count; ++i) {
      SectionHeader& section = headers_[i];
      section.name = string_at(name_table, read<uint32_t>(table, i * 64ull, ""));
      if (section.flags & kAlloc) {
        if (section.address > out_.image_.size() ||
            section.size > out_.image_.size() - section.address) {
          fail("section " + section.name + " lies outside the loaded segments");
        }
        if (section.flags & kExecutable && section.name == ".text") {
          if (section.address % 4 || section.type == kNoBits) fail("misplaced code");
          out_.text_address_ = section.address;
          out_.text_bytes_ = section.size & ~uint64_t{3};
        }
      } else if (section.type != kNoBits &&
                 (section.name.starts_with(".debug") || section.name == ".comment")) {
        const auto bytes = bytes_of(section);
        out_.sections_.push_back({section.name, {bytes.begin(), bytes.end()}});
      }
    }
  }

  std::span<const uint8_t> bytes_of(const SectionHeader& section) const {
    if (section.type == kNoBits) return {};
    return part(file_, section.offset, section.size, "a section");
  }

  // The full symbol table names device functions too; a stripped file has only the dynamic one.
  void read_symbols() {
    const SectionHeader* table = nullptr;
    for (const SectionHeader& section : headers_) {
      if (section.type == kSymtab || (section.type == kDynsym && !table)) table = &section;
    }
    if (!table) return;
    out_.symbols_ = symbols_of(*table);
  }

  std::vector<Symbol> symbols_of(const SectionHeader& table) const {
    if (table.link >= headers_.size()) fail("a symbol table without its strings");
    const auto names = bytes_of(headers_[table.link]);
    const auto bytes = bytes_of(table);
    std::vector<Symbol> out;
    for (uint64_t at = 0; at + 24 <= bytes.size(); at += 24) {
      Symbol symbol;
      const auto kind = read<uint8_t>(bytes, at + 4, "a symbol") & 15;
      const auto index = read<uint16_t>(bytes, at + 6, "a symbol");
      symbol.name = string_at(names, read<uint32_t>(bytes, at, "a symbol"));
      symbol.address = read<uint64_t>(bytes, at + 8, "a symbol");
      symbol.size = read<uint64_t>(bytes, at + 16, "a symbol");
      if (kind == 2) symbol.kind = Symbol::Kind::kFunction;
      if (kind == 1) symbol.kind = Symbol::Kind::kObject;
      const bool defined = index != 0 && index != 0xfff1;  // neither undefined nor absolute
      if (defined && symbol.kind != Symbol::Kind::kOther &&
          (symbol.address > out_.image_.size() ||
           symbol.size > out_.image_.size() - symbol.address)) {
        fail("symbol " + symbol.name + " lies outside the loaded segments");
      }
      if (!defined) symbol.kind = Symbol::Kind::kOther;
      out.push_back(std::move(symbol));
    }
    return out;
  }

  void read_relocations() {
    for (const SectionHeader& section : headers_) {
      if (!(section.flags & kAlloc)) continue;
      if (section.type == kRel) fail("relocations without addends are not supported");
      if (section.type != kRela) continue;
      if (section.link >= headers_.size()) fail("relocations without their symbols");
      const std::vector<Symbol> symbols = symbols_of(headers_[section.link]);
      const auto bytes = bytes_of(section);
      for (uint64_t at = 0; at + 24 <= bytes.size(); at += 24) {
        CodeObject::Relocation relocation{};
        const auto info = read<uint64_t>(bytes, at + 8, "a relocation");
        relocation.address = read<uint64_t>(bytes, at, "a relocation");
        relocation.type = static_cast<uint32_t>(info);
        relocation.addend = read<int64_t>(bytes, at + 16, "a relocation");
        if (relocation.address > out_.image_.size() ||
            out_.image_.size() - relocation.address < 8) {
          fail("a relocation lies outside the loaded segments");
        }
        if (const uint64_t index = info >> 32; index != 0) {
          if (index >= symbols.size()) fail("a relocation names a symbol that is not there");
          if (symbols[index].kind == Symbol::Kind::kOther) {
            fail("undefined symbol " + symbols[index].name);
          }
          relocation.symbol_value = symbols[index].address;
        }
        if (relocation.type != kAbs64 && relocation.type != kRelative64 &&
            relocation.type != kAbs32Lo && relocation.type != kAbs32Hi) {
          fail("relocation type " + std::to_string(relocation.type) + " is not supported");
        }
        out_.relocations_.push_back(relocation);
      }
    }
  }

  void read_kernels() {
    for (const SectionHeader& section : headers_) {
      if (section.type == kNote) read_notes(bytes_of(section));
    }
    for (const Symbol& symbol : out_.symbols_) {
      if (symbol.kind != Symbol::Kind::kObject || !symbol.name.ends_with(".kd")) continue;
      if (symbol.size != 64) fail("kernel descriptor " + symbol.name + " is not 64 bytes");
      Kernel kernel;
      kernel.name = symbol.name.substr(0, symbol.name.size() - 3);
      read_descriptor(symbol.address, kernel);
      const MessagePackValue* entry = metadata_of(symbol.name);
      if (entry) read_metadata(*entry, kernel);
      out_.kernels_.push_back(std::move(kernel));
    }
  }

  void read_descriptor(uint64_t address, Kernel& kernel) {
    const auto bytes = part(out_.image_, address, 64, "a kernel descriptor");
    KernelDescriptor& d = kernel.descriptor;
    d.group_segment_bytes = read<uint32_t>(bytes, 0, "");
    d.private_segment_bytes = read<uint32_t>(bytes, 4, "");
    d.kernarg_bytes = read<uint32_t>(bytes, 8, "");
    d.entry_offset = read<int64_t>(bytes, 16, "");
    d.pgm_rsrc3 = read<uint32_t>(bytes, 44, "");
    d.pgm_rsrc1 = read<uint32_t>(bytes, 48, "");
    d.pgm_rsrc2 = read<uint32_t>(bytes, 52, "");
    d.code_properties = read<uint16_t>(bytes, 56, "");
    d.kernarg_preload = read<uint16_t>(bytes, 58, "");
    kernel.descriptor_address = address;
    kernel.entry = address + static_cast<uint64_t>(d.entry_offset);
    const uint64_t text_end = out_.text_address_ + out_.text_bytes_;
    if (kernel.entry < out_.text_address_ || kernel.entry >= text_end || kernel.entry % 4) {
      fail("the entry of kernel " + kernel.name + " lies outside the code");
    }
    kernel.code_bytes = text_end - kernel.entry;
    for (const Symbol& symbol : out_.symbols_) {
      if (symbol.kind == Symbol::Kind::kFunction && symbol.address == kernel.entry && symbol.size) {
        kernel.code_bytes = std::min(kernel.code_bytes, symbol.size);
      }
    }
  }

  void read_notes(std::span<const uint8_t> bytes) {
    while (bytes.size() >= 12) {
      const uint64_t name_bytes = (read<uint32_t>(bytes, 0, "") + 3ull) & ~3ull;
      const auto size = read<uint32_t>(bytes, 4, "");
      const auto type = read<uint32_t>(bytes, 8, "");
      const auto content = part(bytes, 12 + name_bytes, size, "a note");
      if (type == 32) {  // NT_AMDGPU_METADATA
        try {
          metadata_ = read_message_pack(content);
        } catch (const MessagePackError& error) {
          fail(error.what());
        }
      }
      bytes = bytes.subspan(
          std::min<uint64_t>(bytes.size(), 12 + name_bytes + ((size + 3ull) & ~3ull)));
    }
  }

  const MessagePackValue* metadata_of(std::string_view symbol) const {
    const MessagePackValue* kernels = metadata_.find("amdhsa.kernels");
    if (!kernels || !kernels->array()) return nullptr;
    for (const MessagePackValue& kernel : *kernels->array()) {
      if (kernel.text(".symbol") == symbol) return &kernel;
    }
    return nullptr;
  }

  static void read_metadata(const MessagePackValue& entry, Kernel& kernel) {
    const auto number = [&](const MessagePackValue& at, const char* key, uint32_t otherwise) {
      const uint64_t value = at.number(key, otherwise);
      if (value > UINT32_MAX) fail(std::string("metadata field ") + key + " is out of range");
      return static_cast<uint32_t>(value);
    };
    kernel.vgprs = number(entry, ".vgpr_count", 0);
    kernel.sgprs = number(entry, ".sgpr_count", 0);
    kernel.vgpr_spills = number(entry, ".vgpr_spill_count", 0);
    kernel.sgpr_spills = number(entry, ".sgpr_spill_count", 0);
    kernel.max_workgroup_size = number(entry, ".max_flat_workgroup_size", 1024);
    kernel.descriptor.kernarg_bytes =
        std::max(kernel.descriptor.kernarg_bytes, number(entry, ".kernarg_segment_size", 0));
    if (const MessagePackValue* size = entry.find(".reqd_workgroup_size"); size && size->array()) {
      for (size_t i = 0; i < 3 && i < size->array()->size(); ++i) {
        const auto* value = std::get_if<uint64_t>(&(*size->array())[i].value);
        if (value && *value <= 1024) {
          kernel.required_workgroup_size[i] = static_cast<uint32_t>(*value);
        }
      }
    }
    const MessagePackValue* arguments = entry.find(".args");
    if (!arguments || !arguments->array()) return;
    for (const MessagePackValue& argument : *arguments->array()) {
      KernelArgument a;
      a.offset = number(argument, ".offset", 0);
      a.size = number(argument, ".size", 0);
      a.kind = argument.text(".value_kind");
      a.name = argument.text(".name");
      if (uint64_t{a.offset} + a.size > kernel.descriptor.kernarg_bytes) {
        fail("an argument of kernel " + kernel.name + " lies outside its kernarg segment");
      }
      kernel.arguments.push_back(std::move(a));
    }
  }

 public:
  static constexpr uint32_t kAbs32Lo = 1, kAbs32Hi = 2, kAbs64 = 3, kRelative64 = 13;

 private:
  std::span<const uint8_t> file_;
  std::string_view wanted_;
  std::vector<SectionHeader> headers_;
  MessagePackValue metadata_;
  CodeObject out_;
};

CodeObject CodeObject::parse(std::span<const uint8_t> file, std::string_view target) {
  const auto starts = [&](std::string_view magic) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
  };
  target = processor(target);
  if (starts(kCompressedMagic)) fail("compressed offload bundles are not supported");
  if (starts(kBundleMagic)) file = unbundle(file, target);
  return CodeObjectReader(file, target).read_all();
}

const Kernel* CodeObject::find_kernel(std::string_view name) const {
  const auto at = std::ranges::find(kernels_, name, &Kernel::name);
  return at == kernels_.end() ? nullptr : &*at;
}

const Symbol* CodeObject::find_symbol(std::string_view name) const {
  const auto at = std::ranges::find(symbols_, name, &Symbol::name);
  return at == symbols_.end() ? nullptr : &*at;
}

void CodeObject::load(std::span<uint8_t> memory, uint64_t base) const {
  if (memory.size() < image_.size()) fail("too little memory to load into");
  std::copy(image_.begin(), image_.end(), memory.begin());
  for (const Relocation& relocation : relocations_) {
    uint8_t* at = memory.data() + relocation.address;
    const uint64_t value =
        base + relocation.symbol_value + static_cast<uint64_t>(relocation.addend);
    if (relocation.type == CodeObjectReader::kAbs32Lo ||
        relocation.type == CodeObjectReader::kAbs32Hi) {
      const auto half = static_cast<uint32_t>(
          relocation.type == CodeObjectReader::kAbs32Hi ? value >> 32 : value);
      std::memcpy(at, &half, sizeof half);
    } else {
      std::memcpy(at, &value, sizeof value);
    }
  }
}

std::span<const uint8_t> CodeObject::section(std::string_view name) const {
  const auto at = std::ranges::find(sections_, name, &Section::name);
  return at == sections_.end() ? std::span<const uint8_t>() : std::span(at->bytes);
}

}  // namespace radiance::disasm
