// The activation quantizer on the emulator against numerics/, bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/backend.hpp"
#include "numerics/bf16.hpp"
#include "numerics/e4m3.hpp"
#include "numerics/f16.hpp"
#include "tests/kernels/gfx1201/emulated_gemm.hpp"

namespace radiance::gfx1201 {
namespace {

// Rows as a type holds them, and what they are worth.
struct Rows {
  std::vector<uint8_t> bytes;
  std::vector<float> values;  // [m][ldx]
};

Rows random_rows(std::mt19937& rng, radiance_dtype type, int64_t m, int64_t ldx) {
  Rows rows;
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < m * ldx; ++i) {
    // Sizes over many binades, so that some quotients are e4m3 subnormals and some ties.
    float x = std::ldexp(normal(rng), -static_cast<int>(rng() % 16));
    if (rng() % 16 == 0) x = 0.0f;
    if (type == RADIANCE_F32) {
      rows.bytes.resize(rows.bytes.size() + 4);
      std::memcpy(rows.bytes.data() + i * 4, &x, 4);
    } else {
      const uint16_t bits = type == RADIANCE_BF16 ? f32_to_bf16(x) : f32_to_f16(x);
      rows.bytes.resize(rows.bytes.size() + 2);
      std::memcpy(rows.bytes.data() + i * 2, &bits, 2);
      x = type == RADIANCE_BF16 ? bf16_to_f32(bits) : f16_to_f32(bits);
    }
    rows.values.push_back(x);
  }
  return rows;
}

struct Case {
  radiance_dtype type;
  int64_t m, k, ldx, offset;  // offset: elements before the first row
};

void check(Device& device, Backend& backend, std::mt19937& rng, const Case& c, bool poison) {
  constexpr int64_t kGroup = 128;
  const int64_t size = c.type == RADIANCE_F32 ? 4 : 2, groups = (c.k + kGroup - 1) / kGroup;
  Rows rows = random_rows(rng, c.type, c.m, c.ldx);
  if (poison) {  // infinity in the last element of row 1, in every type the upper exponent bits
    const int64_t at = c.ldx + c.k - 1;
    const uint32_t f32 = 0xff800000u;
    const uint16_t half = c.type == RADIANCE_BF16 ? 0xff80 : 0xfc00;
    std::memcpy(rows.bytes.data() + at * size,
                c.type == RADIANCE_F32 ? static_cast<const void*>(&f32) : &half,
                static_cast<size_t>(size));
  }
  Buffer x(device, rows.bytes.size() + static_cast<size_t>(c.offset * size));
  Buffer xq(device, static_cast<size_t>(c.m * c.k)), scales(device, static_cast<size_t>(c.m) * 4);
  Buffer sums(device, static_cast<size_t>(c.m * groups) * 4);
  device.upload(x.get<uint8_t>() + c.offset * size, rows.bytes.data(), rows.bytes.size());
  QuantizeCall call;
  call.m = c.m;
  call.k = c.k;
  call.x = x.get<uint8_t>() + c.offset * size;
  call.x_dtype = c.type;
  call.ldx = c.ldx;
  call.xq = xq.get<uint8_t>();
  call.scales = scales.get<float>();
  call.group = kGroup;
  call.row_sums = sums.get<float>();
  backend.quantize(call);
  device.synchronize(nullptr);
  std::vector<uint8_t> got(xq.bytes());
  std::vector<float> got_scales(static_cast<size_t>(c.m)),
      got_sums(static_cast<size_t>(c.m * groups));
  device.download(got.data(), xq.get(), xq.bytes());
  device.download(got_scales.data(), scales.get(), scales.bytes());
  device.download(got_sums.data(), sums.get(), sums.bytes());
  for (int64_t m = 0; m < c.m; ++m) {
    const float* row = rows.values.data() + m * c.ldx;
    const bool bad = poison && m == 1;
    float largest = 0;
    for (int64_t k = 0; k < c.k; ++k) largest = std::max(largest, std::abs(row[k]));
    const float scale = activation_scale(largest);
    const float got_scale = got_scales[static_cast<size_t>(m)];
    ASSERT_TRUE(bad ? std::isnan(got_scale) : got_scale == scale) << "row " << m << " k " << c.k;
    std::vector<double> sum(static_cast<size_t>(groups), 0);
    for (int64_t k = 0; k < c.k; ++k) {
      const u8 byte = bad ? kE4m3Nan : f32_to_e4m3(row[k] / scale);
      ASSERT_EQ(got[static_cast<size_t>(m * c.k + k)], byte)
          << "row " << m << " k " << k << "/" << c.k << " type " << c.type;
      sum[static_cast<size_t>(k / kGroup)] += e4m3_to_f32(byte);
    }
    for (int64_t g = 0; g < groups; ++g) {
      const float got_sum = got_sums[static_cast<size_t>(m * groups + g)];
      ASSERT_TRUE(bad ? std::isnan(got_sum)
                      : got_sum == static_cast<float>(sum[static_cast<size_t>(g)]));
    }
  }
}

TEST(Gfx1201Quantize, IsNumericsBitForBit) {
  const auto device = test::open_emulator(3);
  const auto backend = make_backend(*device);
  std::mt19937 rng(5);
  for (const radiance_dtype type : {RADIANCE_BF16, RADIANCE_F16, RADIANCE_F32}) {
    // Wide loads, rows of one to several chunks a thread; past what is kept in registers.
    for (const int64_t k : {8, 640, 17408, 33024}) {
      check(*device, *backend, rng, {type, 2, k, k, 0}, false);
      if (HasFatalFailure()) return;
    }
    // Lengths and addresses that wide loads do not take, rows further apart than they are long.
    check(*device, *backend, rng, {type, 3, 5, 5, 0}, false);
    check(*device, *backend, rng, {type, 3, 136, 143, 0}, false);
    check(*device, *backend, rng, {type, 2, 256, 256, 1}, false);
    check(*device, *backend, rng, {type, 3, 640, 648, 0}, true);
    check(*device, *backend, rng, {type, 3, 77, 77, 0}, true);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace radiance::gfx1201
