// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses the parts of a large problem that the oracle computes after a sample of its blocks has run on the simulated
// GPU (docs/measurement.md, "How a wrong output could escape").
//
// Slices are independent because the task says so. Where a slice is long, as a row of a large product is, the oracle
// could compute one of them only. Most such problems are independent along a second dimension too: then a part consists
// of a few slices and a few indices of that dimension around an element that the sample has written, and many parts
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
// none. Nobody states it: a dimension that is one axis of every output, and of each input one axis at most, and that
// occurs nowhere else, is tried: from half of its indices the oracle must compute, in a check case, the very numbers
// that it computes from all. The first call runs the oracle; its result is kept.
Result<std::string> IndependentDimension(Judgement& judgement);

// Draws, secretly, parts of the problem in set 0 of `buffers`, whose last launch was a sample of blocks that wrote in
// `written` slices. `share`, at most 1, is the part of the usual work that the oracle may do. At least one part.
Result<std::vector<ProblemPart>> DrawParts(Judgement& judgement, const CaseBuffers& buffers,
                                           const std::vector<int64_t>& written, double share);

}  // namespace hone
