// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the checker by itself: slices keep their own numbers, they are checked in groups if memory is short, and no
// reference values are left behind.
#include "tuner/evaluate/correctness/oracle_checker.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "tests/judge/judge_fixture.h"

namespace hone {
namespace {

const Dims kDims{{"rows", 40}, {"cols", 6}};

// A fake device that remembers where the reference values were.
class WatchedSession : public FakeSession {
 public:
  using FakeSession::FakeSession;
  Result<Comparison> Compare(const TensorView& output, uint64_t reference, const Tolerance& tolerance) override {
    references.emplace_back(reference, output.elements);
    return FakeSession::Compare(output, reference, tolerance);
  }
  std::vector<std::pair<uint64_t, int64_t>> references;  // address and number of elements of each reference that was
                                                         // compared with
};

// Draws a case of the scale task and writes its right output, as a candidate would have.
class OracleCheckerTest : public testing::Test {
 protected:
  void Make(int64_t memory_bytes) {
    task_ = std::move(ParseTask(kScaleTask, "task.toml")).value();
    FakeDevice device;
    device.kernels["oracle"] = {.run = ScaleOracle};
    device.facts.memory_bytes = memory_bytes;
    session_ = std::make_unique<WatchedSession>(std::move(device));
    compiled_.candidate =
        std::move(ParseCandidate(PlanText("oracle", R"("x", "w", "ref:out")"), "oracle.cu", task_, true)).value();
    program_ = std::move(session_->Load(compiled_).value().program);
    buffers_ = std::move(CaseBuffers::Make(*session_, task_, kDims, {}, 1, true, 5)).value();
    ASSERT_TRUE(buffers_->DrawInputs(0, inputs_).ok());
    for (int64_t row = 0; row < 40; ++row) {
      for (int64_t col = 0; col < 6; ++col) Out()[row * 6 + col] = X()[row * 6 + col] * W()[col];
    }
    checker_ = std::make_unique<OracleChecker>(*session_, task_, OracleSource{.candidate = &compiled_.candidate, .program = program_.get(), .host = nullptr});
  }
  float* At(const std::string& tensor) { return reinterpret_cast<float*>(buffers_->set(0).tensors.at(tensor).address); }
  float* X() { return At("x"); }
  float* W() { return At("w"); }
  float* Out() { return At("out"); }

  Task task_;
  InputSet inputs_{.key = 77};
  CompiledProgram compiled_;
  std::unique_ptr<WatchedSession> session_;
  std::unique_ptr<LoadedProgram> program_;
  std::unique_ptr<CaseBuffers> buffers_;
  std::unique_ptr<OracleChecker> checker_;
};

TEST(AllowedRms, GrowsForFewElementsAndNeverPastTheBoundOfEach) {
  Tolerance tolerance;
  tolerance.c_rms = 7e-4;
  tolerance.c_max = 1.5e-3;
  EXPECT_DOUBLE_EQ(AllowedRms(tolerance, 1), 1.5e-3);
  EXPECT_NEAR(AllowedRms(tolerance, 5), 7e-4 * std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(AllowedRms(tolerance, 100), 7e-4, 0.03 * 7e-4);
  EXPECT_NEAR(AllowedRms(tolerance, 1'000'000), 7e-4, 1e-8);
  tolerance.c_max = 0;  // exact results are required
  tolerance.c_rms = 0;
  EXPECT_EQ(AllowedRms(tolerance, 1), 0);
}

// Each launch's few outputs are imprecise within the limit for so few. One launch does not show that, several do.
TEST_F(OracleCheckerTest, FewElementsAreJudgedTogetherOverLaunches) {
  Make(64 << 20);
  Tolerance& tolerance = task_.tolerance.at("out");
  tolerance.c_rms = 1e-4;
  tolerance.c_max = 1e-2;
  const auto launches_passed = [&](double error) {
    checker_ = std::make_unique<OracleChecker>(*session_, task_, OracleSource{.candidate = &compiled_.candidate, .program = program_.get(), .host = nullptr});
    for (int64_t col = 0; col < 6; ++col) Out()[col] = static_cast<float>(X()[col] * W()[col] * (1 + error));
    int passed = 0;
    while (passed < 40 &&
           !checker_->CheckSlices(*buffers_, /*index=*/0, inputs_, {0}, /*require_rms=*/true).value().mismatch)
      ++passed;
    return passed;
  };
  EXPECT_EQ(launches_passed(0.9e-4), 40);
  EXPECT_EQ(launches_passed(1.2e-4), 1) << "sqrt(1 + 5 / 6) = 1.35 for six elements, sqrt(1 + 5 / 12) = 1.19 for twelve";
  EXPECT_EQ(launches_passed(1.4e-4), 0);
  // The launches of candidate and incumbent are counted separately.
  EXPECT_EQ(launches_passed(1.05e-4), 8);  // sqrt(1 + 5 / 54) is below 1.05
  checker_->JudgeIncumbent(true);
  EXPECT_FALSE(checker_->CheckSlices(*buffers_, /*index=*/0, inputs_, {0}, /*require_rms=*/true).value().mismatch);
}

TEST_F(OracleCheckerTest, AWrongSliceIsNamedByItsNumberInTheCase) {
  Make(64 << 20);
  Out()[17 * 6 + 2] += 1;
  const CheckOutcome whole = checker_->CheckAll(*buffers_, /*index=*/0, inputs_, /*require_rms=*/true).value();
  ASSERT_TRUE(whole.mismatch);
  EXPECT_EQ(whole.mismatch->index, (std::vector<int64_t>{17, 2}));
  EXPECT_EQ(whole.mismatch->total_elements, 240);
  const CheckOutcome some =
      checker_->CheckSlices(*buffers_, /*index=*/0, inputs_, {5, 17, 30}, /*require_rms=*/true).value();
  ASSERT_TRUE(some.mismatch);
  EXPECT_EQ(some.mismatch->index, (std::vector<int64_t>{17, 2}));
  EXPECT_EQ(some.mismatch->total_elements, 18);
  EXPECT_NE(some.detail.find("first at [17, 2]"), std::string::npos) << some.detail;
  EXPECT_FALSE(checker_->CheckSlices(*buffers_, /*index=*/0, inputs_, {16, 18}, /*require_rms=*/true).value().mismatch);
}

// 240 reference values take 1,920 bytes. Half the free memory holds only some of them, so the slices are checked in
// groups.
TEST_F(OracleCheckerTest, WhereMemoryIsShortEverySliceIsStillChecked) {
  Make(5120);
  ASSERT_FALSE(checker_->CheckAll(*buffers_, /*index=*/0, inputs_, /*require_rms=*/true).value().mismatch);
  EXPECT_GT(session_->references.size(), 1u) << "there was memory enough for one group";
  int64_t elements = 0;
  for (const auto& [address, count] : session_->references) elements += count;
  EXPECT_EQ(elements, 240);
  for (int64_t row = 0; row < 40; ++row) {
    float& wrong = Out()[row * 6 + row % 6];
    const float right = wrong;
    wrong += 1;
    const CheckOutcome outcome = checker_->CheckAll(*buffers_, /*index=*/0, inputs_, /*require_rms=*/true).value();
    ASSERT_TRUE(outcome.mismatch) << "row " << row;
    EXPECT_EQ(outcome.mismatch->index, (std::vector<int64_t>{row, row % 6}));
    wrong = right;
  }
}

// A candidate may look at memory that was freed before it ran, where the values that it must write would lie.
TEST_F(OracleCheckerTest, ReferencesAreWipedBeforeTheirMemoryIsFreed) {
  Make(64 << 20);
  ASSERT_FALSE(checker_->CheckAll(*buffers_, /*index=*/0, inputs_, /*require_rms=*/true).value().mismatch);
  ASSERT_EQ(session_->references.size(), 1u);
  const auto& [address, elements] = session_->references[0];
  const auto* bytes = reinterpret_cast<const unsigned char*>(address);  // the fake device keeps freed memory for a
                                                                        // while
  EXPECT_TRUE(std::all_of(bytes, bytes + 8 * elements, [](unsigned char b) { return b == 0xee; }));
}

// All results are 0 and one is off by 1e-13. In float32 that is nothing beside inputs of size 3, though infinitely much
// beside 0.
TEST_F(OracleCheckerTest, AnErrorIsHeldAgainstTheSizeOfTheInputsWhereResultsVanish) {
  Make(64 << 20);
  std::fill_n(X(), 240, 0.0f);
  std::fill_n(Out(), 240, 0.0f);
  Out()[9] = 1e-13f;
  EXPECT_FALSE(checker_->CheckAll(*buffers_, /*index=*/0, inputs_, /*require_rms=*/false).value().mismatch);
  Out()[9] = 1e-11f;
  EXPECT_TRUE(checker_->CheckAll(*buffers_, /*index=*/0, inputs_, /*require_rms=*/false).value().mismatch);
}

TEST_F(OracleCheckerTest, APlantedElementIsFoundAndTakenOutAgain) {
  Make(64 << 20);
  const std::vector<float> before(Out(), Out() + 240);
  EXPECT_TRUE(checker_->PlantAndFind(*buffers_, 0, inputs_, 3).ok());
  EXPECT_TRUE(std::equal(before.begin(), before.end(), Out()));
}

}  // namespace
}  // namespace hone
