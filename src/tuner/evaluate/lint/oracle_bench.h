// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An OracleBench holds the tensors of one case of a task on a device. The linter runs oracles, their variants and seeds
// on it and copies the results to the host, because its cases are small and it needs the numbers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/core/program/compiled_program.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/host_reference.h"

namespace hone {

// A BenchProgram is a program of the task, compiled, loaded and ready for any case. For a task without oracle.cu it is
// the process that computes expected outputs, in one of its precisions.
struct BenchProgram {
  const CompiledProgram* compiled = nullptr;  // borrowed; null where `host` computes
  std::unique_ptr<LoadedProgram> loaded;
  HostReference* host = nullptr;           // borrowed; null: `loaded` runs
  std::string host_precision = "float64";  // precision in which `host` computes (HostReference::Compute)
};

// HostValues hold dense row-major values by tensor name.
using HostValues = std::map<std::string, std::vector<double>>;

// Returns the error of `values`, rounded to the output's dtype, against `reference`, judged by `tolerance` as a
// candidate's output is.
Comparison CompareOnHost(const TensorSpec& output, const TensorShape& shape, const std::vector<double>& values,
                         const std::vector<double>& reference, const Tolerance& tolerance);

// The bench borrows session and task; both must outlive it. Not thread-safe.
class OracleBench {
 public:
  // Makes a bench whose tensors are aligned as the task promises and no better, as in some check cases.
  static Result<std::unique_ptr<OracleBench>> Make(DeviceSession& session, const Task& task, const Dims& dims,
                                                   uint64_t key);

  const Dims& dims() const { return dims_; }
  const TensorShape& shape(const std::string& tensor) const { return buffers_->shape(tensor); }

  // Draws every in and inout tensor.
  Status Draw(const InputSet& inputs);
  // Draws one tensor from the input set `other`; the other tensors stay.
  Status DrawAlone(const TensorSpec& tensor, const InputSet& other) { return buffers_->DrawTensor(tensor, other, View(tensor.name)); }
  // Puts given values into the tensor, rounded to its dtype.
  Status Set(const TensorSpec& tensor, const std::vector<double>& values);
  // Returns the tensor's present values.
  Result<std::vector<double>> Get(const TensorSpec& tensor) const;

  // Runs an oracle on the inputs, which stay as they are. `task` is the bench's task, or a copy with other scalars.
  // Returns the outputs that have one right answer. `residuals`, unless it is null, receives the residuals of the
  // task's properties for the present outputs. Returns kInvalidArgument when the plan does not resolve or the launch
  // fails, which is the task's fault.
  Result<HostValues> RunOracle(const BenchProgram& oracle, const Task& task, double limit_seconds, HostValues* residuals = nullptr);

  // Runs a candidate and returns its outputs. In-place tensors are overwritten: call Draw or Set before the next run.
  // Returns kInvalidArgument as RunOracle does.
  Result<HostValues> RunCandidate(const BenchProgram& candidate, const Binding& binding, double limit_seconds);

 private:
  // Runs an oracle that is a host program on the current inputs, and returns its outputs.
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
