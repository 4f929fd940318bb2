#include "lab/peak_guard.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace radiance::lab {
namespace {

// A machine whose peak is what the test says; nothing else of it is asked for.
class ScriptedBackend final : public Backend {
 public:
  double rate = 100e9;

  PeakProbe peak(const char*, double) override { return {"scripted", rate}; }

  const char* target() const override { return "cpu"; }
  uint32_t layout_version() const override { return 0; }
  size_t packed_bytes(const WeightShape&) const override { return 0; }
  void pack(const WeightShape&, const radiance_weight_desc&, void*) override { refuse(); }
  size_t workspace_bytes(const WeightShape&, int64_t) const override { return 0; }
  Plan plan(const WeightShape&, int64_t) const override { return {}; }
  std::vector<Plan> configs(const WeightShape&, int64_t) const override { return {}; }
  void quantize(const QuantizeCall&) override { refuse(); }
  void gemm(const PackedHeader&, const void*, const GemmCall&) override { refuse(); }
  void forward(const PackedHeader&, const void*, const ForwardCall&) override { refuse(); }
  void stream_read(const void*, size_t, StreamHandle) override { refuse(); }

 private:
  static void refuse() { throw std::logic_error("a guard only probes"); }
};

TEST(PeakGuard, RefusesASharedCoreAndPassesAQuietOne) {
  ScriptedBackend backend;
  PeakGuard guard(backend, "any");
  EXPECT_EQ(guard.instruction(), "scripted");
  EXPECT_TRUE(guard.pass());
  backend.rate = 86e9;
  EXPECT_TRUE(guard.pass());
  backend.rate = 50e9;  // both virtual cores on one physical one
  EXPECT_FALSE(guard.pass());
  EXPECT_DOUBLE_EQ(guard.last_gmacs(), 50);
  backend.rate = 100e9;
  EXPECT_TRUE(guard.pass());
}

// A moment of turbo does not refuse everything after it.
TEST(PeakGuard, OneOutlierIsNotTheGoodRate) {
  ScriptedBackend backend;
  PeakGuard guard(backend, "any");
  backend.rate = 200e9;
  EXPECT_TRUE(guard.pass());
  backend.rate = 100e9;
  EXPECT_TRUE(guard.pass());
  EXPECT_DOUBLE_EQ(guard.good_gmacs(), 100);
  EXPECT_DOUBLE_EQ(guard.best_gmacs(), 200);
}

// A machine that turned out faster than it began raises the bar.
TEST(PeakGuard, LearnsABetterRate) {
  ScriptedBackend backend;
  backend.rate = 50e9;
  PeakGuard guard(backend, "any");
  EXPECT_TRUE(guard.pass());
  backend.rate = 100e9;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(guard.pass());
  backend.rate = 50e9;
  EXPECT_FALSE(guard.pass());
}

}  // namespace
}  // namespace radiance::lab
