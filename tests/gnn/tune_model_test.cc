// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone-gnn tune-model` together with `hone`: the tasks that it writes are judged, tuned and optimised on the
// simulated GPU, and wrong input is refused before anything is written.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "tests/gnn/command.h"

namespace hone::gnn {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// Has every kind of aggregation, attention too, over features and over rows of the batch.
constexpr const char* kModel = R"(name = "all"
values = [
  {name = "a0", op = "aggregate", of = "x", how = "sum", scale = "symmetric"},
  {name = "h0", op = "linear", of = "a0", width = 16},
  {name = "a1", op = "aggregate", of = "h0"},
  {name = "a2", op = "aggregate", of = "a1", how = "max"},
  {name = "a3", op = "aggregate", of = "a2", how = "sum"},
  {name = "a4", op = "aggregate", of = "a3", how = "sum", scale = "symmetric"},
  {name = "s0", op = "linear", of = "x", width = 16, bias = false},
  {name = "s1", op = "attention", of = "a3", width = 8, heads = 2},
  {name = "s", op = "add", of = ["a4", "s0", "s1"]},
  {name = "l", op = "head", of = "s"},
]
)";

class HoneGnnTuneModel : public HoneGnn {
 protected:
  // Writes the model, and tasks of it to `out`. Batches have 16 seeds.
  Outcome Write(const std::string& out, std::vector<std::string> more) {
    const std::string model = scratch_ / "all.toml";
    EXPECT_TRUE(WriteFileAtomically(model, kModel).ok());
    std::vector<std::string> arguments = {"tune-model", model,          "--graph", kGraph,      "--fanout",
                                          "4,3,3,2,2",  "--batch",      "16",      "--batches", "3",
                                          "--out",      scratch_ / out, "--quiet", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
  Outcome RunHone(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HONE_BINARY_DIR "/bin/hone");
    std::vector<std::string> environment = Environment();
    environment.push_back("HONE_CACHE=" HONE_BINARY_DIR "/tests/cache");
    environment.push_back("HONE_STATE=" + (scratch_ / "state"));
    return RunProgram(arguments, environment);
  }
};

TEST_F(HoneGnnTuneModel, EverySeedIsRightInOnePrecisionOrTheOther) {
  const Outcome bf16 = Write("bf16", {}), fp32 = Write("fp32", {"--precision", "fp32"});
  ASSERT_EQ(bf16.status, 0) << bf16.err;
  ASSERT_EQ(fp32.status, 0) << fp32.err;
  const json written[] = {json::parse(bf16.out), json::parse(fp32.out)};
  std::vector<std::string> names;
  for (const json& task : written[0].at("tasks")) names.push_back(task.at("name"));
  EXPECT_THAT(names,
              ElementsAre("gather_features", "aggregate_symmetric_of_features", "linear", "linear_backward_weight",
                          "aggregate_mean", "aggregate_mean_backward", "aggregate_max", "aggregate_max_backward",
                          "aggregate_sum", "aggregate_sum_backward", "aggregate_symmetric",
                          "aggregate_symmetric_backward", "attention", "attention_backward", "attention_rows_backward",
                          "linear_backward_input"));
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string folder = written[i % 2].at("tasks").at(i).at("folder");
    const Outcome judged = RunHone({"eval", folder, folder + "/seed.cu", "--device", "sim", "--no-time", "--json"});
    EXPECT_EQ(judged.status, 0) << folder << "\n" << judged.out << judged.err;
    EXPECT_EQ(json::parse(judged.out).at("verdict"), "ok") << folder;
  }
}

TEST_F(HoneGnnTuneModel, TimedShapesAreThoseOfTheBatches) {
  const Outcome outcome = Write("tasks", {});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json written = json::parse(outcome.out);
  const json &hops = written.at("hops"), &tasks = written.at("tasks");
  ASSERT_EQ(hops.size(), 5u);
  EXPECT_EQ(hops[0].at("destinations"), (json{{"least", 16}, {"median", 16}, {"most", 16}}));
  EXPECT_EQ(hops[0].at("sources"), hops[1].at("destinations"));
  for (const json& task : tasks) {
    if (task.at("name") != "aggregate_mean_backward") continue;
    // a1 is the aggregation before the outermost hop.
    const json& place = task.at("places").at(0);
    EXPECT_EQ(place.at("value"), "a1");
    const json& dims = place.at("median_batch");
    EXPECT_GE(dims.at("num_dst"), hops[3].at("destinations").at("least"));
    EXPECT_LE(dims.at("num_dst"), hops[3].at("destinations").at("most"));
    EXPECT_GE(dims.at("edges"), hops[3].at("edges").at("least"));
    EXPECT_LE(dims.at("edges"), hops[3].at("edges").at("most"));
    EXPECT_EQ(dims.at("fanout"), 2);
    EXPECT_EQ(dims.at("dim"), 16);
    const Result<std::string> readme = ReadFile(std::string(task.at("folder")) + "/README.md");
    ASSERT_TRUE(readme.ok());
    EXPECT_THAT(*readme,
                AllOf(HasSubstr("The gradient of what value 'a1' reads"), HasSubstr("The seed is a plain kernel")));
  }
}

TEST_F(HoneGnnTuneModel, ATaskIsTunedAndOptimised) {
  ASSERT_EQ(Write("tasks", {}).status, 0);
  const std::string task = scratch_ / "tasks/aggregate_mean";
  const std::string winner = task + "/winner.json";
  const Outcome tuned =
      RunHone({"tune", task, task + "/engine.cu", "--device", "sim", "--points", "3", "--out", winner, "--json"});
  EXPECT_EQ(tuned.status, 0) << tuned.out << tuned.err;
  EXPECT_EQ(json::parse(*ReadFile(winner)).at("device").at("modelled"), true);
  const Outcome judged = RunHone({"eval", task, winner, "--device", "sim", "--no-time", "--json"});
  EXPECT_EQ(judged.status, 0) << judged.out << judged.err;
  const Outcome optimised = RunHone({"optimize", scratch_ / "tasks/linear_backward_input", "--model", "builtin",
                                     "--device", "sim", "--attempts", "1", "--json"});
  EXPECT_TRUE(optimised.status == 0 || optimised.status == 1) << optimised.out << optimised.err;
  EXPECT_THAT(optimised.out, HasSubstr("\"attempts\""));
}

TEST_F(HoneGnnTuneModel, WrongInputIsRefusedAndNothingIsWritten) {
  ASSERT_EQ(Write("tasks", {}).status, 0);
  const Outcome again = Write("tasks", {});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, AllOf(HasSubstr("tasks exists"), HasSubstr("--out")));

  const std::string out = scratch_ / "none";
  const Outcome all = Run({"tune-model", "sage", "--graph", kGraph, "--fanout", "all", "--out", out});
  EXPECT_EQ(all.status, 2);
  EXPECT_THAT(all.err, HasSubstr("give one number a hop"));
  const Outcome hops = Run({"tune-model", scratch_ / "all.toml", "--graph", kGraph, "--fanout", "4,3", "--out", out});
  EXPECT_EQ(hops.status, 2);
  EXPECT_THAT(hops.err, HasSubstr("aggregates over 5 hops"));
  const Outcome model = Run({"tune-model", "sago", "--graph", kGraph, "--out", out});
  EXPECT_EQ(model.status, 2);
  EXPECT_THAT(model.err, HasSubstr("sago"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

constexpr const char* kGcn = R"(name = "gcn"
values = [
  {name = "a0", op = "aggregate", of = "x", how = "sum", scale = "symmetric"},
  {name = "h0", op = "linear", of = "a0", width = 24},
  {name = "r0", op = "activate", of = "h0"},
  {name = "d0", op = "drop", of = "r0"},
  {name = "a1", op = "aggregate", of = "d0", how = "sum", scale = "symmetric"},
  {name = "l", op = "head", of = "a1"},
]
)";

// The emulated GPU's times mean nothing, so winners are written by hand, and whether epochs gain is left open.
TEST_F(HoneGnnTuneModel, WinnersGoBackIntoTheEngineAndKeepEveryBit) {
  const auto emulated = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HONE_BINARY_DIR "/tests/hone-gnn-emulated");
    return RunProgram(arguments, {"PATH=/usr/bin:/bin"});
  };
  const std::string model = scratch_ / "gcn.toml", tasks = scratch_ / "tasks", tuned = scratch_ / "gcn.tuned.json";
  const std::string graph = "synthetic:arxiv?nodes=300&seed=3&features=16&classes=5";
  ASSERT_TRUE(WriteFileAtomically(model, kGcn).ok());
  const std::vector<std::string> common = {"tune-model", model,     "--graph", graph,    "--fanout",
                                           "3,2",        "--batch", "64",      "--quiet"};
  const auto tune_model = [&](std::vector<std::string> more) {
    more.insert(more.begin(), common.begin(), common.end());
    return emulated(more);
  };
  const Outcome written = tune_model({"--batches", "3", "--out", tasks});
  ASSERT_EQ(written.status, 0) << written.err;
  const Outcome none = tune_model({"--apply", tasks, "--out", tuned});
  EXPECT_EQ(none.status, 1);
  EXPECT_THAT(none.err, HasSubstr("has no winner that differs from the engine's own kernels; nothing is written"));

  const json index = json::parse(*ReadFile(tasks + "/tasks.json"));
  for (const json& task : index.at("tasks")) {
    const std::string folder = tasks + "/" + std::string(task.at("name"));
    if (!FileExists(folder + "/engine.cu")) continue;
    json shapes = json::array();
    for (const json& place : task.at("places")) {
      shapes.push_back({{"dims", place.at("dims")}, {"binding", {{"LANES", 8}, {"AHEAD", 4}, {"BLOCK", 128}}}});
    }
    const json winner = {{"hone_winner", 1},
                         {"task", task.at("name")},
                         {"candidate_sha256", Sha256Hex(*ReadFile(folder + "/engine.cu"))},
                         {"verdict", "ok"},
                         {"device", {{"name", "emulated"}, {"modelled", false}}},
                         {"shapes", shapes}};
    ASSERT_TRUE(WriteFileAtomically(folder + "/winner.json", winner.dump()).ok());
  }
  const Outcome applied = tune_model({"--apply", tasks, "--epochs", "4", "--json", "--out", tuned});
  ASSERT_FALSE(applied.out.empty()) << applied.err;
  const json report = json::parse(applied.out);
  EXPECT_EQ(report.at("same_bits"), true);
  EXPECT_THAT(report.at("used"), ElementsAre("'a1', forward: 8 lanes a row, 4 ahead, 128 threads a block",
                                             "'a1', backward: 8 lanes a row, 4 ahead, 128 threads a block"));
  EXPECT_EQ(report.at("seconds").at("chosen").size(), 4u);
  const bool gains = report.at("speedup").at("low") > 1.0;
  EXPECT_EQ(applied.status, gains ? 0 : 1);
  EXPECT_EQ(FileExists(tuned), gains);
  const Outcome other = tune_model({"--apply", tasks, "--precision", "fp32"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("precision bf16, and this run has fp32"));

  json file = {{"hone_tuned", 1}, {"for", index.at("for")}};
  file["for"]["gpu"] = "emulated";
  const json choice = {{"lanes", 8}, {"ahead", 4}, {"block", 128}};
  file["aggregates"]["a1"] = {{"forward", choice}, {"backward", choice}};
  ASSERT_TRUE(WriteFileAtomically(tuned, file.dump()).ok());
  const auto train = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train",        graph, "--model", model,          "--device",    "cuda",
                                          "--fanout",     "3,2", "--batch", "64",           "--epochs",    "2",
                                          "--eval-every", "0",   "--quiet", "--checkpoint", scratch_ / out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return emulated(arguments);
  };
  const auto weights = [&](const char* out) { return *ReadFile(scratch_ / (std::string(out) + "/last.safetensors")); };
  const Outcome own = train("own", {}), chosen = train("chosen", {"--tuned", tuned});
  ASSERT_EQ(own.status, 0) << own.err;
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_THAT(chosen.err, testing::Not(HasSubstr("is not used")));
  EXPECT_EQ(weights("own"), weights("chosen"));
  const Outcome wider = train("wider", {"--tuned", tuned, "--precision", "fp32"});
  EXPECT_EQ(wider.status, 0);
  EXPECT_THAT(wider.err,
              HasSubstr("is not used: it was tuned for precision bf16, and this run has fp32; the engine's own"));
}

}  // namespace
}  // namespace hone::gnn
