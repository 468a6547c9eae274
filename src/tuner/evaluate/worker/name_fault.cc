// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/worker/name_fault.h"

#include <string_view>
#include <utility>

namespace hone {
namespace {

constexpr std::string_view kIllegalAddress = "CUDA_ERROR_ILLEGAL_ADDRESS";  // in the driver's message

}  // namespace

bool EndedByAccess(const Evaluation& evaluation) {
  return evaluation.verdict == Verdict::kCrashed && evaluation.detail.find(kIllegalAddress) != std::string::npos;
}

Result<Evaluation> NameFault(Evaluation ended, const JudgeAgain& judge_again) {
  HONE_ASSIGN_OR_RETURN(Evaluation writable, judge_again(FaultSearch::kInputsWritable));
  if (writable.verdict == Verdict::kRuleViolation) return writable;  // its detail says what the candidate did
  if (writable.verdict != Verdict::kCrashed) {
    ended.verdict = Verdict::kRuleViolation;
    ended.detail = "wrote to an input, with what it held or to put it back later; inputs are mapped for reading only: " + ended.detail;
    return ended;
  }
  HONE_ASSIGN_OR_RETURN(Evaluation with_neighbors, judge_again(FaultSearch::kNeighborsMapped));
  if (with_neighbors.verdict == Verdict::kRuleViolation) return with_neighbors;
  if (with_neighbors.verdict != Verdict::kCrashed) {
    ended.detail = "read beside a tensor that it was given, where nothing is mapped: " + ended.detail;
  }
  return ended;
}

}  // namespace hone
