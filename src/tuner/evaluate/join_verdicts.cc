// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/join_verdicts.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "tuner/core/evaluation/finding_text.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/evaluate/case_buffers.h"

namespace hone {
namespace {

constexpr char kLabel[] = "not_simulated";
// Limits of a case that is cheap to simulate: about a tenth of a second, at some 1e7 accesses per second on one core.
constexpr double kMostFlops = 2e6;
constexpr int64_t kMostBytes = 256 << 10;

// Returns whether some output has elements for these dimensions.
bool WritesAnything(const Task& task, const Dims& dims) {
  return std::any_of(task.tensors.begin(), task.tensors.end(), [&](const TensorSpec& tensor) {
    if (!IsOutput(tensor)) return false;
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    return shape.ok() && shape->elements > 0;
  });
}

// Returns the bytes that a case moves; nullopt where the case is too large to simulate.
std::optional<int64_t> CheapBytes(const Task& task, const Dims& dims) {
  const Result<int64_t> bytes = CaseBuffers::SetBytes(task, dims);
  const Result<double> flops = Flops(task, dims);
  if (!bytes.ok() || *bytes > kMostBytes || !flops.ok() || *flops > kMostFlops) return std::nullopt;
  return *bytes;
}

// Returns whether the verdict is about the use of memory, which refuses a candidate whichever device found it.
bool IsAboutMemory(Verdict verdict) { return verdict == Verdict::kCrashed || verdict == Verdict::kRuleViolation; }

// Returns `measured` with another verdict, and so without times.
Evaluation Refuse(Evaluation measured, Verdict verdict, std::string detail) {
  measured.verdict = verdict;
  measured.detail = std::move(detail);
  measured.mismatch.reset();
  measured.profile.reset();
  measured.geomean_speedup.reset();
  std::erase_if(measured.cases, [](const CaseResult& c) { return c.role == CaseRole::kTime; });
  return measured;
}

}  // namespace

Task SmallCases(const Task& task) {
  Task small_task = task;
  small_task.cases.clear();
  std::vector<std::pair<int64_t, Case>> cheap;
  for (const Case& c : task.cases) {
    if (c.role != CaseRole::kCheck || !WritesAnything(task, c.dims)) continue;
    if (const std::optional<int64_t> bytes = CheapBytes(task, c.dims)) cheap.emplace_back(*bytes, c);
  }
  std::stable_sort(cheap.begin(), cheap.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  if (!cheap.empty()) small_task.cases.push_back(cheap.front().second);
  if (cheap.size() > 1) small_task.cases.push_back(cheap.back().second);
  // Timed cases are not run on the simulated GPU; they stay because they say which other shapes are fair.
  std::copy_if(task.cases.begin(), task.cases.end(), std::back_inserter(small_task.cases),
               [&](const Case& c) { return c.role == CaseRole::kTime && !cheap.empty(); });
  for (HiddenGroup& group : small_task.hidden) group.count = 1;
  // No case is drawn from a group of ranges whose upper ends are too expensive to simulate. The ranges stay, because
  // they say which other shapes are fair.
  for (HiddenGroup& group : small_task.hidden) {
    Dims largest_dims;
    for (const HiddenRange& range : group.ranges) largest_dims[range.dim] = range.high;
    if (!CheapBytes(task, largest_dims)) group.count = 0;
  }
  return small_task;
}

Evaluation WithoutSimulation(Evaluation measured, const std::string& why) {
  measured.labels.push_back(kLabel);
  measured.findings.push_back(
      {.kind = kLabel, .message = "the small cases did not run on the simulated GPU too: " + why, .location = ""});
  return measured;
}

bool RefusedBeforeAGpu(const Evaluation& simulated) {
  return IsAboutMemory(simulated.verdict) || simulated.verdict == Verdict::kParseError;
}

Evaluation JoinEarlierVerdict(Evaluation measured, const Evaluation& simulated) {
  if (measured.verdict != Verdict::kOk) return measured;
  std::erase(measured.labels, kLabel);
  std::erase_if(measured.findings, [](const Finding& finding) { return finding.kind == kLabel; });
  return JoinVerdicts(std::move(measured), simulated);
}

Evaluation JoinVerdicts(Evaluation measured, const Result<Evaluation>& simulated) {
  if (!simulated.ok()) return WithoutSimulation(std::move(measured), simulated.status().message());
  measured.stages.insert(measured.stages.end(), simulated->stages.begin(), simulated->stages.end());
  for (size_t i = measured.stages.size() - simulated->stages.size(); i < measured.stages.size(); ++i) {
    measured.stages[i].name = "simulated " + measured.stages[i].name;
    measured.stages[i].holds_device = false;
  }
  const bool condemned = IsAboutMemory(simulated->verdict), wrong = simulated->verdict == Verdict::kWrongOutput;
  if (simulated->verdict != Verdict::kOk && !condemned && !wrong) {
    return WithoutSimulation(std::move(measured),
                             fmt::format("{}{}{}", VerdictName(simulated->verdict),
                                         simulated->detail.empty() ? "" : ": ", simulated->detail));
  }
  // Advice about speed is kept only from the GPU.
  std::vector<Finding> joined;
  if (wrong) {
    joined.push_back(
        {.kind = "simulated_wrong_output", .message = "on the simulated GPU, " + simulated->detail, .location = ""});
  }
  for (const Finding& finding : simulated->findings) {
    if (!IsAdvice(finding.kind) && finding.kind != "untested_alternative") joined.push_back(finding);
  }
  measured.findings.insert(measured.findings.begin(), joined.begin(), joined.end());
  if (!condemned || measured.verdict != Verdict::kOk) return measured;
  return Refuse(std::move(measured), simulated->verdict, "on the simulated GPU, where small cases run too: " + simulated->detail);
}

Evaluation JoinSanitized(Evaluation measured, const Result<Evaluation>& sanitized, const std::string& why_not_simulated) {
  if (!sanitized.ok()) return WithoutSimulation(std::move(measured), why_not_simulated + "; " + sanitized.status().message());
  measured.stages.insert(measured.stages.end(), sanitized->stages.begin(), sanitized->stages.end());
  measured.metrics.insert(sanitized->metrics.begin(), sanitized->metrics.end());
  measured.labels.insert(measured.labels.end(), sanitized->labels.begin(), sanitized->labels.end());
  measured.findings.insert(measured.findings.begin(), sanitized->findings.begin(), sanitized->findings.end());
  if (!IsAboutMemory(sanitized->verdict) || measured.verdict != Verdict::kOk) return measured;
  return Refuse(std::move(measured), sanitized->verdict, "under compute-sanitizer, which watches small cases: " + sanitized->detail);
}

bool NotSimulated(const Evaluation& evaluation) {
  return std::find(evaluation.labels.begin(), evaluation.labels.end(), kLabel) != evaluation.labels.end();
}

Evaluation JoinVast(Evaluation measured, const Evaluation& vast) {
  for (const Stage& stage : vast.stages) {
    if (stage.name == "check_vast") measured.stages.push_back(stage);
  }
  if (vast.metrics.contains("vast_slices")) measured.metrics["vast_slices"] = vast.metrics.at("vast_slices");
  if (vast.verdict != Verdict::kWrongOutput && !IsAboutMemory(vast.verdict)) return measured;
  measured = Refuse(std::move(measured), vast.verdict, "with more than 2^31 elements: " + vast.detail);
  measured.mismatch = vast.mismatch;
  return measured;
}

}  // namespace hone
