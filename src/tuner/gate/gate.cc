// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/gate/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/gate/task_changes.h"
#include "tuner/interop/read/plain_kernel.h"

namespace hone {
namespace {

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// A Subject is one kernel under judgement.
struct Subject {
  GateKernel entry;  // the kernel's entry in the report
  Task task;
  std::string base_text, head_text;     // the kernel's texts, with plans; empty base_text: nothing to compare with
  std::string note;                     // about the plan of a file without one, for the user; may be empty
  std::vector<CaseDecision> decisions;  // indexed by case of entry.cases
  // Returns whether the kernel needs a verdict: not if it was removed, or if only its path has changed.
  bool judged() const { return entry.status == GateStatus::kPassed && entry.changed; }
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
bool Conclude(const Evaluation& evaluation, GateKernel& entry) {
  if (evaluation.verdict == Verdict::kOk) return true;
  entry.status = AtFault(evaluation.verdict) ? GateStatus::kWrong : GateStatus::kNotJudged;
  entry.detail = fmt::format("{}: {}", VerdictName(evaluation.verdict), evaluation.detail);
  return false;
}

// Returns the request for the base's kernel, which is checked and not timed.
EvaluationRequest BaseRequest(const Subject& subject) {
  EvaluationRequest base;
  base.source = subject.base_text;
  base.name = (subject.entry.was.empty() ? subject.entry.path : subject.entry.was) + " of the base";
  base.time = false;
  base.warm = false;
  return base;
}

// Says of a kernel that is not right whether the base's has the same verdict, so that no change is blamed for what was
// so before. Where neither is even read and compiled, nothing was judged; otherwise head's kernel is wrong all the
// same.
void CompareFaults(Verdict base, GateKernel& entry) {
  if (entry.status != GateStatus::kWrong || base != entry.evaluation->verdict) return;
  entry.as_base = true;
  if (base == Verdict::kParseError || base == Verdict::kCompileError) entry.status = GateStatus::kNotJudged;
  entry.detail =
      fmt::format("the base's kernel fails in the same way, so that this change did not break it; {}", entry.detail);
}

// Judges one kernel in its first round. Fills the kernel's timed cases.
Status FirstRound(Evaluator& evaluator, const GateOptions& options, Subject& subject, GateReport& report) {
  GateKernel& entry = subject.entry;
  EvaluationRequest request;
  request.source = subject.head_text;
  request.name = entry.path;
  request.time = options.run && options.time && !subject.base_text.empty();
  request.warm = false;
  std::optional<Verdict> of_base;
  if (request.time) {
    const EvaluationRequest base = BaseRequest(subject);
    HONE_ASSIGN_OR_RETURN(const Evaluation judged, Judge(evaluator, subject.task, base));
    of_base = judged.verdict;
    if (judged.verdict != Verdict::kOk) {
      entry.detail = fmt::format("the base's kernel is not right itself ({}), so that nothing was timed",
                                 VerdictName(judged.verdict));
      request.time = false;
    }
    request.incumbent_source = subject.base_text;
    request.incumbent_name = base.name;
  }
  HONE_ASSIGN_OR_RETURN(entry.evaluation, Judge(evaluator, subject.task, request));
  report.device = entry.evaluation->device;
  report.modelled = entry.evaluation->modelled;
  const bool is_right = Conclude(*entry.evaluation, entry);
  if (entry.status == GateStatus::kWrong && !subject.base_text.empty()) {
    if (!of_base) {
      HONE_ASSIGN_OR_RETURN(const Evaluation judged, Judge(evaluator, subject.task, BaseRequest(subject)));
      of_base = judged.verdict;
    }
    CompareFaults(*of_base, entry);
  }
  if (!is_right || !request.time) return Status::Ok();
  for (const CaseResult& c : entry.evaluation->cases) {
    if (c.role != CaseRole::kTime || !c.speedup) continue;
    entry.cases.push_back({.dims = c.dims, .speedup = *c.speedup});
    if (c.timing.status == "throttled" || c.timing.status == "contended") {
      report.warnings.push_back(
          fmt::format("{}, {}: the device was {} while it was timed", entry.path, DimsText(c.dims), c.timing.status));
    }
  }
  return Status::Ok();
}

// Judges all kernels in their first rounds, several at a time, because compiling takes most of the time.
Status FirstRounds(Evaluator& evaluator, const GateOptions& options,
                   const std::function<void(const std::string&)>& report_progress, std::vector<Subject>& subjects,
                   GateReport& report) {
  std::vector<GateReport> parts(subjects.size());
  std::mutex mutex;
  size_t next = 0;
  Status failure;
  const auto work = [&] {
    while (true) {
      size_t index = 0;
      {
        const std::lock_guard lock(mutex);
        while (next < subjects.size() && !subjects[next].judged()) ++next;
        if (next == subjects.size() || !failure.ok()) return;
        index = next++;
        const GateKernel& entry = subjects[index].entry;
        if (report_progress)
          report_progress(fmt::format("{}: {}", entry.path,
                                      entry.added         ? "new"
                                      : entry.was.empty() ? "changed"
                                                          : "changed, was " + entry.was));
        if (report_progress && !subjects[index].note.empty()) report_progress("note: " + subjects[index].note);
      }
      const Status done = FirstRound(evaluator, options, subjects[index], parts[index]);
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
    if (subjects[i].entry.evaluation) {
      report.device = parts[i].device;
      report.modelled = parts[i].modelled;
    }
    report.warnings.insert(report.warnings.end(), parts[i].warnings.begin(), parts[i].warnings.end());
    report.comparisons += static_cast<int>(subjects[i].entry.cases.size());
  }
  return Status::Ok();
}

// Decides a kernel's cases, with further rounds of those that one round does not decide.
Status DecideSubject(Evaluator& evaluator, const GateRule& rule,
                     const std::function<void(const std::string&)>& report_progress, Subject& subject) {
  GateKernel& entry = subject.entry;
  for (GateCase& c : entry.cases) {
    subject.decisions.emplace_back(rule);
    if (entry.evaluation->modelled) {
      subject.decisions.back().AddModelled(c.speedup.median);
    } else {
      subject.decisions.back().Add(c.speedup);
    }
  }
  while (entry.status == GateStatus::kPassed) {
    EvaluationRequest request;
    size_t at = 0;  // index of `c` among the task's timed cases
    for (const Case& c : subject.task.cases) {
      if (c.role != CaseRole::kTime) continue;
      for (size_t i = 0; i < entry.cases.size(); ++i) {
        if (entry.cases[i].dims == c.dims && subject.decisions[i].decision() == GateDecision::kMore)
          request.only_time_cases.push_back(at);
      }
      ++at;
    }
    if (request.only_time_cases.empty()) break;
    if (report_progress)
      report_progress(
          fmt::format("{}: {} cases look slower, and are timed again", entry.path, request.only_time_cases.size()));
    request.source = subject.head_text;
    request.name = entry.path;
    request.incumbent_source = subject.base_text;
    request.incumbent_name = (entry.was.empty() ? entry.path : entry.was) + " of the base";
    request.warm = false;
    request.correctness_trials = 1;
    HONE_ASSIGN_OR_RETURN(const Evaluation further_evaluation, Judge(evaluator, subject.task, request));
    if (!Conclude(further_evaluation, entry)) break;
    for (size_t i = 0; i < entry.cases.size(); ++i) {
      if (subject.decisions[i].decision() != GateDecision::kMore) continue;
      const auto timed = std::find_if(
          further_evaluation.cases.begin(), further_evaluation.cases.end(),
          [&](const CaseResult& c) { return c.role == CaseRole::kTime && c.dims == entry.cases[i].dims && c.speedup; });
      // A round without a time counts as no hit.
      subject.decisions[i].Add(timed == further_evaluation.cases.end() ? Interval{1, 1, 1} : *timed->speedup);
    }
  }
  for (size_t i = 0; i < entry.cases.size(); ++i) {
    GateCase& c = entry.cases[i];
    c.rounds = subject.decisions[i].rounds();
    c.hits = subject.decisions[i].hits();
    c.slower = subject.decisions[i].decision() == GateDecision::kSlower;
    if (c.slower && entry.status == GateStatus::kPassed) entry.status = GateStatus::kSlower;
  }
  return Status::Ok();
}

// Gives the texts of a kernel without a launch plan one, as `hone eval` does. Where none fits, head's kernel is wrong,
// unless the base's has none either.
void PlanTexts(Subject& subject) {
  GateKernel& entry = subject.entry;
  Result<PlannedKernel> head = PlanPlainKernel(subject.task, subject.head_text, entry.path);
  Status base_fault;
  if (!subject.base_text.empty()) {
    Result<PlannedKernel> base =
        PlanPlainKernel(subject.task, subject.base_text, entry.was.empty() ? entry.path : entry.was);
    base_fault = base.status();
    subject.base_text = base.ok() ? std::move(base->text) : "";
  }
  if (head.ok()) {
    subject.head_text = std::move(head->text);
    subject.note = std::move(head->note);
    if (!base_fault.ok())
      entry.detail =
          fmt::format("the base's kernel cannot be judged, so that nothing was timed: {}", base_fault.message());
    return;
  }
  entry.status = base_fault.ok() ? GateStatus::kWrong : GateStatus::kNotJudged;
  entry.as_base = !base_fault.ok();
  entry.detail = base_fault.ok()
                     ? head.status().message()
                     : fmt::format("neither the base's kernel nor head's can be judged; {}", head.status().message());
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
                           const std::function<void(const std::string&)>& report_progress) {
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
  HONE_ASSIGN_OR_RETURN(std::vector<KernelPair> kernel_pairs, FindChangedKernels(trees, tasks, options.kernels));
  report.unjudged = FindUnjudgedFiles(trees, options.kernels);

  std::vector<Subject> subjects;
  for (KernelPair& kernel : kernel_pairs) {
    Subject subject;
    subject.entry.path = kernel.path;
    subject.entry.was = kernel.was;
    subject.entry.task = LastPart(kernel.task_folder);
    subject.entry.added = !kernel.before;
    subject.entry.changed = kernel.before != kernel.after;
    subject.base_text = kernel.before.value_or("");
    subject.head_text = kernel.after.value_or("");
    const bool of_base = kernel.base_folder != kNoTask;
    if (!kernel.after) {
      subject.entry.status = GateStatus::kRemoved;
      subject.entry.detail = "head has no such kernel";
    } else if (Result<Task> task = of_base ? LoadTaskFrom(*trees.base, kernel.base_folder)
                                           : LoadTaskFrom(*trees.head, kernel.task_folder);
               task.ok()) {
      subject.task = std::move(*task);
      subject.entry.task = subject.task.name;
      if (subject.entry.changed) PlanTexts(subject);
    } else {
      // If the base's task cannot be read, the kernel cannot be judged. If head adds a task that cannot be read, head
      // is wrong.
      subject.entry.status = of_base ? GateStatus::kNotJudged : GateStatus::kWrong;
      subject.entry.detail = fmt::format("the task cannot be read: {}", task.status().message());
    }
    subjects.push_back(std::move(subject));
  }

  HONE_RETURN_IF_ERROR(FirstRounds(evaluator, options, report_progress, subjects, report));
  report.rule = MakeGateRule(options.slower, options.rate, std::max(1, report.comparisons));
  for (Subject& subject : subjects) {
    if (subject.entry.status == GateStatus::kPassed)
      HONE_RETURN_IF_ERROR(DecideSubject(evaluator, report.rule, report_progress, subject));
    report.kernels.push_back(std::move(subject.entry));
  }
  report.seconds = watch.Seconds();
  return report;
}

}  // namespace hone
