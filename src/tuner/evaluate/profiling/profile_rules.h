// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules turn counts into advice: a rule names what slows a kernel down, with the figures behind it and an estimate
// of the possible gain. One set of rules serves a GPU's counters and the simulator's counts; a rule whose figures were
// not counted is silent.
//
// The estimate is a simple upper bound: the share of the time in which the faulty part is the limit, times the share of
// its work that is waste, and at most the time between the case's time and its floor. It serves to rank findings and is
// no promise.
//
// The rules are pure functions of values; profile_rules_test.cc holds one worked kernel for each rule.
#pragma once

#include <vector>

#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/profile.h"
#include "hone/tuner/task.h"

namespace hone {

struct RuleContext {
  const Task* task = nullptr;
  const DeviceFacts* facts = nullptr;
  const Evaluation* evaluation = nullptr;  // resources and floors; `profile` is not read
};

// Returns findings over all cases and kernels, the largest estimated gain first. The same fault of the same line is
// reported once, for the case where its gain is largest.
std::vector<ProfileFinding> FindFaults(const RuleContext& context, const Profile& profile);

// Stores the profile with its findings in the evaluation. The findings are also added to Evaluation::findings, where
// the analyst role and reports look for them; they replace the simulator's shorter texts about the same lines.
void AttachProfile(const Task& task, const DeviceFacts& facts, Profile profile, Evaluation* evaluation);

}  // namespace hone
