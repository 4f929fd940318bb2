// The C interface over a Hopper GPU: what is refused is not launched, a forward can be captured
// into a graph, and streams with workspaces of their own do not disturb each other. Skipped without
// one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "radiance/radiance.hpp"
#include "runtime/cuda_driver.hpp"
#include "tests/linear/calls.hpp"
#include "tests/linear/host_weight.hpp"

namespace {

using ::testing::HasSubstr;
using namespace radiance::api;
namespace cuda = radiance::cuda;
namespace test = radiance::test;

constexpr uint8_t kPoison = 0xee;

// One layer and what calls of up to max_m rows need.
struct Layer {
  test::HostWeight weight;
  Linear linear;
  int64_t max_m;
  Buffer x, y, bias, workspace, xq, x_scales;

  Layer(const Device& device, int64_t n, int64_t k, int64_t rows)
      : weight(n, k),
        linear(device, weight.desc()),
        max_m(rows),
        x(device, static_cast<size_t>(rows * k) * 4),
        y(device, static_cast<size_t>(rows * n) * 4),
        bias(device, static_cast<size_t>(n) * 4 + 4),
        workspace(device, linear.workspace_bytes(rows)),
        xq(device, static_cast<size_t>(rows * k) + 16),
        x_scales(device, static_cast<size_t>(rows) * 4 + 4) {
    check(radiance_workspace_init(device.get(), workspace.get(), workspace.bytes(), nullptr));
    set_rows(device, 1);
    device.quantize(test::quantize_args(rows, k, x.get(), xq.get(), x_scales.get()));
  }

  void set_rows(const Device& device, unsigned seed) const {
    std::mt19937 rng(seed);
    std::vector<float> rows(static_cast<size_t>(max_m * weight.k));
    for (float& value : rows) value = static_cast<float>(static_cast<int>(rng() % 2001) - 1000);
    check(radiance_device_upload(device.get(), x.get(), rows.data(), x.bytes()));
  }
  void poison(const Device& device) const {
    const std::vector<uint8_t> bytes(y.bytes(), kPoison);
    check(radiance_device_upload(device.get(), y.get(), bytes.data(), bytes.size()));
  }
  // Of the device's default stream and all before it.
  std::vector<uint8_t> output(const Device& device) const {
    EXPECT_EQ(cuda::driver().stream_synchronize(nullptr), 0);
    std::vector<uint8_t> bytes(y.bytes());
    check(radiance_device_download(device.get(), bytes.data(), y.get(), bytes.size()));
    return bytes;
  }

  radiance_forward_args forward_args(int64_t m, void* stream = nullptr) const {
    auto args = test::forward_args(m, x.get(), y.get(), workspace);
    args.stream = stream;
    return args;
  }
  radiance_gemm_args gemm_args(int64_t m, void* stream = nullptr) const {
    auto args = test::gemm_args(m, xq.get(), x_scales.get(), y.get(), workspace);
    args.stream = stream;
    return args;
  }
};

class Sm90CApi : public ::testing::Test {
 protected:
  static constexpr int64_t kN = 320, kK = 1280, kM = 300;

  void SetUp() override {
    radiance_device* device = nullptr;
    if (radiance_device_open("cuda:0", nullptr, &device) != RADIANCE_OK) {
      GTEST_SKIP() << "needs a Hopper GPU: " << radiance_last_error();
    }
    radiance_device_close(device);
    // As a program that uses the driver itself has it.
    const cuda::Driver& driver = cuda::driver();
    cuda::DeviceId id = 0;
    cuda::Context context = nullptr;
    ASSERT_EQ(driver.device_get(&id, 0), 0);
    ASSERT_EQ(driver.primary_context_retain(&context, id), 0);
    ASSERT_EQ(driver.context_push(context), 0);
    device_ = std::make_unique<Device>("cuda:0");
    layer_ = std::make_unique<Layer>(*device_, kN, kK, kM);
    layer_->poison(*device_);
    ASSERT_EQ(driver.stream_create(&stream_, 1), 0);
  }
  void TearDown() override {
    if (stream_ == nullptr) return;
    const cuda::Driver& driver = cuda::driver();
    EXPECT_EQ(driver.stream_destroy(stream_), 0);
    layer_.reset();
    device_.reset();
    cuda::Context popped = nullptr;
    EXPECT_EQ(driver.context_pop(&popped), 0);
    EXPECT_EQ(driver.primary_context_release(0), 0);
  }

  // A status and a sentence with `words`, and an output that still is what it was poisoned with.
  void expect_refused(radiance_status status, const char* words, radiance_status got) const {
    EXPECT_EQ(got, status) << words << ": " << radiance_last_error();
    EXPECT_THAT(radiance_last_error(), HasSubstr(words));
    EXPECT_THAT(layer_->output(*device_), ::testing::Each(kPoison)) << words;
  }
  // For few rows and for many, which different kernels take.
  void expect_forward_refused(radiance_status status, const char* words,
                              const std::function<void(radiance_forward_args&)>& spoil) const {
    for (const int64_t m : {int64_t{5}, kM}) {
      radiance_forward_args args = layer_->forward_args(m);
      spoil(args);
      expect_refused(status, words, radiance_forward(layer_->linear.get(), &args));
    }
  }
  void expect_gemm_refused(radiance_status status, const char* words,
                           const std::function<void(radiance_gemm_args&)>& spoil) const {
    for (const int64_t m : {int64_t{5}, kM}) {
      radiance_gemm_args args = layer_->gemm_args(m);
      spoil(args);
      expect_refused(status, words, radiance_gemm(layer_->linear.get(), &args));
    }
  }

  // Everything `issue` submits to the stream, as a graph that can be launched.
  cuda::GraphExec captured(const std::function<void()>& issue) const {
    const cuda::Driver& driver = cuda::driver();
    cuda::Graph graph = nullptr;
    cuda::GraphExec executable = nullptr;
    EXPECT_EQ(driver.stream_begin_capture(stream_, cuda::kCaptureThreadLocal), 0);
    issue();
    EXPECT_EQ(driver.stream_end_capture(stream_, &graph), 0);
    EXPECT_EQ(driver.graph_instantiate(&executable, graph, 0), 0);
    EXPECT_EQ(driver.graph_destroy(graph), 0);
    return executable;
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Layer> layer_;
  cuda::Stream stream_ = nullptr;
};

template <typename T>
T* moved(T* pointer, intptr_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(pointer) + static_cast<uintptr_t>(bytes));
}

TEST_F(Sm90CApi, RefusesMisalignedPointers) {
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "x is not aligned to 4",
                         [](auto& a) { a.x = moved(a.x, 2); });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "y is not aligned to 4",
                         [](auto& a) { a.y = moved(a.y, 1); });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "bias is not aligned to 2", [&](auto& a) {
    a.bias = moved(layer_->bias.get(), 1);
    a.bias_dtype = RADIANCE_F16;
  });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "workspace is not aligned to 256",
                         [](auto& a) { a.workspace = moved(a.workspace, 128); });
  expect_gemm_refused(RADIANCE_INVALID_ARGUMENT, "xq is not aligned to 16",
                      [](auto& a) { a.xq = moved(a.xq, 8); });
  expect_gemm_refused(RADIANCE_INVALID_ARGUMENT, "x_scales is not aligned to 4",
                      [](auto& a) { a.x_scales = moved(a.x_scales, 2); });
}

TEST_F(Sm90CApi, RefusesASmallWorkspace) {
  expect_forward_refused(RADIANCE_WORKSPACE_TOO_SMALL, "rows need",
                         [](auto& a) { a.workspace_bytes = 1024; });
  expect_gemm_refused(RADIANCE_WORKSPACE_TOO_SMALL, "rows need",
                      [](auto& a) { a.workspace_bytes = 0; });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "workspace is null",
                         [](auto& a) { a.workspace = nullptr; });
}

TEST_F(Sm90CApi, RefusesAWeightPackedForAnotherTarget) {
  const Device cpu("cpu", 1);
  const radiance_weight_desc desc = layer_->weight.desc();
  size_t bytes = 0;
  check(radiance_packed_bytes(cpu.get(), &desc, &bytes));
  const Buffer packed(cpu, bytes);
  check(radiance_pack(cpu.get(), &desc, packed.get(), bytes));
  const Buffer copy(*device_, bytes);
  check(radiance_device_upload(device_->get(), copy.get(), packed.get(), bytes));
  radiance_linear* linear = nullptr;
  expect_refused(RADIANCE_VERSION_MISMATCH, "packed for cpu, this device is sm90",
                 radiance_linear_create(device_->get(), copy.get(), bytes, &linear));
  EXPECT_EQ(linear, nullptr);
}

// A workspace that would have to grow cannot while a stream captures: the call is refused, nothing
// of it is in the graph, and the capture goes on.
TEST_F(Sm90CApi, ARefusalLeavesACaptureAsItWas) {
  const cuda::GraphExec executable = captured([&] {
    radiance_forward_args args = layer_->forward_args(kM, stream_);
    args.workspace_bytes = layer_->linear.workspace_bytes(5);
    ASSERT_LT(args.workspace_bytes, layer_->workspace.bytes());
    EXPECT_EQ(radiance_forward(layer_->linear.get(), &args), RADIANCE_WORKSPACE_TOO_SMALL);
    radiance_gemm_args gemm = layer_->gemm_args(kM, stream_);
    gemm.xq = moved(gemm.xq, 8);
    EXPECT_EQ(radiance_gemm(layer_->linear.get(), &gemm), RADIANCE_INVALID_ARGUMENT);
  });
  ASSERT_EQ(cuda::driver().graph_launch(executable, stream_), 0);
  ASSERT_EQ(cuda::driver().stream_synchronize(stream_), 0);
  EXPECT_THAT(layer_->output(*device_), ::testing::Each(kPoison));
  EXPECT_EQ(cuda::driver().graph_exec_destroy(executable), 0);
}

// What a stream captures runs when the graph is launched, as often as that is, and makes what the
// same call makes at once.
TEST_F(Sm90CApi, CallsCanBeCapturedAndReplayed) {
  for (const int64_t m : {int64_t{1}, int64_t{16}, int64_t{40}, int64_t{64}, kM}) {
    for (const bool whole : {true, false}) {
      const auto issue = [&](void* stream) {
        radiance_forward_args forward = layer_->forward_args(m, stream);
        radiance_gemm_args gemm = layer_->gemm_args(m, stream);
        // Twice: the second call finds the first one's workspace.
        for (int i = 0; i < 2; ++i) {
          check(whole ? radiance_forward(layer_->linear.get(), &forward)
                      : radiance_gemm(layer_->linear.get(), &gemm));
        }
      };
      layer_->set_rows(*device_, 1);
      layer_->poison(*device_);
      const cuda::GraphExec executable = captured([&] { issue(stream_); });
      EXPECT_THAT(layer_->output(*device_), ::testing::Each(kPoison)) << "not launched yet";
      std::vector<uint8_t> last;
      for (const unsigned seed : {1U, 2U, 3U}) {
        layer_->set_rows(*device_, seed);
        layer_->poison(*device_);
        ASSERT_EQ(cuda::driver().graph_launch(executable, stream_), 0);
        ASSERT_EQ(cuda::driver().stream_synchronize(stream_), 0);
        const std::vector<uint8_t> replayed = layer_->output(*device_);
        layer_->poison(*device_);
        issue(nullptr);
        EXPECT_EQ(replayed, layer_->output(*device_)) << "m " << m << " whole " << whole;
        EXPECT_EQ(replayed == last, seed > 1 && !whole) << "only a forward reads the new rows";
        last = replayed;
      }
      EXPECT_EQ(cuda::driver().graph_exec_destroy(executable), 0);
    }
  }
}

// Four streams, each with a layer and a workspace of its own, all busy at the same time: every one
// gets what it gets alone.
TEST_F(Sm90CApi, StreamsDoNotDisturbEachOther) {
  constexpr int kStreams = 4, kRounds = 50;
  const cuda::Driver& driver = cuda::driver();
  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<cuda::Stream> streams(kStreams);
  std::vector<std::vector<uint8_t>> alone;
  const int64_t rows[kStreams] = {8, 16, 64, 300};
  for (size_t i = 0; i < kStreams; ++i) {
    ASSERT_EQ(driver.stream_create(&streams[i], 1), 0);
    layers.push_back(std::make_unique<Layer>(*device_, 5120, 1280, rows[i]));
    layers[i]->poison(*device_);
    const radiance_forward_args args = layers[i]->forward_args(rows[i]);
    check(radiance_forward(layers[i]->linear.get(), &args));
    alone.push_back(layers[i]->output(*device_));
    layers[i]->poison(*device_);
  }
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < kStreams; ++i) {
      const radiance_forward_args args = layers[i]->forward_args(rows[i], streams[i]);
      check(radiance_forward(layers[i]->linear.get(), &args));
    }
  }
  for (size_t i = 0; i < kStreams; ++i) {
    ASSERT_EQ(driver.stream_synchronize(streams[i]), 0);
    EXPECT_EQ(layers[i]->output(*device_), alone[i]) << rows[i] << " rows";
    EXPECT_EQ(driver.stream_destroy(streams[i]), 0);
  }
}

TEST_F(Sm90CApi, ZeroRowsAreNothingToDo) {
  radiance_forward_args args = layer_->forward_args(0);
  EXPECT_EQ(radiance_forward(layer_->linear.get(), &args), RADIANCE_OK);
  EXPECT_THAT(layer_->output(*device_), ::testing::Each(kPoison));
}

}  // namespace
