// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Estimates how long a run still takes from its progress so far. The class reads no clock.
#pragma once

#include <string>

#include "hone/gnn/trainer.h"

namespace hone::gnn {

class TimeLeft {
 public:
  explicit TimeLeft(int epochs) : epochs_(epochs) {}

  // Returns "about 4 min left" at the time `now` (seconds since any start). Returns nothing until a second, and a
  // hundredth of the run, have passed since the first call. Validations are counted as part of their epochs. A run that
  // stops early ends before the estimate.
  std::string Text(const StepReport& step, double now);

 private:
  int epochs_;
  double first_time_ = -1;
  double first_done_ = 0;  // progress at the first report, in epochs
};

}  // namespace hone::gnn
