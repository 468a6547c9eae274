// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Uses a task's PyTorch module as the judge's reference: a process of the user's Python evaluates it in double
// precision, and hands over results in memory that both processes map.
//
// The process is started once and answers any number of requests. Its socket carries frames of JSON:
// * the first describes the module, {"text", "file", "class", "training", "threads", "gpu", "inputs", "outputs",
//   "state", "sizes"}, and is answered by {"torch": version, "device": what computes};
// * each later one asks for results, {"dims", "tensors": [{"name", "dtype", "shape", "offset"}], "results": [{"name",
//   "shape", "offset"}], "bytes", "precision", "shared"}, and is answered by {"seconds"};
// * {"share": bytes} comes with the descriptor of a block of the GPU's memory, which the process maps in place of an
//   earlier one. The answer is {"shared"}: false if the module would have too little memory beside the block, which is
//   then not mapped. A request with "shared" has its tensors in the block instead of in the memory file. {"share": 0}
//   has no descriptor and ends the mapping.
// Either answer may be {"error": sentence} instead. serve.py is the other side.
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

inline constexpr double kTorchStartSeconds = 180;  // limit for loading PyTorch from a cold disk on a busy machine

// Starts the process for `task`, for which HasTorchModule must hold. Takes some seconds, in which PyTorch is loaded.
// kUnavailable when Python or PyTorch is missing, kInvalidArgument when reference.py cannot be used.
Result<std::unique_ptr<HostReference>> StartTorchReference(const Task& task, const PythonOptions& options);

// Returns how many processes are kept at most, 3 to 8: one for each 6 GiB of the host's memory, and for each 16 GiB of the GPU's.
// `gpu_bytes`: 0 if they use no GPU. Each has PyTorch in the host's memory, and a context and up to a twentieth of the GPU's.
size_t ReferencesKept(int64_t host_bytes, int64_t gpu_bytes);

// Keeps the processes of the tasks used last, since each evaluation of a task needs the same process, and starting one takes
// seconds. Tasks that differ in their cases alone share one. Beyond three it keeps them only while a quarter of the machine's memory is available: workers of other GPUs keep
// theirs. Thread-safe.
class TorchReferences {
 public:
  explicit TorchReferences(size_t most_kept) : most_kept_(most_kept) {}
  // Returns the task's process. Starts it if it is not kept or has ended; then errors are StartTorchReference's.
  Result<std::shared_ptr<HostReference>> Get(const Task& task, const PythonOptions& options);
  // Returns how many of the kept processes use a GPU.
  int on_gpu();

 private:
  static constexpr size_t kAlwaysKept = 3;
  const size_t most_kept_;
  std::mutex mutex_;
  // Hash of the task without its cases -> process; the last one used is at the back.
  std::vector<std::pair<std::string, std::shared_ptr<HostReference>>> kept_;
};

}  // namespace hone
