// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests how the judge joins the findings of launches of many shapes: one for each line, which says what shape its
// figures are of, and those of timed shapes instead of those of small check cases.
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

// Returns the findings of a launch with this many rows.
using FindingsOf = std::function<std::vector<Finding>(int64_t rows)>;

class FindingSession : public FakeSession {
 public:
  FindingSession(const FakeDevice& device, FindingsOf found) : FakeSession(device), found_(std::move(found)) {}
  Result<LaunchOutcome> Launch(LoadedProgram& program, const LaunchRequest& request) override {
    HONE_ASSIGN_OR_RETURN(LaunchOutcome outcome, FakeSession::Launch(program, request));
    if (!request.trusted) outcome.findings = found_(request.bindings->tensors.at("x").shape[0]);
    return outcome;
  }

 private:
  FindingsOf found_;
};

Evaluation Judged(bool time, FindingsOf found) {
  JudgeBench bench;
  bench.task.hand_worked_cases.clear();  // the evaluation does not list hand-worked cases
  bench.options.time = time;
  bench.make_session = [found = std::move(found)](const FakeDevice& device) {
    return std::make_unique<FindingSession>(device, found);
  };
  const Evaluation evaluation = bench.Run();
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
  return evaluation;
}

Finding Scattered(int64_t rows, const std::string& location = "candidate.cu:7") {
  return {"uncoalesced", std::to_string(rows) + " sectors a warp", location};
}

constexpr int64_t kTimedRows = 96;

TEST(Findings, OfOneLineAreOneThatNamesItsShapeAndCountsTheOthers) {
  std::set<Dims> checked;
  const Evaluation evaluation = Judged(false, [](int64_t rows) { return std::vector<Finding>{Scattered(rows)}; });
  for (const CaseResult& c : evaluation.cases) checked.insert(c.dims);
  ASSERT_EQ(evaluation.findings.size(), 1u);
  const Finding& finding = evaluation.findings[0];
  EXPECT_EQ(finding.message, std::to_string(finding.dims.at("rows")) + " sectors a warp")
      << "the figures are of the shape";
  EXPECT_FALSE(finding.timed);
  EXPECT_GE(checked.size(), 4u);
  EXPECT_EQ(finding.shapes, static_cast<int64_t>(checked.size()));
}

TEST(Findings, OfTimedShapesReplaceThoseOfCheckCases) {
  const Evaluation evaluation = Judged(true, [](int64_t rows) { return std::vector<Finding>{Scattered(rows)}; });
  ASSERT_EQ(evaluation.findings.size(), 1u);
  EXPECT_EQ(evaluation.findings[0].message, "96 sectors a warp");
  EXPECT_EQ(evaluation.findings[0].dims, (Dims{{"rows", kTimedRows}, {"cols", 16}}));
  EXPECT_TRUE(evaluation.findings[0].timed);
  EXPECT_EQ(evaluation.findings[0].shapes, 1);
}

// The line scatters at small shapes only; at the timed shape it needs no more sectors than necessary.
TEST(Findings, AdviceThatATimedShapeContradictsIsNotReported) {
  const FindingsOf found = [](int64_t rows) {
    std::vector<Finding> all{{"shared_write_twice", "no advice", "candidate.cu:9"}};
    if (rows != kTimedRows) all.push_back(Scattered(rows));
    return all;
  };
  const Evaluation timed = Judged(true, found);
  ASSERT_EQ(timed.findings.size(), 1u);
  EXPECT_EQ(timed.findings[0].kind, "shared_write_twice");
  EXPECT_EQ(Judged(false, found).findings.size(), 2u) << "without a timed launch nothing contradicts it";
}

TEST(Findings, OfOtherLinesAndKindsStayApart) {
  const Evaluation evaluation = Judged(true, [](int64_t rows) {
    return std::vector<Finding>{
        Scattered(rows), Scattered(rows, "candidate.cu:8"), {"bank_conflict", "2 passes a warp", "candidate.cu:7"}};
  });
  EXPECT_EQ(evaluation.findings.size(), 3u);
}

}  // namespace
}  // namespace hone
