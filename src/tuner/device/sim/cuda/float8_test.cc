// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the simulated GPU's 8-bit floats with values/float8.h, which is tested against their definition
// (float_bits_test.cc).
#include "tuner/values/float8.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tuner/device/sim/cuda/cuda_fp4.h"
#include "tuner/device/sim/cuda/cuda_fp8.h"
#include "tuner/values/packed4.h"

namespace {

template <int kMantissa, typename T>
void CheckAgainstCore() {
  for (unsigned code = 0; code < 256; ++code) {
    const float mine = hone_sim::Float8ToFloat<kMantissa>(code);
    const float core = hone::float8::ToFloat(T{static_cast<uint8_t>(code)});
    if (std::isnan(core)) {
      EXPECT_TRUE(std::isnan(mine)) << code;
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(mine), std::bit_cast<uint32_t>(core)) << code;
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 300'000; ++i) {
    // Exponents around the format's own, and every second value near or on a midpoint.
    uint32_t bits = static_cast<uint32_t>(random());
    bits = (bits & 0x807fffffu) | (static_cast<uint32_t>(95 + random() % 60) << 23);
    if (i % 2 == 0) bits &= 0xfff80000u;
    if (i % 4 == 0) bits |= static_cast<uint32_t>(random() % 2);
    const auto value = std::bit_cast<float>(bits);
    ASSERT_EQ((hone_sim::FloatToFloat8<kMantissa>(value, kMantissa == 3)), hone::float8::FromFloat<T>(value).bits)
        << value;
  }
}

TEST(SimFloat8, ConvertsAsTheJudgeDoes) {
  CheckAgainstCore<3, hone::float8::E4M3>();
  CheckAgainstCore<2, hone::float8::E5M2>();
}

TEST(SimFloat4, ConvertsAsTheJudgeDoes) {
  for (unsigned code = 0; code < 16; ++code) EXPECT_EQ(hone_sim::Float4ToFloat(code), hone::packed4::FloatPair::Value(code)) << code;
  for (float value = -7.0f; value <= 7.0f; value += 0.03125f) {
    EXPECT_EQ(hone_sim::FloatToFloat4(value), hone::packed4::FloatPair::Code(value)) << value;
  }
  const __nv_fp4x2_e2m1 pair(make_float2(1.5f, -6.0f));
  EXPECT_EQ(pair.__x, 0xf3);
  EXPECT_EQ(static_cast<float2>(pair).y, -6.0f);
}

TEST(SimFloat8, TypesSaturateAndIntrinsicsDoAsTheyAreAsked) {
  EXPECT_EQ(static_cast<float>(__nv_fp8_e4m3(1e9)), 448.0f);
  EXPECT_EQ(static_cast<float>(__nv_fp8_e5m2(-INFINITY)), -57344.0f);
  EXPECT_TRUE(std::isnan(static_cast<float>(__nv_fp8_e4m3(NAN))));
  EXPECT_EQ(__nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3), 0x7f);
  EXPECT_EQ(__nv_cvt_float_to_fp8(-1e9f, __NV_NOSAT, __NV_E5M2), 0xfc);
  // 1.0625 + 2^-40 lies above a midpoint that a float cannot tell from it: a double is rounded once.
  EXPECT_EQ(static_cast<double>(__nv_fp8_e4m3(1.0625 + 0x1p-40)), 1.125);
  EXPECT_EQ(static_cast<double>(__nv_fp8_e4m3(1.0625)), 1.0);
  const __nv_fp8x4_e4m3 four(make_float4(1.0f, -2.0f, 3.3f, 0.0f));
  EXPECT_EQ(four.__x, 0x0045c038u);
  const float4 back = static_cast<float4>(four);
  EXPECT_EQ(back.z, 3.25f);
  EXPECT_EQ(static_cast<float2>(__nv_fp8x2_e5m2(make_float2(5.0f, 6.0f))).y, 6.0f);
  EXPECT_EQ(static_cast<int>(__nv_fp8_e4m3(-3.75f)), -3);
}

TEST(SimFloat8, BlockScalesArePowersOfTwoRoundedUp) {
  EXPECT_EQ(static_cast<float>(__nv_fp8_e8m0(1.0f)), 1.0f);
  EXPECT_EQ(static_cast<float>(__nv_fp8_e8m0(1.5f)), 2.0f);
  EXPECT_EQ(__nv_cvt_float_to_e8m0(1.5f, __NV_SATFINITE, cudaRoundZero), 127);
  EXPECT_EQ(__nv_cvt_float_to_e8m0(INFINITY, __NV_NOSAT, cudaRoundPosInf), 255);
  EXPECT_EQ(__nv_fp8_e8m0(3e38f).__x, 254);
  EXPECT_EQ(__nv_fp8_e8m0(0.0f).__x, 0);
}

}  // namespace
