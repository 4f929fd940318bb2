#include "census/instruction.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace radiance::census {
namespace {

std::string_view trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The leading number of an operand list, decimal or 0x...; nothing if it is none.
std::optional<int64_t> leading_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return negative ? -value : value;
}

// Bytes that a name's last width means: "_b64" 8, "_u8" 1, "_u16_d16_hi" 2, "2addr_..." twice.
uint32_t width_bytes(std::string_view name) {
  for (const std::string_view half : {"_hi", "_d16"}) {  // which half of a register, not how much
    if (name.ends_with(half)) name.remove_suffix(half.size());
  }
  const size_t last = name.find_last_not_of("0123456789");
  if (last == std::string_view::npos || last + 1 == name.size()) return 0;
  uint32_t bits = 0;
  std::from_chars(name.data() + last + 1, name.data() + name.size(), bits);
  return bits / 8 * (contains(name, "2addr_") || contains(name, "_pk_") ? 2 : 1);
}

bool is_control(std::string_view name) {
  constexpr std::array<std::string_view, 19> kNames = {"s_delay_alu",
                                                       "s_clause",
                                                       "s_nop",
                                                       "s_setprio",
                                                       "s_sleep",
                                                       "s_code_end",
                                                       "s_set_inst_prefetch_distance",
                                                       "s_sethalt",
                                                       "s_icache_inv",
                                                       "s_ttracedata",
                                                       "s_ttracedata_imm",
                                                       "s_incperflevel",
                                                       "s_decperflevel",
                                                       "s_sendmsg",
                                                       "s_sendmsghalt",
                                                       "s_trap",
                                                       "s_version",
                                                       "s_sleep_var",
                                                       "s_singleuse_vdst"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Class classify(std::string_view name) {
  if (name.starts_with("v_wmma_") || name.starts_with("v_swmmac_")) return Class::kWmma;
  if (name.starts_with("v_dual_")) return Class::kVopd;
  if (name.starts_with("v_")) return Class::kValu;
  if (name.starts_with("ds_")) return Class::kLds;
  if (name.starts_with("scratch_")) return Class::kScratch;
  if (name.starts_with("global_") || name.starts_with("flat_") || name.starts_with("buffer_")) {
    return Class::kGlobal;
  }
  if (name.starts_with("s_wait")) return Class::kWait;
  if (name.starts_with("s_barrier")) return Class::kBarrier;
  if (name.starts_with("s_branch") || name.starts_with("s_cbranch") ||
      name.starts_with("s_endpgm") || name.starts_with("s_setpc") || name.starts_with("s_swappc") ||
      name.starts_with("s_call") || name.starts_with("s_rfe")) {
    return Class::kBranch;
  }
  if (name.starts_with("s_load_") || name.starts_with("s_buffer_load_") ||
      name.starts_with("s_prefetch_") || name.starts_with("s_buffer_prefetch_") ||
      name.starts_with("s_dcache_")) {
    return Class::kSmem;
  }
  if (name.starts_with("s_") && !is_control(name)) return Class::kSalu;
  return Class::kControl;
}

void set_flow(Instruction& instruction) {
  const std::string_view name = instruction.mnemonic;
  if (name.starts_with("s_endpgm") || name.starts_with("s_setpc") || name.starts_with("s_rfe")) {
    instruction.flow = Flow::kEnd;
    return;
  }
  const bool conditional = name.starts_with("s_cbranch_");
  if (!conditional && name != "s_branch") return;
  // The operand is a count of words from the next instruction, printed signed or not.
  const std::optional<int64_t> words = leading_number(instruction.operands);
  if (!words) {
    instruction.flow = Flow::kEnd;
    return;
  }
  instruction.flow = conditional ? Flow::kConditionalBranch : Flow::kBranch;
  const int64_t offset = static_cast<int16_t>(static_cast<uint16_t>(*words));
  instruction.target = instruction.address + instruction.size + static_cast<uint64_t>(offset * 4);
}

void set_access(Instruction& instruction) {
  const std::string_view name = instruction.mnemonic;
  Access& access = instruction.access;
  if (instruction.kind == Class::kLds) {
    if (contains(name, "permute") || contains(name, "swizzle")) return;  // lanes, not memory
    if (contains(name, "load")) {
      access.load_bytes = width_bytes(name);
    } else if (contains(name, "store")) {
      access.store_bytes = width_bytes(name);
    } else {
      access.load_bytes = access.store_bytes = width_bytes(name);
    }
    return;
  }
  if (instruction.kind != Class::kGlobal && instruction.kind != Class::kScratch) return;
  access.scalar_base = name.starts_with("global_") && contains(instruction.operands, ", s");
  if (contains(name, "_atomic_")) {
    access.load_bytes = access.store_bytes = width_bytes(name);
    access.counts_as_load = contains(instruction.operands, "TH_ATOMIC_RETURN");
  } else if (contains(name, "_load_")) {
    access.load_bytes = width_bytes(name);
    access.counts_as_load = true;
  } else if (contains(name, "_store_")) {
    access.store_bytes = width_bytes(name);
  }
}

void set_wait(Instruction& instruction) {
  const std::string_view name = instruction.mnemonic;
  if (name == "s_wait_idle") {
    instruction.loads_left = 0;
    instruction.full_wait = true;
    return;
  }
  const std::optional<int64_t> count = leading_number(instruction.operands);
  if (!count) return;
  const auto value = static_cast<uint32_t>(*count);
  const bool combined = name.ends_with("_dscnt");  // the other count stands in bits 13..8
  const uint32_t left = combined ? value >> 8 & 63u : value;
  if (name.starts_with("s_wait_loadcnt")) instruction.loads_left = left;
  if (name.starts_with("s_wait_loadcnt") || name.starts_with("s_wait_storecnt")) {
    instruction.full_wait = left == 0;
  }
}

}  // namespace

Instruction parse_instruction(const Line& line) {
  Instruction instruction;
  instruction.address = line.address;
  instruction.size = line.size;
  const std::string_view text = trim(line.text);
  const size_t end = std::min(text.find_first_of(" \t"), text.size());
  instruction.mnemonic = text.substr(0, end);
  instruction.operands = trim(text.substr(end));
  instruction.kind = classify(instruction.mnemonic);
  if (instruction.kind == Class::kBranch) set_flow(instruction);
  if (instruction.kind == Class::kWait) set_wait(instruction);
  set_access(instruction);
  return instruction;
}

}  // namespace radiance::census
