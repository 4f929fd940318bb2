// The C interface over the emulated gfx1201: what is refused is neither launched nor written, and a
// forward can be captured into a graph.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "radiance/radiance.hpp"
#include "runtime/emulator_path.hpp"
#include "runtime/hip_driver.hpp"
#include "tests/linear/calls.hpp"
#include "tests/linear/host_weight.hpp"

namespace {

using ::testing::HasSubstr;
using namespace radiance::api;
namespace test = radiance::test;
namespace hip = radiance::hip;

constexpr int64_t kN = 40, kK = 512;
constexpr uint8_t kPoison = 0xee;

class Gfx1201CApi : public ::testing::Test {
 protected:
  static constexpr int64_t kM = 5;

  Gfx1201CApi()
      : device_("emu", 2),
        linear_(device_, weight_.desc()),
        x_(device_, kRowsBytes),
        y_(device_, kOutputBytes),
        bias_(device_, kN * 4 + 4),
        workspace_(device_, linear_.workspace_bytes(kM)),
        xq_(device_, static_cast<size_t>(kM * kK) + 16),
        x_scales_(device_, kM * 4 + 4) {
    set_option("strict", "1");
    upload_rows(1);
    upload(bias_, std::vector<uint8_t>(bias_.bytes(), 0));
    upload(y_, std::vector<uint8_t>(kOutputBytes, kPoison));
    check(radiance_workspace_init(device_.get(), workspace_.get(), workspace_.bytes(), nullptr));
    device_.quantize(test::quantize_args(kM, kK, x_.get(), xq_.get(), x_scales_.get()));
  }

  static void set_option(const char* name, const char* value) {
    ASSERT_EQ(hip::emulator().emulator.set_option(name, value), 0) << name;
  }

  void upload(const Buffer& to, const std::vector<uint8_t>& bytes) const {
    check(radiance_device_upload(device_.get(), to.get(), bytes.data(), bytes.size()));
  }
  void upload_rows(unsigned seed) const {
    std::mt19937 rng(seed);
    std::vector<float> rows(static_cast<size_t>(kM * kK));
    for (float& value : rows) value = static_cast<float>(static_cast<int>(rng() % 2001) - 1000);
    check(radiance_device_upload(device_.get(), x_.get(), rows.data(), kRowsBytes));
  }
  std::vector<uint8_t> output() const {
    std::vector<uint8_t> bytes(kOutputBytes);
    check(radiance_device_download(device_.get(), bytes.data(), y_.get(), bytes.size()));
    return bytes;
  }

  radiance_forward_args forward_args() const {
    return test::forward_args(kM, x_.get(), y_.get(), workspace_);
  }
  radiance_gemm_args gemm_args() const {
    return test::gemm_args(kM, xq_.get(), x_scales_.get(), y_.get(), workspace_);
  }

  // Runs `call` and expects this status, a sentence with `words`, no launch, and an output that
  // still is what it was poisoned with.
  void expect_refused(radiance_status status, const char* words,
                      const std::function<radiance_status()>& call) const {
    hip::emulator().emulator.reset_counters();
    EXPECT_EQ(call(), status) << words << ": " << radiance_last_error();
    EXPECT_THAT(radiance_last_error(), HasSubstr(words));
    expect_untouched(words);
  }
  void expect_untouched(const char* what) const {
    EXPECT_THAT(hip::emulator().emulator.counters(), Not(HasSubstr("\"name\""))) << what;
    EXPECT_THAT(output(), ::testing::Each(kPoison)) << what;
  }
  void expect_forward_refused(radiance_status status, const char* words,
                              const std::function<void(radiance_forward_args&)>& spoil) const {
    radiance_forward_args args = forward_args();
    spoil(args);
    expect_refused(status, words, [&] { return radiance_forward(linear_.get(), &args); });
  }
  void expect_gemm_refused(radiance_status status, const char* words,
                           const std::function<void(radiance_gemm_args&)>& spoil) const {
    radiance_gemm_args args = gemm_args();
    spoil(args);
    expect_refused(status, words, [&] { return radiance_gemm(linear_.get(), &args); });
  }
  void expect_pack_refused(radiance_status status, const char* words,
                           const std::function<void(radiance_weight_desc&)>& spoil) const {
    radiance_weight_desc desc = weight_.desc();
    spoil(desc);
    size_t bytes = 0;
    const bool shape_is_bad =
        desc.n != kN || desc.k != kK || desc.group != test::HostWeight::kGroup;
    if (shape_is_bad) {
      expect_refused(status, words,
                     [&] { return radiance_packed_bytes(device_.get(), &desc, &bytes); });
      EXPECT_EQ(bytes, 0U);
    }
    expect_refused(status, words,
                   [&] { return radiance_pack(device_.get(), &desc, y_.get(), kOutputBytes); });
  }

  static constexpr size_t kRowsBytes = static_cast<size_t>(kM * kK) * 4;
  // Room for a packed weight too.
  static constexpr size_t kOutputBytes = 64 << 10;

  test::HostWeight weight_{kN, kK};
  Device device_;
  Linear linear_;
  Buffer x_, y_, bias_, workspace_, xq_, x_scales_;
};

template <typename T>
T* moved(T* pointer, intptr_t bytes) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(pointer) + static_cast<uintptr_t>(bytes));
}

TEST_F(Gfx1201CApi, RefusesWeightsThatCannotBe) {
  expect_pack_refused(RADIANCE_UNSUPPORTED, "k is 500; int4 codes need a multiple of 8",
                      [](auto& d) { d.k = 500; });
  expect_pack_refused(RADIANCE_INVALID_ARGUMENT, "n is 0", [](auto& d) { d.n = 0; });
  expect_pack_refused(RADIANCE_INVALID_ARGUMENT, "k is 0", [](auto& d) { d.k = 0; });
  expect_pack_refused(RADIANCE_INVALID_ARGUMENT, "n is -1", [](auto& d) { d.n = -1; });
  expect_pack_refused(RADIANCE_UNSUPPORTED, "group is 12", [](auto& d) { d.group = 12; });
  expect_pack_refused(RADIANCE_INVALID_ARGUMENT, "codes is null",
                      [](auto& d) { d.codes = nullptr; });
  weight_.scales[3] = 0x7c00;
  expect_pack_refused(RADIANCE_BAD_INPUT, "not finite", [](auto&) {});
}

TEST_F(Gfx1201CApi, RefusesPlacesForWeights) {
  const radiance_weight_desc desc = weight_.desc();
  expect_refused(RADIANCE_INVALID_ARGUMENT, "packed is not aligned to 256", [&] {
    return radiance_pack(device_.get(), &desc, moved(y_.get(), 64), kOutputBytes - 64);
  });
  expect_refused(RADIANCE_INVALID_ARGUMENT, "packed has 300 bytes",
                 [&] { return radiance_pack(device_.get(), &desc, y_.get(), 300); });
  radiance_linear* linear = nullptr;
  expect_refused(RADIANCE_BAD_INPUT, "does not hold a packed weight", [&] {
    return radiance_linear_create(device_.get(), y_.get(), kOutputBytes, &linear);
  });
  EXPECT_EQ(linear, nullptr);
}

TEST_F(Gfx1201CApi, RefusesAWeightPackedForAnotherTarget) {
  const Device cpu("cpu", 1);
  const radiance_weight_desc desc = weight_.desc();
  size_t bytes = 0;
  check(radiance_packed_bytes(cpu.get(), &desc, &bytes));
  const Buffer packed(cpu, bytes);
  check(radiance_pack(cpu.get(), &desc, packed.get(), bytes));
  const Buffer copy(device_, bytes);
  check(radiance_device_upload(device_.get(), copy.get(), packed.get(), bytes));
  radiance_linear* linear = nullptr;
  expect_refused(RADIANCE_VERSION_MISMATCH, "packed for cpu, this device is gfx1201",
                 [&] { return radiance_linear_create(device_.get(), copy.get(), bytes, &linear); });
  EXPECT_EQ(linear, nullptr);
}

TEST_F(Gfx1201CApi, RefusesMisalignedPointers) {
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "x is not aligned to 4",
                         [](auto& a) { a.x = moved(a.x, 2); });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "y is not aligned to 4",
                         [](auto& a) { a.y = moved(a.y, 1); });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "bias is not aligned to 2", [&](auto& a) {
    a.bias = moved(bias_.get(), 1);
    a.bias_dtype = RADIANCE_F16;
  });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "workspace is not aligned to 256",
                         [](auto& a) { a.workspace = moved(a.workspace, 128); });
  // The general kernel would take it; the matrix kernels load 16 bytes at once.
  expect_gemm_refused(RADIANCE_INVALID_ARGUMENT, "xq is not aligned to 16",
                      [](auto& a) { a.xq = moved(a.xq, 8); });
  expect_gemm_refused(RADIANCE_INVALID_ARGUMENT, "x_scales is not aligned to 4",
                      [](auto& a) { a.x_scales = moved(a.x_scales, 2); });
}

TEST_F(Gfx1201CApi, RefusesOtherBadArguments) {
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "m is -1", [](auto& a) { a.m = -1; });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "x is null", [](auto& a) { a.x = nullptr; });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "y is null", [](auto& a) { a.y = nullptr; });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "ldy is 39", [](auto& a) { a.ldy = kN - 1; });
  expect_forward_refused(RADIANCE_UNSUPPORTED, "ldy is 134217728",
                         [](auto& a) { a.ldy = int64_t{1} << 27; });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "ldx is 511", [](auto& a) { a.ldx = kK - 1; });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "y_dtype is 7",
                         [](auto& a) { a.y_dtype = static_cast<radiance_dtype>(7); });
  expect_gemm_refused(RADIANCE_INVALID_ARGUMENT, "x_scales is null",
                      [](auto& a) { a.x_scales = nullptr; });
}

TEST_F(Gfx1201CApi, RefusesASmallWorkspace) {
  expect_forward_refused(RADIANCE_WORKSPACE_TOO_SMALL, "5 rows need",
                         [](auto& a) { --a.workspace_bytes; });
  expect_gemm_refused(RADIANCE_WORKSPACE_TOO_SMALL, "bytes, 5 rows need",
                      [](auto& a) { a.workspace_bytes = 0; });
  expect_forward_refused(RADIANCE_INVALID_ARGUMENT, "workspace is null",
                         [](auto& a) { a.workspace = nullptr; });
}

// As radiance.h says of m.
TEST_F(Gfx1201CApi, ZeroRowsAreNothingToDo) {
  hip::emulator().emulator.reset_counters();
  auto forward = make<radiance_forward_args>();
  forward.x_dtype = forward.y_dtype = RADIANCE_F32;
  EXPECT_EQ(radiance_forward(linear_.get(), &forward), RADIANCE_OK) << radiance_last_error();
  radiance_forward_args with_pointers = forward_args();
  with_pointers.m = 0;
  EXPECT_EQ(radiance_forward(linear_.get(), &with_pointers), RADIANCE_OK);
  auto gemm = make<radiance_gemm_args>();
  EXPECT_EQ(radiance_gemm(linear_.get(), &gemm), RADIANCE_OK) << radiance_last_error();
  auto quantize = make<radiance_quantize_args>();
  quantize.k = kK;
  quantize.x_dtype = RADIANCE_F32;
  EXPECT_EQ(radiance_quantize_activations(device_.get(), &quantize), RADIANCE_OK)
      << radiance_last_error();
  EXPECT_EQ(linear_.workspace_bytes(0), 0U);
  expect_untouched("no rows");
}

// What a stream captures runs when the graph is launched, as often as that is, and makes what the
// same call makes at once.
TEST_F(Gfx1201CApi, AForwardCanBeCapturedAndReplayed) {
  const hip::Driver& driver = hip::emulator();
  for (const char* kernels : {"forward", "gemm"}) {
    const bool whole = std::strcmp(kernels, "forward") == 0;
    const auto issue = [&](hip::Stream stream) {
      radiance_forward_args forward = forward_args();
      radiance_gemm_args gemm = gemm_args();
      forward.stream = gemm.stream = stream;
      check(whole ? radiance_forward(linear_.get(), &forward)
                  : radiance_gemm(linear_.get(), &gemm));
    };
    upload_rows(1);
    upload(y_, std::vector<uint8_t>(kOutputBytes, kPoison));
    hip::Stream stream = nullptr;
    hip::Graph graph = nullptr;
    hip::GraphExec executable = nullptr;
    ASSERT_EQ(driver.stream_create(&stream, hip::kNonBlocking), 0);
    ASSERT_EQ(driver.stream_begin_capture(stream, hip::kCaptureThreadLocal), 0);
    driver.emulator.reset_counters();
    issue(stream);
    EXPECT_THAT(driver.emulator.counters(), Not(HasSubstr("\"name\"")));
    ASSERT_EQ(driver.stream_end_capture(stream, &graph), 0);
    expect_untouched("captured and not launched");
    ASSERT_EQ(driver.graph_instantiate(&executable, graph, nullptr, nullptr, 0), 0);

    std::vector<uint8_t> last;
    for (const unsigned seed : {1U, 2U, 3U}) {
      upload_rows(seed);
      upload(y_, std::vector<uint8_t>(kOutputBytes, kPoison));
      ASSERT_EQ(driver.graph_launch(executable, stream), 0);
      ASSERT_EQ(driver.stream_synchronize(stream), 0);
      const std::vector<uint8_t> replayed = output();
      upload(y_, std::vector<uint8_t>(kOutputBytes, kPoison));
      issue(nullptr);
      EXPECT_EQ(replayed, output()) << kernels;
      EXPECT_EQ(replayed == last, seed > 1 && !whole) << "only a forward reads the new rows";
      last = replayed;
    }
    ASSERT_EQ(driver.graph_exec_destroy(executable), 0);
    ASSERT_EQ(driver.graph_destroy(graph), 0);
    ASSERT_EQ(driver.stream_destroy(stream), 0);
  }
}

// After a kernel has faulted the device stays broken, so each kind of launch has its own process of
// the test program, or a reset.
class Gfx1201FailedLaunch : public ::testing::TestWithParam<bool> {
 protected:
  // The device that failed must be closed.
  static void reset_device() {
    void* library = nullptr;
    for (const std::string& path : radiance::emulator_paths()) {
      if (library == nullptr) library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
    ASSERT_NE(library, nullptr);
    const auto reset = reinterpret_cast<hip::Result (*)()>(dlsym(library, "hipDeviceReset"));
    ASSERT_NE(reset, nullptr);
    EXPECT_EQ(hip::emulator().emulator.set_option("budget", "18446744073709551615"), 0);
    EXPECT_EQ(reset(), 0);
  }
};

TEST_P(Gfx1201FailedLaunch, IsAnErrorAndWritesNothing) {
  const bool whole = GetParam();
  {
    const Device device("emu", 1);
    const test::HostWeight weight(kN, kK);
    const Linear linear(device, weight.desc());
    const Buffer rows(device, kK * 4), y(device, kN * 4),
        workspace(device, linear.workspace_bytes(1));
    const std::vector<uint8_t> zeros(kK * 4), poison(kN * 4, kPoison);
    check(radiance_device_upload(device.get(), rows.get(), zeros.data(), zeros.size()));
    check(radiance_device_upload(device.get(), y.get(), poison.data(), poison.size()));
    check(radiance_workspace_init(device.get(), workspace.get(), workspace.bytes(), nullptr));
    // No kernel of ours is done after one instruction.
    ASSERT_EQ(hip::emulator().emulator.set_option("budget", "1"), 0);
    radiance_status status = RADIANCE_OK;
    if (whole) {
      const radiance_forward_args args = test::forward_args(1, rows.get(), y.get(), workspace);
      status = radiance_forward(linear.get(), &args);
    } else {
      const radiance_gemm_args args =
          test::gemm_args(1, rows.get(), rows.get(), y.get(), workspace);
      status = radiance_gemm(linear.get(), &args);
    }
    EXPECT_EQ(status, RADIANCE_DEVICE_ERROR);
    EXPECT_THAT(radiance_last_error(), HasSubstr("launching a kernel"));
    EXPECT_THAT(radiance_last_error(), HasSubstr(whole ? "quantize_activations" : "decode_r1"));
    // The device answers no more; its memory is the host's (emulator/memory.hpp).
    EXPECT_EQ(std::memcmp(y.get(), poison.data(), poison.size()), 0);
    uint32_t host = 0;
    EXPECT_EQ(radiance_device_download(device.get(), &host, y.get(), 4), RADIANCE_DEVICE_ERROR);
  }
  reset_device();
  EXPECT_NO_THROW(Device("emu", 1)) << "as new";
}

INSTANTIATE_TEST_SUITE_P(Kernels, Gfx1201FailedLaunch, ::testing::Bool(),
                         [](const auto& instance) { return instance.param ? "Forward" : "Gemm"; });

}  // namespace
