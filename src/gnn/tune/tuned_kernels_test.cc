// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/tune/tuned_kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/json_text.h"

namespace hone::gnn {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TuningPlace Place() {
  return {.model = "gcn",
          .model_hash = "abc",
          .graph = "g",
          .graph_nodes = 100,
          .fanouts = {5, 3},
          .batch = 64,
          .gpu = "NVIDIA H200"};
}

TEST(PairedRatio, IsTheGeometricMeanWithStudentsInterval) {
  // Logarithms 0.1 and 0.3: mean 0.2, standard error 0.1, t of one degree of freedom 12.706.
  const std::vector<double> mine = {std::exp(0.1), 2 * std::exp(0.3)}, theirs = {1, 2};
  const PairedRatio ratio = RatioOfPairs(mine, theirs);
  EXPECT_NEAR(ratio.ratio, std::exp(0.2), 1e-9);
  EXPECT_NEAR(std::log(ratio.lower), 0.2 - 1.27062, 1e-4);
  EXPECT_NEAR(std::log(ratio.upper), 0.2 + 1.27062, 1e-4);
  // Ten pairs: t is 2.2622.
  std::vector<double> ten, ones(10, 1.0);
  for (int i = 0; i < 10; ++i) ten.push_back(std::exp(i % 2 == 0 ? 0.01 : 0.03));
  const double half = 2.2622 * 0.01 * std::sqrt(10.0 / 9.0) / std::sqrt(10.0);
  EXPECT_NEAR(std::log(RatioOfPairs(ten, ones).lower), 0.02 - half, 1e-5);
}

TEST(TunedKernels, SaysWhyTheyAreNotForARun) {
  EXPECT_EQ(WhyNotHere(Place(), Place()), "");
  TuningPlace any = Place();
  any.gpu = "";
  EXPECT_EQ(WhyNotHere(any, Place()), "");
  const auto why = [](auto change) {
    TuningPlace run = Place();
    change(run);
    return WhyNotHere(Place(), run);
  };
  EXPECT_THAT(why([](TuningPlace& p) { p.gpu = "NVIDIA H100"; }),
              HasSubstr("the GPU NVIDIA H200, and this run has NVIDIA H100"));
  EXPECT_THAT(why([](TuningPlace& p) { p.model_hash = "d"; }), HasSubstr("another model of the name 'gcn'"));
  EXPECT_THAT(why([](TuningPlace& p) { p.model_hash = p.model = "d"; }),
              HasSubstr("model 'gcn', and this run has 'd'"));
  EXPECT_THAT(why([](TuningPlace& p) { p.fp32 = true; }), HasSubstr("precision bf16, and this run has fp32"));
  EXPECT_THAT(why([](TuningPlace& p) { p.fanouts = {5}; }), HasSubstr("fanouts 5,3, and this run has 5"));
  EXPECT_THAT(why([](TuningPlace& p) { p.batch = 32; }), HasSubstr("batches of 64, and this run has 32"));
  EXPECT_THAT(why([](TuningPlace& p) { p.graph_nodes = 9; }), HasSubstr("100 nodes (g), and this run has 9 nodes"));
}

TEST(TunedKernels, AreReadAsTheyWereWritten) {
  TemporaryDirectory scratch = std::move(MakeTemporaryDirectory()).value();
  TunedKernels tuned{.place = Place(), .speedup = {1.05, 1.04, 1.06}, .epochs = 20};
  tuned.choices.aggregates["a1"] = {.forward = SumChoice{8, 4, 64}};
  const std::string path = scratch / "gcn.tuned.json";
  ASSERT_TRUE(WriteFileAtomically(path, TunedText(tuned)).ok());
  const Result<TunedKernels> kernels_or_error = ReadTunedKernels(path);
  ASSERT_TRUE(kernels_or_error.ok()) << kernels_or_error.status().message();
  EXPECT_EQ(WhyNotHere(kernels_or_error->place, Place()), "");
  EXPECT_EQ(kernels_or_error->speedup.lower, 1.04);
  EXPECT_EQ(kernels_or_error->choices.aggregates.at("a1").forward, (SumChoice{8, 4, 64}));
  EXPECT_FALSE(kernels_or_error->choices.aggregates.at("a1").backward.has_value());

  tuned.choices.aggregates["a1"].backward = SumChoice{5, 4, 64};
  ASSERT_TRUE(WriteFileAtomically(path, TunedText(tuned)).ok());
  EXPECT_THAT(ReadTunedKernels(path).status().message(), HasSubstr("no such kernel for value 'a1'"));
  ASSERT_TRUE(WriteFileAtomically(path, "{\"hone_tuned\": 1, \"for\": {\"model\": 3}}").ok());
  EXPECT_THAT(ReadTunedKernels(path).status().message(), HasSubstr("tuned.for.model: expected a string"));
  ASSERT_TRUE(WriteFileAtomically(path, "{}").ok());
  EXPECT_THAT(ReadTunedKernels(path).status().message(), HasSubstr("is no file of tuned kernels"));
}

class WinnersOfAFolder : public testing::Test {
 protected:
  void SetUp() override {
    const TaskDims shape = {{"num_dst", 64}, {"dim", 32}}, other = {{"num_dst", 9}, {"dim", 32}};
    const std::vector<ModelTask> tasks = {
        {.name = "aggregate_mean", .places = {{"a1", "", shape, shape}, {"a2", "", other, other}}},
        {.name = "aggregate_mean_backward", .places = {{"a1", "", shape, shape}}},
        {.name = "linear", .places = {{"h1", "", shape, shape}}}};
    ASSERT_TRUE(WriteTasks(folder_, tasks, "", TasksText(Place(), tasks)).ok());
    winner_ = {
        {"hone_winner", 1},
        {"task", "aggregate_mean"},
        {"candidate_sha256", "e"},
        {"verdict", "ok"},
        {"device", {{"name", "NVIDIA H200"}, {"modelled", false}}},
        {"shapes",
         json::array(
             {{{"dims", {{"num_dst", 64}, {"dim", 32}}}, {"binding", {{"LANES", 8}, {"AHEAD", 4}, {"BLOCK", 128}}}},
              {{"dims", {{"num_dst", 9}, {"dim", 32}}}, {"binding", {{"LANES", 8}, {"AHEAD", 4}, {"BLOCK", 64}}}}})}};
  }
  // Writes a winner file and reads all winners of the folder.
  Winners Read(const std::string& task, const json& winner) {
    EXPECT_TRUE(WriteFileAtomically(folder_ + "/" + task + "/winner.json", DumpJson(winner)).ok());
    const Result<TaskFolder> tasks = ReadTaskFolder(folder_);
    EXPECT_TRUE(tasks.ok()) << tasks.status().message();
    Result<Winners> winners =
        ReadWinners(folder_, *tasks, {{"aggregate_mean", "e"}, {"aggregate_mean_backward", "b"}}, "NVIDIA H200");
    EXPECT_TRUE(winners.ok()) << winners.status().message();
    return winners.ok() ? *winners : Winners{};
  }

  TemporaryDirectory scratch_ = std::move(MakeTemporaryDirectory()).value();
  const std::string folder_ = scratch_ / "tasks";
  json winner_;
};

TEST_F(WinnersOfAFolder, BecomeChoicesByValue) {
  json backward = winner_;
  backward["task"] = "aggregate_mean_backward";
  backward["candidate_sha256"] = "b";
  Read("aggregate_mean_backward", backward);
  const Winners winners = Read("aggregate_mean", winner_);
  EXPECT_THAT(winners.notes, IsEmpty());
  // The engine's own kernel won for a2.
  ASSERT_EQ(winners.choices.aggregates.size(), 1u);
  EXPECT_EQ(winners.choices.aggregates.at("a1").forward, (SumChoice{8, 4, 128}));
  EXPECT_EQ(winners.choices.aggregates.at("a1").backward, (SumChoice{8, 4, 128}));
  EXPECT_THAT(winners.used, ElementsAre("'a1', forward: 8 lanes a row, 4 ahead, 128 threads a block",
                                        "'a1', backward: 8 lanes a row, 4 ahead, 128 threads a block"));
}

TEST_F(WinnersOfAFolder, ThatDoNotFitAreNotUsedAndNamed) {
  const auto note = [&](auto change, const std::string& task = "aggregate_mean") {
    json winner = winner_;
    change(winner);
    const Winners winners = Read(task, winner);
    EXPECT_TRUE(winners.choices.aggregates.empty());
    return winners.notes.empty() ? std::string("no note") : winners.notes.front();
  };
  EXPECT_THAT(note([](json& w) { w["device"]["name"] = "NVIDIA H100"; }),
              HasSubstr("timed on NVIDIA H100, and this GPU is NVIDIA H200"));
  EXPECT_THAT(note([](json& w) { w["device"]["modelled"] = true; }), HasSubstr("its times are modelled"));
  EXPECT_THAT(note([](json& w) { w["verdict"] = "wrong_output"; }), HasSubstr("verdict is wrong_output"));
  EXPECT_THAT(note([](json& w) { w["candidate_sha256"] = "x"; }), HasSubstr("is not this program's engine.cu"));
  EXPECT_THAT(note([](json& w) { w["task"] = "linear"; }), HasSubstr("it is of task 'linear'"));
  EXPECT_THAT(note([](json& w) { w["hone_winner"] = 9; }), HasSubstr("no winner file of this version"));
  EXPECT_THAT(note([](json& w) { w["shapes"][0]["binding"]["LANES"] = 4; }), HasSubstr("no kernel of 4 lanes a row"));
  EXPECT_THAT(note([](json& w) { w["shapes"][0]["dims"]["dim"] = 40; }),
              HasSubstr("no winner for the shape of value 'a1'"));
  std::filesystem::remove(folder_ + "/aggregate_mean/winner.json");
  EXPECT_THAT(note([](json& w) { w["task"] = "linear"; }, "linear"), HasSubstr("the engine has one kernel for linear"));
}

TEST(TaskFolder, MustBeOne) {
  TemporaryDirectory scratch = std::move(MakeTemporaryDirectory()).value();
  EXPECT_THAT(ReadTaskFolder(scratch / "none").status().message(),
              HasSubstr("name a folder that `hone-gnn tune-model"));
  ASSERT_TRUE(WriteFileAtomically(scratch / "tasks.json", "{\"hone_tasks\": 1}").ok());
  EXPECT_THAT(ReadTaskFolder(scratch.path()).status().message(), HasSubstr("tasks.for: is missing"));
}

}  // namespace
}  // namespace hone::gnn
