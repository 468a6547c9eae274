// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/store/run_names.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <ctime>
#include <utility>

namespace hone {
namespace {

constexpr std::array<std::pair<EventKind, std::string_view>, 14> kKinds{{
    {EventKind::kStarted, "started"},
    {EventKind::kChoice, "choice"},
    {EventKind::kRequest, "request"},
    {EventKind::kReply, "reply"},
    {EventKind::kMemo, "memo"},
    {EventKind::kProposal, "proposal"},
    {EventKind::kVetting, "vetting"},
    {EventKind::kSweepPoint, "sweep_point"},
    {EventKind::kEvaluation, "evaluation"},
    {EventKind::kProfile, "profile"},
    {EventKind::kFinal, "final"},
    {EventKind::kResumed, "resumed"},
    {EventKind::kNote, "note"},
    {EventKind::kEnded, "ended"},
}};

std::string ListRuns(const std::vector<RunInfo>& runs, size_t most) {
  std::string list;
  for (size_t i = 0; i < runs.size() && i < most; ++i) {
    list += fmt::format("{}{} ({})", i == 0 ? "" : ", ", runs[i].id, runs[i].task);
  }
  return list.empty() ? "none" : list;
}

}  // namespace

std::string_view EventKindName(EventKind kind) {
  for (const auto& [value, name] : kKinds) {
    if (value == kind) return name;
  }
  return "unknown";
}

std::optional<EventKind> EventKindFromName(std::string_view name) {
  for (const auto& [value, text] : kKinds) {
    if (text == name) return value;
  }
  return std::nullopt;
}

Result<RunInfo> MatchRun(const std::vector<RunInfo>& runs, std::string_view name, const std::string& location) {
  if (name == "last" && !runs.empty()) {
    // A full disk may have left a run's entry without any of its events.
    for (const RunInfo& run : runs) {
      if (run.events > 0) return run;
    }
    return runs.front();
  }
  std::vector<RunInfo> matching;
  for (const RunInfo& run : runs) {
    if (run.id == name) return run;
    if (!name.empty() && (run.id.starts_with(name) || run.id.ends_with(name))) matching.push_back(run);
  }
  if (matching.size() == 1) return matching.front();
  if (matching.size() > 1) {
    return Status::InvalidArgument(fmt::format("'{}' could be any of these runs: {}", name, ListRuns(matching, 5)));
  }
  if (runs.empty()) {
    return Status::NotFound(fmt::format("no run '{}': {} holds none yet; `hone optimize TASK` makes one, and --store names another file", name, location));
  }
  return Status::NotFound(fmt::format("no run '{}' in {}; the newest are: {}", name, location, ListRuns(runs, 5)));
}

std::string MakeRunId(double time, uint64_t random) {
  return fmt::format("{:%Y%m%d-%H%M%S}-{:04x}", fmt::gmtime(static_cast<std::time_t>(time)), random & 0xffff);
}

}  // namespace hone
