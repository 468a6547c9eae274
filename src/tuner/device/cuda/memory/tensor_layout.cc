// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/cuda/memory/tensor_layout.h"

#include <fmt/format.h>

#include <bit>

namespace hone::harness {

Divisor MakeDivisor(uint64_t divisor) {
  HONE_CHECK(divisor >= 1, "an extent of zero has no elements to divide among");
  if (divisor == 1) return {0, 1, 0};
  // With 2^shift < divisor <= 2^(shift + 1), magic = ceil(2^(64 + shift) / divisor) fits 64 bits, and its excess over
  // the exact ratio is below divisor / 2^(64 + shift) relative to 1: harmless for numerators below 2^62.
  const int shift = std::bit_width(divisor - 1) - 1;
  const Uint128 power = static_cast<Uint128>(1) << (64 + shift);
  const Uint128 magic = (power + divisor - 1) / divisor;
  // A power of two gives exactly 2^63; no divisor gives 2^64.
  return {static_cast<uint64_t>(magic), divisor, shift};
}

Result<Layout> MakeLayout(const TensorView& view) {
  const size_t rank = view.shape.size();
  if (view.strides.size() != rank) {
    return Status::InvalidArgument(fmt::format("a view has {} extents and {} strides", rank, view.strides.size()));
  }
  if (view.slice_axis >= static_cast<int>(rank)) {
    return Status::InvalidArgument(fmt::format("slice axis {} of a view with {} axes", view.slice_axis, rank));
  }
  Layout layout{};
  layout.address = view.address;
  layout.elements = view.elements;
  layout.slices = view.slice_axis < 0 ? 1 : view.shape[static_cast<size_t>(view.slice_axis)];
  if (view.elements == 0) return layout;

  struct Axis {
    int64_t extent, stride;
    bool sliced;
  };
  std::vector<Axis> axes;  // outermost first
  layout.inner = 1;
  for (size_t i = 0; i < rank; ++i) {
    const bool sliced = static_cast<int>(i) == view.slice_axis;
    if (static_cast<int>(i) > view.slice_axis) layout.inner *= view.shape[i];
    if (view.shape[i] == 1 && !sliced) continue;
    const bool merges = !axes.empty() && !sliced && !axes.back().sliced &&
                        axes.back().stride == view.shape[i] * view.strides[i];
    if (merges) {
      axes.back().extent *= view.shape[i];
      axes.back().stride = view.strides[i];
    } else {
      axes.push_back({view.shape[i], view.strides[i], sliced});
    }
  }
  if (axes.empty()) axes.push_back({1, 1, false});
  if (axes.size() > static_cast<size_t>(kMaxAxes)) {
    return Status::InvalidArgument(fmt::format(
        "a tensor of {} axes that do not merge; the CUDA device handles {}", axes.size(), kMaxAxes));
  }
  layout.axes = static_cast<int>(axes.size());
  int64_t position_stride = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    layout.extent[i] = MakeDivisor(static_cast<uint64_t>(axes[i].extent));
    layout.stride[i] = axes[i].stride;
    layout.slice_stride[i] = axes[i].sliced ? 1 : 0;
    layout.position_stride[i] = axes[i].sliced ? 0 : position_stride;
    if (!axes[i].sliced) position_stride *= axes[i].extent;
  }
  layout.by_inner = MakeDivisor(static_cast<uint64_t>(layout.inner));
  layout.by_slices = MakeDivisor(static_cast<uint64_t>(layout.slices));
  return layout;
}

bool CanVectorize(const Layout& layout, int width, int64_t element_bytes) {
  if (layout.elements == 0) return false;
  const int last = layout.axes - 1;
  if (layout.slice_stride[last] != 0 || layout.stride[last] != 1) return false;
  if (layout.extent[last].divisor % static_cast<uint64_t>(width) != 0) return false;
  for (int i = 0; i < last; ++i) {
    if (layout.stride[i] % width != 0) return false;
  }
  return layout.address % static_cast<uint64_t>(width * element_bytes) == 0;
}

}  // namespace hone::harness
