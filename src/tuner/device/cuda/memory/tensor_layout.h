// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the harness kernels' Layout from a TensorView, on the host.
#pragma once

#include "hone/base/status.h"
#include "tuner/device/cuda/harness/harness_layout.h"
#include "tuner/device/device_session.h"

namespace hone::harness {

// Requires divisor >= 1; quotients are exact for numerators below 2^62.
Divisor MakeDivisor(uint64_t divisor);

// Makes a layout. kInvalidArgument when the view has more axes than kMaxAxes after merging, or a slice axis that does
// not exist. A view with no elements gives elements == 0 and must not be launched over.
Result<Layout> MakeLayout(const TensorView& view);

// Returns whether runs of `width` elements, starting at multiples of `width`, are contiguous, in one slice, and at
// addresses that are multiples of width * element_bytes.
bool CanVectorize(const Layout& layout, int width, int64_t element_bytes);

}  // namespace hone::harness
