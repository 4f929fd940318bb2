#include "runtime/cpu_features.hpp"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

namespace radiance {
namespace {

// Linux hands out the 8 KB of tile state only to processes that ask for it.
bool amx_permitted() {
  constexpr long kRequestPermission = 0x1023, kTileData = 18;
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

bool has_amx_bf16() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  const bool tile = d >> 24 & 1, bf16 = d >> 22 & 1;
  return tile && bf16 && amx_permitted();
}

std::vector<CpuArch> detect() {
  __builtin_cpu_init();
  std::vector<CpuArch> archs;
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
  if (avx512 && has_amx_bf16()) archs.push_back(CpuArch::kAmx);
  if (avx512) archs.push_back(CpuArch::kAvx512);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c")) {
    archs.push_back(CpuArch::kAvx2);
  }
  archs.push_back(CpuArch::kPortable);
  return archs;
}

}  // namespace

const char* cpu_arch_name(CpuArch arch) {
  switch (arch) {
    case CpuArch::kAmx:
      return "amx";
    case CpuArch::kAvx512:
      return "avx512";
    case CpuArch::kAvx2:
      return "avx2";
    case CpuArch::kPortable:
      return "portable";
  }
  return "";
}

const std::vector<CpuArch>& supported_cpu_archs() {
  static const std::vector<CpuArch> archs = detect();
  return archs;
}

bool has_avx_vnni() {
  static const bool has = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1) != 0;
  }();
  return has;
}

bool has_split_bf16_dot() {
  __builtin_cpu_init();
  return __builtin_cpu_is("intel");
}

std::string cpu_model_name() {
  char name[49] = {};
  unsigned regs[4];
  for (unsigned i = 0; i < 3; ++i) {
    if (!__get_cpuid(0x80000002u + i, &regs[0], &regs[1], &regs[2], &regs[3])) return "x86-64";
    std::memcpy(name + 16 * i, regs, 16);
  }
  std::string text(name);
  const size_t first = text.find_first_not_of(' ');
  const size_t last = text.find_last_not_of(' ');
  return first == std::string::npos ? "x86-64" : text.substr(first, last - first + 1);
}

}  // namespace radiance
