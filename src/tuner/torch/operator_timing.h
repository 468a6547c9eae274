// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs operator_times.py, which times a module's operators, in a sandboxed process beside the one that describes the module.
// Both import PyTorch at the same time, so that a task is made hardly later than without times.
#pragma once

#include <future>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/torch/operator_costs.h"
#include "tuner/torch/python_process.h"

namespace hone {

class OperatorTiming {
 public:
  // Starts the process. `job`: what describe.py reads; `gpu`: the ordinal of the GPU on which the operators are timed, -1: the CPU.
  // Whatever fails is an error of Finish.
  OperatorTiming(const Python& python, nlohmann::json job, PythonOptions options, int gpu, std::vector<std::string> readable);
  OperatorTiming(const OperatorTiming&) = delete;
  OperatorTiming& operator=(const OperatorTiming&) = delete;
  ~OperatorTiming();  // ends the process if it still runs

  // Waits for the report, at most `seconds`, and then ends the process. kTimedOut: it was ended. Call it once.
  Result<OperatorProfile> Finish(double seconds);

 private:
  std::stop_source stop_;
  std::future<Result<OperatorProfile>> report_;
};

}  // namespace hone
