// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/progress.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/visible_text.h"
#include "tuner/report/run_text.h"
#include "tuner/run/log/cost_text.h"
#include "tuner/run/log/events.h"

namespace hone {
namespace {

constexpr char kClearLine[] = "\r\x1b[K";

// Returns `text` cut to `columns` characters of UTF-8.
std::string FitTo(const std::string& text, int columns) {
  std::string out;
  int used_columns = 0;
  for (const char c : text) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (!continuation && used_columns++ >= columns) break;
    out += c;
  }
  return out;
}

}  // namespace

ProgressPrinter::ProgressPrinter(std::function<void(const std::string&)> write, bool terminal,
                                 std::function<double()> now, int columns, bool colour)
    : write_(std::move(write)), terminal_(terminal), now_(std::move(now)), columns_(columns), colour_(colour) {}

ProgressPrinter::~ProgressPrinter() {
  if (drawn_) write_(kClearLine);
}

void ProgressPrinter::WriteLine(const std::string& text, const char* colour) {
  write_(
      fmt::format("{}{}{}{}\n", drawn_ ? kClearLine : "", colour, VisibleText(text), *colour != '\0' ? "\x1b[0m" : ""));
  drawn_ = false;
}

// Draws the line at the bottom of the terminal anew: activity, figures and time left.
void ProgressPrinter::Redraw() {
  if (!terminal_) return;
  const double now = now_();
  last_redraw_ = now;
  std::string line = "      " + activity_ + figures_;
  if (sitting_started_ > 0) line += ", " + DurationText(now - sitting_started_);
  if (deadline_ > 0) {
    line += fmt::format(", {} left", DurationText(deadline_ - now));
  } else if (const int64_t done = attempts_ - attempts_before_; done >= 2 && max_attempts_ > attempts_) {
    // Without a time limit, the remaining time is estimated from the time per attempt so far.
    const double each = (now - sitting_started_) / static_cast<double>(done);
    line += fmt::format(", about {} left", DurationText(each * static_cast<double>(max_attempts_ - attempts_)));
  }
  write_(kClearLine + FitTo(VisibleLine(line), columns_ - 1));
  drawn_ = true;
}

// Prints a node's outcome, and the first line of its reason.
void ProgressPrinter::NodeLines(const RunView& view, const RunNode& node, const std::string& why) {
  const bool ok = node.evaluation && node.evaluation->verdict == Verdict::kOk;
  const char* colour = !colour_ ? "" : node.kept ? "\x1b[32m" : ok || node.id == 0 ? "" : "\x1b[31m";
  WriteLine(NodeLine(view, node, row_columns()), colour);
  if (why.empty()) return;
  // On a terminal the line is cut to its width, with "…" at the end; in a file it is whole.
  const std::string first = VisibleLine(why.substr(0, why.find('\n')));
  std::string fitting = terminal_ ? FitTo(first, columns_ - 9) : first;
  if (fitting != first) fitting = FitTo(first, columns_ - 10) + "…";
  WriteLine("        " + fitting);
}

// Prints what an event means for a person, and updates the figures.
void ProgressPrinter::OnEvent(const Event& event, const RunView& view) {
  std::lock_guard lock(mutex_);
  if (sitting_started_ == 0) {
    sitting_started_ = event.time;
    if (view.options.max_seconds > 0) deadline_ = event.time + view.options.max_seconds - view.seconds;
  }
  const RunNode* best = view.nodes.empty() ? nullptr : &view.node(view.best);
  figures_ =
      fmt::format("; attempt {} of {}, best {:.3f}x{}", view.attempts, view.options.max_attempts,
                  best != nullptr && best->speedup ? *best->speedup : 1.0, view.info.modelled ? " modelled" : "");
  attempts_ = view.attempts;
  if (attempts_before_ < 0) attempts_before_ = view.attempts;
  max_attempts_ = view.options.max_attempts;
  if (const int64_t tokens = view.usage.input + view.usage.output; tokens > 0) {
    figures_ += fmt::format(", {} tokens", TokensText(tokens));
  }
  if (view.cost_usd > 0) figures_ += ", " + CostText(view.cost_usd, view.unpriced_replies);
  switch (event.kind) {
    case EventKind::kResumed: {
      // Requests that were posted when the run was suspended stay posted; only requests that were interrupted are sent
      // again.
      const auto repeated_requests =
          std::count_if(view.pending.begin(), view.pending.end(), [](const PendingRequest& p) { return !p.suspended; });
      WriteLine(fmt::format(
          "      taken up again after {} of work{}", DurationText(view.seconds),
          repeated_requests == 0 ? "" : fmt::format("; {} request(s) will be asked again", repeated_requests)));
      break;
    }
    case EventKind::kEvaluation: {
      const RunNode& node = view.node(event.node);
      // Only the first line of the detail is printed, which is the most important; `hone show RUN NODE` shows the rest.
      NodeLines(view, node, node.evaluation && node.evaluation->verdict != Verdict::kOk ? node.evaluation->detail : "");
      break;
    }
    case EventKind::kProposal:
      if (event.node >= 0 && event.node < static_cast<int64_t>(view.nodes.size()) &&
          view.node(event.node).state == NodeState::kUnusable) {
        NodeLines(view, view.node(event.node), view.node(event.node).detail);
      }
      break;
    case EventKind::kSweepPoint: {
      WriteLine(SweepLine(view.sweep.back(), row_columns()));
      break;
    }
    case EventKind::kReply: {
      if (const auto failed = DecodeAs<RequestFailed>(event))
        WriteLine("      the model did not answer: " + failed->message);
      break;
    }
    case EventKind::kNote:
      if (!view.remarks.empty()) WriteLine("      note: " + view.remarks.back().text);
      break;
    case EventKind::kFinal:
      WriteLine(fmt::format("      paired with {} once more: {}", StartName(view),
                            view.final_result->evaluation.geomean_speedup
                                ? fmt::format("{:.3f}x{}", *view.final_result->evaluation.geomean_speedup,
                                              view.info.modelled ? ", modelled" : "")
                                : std::string(VerdictName(view.final_result->evaluation.verdict))));
      break;
    case EventKind::kEnded:
      return;
    default:
      break;
  }
  Redraw();
}

void ProgressPrinter::OnActivity(const std::string& what) {
  std::lock_guard lock(mutex_);
  const bool changed = what != activity_;
  activity_ = what;
  // Redraws at most twenty times a second.
  if (changed && now_() - last_redraw_ > 0.05) Redraw();
}

}  // namespace hone
