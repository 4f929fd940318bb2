#include "emulator/handlers.hpp"

#include <fmt/format.h>

#include <unordered_map>
#include <vector>

#include "emulator/emulator.hpp"

namespace radiance::emulator {

std::span<const Family> families() {
  static const std::vector<Family> all = {
      {"SALU: arithmetic and logic", scalar_opcodes()},
      {"SALU: float", scalar_float_opcodes()},
      {"SALU: control flow, barriers, waits", control_opcodes()},
      {"SMEM", smem_opcodes()},
      {"VALU: 32-bit integer and bits", vector_integer_opcodes()},
      {"VALU: 64-bit integer", vector_integer64_opcodes()},
      {"VALU: 16-bit integer", vector_integer16_opcodes()},
      {"VALU: f32", vector_float_opcodes()},
      {"VALU: f16", vector_half_opcodes()},
      {"VALU: f64", vector_double_opcodes()},
      {"VALU: division and transcendental", vector_special_opcodes()},
      {"VALU: conversion", vector_convert_opcodes()},
      {"VALU: compare", vector_compare_opcodes()},
      {"VALU: packed, mixed and dot products", vector_packed_opcodes()},
      {"VALU: across lanes", vector_lane_opcodes()},
      {"VALU: fp8 conversion", fp8_opcodes()},
      {"WMMA and SWMMAC", matrix_opcodes()},
      {"LDS", ds_opcodes()},
      {"LDS atomics", ds_atomic_opcodes()},
      {"LDS permutes", ds_permute_opcodes()},
      {"Global", global_opcodes()},
      {"Global atomics", global_atomic_opcodes()},
      {"Flat", flat_opcodes()},
      {"Scratch", scratch_opcodes()},
  };
  return all;
}

const Opcode* find_opcode(std::string_view mnemonic) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const Opcode*> out;
    for (const Family& family : families()) {
      for (const Opcode& opcode : family.opcodes) out.emplace(opcode.mnemonic, &opcode);
    }
    return out;
  }();
  const auto at = index.find(mnemonic);
  return at == index.end() ? nullptr : at->second;
}

std::string supported_matrix() {
  constexpr size_t kColumns = 100;
  std::string out;
  size_t total = 0;
  for (const Family& family : families()) {
    out += fmt::format("{} ({})\n", family.name, family.opcodes.size());
    total += family.opcodes.size();
    size_t column = 0;
    for (const Opcode& opcode : family.opcodes) {
      if (column == 0 || column + opcode.mnemonic.size() + 1 > kColumns) {
        out += column == 0 ? "  " : "\n  ";
        column = 2;
      }
      out += fmt::format("{} ", opcode.mnemonic);
      column += opcode.mnemonic.size() + 1;
    }
    out += '\n';
  }
  return out + fmt::format("{} opcodes\n", total);
}

}  // namespace radiance::emulator
