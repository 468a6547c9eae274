// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// How long a run still takes, judged by what it has done so far. Pure arithmetic: no clock.
#pragma once

#include <string>

#include "hone/gnn/trainer.h"

namespace hone::gnn {

class TimeLeft {
 public:
  explicit TimeLeft(int epochs) : epochs_(epochs) {}

  // "about 4 min left" at `now` (seconds, of any beginning), or nothing before a second and a hundredth of the run have
  // passed since the first call. Validations count as part of their epochs. A run that ends early ends before.
  std::string Text(const StepReport& step, double now);

 private:
  int epochs_;
  double first_time_ = -1;
  double first_done_ = 0;  // epochs
};

}  // namespace hone::gnn
