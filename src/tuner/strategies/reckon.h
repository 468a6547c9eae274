// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements reckon, a strategy of Hone's own. Every attempt except a repair reckons before it writes: the floor of each
// timed case, then the times of several designs by their bytes, operations and launches. It writes the design with the
// least reckoned time in full, also as the first version of a task without a seed, and says which time it expects
// (`PREDICT: …`). Later attempts are shown what was reckoned and what was measured, so that the next reckoning is better.
//
// Attempts that are under way at the same time take designs of different ranks. After `reckon.patience` attempts without a
// gain, one attempt designs the kernel anew.
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

// These are the prompts of an attempt that designs a kernel from the task's reference, and of one that goes on from a version.
inline constexpr const char* kReckonAnewPrompt = "reckon_anew";
inline constexpr const char* kReckonPrompt = "reckon";

std::unique_ptr<Strategy> MakeReckonStrategy();

}  // namespace hone
