// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge/plausible.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/units.h"
#include "tuner/core/plan/dims_text.h"
#include "tuner/core/task/tensor_roles.h"
#include "tuner/evaluate/judge/judge_policy.h"

namespace hone {
namespace {

constexpr size_t kInputsTold = 3;        // most inputs in the message
constexpr double kShareTold = 1.0 / 20;  // least size of an input in the message, of the largest input's

// Returns the other explanation of a time that is too short: the task counts bytes that a right kernel leaves out, such
// as rows under a mask. Names the largest inputs that the task counts.
std::string CountedTooMuch(const Task& task, const Dims& dims) {
  std::vector<std::string> uncounted;
  if (!task.bytes) {
    for (const UnknownTraffic& unknown : FindUnknownTraffic(task)) uncounted.push_back(unknown.tensor);
  }
  std::vector<std::pair<double, std::string>> inputs;
  for (const TensorSpec& tensor : task.tensors) {
    if (tensor.role == TensorRole::kOut || std::count(uncounted.begin(), uncounted.end(), tensor.name) > 0) continue;
    const Result<TensorShape> shape = ResolveShape(tensor, dims);
    if (shape.ok())
      inputs.emplace_back(static_cast<double>(shape->elements) * static_cast<double>(DTypeBytes(tensor.dtype)),
                          tensor.name);
  }
  std::stable_sort(inputs.begin(), inputs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string largest_inputs;
  for (size_t i = 0; i < inputs.size() && i < kInputsTold && inputs[i].first >= kShareTold * inputs[0].first; ++i)
    largest_inputs +=
        fmt::format("{}{}: {:.3g} MB", i == 0 ? " (inputs " : ", ", inputs[i].second, inputs[i].first * 1e-6);
  if (!largest_inputs.empty()) largest_inputs += ")";
  return task.bytes ? fmt::format("[work] bytes of task.toml counts bytes that need not be read{}: count fewer there",
                                  largest_inputs)
                    : fmt::format(
                          "the task counts bytes that need not be read{}: say under [work] bytes of task.toml "
                          "how many must be",
                          largest_inputs);
}

}  // namespace

// Written bytes count only beyond the size of L2, because that much may still be in L2 when the timed interval ends.
Result<Gate> RefuseImpossibleTime(Judgement& judgement, const Dims& dims, CaseResult& result) {
  const DeviceFacts& facts = judgement.facts();
  if (facts.memory_bandwidth <= 0) return Gate::kPassed;
  HONE_ASSIGN_OR_RETURN(const Traffic traffic, CompulsoryTraffic(judgement.task, dims));
  const double must_move =
      traffic.read_bytes + std::max(0.0, traffic.written_bytes - static_cast<double>(facts.l2_bytes));
  result.refuse_below_us = MicrosecondsToMove(must_move, facts.memory_bandwidth);
  if (result.time_us->median >= *result.refuse_below_us) return Gate::kPassed;
  return judgement.Stop(
      Verdict::kRuleViolation,
      fmt::format("{}: a {} time of {:.2f} us is impossible; reading the inputs alone takes {:.2f} us at the "
                  "datasheet bandwidth: {}, or {}",
                  DimsText(dims), facts.modelled ? "modelled" : "cold", result.time_us->median, *result.refuse_below_us,
                  facts.modelled ? "the blocks that give the time do less than their share"
                                 : "the timed launches do less than the checked ones",
                  CountedTooMuch(judgement.task, dims)));
}

double HonestPeak(const Task& task, const DeviceFacts& facts) {
  double loosest = 0;
  for (const TensorSpec& tensor : task.tensors) {
    const auto tolerance = task.tolerance.find(tensor.name);
    if (IsOutput(tensor) && IsFloating(tensor.dtype) && tolerance != task.tolerance.end()) loosest = std::max(loosest, tolerance->second.c_rms);
  }
  if (loosest < policy::kReducedPrecision) return facts.fp32_flops;
  // Tensor cores of compute capability 8.9 and later multiply two factors of 8 bits at twice the rate.
  const auto narrow = std::count_if(task.tensors.begin(), task.tensors.end(), [](const TensorSpec& tensor) {
    return tensor.role == TensorRole::kIn &&
           (tensor.dtype == DType::kFloat8E4M3 || tensor.dtype == DType::kFloat8E5M2);
  });
  const bool twice = narrow >= 2 && facts.cc_major * 10 + facts.cc_minor >= 89;
  return std::max(facts.fp32_flops, facts.tensor_bf16_flops * (twice ? 2 : 1));
}

bool BeyondPeak(Judgement& judgement, const Dims& dims, const CaseResult& result) {
  const Result<double> flops = Flops(judgement.task, dims);
  const double peak = HonestPeak(judgement.task, judgement.facts());
  if (!flops.ok() || *flops <= 0 || peak <= 0 || !result.time_us || result.time_us->median <= 0) return false;
  const double rate = *flops / (result.time_us->median * 1e-6);
  if (rate <= peak) return false;
  judgement.AddDoubt({.kind = "beyond_peak",
                      .message = fmt::format("{}: {:.3g} operations a second are more than the {:.3g} of the precision "
                                             "that the task's c_rms allows; every output was checked again",
                                             DimsText(dims), rate, peak),
                      .location = "",
                      .dims = dims,
                      .timed = true,
                      .shapes = 1});
  return true;
}

bool MayVary(const Task& task, const Candidate& candidate) {
  if (task.workload == WorkloadClass::kElementwise || task.workload == WorkloadClass::kOther) return false;
  for (const char* word : {"atomic", "red.", "cp.reduce"}) {
    if (candidate.source.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace hone
