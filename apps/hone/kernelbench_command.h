// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Declares the parts that both forms of `hone bench kernelbench` use. One judges a folder of finished modules, and the
// other looks for kernels.
#pragma once

#include <string>
#include <vector>

#include "hone/commands.h"
#include "hone/run_options_flags.h"
#include "tuner/torch/module_task.h"
#include "tuner/workbench/kernelbench_suite.h"

namespace hone {

struct KernelBenchFlags {
  DeviceFlags device;
  std::string problems, submissions, out = "kernelbench-results";
  std::vector<int> levels, numbers;
  Lot lot;  // of each level
  bool compiled = false, no_time = false, hosted = false;
  int trials = 5;
  RunFlags run;  // options of a search, which happens if a model is named
  std::string name = "kernelbench", store;
};

// Removes the problems that --level, --problem and --lot do not choose, and says what the lot drew. kInvalidArgument if
// none is left.
Status Choose(const KernelBenchFlags& flags, std::vector<SuiteSubmission>* submissions);
// Returns the problem's task. It is made once and then read from `folder`. `timing`: whether the module's operators are timed then.
Result<Task> KernelBenchTask(const CommandContext& context, const SuiteSubmission& problem, const std::string& text,
                             const std::string& folder, const OperatorTimingChoice& timing);
// Writes summary.json and report.html to the folder --out, and prints the table or the JSON. `conditions`: a sentence
// for report.html on how the results were measured.
Status TellSuite(const KernelBenchFlags& flags, const std::vector<SuiteResult>& results, bool timed,
                 const std::string& conditions, nlohmann::json extra);

// Does `hone bench kernelbench DIR --model …`: an ordinary run for each problem, stored under NAME.levelL_P.
Status SearchKernelBench(CommandContext& context, const KernelBenchFlags& flags);

}  // namespace hone
