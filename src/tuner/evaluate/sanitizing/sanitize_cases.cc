// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/sanitizing/sanitize_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/text/json_fields.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/serve.h"
#include "tuner/evaluate/judge/stress_choices.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

using nlohmann::json;

class WatchedRun {
 public:
  WatchedRun(DeviceSession& session, const JudgeRequest& request, LoadedProgram& program,
             const WatchKeeper& keeper)
      : session_(session), request_(request), task_(*request.task), program_(program), keeper_(keeper), secrets_(request.options.seed) {}

  Status Run() {
    end_.times.loaded = SteadySeconds();
    const std::vector<Case> cases = Cases();
    for (size_t i = 0; i < cases.size() && end_.ended.empty(); ++i) {
      HONE_RETURN_IF_ERROR(RunCase(cases[i], StressChoices(/*all=*/i == 0 || i + 1 == cases.size(), i)));
    }
    for (const HandWorkedCase& hand : task_.hand_worked_cases) {
      if (hand.candidates) HONE_RETURN_IF_ERROR(LaunchEachWay(hand.dims, {.key = secrets_.NextOdd(), .hand = &hand}));
    }
    end_.complete = end_.ended.empty();
    end_.times.launched = SteadySeconds();
    return keeper_.end(end_);
  }

 private:
  Result<ResolvedPlan> Resolve(const Dims& dims, const std::map<std::string, int64_t>& base_align) const {
    const OccupancyQuery occupancy = [this](const std::string& kernel, const std::string& key, int64_t threads, int64_t shared) {
      return program_.Occupancy(kernel, key, threads, shared);
    };
    return ResolvePlan(request_.candidate->candidate, task_, dims, request_.candidate->binding, session_.facts(), occupancy, base_align);
  }

  // Returns the cases to run. Hidden cases are drawn until each alternative of the plan that small shapes take has one.
  std::vector<Case> Cases() {
    std::vector<Case> cases;
    for (const Case& c : task_.cases) {
      if (c.role == CaseRole::kCheck) cases.push_back(c);
    }
    for (Case& c : DrawHiddenCases(task_, secrets_.Next())) cases.push_back(std::move(c));
    const size_t alternatives = request_.candidate->candidate.plan.entries.size();
    std::set<size_t> covered_entries;
    const auto take = [&](const Dims& dims) {
      const size_t before = covered_entries.size();
      for (const auto& align : {AnyAlignment(), PromisedAlignment(task_)}) {
        const Result<ResolvedPlan> plan = Resolve(dims, align);
        if (plan.ok()) covered_entries.insert(plan->chosen.begin(), plan->chosen.end());
      }
      return covered_entries.size() > before;
    };
    for (const Case& c : cases) take(c.dims);
    for (int draws = 0; draws < policy::kAimedDraws && covered_entries.size() < alternatives;) {
      const std::vector<Case> hidden = DrawHiddenCases(task_, secrets_.Next());
      if (hidden.empty()) break;
      for (const Case& drawn : hidden) {
        ++draws;
        if (take(drawn.dims)) cases.push_back(drawn);
      }
    }
    return cases;
  }

  Status RunCase(const Case& c, const std::vector<StressChoice>& choices) {
    for (const StressChoice& choice : choices) {
      if (choice.use_stress && !TakesStress(task_)) continue;
      const bool special = choice.distribution == Distribution::kSpecial;
      HONE_RETURN_IF_ERROR(LaunchEachWay(c.dims, {.key = secrets_.NextOdd(),
                                                  .stress = choice.distribution,
                                                  .use_stress = choice.use_stress,
                                                  .turn = special ? std::optional(turn_++) : std::nullopt}));
    }
    if (c.values.empty()) return Status::Ok();
    return LaunchEachWay(c.dims, {.key = secrets_.NextOdd(), .values = &c.values});
  }

  // Launches the plan for bases that are aligned as allocations are, and the plan for bases that are aligned as the task
  // promises, if that is another one.
  Status LaunchEachWay(const Dims& dims, const InputSet& inputs) {
    const Result<ResolvedPlan> any = Resolve(dims, AnyAlignment());
    if (any.ok()) HONE_RETURN_IF_ERROR(Launch(dims, inputs, *any));
    const Result<ResolvedPlan> promised = Resolve(dims, PromisedAlignment(task_));
    if (!promised.ok() || (any.ok() && promised->chosen == any->chosen)) return Status::Ok();
    return Launch(dims, inputs, *promised);
  }

  Status Launch(const Dims& dims, const InputSet& inputs, const ResolvedPlan& plan) {
    if (!end_.ended.empty()) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(int64_t bytes, CaseBuffers::SetBytes(task_, dims));
    for (const ResolvedWorkspace& workspace : plan.workspaces) bytes += std::min(workspace.bytes, session_.FreeBytes());
    if (bytes >= session_.FreeBytes()) return Status::Ok();
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> made,
                          CaseBuffers::Make(session_, task_, dims, {&plan}, /*sets=*/1, /*exact_align=*/false, secrets_.Next()));
    CaseBuffers& buffers = *made;
    buffers_.push_back(std::move(made));
    HONE_RETURN_IF_ERROR(buffers.DrawInputs(0, inputs));
    HONE_RETURN_IF_ERROR(buffers.PrepareLaunch(0, inputs, plan));
    WatchedLaunch launch{.dims = dims, .inputs = inputs.name(), .blocks = {}};
    for (const TensorSpec& tensor : task_.tensors) {
      const TensorView& view = buffers.set(0).tensors.at(tensor.name);
      if (tensor.alias.empty()) launch.blocks.push_back({tensor.name, session_.LaunchAddress(view.address), view.span_bytes});
    }
    for (const ResolvedWorkspace& workspace : plan.workspaces) {
      launch.blocks.push_back({workspace.name, session_.LaunchAddress(buffers.set(0).workspaces.at(workspace.name)), workspace.bytes});
    }
    HONE_RETURN_IF_ERROR(keeper_.launch(launch));
    HONE_ASSIGN_OR_RETURN(const LaunchOutcome outcome,
                          session_.Launch(program_, {.plan = &plan, .bindings = &buffers.set(0), .limit_seconds = request_.launch_limit_seconds}));
    if (outcome.status != LaunchStatus::kOk) end_.ended = outcome.detail.empty() ? "the launch failed" : outcome.detail;
    return Status::Ok();
  }

  DeviceSession& session_;
  const JudgeRequest& request_;
  const Task& task_;
  LoadedProgram& program_;
  const WatchKeeper& keeper_;
  SecretNumbers secrets_;
  uint64_t turn_ = 0;
  WatchEnd end_;
  std::vector<std::unique_ptr<CaseBuffers>> buffers_;  // all of them stay, so that no address is used twice
};

}  // namespace

Status LaunchWatched(DeviceSession& session, const JudgeRequest& request, const WatchKeeper& keeper) {
  HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome loaded, session.Load(*request.candidate));
  if (!loaded.program) return Status::Unavailable("the candidate does not load: " + loaded.launch.detail);
  return WatchedRun(session, request, *loaded.program, keeper).Run();
}

std::string EncodeWatchLine(const WatchedLaunch& launch) {
  json blocks = json::array();
  for (const WatchedBlock& block : launch.blocks) {
    blocks.push_back({{"name", block.name}, {"address", SeedToJson(block.address)}, {"bytes", block.bytes}});
  }
  return DumpJson(json{{"dims", launch.dims}, {"inputs", launch.inputs}, {"blocks", std::move(blocks)}}) + "\n";
}

std::string EncodeWatchLine(const WatchEnd& end) {
  const WatchTimes& times = end.times;
  return DumpJson(json{{"complete", end.complete},
                       {"ended", end.ended},
                       {"began", times.began},
                       {"connected", times.connected},
                       {"loaded", times.loaded},
                       {"launched", times.launched},
                       {"released", times.released}}) +
         "\n";
}

Result<WatchRecord> DecodeWatchRecord(std::string_view text) {
  WatchRecord record;
  for (size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    HONE_ASSIGN_OR_RETURN(const json object, ParseJson(std::string(text.substr(0, end)), "a line about watched launches"));
    text.remove_prefix(end + 1);
    JsonFields fields(object, "watched launches");
    if (object.is_object() && object.contains("complete")) {
      fields.Read("complete", record.end.complete);
      fields.Read("ended", record.end.ended);
      fields.Read("began", record.end.times.began);
      fields.Read("connected", record.end.times.connected);
      fields.Read("loaded", record.end.times.loaded);
      fields.Read("launched", record.end.times.launched);
      fields.Read("released", record.end.times.released);
    } else {
      WatchedLaunch& launch = record.launches.emplace_back();
      fields.Require("dims", launch.dims);
      fields.Read("inputs", launch.inputs);
      fields.Objects("blocks", [&](JsonFields& block_fields) {
        WatchedBlock block;
        block_fields.Require("name", block.name);
        block_fields.Require("address", block.address);
        block_fields.Require("bytes", block.bytes);
        launch.blocks.push_back(std::move(block));
      });
    }
    if (!fields.ok()) return fields.status();
  }
  return record;
}

}  // namespace hone
