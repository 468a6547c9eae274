// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes convolutions with sums in double precision, as references for those of the processor and the GPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "hone/tuner/candidate.h"
#include "tuner/device/host_tensor_ops.h"

namespace hone::test {

// Returns one convolution of each kind: 1 to 3 axes, strides, padding, dilation, groups, one input channel per group,
// transposed ones with output padding, and a kernel of one element.
inline std::vector<ResolvedConvolution> ConvolutionForms() {
  return {
      {.batch = 2,
       .in_channels = 3,
       .out_channels = 5,
       .size = {17},
       .kernel = {4},
       .stride = {2},
       .padding = {1},
       .dilation = {3},
       .output_padding = {0}},
      {.batch = 2,
       .in_channels = 6,
       .out_channels = 8,
       .groups = 2,
       .size = {9, 12},
       .kernel = {3, 5},
       .stride = {1, 2},
       .padding = {1, 2},
       .dilation = {1, 1},
       .output_padding = {0, 0}},
      {.batch = 1,
       .in_channels = 4,
       .out_channels = 4,
       .groups = 4,
       .size = {8, 7},
       .kernel = {3, 3},
       .stride = {1, 1},
       .padding = {0, 1},
       .dilation = {2, 1},
       .output_padding = {0, 0}},
      {.batch = 3,
       .in_channels = 5,
       .out_channels = 7,
       .size = {6, 6},
       .kernel = {1, 1},
       .stride = {1, 1},
       .padding = {0, 0},
       .dilation = {1, 1},
       .output_padding = {0, 0}},
      {.batch = 1,
       .in_channels = 2,
       .out_channels = 3,
       .size = {5, 6, 7},
       .kernel = {3, 2, 3},
       .stride = {2, 1, 1},
       .padding = {1, 0, 1},
       .dilation = {1, 2, 1},
       .output_padding = {0, 0, 0}},
      {.batch = 2,
       .in_channels = 6,
       .out_channels = 4,
       .groups = 2,
       .size = {5, 6},
       .kernel = {3, 4},
       .stride = {2, 3},
       .padding = {1, 0},
       .dilation = {1, 2},
       .output_padding = {1, 2},
       .transposed = true},
      {.batch = 1,
       .in_channels = 3,
       .out_channels = 5,
       .size = {11},
       .kernel = {5},
       .stride = {1},
       .padding = {0},
       .dilation = {1},
       .output_padding = {0},
       .transposed = true},
      {.batch = 1,
       .in_channels = 4,
       .out_channels = 3,
       .size = {3, 4, 5},
       .kernel = {3, 3, 3},
       .stride = {2, 2, 2},
       .padding = {1, 1, 1},
       .dilation = {1, 1, 1},
       .output_padding = {1, 1, 1},
       .transposed = true},
  };
}

struct ConvolutionCase {
  ResolvedCall call;  // operands are named "input", "weight", "bias" and "out", without offsets
  std::vector<uint8_t> input, weight, bias;
};

// Returns `count` multiples of 1/64 below 2, which no dtype rounds.
inline std::vector<uint8_t> ConvolutionNumbers(DType dtype, int64_t count, uint32_t seed) {
  std::vector<uint8_t> memory(static_cast<size_t>(count * DTypeBytes(dtype)));
  for (int64_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    host::WriteElement(dtype, memory.data() + i * DTypeBytes(dtype),
                       static_cast<double>(static_cast<int>(seed >> 24) - 128) / 64.0);
  }
  return memory;
}

inline ConvolutionCase MakeConvolution(const ResolvedConvolution& form, DType dtype, bool with_bias) {
  int64_t in = form.batch * form.in_channels, out = form.batch * form.out_channels,
          weight = form.in_channels * form.out_channels / form.groups;
  for (size_t axis = 0; axis < form.size.size(); ++axis) {
    in *= form.size[axis];
    out *= form.OutSize(axis);
    weight *= form.kernel[axis];
  }
  const int64_t width = DTypeBytes(dtype);
  ConvolutionCase one;
  one.call = ResolvedCall{.a = {"input", 0, in * width},
                          .b = {"weight", 0, weight * width},
                          .out = {"out", 0, out * width},
                          .convolution = form,
                          .dtype = dtype};
  if (with_bias) one.call.bias = ResolvedOperand{"bias", 0, form.out_channels * width};
  one.input = ConvolutionNumbers(dtype, in, 1);
  one.weight = ConvolutionNumbers(dtype, weight, 2);
  one.bias = ConvolutionNumbers(dtype, form.out_channels, 3);
  return one;
}

// Returns the greatest error of `out`, relative to the size of the summed terms. The reference follows the definition:
// every element of `out` gathers the input elements that reach it.
inline double ConvolutionError(const ConvolutionCase& convolution, const uint8_t* out) {
  const ResolvedConvolution& c = *convolution.call.convolution;
  const DType dtype = convolution.call.dtype;
  const auto at = [&](const uint8_t* memory, int64_t element) {
    return host::ReadElement(dtype, memory + element * DTypeBytes(dtype));
  };
  const size_t axes = c.size.size();
  const int64_t in_group = c.in_channels / c.groups, out_group = c.out_channels / c.groups;
  int64_t in_pixels = 1, out_pixels = 1, taps = 1;
  for (size_t axis = 0; axis < axes; ++axis) {
    in_pixels *= c.size[axis];
    out_pixels *= c.OutSize(axis);
    taps *= c.kernel[axis];
  }
  double worst = 0;
  for (int64_t element = 0; element < c.batch * c.out_channels * out_pixels; ++element) {
    const int64_t image = element / (c.out_channels * out_pixels), to = element / out_pixels % c.out_channels,
                  group = to / out_group;
    // size: the sum of the terms' magnitudes, to which the error is relative
    double sum = convolution.call.bias ? at(convolution.bias.data(), to) : 0, size = std::abs(sum) + 1;
    for (int64_t tap = 0; tap < taps; ++tap) {
      int64_t pixel = element % out_pixels, left = tap, from = 0, unit = 1;
      bool inside = true;
      for (size_t axis = axes; axis-- > 0;) {
        const int64_t place = pixel % c.OutSize(axis), k = left % c.kernel[axis];
        pixel /= c.OutSize(axis);
        left /= c.kernel[axis];
        int64_t source = place * c.stride[axis] - c.padding[axis] + k * c.dilation[axis];
        if (c.transposed) {
          source = place + c.padding[axis] - k * c.dilation[axis];
          inside = inside && source % c.stride[axis] == 0;
          source /= c.stride[axis];
          inside = inside && place + c.padding[axis] - k * c.dilation[axis] >= 0;
        }
        inside = inside && source >= 0 && source < c.size[axis];
        from += source * unit;
        unit *= c.size[axis];
      }
      if (!inside) continue;
      for (int64_t channel = 0; channel < in_group; ++channel) {
        const int64_t source = group * in_group + channel;
        const int64_t weight =
            c.transposed ? (source * out_group + to % out_group) * taps + tap : (to * in_group + channel) * taps + tap;
        const double term =
            at(convolution.input.data(), (image * c.in_channels + source) * in_pixels + from) * at(convolution.weight.data(), weight);
        sum += term;
        size += std::abs(term);
      }
    }
    const double computed = at(out, element);
    worst = std::max(worst, std::isfinite(computed) ? std::abs(computed - sum) / size : 1e30);
  }
  return worst;
}

// Returns the error that float32 sums and the rounding of the result to `dtype` explain.
inline double ConvolutionTolerance(DType dtype) {
  return dtype == DType::kFloat32 ? 1e-6 : dtype == DType::kFloat16 ? 6e-4 : 5e-3;
}

}  // namespace hone::test
