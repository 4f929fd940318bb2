// The compiled kernels, embedded by cubins.cpp.
#pragma once

namespace radiance::sm90 {

extern const unsigned char decode_cubin[] asm("radiance_sm90_decode_cubin");
extern const unsigned char prefill_cubin[] asm("radiance_sm90_prefill_cubin");
extern const unsigned char quantize_cubin[] asm("radiance_sm90_quantize_cubin");
extern const unsigned char general_cubin[] asm("radiance_sm90_general_cubin");
extern const unsigned char probes_cubin[] asm("radiance_sm90_probes_cubin");

}  // namespace radiance::sm90
