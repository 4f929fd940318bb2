#include "census/census.hpp"

#include <cstdio>
#include <stdexcept>

#include "disasm/code_object.hpp"
#include "disasm/disassembler.hpp"

namespace radiance::census {
namespace {

constexpr char kTarget[] = "gfx1201";
constexpr uint32_t kWorkgroupProcessorMode = 1u << 29;  // of COMPUTE_PGM_RSRC1

std::vector<Instruction> disassemble(const disasm::CodeObject& object, const disasm::Kernel& kernel,
                                     disasm::Disassembler& disassembler) {
  std::vector<Instruction> instructions;
  std::span<const uint8_t> code = object.code(kernel);
  uint64_t address = kernel.entry;
  while (!code.empty()) {
    std::optional<disasm::Disassembler::Line> line = disassembler.decode(code, address);
    if (!line || line->size == 0 || line->size > code.size()) {
      char where[32];
      std::snprintf(where, sizeof(where), "0x%llx", static_cast<unsigned long long>(address));
      throw std::runtime_error("kernel " + kernel.name + ": LLVM knows no " + kTarget +
                               " instruction at " + where);
    }
    instructions.push_back(parse_instruction({line->address, line->size, std::move(line->text)}));
    address += line->size;
    code = code.subspan(line->size);
  }
  return instructions;
}

KernelCensus census_of(const disasm::CodeObject& object, const disasm::Kernel& kernel,
                       disasm::Disassembler& disassembler) {
  KernelCensus census;
  census.name = kernel.name;
  census.resources.vgprs = static_cast<int>(kernel.vgprs);
  census.resources.lds_bytes = static_cast<int>(kernel.descriptor.group_segment_bytes);
  const auto& required = kernel.required_workgroup_size;
  census.resources.workgroup_size = static_cast<int>(
      required[0] > 0 ? required[0] * required[1] * required[2] : kernel.max_workgroup_size);
  census.resources.workgroup_processor_mode =
      (kernel.descriptor.pgm_rsrc1 & kWorkgroupProcessorMode) != 0;
  census.sgprs = static_cast<int>(kernel.sgprs);
  census.scratch_bytes = static_cast<int>(kernel.descriptor.private_segment_bytes);
  census.spills = static_cast<int>(kernel.vgpr_spills + kernel.sgpr_spills);
  const std::vector<Instruction> instructions = disassemble(object, kernel, disassembler);
  for (const Instruction& instruction : instructions) census.counts.add(instruction);
  const ControlFlow flow = find_control_flow(instructions);
  if (const std::optional<size_t> loop = find_main_loop(instructions, flow)) {
    census.main_loop = describe_loop(instructions, flow, flow.loops[*loop]);
  }
  return census;
}

// Compilers and linkers sign in .comment, each a string; the compiler's has "clang" in it.
std::string compiler_of(const disasm::CodeObject& object) {
  const std::span<const uint8_t> section = object.section(".comment");
  std::string text;
  for (const uint8_t c : section) {
    if (c >= ' ' && c < 127) {
      text += static_cast<char>(c);
      continue;
    }
    if (text.find("clang") != std::string::npos) return text;
    text.clear();
  }
  return text.find("clang") != std::string::npos ? text : "";
}

nlohmann::json widths(const std::map<uint32_t, int>& counts) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [bytes, count] : counts)
    json[std::string("b").append(std::to_string(8 * bytes))] = count;
  return json;
}

// A quotient by the number of WMMA instructions; null where there is none.
nlohmann::json per_wmma(int64_t bytes, const Counts& counts) {
  if (counts.wmma == 0) return nullptr;
  return static_cast<double>(bytes) / counts.wmma;
}

nlohmann::json to_json(const MainLoop& loop) {
  const Counts& counts = loop.counts;
  return {{"address", loop.address},
          {"instructions", counts.instructions},
          {"wmma", counts.wmma},
          {"valu", counts.valu},
          {"vopd", counts.vopd},
          {"salu", counts.salu},
          {"lds", counts.lds},
          {"global", counts.global},
          {"full_waits", counts.full_waits},
          {"full_load_waits", loop.full_load_waits},
          {"round_trips", loop.round_trips},
          {"pipe_clocks", counts.pipe_clocks()},
          {"wmma_share", counts.wmma_share()},
          {"lds_bytes_per_wmma", per_wmma(counts.lds_bytes, counts)},
          {"global_bytes_per_wmma",
           per_wmma(counts.global_load_bytes + counts.global_store_bytes, counts)},
          {"global_loads", widths(counts.global_loads)},
          {"classes", counts.by_class()}};
}

}  // namespace

CodeObjectCensus take_census(std::span<const uint8_t> bytes) {
  const disasm::CodeObject object = disasm::CodeObject::parse(bytes, kTarget);
  disasm::Disassembler disassembler(kTarget);
  CodeObjectCensus census;
  for (const disasm::Kernel& kernel : object.kernels()) {
    census.kernels.push_back(census_of(object, kernel, disassembler));
  }
  census.compiler = compiler_of(object);
  return census;
}

nlohmann::json to_json(const CodeObjectCensus& census) {
  nlohmann::json array = nlohmann::json::array();
  for (const KernelCensus& kernel : census.kernels) {
    array.push_back(
        {{"name", kernel.name},
         {"target", kTarget},
         {"config", ""},
         {"instructions", kernel.counts.instructions},
         {"vgprs", kernel.resources.vgprs},
         {"sgprs", kernel.sgprs},
         {"lds_bytes", kernel.resources.lds_bytes},
         {"scratch_bytes", kernel.scratch_bytes},
         {"spills", kernel.spills},
         {"workgroup_size", kernel.resources.workgroup_size},
         {"occupancy", occupancy(kernel.resources)},
         {"allocated_occupancy", allocated_occupancy(kernel.resources)},
         {"classes", kernel.counts.by_class()},
         {"main_loop", kernel.main_loop ? to_json(*kernel.main_loop) : nlohmann::json(nullptr)}});
  }
  return {{"kernels", std::move(array)}, {"device_compiler", census.compiler}};
}

}  // namespace radiance::census
