// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/hash.h"
#include "hone/base/units.h"
#include "tuner/core/dims_text.h"
#include "tuner/core/draw.h"
#include "tuner/core/tensor_roles.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/counted_session.h"
#include "tuner/evaluate/launch_verdict.h"
#include "tuner/evaluate/shapes/aimed_shapes.h"
#include "tuner/evaluate/timing/interval.h"
#include "tuner/evaluate/timing/paired_timer.h"
#include "tuner/evaluate/timing/quad_order.h"

namespace hone {
namespace {

// Below this a single launch is too short to time alone: several go into one graph.
constexpr double kLongLaunchUs = 200;
constexpr int kMostSets = 32;
// Later correctness trials at a large shape judge one slice in this many when the oracle is slow.
constexpr int64_t kSlowOracleShare = 16;
constexpr double kSlowOracleSeconds = 0.05;
constexpr int kMostQuadsShort = 100, kMostQuadsLong = 50;
constexpr int kWarmQuads = 20;
// So many hidden cases are drawn, at most, to find some that take alternatives of the plan not taken so far. An
// alternative for one value in a hundred is missed once in 10^8 judgements.
constexpr int kAimedDraws = 2000;
// Beyond the hidden ranges, where checks are cheap: so many neighbors of timed shapes, shapes for alternatives that
// nothing before them took, and edges of alternatives, none larger than this. What that costs: docs/measurement.md,
// "Beyond the hidden ranges".
constexpr int kOddNeighbors = 3;
constexpr int kMostAimedBeyond = 16;
constexpr int kMostEdges = 8;
constexpr ShapeLimits kBeyondLimits{.bytes = int64_t{320} << 20, .flops = 8e9};
constexpr int64_t kBeyondMemoryShare = 16;  // of the device's memory, where that is less
constexpr uint64_t kBeyondStream = 0x0ddba11;
// Of all of them: 0.3 s at 2 ms for a launch and its checks on an H200. A count, so that a verdict does not depend on the
// machine's speed.
constexpr int kMostBeyondLaunches = 150;

// Of each tensor's address: what the task promises and no more.
std::map<std::string, int64_t> PromisedAlignment(const Task& task) {
  std::map<std::string, int64_t> align;
  for (const TensorSpec& tensor : task.tensors) align[tensor.name] = tensor.align;
  return align;
}

// Whether a launch for these dimensions writes anything that could be compared: weights, say, are there without any row too.
bool HasOutputElements(const Task& task, const Dims& dims) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [&](const TensorSpec& tensor) {
    if (!IsOutput(tensor)) return false;
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    return shape.ok() && shape->elements > 0;
  });
}

// A plan that does not resolve asks for more than the device has, or makes no sense for the case.
Verdict VerdictOfUnresolved(const Status& status) {
  return status.code() == StatusCode::kResourceExhausted ? Verdict::kResourceLimit : Verdict::kLaunchError;
}

// One candidate's way through the gates. Each gate returns true to go on; false when the verdict stands.
class Judging {
 public:
  Judging(DeviceSession& session, const JudgeRequest& request, const JudgeProgress& progress)
      : session_(session, [this](double limit_seconds) { TellLaunch(limit_seconds); }), request_(request),
        task_(*request.task), progress_(progress), secret_(request.options.seed) {}

  Result<Evaluation> Run();

 private:
  using Gate = Result<bool>;

  uint64_t Secret() { return secret_ = draw::Mix(secret_ + 0x9e3779b97f4a7c15ULL); }
  bool Stop(Verdict verdict, std::string detail) {
    evaluation_.verdict = verdict;
    evaluation_.detail = std::move(detail);
    return false;
  }
  void Tell(const std::string& phase, const std::string& detail, double limit_seconds) {
    phase_ = phase;
    phase_detail_ = detail;
    phase_limit_seconds_ = limit_seconds;
    if (progress_) progress_(phase, detail, limit_seconds);
  }
  // While a launch is under way the watchdog waits no longer than for it; when it is over, as for the phase. A process
  // that hangs in a launch, with a host-mode function or a driver that does not answer, costs that launch's limit.
  void TellLaunch(double limit_seconds) {
    if (progress_) progress_(phase_, phase_detail_, limit_seconds > 0 ? limit_seconds : phase_limit_seconds_);
  }
  // The same line is met in many launches; it is told once.
  void AddFindings(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      const bool known = std::any_of(evaluation_.findings.begin(), evaluation_.findings.end(), [&](const Finding& f) {
        return f.kind == finding.kind && f.location == finding.location;
      });
      if (!known) evaluation_.findings.push_back(finding);
    }
  }
  void EndStage(const char* name, double started) {
    evaluation_.stages.push_back({name, SteadySeconds() - started, true});
    evaluation_.device_seconds += SteadySeconds() - started;
  }
  Result<ResolvedPlan> Resolve(const CompiledProgram& compiled, const LoadedProgram* loaded, const Dims& dims,
                               const std::map<std::string, int64_t>& base_align) const {
    OccupancyQuery occupancy;
    if (loaded != nullptr) {
      occupancy = [loaded](const std::string& kernel, const std::string& key, int64_t threads, int64_t shared) {
        return loaded->Occupancy(kernel, key, threads, shared);
      };
    }
    return ResolvePlan(compiled.candidate, task_, dims, compiled.binding, session_.facts(), occupancy, base_align);
  }
  // Workspaces are memory too: "2 TB, please" is answered before anything is allocated.
  // `sampled`: the tensors are tiles mapped over and over, and take no memory to speak of.
  bool FitsMemory(const ResolvedPlan& plan, const Dims& dims, bool sampled = false);

  // What runs for a case: the candidate (or the incumbent) by its plan, or the task's seed where no alternative of that
  // plan holds.
  struct Served {
    const CompiledProgram* compiled = nullptr;
    LoadedProgram* program = nullptr;
    ResolvedPlan plan;
    bool fallback = false;
  };
  // What goes wrong where the seed stands in is the task's fault.
  bool StopFor(const Served& served) {
    if (!served.fallback) return false;
    return Stop(Verdict::kInvalidTask, "the task's seed, which serves this case, failed: " + evaluation_.detail);
  }
  // nullopt: the verdict stands.
  Result<std::optional<Served>> Serve(const Dims& dims, const std::map<std::string, int64_t>& base_align);
  Result<std::optional<Served>> ServeIncumbent(const Dims& dims);
  Result<std::optional<Served>> ServeBy(const CompiledProgram& compiled, LoadedProgram& program, const Dims& dims,
                                        const std::map<std::string, int64_t>& base_align);

  Gate Load();
  Gate CheckCases();
  // Cases of the hidden ranges that take alternatives which none of `cases` takes.
  std::vector<Case> AimedCases(const std::vector<Case>& cases);
  Gate CheckBeyond();
  void SmallestFirst(std::vector<Case>& cases) const;  // empty ones last
  void NoteUntested();
  Gate CheckOne(const Case& check_case, const std::vector<StressChoice>& choices, bool plant);
  Gate CheckHand(const HandCase& hand);
  Gate LaunchChecked(CaseBuffers& buffers, const Served& served, const InputSet& inputs, OracleChecker& checker,
                     bool require_rms, const std::vector<int64_t>* slices, CaseResult* result);
  Gate TimeCases();
  Gate TimeMeasured(const Case& time_case, CaseResult& result);
  Gate TimeModelled(const Case& time_case, CaseResult& result);
  void NoteOccupancy(const Served& served);
  std::optional<Dims> ServedWhenTimed() const;  // a timed case that the candidate's own plan serves
  Result<double> Floor(const Dims& dims, int sets, CacheState cache);
  // Of the inputs under a modelled time. A function of the candidate's text, so that a modelled time is one number,
  // whoever asks and however often; and not of anything a candidate could know: text that names a value drawn from its
  // own hash changes the hash.
  uint64_t ModelledInputKey() const {
    return std::stoull(Sha256Hex(request_.candidate->candidate.source).substr(0, 16), nullptr, 16) | 1;
  }

  std::string phase_ = "load", phase_detail_;
  double phase_limit_seconds_ = 60;
  CountedSession session_;
  const JudgeRequest& request_;
  const Task& task_;
  const JudgeProgress& progress_;
  uint64_t secret_;

  std::unique_ptr<LoadedProgram> oracle_, candidate_, incumbent_, fallback_;
  std::set<size_t> tested_;  // entries of the candidate's plan that some checked case takes
  std::set<size_t> unreachable_;  // those that no shape can take
  bool served_any_ = false;  // the candidate itself ran
  Evaluation evaluation_;
};

bool Judging::FitsMemory(const ResolvedPlan& plan, const Dims& dims, bool sampled) {
  int64_t workspace_bytes = 0;
  for (const ResolvedWorkspace& workspace : plan.workspaces) {
    if (workspace.bytes < 0 || workspace.bytes > session_.facts().memory_bytes) {
      return Stop(Verdict::kResourceLimit,
                  fmt::format("workspace {} asks for {} bytes for {}; the device has {}", workspace.name,
                              workspace.bytes, DimsText(dims), session_.facts().memory_bytes));
    }
    workspace_bytes += workspace.bytes;
  }
  if (sampled) return true;
  Result<int64_t> tensors = CaseBuffers::SetBytes(task_, dims);
  const int64_t needed = workspace_bytes + (tensors.ok() ? *tensors : 0);
  if (needed > session_.FreeBytes()) {
    return Stop(workspace_bytes > 0 ? Verdict::kResourceLimit : Verdict::kUnsupported,
                fmt::format("{} needs {} bytes of device memory ({} of them workspaces), {} are free", DimsText(dims),
                            needed, workspace_bytes, session_.FreeBytes()));
  }
  return true;
}

Judging::Gate Judging::Load() {
  const double started = SteadySeconds();
  Tell("load", request_.candidate->candidate.name, 60);
  HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome oracle, session_.Load(*request_.oracle));
  if (!oracle.program) return Stop(Verdict::kInvalidTask, "the oracle does not load: " + oracle.launch.detail);
  oracle_ = std::move(oracle.program);
  if (request_.incumbent != nullptr) {
    HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome incumbent, session_.Load(*request_.incumbent));
    if (!incumbent.program) return Stop(Verdict::kInvalidTask, "the incumbent does not load: " + incumbent.launch.detail);
    incumbent_ = std::move(incumbent.program);
  }
  HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome candidate, session_.Load(*request_.candidate));
  if (!candidate.program) return Stop(VerdictOf(candidate.launch.status), candidate.launch.detail);
  candidate_ = std::move(candidate.program);
  evaluation_.resources = candidate_->Resources();
  EndStage("load", started);
  return true;
}

Result<std::optional<Judging::Served>> Judging::ServeBy(const CompiledProgram& compiled, LoadedProgram& program,
                                                        const Dims& dims,
                                                        const std::map<std::string, int64_t>& base_align) {
  Served served{&compiled, &program, {}, false};
  Result<ResolvedPlan> plan = Resolve(compiled, &program, dims, base_align);
  if (plan.status().code() == StatusCode::kNotFound && request_.fallback != nullptr) {
    if (fallback_ == nullptr) {
      HONE_ASSIGN_OR_RETURN(DeviceSession::LoadOutcome seed, session_.Load(*request_.fallback));
      if (!seed.program) {
        Stop(Verdict::kInvalidTask, "the task's seed does not load: " + seed.launch.detail);
        return std::optional<Served>();
      }
      fallback_ = std::move(seed.program);
    }
    served = Served{request_.fallback, fallback_.get(), {}, true};
    plan = Resolve(*served.compiled, served.program, dims, base_align);
  }
  if (!plan.ok()) {
    if (&program == incumbent_.get()) {
      Stop(Verdict::kInvalidTask, "the incumbent: " + plan.status().message());
    } else {
      Stop(VerdictOfUnresolved(plan.status()), plan.status().message());
    }
    return std::optional<Served>();
  }
  served.plan = std::move(*plan);
  return std::optional<Served>(std::move(served));
}

Result<std::optional<Judging::Served>> Judging::Serve(const Dims& dims, const std::map<std::string, int64_t>& base_align) {
  HONE_ASSIGN_OR_RETURN(std::optional<Served> served, ServeBy(*request_.candidate, *candidate_, dims, base_align));
  if (served) served_any_ |= !served->fallback;
  return served;
}

// For the first timed case that launches a kernel, as KernelResources promises. Never a reason to fail.
void Judging::NoteOccupancy(const Served& served) {
  const DeviceFacts& facts = session_.facts();
  if (served.fallback || facts.max_threads_per_sm <= 0) return;
  for (const ResolvedStep& step : served.plan.steps) {
    const auto known = std::find_if(evaluation_.resources.begin(), evaluation_.resources.end(),
                                    [&](const KernelResources& r) { return r.kernel == step.kernel && r.occupancy == 0; });
    if (step.is_memset || known == evaluation_.resources.end() || known->registers < 0) continue;
    const int64_t threads = step.block[0] * step.block[1] * step.block[2];
    const Result<int64_t> blocks = served.program->Occupancy(step.kernel, step.binding_key, threads, step.shared_bytes);
    if (!blocks.ok()) continue;
    known->dynamic_shared_bytes = step.shared_bytes;
    known->occupancy = std::min(1.0, static_cast<double>(*blocks * threads) / facts.max_threads_per_sm);
  }
}

// A version that leaves some shapes to the seed may be the best one, and so what the next is timed against.
Result<std::optional<Judging::Served>> Judging::ServeIncumbent(const Dims& dims) {
  return ServeBy(*request_.incumbent, *incumbent_, dims, {});
}

// Runs what serves the case on set 0 and checks everything there is to check.
Judging::Gate Judging::LaunchChecked(CaseBuffers& buffers, const Served& served, const InputSet& inputs,
                                     OracleChecker& checker, bool require_rms, const std::vector<int64_t>* slices,
                                     CaseResult* result) {
  const ResolvedPlan& plan = served.plan;
  if (!served.fallback) tested_.insert(plan.chosen.begin(), plan.chosen.end());
  const uint64_t digest_key = Secret();
  HONE_RETURN_IF_ERROR(buffers.DrawInputs(0, inputs));
  HONE_RETURN_IF_ERROR(buffers.PrepareLaunch(0, inputs, plan));
  std::map<std::string, std::vector<uint64_t>> input_digests;
  for (const TensorSpec& tensor : task_.tensors) {
    if (tensor.role != TensorRole::kIn) continue;
    const bool overwritten = std::any_of(task_.tensors.begin(), task_.tensors.end(),
                                         [&](const TensorSpec& other) { return other.alias == tensor.name; });
    if (overwritten) continue;
    HONE_ASSIGN_OR_RETURN(input_digests[tensor.name], session_.Digest(buffers.set(0).tensors.at(tensor.name), digest_key));
  }

  const std::string where = fmt::format("{} ({} inputs)", DimsText(buffers.dims()), inputs.name());
  LaunchRequest launch{.plan = &plan, .bindings = &buffers.set(0), .limit_seconds = request_.launch_limit_seconds};
  HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, session_.Launch(*served.program, launch));
  AddFindings(outcome.findings);
  if (outcome.cost) evaluation_.metrics["observed_accesses"] += outcome.cost->accesses;
  if (outcome.status != LaunchStatus::kOk) return Stop(VerdictOf(outcome.status), outcome.detail + ", for " + where);

  HONE_ASSIGN_OR_RETURN(std::optional<std::string> gaps, buffers.CheckGaps());
  if (gaps) return Stop(Verdict::kRuleViolation, fmt::format("wrote outside its buffers for {}: {}", where, *gaps));
  for (const auto& [tensor, before] : input_digests) {
    HONE_ASSIGN_OR_RETURN(std::vector<uint64_t> after, session_.Digest(buffers.set(0).tensors.at(tensor), digest_key));
    if (after != before) return Stop(Verdict::kRuleViolation, fmt::format("changed its input {} for {}", tensor, where));
  }
  HONE_ASSIGN_OR_RETURN(bool changed, session_.GlobalsChanged(*served.program));
  if (changed) {
    return Stop(Verdict::kRuleViolation,
                fmt::format("a device global was left changed after the launch for {}; nothing may be kept between "
                            "launches (reset it before the kernel ends, or use a workspace)", where));
  }
  for (const ResolvedWorkspace& workspace : plan.workspaces) {
    if (!workspace.zero_on_entry || workspace.bytes == 0) continue;
    HONE_ASSIGN_OR_RETURN(bool zero, session_.IsZero(buffers.set(0).workspaces.at(workspace.name), workspace.bytes));
    if (!zero) {
      return Stop(Verdict::kRuleViolation, fmt::format("workspace {} is declared zero on entry but was not left zero for {}", workspace.name, where));
    }
  }

  Result<CheckOutcome> checked = slices != nullptr ? checker.CheckSlices(buffers, 0, inputs, *slices, require_rms)
                                                   : checker.CheckAll(buffers, 0, inputs, require_rms);
  if (!checked.ok()) {
    if (checked.status().code() == StatusCode::kInvalidArgument) return Stop(Verdict::kInvalidTask, checked.status().message());
    return checked.status();
  }
  if (result != nullptr) {
    result->max_scaled_error = std::max(result->max_scaled_error, checked->max_scaled_error);
    result->rms_error = std::max(result->rms_error, checked->rms_error);
  }
  if (checked->mismatch) {
    evaluation_.mismatch = checked->mismatch;
    return Stop(Verdict::kWrongOutput, checked->detail);
  }
  return true;
}

Judging::Gate Judging::CheckOne(const Case& check_case, const std::vector<StressChoice>& choices, bool plant) {
  const Dims& dims = check_case.dims;
  const std::map<std::string, int64_t> base_align = PromisedAlignment(task_);
  HONE_ASSIGN_OR_RETURN(std::optional<Served> served, Serve(dims, base_align));
  if (!served || !FitsMemory(served->plan, dims)) return false;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                        CaseBuffers::Make(session_, task_, dims, {&served->plan}, 1, true, Secret()));
  OracleChecker checker(session_, task_, request_.oracle->candidate, *oracle_);
  CaseResult result{.dims = dims, .role = check_case.role, .fallback = served->fallback};
  for (const StressChoice& choice : choices) {
    InputSet inputs{.key = Secret() | 1, .stress = choice.distribution, .use_stress = choice.use_stress};
    Tell("check", fmt::format("{} {} {}", CaseRoleName(check_case.role), DimsText(dims), inputs.name()),
         request_.launch_limit_seconds + 125);
    HONE_ASSIGN_OR_RETURN(bool on, LaunchChecked(*buffers, *served, inputs, checker, choice.require_rms, nullptr, &result));
    if (!on) return StopFor(*served);
    if (plant) {
      HONE_RETURN_IF_ERROR(checker.PlantAndFind(*buffers, 0, inputs, Secret()));
      plant = false;
    }
  }
  evaluation_.cases.push_back(std::move(result));
  return true;
}

// Values that somebody chose for what draws meet too rarely, a rejected word of a generator say.
Judging::Gate Judging::CheckHand(const HandCase& hand) {
  const std::map<std::string, int64_t> base_align = PromisedAlignment(task_);
  HONE_ASSIGN_OR_RETURN(std::optional<Served> served, Serve(hand.dims, base_align));
  if (!served || !FitsMemory(served->plan, hand.dims)) return false;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                        CaseBuffers::Make(session_, task_, hand.dims, {&served->plan}, 1, true, Secret()));
  OracleChecker checker(session_, task_, request_.oracle->candidate, *oracle_);
  Tell("check", "hand-worked " + DimsText(hand.dims), request_.launch_limit_seconds + 125);
  const InputSet inputs{.key = Secret() | 1, .hand = &hand};
  HONE_ASSIGN_OR_RETURN(bool on, LaunchChecked(*buffers, *served, inputs, checker, false, nullptr, nullptr));
  return on ? Gate(true) : StopFor(*served);
}

void Judging::SmallestFirst(std::vector<Case>& cases) const {
  std::stable_sort(cases.begin(), cases.end(), [&](const Case& a, const Case& b) {
    const auto size = [&](const Case& c) {
      Result<int64_t> bytes = CaseBuffers::SetBytes(task_, c.dims);
      return bytes.ok() && HasOutputElements(task_, c.dims) ? *bytes : INT64_MAX;
    };
    return size(a) < size(b);
  });
}

std::vector<Case> Judging::AimedCases(const std::vector<Case>& cases) {
  const std::vector<PlanEntry>& entries = request_.candidate->candidate.plan.entries;
  const bool any_choice = std::any_of(entries.begin(), entries.end(), [](const PlanEntry& e) { return e.when.has_value(); });
  std::vector<Case> aimed;
  if (!any_choice) return aimed;
  const std::map<std::string, int64_t> base_align = PromisedAlignment(task_);
  std::set<size_t> taken;
  // Whether the case takes an alternative that is not taken yet.
  const auto take = [&](const Dims& dims) {
    Result<ResolvedPlan> plan = Resolve(*request_.candidate, candidate_.get(), dims, base_align);
    const size_t before = taken.size();
    if (plan.ok()) taken.insert(plan->chosen.begin(), plan->chosen.end());
    return taken.size() > before;
  };
  for (const Case& c : cases) take(c.dims);
  // Rejection sampling: a draw that shows nothing new costs some microseconds.
  for (int draws = 0; draws < kAimedDraws && taken.size() < entries.size() && !task_.hidden.empty();) {
    for (Case& drawn : DrawHiddenCases(task_, Secret())) {
      ++draws;
      if (take(drawn.dims)) aimed.push_back(std::move(drawn));
    }
  }
  return aimed;
}

// Shapes that the hidden ranges leave out. The secrets that follow are the same whether this ran or not, and whatever it drew.
Judging::Gate Judging::CheckBeyond() {
  const double started = SteadySeconds();
  const uint64_t resume = secret_;
  secret_ = draw::Mix(request_.options.seed ^ kBeyondStream);
  const std::map<std::string, int64_t> base_align = PromisedAlignment(task_);
  const EntriesTaken entries_taken = [&](const Dims& dims) -> std::optional<std::vector<size_t>> {
    Result<ResolvedPlan> resolved = Resolve(*request_.candidate, candidate_.get(), dims, base_align);
    if (resolved.ok()) return std::move(resolved->chosen);
    if (resolved.status().code() == StatusCode::kNotFound && request_.fallback != nullptr) return std::nullopt;
    return std::vector<size_t>();
  };
  BeyondOptions options{.limits = kBeyondLimits, .neighbors = kOddNeighbors, .aimed = kMostAimedBeyond, .edges = kMostEdges,
                        .launches = kMostBeyondLaunches, .timed = request_.options.time};
  options.limits.bytes = std::min(options.limits.bytes, session_.facts().memory_bytes / kBeyondMemoryShare);
  AimedShapes shapes = ShapesBeyond(task_, request_.candidate->candidate.plan, request_.candidate->binding, session_.facts(), tested_,
                                    entries_taken, options, Secret());
  unreachable_ = std::move(shapes.unreachable);
  SmallestFirst(shapes.cases);
  bool on = true;
  for (size_t i = 0; i < shapes.cases.size() && on; ++i) {
    // What is tried for the first time meets stress values too.
    std::vector<StressChoice> choices = StressChoices(false, i);
    const std::optional<std::vector<size_t>> taken = entries_taken(shapes.cases[i].dims);
    const bool known = taken && std::all_of(taken->begin(), taken->end(), [&](size_t entry) { return tested_.contains(entry); });
    if (known) choices.resize(1);
    HONE_ASSIGN_OR_RETURN(on, CheckOne(shapes.cases[i], choices, false));
  }
  secret_ = resume;
  EndStage("check_beyond", started);
  return on;
}

// An alternative that nothing was checked with is told: its code may be wrong for all that this verdict knows.
void Judging::NoteUntested() {
  const Candidate& candidate = request_.candidate->candidate;
  for (size_t i = 0; i < candidate.plan.entries.size(); ++i) {
    const PlanEntry& entry = candidate.plan.entries[i];
    if (tested_.contains(i) || candidate.plan.host_mode) continue;
    AddFindings({{"untested_alternative",
                  fmt::format("no {} takes the alternative of step {} {}", unreachable_.contains(i) ? "shape" : "checked case", entry.step,
                              entry.when ? fmt::format("with when = \"{}\"", entry.when->text()) : "without `when`"),
                  fmt::format("{}:{}", candidate.name, entry.line)}});
  }
}

Judging::Gate Judging::CheckCases() {
  const double started = SteadySeconds();
  std::vector<Case> cases;
  for (const Case& c : task_.cases) {
    if (c.role == CaseRole::kCheck) cases.push_back(c);
  }
  for (Case& c : DrawHiddenCases(task_, Secret())) cases.push_back(std::move(c));
  for (Case& c : AimedCases(cases)) cases.push_back(std::move(c));
  // The smallest case that writes anything first: most wrong candidates end here, in milliseconds. The instrument is proven
  // there too, after the candidate has passed.
  SmallestFirst(cases);
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool all = i == 0 || i + 1 == cases.size();
    const bool plant = i == 0 && HasOutputElements(task_, cases[i].dims);
    HONE_ASSIGN_OR_RETURN(bool on, CheckOne(cases[i], StressChoices(all, i), plant));
    if (!on) {
      EndStage("check", started);
      return false;
    }
  }
  for (const HandCase& hand : task_.hand_cases) {
    if (!hand.candidates) continue;
    HONE_ASSIGN_OR_RETURN(bool on, CheckHand(hand));
    if (!on) {
      EndStage("check", started);
      return false;
    }
  }
  EndStage("check", started);
  // On a simulated GPU such shapes would take minutes.
  return session_.facts().modelled ? Gate(true) : CheckBeyond();
}

Result<double> Judging::Floor(const Dims& dims, int sets, CacheState cache) {
  HONE_ASSIGN_OR_RETURN(Traffic traffic, CompulsoryTraffic(task_, dims));
  const auto key = std::make_tuple(traffic.read_bytes, traffic.written_bytes, sets, static_cast<int>(cache));
  if (request_.floors != nullptr) {
    if (auto known = request_.floors->find(key); known != request_.floors->end()) return known->second;
  }
  Tell("floor", DimsText(dims), 30);
  HONE_ASSIGN_OR_RETURN(double floor_us, session_.TimeFloor(traffic, sets, cache));
  if (request_.floors != nullptr) (*request_.floors)[key] = floor_us;
  return floor_us;
}

// The simulator: one sampled launch a side gives a modelled time. Nothing random, so no statistics.
Judging::Gate Judging::TimeModelled(const Case& time_case, CaseResult& result) {
  const Dims& dims = time_case.dims;
  HONE_ASSIGN_OR_RETURN(std::optional<Served> served, Serve(dims, {}));
  if (!served) return false;
  NoteOccupancy(*served);
  const ResolvedPlan* plan = &served->plan;
  result.fallback = served->fallback;
  if (!FitsMemory(*plan, dims, true)) return false;
  std::vector<const ResolvedPlan*> plans{plan};
  std::optional<Served> other;
  if (incumbent_) {
    HONE_ASSIGN_OR_RETURN(other, ServeIncumbent(dims));
    if (!other) return false;
    plans.push_back(&other->plan);
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers, CaseBuffers::Make(session_, task_, dims, plans, 1, false, Secret(), true));
  const InputSet inputs{.key = ModelledInputKey()};
  HONE_RETURN_IF_ERROR(buffers->DrawInputs(0, inputs));

  const auto modelled = [&](LoadedProgram& program, const ResolvedPlan& p) -> Result<SampleOutcome> {
    HONE_RETURN_IF_ERROR(buffers->PrepareLaunch(0, inputs, p));
    return session_.TimeSample({.program = &program, .plan = &p, .sets = {&buffers->set(0)},
                                .limit_seconds = request_.launch_limit_seconds});
  };
  Tell("model", DimsText(dims), request_.launch_limit_seconds * 2 + 30);
  HONE_ASSIGN_OR_RETURN(SampleOutcome mine, modelled(*served->program, *plan));
  AddFindings(mine.launch.findings);
  if (mine.launch.status != LaunchStatus::kOk) {
    Stop(VerdictOf(mine.launch.status), mine.launch.detail + ", for " + DimsText(dims));
    return StopFor(*served);
  }
  result.timing.status = "modelled";
  result.time_us = Interval{mine.us_per_plan, mine.us_per_plan, mine.us_per_plan};
  if (mine.launch.cost) {
    result.sampled_block_fraction = mine.launch.cost->sampled_block_fraction;
    evaluation_.metrics["observed_accesses"] += mine.launch.cost->accesses;
  }
  if (incumbent_) {
    HONE_ASSIGN_OR_RETURN(SampleOutcome theirs, modelled(*other->program, other->plan));
    if (theirs.launch.status != LaunchStatus::kOk) return Stop(Verdict::kInvalidTask, "the incumbent failed: " + theirs.launch.detail);
    result.baseline_us = theirs.us_per_plan;
    const double ratio = theirs.us_per_plan / mine.us_per_plan;
    result.speedup = Interval{ratio, ratio, ratio};
    result.timing.decision = ratio > 1.005 ? "faster" : ratio < 0.995 ? "slower" : "same";
  }
  HONE_ASSIGN_OR_RETURN(double floor_us, Floor(dims, 1, CacheState::kCold));
  result.floor_us = floor_us;
  result.floor_fraction = floor_us / result.time_us->median;
  return true;
}

Judging::Gate Judging::TimeMeasured(const Case& time_case, CaseResult& result) {
  const Dims& dims = time_case.dims;
  const DeviceFacts& facts = session_.facts();
  HONE_ASSIGN_OR_RETURN(std::optional<Served> served, Serve(dims, {}));
  if (!served) return false;
  NoteOccupancy(*served);
  const ResolvedPlan* plan = &served->plan;
  result.fallback = served->fallback;
  if (!FitsMemory(*plan, dims)) return false;
  std::vector<const ResolvedPlan*> plans{plan};
  std::optional<Served> other;
  if (incumbent_) {
    HONE_ASSIGN_OR_RETURN(other, ServeIncumbent(dims));
    if (!other) return false;
    plans.push_back(&other->plan);
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers, CaseBuffers::Make(session_, task_, dims, plans, 1, false, Secret()));
  OracleChecker checker(session_, task_, request_.oracle->candidate, *oracle_);
  const double phase_limit = request_.launch_limit_seconds * 4 + 130;

  // Level 1: the oracle on fresh input sets at this very shape. Where the oracle is slow, the later sets are
  // judged on a secret share of the slices.
  for (int trial = 0; trial + 1 < request_.options.correctness_trials; ++trial) {
    InputSet inputs{.key = Secret() | 1};
    Tell("check", fmt::format("{} trial {}", DimsText(dims), trial + 1), phase_limit);
    std::vector<int64_t> slices;
    const bool partial = trial > 0 && checker.last_oracle_seconds() > kSlowOracleSeconds && buffers->slices() >= kSlowOracleShare;
    if (partial) slices = SecretSubset(buffers->slices(), buffers->slices() / kSlowOracleShare, Secret());
    HONE_ASSIGN_OR_RETURN(bool on, LaunchChecked(*buffers, *served, inputs, checker, true, partial ? &slices : nullptr, &result));
    if (!on) return StopFor(*served);
  }

  // The base set of the timed launches: verified like the others, then remembered by digest on the host,
  // out of the candidate's reach.
  PairedTimerOptions options;
  options.seed = Secret();
  options.digest_key = Secret();
  options.base = InputSet{.key = Secret() | 1};
  options.launch_limit_seconds = request_.launch_limit_seconds;
  Tell("check", fmt::format("{} base set", DimsText(dims)), phase_limit);
  TimedSide mine{served->program, plan, {}}, theirs;
  {
    const bool partial = checker.last_oracle_seconds() > kSlowOracleSeconds * 20 && buffers->slices() >= kSlowOracleShare &&
                         request_.options.correctness_trials > 1;
    std::vector<int64_t> slices;
    if (partial) slices = SecretSubset(buffers->slices(), buffers->slices() / kSlowOracleShare, Secret());
    HONE_ASSIGN_OR_RETURN(bool on, LaunchChecked(*buffers, *served, options.base, checker, true, partial ? &slices : nullptr, &result));
    if (!on) return StopFor(*served);
    HONE_ASSIGN_OR_RETURN(mine.base_digests, OutputDigests(session_, task_, *buffers, 0, options.digest_key));
  }
  if (incumbent_) {
    theirs = TimedSide{other->program, &other->plan, {}, request_.incumbent_is_library};
    HONE_RETURN_IF_ERROR(buffers->PrepareLaunch(0, options.base, other->plan));
    LaunchRequest launch{.plan = &other->plan, .bindings = &buffers->set(0), .limit_seconds = request_.launch_limit_seconds};
    HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, session_.Launch(*other->program, launch));
    if (outcome.status != LaunchStatus::kOk) return Stop(Verdict::kInvalidTask, "the incumbent failed: " + outcome.detail);
    const std::vector<int64_t> some = task_.slice.empty() ? std::vector<int64_t>{}
        : SecretSubset(buffers->slices(), std::max<int64_t>(1, buffers->slices() / kSlowOracleShare), Secret());
    HONE_ASSIGN_OR_RETURN(CheckOutcome checked, some.empty() ? checker.CheckAll(*buffers, 0, options.base, true)
                                                             : checker.CheckSlices(*buffers, 0, options.base, some, true));
    if (checked.mismatch) return Stop(Verdict::kInvalidTask, "the incumbent is wrong: " + checked.detail);
    HONE_ASSIGN_OR_RETURN(theirs.base_digests, OutputDigests(session_, task_, *buffers, 0, options.digest_key));
  }

  // How long is one launch? Short ones are timed many to a graph, over disjoint buffers.
  double rough_us = 1e30;
  for (int i = 0; i < 3; ++i) {
    HONE_RETURN_IF_ERROR(buffers->PrepareLaunch(0, options.base, *plan));
    HONE_ASSIGN_OR_RETURN(SampleOutcome sample, session_.TimeSample({.program = served->program, .plan = plan,
        .sets = {&buffers->set(0)}, .limit_seconds = request_.launch_limit_seconds}));
    if (sample.launch.status != LaunchStatus::kOk) return Stop(VerdictOf(sample.launch.status), sample.launch.detail);
    rough_us = std::min(rough_us, sample.us_per_plan);
  }
  HONE_ASSIGN_OR_RETURN(int64_t set_bytes, CaseBuffers::SetBytes(task_, dims));
  int sets = 1;
  if (rough_us < kLongLaunchUs) {
    sets = static_cast<int>(std::clamp(std::ceil(kLongLaunchUs / rough_us), 2.0, static_cast<double>(kMostSets)));
    const int64_t room = session_.FreeBytes() / 2 / std::max<int64_t>(set_bytes, 1);
    sets = static_cast<int>(std::clamp<int64_t>(sets, 1, std::max<int64_t>(room, 1)));
  }
  if (sets > 1) {
    buffers.reset();
    HONE_ASSIGN_OR_RETURN(buffers, CaseBuffers::Make(session_, task_, dims, plans, sets, false, Secret()));
  }

  options.max_quads = request_.options.max_quads > 0 ? request_.options.max_quads : (sets > 1 ? kMostQuadsShort : kMostQuadsLong);
  options.budget_seconds = request_.timing_budget_seconds;
  Tell("time", DimsText(dims), phase_limit + options.budget_seconds * 10);
  Result<PairedTiming> timed = TimePaired(session_, task_, *buffers, checker, mine, incumbent_ ? &theirs : nullptr, options);
  if (!timed.ok()) {
    if (timed.status().code() == StatusCode::kInvalidArgument) return Stop(Verdict::kInvalidTask, timed.status().message());
    return timed.status();
  }
  result.max_scaled_error = std::max(result.max_scaled_error, timed->max_scaled_error);
  if (timed->nondeterministic) {
    const std::string label = "nondeterministic";
    if (std::find(evaluation_.labels.begin(), evaluation_.labels.end(), label) == evaluation_.labels.end()) evaluation_.labels.push_back(label);
  }
  if (timed->verdict != Verdict::kOk) {
    evaluation_.mismatch = timed->mismatch;
    Stop(timed->verdict, timed->detail);
    return StopFor(*served);
  }
  result.timing = timed->timing;
  result.time_us = timed->candidate_us;
  if (incumbent_) {
    result.baseline_us = timed->incumbent_us;
    result.speedup = timed->speedup;
  }

  // A time no memory could deliver is no time. Writes may still sit in L2 when the interval ends.
  HONE_ASSIGN_OR_RETURN(Traffic traffic, CompulsoryTraffic(task_, dims));
  const double must_move = traffic.read_bytes + std::max(0.0, traffic.written_bytes - static_cast<double>(facts.l2_bytes));
  if (facts.memory_bandwidth > 0) {
    result.refuse_below_us = MicrosecondsToMove(must_move, facts.memory_bandwidth);
    if (result.time_us->median < *result.refuse_below_us) {
      return Stop(Verdict::kRuleViolation,
                  fmt::format("{}: a cold time of {:.2f} us is impossible; reading the inputs alone takes {:.2f} us at the "
                              "datasheet bandwidth", DimsText(dims), result.time_us->median, *result.refuse_below_us));
    }
  }
  HONE_ASSIGN_OR_RETURN(double floor_us, Floor(dims, sets, CacheState::kCold));
  result.floor_us = floor_us;
  result.floor_fraction = floor_us / result.time_us->median;

  // Warm: only where the working set can be warm at all.
  if (request_.options.warm && set_bytes <= 4 * facts.l2_bytes && facts.l2_bytes > 0) {
    const int64_t fitting = facts.l2_bytes / 2 / std::max<int64_t>(set_bytes, 1);
    const int warm_sets = static_cast<int>(std::clamp<int64_t>(fitting, 1, sets));
    if (warm_sets != sets) {
      buffers.reset();
      HONE_ASSIGN_OR_RETURN(buffers, CaseBuffers::Make(session_, task_, dims, plans, warm_sets, false, Secret()));
    }
    options.cache = CacheState::kWarm;
    options.max_quads = std::min(kWarmQuads, options.max_quads);
    options.seed = Secret();
    Tell("time warm", DimsText(dims), phase_limit + options.budget_seconds * 10);
    Result<PairedTiming> warm = TimePaired(session_, task_, *buffers, checker, mine, incumbent_ ? &theirs : nullptr, options);
    if (!warm.ok()) return warm.status();
    if (warm->verdict != Verdict::kOk) {
      evaluation_.mismatch = warm->mismatch;
      Stop(warm->verdict, warm->detail);
      return StopFor(*served);
    }
    result.warm_time_us = warm->candidate_us;
    if (incumbent_) {
      result.warm_baseline_us = warm->incumbent_us;
      result.warm_speedup = warm->speedup;
    }
  }
  return true;
}

Judging::Gate Judging::TimeCases() {
  const double started = SteadySeconds();
  size_t index = 0;
  std::vector<CaseResult> timed;
  for (const Case& c : task_.cases) {
    if (c.role != CaseRole::kTime) continue;
    const size_t at = index++;
    const std::vector<size_t>& only = request_.options.only_time_cases;
    if (!only.empty() && std::find(only.begin(), only.end(), at) == only.end()) continue;
    CaseResult result{.dims = c.dims, .role = CaseRole::kTime};
    Gate gate = session_.facts().modelled ? TimeModelled(c, result) : TimeMeasured(c, result);
    if (!gate.ok()) return gate.status();
    if (!*gate) {
      EndStage("time", started);
      return false;
    }
    timed.push_back(std::move(result));
  }
  evaluation_.cases.insert(evaluation_.cases.begin(), timed.begin(), timed.end());
  EndStage("time", started);
  return true;
}

std::optional<Dims> Judging::ServedWhenTimed() const {
  for (const Case& c : task_.cases) {
    if (c.role == CaseRole::kTime && Resolve(*request_.candidate, candidate_.get(), c.dims, {}).ok()) return c.dims;
  }
  return std::nullopt;
}

Result<Evaluation> Judging::Run() {
  const DeviceFacts& facts = session_.facts();
  evaluation_.task = task_.name;
  evaluation_.device = facts.id + " " + facts.name;
  evaluation_.modelled = facts.modelled;
  evaluation_.binding = request_.candidate->binding;
  evaluation_.seed = request_.options.seed;
  evaluation_.verdict = Verdict::kOk;

  Gate on = Load();
  if (!request_.options.check_cases) evaluation_.labels.push_back("unchecked");
  if (on.ok() && *on && request_.options.check_cases) on = CheckCases();
  if (on.ok() && *on && request_.options.time) on = TimeCases();
  if (!on.ok()) return on.status();
  if (evaluation_.verdict == Verdict::kOk) {
    if (request_.options.check_cases) NoteUntested();
    if (!served_any_) {
      if (const std::optional<Dims> timed = request_.options.time ? std::nullopt : ServedWhenTimed()) {
        Stop(Verdict::kUnsupported, fmt::format("no alternative of the plan holds for any shape that is checked without timing, so the "
                                                "candidate never ran; one holds for {}: judge it with its timed cases",
                                                DimsText(*timed)));
      } else {
        Stop(Verdict::kLaunchError, "no alternative of the plan holds for any case: the candidate never ran");
      }
    }
  }
  session_.AddTo(evaluation_.metrics);
  if (evaluation_.verdict != Verdict::kOk) {
    // Timings exist only with the verdict ok.
    std::erase_if(evaluation_.cases, [](const CaseResult& c) { return c.role == CaseRole::kTime; });
  } else {
    evaluation_.geomean_speedup = GeomeanSpeedup(evaluation_.cases);
  }
  return std::move(evaluation_);
}

}  // namespace

std::vector<StressChoice> StressChoices(bool all, size_t case_index) {
  static const std::vector<Distribution> kStress = {Distribution::kCancelling, Distribution::kHeavyTailed,
                                                    Distribution::kZero, Distribution::kSorted, Distribution::kConstant};
  std::vector<StressChoice> choices{{Distribution::kNormal, false, true}};
  for (size_t i = 0; i < kStress.size(); ++i) {
    if (all || i == case_index % kStress.size()) choices.push_back({kStress[i], true, false});
  }
  return choices;
}

Result<Evaluation> Judge(DeviceSession& session, const JudgeRequest& request, const JudgeProgress& progress) {
  HONE_CHECK(request.task && request.candidate && request.oracle, "Judge needs a task, a candidate and an oracle");
  HONE_CHECK(request.options.seed != 0, "Judge needs a seed");
  return Judging(session, request, progress).Run();
}

}  // namespace hone
