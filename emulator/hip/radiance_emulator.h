/* What the gfx1201 emulator's libamdhip64 exports beside the HIP runtime. C; link the library, or
 * look for these with dlsym: where they are missing, the runtime is ROCm's. */
#ifndef RADIANCE_EMULATOR_H_
#define RADIANCE_EMULATOR_H_

#ifdef __cplusplus
extern "C" {
#endif

/* "Radiance gfx1201 emulator 0.1.0" */
const char* radiance_emulator_version(void);

/* clang-format off */
/* Sets an option for all launches that follow, in every thread:
 *   threads  0 (default): as many as the host has; else how many work on a launch
 *   strict   1: checks that hardware has not (docs/emulator.md); 0 (default)
 *   seed     a number: workgroups and waves run in a random order that follows from it and the
 *            count of launches since it was set; "none" (default): in order
 *   budget   instructions that one wave may execute before the launch is stopped as endless
 *   omit     KERNEL+OFFSET: the instruction so many bytes into the kernel is executed as s_nop, to
 *            see whether a check notices that it is missing; "none" (default)
 *   flush_fp8  1: the matrix unit takes subnormal 8-bit floats for zeros, which the card is assumed
 *            not to do; 0 (default)
 *   quiet    1: nothing goes to stderr; 0 (default)
 * Returns a hipError_t: 0, or 1 (invalid value) for an option or value that there is not.
 * The environment variable RADIANCE_EMULATOR sets them at the start: "strict=1,seed=42". */
/* clang-format on */
int radiance_emulator_set_option(const char* name, const char* value);

/* A sentence about this thread's last call that failed: which kernel, instruction, lane and
 * address, or which argument. "" if there is none. Valid until the thread's next call. */
const char* radiance_emulator_last_report(void);

/* What the kernels launched since the last reset did, as JSON: {"kernels": [{"name", "launches",
 * "workgroups", "waves", "instructions": {CLASS: N, ...}, "global_load": {...}, ...}]}. Valid until
 * this thread's next call. */
const char* radiance_emulator_counters(void);
void radiance_emulator_reset_counters(void);

/* The table of supported opcodes by family, as text. */
const char* radiance_emulator_supported(void);

#ifdef __cplusplus
}
#endif

#endif /* RADIANCE_EMULATOR_H_ */
