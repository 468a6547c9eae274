// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A JudgeJob is one evaluation as the evaluator sends it, in bytes, to a worker process. A task travels as its own text
// and is parsed again on the other side, so there is one parser and no second format to keep in step.
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
  CompiledProgram oracle;  // empty where `reference`, or one started for the task, computes expected outputs
  std::shared_ptr<HostReference> reference;     // for a judge in this process; not encoded
  std::vector<std::string> python_environment;  // "NAME=value" texts for a reference that a worker starts
  std::optional<CompiledProgram> incumbent;
  bool incumbent_is_library = false;        // see JudgeRequest
  std::optional<CompiledProgram> fallback;  // see JudgeRequest
  EvaluationRequest options;   // sources are left out: they are in the programs
  double launch_limit_seconds = 10;
  FaultSearch fault_search = FaultSearch::kNone;
  bool vast_alone = false;  // see JudgeRequest
};

// Returns whether a candidate's code runs on the host for this job: its own, or that of the incumbent it is timed
// against, which runs in the same process.
inline bool UsesHostMode(const JudgeJob& job) {
  return job.candidate.candidate.plan.host_mode || (job.incumbent && job.incumbent->candidate.plan.host_mode);
}
inline constexpr const char* kHostModeGuarantee = "weaker: host mode";  // Evaluation::guarantee of such a job

// Returns whether another compiler's machine code is loaded for this job, which then gets a process of its own.
inline bool UsesMachineCode(const JudgeJob& job) {
  return !job.candidate.candidate.plan.machine_code.empty() || (job.incumbent && !job.incumbent->candidate.plan.machine_code.empty());
}

// Encode and decode a job as CBOR. Decode fails with kInternal (bytes that no encoder of this version wrote) or the
// parsers' own messages.
std::string EncodeJob(const JudgeJob& job);
Result<JudgeJob> DecodeJob(const std::string& bytes);

// Encode and decode the request without its sources, as JSON text; spool bundles use it too. Options that the text
// lacks keep their defaults. Decode fails with kInvalidArgument.
std::string EncodeRequestOptions(const EvaluationRequest& request);
Result<EvaluationRequest> DecodeRequestOptions(const std::string& json);

// Returns whether the judged candidate is to be profiled: where the request asks for it and the verdict allows it.
bool WantsProfile(const JudgeJob& job, const Evaluation& evaluation);

}  // namespace hone
