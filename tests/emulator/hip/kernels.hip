// Kernels for the tests of the HIP runtime.
#define GLOBAL extern "C" __attribute__((global)) void
#define DEVICE __attribute__((device))
#define SHARED __attribute__((shared))

namespace {
DEVICE unsigned index() {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}
DEVICE void barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
}  // namespace

DEVICE __attribute__((used)) int total = 5;

GLOBAL add(float* out, const float* a, const float* b, int n) {
  const unsigned i = index();
  if (i < static_cast<unsigned>(n)) out[i] = a[i] + b[i];
}

struct Scale {
  float* data;
  char pad;
  double factor;
  int n;
};

GLOBAL scale(Scale s, float offset) {
  const unsigned i = index();
  if (i < static_cast<unsigned>(s.n)) s.data[i] = s.data[i] * static_cast<float>(s.factor) + offset;
}

GLOBAL add_to_total(int value) { __atomic_fetch_add(&total, value, __ATOMIC_RELAXED); }

// Each workgroup's sum, by way of dynamic LDS.
extern SHARED int dynamic[];
GLOBAL sum_groups(int* out, const int* in) {
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  dynamic[lane] = in[index()];
  barrier();
  if (lane != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < __builtin_amdgcn_workgroup_size_x(); ++i) sum += dynamic[i];
  out[__builtin_amdgcn_workgroup_id_x()] = sum;
}

GLOBAL large_lds(int* out, const int* order) {
  SHARED static int block[15 * 1024];
  const unsigned lane = __builtin_amdgcn_workitem_id_x();
  block[order[lane]] = static_cast<int>(lane);
  barrier();
  out[lane] = block[lane];
}

GLOBAL __attribute__((amdgpu_flat_work_group_size(1, 64))) at_most_64(int* out) {
  out[__builtin_amdgcn_workitem_id_x()] = 1;
}

GLOBAL store_at(int* out, long offset) { out[offset] = 1; }

GLOBAL endless(volatile int* flag) {
  while (*flag == 0) {
  }
}
