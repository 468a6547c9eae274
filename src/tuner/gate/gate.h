// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate (`hone gate`) checks a change of a source tree. Every kernel that differs between the two trees, base and
// head, is judged by the *base's* task, oracle and tolerance, and timed in pairs against the base's kernel. The gate
// fails if a kernel is wrong or surely slower than a limit (decision.h), and for no other reason. docs/gate.md
// describes it for users.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/evaluator.h"
#include "tuner/gate/decision.h"
#include "tuner/gate/kernel_pairs.h"
#include "tuner/gate/source_tree.h"

namespace hone {

struct GateOptions {
  double slower = 0.02, rate = 0.01;  // as in GateRule
  bool time = true;                   // false: kernels are compiled and checked, and not timed
  bool run = true;                    // false: kernels are only compiled, for a GPU that this machine lacks
  std::vector<KernelPlace> kernels;   // kernels besides those in tasks' folders
  int parallel = 4;  // kernels in their first round at a time; their compiles overlap, their timings do not
};

enum class GateStatus {
  kPassed,     // the kernel is right, and not surely slower
  kWrong,      // head's kernel is wrong by the base's task: the gate fails
  kSlower,     // head's kernel is surely slower than the limit: the gate fails
  kNotJudged,  // the device cannot judge the kernel, the base's task cannot be read, or neither side compiles
  kRemoved,    // head lacks the kernel
};
std::string_view GateStatusName(GateStatus status);  // "passed", …

struct GateCase {
  Dims dims;
  Interval speedup;          // base's time over head's, in the first round
  int rounds = 0, hits = 0;  // as in decision.h
  bool slower = false;       // the case has failed: GateDecision::kSlower
};

struct GateKernel {
  std::string task;  // the task's name
  std::string path;  // the kernel's path in head's tree
  std::string was;   // the kernel's path in the base's tree, if that is another one; else empty
  GateStatus status = GateStatus::kPassed;
  bool added = false;    // the base lacks the kernel; it is checked, and by head's task if the base lacks the task too
  bool changed = false;  // the kernel's text differs; false: only the path differs, and it was not judged again
  bool as_base = false;  // the base's kernel fails with the same verdict, so that the change did not break it
  std::string detail;    // what is wrong with the kernel, or why it was not judged or timed
  std::vector<GateCase> cases;           // the timed cases; empty: not timed
  std::optional<Evaluation> evaluation;  // of head's kernel, in the first round; nullopt: not judged
};

struct GateReport {
  std::string base, head, device;
  bool modelled = false;  // times are modelled, by the simulated GPU
  GateOptions options;
  GateRule rule;                           // the rule for this number of comparisons
  int comparisons = 0;                     // number of timed cases of all kernels
  std::vector<GateKernel> kernels;         // sorted by path
  std::vector<UnjudgedFile> unjudged;      // changed files with kernels that nothing judged, by path
  std::vector<std::string> changed_tasks;  // sentences: what the change does to tasks, oracles and tolerances
  std::vector<std::string> warnings;
  double seconds = 0;
  bool failed() const;
};

// Runs the gate. `tell` is called with a line of text for each step, from any thread, one at a time; may be empty.
// Returns an error only if the environment fails, never because of a kernel.
Result<GateReport> RunGate(Evaluator& evaluator, const TreePair& trees, const GateOptions& options,
                           const std::function<void(const std::string&)>& tell = {});

}  // namespace hone
