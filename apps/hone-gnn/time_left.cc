// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/time_left.h"

#include <fmt/format.h>

#include <cmath>

namespace hone::gnn {

std::string TimeLeft::Text(const StepReport& step, double now) {
  const double within =
      step.validating || step.steps <= 0 ? 1 : static_cast<double>(step.step + 1) / static_cast<double>(step.steps);
  const double done = step.epoch + within;
  if (first_time_ < 0) {
    first_time_ = now;
    first_done_ = done;
    return {};
  }
  const double share = (done - first_done_) / (epochs_ - first_done_);
  const double elapsed = now - first_time_;
  if (!(share >= 0.01) || share >= 1 || elapsed < 1) return {};
  const double seconds = elapsed / share * (1 - share);
  if (seconds < 60) return fmt::format("about {:.0f} s left", std::ceil(seconds - 1e-6));
  if (seconds < 3600) return fmt::format("about {:.0f} min left", std::ceil(seconds / 60));
  return fmt::format("about {:.1f} h left", seconds / 3600);
}

}  // namespace hone::gnn
