// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A folder of finished ModelNew files, or of kernels that Hone has looked for, against KernelBench's problems: what is judged,
// what is known of it, and what it comes to.
//
// A submission is level_L_problem_P_sample_S_kernel.py, as KernelBench's own generation writes it, and its problem is
// levelL/P_*.py below the folder of problems or below KernelBench/ in it. NAME.py is compared with NAME.py of that folder, as
// level 0. Results are kept one file a submission, so that a campaign which was stopped goes on where it was.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"

namespace hone {

struct SuiteSubmission {
  int level = 0, problem = 0, sample = 0;
  std::string name;          // name of the submission's file without ".py"
  std::string file;
  std::string problem_file;  // empty: there is none
  std::string task;          // a name for the problem's task: "level1_19", or the problem file's own
};

// Finds the submissions, sorted by level, problem and sample. kInvalidArgument: a folder is none, or holds no
// submission of either form.
Result<std::vector<SuiteSubmission>> FindSubmissions(const std::string& problems, const std::string& submissions);

// Returns every problem of levelL/ below `problems` or below KernelBench/ in it, and every other Python file of
// `problems` itself, as submissions without a file. Sorted by level and problem. kInvalidArgument: the folder is none,
// or holds no problem.
Result<std::vector<SuiteSubmission>> FindProblems(const std::string& problems);

// What is known of a submission. `verdict` is "refused" where its problem cannot be made a task, "no_problem" where there is
// none, else the evaluation's.
struct SuiteResult {
  SuiteSubmission submission;
  std::string verdict, detail;
  std::string key;  // hash of the texts and options that it was judged with
  std::optional<Interval> over_eager, over_compiled;
  std::optional<double> time_us, eager_us;
  double seconds = 0;
  std::string device;
  std::string guarantee;  // "lifted", "weaker: hosted"; empty where nothing was judged
  std::string why;        // it was not lifted, on a GPU
  // The search of Hone's own, if the kernel came from one (`run`: the run's name; empty: it did not).
  std::string run, ended;
  int64_t attempts = 0, tokens = 0;
  double minutes = 0;  // duration of the run, all its sittings together
};
SuiteResult ResultOf(const SuiteSubmission& submission, const Evaluation& evaluation);
std::string SuiteResultToJson(const SuiteResult& result);
// Reads the result of `submission` from the file that an earlier run left; kNotFound if there is none, or if it is
// about other texts (`key`).
Result<SuiteResult> LoadSuiteResult(const std::string& path, const SuiteSubmission& submission, const std::string& key);

// The summary of one level; level -1 means all levels.
struct SuiteSummary {
  int level = -1;
  int submissions = 0, ok = 0, lifted = 0;
  std::optional<double> geomean_eager, geomean_compiled;     // over those that are right and were timed
  std::map<double, double> fast_eager, fast_compiled;        // p -> the share of all submissions that are right and faster than p
};
// Computes fast_p for p = 0, 0.8, 1, 1.5 and 2. If `timed` is false, only p = 0, the success rate, is known.
std::vector<SuiteSummary> SummarizeSuite(const std::vector<SuiteResult>& results, bool timed, bool compiled);

// The same as a page of its own. `title` and `conditions` are plain text.
std::string SuitePage(const std::string& title, const std::string& conditions, const std::vector<SuiteResult>& results,
                      const std::vector<SuiteSummary>& summaries);
std::string SuiteTable(const std::vector<SuiteResult>& results, const std::vector<SuiteSummary>& summaries);
nlohmann::json SuiteJson(const std::vector<SuiteResult>& results, const std::vector<SuiteSummary>& summaries);

}  // namespace hone
