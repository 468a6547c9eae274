// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests stated rounding, integer intrinsics, and the errors of the fast functions: within CUDA's documented bounds, and
// not better than on a GPU.
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "tuner/device/sim/cuda/detail/fast_math.h"

namespace {

float RandomFloat(std::mt19937& random, int exponent_spread) {
  const float mantissa = 1.0f + static_cast<float>(random() & 0x7fffffu) / 8388608.0f;
  const int exponent =
      static_cast<int>(random() % (2u * static_cast<unsigned>(exponent_spread) + 1u)) - exponent_spread;
  return std::ldexp(random() & 1 ? mantissa : -mantissa, exponent);
}

// Uses the hardware's own directed rounding for one operation.
template <typename F>
float WithRounding(int mode, F operation) {
  std::fesetround(mode);
  volatile float result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}

TEST(Math, StatedRoundingMatchesTheProcessorsModes) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 20000; ++trial) {
    volatile float a = RandomFloat(random, 30), b = RandomFloat(random, 30), c = RandomFloat(random, 60);
#define CHECK_MODE(SUFFIX, MODE)                                                                                  \
  ASSERT_EQ(__fadd_##SUFFIX(a, b), WithRounding(MODE, [&] { return a + b; })) << a << " " << b;                   \
  ASSERT_EQ(__fsub_##SUFFIX(a, b), WithRounding(MODE, [&] { return a - b; })) << a << " " << b;                   \
  ASSERT_EQ(__fmul_##SUFFIX(a, b), WithRounding(MODE, [&] { return a * b; })) << a << " " << b;                   \
  ASSERT_EQ(__fdiv_##SUFFIX(a, b), WithRounding(MODE, [&] { return a / b; })) << a << " " << b;                   \
  ASSERT_EQ(__frcp_##SUFFIX(a), WithRounding(MODE, [&] { return 1.0f / a; })) << a;                               \
  ASSERT_EQ(__fsqrt_##SUFFIX(std::fabs(a)), WithRounding(MODE,                                                    \
                                                         [&] {                                                    \
                                                           volatile float m = std::fabs(a);                       \
                                                           return __builtin_sqrtf(m);                             \
                                                         }))                                                      \
      << a;                                                                                                       \
  ASSERT_EQ(__fmaf_##SUFFIX(a, b, c), WithRounding(MODE, [&] { return std::fma(float(a), float(b), float(c)); })) \
      << a << " " << b << " " << c;
    CHECK_MODE(rn, FE_TONEAREST)
    CHECK_MODE(rz, FE_TOWARDZERO)
    CHECK_MODE(rd, FE_DOWNWARD)
    CHECK_MODE(ru, FE_UPWARD)
#undef CHECK_MODE
  }
  const float big = std::numeric_limits<float>::max();
  EXPECT_EQ(__fmul_rz(big, 2.0f), big);
  EXPECT_EQ(__fmul_rn(big, 2.0f), std::numeric_limits<float>::infinity());
}

TEST(Math, ConversionsSaturateAndDropNaN) {
  EXPECT_EQ(__float2int_rn(2.5f), 2);
  EXPECT_EQ(__float2int_rn(3.5f), 4);
  EXPECT_EQ(__float2int_rz(-2.9f), -2);
  EXPECT_EQ(__float2int_rd(-2.1f), -3);
  EXPECT_EQ(__float2int_ru(2.1f), 3);
  EXPECT_EQ(__float2int_rz(1e20f), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2int_rz(-1e20f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rz(-2147483648.0f), std::numeric_limits<int>::min());
  EXPECT_EQ(__float2int_rz(2147483648.0f), std::numeric_limits<int>::max());
  EXPECT_EQ(__float2int_rz(NAN), 0);
  EXPECT_EQ(__float2uint_rn(-1.0f), 0u);
  EXPECT_EQ(__float2uint_rz(4294967040.0f), 4294967040u);
  EXPECT_EQ(__double2ll_rn(1e300), std::numeric_limits<long long>::max());
  EXPECT_EQ(__double2ull_rz(1.8446744073709552e19), std::numeric_limits<unsigned long long>::max());
}

TEST(Math, IntegerIntrinsicsByHand) {
  EXPECT_EQ(__popc(0xf0f0u), 8);
  EXPECT_EQ(__clz(0), 32);
  EXPECT_EQ(__clz(1), 31);
  EXPECT_EQ(__clzll(1), 63);
  EXPECT_EQ(__ffs(0), 0);
  EXPECT_EQ(__ffs(8), 4);
  EXPECT_EQ(__brev(1u), 0x80000000u);
  EXPECT_EQ(__brevll(2ull), 0x4000000000000000ull);
  EXPECT_EQ(__byte_perm(0x03020100u, 0x07060504u, 0x5410u), 0x05040100u);
  EXPECT_EQ(__byte_perm(0x03020100u, 0x07060504u, 0x7632u), 0x07060302u);
  EXPECT_EQ(__funnelshift_l(0x80000000u, 0x1u, 1), 0x3u);
  EXPECT_EQ(__funnelshift_r(0x80000000u, 0x1u, 31), 0x3u);
  EXPECT_EQ(__funnelshift_r(5u, 6u, 32), 5u);
  EXPECT_EQ(__funnelshift_rc(5u, 6u, 32), 6u);
  EXPECT_EQ(__mulhi(-2, 3), -1);
  EXPECT_EQ(__umulhi(0x80000000u, 4u), 2u);
  EXPECT_EQ(__mul24(0x00ffffff, 2), -2);
  EXPECT_EQ(__umul24(0x01000002u, 3u), 6u);
  EXPECT_EQ(__sad(-3, 4, 1u), 8u);
  EXPECT_EQ(__dp4a(static_cast<int>(0xff020304u), 0x01010101, 10), 10 + 4 + 3 + 2 - 1);
  EXPECT_EQ(__dp4a(0xff020304u, 0x01010101u, 10u), 10u + 4 + 3 + 2 + 255);
  EXPECT_EQ(__fns(0b101100u, 0, 2), 3u);
  EXPECT_EQ(__fns(0b101100u, 0, 4), 0xffffffffu);
  EXPECT_EQ(__vadd4(0xff010203u, 0x01010101u), 0x00020304u);
  EXPECT_EQ(__vsub2(0x00010000u, 0x00000001u), 0x0001ffffu);
  EXPECT_EQ(min(-1, 1u), 1u);  // CUDA's mixed overload is unsigned
  EXPECT_EQ(max(NAN, 2.0f), 2.0f);
}

struct Error {
  double worst_ulp = 0, worst_absolute = 0;
  int inexact = 0;  // results that are not the correctly rounded one
};
template <typename F, typename R>
Error Measure(F fast, R exact, double low, double high) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> draw(low, high);
  Error error;
  for (int trial = 0; trial < 20000; ++trial) {
    const float x = static_cast<float>(draw(random));
    const double e = exact(static_cast<double>(x)), f = fast(x);
    const float rounded = static_cast<float>(e);
    const double ulp = std::fabs(static_cast<double>(std::nextafter(rounded, INFINITY)) - static_cast<double>(rounded));
    error.worst_ulp = std::fmax(error.worst_ulp, std::fabs(f - e) / ulp);
    error.worst_absolute = std::fmax(error.worst_absolute, std::fabs(f - e));
    if (static_cast<float>(f) != rounded) ++error.inexact;
  }
  return error;
}

// The bounds are from the CUDA C++ Programming Guide, "Intrinsic Functions", and the PTX manual. The additional half
// ulp is the rounding of the exact result itself.
TEST(FastMath, ErrorsAreAsDocumentedAndNotBetter) {
  const Error ex2 = Measure([](float x) { return __exp2f(x); }, [](double x) { return std::exp2(x); }, -20, 20);
  EXPECT_LE(ex2.worst_ulp, 2.6);
  EXPECT_GT(ex2.inexact, 4000);
  const Error exponential = Measure([](float x) { return __expf(x); }, [](double x) { return std::exp(x); }, -10, 10);
  EXPECT_LE(exponential.worst_ulp, 2.6 + std::floor(1.173 * 10));
  EXPECT_GE(exponential.worst_ulp, 3.0);
  const Error logarithm = Measure([](float x) { return __logf(x); }, [](double x) { return std::log(x); }, 2, 1000);
  EXPECT_LE(logarithm.worst_ulp, 3.6);
  EXPECT_GT(logarithm.inexact, 4000);
  const Error near_one = Measure([](float x) { return __logf(x); }, [](double x) { return std::log(x); }, 0.5, 2);
  EXPECT_LE(near_one.worst_absolute, std::exp2(-21.41));
  const Error root = Measure([](float x) { return rsqrtf(x); }, [](double x) { return 1 / std::sqrt(x); }, 0.001, 1000);
  EXPECT_LE(root.worst_ulp, 2.6);
  EXPECT_GT(root.inexact, 4000);
  const Error reciprocal =
      Measure([](float x) { return hone_sim::RcpApprox(x); }, [](double x) { return 1 / x; }, 0.001, 1000);
  EXPECT_LE(reciprocal.worst_ulp, 1.6);
  const Error tangent = Measure([](float x) { return __tanhf(x); }, [](double x) { return std::tanh(x); }, -3, 3);
  EXPECT_LE(tangent.worst_absolute, std::exp2(-10.9));
  EXPECT_GE(tangent.worst_absolute, std::exp2(-13.0));  // fp32 accuracy would be wrong
  const Error sine =
      Measure([](float x) { return __sinf(x); }, [](double x) { return std::sin(x); }, -3.14159, 3.14159);
  EXPECT_LE(sine.worst_absolute, std::exp2(-20.4));
  EXPECT_GE(sine.worst_absolute, std::exp2(-22.5));
  const Error cosine =
      Measure([](float x) { return __cosf(x); }, [](double x) { return std::cos(x); }, -3.14159, 3.14159);
  EXPECT_LE(cosine.worst_absolute, std::exp2(-20.4));
  const Error quotient = Measure([](float x) { return __fdividef(x, 3.7f); },
                                 [](double x) { return x / static_cast<double>(3.7f); }, 0.1, 100);
  EXPECT_LE(quotient.worst_ulp, 2.6);
}

TEST(FastMath, ExactPointsStayExact) {
  EXPECT_EQ(__expf(0.0f), 1.0f);
  EXPECT_EQ(__exp2f(-3.0f), 0.125f);
  EXPECT_EQ(__logf(1.0f), 0.0f);
  EXPECT_EQ(__log2f(8.0f), 3.0f);
  EXPECT_EQ(hone_sim::RcpApprox(0.25f), 4.0f);
  EXPECT_EQ(rsqrtf(16.0f), 0.25f);
  EXPECT_EQ(hone_sim::SqrtApprox(9.0f), 3.0f);
  EXPECT_EQ(__sinf(0.0f), 0.0f);
  EXPECT_EQ(__cosf(0.0f), 1.0f);
  EXPECT_EQ(__tanhf(0.0f), 0.0f);
  EXPECT_EQ(__tanhf(30.0f), 1.0f);
  EXPECT_EQ(__fdividef(6.0f, 2.0f), 3.0f);
  EXPECT_EQ(__expf(-INFINITY), 0.0f);
  EXPECT_EQ(__expf(200.0f), INFINITY);
  EXPECT_TRUE(std::isnan(__expf(NAN)));
  EXPECT_EQ(rsqrtf(0.0f), INFINITY);
  EXPECT_EQ(__fdividef(1.0f, 1e38f), 0.0f);  // documented: the reciprocal of so large a divisor is flushed
}

TEST(Math, LibraryGaps) {
  EXPECT_NEAR(erfinvf(0.5f), 0.476936276, 1e-7);
  EXPECT_NEAR(erfinv(0.999999), 3.458910737279500, 1e-9);
  EXPECT_NEAR(normcdff(1.0f), 0.841344746, 1e-7);
  EXPECT_NEAR(normcdfinv(0.975), 1.959963984540054, 1e-10);
  EXPECT_EQ(sinpif(1.0f), sinpif(1.0f));
  EXPECT_NEAR(cospif(0.25f), 0.70710678, 1e-7);
  EXPECT_NEAR(rcbrtf(8.0f), 0.5, 1e-7);
  EXPECT_EQ(__saturatef(NAN), 0.0f);
  EXPECT_EQ(__saturatef(1.5f), 1.0f);
}

}  // namespace
