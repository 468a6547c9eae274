// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/worker/name_fault.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace hone {
namespace {

using testing::HasSubstr;

Evaluation VerdictOf(Verdict verdict, const std::string& detail) {
  Evaluation evaluation;
  evaluation.verdict = verdict;
  evaluation.detail = detail;
  return evaluation;
}

const char kFault[] = "k, grid 1x1x1: CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)";

// Returns NameFault's result if the two further judgements end as `writable` and `beside`.
Evaluation NameFaultOf(const Evaluation& writable, const Evaluation& beside,
                       std::vector<FaultSearch>* asked = nullptr) {
  return NameFault(VerdictOf(Verdict::kCrashed, kFault), [&](FaultSearch search) -> Result<Evaluation> {
           if (asked != nullptr) asked->push_back(search);
           return search == FaultSearch::kInputsWritable ? writable : beside;
         }).value();
}

TEST(NameFault, IsAskedOfIllegalAccessesOnly) {
  EXPECT_TRUE(EndedByAccess(VerdictOf(Verdict::kCrashed, kFault)));
  EXPECT_FALSE(EndedByAccess(VerdictOf(Verdict::kCrashed, "k: CUDA_ERROR_ASSERT (device-side assert)")));
  EXPECT_FALSE(EndedByAccess(VerdictOf(Verdict::kOk, kFault)));
}

TEST(NameFault, AnInputThatCameBackChangedIsNamed) {
  std::vector<FaultSearch> asked;
  const Evaluation named_verdict =
      NameFaultOf(VerdictOf(Verdict::kRuleViolation, "changed its input x for rows=3"), {}, &asked);
  EXPECT_EQ(named_verdict.verdict, Verdict::kRuleViolation);
  EXPECT_THAT(named_verdict.detail, HasSubstr("changed its input x"));
  EXPECT_THAT(asked, testing::ElementsAre(FaultSearch::kInputsWritable));
}

TEST(NameFault, AnInputWrittenAndPutBackIsNoAcceptance) {
  const Evaluation named_verdict = NameFaultOf(VerdictOf(Verdict::kOk, ""), {});
  EXPECT_EQ(named_verdict.verdict, Verdict::kRuleViolation);
  EXPECT_THAT(named_verdict.detail, HasSubstr("wrote to an input"));
  EXPECT_THAT(named_verdict.detail, HasSubstr(kFault));
}

TEST(NameFault, AWriteBesideATensorIsNamed) {
  const Evaluation named_verdict = NameFaultOf(VerdictOf(Verdict::kCrashed, kFault),
                                               VerdictOf(Verdict::kRuleViolation, "wrote outside its buffers"));
  EXPECT_EQ(named_verdict.verdict, Verdict::kRuleViolation);
  EXPECT_THAT(named_verdict.detail, HasSubstr("outside"));
}

TEST(NameFault, AReadBesideATensorIsACrashThatSaysSo) {
  const Evaluation named_verdict = NameFaultOf(VerdictOf(Verdict::kCrashed, kFault), VerdictOf(Verdict::kOk, ""));
  EXPECT_EQ(named_verdict.verdict, Verdict::kCrashed);
  EXPECT_THAT(named_verdict.detail, HasSubstr("read beside a tensor"));
}

TEST(NameFault, AWildAccessStaysWhatItWas) {
  const Evaluation named_verdict =
      NameFaultOf(VerdictOf(Verdict::kCrashed, kFault), VerdictOf(Verdict::kCrashed, kFault));
  EXPECT_EQ(named_verdict.verdict, Verdict::kCrashed);
  EXPECT_EQ(named_verdict.detail, kFault);
}

}  // namespace
}  // namespace hone
