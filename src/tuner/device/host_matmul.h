// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes a plan's matrix products on the processor, for devices whose memory is this process's own: the simulated GPU
// and the fakes of tests.
#pragma once

#include "hone/tuner/candidate.h"

namespace hone::host {

// Computes `call` as a library on a GPU does: products and sums in float32 (16-bit elements are exact there), bias and
// epilogue applied in float32, results rounded once to the dtype. The order of the sums may differ from a library's,
// but is the same on every processor, whatever `threads`. The pointers are the operands', offsets included; `bias` is
// null if the call has none. Blocks; takes about a second for 2e10 operations on one core with AVX2.
void Matmul(const ResolvedCall& call, const void* a, const void* b, const void* bias, void* out, int threads);

}  // namespace hone::host
