// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "tuner/core/dims_text.h"
#include "tuner/gate/task_changes.h"

namespace hone {
namespace {

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// A Subject is one kernel under judgement.
struct Subject {
  GateKernel told;  // the kernel's entry in the report
  Task task;
  std::string base_text, head_text;     // the kernel's texts; empty base_text: nothing to time against
  std::vector<Dims> timed;              // the cases that the first round timed, in its order
  std::vector<CaseDecision> decisions;  // by case of told.cases
  // Returns whether the kernel needs a verdict: not if it was removed, or if only its path has changed.
  bool judged() const { return told.status == GateStatus::kPassed && told.changed; }
};

// Returns whether the verdict blames the kernel.
bool AtFault(Verdict verdict) {
  return verdict != Verdict::kOk && verdict != Verdict::kUnsupported && verdict != Verdict::kInvalidTask &&
         verdict != Verdict::kDeviceLost;
}

// Evaluates a kernel, and once more if the device was lost, for which no kernel is to blame.
Result<Evaluation> Judge(Evaluator& evaluator, const Task& task, const EvaluationRequest& request) {
  Result<Evaluation> evaluation = evaluator.Evaluate(task, request);
  if (evaluation.ok() && evaluation->verdict == Verdict::kDeviceLost) evaluation = evaluator.Evaluate(task, request);
  if (evaluation.ok() && evaluation->verdict == Verdict::kDeviceLost) {
    return Status::Unavailable(
        fmt::format("the device was lost twice while {} was judged: {}", request.name, evaluation->detail));
  }
  return evaluation;
}

// Sets the kernel's status by the verdict. Returns true if the kernel is right, so that timing can go on.
bool Conclude(const Evaluation& evaluation, GateKernel& told) {
  if (evaluation.verdict == Verdict::kOk) return true;
  told.status = AtFault(evaluation.verdict) ? GateStatus::kWrong : GateStatus::kNotJudged;
  told.detail = fmt::format("{}: {}", VerdictName(evaluation.verdict), evaluation.detail);
  return false;
}

// Judges one kernel in its first round. Fills the kernel's timed cases.
Status FirstRound(Evaluator& evaluator, const GateOptions& options, Subject& subject, GateReport& report) {
  GateKernel& told = subject.told;
  EvaluationRequest request;
  request.source = subject.head_text;
  request.name = told.path;
  request.time = options.run && options.time && !subject.base_text.empty();
  request.warm = false;
  if (request.time) {
    EvaluationRequest base = request;
    base.source = subject.base_text;
    base.name = (told.was.empty() ? told.path : told.was) + " of the base";
    base.time = false;
    HONE_ASSIGN_OR_RETURN(const Evaluation judged, Judge(evaluator, subject.task, base));
    if (judged.verdict != Verdict::kOk) {
      told.detail = fmt::format("the base's kernel is not right itself ({}), so that nothing was timed",
                                VerdictName(judged.verdict));
      request.time = false;
    }
    request.incumbent_source = subject.base_text;
    request.incumbent_name = base.name;
  }
  HONE_ASSIGN_OR_RETURN(told.evaluation, Judge(evaluator, subject.task, request));
  report.device = told.evaluation->device;
  report.modelled = told.evaluation->modelled;
  if (!Conclude(*told.evaluation, told) || !request.time) return Status::Ok();
  for (const CaseResult& c : told.evaluation->cases) {
    if (c.role != CaseRole::kTime || !c.speedup) continue;
    subject.timed.push_back(c.dims);
    told.cases.push_back({.dims = c.dims, .speedup = *c.speedup});
    if (c.timing.status == "throttled" || c.timing.status == "contended") {
      report.warnings.push_back(
          fmt::format("{}, {}: the device was {} while it was timed", told.path, DimsText(c.dims), c.timing.status));
    }
  }
  return Status::Ok();
}

// Judges all kernels in their first rounds, several at a time, because compiling takes most of the time.
Status FirstRounds(Evaluator& evaluator, const GateOptions& options, const std::function<void(const std::string&)>& tell,
                   std::vector<Subject>& subjects, GateReport& report) {
  std::vector<GateReport> parts(subjects.size());
  std::mutex mutex;
  size_t next = 0;
  Status failure;
  const auto work = [&] {
    while (true) {
      size_t mine = 0;
      {
        const std::lock_guard lock(mutex);
        while (next < subjects.size() && !subjects[next].judged()) ++next;
        if (next == subjects.size() || !failure.ok()) return;
        mine = next++;
        const GateKernel& told = subjects[mine].told;
        if (tell)
          tell(fmt::format("{}: {}", told.path,
                           told.added         ? "new"
                           : told.was.empty() ? "changed"
                                              : "changed, was " + told.was));
      }
      const Status done = FirstRound(evaluator, options, subjects[mine], parts[mine]);
      const std::lock_guard lock(mutex);
      if (!done.ok() && failure.ok()) failure = done;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 1; i < options.parallel && static_cast<size_t>(i) < subjects.size(); ++i) threads.emplace_back(work);
    work();
  }
  HONE_RETURN_IF_ERROR(failure);
  for (size_t i = 0; i < subjects.size(); ++i) {
    if (subjects[i].told.evaluation) {
      report.device = parts[i].device;
      report.modelled = parts[i].modelled;
    }
    report.warnings.insert(report.warnings.end(), parts[i].warnings.begin(), parts[i].warnings.end());
    report.comparisons += static_cast<int>(subjects[i].told.cases.size());
  }
  return Status::Ok();
}

// Decides a kernel's cases, with further rounds of those that one round does not decide.
Status DecideSubject(Evaluator& evaluator, const GateRule& rule, const std::function<void(const std::string&)>& tell,
                     Subject& subject) {
  GateKernel& told = subject.told;
  for (GateCase& c : told.cases) {
    subject.decisions.emplace_back(rule);
    if (told.evaluation->modelled) {
      subject.decisions.back().AddModelled(c.speedup.median);
    } else {
      subject.decisions.back().Add(c.speedup);
    }
  }
  while (told.status == GateStatus::kPassed) {
    EvaluationRequest request;
    size_t at = 0;  // index of `c` among the task's timed cases
    for (const Case& c : subject.task.cases) {
      if (c.role != CaseRole::kTime) continue;
      for (size_t i = 0; i < told.cases.size(); ++i) {
        if (told.cases[i].dims == c.dims && subject.decisions[i].decision() == GateDecision::kMore)
          request.only_time_cases.push_back(at);
      }
      ++at;
    }
    if (request.only_time_cases.empty()) break;
    if (tell)
      tell(fmt::format("{}: {} cases look slower, and are timed again", told.path, request.only_time_cases.size()));
    request.source = subject.head_text;
    request.name = told.path;
    request.incumbent_source = subject.base_text;
    request.incumbent_name = (told.was.empty() ? told.path : told.was) + " of the base";
    request.warm = false;
    request.correctness_trials = 1;
    HONE_ASSIGN_OR_RETURN(const Evaluation again, Judge(evaluator, subject.task, request));
    if (!Conclude(again, told)) break;
    for (size_t i = 0; i < told.cases.size(); ++i) {
      if (subject.decisions[i].decision() != GateDecision::kMore) continue;
      const auto timed = std::find_if(again.cases.begin(), again.cases.end(), [&](const CaseResult& c) {
        return c.role == CaseRole::kTime && c.dims == told.cases[i].dims && c.speedup;
      });
      // A round without a time counts as no hit.
      subject.decisions[i].Add(timed == again.cases.end() ? Interval{1, 1, 1} : *timed->speedup);
    }
  }
  for (size_t i = 0; i < told.cases.size(); ++i) {
    GateCase& c = told.cases[i];
    c.rounds = subject.decisions[i].rounds();
    c.hits = subject.decisions[i].hits();
    c.slower = subject.decisions[i].decision() == GateDecision::kSlower;
    if (c.slower && told.status == GateStatus::kPassed) told.status = GateStatus::kSlower;
  }
  return Status::Ok();
}

}  // namespace

std::string_view GateStatusName(GateStatus status) {
  switch (status) {
    case GateStatus::kPassed:
      return "passed";
    case GateStatus::kWrong:
      return "wrong";
    case GateStatus::kSlower:
      return "slower";
    case GateStatus::kNotJudged:
      return "not_judged";
    case GateStatus::kRemoved:
      return "removed";
  }
  return "";
}

bool GateReport::failed() const {
  return std::any_of(kernels.begin(), kernels.end(), [](const GateKernel& k) {
    return k.status == GateStatus::kWrong || k.status == GateStatus::kSlower;
  });
}

Result<GateReport> RunGate(Evaluator& evaluator, const TreePair& trees, const GateOptions& options,
                           const std::function<void(const std::string&)>& tell) {
  const Stopwatch watch;
  GateReport report;
  report.base = trees.base->Name();
  report.head = trees.head->Name();
  report.device = evaluator.facts().id + " " + evaluator.facts().name;
  report.modelled = evaluator.facts().modelled;
  report.options = options;
  if (!trees.uncommitted.empty()) {
    report.warnings.push_back(fmt::format(
        "{} {} changed and not committed ({}{}), and {} holds what is committed alone: commit, or give the folder as --head",
        trees.uncommitted.size(), trees.uncommitted.size() == 1 ? "file is" : "files are", trees.uncommitted.front(),
        trees.uncommitted.size() == 1 ? "" : ", …", report.head));
  }
  const TaskPairs tasks = PairTasks(*trees.base, *trees.head);
  HONE_ASSIGN_OR_RETURN(report.changed_tasks, DescribeTaskChanges(*trees.base, *trees.head, tasks));
  HONE_ASSIGN_OR_RETURN(std::vector<KernelPair> found, FindChangedKernels(trees, tasks, options.kernels));

  std::vector<Subject> subjects;
  for (KernelPair& kernel : found) {
    Subject subject;
    subject.told.path = kernel.path;
    subject.told.was = kernel.was;
    subject.told.task = LastPart(kernel.task_folder);
    subject.told.added = !kernel.before;
    subject.told.changed = kernel.before != kernel.after;
    subject.base_text = kernel.before.value_or("");
    subject.head_text = kernel.after.value_or("");
    const bool of_base = kernel.base_folder != kNoTask;
    if (!kernel.after) {
      subject.told.status = GateStatus::kRemoved;
      subject.told.detail = "head has no such kernel";
    } else if (Result<Task> task = of_base ? LoadTaskFrom(*trees.base, kernel.base_folder)
                                           : LoadTaskFrom(*trees.head, kernel.task_folder);
               task.ok()) {
      subject.task = std::move(*task);
      subject.told.task = subject.task.name;
    } else {
      // If the base's task cannot be read, the kernel cannot be judged. If head adds a task that cannot be read, head
      // is wrong.
      subject.told.status = of_base ? GateStatus::kNotJudged : GateStatus::kWrong;
      subject.told.detail = fmt::format("the task cannot be read: {}", task.status().message());
    }
    subjects.push_back(std::move(subject));
  }

  HONE_RETURN_IF_ERROR(FirstRounds(evaluator, options, tell, subjects, report));
  report.rule = MakeGateRule(options.slower, options.rate, std::max(1, report.comparisons));
  for (Subject& subject : subjects) {
    if (subject.told.status == GateStatus::kPassed)
      HONE_RETURN_IF_ERROR(DecideSubject(evaluator, report.rule, tell, subject));
    report.kernels.push_back(std::move(subject.told));
  }
  report.seconds = watch.Seconds();
  return report;
}

}  // namespace hone
