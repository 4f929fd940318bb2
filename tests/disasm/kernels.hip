// Two kernels and a variable: what the code object tests read.
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

__device__ int table[4] = {1, 2, 3, 4};
__device__ int* table_end = table + 4;  // needs a relocation

extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(1, 256)))
reverse(const float* in, float* out, int scale) {
  __shared__ float staged[256];
  const unsigned item = __builtin_amdgcn_workitem_id_x();
  staged[item] = in[item];
  __builtin_amdgcn_s_barrier();
  out[item] = staged[255 - item] * static_cast<float>(scale);
}

extern "C" __global__ void __attribute__((amdgpu_flat_work_group_size(64, 64)))
indexed(int* out, int i) {
  volatile int local[16];
  for (int k = 0; k < 16; ++k) local[k] = table[k & 3] + *(table_end - 1);
  out[0] = local[i & 15];
}
