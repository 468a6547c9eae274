// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules turn counts into advice: they name what slows a kernel down, in plain words, with the figures behind it and
// an estimate of the possible gain. One set of rules serves a GPU's counters and the simulator's counts; a rule whose
// figures were not counted is silent.
//
// An estimate is an upper bound of a simple kind: the share of the time in which the faulty part is the limit, times
// the share of its work that is waste, and never more than the time between the case's time and its floor. It ranks
// findings; it does not promise.
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

// Returns findings over all cases and kernels, most valuable first. The same fault of the same line is reported once,
// for the case where it weighs most.
std::vector<ProfileFinding> FindFaults(const RuleContext& context, const Profile& profile);

// Puts the profile into the evaluation with its findings. They also go among `findings`, where the analyst role and
// reports look, in place of the simulator's shorter texts about the same lines.
void AttachProfile(const Task& task, const DeviceFacts& facts, Profile profile, Evaluation* evaluation);

}  // namespace hone
