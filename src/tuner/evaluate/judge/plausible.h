// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file decides whether a time, measured or modelled, is plausible for the work that the task asks for. The bytes
// that must move are a proof: a time in which memory of known bandwidth could not move them is refused. The number of
// operations is no proof, because Winograd's algorithm, split products and plain algebra need fewer; a time above the
// device's peak is a reason to look again. docs/precision.md, "Looked at again".
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Fills `refuse_below_us` of a case whose cold time is known. A cold time below it, in which no memory could move the
// bytes, stops the judgement with kRuleViolation.
Result<Gate> RefuseImpossibleTime(Judgement& judgement, const Dims& dims, CaseResult& result);

// Returns the operations per second that a candidate of this task can honestly reach on the device: the rate of the
// fastest precision whose errors the task's c_rms allows. 0: not known.
double HonestPeak(const Task& task, const DeviceFacts& facts);

// Returns whether the case's cold time is so short that it needs more operations per second than HonestPeak, which
// calls for further checks. If so, adds the finding `beyond_peak`.
bool BeyondPeak(Judgement& judgement, const Dims& dims, const CaseResult& result);

// Returns whether an honest kernel's output may differ in bits from run to run: if the task may sum (its workload is
// neither elementwise nor other) and the kernel's text contains an atomic operation. Only a finding depends on this,
// because outputs that vary are judged by tolerance.
bool MayVary(const Task& task, const Candidate& candidate);

}  // namespace hone
