// RADIANCE_CUBINS is the folder that the build compiled them to.

asm(".section .rodata\n.balign 64\n.globl radiance_sm90_decode_cubin\n.hidden "
    "radiance_sm90_decode_cubin\n"
    "radiance_sm90_decode_cubin:\n.incbin \"" RADIANCE_CUBINS "/decode.cubin\"\n.previous\n");

asm(".section .rodata\n.balign 64\n.globl radiance_sm90_prefill_cubin\n.hidden "
    "radiance_sm90_prefill_cubin\n"
    "radiance_sm90_prefill_cubin:\n.incbin \"" RADIANCE_CUBINS "/prefill.cubin\"\n.previous\n");

asm(".section .rodata\n.balign 64\n.globl radiance_sm90_quantize_cubin\n.hidden "
    "radiance_sm90_quantize_cubin\n"
    "radiance_sm90_quantize_cubin:\n.incbin \"" RADIANCE_CUBINS "/quantize.cubin\"\n.previous\n");

asm(".section .rodata\n.balign 64\n.globl radiance_sm90_general_cubin\n.hidden "
    "radiance_sm90_general_cubin\n"
    "radiance_sm90_general_cubin:\n.incbin \"" RADIANCE_CUBINS "/general.cubin\"\n.previous\n");

asm(".section .rodata\n.balign 64\n.globl radiance_sm90_probes_cubin\n.hidden "
    "radiance_sm90_probes_cubin\n"
    "radiance_sm90_probes_cubin:\n.incbin \"" RADIANCE_CUBINS "/probes.cubin\"\n.previous\n");
