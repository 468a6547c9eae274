// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/serve.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/launch_verdict.h"
#include "tuner/values/draw.h"
#include "tuner/values/keyed_hash.h"

namespace hone {
namespace {

// Returns the verdict for a plan that does not resolve: resource_limit if it asks for more than the device has, or
// launch_error if it makes no sense for the case.
Verdict VerdictOfUnresolved(const Status& status) {
  return status.code() == StatusCode::kResourceExhausted ? Verdict::kResourceLimit : Verdict::kLaunchError;
}

// Returns a number from 1 to `estimate` that is the same for one kernel and case of an evaluation.
int64_t DrawnOccupancy(uint64_t seed, const std::string& kernel, const Dims& dims, int64_t estimate) {
  uint64_t what = 0;
  for (const char c : kernel + "\n" + DimsText(dims)) what = draw::Mix(what ^ static_cast<unsigned char>(c));
  return 1 + static_cast<int64_t>(Keyed(seed, policy::kOccupancyStream, what) % static_cast<uint64_t>(std::max<int64_t>(1, estimate)));
}

Result<ResolvedPlan> Resolve(const Judgement& judgement, const CompiledProgram& compiled, const LoadedProgram* loaded,
                             const Dims& dims, const std::map<std::string, int64_t>& base_align, bool drawn_occupancy = false) {
  OccupancyQuery occupancy;
  if (loaded != nullptr) {
    occupancy = [&, loaded](const std::string& kernel, const std::string& key, int64_t threads, int64_t shared) -> Result<int64_t> {
      HONE_ASSIGN_OR_RETURN(const int64_t blocks, loaded->Occupancy(kernel, key, threads, shared));
      return drawn_occupancy ? DrawnOccupancy(judgement.request.options.seed, kernel, dims, blocks) : blocks;
    };
  }
  return ResolvePlan(compiled.candidate, judgement.task, dims, compiled.binding, judgement.facts(), occupancy,
                     base_align);
}

// Loads the task's seed unless it is loaded already.
Result<Gate> LoadSeed(Judgement& judgement) {
  if (judgement.programs.fallback != nullptr) return Gate::kPassed;
  HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome seed, judgement.session.Load(*judgement.request.fallback));
  if (!seed.program) {
    return judgement.Stop(Verdict::kInvalidTask, "the task's seed does not load: " + seed.launch.detail);
  }
  judgement.programs.fallback = std::move(seed.program);
  return Gate::kPassed;
}

// Returns the program that serves a case: `program`, or the seed if its plan leaves the case out; nullopt if the
// judgement has stopped.
Result<std::optional<ServedProgram>> ServeBy(Judgement& judgement, const CompiledProgram& compiled, LoadedProgram& program,
                                      const Dims& dims, const std::map<std::string, int64_t>& base_align, bool timed) {
  const bool drawn_occupancy = judgement.facts().modelled && !timed;
  ServedProgram served{&compiled, &program, {}, false};
  Result<ResolvedPlan> plan = Resolve(judgement, compiled, &program, dims, base_align, drawn_occupancy);
  if (plan.status().code() == StatusCode::kNotFound && judgement.request.fallback != nullptr) {
    HONE_ASSIGN_OR_RETURN(const Gate loaded, LoadSeed(judgement));
    if (loaded == Gate::kStopped) return std::optional<ServedProgram>();
    served = ServedProgram{judgement.request.fallback, judgement.programs.fallback.get(), {}, true};
    plan = Resolve(judgement, *served.compiled, served.program, dims, base_align, drawn_occupancy);
  }
  if (!plan.ok()) {
    if (&program == judgement.programs.incumbent.get()) {
      judgement.Stop(Verdict::kInvalidTask, "the incumbent: " + plan.status().message());
    } else {
      judgement.Stop(VerdictOfUnresolved(plan.status()), plan.status().message());
    }
    return std::optional<ServedProgram>();
  }
  served.plan = std::move(*plan);
  return std::optional<ServedProgram>(std::move(served));
}

}  // namespace

Result<Gate> LoadPrograms(Judgement& judgement) {
  const JudgeRequest& request = judgement.request;
  LoadedPrograms& programs = judgement.programs;
  const double started = SteadySeconds();
  judgement.Announce("load", request.candidate->candidate.name, policy::kLoadSeconds);
  if (request.reference == nullptr) {
    HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome oracle, judgement.session.Load(*request.oracle));
    if (!oracle.program) {
      return judgement.Stop(Verdict::kInvalidTask, "the oracle does not load: " + oracle.launch.detail);
    }
    programs.oracle = std::move(oracle.program);
  }
  if (request.incumbent != nullptr) {
    HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome incumbent, judgement.session.Load(*request.incumbent));
    if (!incumbent.program) {
      return judgement.Stop(Verdict::kInvalidTask, "the incumbent does not load: " + incumbent.launch.detail);
    }
    programs.incumbent = std::move(incumbent.program);
  }
  HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome candidate, judgement.session.Load(*request.candidate));
  if (!candidate.program) return judgement.Stop(VerdictOf(candidate.launch.status), candidate.launch.detail);
  programs.candidate = std::move(candidate.program);
  judgement.evaluation.resources = programs.candidate->Resources();
  judgement.EndStage("load", started);
  return Gate::kPassed;
}

Result<ResolvedPlan> ResolveCandidate(const Judgement& judgement, const Dims& dims,
                                      const std::map<std::string, int64_t>& base_align) {
  return Resolve(judgement, *judgement.request.candidate, judgement.programs.candidate.get(), dims, base_align);
}

Result<std::optional<ServedProgram>> Serve(Judgement& judgement, const Dims& dims,
                                    const std::map<std::string, int64_t>& base_align, bool timed) {
  HONE_ASSIGN_OR_RETURN(std::optional<ServedProgram> served, ServeBy(judgement, *judgement.request.candidate,
                                                              *judgement.programs.candidate, dims, base_align, timed));
  if (served) judgement.candidate_ran |= !served->fallback;
  return served;
}

Result<std::optional<ServedProgram>> ServeIncumbent(Judgement& judgement, const Dims& dims) {
  return ServeBy(judgement, *judgement.request.incumbent, *judgement.programs.incumbent, dims, {}, /*timed=*/true);
}

Gate FitsMemory(Judgement& judgement, const ResolvedPlan& plan, const Dims& dims, bool sampled) {
  const int64_t device_bytes = judgement.facts().memory_bytes;
  int64_t workspace_bytes = 0;
  for (const ResolvedWorkspace& workspace : plan.workspaces) {
    if (workspace.bytes < 0 || workspace.bytes > device_bytes) {
      return judgement.Stop(Verdict::kResourceLimit,
                            fmt::format("workspace {} asks for {} bytes for {}; the device has {}", workspace.name,
                                        workspace.bytes, DimsText(dims), device_bytes));
    }
    workspace_bytes += workspace.bytes;
  }
  if (sampled) return Gate::kPassed;
  Result<int64_t> tensors = CaseBuffers::SetBytes(judgement.task, dims);
  const int64_t needed_bytes = workspace_bytes + (tensors.ok() ? *tensors : 0);
  const int64_t free_bytes = judgement.session.FreeBytes();
  if (needed_bytes > free_bytes) {
    return judgement.Stop(workspace_bytes > 0 ? Verdict::kResourceLimit : Verdict::kUnsupported,
                          fmt::format("{} needs {} bytes of device memory ({} of them workspaces), {} are free",
                                      DimsText(dims), needed_bytes, workspace_bytes, free_bytes));
  }
  return Gate::kPassed;
}

Gate StoppedBy(Judgement& judgement, const ServedProgram& served) {
  if (!served.fallback) return Gate::kStopped;
  return judgement.Stop(Verdict::kInvalidTask,
                        "the task's seed, which serves this case, failed: " + judgement.evaluation.detail);
}

std::map<std::string, int64_t> PromisedAlignment(const Task& task) {
  std::map<std::string, int64_t> align;
  for (const TensorSpec& tensor : task.tensors) align[tensor.name] = tensor.align;
  return align;
}

}  // namespace hone
