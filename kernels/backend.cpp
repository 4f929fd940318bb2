#include "kernels/backend.hpp"

#include "kernels/cpu/backend.hpp"
#include "kernels/general_params.hpp"
#include "runtime/cuda_device.hpp"
#include "runtime/hip_device.hpp"
#if RADIANCE_HAVE_GFX1201
#include "kernels/gfx1201/backend.hpp"
#endif
#if RADIANCE_HAVE_SM90
#include "kernels/sm90/backend.hpp"
#endif

namespace radiance {

std::unique_ptr<Backend> make_backend(Device& device) {
  if (auto* cpu = dynamic_cast<CpuDevice*>(&device)) return make_cpu_backend(*cpu);
#if RADIANCE_HAVE_GFX1201
  if (auto* hip = dynamic_cast<HipDevice*>(&device)) return make_gfx1201_backend(*hip);
#endif
#if RADIANCE_HAVE_SM90
  if (auto* cuda = dynamic_cast<CudaDevice*>(&device)) return make_sm90_backend(*cuda);
#endif
  throw Error(RADIANCE_NO_DEVICE, "this build has no kernels for device \"" + device.info().name +
                                      "\" (" + device.info().arch +
                                      "): it was configured without that target's compiler");
}

GeneralParams general_params(const PackedHeader& header, const void* packed, const GemmCall& call,
                             const u8* xq, const float* x_scales) {
  const auto* base = static_cast<const u8*>(packed);
  GeneralParams params{};
  params.codes = reinterpret_cast<const u32*>(base + header.codes_offset);
  params.scales = reinterpret_cast<const u16*>(base + header.scales_offset);
  params.xq = xq;
  params.x_scales = x_scales;
  params.y = call.y;
  params.bias = call.bias;
  params.ldy = call.ldy;
  params.n = header.n;
  params.k = header.k;
  params.group = header.group;
  params.m = call.m;
  params.y_type = static_cast<i32>(call.y_dtype);
  params.bias_type = static_cast<i32>(call.bias_dtype);
  return params;
}

}  // namespace radiance
