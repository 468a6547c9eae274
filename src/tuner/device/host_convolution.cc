// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes a convolution as a matrix product: the weight times a matrix with one column for each element of `out`,
// which holds the input elements under the kernel's taps there. A transposed convolution is a product whose columns are
// added to those elements of `out` that they reach.
#include "tuner/device/host_convolution.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tuner/device/host_elements.h"
#include "tuner/device/host_matmul.h"

namespace hone::host {
namespace {

constexpr int64_t kMostColumnElements = int64_t{1} << 22;  // largest number of elements of the part of that matrix that
                                                           // is in memory at a time

// The sizes of a convolution, extended to three axes: missing axes come first and have extent 1.
struct Geometry {
  explicit Geometry(const ResolvedConvolution& c) {
    const size_t first = 3 - c.size.size();
    for (size_t axis = 0; axis < c.size.size(); ++axis) {
      in[first + axis] = c.size[axis];
      out[first + axis] = c.OutSize(axis);
      kernel[first + axis] = c.kernel[axis];
      stride[first + axis] = c.stride[axis];
      padding[first + axis] = c.padding[axis];
      dilation[first + axis] = c.dilation[axis];
    }
  }
  static int64_t Count(const std::array<int64_t, 3>& extents) { return extents[0] * extents[1] * extents[2]; }

  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, kernel{1, 1, 1}, stride{1, 1, 1}, padding{0, 0, 0},
      dilation{1, 1, 1};
};

std::array<int64_t, 3> CoordinatesOf(int64_t place, const std::array<int64_t, 3>& extents) {
  return {place / (extents[1] * extents[2]), place / extents[2] % extents[1], place % extents[2]};
}

// Calls take(tap, to) for each tap of the kernel applied at element `place` of `strided` whose position `to` lies
// within `reached`. For a convolution, `strided` has the output's extents and `reached` the input's; for a
// transposed one it is the other way round.
template <typename Take>
void ForTaps(const Geometry& g, const std::array<int64_t, 3>& strided, const std::array<int64_t, 3>& reached,
             int64_t place, const Take& take) {
  const std::array<int64_t, 3> at = CoordinatesOf(place, strided);
  int64_t tap = 0;
  for (int64_t z = 0; z < g.kernel[0]; ++z) {
    for (int64_t y = 0; y < g.kernel[1]; ++y) {
      for (int64_t x = 0; x < g.kernel[2]; ++x, ++tap) {
        const int64_t depth = at[0] * g.stride[0] - g.padding[0] + z * g.dilation[0],
                      row = at[1] * g.stride[1] - g.padding[1] + y * g.dilation[1],
                      column = at[2] * g.stride[2] - g.padding[2] + x * g.dilation[2];
        if (depth < 0 || depth >= reached[0] || row < 0 || row >= reached[1] || column < 0 || column >= reached[2])
          continue;
        take(tap, (depth * reached[1] + row) * reached[2] + column);
      }
    }
  }
}

// Computes a convolution on the host with sums in float32, as a matrix product over taps and channels.
void Convolution(const ResolvedCall& call, const void* input, const void* weight, const void* bias, void* out,
                 int threads) {
  const ResolvedConvolution& c = *call.convolution;
  const Geometry g(c);
  const int64_t taps = Geometry::Count(g.kernel), in_pixels = Geometry::Count(g.in),
                out_pixels = Geometry::Count(g.out);
  const int64_t in_channels = c.in_channels / c.groups, out_channels = c.out_channels / c.groups;
  const int64_t weights = in_channels * out_channels * taps;  // of one group
  std::vector<float> factors(static_cast<size_t>(weights)), columns, part,
      sums(static_cast<size_t>(out_channels * out_pixels));
  for (int64_t group = 0; group < c.groups; ++group) {
    for (int64_t i = 0; i < weights; ++i)
      factors[static_cast<size_t>(i)] = Load(call.dtype, weight, group * weights + i);
    for (int64_t image = 0; image < c.batch; ++image) {
      const int64_t from = (image * c.in_channels + group * in_channels) * in_pixels;
      std::fill(sums.begin(), sums.end(), 0.0f);
      const int64_t rows = c.transposed ? out_channels * taps : out_channels,
                    terms = c.transposed ? in_channels : in_channels * taps;
      const int64_t pixels = c.transposed ? in_pixels : out_pixels;
      const int64_t at_once = std::clamp<int64_t>(kMostColumnElements / std::max(rows, terms), 1, pixels);
      for (int64_t first = 0; first < pixels; first += at_once) {
        const int64_t count = std::min(at_once, pixels - first);
        columns.assign(static_cast<size_t>(terms * count), 0.0f);
        part.resize(static_cast<size_t>(rows * count));
        for (int64_t channel = 0; channel < in_channels; ++channel) {
          for (int64_t i = 0; i < count; ++i) {
            const int64_t plane = from + channel * in_pixels;
            if (c.transposed) {
              columns[static_cast<size_t>(channel * count + i)] = Load(call.dtype, input, plane + first + i);
            } else {
              ForTaps(g, g.out, g.in, first + i, [&](int64_t tap, int64_t to) {
                columns[static_cast<size_t>((channel * taps + tap) * count + i)] = Load(call.dtype, input, plane + to);
              });
            }
          }
        }
        const ResolvedCall product{.m = rows, .n = count, .k = terms, .transpose_a = c.transposed};
        Matmul(product, factors.data(), columns.data(), nullptr, part.data(), threads);
        for (int64_t channel = 0; channel < out_channels; ++channel) {
          float* const plane = sums.data() + channel * out_pixels;
          for (int64_t i = 0; i < count; ++i) {
            if (c.transposed) {
              ForTaps(g, g.in, g.out, first + i, [&](int64_t tap, int64_t to) {
                plane[to] += part[static_cast<size_t>((channel * taps + tap) * count + i)];
              });
            } else {
              plane[first + i] = part[static_cast<size_t>(channel * count + i)];
            }
          }
        }
      }
      for (int64_t channel = 0; channel < out_channels; ++channel) {
        const int64_t output_channel = group * out_channels + channel;
        const float shift = bias != nullptr ? Load(call.dtype, bias, output_channel) : 0.0f;
        for (int64_t i = 0; i < out_pixels; ++i) {
          const float sum = sums[static_cast<size_t>(channel * out_pixels + i)];
          Store(call.dtype, out, (image * c.out_channels + output_channel) * out_pixels + i,
                bias != nullptr ? sum + shift : sum);
        }
      }
    }
  }
}

}  // namespace

void ComputeCall(const ResolvedCall& call, const void* a, const void* b, const void* bias, void* out, int threads) {
  if (call.convolution) {
    Convolution(call, a, b, bias, out, threads);
  } else {
    Matmul(call, a, b, bias, out, threads);
  }
}

}  // namespace hone::host
