// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file chooses the parts of a large problem that the oracle computes after a sample of its blocks has run on the
// simulated GPU (docs/precision.md, "How a wrong output could escape").
//
// Slices are independent because the task says so. If a slice is long, as a row of a large matrix product is, the
// oracle could afford only one. Most such problems are independent along a second dimension too. A part then consists
// of a few slices, and a few indices of the second dimension, around an element that the sample has written; many parts
// cost as much as one slice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Returns a dimension, besides the slice dimension, along which the task's outputs are independent; empty if there is
// none. The task does not state it, so each plausible dimension is tried: one that is exactly one axis of every output,
// at most one axis of each input, and occurs nowhere else. In a check case, the oracle must compute from half of its
// indices the same bits as from all of them. Of several such dimensions, the one that is largest at timed shapes is
// returned. The first call runs the oracle and keeps the result.
Result<std::string> IndependentDimension(Judgement& judgement);

// Returns at least one part, drawn secretly, of the problem in set 0 of `buffers`, whose last launch was a sample of
// blocks that wrote in the slices `written_slices`. `share`, at most 1, is the share of the usual work (judge_policy.h)
// that the oracle may do.
Result<std::vector<ProblemPart>> DrawParts(Judgement& judgement, const CaseBuffers& buffers,
                                           const std::vector<int64_t>& written_slices, double share);

}  // namespace hone
