/* What a program in another language does: pack a weight, multiply, read the answer. */
#include <math.h>
#include <radiance/radiance.h>
#include <stdio.h>
#include <string.h>

enum { M = 3, N = 20, K = 64, GROUP = 32 };

static int failed(const char* what) {
  fprintf(stderr, "%s: %s\n", what, radiance_last_error());
  return 1;
}

int main(void) {
  static int32_t codes[K / 8 * N];
  static uint16_t scales[K / GROUP * N];
  static float x[M * K], y[M * N];
  radiance_device* device = NULL;
  radiance_linear* linear = NULL;
  void *packed = NULL, *workspace = NULL;
  size_t packed_bytes = 0, workspace_bytes = 0;

  if (radiance_abi_version() != RADIANCE_ABI_VERSION) return failed("abi");
  if (radiance_device_open("cpu", NULL, &device) != RADIANCE_OK) return failed("open");

  /* code 9 means 1; scales 1 and -0.5 in turns along n */
  for (int i = 0; i < K / 8 * N; ++i) codes[i] = (int32_t)0x99999999u;
  for (int i = 0; i < K / GROUP * N; ++i) scales[i] = i % N % 2 ? 0xb800 : 0x3c00;
  for (int i = 0; i < M * K; ++i) x[i] = (float)(1 + i / K);

  radiance_weight_desc weight;
  memset(&weight, 0, sizeof weight);
  weight.struct_size = sizeof weight;
  weight.format = RADIANCE_AUTOROUND_INT4;
  weight.n = N;
  weight.k = K;
  weight.group = GROUP;
  weight.codes = codes;
  weight.scales = scales;
  if (radiance_packed_bytes(device, &weight, &packed_bytes) != RADIANCE_OK) return failed("bytes");
  if (radiance_device_alloc(device, packed_bytes, &packed) != RADIANCE_OK) return failed("alloc");
  if (radiance_pack(device, &weight, packed, packed_bytes) != RADIANCE_OK) return failed("pack");
  if (radiance_linear_create(device, packed, packed_bytes, &linear) != RADIANCE_OK) {
    return failed("create");
  }
  if (radiance_workspace_bytes(linear, M, &workspace_bytes) != RADIANCE_OK) return failed("ws");
  if (radiance_device_alloc(device, workspace_bytes, &workspace) != RADIANCE_OK)
    return failed("ws");
  if (radiance_workspace_init(device, workspace, workspace_bytes, NULL) != RADIANCE_OK) {
    return failed("ws");
  }

  radiance_forward_args args;
  memset(&args, 0, sizeof args);
  args.struct_size = sizeof args;
  args.m = M;
  args.x = x;
  args.x_dtype = RADIANCE_F32;
  args.y = y;
  args.y_dtype = RADIANCE_F32;
  args.workspace = workspace;
  args.workspace_bytes = workspace_bytes;
  if (radiance_forward(linear, &args) != RADIANCE_OK) return failed("forward");

  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      const float expected = (float)(1 + m) * K * (n % 2 ? -0.5f : 1.0f);
      if (fabsf(y[m * N + n] - expected) > 1e-4f * fabsf(expected)) {
        fprintf(stderr, "y[%d][%d] is %g, not %g\n", m, n, y[m * N + n], expected);
        return 1;
      }
    }
  }
  args.m = -1;
  if (radiance_forward(linear, &args) != RADIANCE_INVALID_ARGUMENT) return failed("m = -1");
  if (strstr(radiance_last_error(), "m is -1") == NULL) return failed("sentence");

  radiance_linear_destroy(linear);
  radiance_device_free(device, packed);
  radiance_device_free(device, workspace);
  radiance_device_close(device);
  puts("consumer: ok");
  return 0;
}
