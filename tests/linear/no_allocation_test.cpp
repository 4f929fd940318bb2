// A forward allocates nothing: every operator new of this program is counted.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "linear/linear.hpp"
#include "runtime/cpu_features.hpp"

namespace {
std::atomic<int> allocations{0};
}  // namespace

// Not inlined: GCC would take malloc and free beside new and delete for a mistake.
[[gnu::noinline]] void* operator new(size_t bytes) {
  allocations.fetch_add(1);
  if (void* pointer = std::malloc(bytes == 0 ? 1 : bytes)) return pointer;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, size_t) noexcept { std::free(pointer); }

namespace radiance {
namespace {

TEST(Forward, AllocatesNothing) {
  for (const CpuArch arch : supported_cpu_archs()) {
    const Engine engine(std::string("cpu:") + cpu_arch_name(arch), DeviceOptions{2});
    const std::vector<uint32_t> codes(96 / 8 * 40, 0x13579bdfu);
    const std::vector<uint16_t> scales(3 * 40, 0xb800);
    radiance_weight_desc desc{};
    desc.format = RADIANCE_AUTOROUND_INT4;
    desc.n = 40;
    desc.k = 96;
    desc.group = 32;
    desc.codes = codes.data();
    desc.scales = scales.data();
    const Buffer packed = engine.pack(desc);
    const Linear linear(engine, packed.get(), packed.bytes());
    for (const int64_t m : {1, 2, 5, 40, 700}) {
      const std::vector<float> x(static_cast<size_t>(m * 96), 1.0f);
      std::vector<float> y(static_cast<size_t>(m * 40));
      const Buffer workspace(engine.device(), linear.workspace_bytes(m));
      ForwardCall call;
      call.x = x.data();
      call.x_dtype = RADIANCE_F32;
      call.gemm.m = m;
      call.gemm.y = y.data();
      call.gemm.y_dtype = RADIANCE_F32;
      call.gemm.workspace = workspace.get();
      call.gemm.workspace_bytes = workspace.bytes();
      const int before = allocations.load();
      linear.forward(call);
      EXPECT_EQ(allocations.load(), before) << cpu_arch_name(arch) << " m " << m;
    }
  }
  EXPECT_GT(allocations.load(), 0);  // the counter counts
}

}  // namespace
}  // namespace radiance
