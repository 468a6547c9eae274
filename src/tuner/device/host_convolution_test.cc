// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/host_convolution.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tuner/device/convolution_test_support.h"

namespace hone {
namespace {

TEST(HostConvolution, GivesWhatTheSumsAreForEveryForm) {
  for (const ResolvedConvolution& form : test::ConvolutionForms()) {
    for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16}) {
      const test::ConvolutionCase one = test::MakeConvolution(form, dtype, /*with_bias=*/true);
      std::vector<uint8_t> out(static_cast<size_t>(one.call.out.bytes), 0xa5);
      host::ComputeCall(one.call, one.input.data(), one.weight.data(), one.bias.data(), out.data(), 2);
      EXPECT_LT(test::ConvolutionError(one, out.data()), test::ConvolutionTolerance(dtype)) << one.call.Describe();
    }
  }
}

TEST(HostConvolution, GivesTheSameBitsOnAnyNumberOfThreads) {
  const ResolvedConvolution large{.batch = 1,
                                  .in_channels = 24,
                                  .out_channels = 130,
                                  .size = {96, 90},
                                  .kernel = {5, 5},
                                  .stride = {1, 1},
                                  .padding = {2, 2},
                                  .dilation = {1, 1},
                                  .output_padding = {0, 0}};
  const test::ConvolutionCase one = test::MakeConvolution(large, DType::kFloat32, /*with_bias=*/false);
  std::vector<uint8_t> alone(static_cast<size_t>(one.call.out.bytes)), together(alone);
  host::ComputeCall(one.call, one.input.data(), one.weight.data(), nullptr, alone.data(), 1);
  host::ComputeCall(one.call, one.input.data(), one.weight.data(), nullptr, together.data(), 4);
  EXPECT_EQ(alone, together);
}

TEST(HostConvolution, FlopsAreThoseOfTheSums) {
  ResolvedConvolution form{.batch = 2,
                           .in_channels = 6,
                           .out_channels = 4,
                           .groups = 2,
                           .size = {5, 7},
                           .kernel = {3, 3},
                           .stride = {2, 1},
                           .padding = {1, 1},
                           .dilation = {1, 1},
                           .output_padding = {0, 0}};
  EXPECT_EQ(test::MakeConvolution(form, DType::kFloat32, /*with_bias=*/false).call.flops(),
            2.0 * 2 * 4 * 3 * 9 * 3 * 7);
  form.transposed = true;
  EXPECT_EQ(test::MakeConvolution(form, DType::kFloat32, /*with_bias=*/false).call.flops(),
            2.0 * 2 * 6 * 2 * 9 * 5 * 7);
}

}  // namespace
}  // namespace hone
