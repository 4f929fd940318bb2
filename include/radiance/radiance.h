/* Radiance AutoRound: linear layers of int4 checkpoints as W4A8 GEMMs. The C interface.
 *
 *   y[m][n] = out( s_m * sum_g scale[g][n] * ( sum_{k in g} xq[m][k] * value[n][k] ) + bias[n] )
 *
 * Every function but the last-error and version calls returns a radiance_status; on failure
 * radiance_last_error() gives one sentence for the calling thread, nothing is launched and nothing
 * is written. No function throws. Pointers named "device" are memory of the device that the call
 * goes to (host memory for "cpu"); streams are that device's stream handles (NULL for "cpu" and for
 * the default stream). Structs begin with struct_size = sizeof of the caller's version: fields past
 * it take their defaults (0). Sizes are in elements unless the name says bytes. */
#ifndef RADIANCE_RADIANCE_H_
#define RADIANCE_RADIANCE_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RADIANCE_API __attribute__((visibility("default")))
#else
#define RADIANCE_API
#endif

/* In C++ the enumerations have a fixed type, so that a foreign value is a value that can be
 * refused. */
#ifdef __cplusplus
#define RADIANCE_ENUM : int
extern "C" {
#else
#define RADIANCE_ENUM
#endif

/* Raised when a declaration below changes in a way that old callers would notice. */
#define RADIANCE_ABI_VERSION 1
RADIANCE_API uint32_t radiance_abi_version(void);

typedef enum radiance_status RADIANCE_ENUM {
  RADIANCE_OK = 0,
  RADIANCE_INVALID_ARGUMENT = 1, /* a null or misaligned pointer, a shape that cannot be */
  RADIANCE_UNSUPPORTED = 2,      /* legal, but not for this kernel, format or device */
  RADIANCE_BAD_INPUT = 3,        /* a file or weight that contradicts itself */
  RADIANCE_NO_DEVICE = 4,        /* the device or its driver is not here */
  RADIANCE_DEVICE_ERROR = 5,     /* the device's runtime reported an error */
  RADIANCE_OUT_OF_MEMORY = 6,
  RADIANCE_WORKSPACE_TOO_SMALL = 7,
  RADIANCE_VERSION_MISMATCH = 8, /* packed for another target or layout version */
  RADIANCE_INTERNAL = 9
} radiance_status;

/* The sentence of the calling thread's last failure, "" if none. Valid until its next failure. */
RADIANCE_API const char* radiance_last_error(void);
RADIANCE_API const char* radiance_status_name(radiance_status status);

typedef enum radiance_dtype RADIANCE_ENUM {
  RADIANCE_BF16 = 1,
  RADIANCE_F16 = 2,
  RADIANCE_F32 = 3
} radiance_dtype;

typedef enum radiance_format RADIANCE_ENUM {
  /* value = code - 8, scale fp16 (signed) per `group` consecutive k */
  RADIANCE_AUTOROUND_INT4 = 1,
  /* value = e2m1(code), scale 2^(s - 127) per 32 consecutive k */
  RADIANCE_MXFP4 = 2
} radiance_format;

/* ---- devices ----------------------------------------------------------------------------------
 */

typedef struct radiance_device radiance_device;

typedef struct radiance_device_options {
  size_t struct_size;
  int32_t threads; /* cpu: threads to use; 0 = as many as this process may run on */
} radiance_device_options;

/* name: "cpu", or "cpu:avx512", "cpu:avx2", "cpu:portable" to force one instruction set; "hip:N",
 * "cuda:N", "emu". NULL: the best real device present, else "cpu". options may be NULL. */
RADIANCE_API radiance_status radiance_device_open(const char* name,
                                                  const radiance_device_options* options,
                                                  radiance_device** device);
/* Closes the device; linears made on it must be destroyed before. NULL is ignored. */
RADIANCE_API void radiance_device_close(radiance_device* device);

typedef struct radiance_device_info {
  size_t struct_size;
  char name[64];         /* as opened: "cpu", "cuda:0" */
  char description[128]; /* the hardware, in words */
  char arch[32];         /* "avx512", "avx2", "portable", "gfx1201", "sm90" */
  int32_t units;         /* compute units, or threads on cpu */
  uint64_t memory_bytes;
  uint64_t last_cache_bytes; /* 0 if unknown */
} radiance_device_info;

RADIANCE_API radiance_status radiance_device_get_info(const radiance_device* device,
                                                      radiance_device_info* info);

/* Memory of the device, aligned to 256 bytes or better. */
RADIANCE_API radiance_status radiance_device_alloc(radiance_device* device, size_t bytes,
                                                   void** pointer);
RADIANCE_API radiance_status radiance_device_free(radiance_device* device, void* pointer);
/* Copies between host and device, and waits for the copy. */
RADIANCE_API radiance_status radiance_device_upload(radiance_device* device, void* to_device,
                                                    const void* from_host, size_t bytes);
RADIANCE_API radiance_status radiance_device_download(radiance_device* device, void* to_host,
                                                      const void* from_device, size_t bytes);

/* ---- weights ----------------------------------------------------------------------------------
 */

/* A weight as checkpoints hold it; all pointers are host memory.
 *   RADIANCE_AUTOROUND_INT4: codes  int32 [k / 8][n], eight codes a word along k, lowest k lowest;
 *                            scales fp16  [ceil(k / group)][n], finite, any sign;
 *                            k a multiple of 8; group a multiple of 8, or -1 for one group of k.
 *   RADIANCE_MXFP4:          codes  uint8 [n][k / 2], the lower nibble is the lower k;
 *                            scales uint8 [n][k / 32], none of them 255;
 *                            k a multiple of 32; group 32 (or 0). */
typedef struct radiance_weight_desc {
  size_t struct_size;
  radiance_format format;
  int64_t n;
  int64_t k;
  int64_t group;
  const void* codes;
  const void* scales;
} radiance_weight_desc;

/* Bytes of device memory that the packed weight takes (its header included). Only format, n, k and
 * group of the description are read. */
RADIANCE_API radiance_status radiance_packed_bytes(const radiance_device* device,
                                                   const radiance_weight_desc* weight,
                                                   size_t* bytes);
/* Checks the weight, packs it for this device and writes it to `packed` (device, aligned to 256, on
 * "cpu" to 64, packed_bytes long). Waits for the copy. */
RADIANCE_API radiance_status radiance_pack(radiance_device* device,
                                           const radiance_weight_desc* weight, void* packed,
                                           size_t packed_bytes);

typedef struct radiance_linear radiance_linear;

/* A linear layer over a packed weight, which stays the caller's and must outlive it. A weight that
 * was packed for another target or by another layout version is refused. */
RADIANCE_API radiance_status radiance_linear_create(radiance_device* device, const void* packed,
                                                    size_t packed_bytes, radiance_linear** linear);
RADIANCE_API void radiance_linear_destroy(radiance_linear* linear);

typedef struct radiance_linear_info {
  size_t struct_size;
  radiance_format format;
  int64_t n;
  int64_t k;
  int64_t group;
  char target[16];
  uint32_t layout_version;
  size_t packed_bytes;
} radiance_linear_info;

RADIANCE_API radiance_status radiance_linear_get_info(const radiance_linear* linear,
                                                      radiance_linear_info* info);

/* ---- forward ----------------------------------------------------------------------------------
 */

/* Workspace for forwards and gemms of up to max_m rows. One workspace serves one stream at a time,
 * and all linears of the device that it is large enough for; zero it once (device memory of
 * radiance_device_alloc is not zeroed), calls leave its counters zero. Monotone in max_m. */
RADIANCE_API radiance_status radiance_workspace_bytes(const radiance_linear* linear, int64_t max_m,
                                                      size_t* bytes);
RADIANCE_API radiance_status radiance_workspace_init(radiance_device* device, void* workspace,
                                                     size_t bytes, void* stream);

typedef struct radiance_forward_args {
  size_t struct_size;
  int64_t m;     /* rows; 0 is legal and does nothing: no pointer is looked at */
  const void* x; /* device [m][ldx] of x_dtype */
  radiance_dtype x_dtype;
  int64_t ldx; /* 0 = k */
  void* y;     /* device [m][ldy] of y_dtype; columns past n are not touched */
  radiance_dtype y_dtype;
  int64_t ldy;      /* 0 = n */
  const void* bias; /* device [n] of bias_dtype, or NULL */
  radiance_dtype bias_dtype;
  void* workspace; /* device, aligned to 256 */
  size_t workspace_bytes;
  void* stream;
} radiance_forward_args;

/* Quantizes the rows of x and multiplies: the whole operation. Allocates nothing and does not
 * synchronize; on "cpu" y is written when it returns. The packed weight must be complete when this
 * is called, not only ahead in the stream: Hopper's kernels read it while earlier ones still run.
 */
RADIANCE_API radiance_status radiance_forward(const radiance_linear* linear,
                                              const radiance_forward_args* args);

typedef struct radiance_quantize_args {
  size_t struct_size;
  int64_t m; /* rows; 0 is legal and does nothing */
  int64_t k;
  const void* x; /* device [m][ldx] of x_dtype */
  radiance_dtype x_dtype;
  int64_t ldx;     /* 0 = k */
  uint8_t* xq;     /* device [m][k], e4m3fn */
  float* scales;   /* device [m] */
  int64_t group;   /* with row_sums: consecutive k a sum covers, -1 = k */
  float* row_sums; /* device [m][ceil(k / group)], sums of xq's values, or NULL */
  void* stream;
} radiance_quantize_args;

/* s_m = max(absmax(x_m) / 448, 1 / (448 * 512)), xq = e4m3(x / s_m): bit-equal on every device. A
 * row that holds NaN or infinity gets scale NaN and bytes 0x7f. */
RADIANCE_API radiance_status radiance_quantize_activations(radiance_device* device,
                                                           const radiance_quantize_args* args);

typedef struct radiance_gemm_args {
  size_t struct_size;
  int64_t m;             /* rows; 0 is legal and does nothing */
  const uint8_t* xq;     /* device [m][k], as radiance_quantize_activations writes it */
  const float* x_scales; /* device [m] */
  void* y;
  radiance_dtype y_dtype;
  int64_t ldy; /* 0 = n */
  const void* bias;
  radiance_dtype bias_dtype;
  void* workspace;
  size_t workspace_bytes;
  void* stream;
} radiance_gemm_args;

/* The multiplication alone, from activations that are already quantized. */
RADIANCE_API radiance_status radiance_gemm(const radiance_linear* linear,
                                           const radiance_gemm_args* args);

/* Which kernel and tile m > 0 rows would take, and why, as one line; cut to `bytes` with its final
 * NUL.
 */
RADIANCE_API radiance_status radiance_explain(const radiance_linear* linear, int64_t m, char* text,
                                              size_t bytes);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* RADIANCE_RADIANCE_H_ */
