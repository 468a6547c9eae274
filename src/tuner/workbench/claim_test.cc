// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests pack a claim of a recorded run, read it again, damage it, and compare it with other machines' verdicts.
#include "tuner/workbench/claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/run/log/open_run.h"

namespace hone {
namespace {

using ::testing::HasSubstr;

Claim RecordedClaim() {
  Result<OpenedRun> run = OpenRun("", HONE_SOURCE_DIR "/examples/runs/h200/refine-transpose.jsonl");
  EXPECT_TRUE(run.ok()) << run.status().message();
  Result<Claim> claim = ClaimOfRun(*run->store, run->view);
  EXPECT_TRUE(claim.ok()) << claim.status().message();
  claim->version = "1.2.3";
  return std::move(*claim);
}

TEST(Claim, ARunsWinnerIsPackedWhole) {
  const Claim claim = RecordedClaim();
  EXPECT_EQ(claim.evaluation.verdict, Verdict::kOk);
  EXPECT_THAT(claim.run, HasSubstr("\"hone-run\""));
  const Result<Claim> decoded = DecodeClaim(EncodeClaim(claim), "transpose.claim.json");
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  EXPECT_EQ(decoded->task.toml, claim.task.toml);
  EXPECT_EQ(decoded->task.oracle_source, claim.task.oracle_source);
  EXPECT_EQ(decoded->request.source, claim.request.source);
  EXPECT_EQ(decoded->request.binding, claim.request.binding);
  EXPECT_EQ(decoded->run, claim.run);
  EXPECT_EQ(decoded->version, "1.2.3");
  EXPECT_EQ(decoded->evaluation.device, claim.evaluation.device);
  ASSERT_EQ(decoded->evaluation.cases.size(), claim.evaluation.cases.size());
}

TEST(Claim, WhatIsNoClaimIsRefusedByName) {
  const std::string text = EncodeClaim(RecordedClaim());
  const auto refusal = [](std::string_view changed) { return DecodeClaim(changed, "x.json").status().message(); };
  std::string damaged = text;
  const size_t at = damaged.find("\"median\": ");
  ASSERT_NE(at, std::string::npos);
  damaged[at + 10] = damaged[at + 10] == '1' ? '2' : '1';
  EXPECT_THAT(refusal(damaged), HasSubstr("x.json is damaged, or was changed after it was packed"));
  EXPECT_THAT(refusal("{\"format\": 7}"), HasSubstr("x.json is no packed claim"));
  EXPECT_THAT(refusal("nonsense"), HasSubstr("x.json is no packed claim"));
  EXPECT_THAT(refusal("{\"format\": \"hone-claim\", \"version\": 99}"), HasSubstr("later version"));
  EXPECT_THAT(refusal("{\"format\": \"hone-claim\", \"version\": 1}"), HasSubstr("damaged"));
}

TEST(Claim, HoldsWhereItIsAsFastOnTheSameKindOfDevice) {
  const Claim claim = RecordedClaim();
  EXPECT_EQ(DeviceKind("cuda:1 NVIDIA H200"), "NVIDIA H200");
  const auto held = [&](auto&& change) {
    Evaluation here = claim.evaluation;
    change(here);
    return HoldAgainst(claim, std::move(here));
  };
  const auto scaled = [](double factor) {
    return [factor](Evaluation& e) {
      for (CaseResult& c : e.cases) {
        if (c.speedup) c.speedup = Interval{c.speedup->median * factor, c.speedup->low * factor, c.speedup->high * factor};
      }
    };
  };
  EXPECT_EQ(held([](Evaluation& e) { e.device = "cuda:3 " + DeviceKind(e.device); }).outcome, "confirmed");
  EXPECT_EQ(held(scaled(1.2)).outcome, "confirmed") << "faster than claimed is no broken promise";
  EXPECT_EQ(held(scaled(1.2)).cases[0].outcome, "faster");
  const ClaimReport slower = held(scaled(0.8));
  EXPECT_EQ(slower.outcome, "refuted");
  EXPECT_EQ(slower.cases[0].outcome, "slower");
  EXPECT_THAT(ClaimText(claim, slower), HasSubstr("slower"));
  EXPECT_EQ(ClaimJson(claim, slower)["cases"][0]["outcome"], "slower");

  const ClaimReport elsewhere = held([&](Evaluation& e) {
    e.device = "cuda:0 NVIDIA H20";
    scaled(0.5)(e);
  });
  EXPECT_EQ(elsewhere.outcome, "not_comparable");
  EXPECT_THAT(elsewhere.reason, HasSubstr("the verdict is the same, ok; the times are of"));
  EXPECT_EQ(held([](Evaluation& e) { e.modelled = !e.modelled; }).outcome, "not_comparable");
  EXPECT_EQ(held([](Evaluation& e) { e.cases.clear(); }).outcome, "not_comparable") << "nothing was timed";
}

TEST(Claim, AnotherVerdictRefutesUnlessThisMachineCannotJudge) {
  const Claim claim = RecordedClaim();
  Evaluation here = claim.evaluation;
  here.verdict = Verdict::kWrongOutput;
  here.detail = "out differs";
  const ClaimReport wrong = HoldAgainst(claim, here);
  EXPECT_EQ(wrong.outcome, "refuted");
  EXPECT_THAT(wrong.reason, HasSubstr("the claim says ok, and this machine wrong_output: out differs"));
  here.verdict = Verdict::kUnsupported;
  EXPECT_EQ(HoldAgainst(claim, here).outcome, "not_comparable");
}

TEST(Claim, AFilesVerdictIsOfThatFile) {
  const Claim claim = RecordedClaim();
  const std::string json = EvaluationToJson(claim.evaluation);
  EXPECT_TRUE(ClaimOfFile(claim.task, claim.request.source, "mine.cu", json).ok());
  EXPECT_THAT(ClaimOfFile(claim.task, claim.request.source + " ", "mine.cu", json).status().message(),
              HasSubstr("the evaluation is of another source than mine.cu"));
  Task other = claim.task;
  other.name = "relu";
  EXPECT_THAT(ClaimOfFile(other, claim.request.source, "mine.cu", json).status().message(), HasSubstr("of the task"));
  Evaluation against = claim.evaluation;
  against.baseline = claim.task.name + "/seed.cu";  // as `hone eval` names the task's seed
  EXPECT_TRUE(ClaimOfFile(claim.task, claim.request.source, "mine.cu", EvaluationToJson(against)).ok());
  against.baseline = "theirs.cu";
  EXPECT_THAT(ClaimOfFile(claim.task, claim.request.source, "mine.cu", EvaluationToJson(against)).status().message(),
              HasSubstr("timed against theirs.cu"));
}

}  // namespace
}  // namespace hone
