// How many instructions of each class there are, and how many bytes they move.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "census/instruction.hpp"

namespace radiance::census {

struct Counts {
  int instructions = 0;
  int wmma = 0, valu = 0, vopd = 0, salu = 0, smem = 0, lds = 0, global = 0, scratch = 0;
  int waits = 0, full_waits = 0, barriers = 0, branches = 0, control = 0;
  int perm = 0;           // v_perm_b32
  int address_pairs = 0;  // v_add_co_ci_u32: the upper half of a 64-bit vector addition
  int shifts64 = 0;       // vector shifts of 64 bits
  int and_saveexec = 0;   // s_and_saveexec_*
  int lds_loads = 0, lds_stores = 0;
  std::map<uint32_t, int> global_loads, global_stores;  // by bytes a lane
  // Global accesses by the form of their address: a scalar base and a 32-bit offset (SADDR), or 64
  // bits a lane.
  int scalar_base_loads = 0, vector_base_loads = 0, scalar_base_stores = 0, vector_base_stores = 0;
  // Of a wave of 32 lanes.
  int64_t lds_bytes = 0, global_load_bytes = 0, global_store_bytes = 0;

  void add(const Instruction& instruction);

  // Clocks of the vector pipe on one fp8 WMMA path: 8 a WMMA, 1 a VALU or VOPD instruction.
  int pipe_clocks() const { return 8 * wmma + valu + vopd; }
  double wmma_share() const;  // percent of the pipe's clocks; 0 without instructions

  // Every count by its name, those of zero too.
  std::map<std::string, int> by_class() const;
};

}  // namespace radiance::census
