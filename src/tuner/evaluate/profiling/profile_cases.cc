// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/profiling/profile_cases.h"

#include <fmt/format.h>

#include <algorithm>

#include "tuner/core/plan/dims_text.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

// Number of times that a GPU runs a plan to profile it, as an upper estimate: once for each group of counters, and
// there may be dozens of groups.
constexpr double kPassesExpected = 100;

}  // namespace

Result<Profile> ProfileCandidate(DeviceSession& session, const JudgeRequest& request, const JudgeProgress& progress) {
  const Task& task = *request.task;
  const bool modelled = session.facts().modelled;
  Profile profile;
  profile.modelled = modelled;
  const auto note = [&](const std::string& sentence) {
    if (profile.note.empty()) profile.note = sentence;
  };
  HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome loaded, session.Load(*request.candidate));
  if (!loaded.program) {
    note("the candidate does not load for profiling: " + loaded.launch.detail);
    return profile;
  }
  LoadedProgram& program = *loaded.program;
  const OccupancyQuery occupancy = [&](const std::string& kernel, const std::string& key, int64_t threads, int64_t shared) {
    return program.Occupancy(kernel, key, threads, shared);
  };
  SecretNumbers secrets(request.options.seed);
  size_t index = 0;
  for (const Case& c : task.cases) {
    if (c.role != CaseRole::kTime) continue;
    const size_t at = index++;
    const std::vector<size_t>& only = request.options.only_time_cases;
    if (!only.empty() && std::find(only.begin(), only.end(), at) == only.end()) continue;
    Result<ResolvedPlan> plan = ResolvePlan(request.candidate->candidate, task, c.dims, request.candidate->binding, session.facts(),
                                            occupancy, {});
    if (!plan.ok()) {
      note(fmt::format("{} was not profiled: {}", DimsText(c.dims), plan.status().message()));
      continue;
    }
    HONE_ASSIGN_OR_RETURN(const int64_t bytes, CaseBuffers::SetBytes(task, c.dims));
    if (!modelled && bytes > session.FreeBytes()) {
      note(fmt::format("{} was not profiled: its tensors do not fit into the free device memory", DimsText(c.dims)));
      continue;
    }
    if (progress) progress("profile", DimsText(c.dims), request.launch_limit_seconds * kPassesExpected + 60);
    const uint64_t secret = secrets.Next();
    HONE_ASSIGN_OR_RETURN(
        std::unique_ptr<CaseBuffers> buffers,
        CaseBuffers::Make(session, task, c.dims, {&*plan}, /*sets=*/1, /*exact_align=*/false, secret, modelled));
    const InputSet inputs{.key = secret | 1};
    HONE_RETURN_IF_ERROR(buffers->DrawInputs(0, inputs));
    HONE_ASSIGN_OR_RETURN(ProfileOutcome outcome,
                          session.Profile({.program = &program, .plan = &*plan, .bindings = &buffers->set(0),
                                           .prepare = [&] { return buffers->PrepareLaunch(0, inputs, *plan); },
                                           .limit_seconds = request.launch_limit_seconds}));
    if (!outcome.unavailable.empty()) {
      note(outcome.unavailable);
      break;
    }
    if (outcome.launch.status != LaunchStatus::kOk) {
      note(fmt::format("{} was not profiled: {}", DimsText(c.dims), outcome.launch.detail));
      if (session.lost()) break;
      continue;
    }
    profile.source = outcome.source;
    profile.cases.push_back({c.dims, std::move(outcome.kernels)});
  }
  return profile;
}

}  // namespace hone
