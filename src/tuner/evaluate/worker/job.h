// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A JudgeJob is what the evaluator sends to a worker process for one evaluation. The task is sent as its own text and
// parsed again by the worker, so that there is no second format of tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/task.h"
#include "tuner/core/program/compiled_program.h"
#include "tuner/evaluate/correctness/host_reference.h"
#include "tuner/evaluate/worker/name_fault.h"

namespace hone {

struct JudgeJob {
  Task task;
  CompiledProgram candidate;
  CompiledProgram oracle;                       // empty where a host reference computes expected outputs
  std::shared_ptr<HostReference> reference;     // for a judge in this process; not encoded: a worker starts its own
  std::vector<std::string> python_environment;  // "NAME=value" texts for the reference that a worker starts
  std::optional<CompiledProgram> incumbent;     // nullopt: the candidate is timed alone
  bool incumbent_is_library = false;        // see JudgeRequest
  std::optional<CompiledProgram> fallback;  // see JudgeRequest
  EvaluationRequest options;   // sources are left out: they are in the programs
  double launch_limit_seconds = 10;
  FaultSearch fault_search = FaultSearch::kNone;
  bool vast_alone = false;  // see JudgeRequest
  // Number of Hone's own processes that have an idle context on the device, beside the worker's: they do not disturb
  // the times.
  int processes_beside = 0;
  // JudgeRequest says what this is for. It is called in the process that sends the job to a worker, which waits meanwhile. Not encoded: only
  // whether there is one is.
  std::function<void()> before_timing;
  bool pauses_before_timing = false;  // in the worker: the sender's job has a `before_timing`
  // If the verdict is ok, the caller judges the same candidate with `vast_alone` next. A worker of one job then stays
  // for that second one, because a new worker would make a new context. Not encoded.
  bool vast_follows = false;
};

// Returns whether host-mode code runs for this job: the candidate's or the incumbent's, which runs in the same
// process.
inline bool UsesHostMode(const JudgeJob& job) {
  return job.candidate.candidate.plan.host_mode || (job.incumbent && job.incumbent->candidate.plan.host_mode);
}
inline constexpr const char* kHostModeGuarantee = "weaker: host mode";  // Evaluation::guarantee of such a job

// Returns whether machine code that Hone did not compile is loaded for this job, which then gets a process of its own.
inline bool UsesMachineCode(const JudgeJob& job) {
  return !job.candidate.candidate.plan.machine_code.empty() || (job.incumbent && !job.incumbent->candidate.plan.machine_code.empty());
}

// Encode and decode a job as CBOR. DecodeJob returns kInternal for bytes that EncodeJob of this version did not write,
// or an error of the parsers of tasks and plans.
std::string EncodeJob(const JudgeJob& job);
Result<JudgeJob> DecodeJob(const std::string& bytes);

// Encode and decode a request without its sources, as JSON text; bundles of a spool contain it too. Options that the
// text lacks keep their defaults. DecodeRequestOptions returns kInvalidArgument for a text that is no such object.
std::string EncodeRequestOptions(const EvaluationRequest& request);
Result<EvaluationRequest> DecodeRequestOptions(const std::string& json);

// Returns whether the judged candidate is to be profiled: the request asks for it and the verdict allows it.
bool WantsProfile(const JudgeJob& job, const Evaluation& evaluation);

}  // namespace hone
