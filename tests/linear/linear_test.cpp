#include "linear/linear.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "numerics/bf16.hpp"
#include "numerics/f16.hpp"

namespace radiance {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kN = 50, kK = 72, kGroup = 32;

class LinearTest : public ::testing::Test {
 protected:
  LinearTest() {
    std::mt19937 rng(11);
    codes_.resize(kK / 8 * kN);
    for (auto& c : codes_) c = static_cast<uint32_t>(rng());
    scales_.resize(3 * kN);
    for (auto& s : scales_) {
      s = f32_to_f16(0.01f * (static_cast<float>(rng() % 200) - 100.0f) / 100.0f);
    }
    packed_ = engine_.pack(desc());
  }

  radiance_weight_desc desc() const {
    radiance_weight_desc d{};
    d.struct_size = sizeof(d);
    d.format = RADIANCE_AUTOROUND_INT4;
    d.n = kN;
    d.k = kK;
    d.group = kGroup;
    d.codes = codes_.data();
    d.scales = scales_.data();
    return d;
  }

  template <typename Body>
  static Error error_of(Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return Error(RADIANCE_OK, "");
  }

  Engine engine_{"cpu", DeviceOptions{2}};
  std::vector<uint32_t> codes_;
  std::vector<uint16_t> scales_;
  Buffer packed_;
};

struct Problem {
  std::vector<float> x, y;
  Buffer workspace;

  Problem(const Engine& engine, const Linear& linear, int64_t m)
      : x(static_cast<size_t>(m * kK)), y(static_cast<size_t>(m * kN), NAN) {
    std::mt19937 rng(static_cast<unsigned>(m));
    std::normal_distribution<float> normal;
    for (float& v : x) v = normal(rng);
    workspace = Buffer(engine.device(), linear.workspace_bytes(m));
  }

  ForwardCall call() {
    ForwardCall c;
    c.x = x.data();
    c.x_dtype = RADIANCE_F32;
    c.gemm.m = static_cast<int64_t>(x.size()) / kK;
    c.gemm.y = y.data();
    c.gemm.y_dtype = RADIANCE_F32;
    c.gemm.workspace = workspace.get();
    c.gemm.workspace_bytes = workspace.bytes();
    return c;
  }
};

TEST_F(LinearTest, RefusesForeignMemory) {
  Buffer other(engine_.device(), packed_.bytes());
  std::memset(other.get(), 0, other.bytes());
  EXPECT_EQ(error_of([&] { Linear(engine_, other.get(), other.bytes()); }).status(),
            RADIANCE_BAD_INPUT);
  EXPECT_EQ(error_of([&] { Linear(engine_, packed_.get(), 100); }).status(), RADIANCE_BAD_INPUT);
  EXPECT_EQ(error_of([&] { Linear(engine_, packed_.get(), packed_.bytes() - 1); }).status(),
            RADIANCE_BAD_INPUT);
  EXPECT_EQ(error_of([&] { Linear(engine_, packed_.get<char>() + 32, packed_.bytes()); }).status(),
            RADIANCE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { Linear(engine_, nullptr, 0); }).status(), RADIANCE_INVALID_ARGUMENT);
}

TEST_F(LinearTest, RefusesAnotherTargetLayoutOrShape) {
  auto* header = packed_.get<PackedHeader>();
  const PackedHeader good = *header;
  const auto refused = [&] {
    const Error error = error_of([&] { Linear(engine_, packed_.get(), packed_.bytes()); });
    *header = good;
    return error;
  };
  std::strcpy(header->target, "sm90");
  EXPECT_EQ(refused().status(), RADIANCE_VERSION_MISMATCH);
  header->layout_version += 1;
  EXPECT_EQ(refused().status(), RADIANCE_VERSION_MISMATCH);
  std::memset(header->target, 'x', sizeof(header->target));
  EXPECT_EQ(refused().status(), RADIANCE_VERSION_MISMATCH);
  header->k = 80;
  EXPECT_EQ(refused().status(), RADIANCE_BAD_INPUT);
  header->k = -8;
  EXPECT_EQ(refused().status(), RADIANCE_INVALID_ARGUMENT);
  EXPECT_NO_THROW(Linear(engine_, packed_.get(), packed_.bytes()));
}

// Copies of a weight lie where other allocators put them: on a cache line.
TEST_F(LinearTest, APackedWeightNeedsACacheLine) {
  const Linear linear(engine_, packed_.get(), packed_.bytes());
  Problem p(engine_, linear, 4);
  linear.forward(p.call());
  const std::vector<float> expected = p.y;

  const Buffer room(engine_.device(), packed_.bytes() + 64);
  auto* copy = room.get<char>() + 64;
  std::memcpy(copy, packed_.get(), packed_.bytes());
  const Linear moved(engine_, copy, packed_.bytes());
  Problem q(engine_, moved, 4);
  moved.forward(q.call());
  EXPECT_EQ(q.y, expected);

  std::memmove(copy - 32, copy, packed_.bytes());
  EXPECT_THAT(error_of([&] { Linear(engine_, copy - 32, packed_.bytes()); }).what(),
              HasSubstr("packed is not aligned to 64 bytes"));
}

TEST_F(LinearTest, BadArgumentsWriteNothing) {
  const Linear linear(engine_, packed_.get(), packed_.bytes());
  Problem p(engine_, linear, 4);
  const auto refused = [&](auto&& change) {
    ForwardCall call = p.call();
    change(call);
    const Error error = error_of([&] { linear.forward(call); });
    for (const float y : p.y) EXPECT_TRUE(std::isnan(y));
    return error;
  };
  EXPECT_THAT(refused([](ForwardCall& c) { c.gemm.m = -1; }).what(), HasSubstr("m is -1"));
  EXPECT_THAT(refused([](ForwardCall& c) { c.x = nullptr; }).what(), HasSubstr("x is null"));
  EXPECT_THAT(refused([](ForwardCall& c) { c.gemm.y = nullptr; }).what(), HasSubstr("y is null"));
  EXPECT_THAT(refused([](ForwardCall& c) { c.ldx = kK - 1; }).what(), HasSubstr("ldx is 71"));
  EXPECT_THAT(refused([](ForwardCall& c) { c.gemm.ldy = kN - 1; }).what(), HasSubstr("ldy is 49"));
  EXPECT_THAT(refused([](ForwardCall& c) { c.x_dtype = static_cast<radiance_dtype>(7); }).what(),
              HasSubstr("x_dtype is 7"));
  EXPECT_THAT(
      refused([](ForwardCall& c) { c.gemm.y_dtype = static_cast<radiance_dtype>(0); }).what(),
      HasSubstr("y_dtype is 0"));
  EXPECT_THAT(refused([](ForwardCall& c) { c.gemm.workspace = nullptr; }).what(),
              HasSubstr("workspace is null"));
  EXPECT_THAT(refused([](ForwardCall& c) {
                c.gemm.workspace = static_cast<char*>(c.gemm.workspace) + 64;
              }).what(),
              HasSubstr("workspace is not aligned"));
  EXPECT_THAT(refused([](ForwardCall& c) { c.x = static_cast<const char*>(c.x) + 1; }).what(),
              HasSubstr("x is not aligned"));
  EXPECT_EQ(refused([](ForwardCall& c) { c.gemm.workspace_bytes -= 1; }).status(),
            RADIANCE_WORKSPACE_TOO_SMALL);
  EXPECT_EQ(refused([](ForwardCall& c) { c.gemm.config = "decode/none"; }).status(),
            RADIANCE_INVALID_ARGUMENT);
}

TEST_F(LinearTest, NoRowsIsNoWork) {
  const Linear linear(engine_, packed_.get(), packed_.bytes());
  EXPECT_EQ(linear.workspace_bytes(0), 0u);
  ForwardCall call;
  EXPECT_NO_THROW(linear.forward(call));
  EXPECT_NO_THROW(linear.gemm(GemmCall{}));
  EXPECT_NO_THROW(engine_.quantize([] {
    QuantizeCall q;
    q.k = 8;
    return q;
  }()));
}

TEST_F(LinearTest, WorkspaceGrowsWithM) {
  const Linear linear(engine_, packed_.get(), packed_.bytes());
  size_t last = 0;
  for (int64_t m = 1; m <= 700; ++m) {
    const size_t bytes = linear.workspace_bytes(m);
    EXPECT_GE(bytes, last);
    last = bytes;
  }
}

TEST_F(LinearTest, NanRowsTouchNoOther) {
  const Linear linear(engine_, packed_.get(), packed_.bytes());
  for (const int64_t m : {int64_t{3}, int64_t{40}}) {
    Problem p(engine_, linear, m);
    linear.forward(p.call());
    const std::vector<float> clean = p.y;
    p.x[static_cast<size_t>(kK + 5)] = NAN;
    p.x[static_cast<size_t>(2 * kK)] = -INFINITY;
    linear.forward(p.call());
    for (size_t i = 0; i < p.y.size(); ++i) {
      const size_t row = i / kN;
      if (row == 1 || row == 2) {
        EXPECT_TRUE(std::isnan(p.y[i]));
      } else {
        EXPECT_EQ(p.y[i], clean[i]);
      }
    }
  }
}

TEST_F(LinearTest, SameBitsWhateverTheThreads) {
  const Linear linear(engine_, packed_.get(), packed_.bytes());
  for (const int64_t m : {int64_t{1}, int64_t{7}, int64_t{100}, int64_t{600}}) {
    Problem p(engine_, linear, m);
    linear.forward(p.call());
    const std::vector<float> first = p.y;
    for (const int threads : {1, 2, 3, 7}) {
      const Engine other("cpu", DeviceOptions{threads});
      const Linear same(other, packed_.get(), packed_.bytes());
      Problem q(other, same, m);
      same.forward(q.call());
      EXPECT_EQ(std::memcmp(first.data(), q.y.data(), first.size() * 4), 0) << m << " " << threads;
    }
  }
}

TEST_F(LinearTest, ConcurrentCallsOnTheirOwnWorkspaces) {
  const Linear linear(engine_, packed_.get(), packed_.bytes());
  Problem alone(engine_, linear, 33);
  linear.forward(alone.call());
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, -1);
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      Problem p(engine_, linear, 33);
      wrong[t] = 0;
      for (int i = 0; i < 50; ++i) {
        std::fill(p.y.begin(), p.y.end(), NAN);
        linear.forward(p.call());
        wrong[t] += std::memcmp(p.y.data(), alone.y.data(), p.y.size() * 4) != 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

TEST_F(LinearTest, StridesBiasAndTypes) {
  const Linear linear(engine_, packed_.get(), packed_.bytes());
  constexpr int64_t m = 6, ldx = kK + 5, ldy = kN + 9;
  Problem p(engine_, linear, m);
  linear.forward(p.call());
  std::vector<uint16_t> x(static_cast<size_t>(m * ldx), 0x7fc0),
      y(static_cast<size_t>(m * ldy), 0x5555);
  std::vector<uint16_t> tight(static_cast<size_t>(m * kN));
  std::vector<float> bias(kN);
  for (int64_t n = 0; n < kN; ++n) bias[static_cast<size_t>(n)] = 0.125f * static_cast<float>(n);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t k = 0; k < kK; ++k) {
      const float v = p.x[static_cast<size_t>(i * kK + k)];
      x[static_cast<size_t>(i * ldx + k)] = f32_to_bf16(v);
      p.x[static_cast<size_t>(i * kK + k)] = bf16_to_f32(f32_to_bf16(v));
    }
  }
  linear.forward(p.call());
  ForwardCall call = p.call();
  call.x = x.data();
  call.x_dtype = RADIANCE_BF16;
  call.ldx = ldx;
  call.gemm.y = y.data();
  call.gemm.y_dtype = RADIANCE_F16;
  call.gemm.ldy = ldy;
  call.gemm.bias = bias.data();
  call.gemm.bias_dtype = RADIANCE_F32;
  linear.forward(call);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t n = 0; n < ldy; ++n) {
      const uint16_t got = y[static_cast<size_t>(i * ldy + n)];
      if (n >= kN) {
        EXPECT_EQ(got, 0x5555);
      } else {
        const float expected = p.y[static_cast<size_t>(i * kN + n)] + bias[static_cast<size_t>(n)];
        EXPECT_NEAR(f16_to_f32(got), expected, 1e-3f * (1.0f + std::abs(expected)));
      }
    }
  }
}

}  // namespace
}  // namespace radiance
