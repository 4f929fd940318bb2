#include "census/occupancy.hpp"

#include <algorithm>

namespace radiance::census {
namespace {

constexpr int kLanes = 32;
constexpr int kRegisters = 1536;
constexpr int kRegisterGranule = 24;
constexpr int kMostWaves = 16;
constexpr int kSimds = 4;  // of a workgroup processor
constexpr int kLdsBytes = 128 * 1024;
constexpr int kLdsGranule = 1024;
constexpr int kBarriers = 32;  // of workgroups, a workgroup processor

int round_up(int value, int to) { return (value + to - 1) / to * to; }

int waves_of_group(const Resources& resources) {
  return std::max(1, (resources.workgroup_size + kLanes - 1) / kLanes);
}

// A workgroup processor in workgroup processor mode, one of its compute units in the other.
int simds(const Resources& resources) {
  return resources.workgroup_processor_mode ? kSimds : kSimds / 2;
}

int waves_by_registers(const Resources& resources) {
  const int registers = round_up(std::max(resources.vgprs, 1), kRegisterGranule);
  return std::min(kMostWaves, kRegisters / registers);
}

// Workgroups that the wave slots, the barriers and the LDS of those SIMDs hold.
int groups_by_slots_and_lds(const Resources& resources, int lds_granule) {
  const int waves = waves_of_group(resources);
  int groups = simds(resources) * kMostWaves / waves;
  // A workgroup of one wave needs no barrier.
  if (waves > 1) groups = std::min(groups, kBarriers * simds(resources) / kSimds);
  if (resources.lds_bytes > 0) {
    groups = std::min(
        groups, kLdsBytes * simds(resources) / kSimds / round_up(resources.lds_bytes, lds_granule));
  }
  return groups;
}

// The waves of the SIMD that holds most.
int waves_of(const Resources& resources, int groups) {
  return (groups * waves_of_group(resources) + simds(resources) - 1) / simds(resources);
}

}  // namespace

int occupancy(const Resources& resources) {
  return std::min(waves_by_registers(resources),
                  waves_of(resources, groups_by_slots_and_lds(resources, 1)));
}

int allocated_occupancy(const Resources& resources) {
  const int groups =
      std::min(groups_by_slots_and_lds(resources, kLdsGranule),
               simds(resources) * waves_by_registers(resources) / waves_of_group(resources));
  return waves_of(resources, groups);
}

}  // namespace radiance::census
