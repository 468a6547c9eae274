// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file sweeps a candidate's tunables and then judges the tuned candidate by the full protocol, because the
// candidate that is written is the one that will be used.
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
  std::string baseline, baseline_name;  // the kernel to time against; empty: the task's seed, or if there is none, the
                                        // candidate with its first choices
  int64_t points = 64;                  // limit on the number of points
  int parallel = 2, trials = 1, quads = 0;  // as in TuneOptions
  // Stores measured points, and has those of earlier sweeps; null: no database. It is not used if the device is not
  // known yet (a spool or a queue that no worker has served).
  TuningDatabase* database = nullptr;
  bool again = false;    // true: points that the database has are measured again
  std::string build;     // this program's version and commit; modelled times of other builds are not used
  bool spooled = false;  // true: the evaluator is a spool's, which knows a point by its request
  // Called for each judged point, one at a time, with the number of points judged so far and in all.
  std::function<void(size_t done, size_t total, const Binding&, const Evaluation&)> on_point;
  std::stop_token stop;
};

struct SweptCandidate {
  TuneResult result;
  std::optional<Evaluation> judged;  // verdict on the tuned candidate; nullopt: there is none, or the sweep was stopped
  std::string entry;                 // ID of the sweep's entry in the database; empty: the database was not used
  int64_t known = 0;                 // number of points that were taken from the database
  Status not_kept;                   // an error: why points could not be stored; the sweep went on without storing them
  bool stopped = false;
  std::optional<std::string> tuned;  // text of the tuned candidate, if it is right; nullopt: there is none
};

// Sweeps the tunables, then judges the tuned candidate. Errors are those of ParseCandidate, TuneCandidate and the
// evaluator.
Result<SweptCandidate> TuneAndJudge(Evaluator& evaluator, const Task& task, const SweepRequest& request);

// Returns a table with a row for each point; a star marks the point that a shape takes.
std::string PointTable(const TuneResult& result);
// Returns why bindings failed: up to three different reasons, each with the first binding that has it.
std::string WhyNot(const TuneResult& result);
// Returns the fields of `hone tune --json` (docs/evaluation-json.md). `written`: path of the file with the tuned
// candidate; empty: none was written.
nlohmann::json SweptJson(const Task& task, const std::string& candidate, const SweptCandidate& swept,
                         const std::string& written, const std::vector<std::string>& sandbox_warnings);

}  // namespace hone
