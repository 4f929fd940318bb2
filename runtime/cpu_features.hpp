// Which instruction sets this processor and its operating system offer.
#pragma once

#include <string>
#include <vector>

namespace radiance {

enum class CpuArch { kPortable, kAvx2, kAvx512, kAmx };

// "portable", "avx2", "avx512", "amx".
const char* cpu_arch_name(CpuArch arch);

// What can run here, the best first; kPortable is always the last.
//   amx:    AMX tiles with bf16, besides avx512
//   avx512: AVX-512 F, BW, DQ, VL, VNNI and BF16
//   avx2:   AVX2, FMA and F16C
const std::vector<CpuArch>& supported_cpu_archs();

// Whether the processor has AVX-VNNI (byte dots on 256-bit vectors), which avx2 uses where it is.
bool has_avx_vnni();

// Whether vdpbf16ps runs as several operations, as on Intel's processors to date (a quarter of
// vpdpbusd's rate, measured on Sapphire and Emerald Rapids); on AMD's it is as fast as vpdpbusd.
bool has_split_bf16_dot();

// The processor's name as it states it.
std::string cpu_model_name();

}  // namespace radiance
