// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/check_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/evaluate/case_buffers.h"
#include "tuner/evaluate/correctness/oracle_checker.h"
#include "tuner/evaluate/judge/checked_launch.h"
#include "tuner/evaluate/judge/judge_policy.h"
#include "tuner/evaluate/judge/serve.h"

namespace hone {
namespace {

// Returns whether a launch for these dimensions writes anything that can be compared. A case without rows has no output
// elements, although inputs such as weights have elements.
bool HasOutputElements(const Task& task, const Dims& dims) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [&](const TensorSpec& tensor) {
    if (!IsOutput(tensor)) return false;
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    return shape.ok() && shape->elements > 0;
  });
}

// Returns cases from the hidden ranges that take alternatives which none of `cases` takes, found by rejection sampling.
std::vector<Case> AimedCases(Judgement& judgement, const std::vector<Case>& cases) {
  const std::vector<PlanEntry>& entries = judgement.request.candidate->candidate.plan.entries;
  const bool any_choice =
      std::any_of(entries.begin(), entries.end(), [](const PlanEntry& e) { return e.when.has_value(); });
  std::vector<Case> aimed;
  if (!any_choice) return aimed;
  const std::map<std::string, int64_t> base_align = PromisedAlignment(judgement.task);
  std::set<size_t> taken;
  // Returns whether the case takes an alternative that no case has taken yet.
  const auto take = [&](const Dims& dims) {
    Result<ResolvedPlan> plan = ResolveCandidate(judgement, dims, base_align);
    const size_t before = taken.size();
    if (plan.ok()) taken.insert(plan->chosen.begin(), plan->chosen.end());
    return taken.size() > before;
  };
  for (const Case& c : cases) take(c.dims);
  for (int draws = 0; draws < policy::kAimedDraws && taken.size() < entries.size() && !judgement.task.hidden.empty();) {
    std::vector<Case> hidden = DrawHiddenCases(judgement.task, judgement.secrets.Next());
    if (hidden.empty()) break;
    for (Case& drawn : hidden) {
      ++draws;
      if (take(drawn.dims)) aimed.push_back(std::move(drawn));
    }
  }
  return aimed;
}

// Returns the task's check cases and drawn hidden cases, smallest first.
std::vector<Case> CasesToCheck(Judgement& judgement) {
  std::vector<Case> cases;
  for (const Case& c : judgement.task.cases) {
    if (c.role == CaseRole::kCheck) cases.push_back(c);
  }
  for (Case& c : DrawHiddenCases(judgement.task, judgement.secrets.Next())) cases.push_back(std::move(c));
  for (Case& c : AimedCases(judgement, cases)) cases.push_back(std::move(c));
  // The smallest case that writes anything comes first: most wrong candidates fail there, in milliseconds. The checker
  // itself is tested there too, after the candidate has passed.
  SortSmallestFirst(judgement.task, cases);
  return cases;
}

// Checks a hand-worked case. Its values were chosen because random draws hardly ever contain them, such as a rejected
// word of a random generator.
Result<Gate> CheckHandWorkedCase(Judgement& judgement, const HandWorkedCase& hand) {
  const std::map<std::string, int64_t> base_align = PromisedAlignment(judgement.task);
  HONE_ASSIGN_OR_RETURN(std::optional<ServedProgram> served, Serve(judgement, hand.dims, base_align));
  if (!served) return Gate::kStopped;
  HONE_RETURN_UNLESS_PASSED(FitsMemory(judgement, served->plan, hand.dims));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                        judgement.MakeBuffers(hand.dims, {&served->plan}, /*sets=*/1, /*exact_align=*/true));
  OracleChecker checker = judgement.MakeChecker();
  judgement.Announce("check", "hand-worked " + DimsText(hand.dims),
                     judgement.request.launch_limit_seconds + policy::kCheckSeconds);
  const InputSet inputs{.key = judgement.secrets.NextOdd(), .hand = &hand};
  HONE_ASSIGN_OR_RETURN(const Gate gate, LaunchChecked(judgement, *buffers, *served, inputs, checker, {}, nullptr));
  if (gate != Gate::kPassed) return StoppedBy(judgement, *served);
  judgement.evaluation.metrics["hand_cases"] += 1;
  return gate;
}

// Returns the number of the largest of `cases`, which are in the order of CasesToCheck; nullopt if nothing can be checked
// in any of them. Cases without output elements come last.
std::optional<size_t> LargestChecked(const Task& task, const std::vector<Case>& cases) {
  const auto largest =
      std::find_if(cases.rbegin(), cases.rend(), [&](const Case& c) { return HasOutputElements(task, c.dims); });
  if (largest == cases.rend()) return std::nullopt;
  return static_cast<size_t>(cases.rend() - largest) - 1;
}

// Checks all cases, the smallest and the largest with all stress distributions, and then the hand-worked ones.
Result<Gate> CheckAll(Judgement& judgement) {
  const std::vector<Case> cases = CasesToCheck(judgement);
  const std::optional<size_t> largest = LargestChecked(judgement.task, cases);
  for (size_t i = 0; i < cases.size(); ++i) {
    const bool every_distribution = i == 0 || i == largest;
    const bool plant = i == 0 && HasOutputElements(judgement.task, cases[i].dims);
    HONE_RETURN_UNLESS_PASSED(CheckCase(judgement, cases[i], StressChoices(every_distribution, i), plant));
  }
  for (const HandWorkedCase& hand : judgement.task.hand_worked_cases) {
    if (hand.candidates) HONE_RETURN_UNLESS_PASSED(CheckHandWorkedCase(judgement, hand));
  }
  return Gate::kPassed;
}

}  // namespace

Result<Gate> CheckCases(Judgement& judgement) {
  const double started = SteadySeconds();
  HONE_ASSIGN_OR_RETURN(const Gate gate, CheckAll(judgement));
  judgement.EndStage("check", started);
  return gate;
}

Result<Gate> CheckCase(Judgement& judgement, const Case& check_case, const std::vector<StressChoice>& choices,
                       bool plant) {
  const Dims& dims = check_case.dims;
  // Bases are aligned exactly as the task promises, or as in timed launches, in turn. Which comes first is secret, so
  // that a candidate learns nothing from the alignment.
  const bool exact_align = judgement.NextAlignmentIsExact();
  HONE_ASSIGN_OR_RETURN(std::optional<ServedProgram> served,
                        Serve(judgement, dims, exact_align ? PromisedAlignment(judgement.task) : AnyAlignment()));
  if (!served) return Gate::kStopped;
  HONE_RETURN_UNLESS_PASSED(FitsMemory(judgement, served->plan, dims));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CaseBuffers> buffers,
                        judgement.MakeBuffers(dims, {&served->plan}, 1, exact_align));
  OracleChecker checker = judgement.MakeChecker();
  CaseResult result{.dims = dims, .role = check_case.role, .fallback = served->fallback};
  for (const StressChoice& choice : choices) {
    if (choice.distribution == Distribution::kSpecial && !judgement.request.gates.special_values) continue;
    const bool special = choice.distribution == Distribution::kSpecial;
    const InputSet inputs{.key = judgement.secrets.NextOdd(),
                          .stress = choice.distribution,
                          .use_stress = choice.use_stress && TakesStress(judgement.task),
                          .turn = special ? std::optional(judgement.NextSpecialTurn()) : std::nullopt};
    judgement.Announce("check", fmt::format("{} {} {}", CaseRoleName(check_case.role), DimsText(dims), inputs.name()),
                       judgement.request.launch_limit_seconds + policy::kCheckSeconds);
    HONE_ASSIGN_OR_RETURN(const Gate gate, LaunchChecked(judgement, *buffers, *served, inputs, checker,
                                                         {.require_rms = choice.require_rms}, &result));
    if (gate == Gate::kStopped) return StoppedBy(judgement, *served);
    if (plant) {
      HONE_RETURN_IF_ERROR(checker.PlantAndFind(*buffers, 0, inputs, judgement.secrets.Next()));
      plant = false;
    }
  }
  if (!check_case.values.empty()) {
    const InputSet inputs{.key = judgement.secrets.NextOdd(), .values = &check_case.values};
    judgement.Announce("check", fmt::format("{} {} {}", CaseRoleName(check_case.role), DimsText(dims), inputs.name()),
                       judgement.request.launch_limit_seconds + policy::kCheckSeconds);
    HONE_ASSIGN_OR_RETURN(const Gate gate, LaunchChecked(judgement, *buffers, *served, inputs, checker, {}, &result));
    if (gate == Gate::kStopped) return StoppedBy(judgement, *served);
  }
  judgement.evaluation.cases.push_back(std::move(result));
  return Gate::kPassed;
}

Result<Gate> CheckLargestAgain(Judgement& judgement) {
  const std::vector<Case> cases = CasesToCheck(judgement);
  const std::optional<size_t> largest = LargestChecked(judgement.task, cases);
  if (!largest) return Gate::kPassed;
  return CheckCase(judgement, cases[*largest], StressChoices(/*all=*/true, 0), /*plant=*/false);
}

void SortSmallestFirst(const Task& task, std::vector<Case>& cases) {
  std::stable_sort(cases.begin(), cases.end(), [&](const Case& a, const Case& b) {
    const auto size = [&](const Case& c) {
      Result<int64_t> bytes = CaseBuffers::SetBytes(task, c.dims);
      return bytes.ok() && HasOutputElements(task, c.dims) ? *bytes : INT64_MAX;
    };
    return size(a) < size(b);
  });
}

}  // namespace hone
