// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A gate for changes: every kernel that differs between two trees is judged by the *base's* task, oracle and tolerance,
// and timed in pairs against the base's kernel. It fails on a wrong kernel, or on one that is surely slower than a
// limit (decision.h), and on nothing else. docs/gate.md describes it for users.
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
  bool time = true;                   // false: only whether kernels compile and are right
  bool run = true;                    // false: kernels are compiled for a GPU that is not here, and nothing is run
  std::vector<KernelPlace> kernels;   // beside those in tasks' folders
  int parallel = 4;                   // kernels in their first round at a time: they compile beside one another, and are timed alone
};

enum class GateStatus {
  kPassed,     // right, and not surely slower
  kWrong,      // head's kernel is not right by the base's task: fails
  kSlower,     // surely slower than the limit: fails
  kNotJudged,  // the device cannot judge it, or the base's task cannot be read
  kRemoved,    // head has none
};
std::string_view GateStatusName(GateStatus status);  // "passed", …

struct GateCase {
  Dims dims;
  Interval speedup;  // base's time over head's, in the first round
  int rounds = 0, hits = 0;
  bool slower = false;
};

struct GateKernel {
  std::string task, path;  // the task's name; the kernel's path in head's tree
  std::string was;         // its path in the base's tree, where that is another one; else empty
  GateStatus status = GateStatus::kPassed;
  bool added = false;    // the base has none: it is checked, by head's task where the base lacks that too
  bool changed = false;  // its text differs; false: only its path does, and it was not judged again
  std::string detail;    // what is wrong with it, or why it was not judged or timed
  std::vector<GateCase> cases;
  std::optional<Evaluation> evaluation;  // of head's kernel, in the first round
};

struct GateReport {
  std::string base, head, device;
  bool modelled = false;
  GateOptions options;
  GateRule rule;  // with the hits and rounds for as many comparisons as there are
  int comparisons = 0;
  std::vector<GateKernel> kernels;         // by path
  std::vector<std::string> changed_tasks;  // sentences: what the change does to tasks, oracles and tolerances
  std::vector<std::string> warnings;
  double seconds = 0;
  bool failed() const;
};

// `tell` hears what is at work, in a line each; may be empty. Fails where the environment does, never because of a
// kernel.
Result<GateReport> RunGate(Evaluator& evaluator, const TreePair& trees, const GateOptions& options,
                           const std::function<void(const std::string&)>& tell = {});

}  // namespace hone
