// Variables of device code by their host side, registered as a compiler's code does it.
#include <cstdint>

#include "tests/emulator/hip/hip_fixture.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
void** __hipRegisterFatBinary(const void* data);
void __hipUnregisterFatBinary(void** handle);
void __hipRegisterVar(void** handle, void* host_variable, char* host_name, char* name, int external,
                      size_t bytes, int constant, int global);
}

namespace radiance::emulator {
namespace {

class Symbols : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    image_ = read_bytes(RADIANCE_TEST_KERNELS ".bundle");
    binary_.bundle = image_.data();
    handle_ = __hipRegisterFatBinary(&binary_);
    char name[] = "total";
    __hipRegisterVar(handle_, &total_, name, name, 0, sizeof(total_), 0, 0);
  }
  void TearDown() override {
    __hipUnregisterFatBinary(handle_);
    HipTest::TearDown();
  }
  // NOLINTEND(bugprone-reserved-identifier)

  struct {
    uint32_t magic = 0x48495046, version = 1;
    const void* bundle = nullptr;
    void* unused = nullptr;
  } binary_;
  std::vector<char> image_;
  void** handle_ = nullptr;
  int total_ = 0;  // the host's side, whose value nobody reads
};

TEST_F(Symbols, AreCopiedToAndFrom) {
  size_t bytes = 0;
  void* address = nullptr;
  ASSERT_EQ(hipGetSymbolSize(&bytes, &total_), hipSuccess) << report();
  EXPECT_EQ(bytes, sizeof(int));
  ASSERT_EQ(hipGetSymbolAddress(&address, &total_), hipSuccess);
  int value = 0;
  ASSERT_EQ(hipMemcpyFromSymbol(&value, &total_, sizeof(int), 0, hipMemcpyDeviceToHost),
            hipSuccess);
  EXPECT_EQ(value, 5) << "as the device code initializes it";
  value = 0x01020304;
  ASSERT_EQ(hipMemcpyToSymbol(&total_, &value, sizeof(int), 0, hipMemcpyHostToDevice), hipSuccess);
  EXPECT_EQ(download(static_cast<int*>(address), 1)[0], 0x01020304);
  unsigned char byte = 9;
  ASSERT_EQ(hipMemcpyToSymbolAsync(&total_, &byte, 1, 3, hipMemcpyHostToDevice, nullptr),
            hipSuccess);
  ASSERT_EQ(
      hipMemcpyFromSymbolAsync(&value, &total_, sizeof(int), 0, hipMemcpyDeviceToHost, nullptr),
      hipSuccess);
  EXPECT_EQ(value, 0x09020304);
}

TEST_F(Symbols, RefuseWhatIsNotTheirs) {
  int value = 0, stranger = 0;
  EXPECT_EQ(hipMemcpyToSymbol(&stranger, &value, 4, 0, hipMemcpyHostToDevice),
            hipErrorInvalidSymbol);
  EXPECT_EQ(hipMemcpyToSymbol(&total_, &value, 4, 1, hipMemcpyHostToDevice), hipErrorInvalidValue);
  EXPECT_THAT(report(), testing::HasSubstr("leaves its variable of 4"));
  EXPECT_EQ(hipMemcpyFromSymbol(&value, &total_, 4, SIZE_MAX, hipMemcpyDeviceToHost),
            hipErrorInvalidValue);
  EXPECT_EQ(hipMemcpyFromSymbol(&value, &total_, 4, 0, hipMemcpyHostToDevice),
            hipErrorInvalidMemcpyDirection);
  EXPECT_EQ(hipMemcpyToSymbol(&total_, &value, 4, 0, hipMemcpyDeviceToHost),
            hipErrorInvalidMemcpyDirection);
}

}  // namespace
}  // namespace radiance::emulator
