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
#include "tuner/core/property.h"
#include "tuner/device/device_session.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/host_reference.h"

namespace hone {

struct CheckOutcome {
  std::optional<Mismatch> mismatch;  // what failed; `detail` says it in words
  std::string detail;
  double max_scaled_error = 0;       // worst over the outputs
  double rms_error = 0;
  double max_ulp = 0;
};

// A ProblemPart is a problem small enough for the oracle: some slices and, along one more dimension in which outputs are
// independent too, some indices. Both ascend.
struct ProblemPart {
  std::vector<int64_t> slices;
  std::string dimension;  // empty: none, and all of every other axis belongs to it
  std::vector<int64_t> indices;
};

// Returns the indices of `tensor` that belong to the part, for each axis that is restricted.
KeptIndices KeptOf(const TensorSpec& tensor, const ProblemPart& part);

// Returns the rms error that an output of so many elements may have. The mean square of a few rounding errors scatters:
// one element that is rounded twice may be off by 2.4 times the average of many such elements. So c_rms grows by sqrt(1
// + 5 / elements), to c_max at most: 1.02 times c_rms at a hundred elements.
double AllowedRms(const Tolerance& tolerance, int64_t elements);

// Returns the first element of an oracle's output that differs from the value worked out by hand; nothing where all
// agree. Both are row-major and of one length.
std::optional<size_t> FirstUnlikeHand(const std::vector<double>& computed, const std::vector<double>& by_hand);

// An OracleSource computes expected outputs: a program on the device, or a process of the host. It borrows its
// pointers.
struct OracleSource {
  const Candidate* candidate = nullptr;  // the oracle's text, for its plan
  LoadedProgram* program = nullptr;      // loaded on the checker's session
  HostReference* host = nullptr;         // if not null, used instead of the two
  double limit_seconds = 120;            // of one launch of `program`
};

class OracleChecker {
 public:
  // Borrows all arguments.
  OracleChecker(DeviceSession& session, const Task& task, const OracleSource& oracle)
      : session_(session), task_(task), oracle_(oracle), properties_(PropertiesOf(task)) {}

  // Checks set `index` of `buffers`, whose inputs were drawn as `inputs` says and whose outputs a candidate has just
  // written. In-place tensors are drawn again elsewhere for the oracle. `require_rms` says that c_rms holds on this
  // input set. kInvalidArgument where the oracle disagrees with a set whose outputs were worked out by hand.
  Result<CheckOutcome> CheckAll(CaseBuffers& buffers, int index, const InputSet& inputs, bool require_rms);
  // Does the same for some slices only; they are gathered into a small problem first.
  Result<CheckOutcome> CheckSlices(CaseBuffers& buffers, int index, const InputSet& inputs,
                                   const std::vector<int64_t>& slices, bool require_rms);
  // Does the same for a part of the problem. `buffers` lie on a device that can copy boxes, and a program computes.
  Result<CheckOutcome> CheckPart(CaseBuffers& buffers, int index, const InputSet& inputs, const ProblemPart& part,
                                 bool require_rms);
  // Returns whether the oracle computes, from the part's inputs alone, the very numbers of the part's outputs that it
  // computes from all inputs. Outputs of the set are not read.
  Result<bool> IsIndependent(CaseBuffers& buffers, int index, const InputSet& inputs, const ProblemPart& part);

  // Proves that the instrument works: plants one wrong element in each output of set `index` (which must
  // just have passed CheckAll or CheckSlices over `slices`) and expects it to be found. kInternal otherwise.
  Status PlantAndFind(CaseBuffers& buffers, int index, const InputSet& inputs, uint64_t seed);

  double last_oracle_seconds() const { return last_oracle_seconds_; }
  // Says whether the next outputs are the incumbent's: statistics of small outputs are kept per side.
  void JudgeIncumbent(bool incumbent) { incumbent_ = incumbent; }

 private:
  // Returns whether `comparison` passes c_rms; `allowed` becomes the limit, `error` the error compared with it. One
  // output of few elements may exceed c_rms (AllowedRms); all of them together may exceed it by less, the more of them
  // there are.
  bool PassesRms(const TensorSpec& tensor, const Tolerance& tolerance, const Comparison& comparison, double* allowed, double* error);
  // The references by output, dense and row-major.
  using References = std::map<std::string, std::vector<double>>;
  // Checks one set of inputs. `part`: null for all of the problem. `references`: if not null, they are returned there,
  // and nothing is compared.
  Result<CheckOutcome> Check(CaseBuffers& buffers, int index, const InputSet& inputs, const ProblemPart* part,
                             bool require_rms, References* references = nullptr);
  // Checks that every residual at `address` is within its bound. The first failure goes to `outcome`, unless one is
  // there already.
  Status CheckProperty(const Property& property, const TensorShape& shape, uint64_t address, const CaseBuffers& buffers,
                       const InputSet& inputs, const ProblemPart* part, CheckOutcome& outcome);
  // Computes the references of `bindings`, dense and row-major, from its inputs.
  Status RunProgram(const ResolvedPlan& plan, const Bindings& bindings, const Dims& dims);
  Status RunHost(const Bindings& bindings, const Dims& dims);
  // Returns kInvalidArgument where the oracle's results, which lie in `bindings`, differ from those worked out by hand.
  Status HoldAgainstHand(const HandCase& hand, const Bindings& bindings, const Dims& dims);
  Result<double> RmsOfFew(uint64_t reference, int64_t elements);

  DeviceSession& session_;
  const Task& task_;
  const OracleSource oracle_;
  const std::vector<Property> properties_;
  double last_oracle_seconds_ = 0;
  struct Few {
    double squares = 0;  // sum of squared errors, in units of each output's rms
    int64_t elements = 0;
  };
  bool incumbent_ = false;
  std::map<std::pair<bool, std::string>, Few> few_;  // by side and tensor
};

}  // namespace hone
