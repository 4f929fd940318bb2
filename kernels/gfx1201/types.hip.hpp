// What HIP's headers would have declared, and short names for the compiler's builtins.
#pragma once

#include "kernels/gfx1201/geometry.hpp"

#define RADIANCE_DEVICE __attribute__((device)) __attribute__((always_inline)) inline
#define RADIANCE_SHARED __attribute__((shared))
// A kernel of `threads` threads a workgroup.
#define RADIANCE_KERNEL(threads)                                              \
  extern "C" __attribute__((global)) __attribute__((visibility("protected"))) \
  __attribute__((amdgpu_flat_work_group_size(threads, threads)))

namespace radiance::gfx1201 {

using i32x2 = i32 __attribute__((ext_vector_type(2)));
using u32x2 = u32 __attribute__((ext_vector_type(2)));
using u32x4 = u32 __attribute__((ext_vector_type(4)));
using u16x2 = u16 __attribute__((ext_vector_type(2)));
using f32x2 = float __attribute__((ext_vector_type(2)));
using f32x4 = float __attribute__((ext_vector_type(4)));
using f32x8 = float __attribute__((ext_vector_type(8)));

// Words that one load brings.
template <int kWords>
struct WordRun {
  u32 word[kWords];
};

// fp16 scales of a feature and slab, loaded at once.
template <int kFolds>
struct alignas(2 * kFolds) ScaleRun {
  u16 bits[kFolds];
  RADIANCE_DEVICE float value(int fold) const {
    return static_cast<float>(__builtin_bit_cast(_Float16, bits[fold]));
  }
};

RADIANCE_DEVICE u32 thread_index() { return __builtin_amdgcn_workitem_id_x(); }
RADIANCE_DEVICE u32 block_x() { return __builtin_amdgcn_workgroup_id_x(); }
RADIANCE_DEVICE u32 block_y() { return __builtin_amdgcn_workgroup_id_y(); }

// The same in every lane; the compiler is told so.
RADIANCE_DEVICE u32 uniform(u32 x) { return __builtin_amdgcn_readfirstlane(x); }
RADIANCE_DEVICE u32 wave_index() { return uniform(thread_index() / kWave); }

// Waits for the workgroup's LDS accesses alone: a full __syncthreads would also wait for loads from
// memory that are meant to stay in flight.
RADIANCE_DEVICE void lds_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

// The same in two halves: between them a wave does what touches no LDS, and those that come late
// keep nobody waiting.
RADIANCE_DEVICE void lds_arrive() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier_signal(-1);
}
RADIANCE_DEVICE void lds_await() {
  __builtin_amdgcn_s_barrier_wait(-1);
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

// A load in the form of a scalar base and a lane's 32-bit offset. The compiler would rather hoist
// the sum of both out of a loop and carry 64-bit addresses in vector registers, which costs two
// adds a load and iteration: so neither part is known to be what it was in the last iteration.
using GlobalBytes = const __attribute__((address_space(1))) u8*;

RADIANCE_DEVICE GlobalBytes global_bytes(const void* pointer) {
  return (GlobalBytes)pointer;  // a C-style cast alone changes address spaces
}
template <typename T>
RADIANCE_DEVICE T load_at(GlobalBytes uniform_base, u32& offset, i32 constant = 0) {
  asm("" : "+v"(offset));
  return *(const __attribute__((address_space(1))) T*)(uniform_base + offset + constant);
}
// Of that form too: eight bytes a lane, transposed among the lanes as blocks of single bytes.
RADIANCE_DEVICE u32x2 load_transposed(GlobalBytes uniform_base, u32& offset, i32 constant) {
  asm("" : "+v"(offset));
  return __builtin_bit_cast(
      u32x2, __builtin_amdgcn_global_load_tr_b64_v2i32(
                 (__attribute__((address_space(1))) i32x2*)(uniform_base + offset + constant)));
}
RADIANCE_DEVICE void keep_scalar(GlobalBytes& pointer) { asm("" : "+s"(pointer)); }

// A store of that form.
template <typename T>
RADIANCE_DEVICE void store_at(void* uniform_base, u32& offset, T value) {
  auto* base = (__attribute__((address_space(1))) u8*)uniform_base;
  asm("" : "+s"(base));
  asm("" : "+v"(offset));
  *(__attribute__((address_space(1))) T*)(base + offset) = value;
}

// The compiler moves nothing across.
RADIANCE_DEVICE void schedule_barrier() { __builtin_amdgcn_sched_barrier(0); }

}  // namespace radiance::gfx1201
