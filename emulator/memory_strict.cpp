#include "emulator/memory_strict.hpp"

namespace radiance::emulator {

void check_memory_sources(const Instruction& in, const Wave& wave) {
  const StrictState& state = *wave.strict;
  for (int i = 0; i < in.sources; ++i) {
    const Operand& source = in.src[static_cast<size_t>(i)];
    if (source.is_vgpr()) {
      state.check_vgprs(in, source.index, source.registers, wave.exec());
    } else if (source.is_sgpr()) {
      state.check_sgprs(in, source.index, source.index == kNull ? 1 : source.registers);
    }
  }
}

void check_memory_destination(const Instruction& in, const Wave& wave, const Operand& dst,
                              Counter counter) {
  const StrictState& state = *wave.strict;
  for (unsigned r = dst.index; r < dst.index + dst.registers; ++r) {
    const Pending& pending = state.vgpr_pending[r];
    if (!pending.by) continue;
    for (size_t c = 0; c < kCounters; ++c) {
      if (c != static_cast<size_t>(counter) && pending.until[c] > state.completed[c]) {
        state.check_overwrite_vgprs(in, static_cast<uint16_t>(r), 1);
      }
    }
  }
}

}  // namespace radiance::emulator
