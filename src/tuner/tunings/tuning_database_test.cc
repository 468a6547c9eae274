// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/tunings/tuning_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <vector>

#include "base/files/file.h"
#include "tuner/store/database.h"
#include "tuner/tunings/tuning_analysis.h"
#include "tuner/tunings/tuning_text.h"

namespace hone {
namespace {

using testing::HasSubstr;

class TuningDatabaseTest : public testing::Test {
 protected:
  TemporaryDirectory folder_ = MakeTemporaryDirectory().value();
  std::string Path(const char* name = "tunings.sqlite") const { return folder_.path() + "/" + name; }
  std::unique_ptr<TuningDatabase> Open(const char* name = "tunings.sqlite") { return TuningDatabase::Open(Path(name)).value(); }
};

TuningEntry MakeEntry(const std::string& candidate = "kernel") {
  return {.task = "copy",
          .task_text = "task",
          .candidate = candidate,
          .candidate_name = candidate + ".cu",
          .incumbent = "seed",
          .incumbent_name = "the task's seed",
          .device = "NVIDIA H200",
          .driver = "580.1",
          .sm_count = 132,
          .modelled = false,
          .judge = "gates 2"};
}

const Dims kSmall = {{"n", 16}}, kLarge = {{"n", 4096}};

// A point with speedups at the two shapes; each interval reaches `spread` to both sides, as a share.
MeasuredPoint MakePoint(const std::string& sitting, double time, int64_t block, double small, double large,
                        double spread = 0.01) {
  MeasuredPoint point{.sitting = sitting, .time = time, .trials = 1, .quads = 0, .binding = {{"BLOCK", block}}, .evaluation = {}};
  point.evaluation.verdict = Verdict::kOk;
  point.evaluation.gates = 2;
  for (const auto& [dims, speedup] : {std::pair(kSmall, small), std::pair(kLarge, large)}) {
    CaseResult result;
    result.dims = dims;
    result.time_us = Interval{10 / speedup, 10 / speedup, 10 / speedup};
    result.speedup = Interval{speedup, speedup * (1 - spread), speedup * (1 + spread)};
    point.evaluation.cases.push_back(result);
  }
  return point;
}

TEST_F(TuningDatabaseTest, GivesBackWhatWasPut) {
  {
    const auto database = Open();
    ASSERT_TRUE(database->Add(MakeEntry(), MakePoint("a", 100, 128, 1.0, 1.5)).ok());
    ASSERT_TRUE(database->Add(MakeEntry(), MakePoint("a", 101, 256, 1.2, 1.4)).ok());
  }
  const auto database = TuningDatabase::Open(Path(), true).value();
  const std::vector<TuningRow> rows = database->Entries().value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].id, MakeEntry().Id());
  EXPECT_EQ(rows[0].points, 2);
  EXPECT_EQ(rows[0].right, 2);
  EXPECT_EQ(rows[0].sittings, 1);
  EXPECT_EQ(rows[0].newest, 101);
  EXPECT_EQ(rows[0].entry.Id(), MakeEntry().Id());  // all that is compared came back
  const std::vector<MeasuredPoint> points = database->Points(rows[0].id).value();
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[1].binding, (Binding{{"BLOCK", 256}}));
  EXPECT_DOUBLE_EQ(points[1].evaluation.cases.at(0).speedup->median, 1.2);
}

TEST_F(TuningDatabaseTest, WhatIsNotComparableIsAnotherEntry) {
  std::vector<TuningEntry> entries(9, MakeEntry());
  entries[1].candidate += " ";
  entries[2].incumbent += " ";
  entries[3].task_text += " ";
  entries[4].driver = "590.1";
  entries[5].sm_count = 66;
  entries[6].judge = "gates 3";
  entries[7].modelled = true;
  entries[8].device = "NVIDIA H100";
  std::set<std::string> ids;
  for (const TuningEntry& entry : entries) ids.insert(entry.Id());
  EXPECT_EQ(ids.size(), entries.size());
  TuningEntry renamed = MakeEntry();
  renamed.candidate_name = "elsewhere/kernel.cu";  // the same text under another name is the same
  EXPECT_EQ(renamed.Id(), MakeEntry().Id());
}

TEST_F(TuningDatabaseTest, KnowsTheNewestThatWasMeasuredThoroughlyEnough) {
  std::vector<MeasuredPoint> points = {MakePoint("a", 1, 128, 1.0, 1.0), MakePoint("b", 2, 128, 2.0, 2.0),
                                       MakePoint("a", 1, 256, 1.0, 1.0), MakePoint("a", 1, 512, 1.0, 1.0)};
  points[2].quads = 20;
  points[3].evaluation.verdict = Verdict::kTimedOut;  // another time it may end in time
  EXPECT_EQ(KnownPoints(points, 1, 10).size(), 2u);
  EXPECT_EQ(KnownPoints(points, 1, 40).size(), 1u);  // 20 quads are too few
  EXPECT_EQ(KnownPoints(points, 1, 0).size(), 1u);
  EXPECT_EQ(KnownPoints(points, 2, 0).size(), 0u);
  EXPECT_DOUBLE_EQ(KnownPoints(points, 1, 0).at("BLOCK=128").cases[0].speedup->median, 2.0);
}

TEST_F(TuningDatabaseTest, FindsByIdPartOfItAndTask) {
  const auto database = Open();
  EXPECT_THAT(database->Find("copy").status().message(), HasSubstr("hone tune"));
  ASSERT_TRUE(database->Add(MakeEntry("one"), MakePoint("a", 1, 128, 1, 1)).ok());
  EXPECT_EQ(database->Find("copy").value().id, MakeEntry("one").Id());
  ASSERT_TRUE(database->Add(MakeEntry("two"), MakePoint("a", 1, 128, 1, 1)).ok());
  EXPECT_EQ(database->Find(MakeEntry("two").Id().substr(0, 6)).value().entry.candidate, "two");
  const Status both = database->Find("copy").status();
  EXPECT_EQ(both.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(both.message(), HasSubstr(MakeEntry("one").Id()));
  const Status none = database->Find("nothing").status();
  EXPECT_EQ(none.code(), StatusCode::kNotFound);
  EXPECT_THAT(none.message(), HasSubstr(MakeEntry("two").Id()));
}

TEST_F(TuningDatabaseTest, MergesTwoMachinesOnceAndBothWays) {
  const auto here = Open("here.sqlite"), there = Open("there.sqlite");
  ASSERT_TRUE(here->Add(MakeEntry(), MakePoint("here", 1, 128, 1, 1)).ok());
  ASSERT_TRUE(there->Add(MakeEntry(), MakePoint("there", 2, 128, 1.1, 1)).ok());
  ASSERT_TRUE(there->Add(MakeEntry("other"), MakePoint("there", 3, 128, 1, 1)).ok());
  TuningDatabase::Merged merged = here->Merge(*there).value();
  EXPECT_EQ(merged.entries, 1);
  EXPECT_EQ(merged.points, 2);
  merged = here->Merge(*there).value();
  EXPECT_EQ(merged.entries + merged.points, 0);
  EXPECT_EQ(here->Points(MakeEntry().Id())->size(), 2u);
  EXPECT_EQ(there->Points(MakeEntry().Id())->size(), 1u);
}

TEST_F(TuningDatabaseTest, PrunesWhatIsNamedAndNothingElse) {
  const auto database = Open();
  ASSERT_TRUE(database->Add(MakeEntry("old"), MakePoint("a", 100, 128, 1, 1)).ok());
  MeasuredPoint lenient = MakePoint("a", 300, 128, 1, 1);
  lenient.evaluation.gates = 1;
  ASSERT_TRUE(database->Add(MakeEntry("lenient"), lenient).ok());
  ASSERT_TRUE(database->Add(MakeEntry("new"), MakePoint("a", 400, 128, 1, 1)).ok());
  EXPECT_EQ(database->Prune({.before = 200}, /*only_look=*/true)->size(), 1u);
  EXPECT_EQ(database->Entries()->size(), 3u);  // only looked
  EXPECT_EQ(database->Prune({.before = 200}, /*only_look=*/false)->at(0).entry.candidate, "old");
  EXPECT_EQ(database->Prune({.gates_below = 2}, /*only_look=*/false)->at(0).entry.candidate, "lenient");
  EXPECT_EQ(database->Prune({.task = "another"}, /*only_look=*/false)->size(), 0u);
  ASSERT_EQ(database->Entries()->size(), 1u);
  EXPECT_EQ(database->Entries()->at(0).entry.candidate, "new");
}

TEST_F(TuningDatabaseTest, RefusesOtherFilesAndLeavesThemAlone) {
  ASSERT_TRUE(WriteFileAtomically(Path("notes.txt"), "these are notes, more than one page of them, and no database\n").ok());
  EXPECT_THAT(TuningDatabase::Open(Path("notes.txt")).status().message(), HasSubstr("notes.txt"));
  {
    const auto other = Database::Open(Path("other.sqlite"), 1).value();
    ASSERT_TRUE(other->Execute("CREATE TABLE mine (x INTEGER); PRAGMA user_version = 0").ok());
  }
  EXPECT_THAT(TuningDatabase::Open(Path("other.sqlite")).status().message(), HasSubstr("no tuning database"));
  { Open(); }
  {
    const auto raw = Database::Open(Path(), 1).value();
    ASSERT_TRUE(raw->Execute("PRAGMA user_version = 99").ok());
  }
  EXPECT_THAT(TuningDatabase::Open(Path()).status().message(), HasSubstr("newer"));
}

TEST_F(TuningDatabaseTest, ADamagedPointIsNamedWithTheRemedy) {
  {
    const auto database = Open();
    ASSERT_TRUE(database->Add(MakeEntry(), MakePoint("a", 1, 128, 1, 1)).ok());
  }
  {
    const auto raw = Database::Open(Path(), 1).value();
    ASSERT_TRUE(raw->Execute("UPDATE points SET evaluation = '{'").ok());
  }
  const Status status = Open()->Points(MakeEntry().Id()).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("hone db prune"));
}

TEST_F(TuningDatabaseTest, SeveralThatMakeOneFileAtOnceAllOpenIt) {
  for (int round = 0; round < 40; ++round) {
    const std::string path = Path(("round" + std::to_string(round)).c_str());
    std::vector<Status> opened(6, Status::Ok());
    {
      std::barrier all_opened(static_cast<ptrdiff_t>(opened.size()));
      std::vector<std::jthread> threads;
      for (Status& status : opened) {
        threads.emplace_back([&] {
          all_opened.arrive_and_wait();
          status = TuningDatabase::Open(path).status();
        });
      }
    }
    for (const Status& status : opened) EXPECT_TRUE(status.ok()) << status.message();
  }
}

TEST_F(TuningDatabaseTest, SeveralWritersLoseNothing) {
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      const auto database = Open();
      for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(database->Add(MakeEntry(), MakePoint("sitting" + std::to_string(t), i, 32 + i, 1, 1)).ok());
      }
    });
  }
  threads.clear();
  const TuningRow row = Open()->Find("copy").value();
  EXPECT_EQ(row.points, 10);
  EXPECT_EQ(row.sittings, 4);
  EXPECT_EQ(Open()->Points(row.id)->size(), 40u);
}

RowPoints MeasuredRow(const TuningEntry& entry, std::vector<MeasuredPoint> points) {
  TuningRow row;
  row.entry = entry;
  row.id = entry.Id();
  return {std::move(row), std::move(points)};
}

TEST(Explanation, ChoosesAsTheSweepDoesAndCountsSittingsThatAgree) {
  // 256 is best in the mean, 128 surely best at the small shape; the first sitting knew 128 to be best at both.
  const RowPoints entry =
      MeasuredRow(MakeEntry(), {MakePoint("first", 1, 128, 1.5, 1.4), MakePoint("first", 2, 256, 1.0, 1.2),
                                MakePoint("second", 3, 128, 1.5, 1.0), MakePoint("second", 4, 256, 1.2, 2.0)});
  const Explanation explanation = ExplainEntry(entry, {});
  ASSERT_EQ(explanation.points.size(), 2u);
  ASSERT_EQ(explanation.shapes.size(), 2u);
  EXPECT_EQ(explanation.points[*explanation.choice.best].binding.at("BLOCK"), 256);
  EXPECT_EQ(explanation.points[explanation.shapes[0].chosen].binding.at("BLOCK"), 128);
  EXPECT_EQ(explanation.points[explanation.shapes[1].chosen].binding.at("BLOCK"), 256);
  EXPECT_EQ(explanation.shapes[0].sittings, 2);
  EXPECT_EQ(explanation.shapes[0].agreeing, 2);
  EXPECT_EQ(explanation.shapes[1].agreeing, 1);
  EXPECT_EQ(explanation.shapes[0].regret, 0);
  // The speedups are so far apart that no second sitting would choose otherwise.
  EXPECT_EQ(explanation.flip_rate_on_the_whole, 0);
}

TEST(Explanation, AlmostEqualBindingsFlipAndDistinctOnesDoNot) {
  // Medians and spreads are equal, so two sittings choose different bindings in about half of all cases.
  const Explanation equal = ExplainEntry(
      MeasuredRow(MakeEntry(), {MakePoint("a", 1, 128, 1.5, 1.5, 0.05), MakePoint("a", 1, 256, 1.5, 1.5, 0.05)}), {},
      2000);
  EXPECT_GT(equal.flip_rate_on_the_whole, 0.40);
  EXPECT_LT(equal.flip_rate_on_the_whole, 0.56);
  const Explanation apart = ExplainEntry(
      MeasuredRow(MakeEntry(), {MakePoint("a", 1, 128, 1.5, 1.5, 0.01), MakePoint("a", 1, 256, 1.8, 1.8, 0.01)}), {},
      2000);
  EXPECT_EQ(apart.flip_rate_on_the_whole, 0);
  // Modelled times have no spread.
  const Explanation modelled = ExplainEntry(
      MeasuredRow(MakeEntry(), {MakePoint("a", 1, 128, 1.5, 1.5, 0), MakePoint("a", 1, 256, 1.5, 1.5, 0)}), {}, 100);
  EXPECT_EQ(modelled.flip_rate_on_the_whole, 0);
}

TEST(Explanation, RegretIsOverTheBestComparableEntry) {
  const RowPoints entry = MeasuredRow(MakeEntry(), {MakePoint("a", 1, 128, 1.5, 1.0)});
  const RowPoints better = MeasuredRow(MakeEntry("better"), {MakePoint("a", 1, 64, 1.8, 0.9)});
  TuningEntry elsewhere = MakeEntry("elsewhere");
  elsewhere.device = "NVIDIA H100";
  const RowPoints not_comparable = MeasuredRow(elsewhere, {MakePoint("a", 1, 64, 9, 9)});
  const Explanation explanation = ExplainEntry(entry, {better, not_comparable});
  EXPECT_NEAR(explanation.shapes[0].regret, 0.2, 1e-12);
  EXPECT_EQ(explanation.shapes[0].best.candidate_name, "better.cu");
  EXPECT_EQ(explanation.shapes[1].regret, 0);
  const std::string text = ExplanationText(entry.row, explanation);
  EXPECT_THAT(text, HasSubstr("20.0 %"));
  EXPECT_THAT(text, HasSubstr("better.cu"));
  EXPECT_NEAR(ExplanationJson(entry.row, explanation)["shapes"][0]["regret"].get<double>(), 0.2, 1e-12);
}

TEST(Explanation, NothingRightIsNothingChosen) {
  MeasuredPoint wrong = MakePoint("a", 1, 128, 1, 1);
  wrong.evaluation.verdict = Verdict::kWrongOutput;
  const RowPoints entry = MeasuredRow(MakeEntry(), {wrong});
  const Explanation explanation = ExplainEntry(entry, {});
  EXPECT_FALSE(explanation.choice.best);
  EXPECT_THAT(ExplanationText(entry.row, explanation), HasSubstr("No binding is right"));
}

}  // namespace
}  // namespace hone
