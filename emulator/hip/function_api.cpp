// What a program may ask about a kernel: its attributes and how many fit on a multiprocessor.
#include <algorithm>

#include "emulator/hip/errors.hpp"
#include "emulator/hip/launch.hpp"

namespace radiance::emulator::hip {
namespace {

// A multiprocessor is a work-group processor: four SIMDs, and LDS of two compute units.
constexpr unsigned kSimds = 4;
constexpr unsigned kMostWaves = 16;  // of a SIMD
constexpr unsigned kVgprs = 1536;    // of a SIMD, wave32
constexpr unsigned kVgprGranule = 24;
constexpr unsigned kLdsBytes = 128 << 10;
constexpr unsigned kMostWorkgroups = 32;

unsigned workgroups_per_multiprocessor(const disasm::Kernel& kernel, unsigned threads,
                                       uint64_t dynamic_lds) {
  const uint64_t lds = kernel.descriptor.group_segment_bytes + dynamic_lds;
  if (threads == 0 || threads > kMostThreads || lds > kMostLdsBytes) return 0;
  const unsigned granules = (std::max(kernel.vgprs, 1U) + kVgprGranule - 1) / kVgprGranule;
  const unsigned waves = std::min(kMostWaves, kVgprs / (granules * kVgprGranule)) * kSimds;
  const unsigned waves_of_one = (threads + kWave - 1) / kWave;
  unsigned workgroups = std::min(kMostWorkgroups, waves / waves_of_one);
  if (lds > 0) workgroups = std::min(workgroups, static_cast<unsigned>(kLdsBytes / lds));
  return workgroups;
}

int attribute_of(const disasm::Kernel& kernel, int attribute) {
  switch (attribute) {
    case kMaxThreadsPerBlock:
      return static_cast<int>(kernel.max_workgroup_size);
    case kSharedSizeBytes:
      return static_cast<int>(kernel.descriptor.group_segment_bytes);
    case kLocalSizeBytes:
      return static_cast<int>(kernel.descriptor.private_segment_bytes);
    case kNumRegs:
      return static_cast<int>(kernel.vgprs);
    case kMaxDynamicSharedSizeBytes:
      return static_cast<int>(kMostLdsBytes) -
             static_cast<int>(kernel.descriptor.group_segment_bytes);
    case kConstSizeBytes:
    case kPtxVersion:
    case kBinaryVersion:
    case kCacheModeCa:
    case kPreferredSharedMemoryCarveout:
      return 0;
    default:
      fail(kInvalidValue, "a kernel has no attribute " + std::to_string(attribute));
  }
}

}  // namespace

RADIANCE_HIP_EXPORT Result hipFuncGetAttribute(int* value, int attribute, Function* function) {
  return device_api([&] {
    require(value != nullptr, kInvalidValue, "the pointer for the attribute is null");
    *value = attribute_of(*function_of(function).kernel, attribute);
  });
}

RADIANCE_HIP_EXPORT Result hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* workgroups,
                                                                              Function* function,
                                                                              int threads,
                                                                              size_t lds_bytes) {
  return device_api([&] {
    require(workgroups != nullptr && threads > 0, kInvalidValue,
            "occupancy is asked with no place for it or for no threads");
    *workgroups = static_cast<int>(workgroups_per_multiprocessor(
        *function_of(function).kernel, static_cast<unsigned>(threads), lds_bytes));
  });
}

RADIANCE_HIP_EXPORT Result hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* workgroups, Function* function, int threads, size_t lds_bytes, unsigned) {
  return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(workgroups, function, threads,
                                                            lds_bytes);
}

}  // namespace radiance::emulator::hip
