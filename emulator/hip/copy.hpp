// Copies by processor, and what is checked of them: whatever stands on the device's side must lie
// wholly inside one live allocation.
#pragma once

#include <cstddef>

#include "emulator/hip/types.hpp"

namespace radiance::emulator::hip {

// Throws Failure (invalid value) unless the bytes are device memory. `side`: "source" or
// "destination", for the sentence.
void require_device(const void* pointer, size_t bytes, const char* side);

// kind is a CopyKind. Throws Failure (invalid value, invalid copy direction).
void check_copy(const void* to, const void* from, size_t bytes, int kind);
void copy_now(void* to, const void* from, size_t bytes, int kind);

}  // namespace radiance::emulator::hip
