// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Folds a run's events into a RunView. Pure: no store, no clock, no GPU.
#pragma once

#include "hone/tuner/run_store.h"
#include "hone/tuner/run_view.h"

namespace hone {

// Applies events one by one. Not thread-safe.
class RunFold {
 public:
  explicit RunFold(RunInfo info) { view_.info = std::move(info); }
  // Applies one event. kInternal when it does not fit the earlier events: a damaged or foreign log.
  Status Apply(const Event& event);
  const RunView& view() const { return view_; }

 private:
  RunView view_;
  double sitting_start_ = 0;
  double seconds_before_ = 0;
};

}  // namespace hone
