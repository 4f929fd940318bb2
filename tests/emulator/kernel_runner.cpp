#include "tests/emulator/kernel_runner.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace radiance::emulator::testing {
namespace {

void execute(const std::string& command) {
  if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
}

}  // namespace

std::vector<uint8_t> assemble(const KernelSource& source) {
  const std::string text = fmt::format(
      R"(.amdgcn_target "amdgcn-amd-amdhsa--gfx1201"
.text
.globl kernel
.p2align 8
.type kernel,@function
kernel:
{}
s_endpgm
.Lend:
.size kernel, .Lend-kernel
.rodata
.p2align 6
.amdhsa_kernel kernel
  .amdhsa_group_segment_fixed_size {}
  .amdhsa_private_segment_fixed_size {}
  .amdhsa_enable_private_segment {}
  .amdhsa_kernarg_size {}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_wavefront_size32 1
  .amdhsa_next_free_vgpr {}
  .amdhsa_next_free_sgpr 64
  .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.target: amdgcn-amd-amdhsa--gfx1201
amdhsa.kernels:
  - .name: kernel
    .symbol: kernel.kd
    .kernarg_segment_size: {}
    .kernarg_segment_align: 8
    .group_segment_fixed_size: {}
    .private_segment_fixed_size: {}
    .wavefront_size: 32
    .sgpr_count: 64
    .vgpr_count: {}
    .max_flat_workgroup_size: 1024
...
.end_amdgpu_metadata
)",
      source.body, source.lds_bytes, source.scratch_bytes, source.scratch_bytes ? 1 : 0,
      source.argument_bytes, source.vgprs, source.argument_bytes, source.lds_bytes,
      source.scratch_bytes, source.vgprs);
  namespace fs = std::filesystem;
  static unsigned number = 0;
  const fs::path base =
      fs::temp_directory_path() / fmt::format("radiance-kernel-{}-{}", getpid(), number++);
  const std::string s = base.string() + ".s", o = base.string() + ".o",
                    out = base.string() + ".hsaco";
  std::ofstream(s) << text;
  execute(RADIANCE_CLANG " -x assembler -target amdgcn-amd-amdhsa -mcpu=gfx1201 -c " + s + " -o " +
          o);
  execute(RADIANCE_LLD " -shared " + o + " -o " + out);
  std::ifstream file(out, std::ios::binary);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)),
                             std::istreambuf_iterator<char>());
  for (const std::string& path : {s, o, out}) fs::remove(path);
  return bytes;
}

LaunchResult run(Memory& memory, const KernelSource& source, std::span<void* const> arguments,
                 Dim3 grid, Dim3 block, const LaunchOptions& options) {
  const std::vector<uint8_t> object = assemble(source);
  const Module module(memory, object);
  const disasm::Kernel* kernel = module.find_kernel("kernel");
  if (!kernel) throw std::runtime_error("the assembled code object has no kernel");
  std::vector<uint8_t> kernarg(std::max<size_t>(source.argument_bytes, arguments.size_bytes()));
  std::memcpy(kernarg.data(), arguments.data(), arguments.size_bytes());
  return launch(memory, module, *kernel, grid, block, 0, kernarg, options);
}

}  // namespace radiance::emulator::testing
