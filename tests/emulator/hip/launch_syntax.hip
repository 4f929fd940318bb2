// A HIP program in one source, kernels and host code, with launches in chevrons: compiled by clang as
// for a card, without HIP's headers.
#include <cstdio>

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
using hipError_t = enum hipError_t { hipSuccess };
using hipStream_t = struct ihipStream_t*;
extern "C" {
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t lds, hipStream_t stream);
hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters,
                           size_t lds, hipStream_t stream);
hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags);
hipError_t hipDeviceSynchronize();
hipError_t hipGetSymbolAddress(void** address, const void* symbol);
}

__attribute__((device)) int step = 3;

template <typename T>
__attribute__((global)) void fill(T* out, T from) {
  const int i = static_cast<int>(__builtin_amdgcn_workgroup_id_x() * 32 +
                                 __builtin_amdgcn_workitem_id_x());
  out[i] = from + static_cast<T>(i * step);
}

int main() {
  constexpr int kCount = 64;
  void* pointer = nullptr;
  void* step_address = nullptr;
  if (hipMallocManaged(&pointer, kCount * sizeof(double), 1) != hipSuccess) return 1;
  if (hipGetSymbolAddress(&step_address, &step) != hipSuccess) return 1;
  auto* out = static_cast<double*>(pointer);
  fill<double><<<dim3(2), dim3(32), 0, nullptr>>>(out, 0.5);
  if (hipDeviceSynchronize() != hipSuccess) return 1;
  for (int i = 0; i < kCount; ++i) {
    if (out[i] != 0.5 + 3 * i) {
      std::printf("element %d is %f\n", i, out[i]);
      return 1;
    }
  }
  std::printf("%d elements are right\n", kCount);
  return 0;
}
