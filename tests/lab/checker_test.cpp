// The gate must be able to fail: every kind of error, planted.
#include "lab/checker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "lab/elements.hpp"
#include "lab/random.hpp"

namespace radiance::lab {
namespace {

using testing::HasSubstr;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// An output that is as right as its type can be.
class Checker : public testing::TestWithParam<radiance_dtype> {
 protected:
  void SetUp() override {
    layout_ = {GetParam(), 5, 7, 9};
    Random random(21);
    for (int i = 0; i < 35; ++i) {
      value_.push_back(random.uniform(-4, 4));
      magnitude_.push_back(40 + random.uniform());
    }
    for (int n = 0; n < 7; ++n) bias_.push_back(random.uniform(-1, 1));
    image_ = poisoned_image(layout_);
    for (int64_t m = 0; m < 5; ++m) {
      for (int64_t n = 0; n < 7; ++n) put(m, n, wanted(m, n));
    }
    expectation_ = {value_.data(), magnitude_.data(), bias_.data(), bound_for(layout_.dtype, "cpu"),
                    false};
  }

  double wanted(int64_t m, int64_t n) const {
    return value_[static_cast<size_t>(m * 7 + n)] + bias_[static_cast<size_t>(n)];
  }
  double limit(int64_t m, int64_t n) const {
    const Bound& bound = expectation_.bound;
    return bound.u * std::fabs(wanted(m, n)) + bound.a +
           bound.t * (magnitude_[static_cast<size_t>(m * 7 + n)] +
                      std::fabs(bias_[static_cast<size_t>(n)]));
  }
  void put(int64_t m, int64_t n, double value) {
    store_float(image_.data() + layout_.origin(), layout_.dtype, m * layout_.ldy + n,
                static_cast<float>(value));
  }
  OutputVerdict check() const { return check_output(layout_, image_, expectation_); }

  OutputLayout layout_;
  std::vector<double> value_, magnitude_, bias_;
  std::vector<uint8_t> image_;
  Expectation expectation_;
};

INSTANTIATE_TEST_SUITE_P(Types, Checker, testing::Values(RADIANCE_BF16, RADIANCE_F16, RADIANCE_F32),
                         [](const auto& param) { return std::string(dtype_name(param.param)); });

TEST_P(Checker, PassesTheRoundedReference) {
  const OutputVerdict verdict = check();
  EXPECT_TRUE(verdict.passed()) << verdict.failure;
  EXPECT_LE(verdict.max_elem, 1);
  EXPECT_LT(verdict.rel, 4e-3);
}

TEST_P(Checker, FailsOneElementBeyondItsBound) {
  put(3, 2, wanted(3, 2) + 1.9 * limit(3, 2));
  const OutputVerdict verdict = check();
  EXPECT_THAT(verdict.failure, HasSubstr("y[3][2]"));
  EXPECT_THAT(verdict.failure, HasSubstr("exceeds"));
  EXPECT_GT(verdict.max_elem, 1);
}

TEST_P(Checker, FailsASwappedPairOfColumns) {
  for (int64_t m = 0; m < 5; ++m) {
    put(m, 1, wanted(m, 4));
    put(m, 4, wanted(m, 1));
  }
  EXPECT_FALSE(check().passed());
}

TEST_P(Checker, FailsAnUnwrittenElement) {
  const auto poison = poisoned_image(layout_);
  const int64_t at = layout_.origin() + (4 * layout_.ldy + 6) * element_bytes(layout_.dtype);
  std::memcpy(&image_[static_cast<size_t>(at)], &poison[static_cast<size_t>(at)],
              static_cast<size_t>(element_bytes(layout_.dtype)));
  EXPECT_THAT(check().failure, HasSubstr("y[4][6] was not written"));
}

TEST_P(Checker, FailsARowPastM) {
  for (int64_t past = 5; past < 9; ++past) {
    const std::vector<uint8_t> right = image_;
    put(past, 3, 0.5);
    EXPECT_THAT(check().failure, HasSubstr("past M = 5"));
    image_ = right;
  }
}

TEST_P(Checker, FailsAColumnPastN) {
  put(2, 8, 0.5);
  EXPECT_THAT(check().failure, HasSubstr("past N = 7"));
}

TEST_P(Checker, FailsWrittenGuards) {
  for (const int64_t at :
       {int64_t{0}, layout_.origin() - 1, layout_.image_bytes() - 256, layout_.image_bytes() - 1}) {
    image_[static_cast<size_t>(at)] ^= 1;
    EXPECT_THAT(check().failure, HasSubstr("was written"));
    image_[static_cast<size_t>(at)] ^= 1;
  }
  EXPECT_TRUE(check().passed());
}

TEST_P(Checker, FailsNanAndInfinity) {
  put(0, 0, kNan);
  EXPECT_THAT(check().failure, HasSubstr("y[0][0]"));
  put(0, 0, std::numeric_limits<double>::infinity());
  EXPECT_THAT(check().failure, HasSubstr("y[0][0]"));
}

TEST_P(Checker, WantsNanRowsWhole) {
  for (int n = 0; n < 7; ++n) value_[static_cast<size_t>(2 * 7 + n)] = kNan;
  EXPECT_THAT(check().failure, HasSubstr("must be NaN"));
  for (int64_t n = 0; n < 7; ++n) put(2, n, kNan);
  EXPECT_TRUE(check().passed()) << check().failure;
  put(2, 6, 448);  // what clamping a NaN would leave
  EXPECT_FALSE(check().passed());
}

TEST_P(Checker, ADroppedBiasFails) {
  for (int64_t m = 0; m < 5; ++m) {
    for (int64_t n = 0; n < 7; ++n) put(m, n, wanted(m, n) - bias_[static_cast<size_t>(n)]);
  }
  EXPECT_FALSE(check().passed());
}

TEST_P(Checker, ExactMeansExact) {
  expectation_.exact = true;
  for (int i = 0; i < 35; ++i) value_[static_cast<size_t>(i)] = i - 8;
  for (double& bias : bias_) bias = 2;
  for (int64_t m = 0; m < 5; ++m) {
    for (int64_t n = 0; n < 7; ++n) put(m, n, wanted(m, n));
  }
  EXPECT_TRUE(check().passed()) << check().failure;
  put(1, 1, wanted(1, 1) * (1 + 0.9 * expectation_.bound.u));
  if (load_float(image_.data() + layout_.origin(), layout_.dtype, layout_.ldy + 1) !=
      static_cast<float>(wanted(1, 1))) {
    EXPECT_FALSE(check().passed());
  }
}

// Every element within its (large) bound, and all of them off by one percent.
TEST(CheckerNorm, FailsAnErrorSpreadOverAllElements) {
  const OutputLayout layout{RADIANCE_F32, 2, 8, 8};
  std::vector<double> value(16, 1.0), magnitude(16, 1e5);
  std::vector<uint8_t> image = poisoned_image(layout);
  for (int64_t at = 0; at < 16; ++at) {
    store_float(image.data() + layout.origin(), RADIANCE_F32, at, 1.01f);
  }
  const OutputVerdict verdict = check_output(
      layout, image,
      {value.data(), magnitude.data(), nullptr, bound_for(RADIANCE_F32, "cpu"), false});
  EXPECT_LT(verdict.max_elem, 1);
  EXPECT_NEAR(verdict.rel, 0.01, 1e-6);
  EXPECT_THAT(verdict.failure, HasSubstr("relative error"));
}

TEST(CheckerNorm, AZeroReferenceIsJudgedByElement) {
  const OutputLayout layout{RADIANCE_BF16, 1, 4, 4};
  std::vector<double> value(4, 0.0), magnitude(4, 1.0);
  std::vector<uint8_t> image = poisoned_image(layout);
  const Expectation expectation{value.data(), magnitude.data(), nullptr,
                                bound_for(RADIANCE_BF16, "cpu"), false};
  for (int64_t at = 0; at < 4; ++at) {
    store_float(image.data() + layout.origin(), RADIANCE_BF16, at, 0x1p-20f);
  }
  EXPECT_TRUE(check_output(layout, image, expectation).passed());
  store_float(image.data() + layout.origin(), RADIANCE_BF16, 3, 0x1p-18f);
  EXPECT_FALSE(check_output(layout, image, expectation).passed());
}

TEST(CheckerRange, AnOverflowMustBeAnInfinityOfItsSign) {
  const OutputLayout layout{RADIANCE_F16, 1, 2, 2};
  std::vector<double> value = {1.0, -70000.0}, magnitude(2, 1.0);
  std::vector<uint8_t> image = poisoned_image(layout);
  uint8_t* y = image.data() + layout.origin();
  const Expectation expectation{value.data(), magnitude.data(), nullptr,
                                bound_for(RADIANCE_F16, "cpu"), false};
  store_float(y, RADIANCE_F16, 0, 1.0f);
  store_float(y, RADIANCE_F16, 1, -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(check_output(layout, image, expectation).passed());
  store_float(y, RADIANCE_F16, 1, std::numeric_limits<float>::infinity());
  EXPECT_FALSE(check_output(layout, image, expectation).passed());
  store_float(y, RADIANCE_F16, 1, -65504.0f);
  EXPECT_FALSE(check_output(layout, image, expectation).passed());
}

TEST(CheckerBound, IsTheContracts) {
  EXPECT_EQ(bound_for(RADIANCE_BF16, "cpu").u, std::exp2(-8));
  EXPECT_EQ(bound_for(RADIANCE_F16, "gfx1201").u, std::exp2(-11));
  EXPECT_EQ(bound_for(RADIANCE_F32, "cpu").u, std::exp2(-24));
  // Halves of the smallest subnormals.
  EXPECT_EQ(bound_for(RADIANCE_BF16, "cpu").a, static_cast<double>(bf16_to_f32(1)) / 2);
  EXPECT_EQ(bound_for(RADIANCE_F16, "cpu").a, static_cast<double>(f16_to_f32(1)) / 2);
  EXPECT_EQ(bound_for(RADIANCE_F32, "cpu").a, static_cast<double>(float_from_bits(1)) / 2);
  EXPECT_EQ(bound_for(RADIANCE_BF16, "gfx1201").t, std::exp2(-19));
  EXPECT_EQ(bound_for(RADIANCE_BF16, "sm90").t, std::exp2(-12));
}

TEST(CheckerImages, DifferencesAreLocated) {
  const OutputLayout layout{RADIANCE_BF16, 2, 3, 4};
  const std::vector<uint8_t> first = poisoned_image(layout);
  std::vector<uint8_t> second = first;
  EXPECT_EQ(compare_images(layout, first, second), "");
  second[static_cast<size_t>(layout.origin() + (1 * 4 + 2) * 2 + 1)] ^= 1;
  EXPECT_THAT(compare_images(layout, first, second), HasSubstr("y[1][2]"));
}

TEST(CheckWritten, WantsEveryElementAndNothingElse) {
  const OutputLayout layout{RADIANCE_BF16, 3, 5, 7};
  std::vector<uint8_t> image = poisoned_image(layout);
  EXPECT_THAT(check_written(layout, image), testing::HasSubstr("y[0][0] was not written"));
  const auto write = [&](int64_t row, int64_t column) {
    std::memset(image.data() + layout.origin() + 2 * (row * layout.ldy + column), 0x7f, 2);
  };
  for (int64_t row = 0; row < 3; ++row) {
    for (int64_t column = 0; column < 5; ++column) write(row, column);
  }
  EXPECT_EQ(check_written(layout, image), "") << "any value will do, NaN too";
  write(1, 5);
  EXPECT_THAT(check_written(layout, image), testing::HasSubstr("past N"));
}

}  // namespace
}  // namespace radiance::lab
