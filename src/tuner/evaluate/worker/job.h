// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One evaluation as bytes: what the evaluator hands to a worker process. A task travels as its own text and
// is parsed again on the other side, so there is one parser and no second format to keep in step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/core/compiled_program.h"
#include "tuner/evaluate/correctness/host_reference.h"
#include "tuner/evaluate/worker/name_fault.h"

namespace hone {

struct JudgeJob {
  Task task;
  CompiledProgram candidate;
  CompiledProgram oracle;                   // empty where `reference`, or one started for the task, says what is right
  std::shared_ptr<HostReference> reference;  // for a judge in this process; does not travel
  std::vector<std::string> python_environment;  // of the reference that a worker starts: "NAME=value"
  std::optional<CompiledProgram> incumbent;
  bool incumbent_is_library = false;        // see JudgeRequest
  std::optional<CompiledProgram> fallback;  // see JudgeRequest
  EvaluationRequest options;   // sources are left out: they are in the programs
  double launch_limit_seconds = 10;
  FaultSearch fault_search = FaultSearch::kNone;
};

// Whether code of a candidate runs on the host for this job: its own, or that of the incumbent it is timed against,
// which runs in the same process.
inline bool UsesHostMode(const JudgeJob& job) {
  return job.candidate.candidate.plan.host_mode || (job.incumbent && job.incumbent->candidate.plan.host_mode);
}
inline constexpr const char* kHostModeGuarantee = "weaker: host mode";  // Evaluation::guarantee of such a job

// Whether another compiler's machine code is loaded for this job: it goes into a process of its own.
inline bool UsesMachineCode(const JudgeJob& job) {
  return !job.candidate.candidate.plan.machine_code.empty() || (job.incumbent && !job.incumbent->candidate.plan.machine_code.empty());
}

// CBOR. Decode fails with kInternal (bytes that no encoder of this version wrote) or the parsers' own words.
std::string EncodeJob(const JudgeJob& job);
Result<JudgeJob> DecodeJob(const std::string& bytes);

// The request without its sources, as JSON text; used by spool bundles too. Options that the text lacks keep their
// defaults. Decode fails with kInvalidArgument.
std::string EncodeRequestOptions(const EvaluationRequest& request);
Result<EvaluationRequest> DecodeRequestOptions(const std::string& json);

// Whether what was judged is to be profiled: what the request asks for, where the verdict allows it.
bool WantsProfile(const JudgeJob& job, const Evaluation& evaluation);

}  // namespace hone
