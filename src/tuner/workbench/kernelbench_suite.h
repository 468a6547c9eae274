// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file handles a suite: a folder of finished ModelNew files, or kernels that Hone has searched for, which are
// judged by KernelBench's problems. It finds the submissions, stores a result for each, and summarizes the results.
//
// A submission is level_L_problem_P_sample_S_kernel.py, as KernelBench's own generation names it. Its problem is
// levelL/P_*.py below the folder of problems, or below KernelBench/ in that folder. A submission NAME.py has the
// problem NAME.py of the folder and counts as level 0. Each result is a file, so that a suite which was stopped can be
// continued.
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
  std::string file;          // path of the submission; empty: a problem without a submission
  std::string problem_file;  // path of the problem; empty: there is none
  std::string task;          // name of the task that is made from the problem: "level1_19", or the problem file's name
};

// Returns the submissions, sorted by level, problem and sample. Returns kInvalidArgument if a path is no folder, or the
// folder has no submission of either form.
Result<std::vector<SuiteSubmission>> FindSubmissions(const std::string& problems, const std::string& submissions);

// Returns every problem of levelL/ below `problems` or below KernelBench/ in it, and every other Python file of
// `problems` itself, as submissions without a file. They are sorted by level and problem. Returns kInvalidArgument if
// the path is no folder, or the folder has no problem.
Result<std::vector<SuiteSubmission>> FindProblems(const std::string& problems);

// A SuiteResult is the result of a submission.
struct SuiteResult {
  SuiteSubmission submission;
  std::string
      verdict;  // of the evaluation; "refused": no task can be made from the problem; "no_problem": there is none
  std::string detail;
  std::string key;  // hash of the texts and options with which the submission was judged
  std::optional<Interval> over_eager, over_compiled;  // speedups over PyTorch, eager and compiled; nullopt: not timed
  std::optional<double> time_us, eager_us;            // times of the submission and of eager PyTorch
  double seconds = 0;                                 // wall-clock time of the judgement
  std::string device;
  std::string guarantee;  // "lifted", "weaker: hosted"; empty: nothing was judged
  std::string why;        // on a GPU, why the submission was not lifted
  std::string label;      // why its speedup says little, so that means leave it out: "constant_output"; empty: they take it
  // If the kernel comes from a search by Hone: the run's name, and why it ended. Both are empty for other kernels.
  std::string run, ended;
  int64_t attempts = 0, tokens = 0;  // of that run
  double minutes = 0;                // duration of that run, over all times that it was resumed
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
  int labelled = 0;  // right submissions that means and medians leave out (SuiteResult::label)
  // Geometric means and medians of the speedups of submissions that are right, were timed and have no label.
  std::optional<double> geomean_eager, geomean_compiled, median_eager, median_compiled;
  std::map<double, double> fast_eager,
      fast_compiled;  // by p: share of submissions that are right and over p times as fast
};
// Computes fast_p for p = 0, 0.8, 1, 1.5 and 2. If `timed` is false, only p = 0, the success rate, is known.
std::vector<SuiteSummary> SummarizeSuite(const std::vector<SuiteResult>& results, bool timed, bool compiled);

// Return the results and summaries as an HTML page, as a table for a terminal, and as JSON. `title` and `conditions`
// are plain text.
std::string SuitePage(const std::string& title, const std::string& conditions, const std::vector<SuiteResult>& results,
                      const std::vector<SuiteSummary>& summaries);
std::string SuiteTable(const std::vector<SuiteResult>& results, const std::vector<SuiteSummary>& summaries);
nlohmann::json SuiteJson(const std::vector<SuiteResult>& results, const std::vector<SuiteSummary>& summaries);

}  // namespace hone
