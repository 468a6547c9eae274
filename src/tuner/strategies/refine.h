// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The refine strategy in its simplest honest form: propose one change to the best version, judge it against that
// version, keep it if it is right and surely faster.
//
//   judge the seed
//   repeat: ask for one step from the best  ->  judge it, paired with the best  ->  sweep it if it brought new choices
//   until: at the floor | attempts, time, tokens or money spent | nothing more to propose
//   sweep the tunables of the best  ->  judge the outcome  ->  pair the best with the seed once more
#pragma once

#include <memory>

#include "hone/tuner/strategy.h"

namespace hone {

std::unique_ptr<Strategy> MakeRefineStrategy();

}  // namespace hone
