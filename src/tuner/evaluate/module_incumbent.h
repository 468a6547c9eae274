// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares a candidate with the task's own PyTorch module in eager mode: the incumbent of a task that has no seed. On a GPU
// PyTorch times the module and the candidate in interleaved pairs. The simulated GPU models the module's time from what its
// operators read, write and multiply.
#pragma once

#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/baseline/library_timing.h"
#include "tuner/evaluate/correctness/host_reference.h"

namespace hone {

// Returns the modelled time in microseconds of one call of the module, with each operator by itself, on a simulated GPU.
// `device`: its id, "sim" or "sim:NAME".
Result<double> ModelledModuleUs(HostReference& reference, const Dims& dims, const std::string& device);

// Fills baseline_us and speedup of each timed case of `evaluation` that has a time, and geomean_speedup. A case without a
// time gets the module's own as its time: then the evaluation is of the module. Errors say why PyTorch has no time.
//   torch      how PyTorch is run on a GPU; not used where `reference` is not null
//   reference  on the simulated GPU: answers what the module's operators do; else null
Status TimeAgainstModule(const Task& task, const TorchOptions& torch, HostReference* reference, Evaluation* evaluation);

}  // namespace hone
