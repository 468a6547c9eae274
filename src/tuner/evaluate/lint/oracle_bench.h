// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One case of a task laid out on a device, on which the linter runs oracles, their variants and seeds, and takes
// the results to the host: its cases are small, and looking at the numbers is its trade.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/core/compiled_program.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/host_reference.h"

namespace hone {

// A program of the task: compiled, loaded, ready for any case. `compiled` is borrowed. Or, for a task without oracle.cu, the
// process that says what is right, borrowed, in one of its precisions.
struct BenchProgram {
  const CompiledProgram* compiled = nullptr;
  std::unique_ptr<LoadedProgram> loaded;
  HostReference* host = nullptr;
  std::string host_precision = "float64";
};

// Dense row-major values by tensor name.
using HostValues = std::map<std::string, std::vector<double>>;

// The error of `values`, rounded to the output's dtype, against `reference`; judged as candidates are.
Comparison CompareOnHost(const TensorSpec& output, const TensorShape& shape, const std::vector<double>& values,
                         const std::vector<double>& reference, const Tolerance& tolerance);

// Borrows session and task; both must outlive it. Not thread-safe.
class OracleBench {
 public:
  // Tensors as candidates get them in a check case: aligned as promised and no better.
  static Result<std::unique_ptr<OracleBench>> Make(DeviceSession& session, const Task& task, const Dims& dims,
                                                   uint64_t key);

  const Dims& dims() const { return dims_; }
  const TensorShape& shape(const std::string& tensor) const { return buffers_->shape(tensor); }

  // Draws every in and inout tensor.
  Status Draw(const InputSet& inputs);
  // Draws one tensor of the set drawn last as set `other` would have it.
  Status DrawAlone(const TensorSpec& tensor, const InputSet& other) { return buffers_->DrawTensor(tensor, other, View(tensor.name)); }
  // Puts given values there instead, rounded to the tensor's dtype.
  Status Set(const TensorSpec& tensor, const std::vector<double>& values);
  // What is there now.
  Result<std::vector<double>> Get(const TensorSpec& tensor) const;

  // Runs an oracle on the inputs, which it leaves alone. `task`: the bench's own, or a copy with other scalars.
  // kInvalidArgument when the plan does not resolve or the launch goes wrong: the task's fault. Gives the outputs that have
  // one right answer; `residuals`, unless it is null, becomes those of the task's properties for the outputs that are there.
  Result<HostValues> RunOracle(const BenchProgram& oracle, const Task& task, double limit_seconds, HostValues* residuals = nullptr);

  // Runs a candidate and returns its outputs. In-place tensors are overwritten: Draw or Set before the next run.
  // kInvalidArgument as above.
  Result<HostValues> RunCandidate(const BenchProgram& candidate, const Binding& binding, double limit_seconds);

 private:
  Result<HostValues> RunHost(const BenchProgram& oracle);
  OracleBench(DeviceSession& session, const Task& task, Dims dims)
      : session_(session), task_(task), dims_(std::move(dims)) {}
  const TensorView& View(const std::string& tensor) const { return buffers_->set(0).tensors.at(tensor); }

  DeviceSession& session_;
  const Task& task_;
  Dims dims_;
  std::unique_ptr<CaseBuffers> buffers_;
};

}  // namespace hone
