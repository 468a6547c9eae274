// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep of a candidate's tunables, and the full protocol for what it made: what is written is what will be used.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/sweep/tune.h"
#include "tuner/tunings/tuning_database.h"

namespace hone {

struct SweepRequest {
  std::string source, name;             // the candidate
  std::string baseline, baseline_name;  // timed against; empty: the task's seed, or the candidate where there is none
  int64_t points = 64;
  int parallel = 2, trials = 1, quads = 0;  // as in TuneOptions
  // Where points are kept and looked up; null: nowhere. It is not used where the device is not known yet (a spool or a queue
  // that nobody has served).
  TuningDatabase* database = nullptr;
  bool again = false;                   // measure what the database has, too: another sitting
  std::string build;                    // this program's version and commit: modelled times of another build are not taken over
  bool spooled = false;                     // judged behind a spool, which knows a point by its request
  // Called for each judged point, one at a time: how many there are by now, and how many there will be.
  std::function<void(size_t done, size_t total, const Binding&, const Evaluation&)> on_point;
  std::stop_token stop;
};

struct SweptCandidate {
  TuneResult result;
  std::optional<Evaluation> judged;  // verdict on the tuned candidate, if there is one and the sweep was not stopped
  std::string entry;      // the id of the sweep's entry in the database; empty: none was used
  int64_t known = 0;      // points that were taken from the database
  Status not_kept;        // why points could not be written there; the sweep goes on without
  bool stopped = false;
  // Returns the candidate that is worth keeping: the tuned one if it is right; nullopt: the candidate as it is, or
  // none.
  std::optional<std::string> tuned;
};

// Fails as ParseCandidate and TuneCandidate do.
Result<SweptCandidate> TuneAndJudge(Evaluator& evaluator, const Task& task, const SweepRequest& request);

// A row for each point, with a star where a shape takes it.
std::string PointTable(const TuneResult& result);
// Returns why bindings failed, each reason once, with the first binding that met it.
std::string WhyNot(const TuneResult& result);
// Returns the fields of `hone tune --json` (docs/evaluation-json.md). `written`: a file, or empty.
nlohmann::json SweptJson(const Task& task, const std::string& candidate, const SweptCandidate& swept,
                         const std::string& written, const std::vector<std::string>& sandbox_warnings);

}  // namespace hone
