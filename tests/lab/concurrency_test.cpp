// One linear, two workspaces, two host threads at once: the same bits as alone.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "lab/checker.hpp"
#include "lab/gate_case.hpp"

namespace radiance::lab {
namespace {

struct Caller {
  Caller(const Engine& engine, const Linear& linear, const HostRows& rows, int64_t call_m)
      : m(call_m),
        x(engine.device(), rows.data.size()),
        y(engine.device(), static_cast<size_t>(m * linear.shape().n * 4)),
        workspace(engine.device(), linear.workspace_bytes(m)) {
    engine.device().upload(x.get(), rows.data.data(), rows.data.size());
    engine.device().fill(workspace.get(), 0, workspace.bytes(), nullptr);
    engine.device().synchronize(nullptr);
  }
  std::vector<uint8_t> run(const Engine& engine, const Linear& linear) const {
    ForwardCall call;
    call.x = x.get();
    call.gemm.m = m;
    call.gemm.y = y.get();
    call.gemm.y_dtype = RADIANCE_F32;
    call.gemm.workspace = workspace.get();
    call.gemm.workspace_bytes = workspace.bytes();
    linear.forward(call);
    engine.device().synchronize(nullptr);
    std::vector<uint8_t> out(y.bytes());
    engine.device().download(out.data(), y.get(), out.size());
    return out;
  }
  int64_t m;
  Buffer x, y, workspace;
};

TEST(Concurrency, TwoWorkspacesOnTwoThreads) {
  const Engine engine("cpu", DeviceOptions{2});
  Random random(51);
  const HostWeight weight = random_int4_weight(random, 333, 1032, 128);
  const DeviceWeight device_weight(engine, weight);
  const Linear& linear = device_weight.linear();
  const int64_t m[2] = {3, 40};  // a decode and a prefill call
  std::vector<Caller> callers;
  std::vector<std::vector<uint8_t>> alone;
  for (const int64_t rows : m) {
    callers.emplace_back(engine, linear, random_rows(random, RADIANCE_BF16, rows, 1032), rows);
    alone.push_back(callers.back().run(engine, linear));
  }
  int differences[2] = {};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      for (int run = 0; run < 30; ++run) {
        differences[i] += callers[i].run(engine, linear) != alone[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(differences[0], 0);
  EXPECT_EQ(differences[1], 0);
}

}  // namespace
}  // namespace radiance::lab
