// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// OracleChecker compares a candidate's outputs with the task's double-precision oracle, wholly or on chosen slices.
// Where the task has properties, the oracle reads the outputs as well and writes residuals, which are compared with
// their bounds.
//
// The oracle runs only after the candidate has finished, into memory the candidate was never given, and the
// references are wiped before the candidate runs again: there is no moment at which a candidate could find
// the expected output of the inputs it is working on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluation.h"
#include "tuner/core/task/property.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/host_reference.h"

namespace hone {

struct CheckOutcome {
  std::optional<Mismatch> mismatch;  // the first failure; nullopt: all outputs passed
  std::string detail;                // the failure in words
  double max_scaled_error = 0;       // worst over the outputs, as are the next two
  double rms_error = 0;
  double max_ulp = 0;
};

// A ProblemPart is a part of a problem that is small enough for the oracle: some slices and, along a second dimension
// in which outputs are independent, some indices. All other axes belong to it whole.
struct ProblemPart {
  std::vector<int64_t> slices;   // ascending
  std::string dimension;         // the second dimension; empty: none
  std::vector<int64_t> indices;  // ascending, along `dimension`
};

// Returns the indices that belong to the part, for each axis of `tensor` that the part restricts.
KeptIndices KeptOf(const TensorSpec& tensor, const ProblemPart& part);

// Returns the rms error that an output of `elements` elements may have: c_rms * sqrt(1 + 5 / elements), and c_max at
// most. A hundred elements may have 1.02 times c_rms. The allowance is needed because the mean square of a few rounding
// errors scatters: one element that is rounded twice may be off by 2.4 times the average of many such elements.
double AllowedRms(const Tolerance& tolerance, int64_t elements);

// Returns the index of the first element of an oracle's output that differs from the value worked out by hand; nullopt
// where all agree. Both vectors are row-major and have the same length.
std::optional<size_t> FirstUnlikeHand(const std::vector<double>& computed, const std::vector<double>& by_hand);

// An OracleSource names what computes expected outputs: a program on the device, or a process on the host. The pointers
// are borrowed.
struct OracleSource {
  const Candidate* candidate = nullptr;  // the oracle's parsed text, which holds its launch plan
  LoadedProgram* program = nullptr;      // the oracle, loaded on the checker's session
  HostReference* host = nullptr;         // if not null, computes instead of `program`
  double limit_seconds = 120;            // limit of one launch of `program`
};

class OracleChecker {
 public:
  // Borrows all arguments.
  OracleChecker(DeviceSession& session, const Task& task, const OracleSource& oracle)
      : session_(session), task_(task), oracle_(oracle), properties_(PropertiesOf(task)) {}

  // Checks set `index` of `buffers`, whose inputs were drawn as `inputs` says and whose outputs a candidate has just
  // written. In-place tensors are drawn again in other memory for the oracle. `require_rms`: outputs must meet c_rms as
  // well as c_max. Returns kInvalidArgument where the oracle disagrees with outputs that were worked out by hand.
  Result<CheckOutcome> CheckAll(CaseBuffers& buffers, int index, const InputSet& inputs, bool require_rms);
  // Checks only `slices`, as CheckAll checks everything. They are gathered into a small problem first.
  Result<CheckOutcome> CheckSlices(CaseBuffers& buffers, int index, const InputSet& inputs,
                                   const std::vector<int64_t>& slices, bool require_rms);
  // Checks only `part`, as CheckAll checks everything. The device must be able to copy boxes (GatherBox), and the
  // oracle must be a program.
  Result<CheckOutcome> CheckPart(CaseBuffers& buffers, int index, const InputSet& inputs, const ProblemPart& part,
                                 bool require_rms);
  // Returns whether the part's outputs depend on the part's inputs alone: the oracle must compute the same bits from
  // them as from all inputs. The outputs that lie in the set are not read.
  Result<bool> IsIndependent(CaseBuffers& buffers, int index, const InputSet& inputs, const ProblemPart& part);

  // Proves that the checker works: plants one wrong element in each output of set `index`, which must just have passed
  // CheckAll, and restores it afterwards. Returns kInternal if the check does not find the element.
  Status PlantAndFind(CaseBuffers& buffers, int index, const InputSet& inputs, uint64_t seed);

  double last_oracle_seconds() const { return last_oracle_seconds_; }
  // Sets whether the next outputs to check are the incumbent's. Errors of small outputs are summed for each side apart.
  void JudgeIncumbent(bool incumbent) { incumbent_ = incumbent; }

 private:
  // Returns whether `comparison` passes c_rms; `allowed` becomes the limit, `error` the error compared with it. An
  // output of few elements may exceed c_rms (AllowedRms). The errors of all such outputs so far are also compared
  // together, as one output with that many elements, which may exceed c_rms by less.
  bool PassesRms(const TensorSpec& tensor, const Tolerance& tolerance, const Comparison& comparison, double* allowed, double* error);
  // The references by output, dense and row-major.
  using References = std::map<std::string, std::vector<double>>;
  // Checks one set of inputs. `part`: null for the whole problem. `references`: if not null, receives the references,
  // and nothing is compared.
  Result<CheckOutcome> Check(CaseBuffers& buffers, int index, const InputSet& inputs, const ProblemPart* part,
                             bool require_rms, References* references = nullptr);
  // Checks that every residual at `address` is within its bound. The first failure goes to `outcome`, unless one is
  // there already.
  Status CheckProperty(const Property& property, const TensorShape& shape, uint64_t address, const CaseBuffers& buffers,
                       const InputSet& inputs, const ProblemPart* part, CheckOutcome& outcome);
  // Compute the references from the inputs in `bindings` and write them to its outputs, dense and row-major.
  Status RunProgram(const ResolvedPlan& plan, const Bindings& bindings, const Dims& dims);
  Status RunHost(const Bindings& bindings, const Dims& dims);
  // Returns kInvalidArgument where the oracle's results, which lie in `bindings`, differ from those worked out by hand.
  Status CompareWithHandWorkedCase(const HandWorkedCase& hand, const Bindings& bindings, const Dims& dims);
  // Returns the rms of the reference at this address; 0 where it has no elements or is too long to be read back.
  Result<double> RmsOfSmallOutput(uint64_t reference, int64_t elements);

  DeviceSession& session_;
  const Task& task_;
  const OracleSource oracle_;
  const std::vector<Property> properties_;
  double last_oracle_seconds_ = 0;
  // Sums over outputs of fewer than policy::kLeastRmsElements elements.
  struct ErrorSums {
    double squares = 0;  // sum of squared errors, in units of each output's rms
    int64_t elements = 0;
  };
  bool incumbent_ = false;
  std::map<std::pair<bool, std::string>, ErrorSums> error_sums_;  // keyed by side and tensor
};

}  // namespace hone
