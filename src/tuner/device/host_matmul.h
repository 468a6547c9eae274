// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A plan's matrix products on the processor, for devices whose memory is this process's own: the simulated GPU and the
// fakes of tests.
#pragma once

#include "hone/tuner/candidate.h"

namespace hone::host {

// What a library makes of `call` on a GPU: products and sums in float32 (16-bit elements are exact there), the bias
// added and the epilogue applied in float32, results rounded once to the dtype. The order of the sums is this
// function's own and the same on every processor, whatever `threads`. The pointers are the operands' own, offsets
// included; `bias` is null where the call has none. Blocks; takes about a second for 2e10 operations on one core with
// AVX2.
void Matmul(const ResolvedMatmul& call, const void* a, const void* b, const void* bias, void* out, int threads);

}  // namespace hone::host
