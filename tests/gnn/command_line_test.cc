// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone-gnn train`, `infer` and `bench epoch` as a user types them: results, exit statuses, JSON, and the errors
// for bad input.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "gnn/infer/npy.h"
#include "tests/gnn/command.h"

namespace hone::gnn {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

std::vector<json> Lines(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST_F(HoneGnn, TrainsAndTellsEachEpoch) {
  const Outcome outcome = Train({"--epochs", "3", "--json", "--checkpoint", scratch_ / "run"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const std::vector<json> lines = Lines(outcome.out);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0].at("event"), "start");
  EXPECT_EQ(lines[0].at("nodes"), 1500);
  EXPECT_EQ(lines[0].at("layers"), 2);
  for (int e = 0; e < 3; ++e) {
    const json& epoch = lines[static_cast<size_t>(e) + 1];
    EXPECT_EQ(epoch.at("epoch"), e);
    EXPECT_GT(epoch.at("loss").get<double>(), 0);
    EXPECT_GE(epoch.at("valid_accuracy").get<double>(), 0);
    EXPECT_GT(epoch.at("sampled_edges").get<int64_t>(), 0);
    const json& seconds = epoch.at("seconds");
    EXPECT_EQ(seconds.at("transfer"), 0.0);  // the CPU moves nothing
    for (const char* part : {"wall", "train", "sample", "slice", "compute", "exposed", "evaluate", "cpu"}) {
      EXPECT_GE(seconds.at(part).get<double>(), 0) << part;
    }
    EXPECT_LE(seconds.at("compute").get<double>() + seconds.at("exposed").get<double>(),
              seconds.at("train").get<double>() + 1e-3);
  }
  EXPECT_EQ(lines[4].at("end"), "finished");
  EXPECT_EQ(lines[4].at("checkpoint"), scratch_ / "run/last.safetensors");
  EXPECT_TRUE(FileExists(scratch_ / "run/best.safetensors"));
}

TEST_F(HoneGnn, LearningRatesFollowTheirScheduleOverAStopAndANewRateIsTaken) {
  const std::vector<std::string> schedule = {
      "--schedule", "step",     "--schedule-every", "1",     "--schedule-factor", "0.5", "--warmup",
      "1",          "--metric", "macro-f1",         "--json"};
  const auto train = [&](const std::string& folder, const std::string& epochs) {
    std::vector<std::string> arguments = schedule;
    arguments.insert(arguments.end(), {"--epochs", epochs, "--checkpoint", scratch_ / folder});
    return Train(arguments);
  };
  const auto rates = [](const std::vector<json>& lines) {
    std::vector<double> all;
    for (const json& line : lines) {
      if (line.at("event") == "epoch") all.push_back(line.at("learning_rate").get<double>());
    }
    return all;
  };
  const Outcome whole = train("whole", "4");
  ASSERT_EQ(whole.status, 0) << whole.err;
  const std::vector<json> lines = Lines(whole.out);
  EXPECT_EQ(rates(lines), (std::vector<double>{0.005, 0.01, 0.005, 0.0025}));
  double best = -1;
  for (size_t e = 1; e <= 4; ++e) {
    const double f1 = lines[e].at("valid_macro_f1");
    EXPECT_EQ(lines[e].at("best").get<bool>(), f1 > best);
    EXPECT_TRUE(lines[e].at("valid_auc").is_null()) << "40 classes";
    best = std::max(best, f1);
  }
  EXPECT_EQ(lines[5].at("metric"), "macro-f1");
  EXPECT_EQ(lines[5].at("best_valid"), best);

  ASSERT_EQ(train("parts", "2").status, 0);
  ASSERT_EQ(Run({"train", kGraph, "--resume", scratch_ / "parts", "--epochs", "4"}).status, 0);
  EXPECT_EQ(ReadFile(scratch_ / "parts/last.safetensors").value(),
            ReadFile(scratch_ / "whole/last.safetensors").value());
  const Outcome faster =
      Run({"train", kGraph, "--resume", scratch_ / "parts", "--epochs", "5", "--lr", "0.8", "--json"});
  ASSERT_EQ(faster.status, 0) << faster.err;
  EXPECT_EQ(rates(Lines(faster.out)), std::vector<double>{0.8 * 0.125}) << "the schedule goes on, from the new rate";
}

TEST_F(HoneGnn, AFileMayGiveTheSplit) {
  std::vector<int32_t> parts(1500, -1);
  for (size_t v = 0; v < 300; ++v) parts[v] = v < 200 ? 0 : v < 250 ? 1 : 2;
  const std::string split = scratch_ / "split.npy", run = scratch_ / "run";
  ASSERT_TRUE(WriteNpy(split, parts).ok());
  const Outcome trained = Train({"--epochs", "1", "--split", split, "--checkpoint", run});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr("200 training nodes"));
  const Outcome inferred = Run({"infer", kGraph, run, "--split", split, "--json"});
  ASSERT_EQ(inferred.status, 0) << inferred.err;
  EXPECT_EQ(json::parse(inferred.out).at("nodes"), 50);
  const std::string forgotten = Run({"infer", kGraph, run}).err;
  EXPECT_THAT(forgotten, HasSubstr("with another split: if it was trained with --split, give the same --split"));
  EXPECT_THAT(Run({"train", kGraph, "--resume", run, "--epochs", "2"}).err,
              HasSubstr("with another split: give the --split that it was trained with"));
  EXPECT_EQ(Run({"train", kGraph, "--resume", run, "--epochs", "2", "--split", split}).status, 0);
}

TEST_F(HoneGnn, WhatOnlyAGpuHeedsIsToldOnTheCpu) {
  const Outcome refused = Train({"--epochs", "1", "--device", "cpu", "--features", "host", "--cache-rows", "5"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--features and --cache-rows: used by a GPU alone"));
  // No GPU engine takes this frontier rule, if there is a GPU.
  const Outcome warned = Train({"--epochs", "1", "--frontier", "new", "--exchange", "nccl"});
  ASSERT_EQ(warned.status, 0) << warned.err;
  EXPECT_THAT(warned.err, HasSubstr("warning: --exchange: ignored on the CPU"));
  const Outcome nothing = Train({"--epochs", "1", "--frontier", "new", "--features", "auto"});
  ASSERT_EQ(nothing.status, 0) << nothing.err;
  EXPECT_THAT(nothing.err, testing::Not(HasSubstr("ignored")));
}

// An option that is declared without its group (kOfGpu) would be ignored on the CPU without a word.
TEST_F(HoneGnn, OptionsThatSpeakOfAGpuAreInTheGroupThatTheCpuTellsOf) {
  const std::regex option(R"(\n  (--[a-z-]+)((?:.*)(?:\n    .*)*))"), heading(R"(\n([A-Za-z][^\n]*):\n)");
  for (const std::vector<std::string>& command : {std::vector<std::string>{"train"}, std::vector<std::string>{"infer"},
                                                  std::vector<std::string>{"bench", "epoch"}}) {
    std::vector<std::string> arguments = command;
    arguments.push_back("--help");
    const std::string help = Run(arguments).out;
    int inside = 0;
    for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it) {
      const std::string name = (*it)[1], text = (*it)[2],
                        before = help.substr(0, static_cast<size_t>(it->position()) + 1);
      std::string group;
      for (std::sregex_iterator h(before.begin(), before.end(), heading); h != end; ++h) group = (*h)[1];
      if (group == "Only on a GPU") {
        ++inside;
        continue;
      }
      // These options choose where to compute, and their texts about the CPU are checked.
      if (name == "--device" || name == "--precision" || name == "--gpus") continue;
      EXPECT_THAT(text, testing::Not(HasSubstr("GPU"))) << name << " in group '" << group << "'";
    }
    EXPECT_GE(inside, 3) << help;
  }
}

TEST_F(HoneGnn, RefusesMoreRanksThanAMachineCanRun) {
  const Outcome outcome = Train({"--epochs", "1", "--ranks", "1000000"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--ranks 1000000: at most"));
}

TEST_F(HoneGnn, APresetIsOneOptionAndOthersSayOtherwise) {
  const auto start = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train",        "synthetic:arxiv?nodes=300&features=8",
                                          "--preset",     "salient-gin-papers100M",
                                          "--hidden",     "8",
                                          "--eval-every", "0",
                                          "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out.substr(0, outcome.out.find('\n'))) : json::object();
  };
  const json preset = start({"--fanout", "2,2,2"});
  EXPECT_EQ(preset.at("model"), "gin");
  EXPECT_EQ(preset.at("hidden"), 8);  // the command line overrides the preset
  EXPECT_EQ(preset.at("layers"), 3);
  EXPECT_EQ(preset.at("epochs"), 25);
  EXPECT_EQ(start({"--fanout", "2,2", "--model", "sage", "--epochs", "1"}).at("model"), "sage");
  const Outcome unknown = Run({"train", "synthetic:arxiv?nodes=300", "--preset", "salient"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, testing::HasSubstr("salient-sage-papers100M"));
}

TEST_F(HoneGnn, AllNeighborsAreAskedForInTheSameWayEverywhere) {
  const Outcome words = Run({"bench", "sampler", "synthetic:arxiv?nodes=300", "--batches", "1", "--batch", "32",
                             "--fanout", "all,2", "--json"});
  ASSERT_EQ(words.status, 0) << words.err;
  EXPECT_EQ(json::parse(words.out).at("fanout"), json({-1, 2}));
  EXPECT_EQ(
      Run({"bench", "sampler", "synthetic:arxiv?nodes=300", "--batches", "1", "--batch", "32", "--fanout", "-1,2"})
          .status,
      0);
  const Outcome trained = Run({"train", "synthetic:arxiv?nodes=300", "--fanout", "-1,2", "--eval-fanout", "all,2",
                               "--hidden", "8", "--epochs", "1", "--quiet"});
  EXPECT_EQ(trained.status, 0) << trained.err;
  // `all` stands for all hops, in the validation and in a model's inference.
  const std::string folder = scratch_.path() + "/all";
  const Outcome all = Run({"train", "synthetic:arxiv?nodes=300", "--fanout", "2,2", "--eval-fanout", "all", "--hidden",
                           "8", "--epochs", "1", "--quiet", "--checkpoint", folder});
  EXPECT_EQ(all.status, 0) << all.err;
  EXPECT_EQ(Run({"infer", "synthetic:arxiv?nodes=300", folder, "--fanout", "all", "--nodes", "test"}).status, 0);
}

TEST_F(HoneGnn, PrintsATableForPeople) {
  const Outcome outcome = Train({"--epochs", "2", "--eval-every", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("exposed"));
  EXPECT_THAT(outcome.out, HasSubstr("\n    1 "));
  EXPECT_THAT(outcome.out, HasSubstr("Best validation accuracy"));
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);  // no terminal, no control sequences
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
}

TEST_F(HoneGnn, WritesEmbeddingsExactAndSampledAsArraysAndAsText) {
  ASSERT_EQ(Train({"--epochs", "1", "--checkpoint", scratch_ / "run"}).status, 0);
  const std::string array = scratch_ / "rows.npy", table = scratch_ / "rows.csv";
  const auto infer = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"infer", kGraph, scratch_ / "run", "--json", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.status == 0 ? json::parse(outcome.out) : json();
  };
  const json exact = infer({"--full", "--nodes", "all", "--embeddings", "1", "--output", array});
  EXPECT_EQ(exact.at("embeddings"), json({{"value", "act0"}, {"columns", 16}}));
  EXPECT_EQ(exact.at("model"), "sage");
  EXPECT_TRUE(exact.at("accuracy").at("test").is_null());
  EXPECT_THAT(ReadFile(array)->substr(0, 128), AllOf(HasSubstr("'<f4'"), HasSubstr("'shape': (1500, 16)")));
  // The value has a hop less than the model, and so has its fanout. As text, the rows are those of the array.
  const std::vector<NodeId> some = {7, 3};
  ASSERT_TRUE(WriteNpy(scratch_ / "some.npy", some).ok());
  const std::vector<std::string> sampled = {"--fanout",     "5,5",  "--nodes", scratch_ / "some.npy",
                                            "--embeddings", "act0", "--output"};
  std::vector<std::string> as_array = sampled, as_text = sampled;
  as_array.push_back(array);
  as_text.push_back(table);
  EXPECT_EQ(infer(as_array).at("fanouts"), json({5}));
  infer(as_text);
  const std::string bytes = ReadFile(array).value(), text = ReadFile(table).value();
  float row[16];
  std::memcpy(row, bytes.data() + bytes.size() - 2 * sizeof(row), sizeof(row));
  ASSERT_EQ(text.substr(0, 11), "node,e0,e1,");
  std::istringstream line(text.substr(text.find("\n7,") + 3));
  for (const float value : row) {
    std::string field;
    ASSERT_TRUE(std::getline(line, field, &value == row + 15 ? '\n' : ','));
    EXPECT_EQ(std::stof(field), value);
  }
  // Classes as text; classes of a synthetic graph have no names.
  infer({"--full", "--nodes", scratch_ / "some.npy", "--output", table});
  EXPECT_THAT(ReadFile(table).value(), testing::MatchesRegex("node,class\n7,[0-9]+\n3,[0-9]+\n"));
  const Outcome person = Run({"infer", kGraph, scratch_ / "run", "--full", "--embeddings", "1", "--output", array});
  EXPECT_THAT(person.out, HasSubstr("embeddings: 16 columns, of value 'act0' of model 'sage'"));
}

TEST_F(HoneGnn, InfersFromSamplesAndExactly) {
  ASSERT_EQ(Train({"--epochs", "2", "--checkpoint", scratch_ / "run"}).status, 0);
  const std::string classes = scratch_ / "classes.npy", probabilities = scratch_ / "probabilities.npy";
  const Outcome all =
      Run({"infer", kGraph, scratch_ / "run", "--full", "--nodes", "all", "--output", classes, "--json"});
  ASSERT_EQ(all.status, 0) << all.err;
  const json exact = json::parse(all.out);
  EXPECT_EQ(exact.at("inference"), "exact");
  EXPECT_EQ(exact.at("nodes"), 1500);
  for (const char* split : {"nodes", "train", "valid", "test"}) {
    EXPECT_GE(exact.at("accuracy").at(split).get<double>(), 0) << split;
  }
  EXPECT_EQ(ReadNodeList(classes, 40)->size(), 1500u);  // every entry is one of the 40 classes

  const Outcome sampled = Run({"infer", kGraph, scratch_ / "run", "--fanout", "20,20", "--nodes", "test", "--output",
                               probabilities, "--probabilities", "--json"});
  ASSERT_EQ(sampled.status, 0) << sampled.err;
  const json test = json::parse(sampled.out);
  EXPECT_EQ(test.at("fanouts"), json({20, 20}));
  EXPECT_NEAR(test.at("accuracy").at("test").get<double>(), exact.at("accuracy").at("test").get<double>(), 0.1);
  const std::string bytes = ReadFile(probabilities).value();
  const int64_t nodes = test.at("nodes");
  EXPECT_EQ(bytes.size() % 64, static_cast<size_t>(nodes * 40 * 4) % 64);
  EXPECT_THAT(bytes.substr(0, 128), HasSubstr("'shape': (" + std::to_string(nodes) + ", 40)"));

  // The largest logit of each row is the predicted class.
  const std::string logits = scratch_ / "logits.npy";
  const Outcome raw = Run({"infer", kGraph, scratch_ / "run", "--full", "--nodes", "all", "--output", logits,
                           "--logits", "--confusion", "--json"});
  ASSERT_EQ(raw.status, 0) << raw.err;
  const json counted = json::parse(raw.out);
  EXPECT_EQ(counted.at("accuracy"), exact.at("accuracy"));
  int64_t right = 0, labelled = 0;
  for (size_t label = 0; label < 40; ++label) {
    right += counted.at("confusion").at(label).at(label).get<int64_t>();
    for (const json& count : counted.at("confusion").at(label)) labelled += count.get<int64_t>();
  }
  EXPECT_DOUBLE_EQ(counted.at("accuracy").at("nodes").get<double>(),
                   static_cast<double>(right) / static_cast<double>(labelled));
  EXPECT_GT(counted.at("macro_f1").get<double>(), 0);
  const std::string rows = ReadFile(logits).value().substr(ReadFile(logits).value().size() - 1500 * 40 * 4);
  const std::vector<NodeId> written = ReadNodeList(classes, 40).value();
  for (size_t i = 0; i < 1500; i += 100) {
    float row[40];
    std::memcpy(row, rows.data() + i * sizeof(row), sizeof(row));
    EXPECT_EQ(std::max_element(row, row + 40) - row, written[i]);
  }

  const std::vector<NodeId> some = {7, 3, 7};
  ASSERT_TRUE(WriteNpy(scratch_ / "nodes.npy", some).ok());
  const Outcome listed =
      Run({"infer", kGraph, scratch_ / "run", "--full", "--nodes", scratch_ / "nodes.npy", "--output", classes});
  ASSERT_EQ(listed.status, 0) << listed.err;
  const std::vector<NodeId> of_some = ReadNodeList(classes, 40).value();
  ASSERT_EQ(of_some.size(), 3u);
  EXPECT_EQ(of_some[0], of_some[2]);
}

TEST_F(HoneGnn, TwoRunsDoNotSaveIntoOneFolder) {
  const std::string run = scratch_ / "run";
  ASSERT_EQ(Train({"--epochs", "1", "--checkpoint", run}).status, 0);
  UniqueFd other(open(run.c_str(), O_RDONLY | O_DIRECTORY));
  ASSERT_TRUE(other.valid());
  if (flock(other.get(), LOCK_EX | LOCK_NB) != 0) GTEST_SKIP() << "this file system has no locks";
  const Outcome refused = Run({"train", kGraph, "--resume", run, "--epochs", "2"});
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.err, HasSubstr("another process saves its checkpoints in '" + run));
  other.Reset();
  EXPECT_EQ(Run({"train", kGraph, "--resume", run, "--epochs", "2"}).status, 0);
}

TEST_F(HoneGnn, BeginsWithTheWeightsOfAFile) {
  ASSERT_EQ(Train({"--epochs", "1", "--checkpoint", scratch_ / "run"}).status, 0);
  EXPECT_EQ(Train({"--epochs", "1", "--init", scratch_ / "run/last.safetensors"}).status, 0);
  EXPECT_EQ(Train({"--epochs", "1", "--init", scratch_ / "run"}).status, 0);  // a run's folder stands for its best
                                                                              // checkpoint
  const Outcome other = Train({"--epochs", "1", "--model", "gat", "--init", scratch_ / "run/last.safetensors"});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("has no tensor 'convs.0."));
}

TEST_F(HoneGnn, MeasuresAnEpochAgainstItsBound) {
  const Outcome outcome = Run({"bench", "epoch", kGraph, "--fanout", "4,4", "--hidden", "16", "--batch", "128",
                               "--epochs", "2", "--threads", "2", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  ASSERT_EQ(result.at("epochs").size(), 2u);
  for (const json& epoch : result.at("epochs")) {
    EXPECT_NEAR(epoch.at("wall_over_bound").get<double>(),
                epoch.at("wall").get<double>() / epoch.at("bound").get<double>(), 1e-9);
    EXPECT_GT(epoch.at("cpu").get<double>(), 0);
  }
  EXPECT_GT(result.at("peak_bytes").get<int64_t>(), result.at("graph_bytes").get<int64_t>());
}

TEST_F(HoneGnn, MeasuresTheSamplerBesideAsManyProcessesThatOnlyRead) {
  const Outcome outcome = Run(
      {"bench", "sampler", kGraph, "--fanout", "4,4", "--batch", "128", "--batches", "4", "--threads", "3", "--json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("batches"), 12);
  const auto value = [&result](const char* key) { return result.at(key).get<double>(); };
  EXPECT_GT(value("batches_per_second"), 0);
  EXPECT_GT(value("random_reads_per_second"), 0);
  EXPECT_NEAR(value("scaling"), value("batches_per_second") / value("batches_per_second_of_one_thread"), 1e-9);
  EXPECT_NEAR(value("scaling_of_random_reads"),
              value("random_reads_per_second") / value("random_reads_per_second_of_one_process"), 1e-9);
  EXPECT_NEAR(value("scaling_over_that_of_random_reads"), value("scaling") / value("scaling_of_random_reads"), 1e-9);
}

TEST_F(HoneGnn, TellsWrongUsageAndBadInputApartFromAFailingMachine) {
  ASSERT_EQ(Train({"--epochs", "1", "--checkpoint", scratch_ / "run"}).status, 0);
  const std::string run = scratch_ / "run";
  const std::string cut = scratch_ / "cut.safetensors";
  ASSERT_TRUE(WriteFileAtomically(cut, ReadFile(run + "/last.safetensors")->substr(0, 3000)).ok());
  ASSERT_TRUE(WriteFileAtomically(scratch_ / "file", "not a folder").ok());
  const std::string nodes = scratch_ / "ids.npy";
  ASSERT_TRUE(WriteNpy(nodes, std::vector<int32_t>{1, 2}).ok());
  struct Case {
    std::vector<std::string> arguments;
    int status;
    const char* message;
  };
  const std::string other = "synthetic:arxiv?nodes=1400&seed=1";
  const std::vector<Case> cases = {
      {{"train", kGraph, "--fanout", "5,0"}, 2, "0 is not a fanout"},
      {{"train", kGraph, "--fanout", "5,x"}, 2, "'x' is not a number"},
      {{"train", kGraph, "--fanout", "5,5,5", "--layers", "2"}, 2, "3 hops and the model 2 layers"},
      {{"train", kGraph, "--fanout", "5", "--eval-fanout", "5,5"}, 2, "--eval-fanout"},
      {{"train", kGraph, "--fanout", ""}, 2, "--fanout"},
      {{"train", kGraph, "--resume", ""}, 2, "is empty"},
      {{"train", kGraph, "--layers", "0"}, 2, "--layers"},
      {{"train", kGraph, "--threads", "100000"}, 2, "--threads: Value 100000 not in range"},
      {{"train", kGraph, "--layers", "1000000000"}, 2, "--layers is 1000000000: use 1 to 64"},
      {{"train", kGraph, "--model", "gcn"}, 2, "'gcn' is not known"},
      {{"train", kGraph, "--model", "gin", "--aggregation", "max"}, 2, "only sage has a choice"},
      {{"train", kGraph, "--heads", "2"}, 2, "only gat has heads"},
      {{"train", kGraph, "--frontier", "old"}, 2, "'old'"},
      {{"train", kGraph, "--class-weights", "1,2"}, 2, "40 classes"},
      {{"train", kGraph, "--epochs", "0"}, 2, "hone-gnn: --epochs: '0' is too small; write more than 0"},
      {{"train", kGraph, "--lr", "inf"}, 2, "'inf' is no finite number"},
      {{"train", kGraph, "--seed", "-1"}, 2, "--seed: '-1'"},
      {{"train", kGraph, "--seed", "99999999999999999999"}, 2, "more than 64 bits hold"},
      {{"train", kGraph, "--batch", "1e3"}, 2, "'1e3' is no whole number"},
      {{"train", kGraph, "--batch", "8", "--batch", "9"}, 2, "--batch is given more than once"},
      {{"train", kGraph, "--dropout", "-0.1"}, 2, "--dropout"},  // refused: within the program a value below 0 stands
                                                                 // for the model's own dropout
      {{"train", kGraph, "--plateau-factor", "0.5"}, 2, "requires --plateau"},
      {{"trian", kGraph}, 2, "there is no subcommand 'trian' (did you mean 'train'?); known: convert"},
      {{"train", "no-such-file.graph"}, 2, "'no-such-file.graph': No such file or directory; name a container"},
      {{"train", kGraph, "--fanout", "4", "--checkpoint", scratch_ / "file/below"}, 3, "file/below"},
      {{"train", kGraph, "--fanout", "4", "--checkpoint", run}, 2, "--overwrite"},
      {{"train", other, "--resume", run}, 2, "another graph"},
      {{"train", kGraph, "--resume", cut}, 2, "safetensors"},
      {{"train", kGraph, "--resume", scratch_ / "nowhere"}, 2, "nowhere"},
      {{"train", kGraph, "--init", cut, "--fanout", "4"}, 2, "safetensors"},
      {{"infer", other, run}, 2, "--other-graph"},
      {{"infer", kGraph, run, "--output", scratch_ / "mistyped/classes.npy"}, 2, "there is no folder"},
      {{"infer", "synthetic:products?nodes=500&seed=1", run, "--other-graph"}, 2, "classes"},
      {{"infer", kGraph, run, "--fanout", "5,5,5"}, 2, "3 hops and the model 2 layers"},
      {{"infer", kGraph, run, "--full", "--fanout", "5,5"}, 2, "leave --fanout out"},
      {{"infer", kGraph, run, "--full", "--seed", "5"}, 2, "--seed is of samples"},
      {{"infer", kGraph, run, "--full", "--batch", "5"}, 2, "--batch is of samples"},
      {{"infer", kGraph, run, "--chunk-mib", "5"}, 2, "--chunk-mib is of exact inference: say --full"},
      {{"infer", kGraph, run, "--nodes", "some"}, 2, "'some'"},
      {{"infer", kGraph, run, "--nodes", scratch_ / "absent.npy"}, 2, "absent.npy"},
      {{"infer", kGraph, run, "--output", scratch_ / "file/x.npy"}, 3, "file"},
      {{"infer", kGraph, scratch_ / "absent"}, 2, "name the folder that `hone-gnn train --checkpoint` wrote"},
      {{"infer", kGraph, run, "--output", scratch_.path()}, 2, "is a folder"},
      {{"infer", kGraph, run, "--output", scratch_ / "classes.txt"}, 2, "classes.npy'"},
      {{"infer", kGraph, run, "--fanout", "5"}, 2, "has 1 hop and"},
      {{"train", kGraph, "--resume", scratch_ / "mistyped"},
       2,
       "name the folder that `hone-gnn train --checkpoint` wrote"},
      {{"convert", scratch_ / "mistyped", "x.hgraph"}, 2, "name an OGB folder"},
      {{"convert", kGraph, "x.hgraph", "--split", "0.5,0.5"}, 2, "write three fractions"},
      {{"infer", kGraph, run, "--output", run + "/last.safetensors"}, 2, "is no .npy file"},
      {{"infer", kGraph, run, "--output", nodes, "--nodes", nodes}, 2, "the file of --nodes"},
      {{"infer", kGraph, run, "--model", "gat"}, 2, "--model gat"},
      {{"infer", kGraph, run, "--layers", "3"}, 2, "--layers 3"},
      {{"infer", kGraph, run, "--probabilities"}, 2, "--output"},
      {{"infer", kGraph, run, "--logits"}, 2, "--logits: say with --output"},
      {{"infer", kGraph, run, "--embeddings", "1"}, 2, "--embeddings: say with --output"},
      {{"infer", kGraph, run, "--embeddings", "1", "--logits", "--output", "x.npy"}, 2, "excludes"},
      {{"infer", kGraph, run, "--embeddings", "1", "--confusion", "--output", "x.npy"}, 2, "excludes"},
      {{"infer", kGraph, run, "--embeddings", "2", "--output", run + ".npy"}, 2, "gives the logits"},
      {{"infer", kGraph, run, "--logits", "--probabilities", "--output", "x.npy"}, 2, "excludes"},
      {{"train", kGraph, "--metric", "f1"},
       2,
       "the metric is 'f1'; use auto; for one class a node: accuracy, macro-f1 or auc; "},
      {{"train", kGraph, "--metric", "auc", "--device", "cpu"}, 2, "--metric auc is of two classes"},
      {{"train", kGraph, "--schedule", "linear"},
       2,
       "the schedule is 'linear'; use constant, cosine, step or validation"},
      {{"train", kGraph, "--schedule", "step", "--plateau"}, 2, "--plateau and --schedule step both"},
      {{"train", kGraph, "--schedule", "step", "--schedule-every", "0"}, 2, "--schedule-every is 0"},
      {{"train", kGraph, "--schedule-factor", "0.5"}, 2, "requires --schedule"},
      {{"train", kGraph, "--schedule", "validation", "--eval-every", "0"},
       2,
       "--schedule validation needs validations"},
      {{"infer", kGraph, run, "--scratch", scratch_.path()}, 2, "--full"},
  };
  for (const Case& c : cases) {
    const Outcome outcome = Run(c.arguments);
    EXPECT_EQ(outcome.status, c.status) << testing::PrintToString(c.arguments) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(c.message));
  }
  EXPECT_EQ(Run({"infer", other, run, "--other-graph"}).status, 0);
  // the saved model's own shape may be repeated
  EXPECT_EQ(Run({"infer", kGraph, run, "--model", "sage", "--layers", "2"}).status, 0);
  EXPECT_THAT(Run({"train", kGraph, "--resume", run}).out,
              HasSubstr("Nothing is left to train: 1 epoch of the run is done"));
  EXPECT_EQ(Train({"--epochs", "1", "--checkpoint", run, "--overwrite"}).status, 0);
}

TEST_F(HoneGnn, AMappedGraphTrainsToTheSameBitsAndADamagedOneIsRefused) {
  const std::string graph = scratch_ / "graph";
  ASSERT_EQ(Run({"generate", "arxiv", graph, "--nodes", "1500"}).status, 0);
  for (const std::string how : {"map", "copy"}) {
    const Outcome trained = Run({"train", graph, "--load", how, "--fanout", "4,3", "--hidden", "8", "--epochs", "1",
                                 "--quiet", "--checkpoint", scratch_ / how});
    ASSERT_EQ(trained.status, 0) << trained.err;
  }
  EXPECT_EQ(ReadFile(scratch_ / "map/last.safetensors").value(), ReadFile(scratch_ / "copy/last.safetensors").value());
  std::string bytes = ReadFile(graph).value();
  bytes[4096 + 8 * 750 + 6] ^= 0x7f;  // an offset in the middle of the file becomes one far outside it
  ASSERT_TRUE(WriteFileAtomically(graph, bytes).ok());
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train"}, {"bench", "sampler"}, {"bench", "pipeline"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {graph, "--load", "map"});
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.status, 2) << testing::PrintToString(arguments) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("section row_offsets"));
  }
}

TEST_F(HoneGnn, ServesEachLineWhatInferSaysAndRefusesALineAlone) {
  const std::string run = scratch_ / "run";
  ASSERT_EQ(Train({"--epochs", "2", "--checkpoint", run}).status, 0);
  const std::string nodes = scratch_ / "nodes.npy", classes = scratch_ / "classes.npy";
  ASSERT_TRUE(WriteNpy(nodes, std::vector<int32_t>{7, 3, 7, 1499}).ok());
  ASSERT_EQ(Run({"infer", kGraph, run, "--nodes", nodes, "--output", classes}).status, 0);
  const std::vector<int32_t> inferred = ReadNodeList(classes, 1500).value();
  ASSERT_EQ(inferred.size(), 4u);

  const Outcome lines = RunProgram(Arguments({"serve", kGraph, run, "--json", "--probabilities"}), Environment(),
                                   "7 3,7\t1499\n \n1500\nseven\n3\n");
  EXPECT_EQ(lines.status, 1);
  EXPECT_THAT(lines.err, HasSubstr("2 requests answered, 3 refused"));
  std::vector<json> answers = Lines(lines.out);
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_THAT(answers[1].at("error").get<std::string>(), HasSubstr("an empty line asks for nothing"));
  answers.erase(answers.begin() + 1);
  EXPECT_EQ(answers[0].at("nodes"), (std::vector<int32_t>{7, 3, 7, 1499}));
  EXPECT_EQ(answers[0].at("classes"), inferred);
  ASSERT_EQ(answers[0].at("probabilities").size(), 4u);
  double sum = 0;
  for (const json& p : answers[0].at("probabilities")[0]) sum += p.get<double>();
  EXPECT_NEAR(sum, 1, 1e-5);
  EXPECT_THAT(answers[1].at("error").get<std::string>(), HasSubstr("node 1500"));
  EXPECT_THAT(answers[2].at("error").get<std::string>(), HasSubstr("'seven' is no node id"));
  EXPECT_EQ(answers[3].at("classes"), std::vector<int32_t>{inferred[1]});  // the answer does not depend on the other
                                                                           // nodes of a request

  const Outcome text = RunProgram(Arguments({"serve", kGraph, run, "--quiet"}), Environment(), "7 3\n");
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.err, "");
  EXPECT_EQ(text.out, std::to_string(inferred[0]) + " " + std::to_string(inferred[1]) + "\n");
  EXPECT_EQ(RunProgram(Arguments({"serve", "synthetic:arxiv?nodes=1400&seed=1", run}), Environment(), "1\n").status, 2);
}

// Bit 30 of a float is the highest bit of its exponent: a weight of 0.1 becomes one of 10^37.
TEST_F(HoneGnn, ACheckpointWithAFlippedBitIsRefusedByWhateverReadsIt) {
  const std::string run = scratch_ / "run", damaged = scratch_ / "damaged.safetensors";
  ASSERT_EQ(Train({"--epochs", "1", "--checkpoint", run}).status, 0);
  const std::string uninterrupted_model = ReadFile(run + "/best.safetensors").value();
  uint64_t header = 0;
  std::memcpy(&header, uninterrupted_model.data(), 8);
  for (const size_t element : {size_t{0}, size_t{100}}) {
    std::string bytes = uninterrupted_model;
    bytes[8 + header + 4 * element + 3] ^= 0x40;
    ASSERT_TRUE(WriteFileAtomically(damaged, bytes).ok());
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{"infer", kGraph, damaged},
          {"infer", kGraph, damaged, "--full"},
          {"serve", kGraph, damaged},
          {"train", kGraph, "--resume", damaged},
          {"train", kGraph, "--init", damaged, "--fanout", "4,4", "--hidden", "16"}}) {
      const Outcome outcome = Run(arguments);
      EXPECT_EQ(outcome.status, 2) << arguments[0];
      EXPECT_THAT(outcome.err,
                  AllOf(HasSubstr("damaged.safetensors' is damaged: its checksum"), HasSubstr("another checkpoint")));
      EXPECT_EQ(outcome.out, "") << arguments[0];
    }
  }
}

// Other programs, and earlier versions, save weights without the key "hone.crc32c".
TEST_F(HoneGnn, WeightsWithoutAChecksumAreReadAndANoteSaysSo) {
  const std::string run = scratch_ / "run", bare = scratch_ / "bare.safetensors";
  ASSERT_EQ(Train({"--epochs", "1", "--checkpoint", run}).status, 0);
  std::string bytes = ReadFile(run + "/last.safetensors").value();
  const size_t key = bytes.find("hone.crc32c");
  ASSERT_NE(key, std::string::npos);
  bytes.replace(key, 11, "none.crc32c");
  ASSERT_TRUE(WriteFileAtomically(bare, bytes).ok());
  const Outcome inferred = Run({"infer", kGraph, bare, "--json", "--quiet"});
  EXPECT_EQ(inferred.status, 0) << inferred.err;
  EXPECT_THAT(inferred.err, HasSubstr("bare.safetensors' has no checksum"));
  EXPECT_THAT(json::parse(inferred.out).at("warnings").at(0).get<std::string>(), HasSubstr("has no checksum"));
  const Outcome resumed =
      Run({"train", kGraph, "--resume", bare, "--epochs", "2", "--quiet", "--checkpoint", scratch_ / "next"});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("note: '" + bare + "' has no checksum"));
  const Outcome own = Run({"infer", kGraph, run, "--json", "--quiet"});
  EXPECT_EQ(own.err, "");
  EXPECT_EQ(json::parse(own.out).at("warnings"), json::array());
}

TEST_F(HoneGnn, SumsOverEveryNeighborAreWarnedOfWhereTrainingSawSamples) {
  const std::string gin = scratch_ / "gin", sum = scratch_ / "sum", all = scratch_ / "all", mean = scratch_ / "mean";
  ASSERT_EQ(Train({"--model", "gin", "--epochs", "1", "--checkpoint", gin}).status, 0);
  ASSERT_EQ(Train({"--aggregation", "sum", "--epochs", "1", "--checkpoint", sum}).status, 0);
  ASSERT_EQ(Train({"--epochs", "1", "--checkpoint", mean}).status, 0);
  ASSERT_EQ(Run({"train", kGraph, "--model", "gin", "--fanout", "all,all", "--hidden", "16", "--epochs", "1",
                 "--checkpoint", all, "--quiet"})
                .status,
            0);
  for (const std::string& run : {gin, sum}) {
    const Outcome exact = Run({"infer", kGraph, run, "--full", "--json", "--quiet"});
    EXPECT_EQ(exact.status, 0);
    EXPECT_THAT(exact.err, AllOf(HasSubstr("warning: this"), HasSubstr("trained on samples (4,4 neighbors a hop)"),
                                 HasSubstr("Without --full, --fanout 4,4")));
    EXPECT_THAT(json::parse(exact.out).at("warnings").at(0).get<std::string>(),
                HasSubstr("adds up its neighbors' rows"));
    EXPECT_THAT(Run({"infer", kGraph, run, "--fanout", "all,all", "--quiet"}).err, HasSubstr("warning: this"));
    EXPECT_EQ(Run({"infer", kGraph, run, "--quiet"}).err, "");
    EXPECT_THAT(RunProgram(Arguments({"serve", kGraph, run, "--fanout", "all,all"}), Environment(), "1\n").err,
                HasSubstr("warning: this"));
  }
  EXPECT_EQ(Run({"infer", kGraph, mean, "--full", "--quiet"}).err, "");
  EXPECT_EQ(Run({"infer", kGraph, all, "--full", "--quiet"}).err, "");
}

TEST_F(HoneGnn, HasEveryOptionDescribed) {
  std::string document;
  for (const char* page : {"training.md", "gpu-training.md", "inference.md"}) {
    document += ReadFile(std::string(HONE_SOURCE_DIR "/docs/") + page).value();
  }
  const std::regex option(R"(  (--[a-z-]+))");
  for (const char* command : {"train", "infer", "serve"}) {
    const std::string help = Run({command, "--help"}).out;
    int options = 0;
    for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it, ++options) {
      EXPECT_THAT(document, HasSubstr((*it)[1].str() + "`")) << command;
    }
    EXPECT_GE(options, 10) << help;
  }
}

}  // namespace
}  // namespace hone::gnn
