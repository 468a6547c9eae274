// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares a candidate's outputs with the task's double-precision oracle, wholly or on chosen slices.
//
// The oracle runs only after the candidate has finished, into memory the candidate was never given, and the
// references are wiped before the candidate runs again: there is no moment at which a candidate could find
// the expected output of the inputs it is working on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/case_buffers.h"

namespace hone {

struct CheckOutcome {
  std::optional<Mismatch> mismatch;  // what failed; `detail` says it in words
  std::string detail;
  double max_scaled_error = 0;       // worst over the outputs
  double rms_error = 0;
  double max_ulp = 0;
};

class OracleChecker {
 public:
  // Borrows all; `oracle` must be loaded on `session`. `program` is the oracle's candidate (for its plan).
  OracleChecker(DeviceSession& session, const Task& task, const Candidate& oracle, LoadedProgram& program)
      : session_(session), task_(task), oracle_(oracle), program_(program) {}

  // Checks set `index` of `buffers`, whose inputs were drawn as `inputs` says and whose outputs a candidate
  // has just written. In-place tensors are drawn again elsewhere for the oracle. `require_rms`: the input
  // set is one on which c_rms holds.
  Result<CheckOutcome> CheckAll(CaseBuffers& buffers, int index, const InputSet& inputs, bool require_rms);
  // The same for some slices only; they are gathered into a small problem first.
  Result<CheckOutcome> CheckSlices(CaseBuffers& buffers, int index, const InputSet& inputs,
                                   const std::vector<int64_t>& slices, bool require_rms);

  // Proves that the instrument works: plants one wrong element in each output of set `index` (which must
  // just have passed CheckAll or CheckSlices over `slices`) and expects it to be found. kInternal otherwise.
  Status PlantAndFind(CaseBuffers& buffers, int index, const InputSet& inputs, uint64_t seed);

  double last_oracle_seconds() const { return last_oracle_seconds_; }

 private:
  Result<CheckOutcome> Check(CaseBuffers& buffers, int index, const InputSet& inputs, const Dims& dims,
                             const std::vector<int64_t>* slices, bool require_rms);

  DeviceSession& session_;
  const Task& task_;
  const Candidate& oracle_;
  LoadedProgram& program_;
  double last_oracle_seconds_ = 0;
};

}  // namespace hone
