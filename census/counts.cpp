#include "census/counts.hpp"

namespace radiance::census {

constexpr int64_t kLanes = 32;

void Counts::add(const Instruction& instruction) {
  const Access& access = instruction.access;
  ++instructions;
  switch (instruction.kind) {
    case Class::kWmma:
      ++wmma;
      break;
    case Class::kVopd:
      ++vopd;
      break;
    case Class::kValu:
      ++valu;
      perm += instruction.is("v_perm_b32");
      address_pairs += instruction.starts_with("v_add_co_ci_u32");
      shifts64 += instruction.starts_with("v_lshlrev_b64") ||
                  instruction.starts_with("v_lshrrev_b64") ||
                  instruction.starts_with("v_ashrrev_i64");
      break;
    case Class::kSalu:
      ++salu;
      and_saveexec += instruction.starts_with("s_and_saveexec_");
      break;
    case Class::kSmem:
      ++smem;
      break;
    case Class::kLds:
      ++lds;
      lds_loads += access.load_bytes > 0;
      lds_stores += access.store_bytes > 0;
      lds_bytes += kLanes * (access.load_bytes + access.store_bytes);
      break;
    case Class::kGlobal:
      ++global;
      if (access.load_bytes > 0) {
        ++global_loads[access.load_bytes];
        ++(access.scalar_base ? scalar_base_loads : vector_base_loads);
      }
      if (access.store_bytes > 0) {
        ++global_stores[access.store_bytes];
        ++(access.scalar_base ? scalar_base_stores : vector_base_stores);
      }
      global_load_bytes += kLanes * access.load_bytes;
      global_store_bytes += kLanes * access.store_bytes;
      break;
    case Class::kScratch:
      ++scratch;
      break;
    case Class::kWait:
      ++waits;
      full_waits += instruction.full_wait;
      break;
    case Class::kBarrier:
      ++barriers;
      break;
    case Class::kBranch:
      ++branches;
      break;
    case Class::kControl:
      ++control;
      break;
  }
}

double Counts::wmma_share() const {
  return pipe_clocks() == 0 ? 0 : 100.0 * 8 * wmma / pipe_clocks();
}

std::map<std::string, int> Counts::by_class() const {
  std::map<std::string, int> classes = {{"wmma", wmma},
                                        {"valu", valu},
                                        {"vopd", vopd},
                                        {"salu", salu},
                                        {"smem", smem},
                                        {"lds", lds},
                                        {"lds_load", lds_loads},
                                        {"lds_store", lds_stores},
                                        {"global", global},
                                        {"global_load_scalar_base", scalar_base_loads},
                                        {"global_load_vector_base", vector_base_loads},
                                        {"global_store_scalar_base", scalar_base_stores},
                                        {"global_store_vector_base", vector_base_stores},
                                        {"scratch", scratch},
                                        {"wait", waits},
                                        {"full_wait", full_waits},
                                        {"barrier", barriers},
                                        {"branch", branches},
                                        {"control", control},
                                        {"v_perm", perm},
                                        {"address_pair", address_pairs},
                                        {"shift64", shifts64},
                                        {"s_and_saveexec", and_saveexec}};
  for (const uint32_t bytes : {1u, 2u, 4u, 8u, 12u, 16u}) {
    const std::string bits = std::to_string(8 * bytes);
    const auto count = [&](const std::map<uint32_t, int>& widths) {
      const auto found = widths.find(bytes);
      return found == widths.end() ? 0 : found->second;
    };
    classes["global_load_b" + bits] = count(global_loads);
    classes["global_store_b" + bits] = count(global_stores);
  }
  return classes;
}

}  // namespace radiance::census
