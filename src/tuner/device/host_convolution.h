// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes a plan's library calls on the processor, for devices whose memory is this process's own: convolutions here,
// matrix products by host_matmul.h.
#pragma once

#include "hone/tuner/candidate.h"

namespace hone::host {

// Computes `call`, which is a convolution or a product, as a library on a GPU does: products and sums in float32, the
// bias added in float32, results rounded once to the dtype. The order of the sums may differ from a library's, but is
// the same on every processor, whatever `threads`. The pointers are the operands', offsets included; `bias` is null if
// the call has none. Blocks.
void ComputeCall(const ResolvedCall& call, const void* a, const void* b, const void* bias, void* out, int threads);

}  // namespace hone::host
