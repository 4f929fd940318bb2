#include "emulator/program.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "emulator/handlers.hpp"
#include "emulator/wave.hpp"

namespace radiance::emulator {
namespace {

void stop_undecodable(const Instruction& in, Wave&) {
  fault(fmt::format("the bytes at {:#x} are no instruction of this target", in.address));
}

void stop_past_end(const Instruction& in, Wave&) {
  fault(fmt::format("the code ran past its end at {:#x}", in.address));
}

void end_wave(const Instruction&, Wave& wave) { wave.state = RunState::kEnded; }

}  // namespace

Program::Program(std::span<const uint8_t> code, uint64_t address, std::vector<uint64_t> starts,
                 PastEnd past_end)
    : code_(code), address_(address), starts_(std::move(starts)), past_end_(past_end) {
  starts_.push_back(address);
  std::ranges::sort(starts_);
  std::erase_if(starts_, [&](uint64_t start) {
    return start < address || start >= address + code.size() || start % 4 != 0;
  });
  starts_.erase(std::ranges::unique(starts_).begin(), starts_.end());
  functions_.resize(starts_.size());
}

Program::~Program() = default;

const Instruction* Program::find(uint64_t address) const {
  if (address < address_ || address >= address_ + code_.size() || address % 4 != 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto next = std::ranges::upper_bound(starts_, address);
  const auto which = static_cast<size_t>(next - starts_.begin()) - 1;
  auto& function = functions_[which];
  if (!function) {
    function = decode(starts_[which], next == starts_.end() ? address_ + code_.size() : *next);
  }
  const uint32_t index = function->index[(address - function->begin) / 4];
  return index ? &function->instructions[index - 1] : nullptr;
}

std::unique_ptr<Program::Function> Program::decode(uint64_t begin, uint64_t end) const {
  if (!disassembler_) disassembler_ = std::make_unique<disasm::Disassembler>();
  auto function = std::make_unique<Function>();
  function->begin = begin;
  function->end = end;
  function->index.resize((end - begin + 3) / 4);
  const auto bytes = code_.subspan(begin - address_, end - begin);
  std::vector<Instruction>& out = function->instructions;
  for (uint64_t at = 0; at + 4 <= bytes.size();) {
    Instruction in;
    in.address = begin + at;
    const auto line = disassembler_->decode(bytes.subspan(at), in.address);
    if (line) {
      in.bytes = static_cast<uint8_t>(line->size);
      in.text = texts_.emplace_back(line->text).c_str();
      decode_text(in.text, in, pool_, halves_);
    } else {
      in.text = "undecodable";
      in.execute = stop_undecodable;
      in.opclass = static_cast<uint8_t>(OpClass::kOther);
    }
    out.push_back(in);
    function->index[at / 4] = static_cast<uint32_t>(out.size());
    at += in.bytes;
  }
  Instruction sentinel;
  sentinel.address = end;
  sentinel.text = "end of code";
  sentinel.execute = past_end_ == PastEnd::kEnds ? end_wave : stop_past_end;
  sentinel.opclass = static_cast<uint8_t>(OpClass::kOther);
  out.push_back(sentinel);

  for (Instruction& in : out) {
    if (!in.opcode || !(in.opcode->flags & kBranchTarget)) continue;
    in.target_address = in.address + in.bytes +
                        static_cast<uint64_t>(int64_t{static_cast<int16_t>(in.immediate)} * 4);
    if (in.target_address == end) {
      in.target = &out.back();
    } else if (in.target_address >= begin && in.target_address < end) {
      const uint32_t index = function->index[(in.target_address - begin) / 4];
      in.target = index ? &out[index - 1] : nullptr;
    }
  }
  return function;
}

}  // namespace radiance::emulator
