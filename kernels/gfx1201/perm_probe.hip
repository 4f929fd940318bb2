// What v_perm_b32 makes of any operands: its selectors above 7 are not what they are thought to be.
#include "kernels/gfx1201/probe_geometry.hpp"
#include "kernels/gfx1201/types.hip.hpp"

namespace radiance::gfx1201 {

RADIANCE_KERNEL(kProbeThreads) void perm_probe(PermProbeParams p) {
  const u32 i = block_x() * kProbeThreads + thread_index();
  if (i >= static_cast<u32>(p.count)) return;
  u32 result;
  // Not the builtin: the compiler may choose another instruction where it knows an operand.
  asm volatile("v_perm_b32 %0, %1, %2, %3"
               : "=v"(result)
               : "v"(p.operands[3 * i]), "v"(p.operands[3 * i + 1]), "v"(p.operands[3 * i + 2]));
  p.results[i] = result;
}

}  // namespace radiance::gfx1201
