// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Computes a RunView, the state of a run, from the run's events. It uses no store, no clock and no GPU.
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
  // A sitting is the work of one process on the run, from its start or resumption on.
  double sitting_start_ = 0;   // when the current sitting began, seconds since 1970
  double seconds_before_ = 0;  // duration of the earlier sittings together
};

}  // namespace hone
