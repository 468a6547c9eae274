// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// GraphProgressLine shows the progress of long steps on a graph as one line of a terminal, a few times a second.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "common/standard_output.h"
#include "hone/gnn/graph.h"

namespace hone::gnn {

// Prints to standard error, and only where that is a terminal. The line is cleared on destruction.
class GraphProgressLine {
 public:
  explicit GraphProgressLine(bool is_wanted) : wanted_(is_wanted && isatty(STDERR_FILENO) == 1) {}
  GraphProgressLine(const GraphProgressLine&) = delete;
  GraphProgressLine& operator=(const GraphProgressLine&) = delete;
  ~GraphProgressLine() {
    if (shown_) WriteAsIs(stderr, "\r\x1b[K");
  }

  GraphProgress callback() {
    return [this](std::string_view step, int64_t done, int64_t total) { Show(step, done, total); };
  }

 private:
  void Show(std::string_view step, int64_t done, int64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (!wanted_ || (step == step_ && now - last_ < std::chrono::milliseconds(200))) return;
    step_ = step;
    last_ = now;
    shown_ = true;
    const std::string amount = total > 0 ? fmt::format("{:.0f} % of {}", 100.0 * static_cast<double>(done) /
                                                       static_cast<double>(total), total)
                                         : done > 0 ? fmt::format("{}", done) : std::string();
    WriteAsIs(stderr, fmt::format("\r\x1b[K{} {}", VisibleLine(step_), amount));
    std::fflush(stderr);
  }

  bool wanted_, shown_ = false;
  std::string step_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace hone::gnn
