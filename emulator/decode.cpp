#include "emulator/decode.hpp"

#include <bit>
#include <charconv>
#include <optional>
#include <vector>

#include "emulator/dpp.hpp"
#include "emulator/dual.hpp"
#include "emulator/handlers.hpp"
#include "emulator/registers.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {
namespace {

// Why an instruction cannot be executed; found while parsing.
struct Unsupported {
  std::string reason;
};

void stop_unsupported(const Instruction& in, Wave&) {
  fault("the instruction \"" + std::string(in.text) + "\" is not implemented");
}

bool starts_with_letters(std::string_view text) {
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '|');
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0)) {
      std::string_view part = text.substr(begin, i - begin);
      while (part.starts_with(' ')) part.remove_prefix(1);
      while (part.ends_with(' ')) part.remove_suffix(1);
      if (!part.empty()) parts.push_back(part);
      begin = i + 1;
    } else if (text[i] == '[' || text[i] == '(') {
      ++depth;
    } else if (text[i] == ']' || text[i] == ')') {
      --depth;
    }
  }
  return parts;
}

std::optional<int64_t> parse_integer(std::string_view text) {
  bool negative = false;
  if (text.starts_with('-')) {
    negative = true;
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - value : value);
}

int64_t integer(std::string_view text) {
  const auto value = parse_integer(text);
  if (!value) throw Unsupported{"cannot read \"" + std::string(text) + "\""};
  return *value;
}

// --- Constants
// ---------------------------------------------------------------------------------------

struct FloatConstant {
  std::string_view prefix;  // 1 / (2 pi) is printed with as many digits as its type needs
  double value;
  uint16_t f16;
  uint16_t bf16;
  uint32_t f32;
  uint64_t f64;
};
constexpr FloatConstant kFloats[] = {
    {"0.5", 0.5, 0x3800, 0x3f00, 0x3f000000, 0x3fe0000000000000},
    {"1.0", 1.0, 0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000},
    {"2.0", 2.0, 0x4000, 0x4000, 0x40000000, 0x4000000000000000},
    {"4.0", 4.0, 0x4400, 0x4080, 0x40800000, 0x4010000000000000},
    {"0.15", 0.15915494309189532, 0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882},
    {"0.0", 0.0, 0, 0, 0, 0},
};

// The constant's bits in the type its opcode asks for.
std::optional<uint64_t> parse_constant(std::string_view text, ConstantType type) {
  bool literal = false;
  for (const std::string_view wrapper : {"lit(", "lit64("}) {
    if (text.starts_with(wrapper) && text.ends_with(')')) {
      text = text.substr(wrapper.size(), text.size() - wrapper.size() - 1);
      literal = true;
    }
  }
  const bool negative = text.starts_with('-');
  const std::string_view magnitude = negative ? text.substr(1) : text;
  if (magnitude.find('.') != std::string_view::npos && !magnitude.starts_with("0x")) {
    for (const FloatConstant& f : kFloats) {
      if (!magnitude.starts_with(f.prefix)) continue;
      switch (type) {
        case ConstantType::k32:
          return f.f32 | (negative ? 0x80000000u : 0u);
        case ConstantType::k16:
          return f.f16 | (negative ? 0x8000u : 0u);
        case ConstantType::kBf16:
          return f.bf16 | (negative ? 0x8000u : 0u);
        case ConstantType::kF64:
        case ConstantType::kI64:
          return f.f64 | (negative ? 1ull << 63 : 0);
      }
    }
    return std::nullopt;
  }
  const auto value = parse_integer(text);
  if (!value) return std::nullopt;
  literal = literal || magnitude.starts_with("0x");
  // A literal is 32 bits: the high half of a double, the zero-extended low half of an integer.
  if (type == ConstantType::kF64 && literal && (*value >> 32 == 0 || *value >> 32 == -1)) {
    return static_cast<uint64_t>(*value) << 32;
  }
  return static_cast<uint64_t>(*value);
}

// --- Registers
// ---------------------------------------------------------------------------------------

struct NamedRegister {
  std::string_view name;
  uint16_t index;
  uint8_t registers;
};
constexpr NamedRegister kNamed[] = {
    {"vcc_lo", kVccLo, 1},
    {"vcc_hi", kVccHi, 1},
    {"vcc", kVccLo, 2},
    {"exec_lo", kExecLo, 1},
    {"exec_hi", kExecHi, 1},
    {"exec", kExecLo, 2},
    {"m0", kM0, 1},
    {"null", kNull, 2},
    {"scc", kScc, 1},
    {"src_scc", kScc, 1},
    {"src_shared_base", kSharedBase, 2},
    {"src_shared_base_lo", kSharedBase, 1},
    {"src_shared_limit", kSharedLimit, 2},
    {"src_shared_limit_lo", kSharedLimit, 1},
    {"src_private_base", kPrivateBase, 2},
    {"src_private_base_lo", kPrivateBase, 1},
    {"src_private_limit", kPrivateLimit, 2},
    {"src_private_limit_lo", kPrivateLimit, 1},
    {"src_vccz", kVccz, 1},
    {"src_execz", kExecz, 1},
};

// "v7", "v[4:7]", "s3", "ttmp[0:1]" and the named ones.
std::optional<Operand> parse_register(std::string_view text) {
  Operand out;
  if (text.ends_with(".l") || text.ends_with(".h")) {
    out.half = true;
    out.high = text.ends_with(".h");
    text.remove_suffix(2);
  }
  for (const NamedRegister& named : kNamed) {
    if (text == named.name) {
      out.kind = OperandKind::kSgpr;
      out.index = named.index;
      out.registers = named.registers;
      return out;
    }
  }
  uint16_t base = 0;
  unsigned limit = 0;
  if (text.starts_with("ttmp")) {
    out.kind = OperandKind::kSgpr;
    base = kTtmp0;
    limit = 16;
    text.remove_prefix(4);
  } else if (text.starts_with("v")) {
    out.kind = OperandKind::kVgpr;
    limit = kVectorRegisters;
    text.remove_prefix(1);
  } else if (text.starts_with("s")) {
    out.kind = OperandKind::kSgpr;
    limit = kVccLo;
    text.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  int64_t first = 0;
  int64_t last = 0;
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
    const size_t colon = text.find(':');
    const auto a = parse_integer(text.substr(0, colon));
    const auto b = colon == std::string_view::npos ? a : parse_integer(text.substr(colon + 1));
    if (!a || !b) return std::nullopt;
    first = *a;
    last = *b;
  } else {
    const auto a = parse_integer(text);
    if (!a) return std::nullopt;
    first = last = *a;
  }
  if (first < 0 || last < first || last >= limit || last - first >= 32) {
    throw Unsupported{"register out of range"};
  }
  out.index = static_cast<uint16_t>(base + first);
  out.registers = static_cast<uint8_t>(last - first + 1);
  return out;
}

Operand parse_operand(std::string_view text, ConstantType type, ConstantPool& pool) {
  Operand out;
  if (text == "off") return out;
  bool negate = false;
  bool absolute = false;
  if (text.starts_with("neg(") && text.ends_with(')')) {
    negate = true;
    text = text.substr(4, text.size() - 5);
  } else if (text.starts_with('-') && starts_with_letters(text.substr(1))) {
    negate = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('|') && text.ends_with('|') && text.size() > 2) {
    absolute = true;
    text = text.substr(1, text.size() - 2);
  } else if (text.starts_with("abs(") && text.ends_with(')')) {
    absolute = true;
    text = text.substr(4, text.size() - 5);
  }
  if (const auto constant = parse_constant(text, type)) {
    out.kind = OperandKind::kConstant;
    out.registers = 2;
    out.value = *constant;
    out.lanes = pool.broadcast(*constant);
  } else if (const auto reg = parse_register(text)) {
    out = *reg;
  } else {
    throw Unsupported{"operand \"" + std::string(text) + "\""};
  }
  out.negate = negate;
  out.absolute = absolute;
  return out;
}

// --- Modifiers
// ---------------------------------------------------------------------------------------

// What stands between brackets.
std::string_view inside(std::string_view list) {
  if (list.size() < 2) throw Unsupported{"a list"};
  return list.substr(1, list.size() - 2);
}

// "[1,0,1]" to bits.
uint8_t parse_bits(std::string_view list) {
  uint8_t out = 0;
  int i = 0;
  for (const std::string_view part : split(inside(list), ',')) {
    out |= static_cast<uint8_t>((integer(part) & 1) << i++);
  }
  return out;
}

uint32_t parse_selectors(std::string_view list, int width) {
  uint32_t out = 0;
  int i = 0;
  for (const std::string_view part : split(inside(list), ',')) {
    out |= static_cast<uint32_t>(integer(part)) << (width * i++);
  }
  return out;
}

// ds_swizzle_b32's patterns: swizzle(BITMASK_PERM,"0p1in") and its like, to the 16-bit offset.
int32_t parse_swizzle(std::string_view text) {
  const auto parts = split(text.substr(8, text.size() - 9), ',');
  if (parts.empty()) throw Unsupported{"swizzle"};
  const std::string_view kind = parts[0];
  const auto number = [&](size_t i) {
    if (i >= parts.size()) throw Unsupported{"swizzle"};
    return static_cast<int32_t>(integer(parts[i]));
  };
  if (kind == "QUAD_PERM") {
    return 0x8000 | number(1) | number(2) << 2 | number(3) << 4 | number(4) << 6;
  }
  if (kind == "SWAP") return number(1) << 10 | 0x1f;
  if (kind == "REVERSE") return (number(1) - 1) << 10 | 0x1f;
  if (kind == "BROADCAST") return number(2) << 5 | (0x1f & ~(number(1) - 1));
  if (kind == "ROTATE") return 0xc000 | number(1) << 10 | number(2) << 5;
  if (kind == "FFT") return 0xe000 | number(1);
  if (kind == "BITMASK_PERM" && parts.size() == 2) {
    std::string_view mask = parts[1];
    if (mask.size() == 7) mask = mask.substr(1, 5);
    int32_t and_mask = 0;
    int32_t or_mask = 0;
    int32_t xor_mask = 0;
    for (const char c : mask) {
      and_mask = and_mask << 1 | (c == 'p' || c == 'i' ? 1 : 0);
      or_mask = or_mask << 1 | (c == '1' ? 1 : 0);
      xor_mask = xor_mask << 1 | (c == 'i' ? 1 : 0);
    }
    return xor_mask << 10 | or_mask << 5 | and_mask;
  }
  throw Unsupported{"swizzle"};
}

void parse_modifier(std::string_view text, Modifiers& mod) {
  const size_t colon = text.find(':');
  const std::string_view key = text.substr(0, colon);
  const std::string_view value =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  const auto amount = [&](DppKind kind) {
    mod.dpp = kind;
    mod.dpp_amount = static_cast<uint8_t>(integer(value));
  };
  if (key == "clamp") {
    mod.clamp = true;
  } else if (key == "mul") {
    mod.output_scale = integer(value) == 4 ? 2 : 1;
  } else if (key == "div") {
    mod.output_scale = 3;
  } else if (key == "offset") {
    mod.offset =
        value.starts_with("swizzle(") ? parse_swizzle(value) : static_cast<int32_t>(integer(value));
  } else if (key == "offset0") {
    mod.offset0 = static_cast<uint8_t>(integer(value));
  } else if (key == "offset1") {
    mod.offset1 = static_cast<uint8_t>(integer(value));
  } else if (key == "op_sel") {
    mod.op_sel = parse_bits(value);
  } else if (key == "op_sel_hi") {
    mod.op_sel_hi = parse_bits(value);
  } else if (key == "neg_lo") {
    mod.neg_lo = parse_bits(value);
  } else if (key == "neg_hi") {
    mod.neg_hi = parse_bits(value);
  } else if (key == "byte_sel") {
    mod.byte_sel = static_cast<uint8_t>(integer(value));
  } else if (key == "index_key") {
    mod.index_key = static_cast<uint8_t>(integer(value));
  } else if (key == "th") {
    // The rest are hints for caches.
    mod.returns = value.find("ATOMIC") != std::string_view::npos &&
                  value.find("RETURN") != std::string_view::npos;
  } else if (key == "scope") {
    mod.scope = value == "SCOPE_SE"    ? Scope::kWorkgroup
                : value == "SCOPE_DEV" ? Scope::kDevice
                : value == "SCOPE_SYS" ? Scope::kSystem
                                       : Scope::kWave;
  } else if (key == "dpp8") {
    mod.dpp = DppKind::kDpp8;
    mod.dpp_selectors = parse_selectors(value, 3);
  } else if (key == "quad_perm") {
    mod.dpp = DppKind::kQuadPerm;
    mod.dpp_selectors = parse_selectors(value, 2);
  } else if (key == "row_shl") {
    amount(DppKind::kRowShl);
  } else if (key == "row_shr") {
    amount(DppKind::kRowShr);
  } else if (key == "row_ror") {
    amount(DppKind::kRowRor);
  } else if (key == "row_share") {
    amount(DppKind::kRowShare);
  } else if (key == "row_xmask") {
    amount(DppKind::kRowXmask);
  } else if (key == "row_mirror") {
    mod.dpp = DppKind::kRowMirror;
  } else if (key == "row_half_mirror") {
    mod.dpp = DppKind::kRowHalfMirror;
  } else if (key == "row_mask") {
    mod.row_mask = static_cast<uint8_t>(integer(value));
  } else if (key == "bank_mask") {
    mod.bank_mask = static_cast<uint8_t>(integer(value));
  } else if (key == "bound_ctrl") {
    mod.bound_ctrl = integer(value) != 0;
  } else if (key == "fi") {
    mod.fetch_inactive = integer(value) != 0;
  } else if (key != "nv") {
    throw Unsupported{"modifier \"" + std::string(text) + "\""};
  }
}

// "hwreg(HW_REG_MODE, 0, 4)" to the SIMM16 it stands for: id, offset << 6, (width - 1) << 11.
uint32_t parse_hwreg(std::string_view text) {
  struct Name {
    std::string_view name;
    uint32_t id;
  };
  constexpr Name kNames[] = {
      {"HW_REG_WAVE_MODE", 1},
      {"HW_REG_WAVE_STATUS", 2},
      {"HW_REG_WAVE_STATE_PRIV", 4},
      {"HW_REG_WAVE_GPR_ALLOC", 5},
      {"HW_REG_WAVE_LDS_ALLOC", 6},
      {"HW_REG_IB_STS", 7},
      {"HW_REG_WAVE_EXCP_FLAG_PRIV", 17},
      {"HW_REG_WAVE_EXCP_FLAG_USER", 18},
      {"HW_REG_WAVE_TRAP_CTRL", 19},
      {"HW_REG_WAVE_HW_ID1", 23},
      {"HW_REG_WAVE_HW_ID2", 24},
      {"HW_REG_SHADER_CYCLES_LO", 29},
      {"HW_REG_SHADER_CYCLES_HI", 30},
  };
  const auto parts = split(text.substr(6, text.size() - 7), ',');
  if (parts.empty()) throw Unsupported{"hwreg"};
  std::optional<uint32_t> id;
  for (const Name& name : kNames) {
    if (parts[0] == name.name) id = name.id;
  }
  if (!id) {
    const auto number = parse_integer(parts[0]);
    if (!number) throw Unsupported{"hardware register " + std::string(parts[0])};
    id = static_cast<uint32_t>(*number);
  }
  const auto offset = parts.size() > 1 ? static_cast<uint32_t>(integer(parts[1])) : 0u;
  const auto width = parts.size() > 2 ? static_cast<uint32_t>(integer(parts[2])) : 32u;
  return *id | offset << 6 | (width - 1) << 11;
}

// --- One instruction
// ---------------------------------------------------------------------------------

std::string_view base_mnemonic(std::string_view mnemonic) {
  for (const std::string_view suffix : {"_dpp", "_e64", "_e32"}) {
    if (mnemonic.ends_with(suffix)) mnemonic.remove_suffix(suffix.size());
  }
  return mnemonic;
}

void parse_immediate(std::string_view text, const Opcode& opcode, Instruction& out) {
  if (const auto value = parse_integer(text)) {
    out.immediate = static_cast<uint32_t>(*value);
  } else if (!(opcode.flags & kSymbolicImmediate)) {
    throw Unsupported{"immediate \"" + std::string(text) + "\""};
  }
}

void parse(std::string_view mnemonic, std::string_view rest, Instruction& out, ConstantPool& pool) {
  const Opcode* opcode = find_opcode(base_mnemonic(mnemonic));
  if (!opcode) throw Unsupported{"opcode"};
  out.opcode = opcode;
  out.opclass = static_cast<uint8_t>(opcode->opclass);
  out.execute = opcode->execute;
  if (opcode->flags & kOpSelHiZero) out.mod.op_sel_hi = 0;
  if (opcode->flags & kSymbolicImmediate) {
    parse_immediate(rest, *opcode, out);
    return;
  }

  std::vector<std::string_view> operands = split(rest, ',');
  if (!operands.empty()) {
    const auto tail = split(operands.back(), ' ');
    operands.back() = tail[0];
    for (size_t i = 1; i < tail.size(); ++i) parse_modifier(tail[i], out.mod);
  }
  // An instruction without operands may still have modifiers: "global_inv scope:SCOPE_SE".
  if (operands.size() == 1 && operands[0].find(':') != std::string_view::npos &&
      operands[0].find('[') == std::string_view::npos) {
    parse_modifier(operands[0], out.mod);
    operands.clear();
  }
  // s_setreg has it first, s_getreg last.
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].starts_with("hwreg(")) continue;
    out.immediate = parse_hwreg(operands[i]);
    operands.erase(operands.begin() + static_cast<ptrdiff_t>(i));
  }
  size_t destinations = opcode->destinations;
  if (opcode->flags & kReturnsByModifier) destinations = out.mod.returns ? 1 : 0;
  if ((opcode->flags & kLastIsSymbolic) && !operands.empty()) operands.pop_back();
  if (opcode->flags & kImmediate) {
    if (operands.empty()) throw Unsupported{"missing immediate"};
    parse_immediate(operands.back(), *opcode, out);
    operands.pop_back();
  }
  if (operands.size() < destinations || operands.size() - destinations > out.src.size()) {
    throw Unsupported{"number of operands"};
  }
  for (size_t i = 0; i < destinations; ++i) {
    Operand d = parse_operand(operands[i], ConstantType::k32, pool);
    if (!d.is_vgpr() && !d.is_sgpr()) throw Unsupported{"destination"};
    if (d.is_sgpr() && d.index == kNull) d.index = kSink;
    out.dst[i] = d;
  }
  out.destinations = static_cast<uint8_t>(destinations);
  for (size_t i = destinations; i < operands.size(); ++i) {
    const size_t source = i - destinations;
    out.src[source] = parse_operand(operands[i], opcode->constants[source], pool);
  }
  out.sources = static_cast<uint8_t>(operands.size() - destinations);

  if (out.mod.dpp != DppKind::kNone) {
    if (!out.src[0].is_vgpr()) throw Unsupported{"DPP source"};
  }
  if (opcode->prepare) {
    if (const char* reason = opcode->prepare(out)) throw Unsupported{reason};
  }
  if (out.mod.dpp != DppKind::kNone) {
    out.inner = out.execute;
    out.execute = execute_dpp;
  }
  out.strict_checks = strict_checks_of(out);
  out.ignores_exec = (opcode->flags & kIgnoresExec) != 0;
}

}  // namespace

const Lanes* ConstantPool::broadcast(uint64_t value) {
  const auto [at, added] = pairs_.try_emplace(value);
  if (added) {
    for (int part = 0; part < 2; ++part) {
      for (uint32_t& lane : at->second.lanes[part].v) {
        lane = static_cast<uint32_t>(value >> (32 * part));
      }
    }
  }
  return at->second.lanes;
}

void decode_text(std::string_view text, Instruction& out, ConstantPool& pool,
                 std::deque<Instruction>& halves) {
  try {
    const size_t dual = text.find(" :: ");
    if (dual != std::string_view::npos) {
      Instruction parts[2];
      const std::string_view texts[2] = {text.substr(0, dual), text.substr(dual + 4)};
      for (int i = 0; i < 2; ++i) {
        if (!texts[i].starts_with("v_dual_")) throw Unsupported{"half of a dual instruction"};
        const size_t space = texts[i].find(' ');
        const std::string name =
            "v_" +
            std::string(texts[i].substr(0, space)).substr(std::string_view("v_dual_").size());
        std::string rest(texts[i].substr(space + 1));
        if (name == "v_cndmask_b32" && split(rest, ',').size() == 3) rest += ", vcc_lo";
        parse(name, rest, parts[i], pool);
        parts[i].text = out.text;
        parts[i].address = out.address;
      }
      make_dual(parts[0], parts[1], out, halves);
      out.strict_checks = strict_checks_of(out);
      return;
    }
    const size_t space = text.find(' ');
    const std::string_view rest =
        space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
    parse(text.substr(0, space), rest, out, pool);
  } catch (const Unsupported&) {
    Instruction stopped;
    stopped.address = out.address;
    stopped.bytes = out.bytes;
    stopped.text = out.text;
    stopped.execute = stop_unsupported;
    stopped.opclass = static_cast<uint8_t>(OpClass::kOther);
    out = stopped;
  }
}

}  // namespace radiance::emulator
