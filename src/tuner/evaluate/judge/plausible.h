// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file asks what a time says about the work that was done in it, on a GPU and on a simulated one alike. Bytes that
// must move through a memory of known bandwidth are a proof, and a time below them is refused. Operations are no proof:
// Winograd's products, split products and plain algebra do the same work with fewer. They are a reason to look again.
// docs/measurement.md, "Looked at again".
#pragma once

#include "hone/base/status.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "tuner/evaluate/judge/judgement.h"

namespace hone {

// Fills `refuse_below_us` of a case that has its cold time. A time that no memory could deliver stops the judgement with
// kRuleViolation.
Result<Gate> RefuseImpossibleTime(Judgement& judgement, const Dims& dims, CaseResult& result);

// Returns the operations per second that a candidate of this task can honestly reach on the device: those of the
// fastest precision whose errors the task's c_rms allows. 0: not known.
double HonestPeak(const Task& task, const DeviceFacts& facts);

// Returns whether the case's cold time calls for further checks, and notes the finding `beyond_peak` then.
bool BeyondPeak(Judgement& judgement, const Dims& dims, const CaseResult& result);

// Returns whether an honest kernel's output may differ in bits from run to run: where the task sums, or the text of the
// kernel holds an atomic operation. Only a finding depends on it: a kernel that varies is judged by tolerance.
bool MayVary(const Task& task, const Candidate& candidate);

}  // namespace hone
