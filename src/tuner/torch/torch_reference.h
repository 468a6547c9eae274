// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A task's PyTorch module as the judge's reference: a process of the user's Python that evaluates it in double precision,
// and gives results through memory which both map.
//
// The process is started once and answers any number of cases. Its socket carries frames of JSON: first the module
// ({"text", "file", "class", "training", "threads", "gpu", "inputs", "outputs", "state", "sizes"}), answered by {"torch":
// version, "device": what computes}; then {"dims", "tensors": [{"name", "dtype", "shape", "offset"}], "results": [{"name", "shape", "offset"}], "bytes",
// "precision"}, answered by {"seconds"}. Either answer may be {"error": sentence} instead. serve.py is the other side.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/correctness/host_reference.h"
#include "tuner/torch/python_process.h"

namespace hone {

inline constexpr double kTorchStartSeconds = 180;  // to load PyTorch: a cold disk, a busy machine

// Starts the process of `task`, for which HasTorchModule holds; takes as long as PyTorch takes to load, some seconds.
// kUnavailable where Python or PyTorch is missing, kInvalidArgument where reference.py cannot be used.
Result<std::unique_ptr<HostReference>> StartTorchReference(const Task& task, const PythonOptions& options);

// Keeps the references of the tasks used last, for each evaluation of a task needs the same one. Thread-safe.
class TorchReferences {
 public:
  Result<std::shared_ptr<HostReference>> Get(const Task& task, const PythonOptions& options);
  // How many of those that are kept hold a GPU.
  int on_gpu();

 private:
  static constexpr size_t kKept = 3;  // each holds a PyTorch in memory
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<HostReference>>> kept_;  // by hash, the one used last at the back
};

}  // namespace hone
