// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints a run's progress: a line per attempt, and on a terminal a last line that is redrawn.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "tuner/run/run_loop.h"

namespace hone {

class ProgressPrinter : public RunObserver {
 public:
  // `write` gets the output, if `terminal` with the printer's own control sequences. Control characters in texts of
  // models, compilers and tasks are replaced first (base/text/visible_text.h). `now` returns seconds since 1970. `columns`:
  // the terminal's width. `colour`: kept nodes are green and failed ones red; must be false for NO_COLOR, or if the
  // output is not a terminal.
  ProgressPrinter(std::function<void(const std::string&)> write, bool terminal, std::function<double()> now,
                  int columns = 100, bool colour = false);
  // Removes the redrawn line.
  ~ProgressPrinter() override;

  void OnEvent(const Event& event, const RunView& view) override;
  void OnActivity(const std::string& what) override;

 private:
  void WriteLine(const std::string& text, const char* colour = "");
  // Prints a node's outcome, and the first line of its reason.
  void NodeLines(const RunView& view, const RunNode& node, const std::string& why);
  // Draws the line at the bottom of the terminal anew: activity, figures and time left.
  void Redraw();
  int row_columns() const { return terminal_ ? columns_ : 0; }

  std::function<void(const std::string&)> write_;
  const bool terminal_;
  std::function<double()> now_;
  const int columns_;
  const bool colour_;
  std::mutex mutex_;
  std::string activity_, figures_;                                  // the two parts of the last line
  double deadline_ = 0;                                             // seconds since 1970; 0: none
  int64_t attempts_ = 0, attempts_before_ = -1, max_attempts_ = 0;  // attempts_before_: at the start of this process
  double sitting_started_ = 0;                                      // seconds since 1970; 0: no event yet
  double last_redraw_ = 0;
  bool drawn_ = false;  // the last line is on the terminal
};

}  // namespace hone
