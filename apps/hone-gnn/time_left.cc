// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/time_left.h"

#include <fmt/format.h>

#include <cmath>

namespace hone::gnn {

std::string TimeLeft::Text(const StepReport& step, double now) {
  const double part_of_epoch =
      step.validating || step.steps <= 0 ? 1 : static_cast<double>(step.step + 1) / static_cast<double>(step.steps);
  const double epochs_done = step.epoch + part_of_epoch;
  if (first_time_ < 0) {
    first_time_ = now;
    first_done_ = epochs_done;
    return {};
  }
  const double done_share = (epochs_done - first_done_) / (epochs_ - first_done_);
  const double elapsed = now - first_time_;
  // Too early to extrapolate, or at the end. "Not >=" also holds for NaN, where no epochs are left (0 / 0).
  if (!(done_share >= 0.01) || done_share >= 1 || elapsed < 1) return {};
  const double seconds = elapsed / done_share * (1 - done_share);
  if (seconds < 60) return fmt::format("about {:.0f} s left", std::ceil(seconds - 1e-6));
  if (seconds < 3600) return fmt::format("about {:.0f} min left", std::ceil(seconds / 60));
  return fmt::format("about {:.1f} h left", seconds / 3600);
}

}  // namespace hone::gnn
