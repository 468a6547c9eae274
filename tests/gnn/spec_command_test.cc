// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests models from files as a user trains and uses them: from TOML to predictions, and the errors for wrong files and
// options.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "tests/gnn/command.h"

namespace hone::gnn {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class HoneGnnModels : public HoneGnn {
 protected:
  static std::string Example(const std::string& name) {
    return HONE_SOURCE_DIR "/examples/gnn_models/" + name + ".toml";
  }
  Outcome TrainModel(const std::string& model, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"train",   kGraph, "--model", model,  "--fanout", "5,5",
                                          "--batch", "128",  "--lr",    "0.01", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(HoneGnnModels, AFileTrainsGoesOnAndPredicts) {
  const std::string run = scratch_ / "run";
  const Outcome trained = TrainModel(Example("gcn"), {"--epochs", "6", "--checkpoint", run, "--json"});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const json start = json::parse(trained.out.substr(0, trained.out.find('\n')));
  EXPECT_EQ(start.at("model"), "gcn");
  EXPECT_EQ(start.at("layers"), 2);
  EXPECT_TRUE(start.at("hidden").is_null());
  const Outcome more = Run({"train", kGraph, "--resume", run, "--epochs", "8", "--quiet"});
  ASSERT_EQ(more.status, 0) << more.err;
  EXPECT_THAT(more.out, HasSubstr("gcn of 2 layers"));

  // An accuracy by chance would be the share of the largest of 40 classes.
  for (const std::vector<std::string>& how :
       {std::vector<std::string>{"--full"}, std::vector<std::string>{"--fanout", "10,10"}}) {
    std::vector<std::string> arguments = {"infer", kGraph, run, "--json", "--nodes", "test", "--confusion"};
    arguments.insert(arguments.end(), how.begin(), how.end());
    const Outcome predicted = Run(arguments);
    ASSERT_EQ(predicted.status, 0) << predicted.err;
    const json answer = json::parse(predicted.out);
    EXPECT_EQ(answer.at("model"), "gcn");
    EXPECT_TRUE(answer.at("warnings").empty()) << answer.at("warnings");
    int64_t most = 0, all = 0;
    for (const json& row : answer.at("confusion")) {
      int64_t of_class = 0;
      for (const json& count : row) of_class += count.get<int64_t>();
      most = std::max(most, of_class);
      all += of_class;
    }
    const double chance = static_cast<double>(most) / static_cast<double>(all);
    EXPECT_GT(answer.at("accuracy").at("test").get<double>(), 2 * chance);
  }
  const Outcome served = RunProgram(Arguments({"serve", kGraph, run, "--quiet"}), Environment(), "3 4 5\n");
  EXPECT_EQ(served.status, 0) << served.err;
  // A spec that the command names is compared with the checkpoint's.
  EXPECT_EQ(Run({"infer", kGraph, run, "--model", Example("gcn"), "--quiet"}).status, 0);
  const Outcome other = Run({"infer", kGraph, run, "--model", Example("residual_gat")});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, AllOf(HasSubstr("has another spec, 'gcn'"), HasSubstr("value 1 ('in')")));
  const Outcome published = Run({"infer", kGraph, run, "--model", "sage"});
  EXPECT_EQ(published.status, 2);
  EXPECT_THAT(published.err, HasSubstr("says that its model is another (gcn of 2 layers"));
}

// Returns the first block of `language` in a document.
std::string BlockOf(const std::string& document, const std::string& language) {
  const std::string begin = "```" + language + "\n";
  const size_t at = document.find(begin) + begin.size();
  return document.substr(at, document.find("```", at) - at);
}

TEST_F(HoneGnnModels, TheDocumentsExampleRunsAndItsMessagesAreTheProgram) {
  const std::string document = ReadFile(HONE_SOURCE_DIR "/docs/models-spec.md").value();
  const std::string model = BlockOf(document, "toml");
  EXPECT_THAT(ReadFile(Example("gcn")).value(), HasSubstr(model));
  const auto write = [&](const std::string& text) { return WriteFileAtomically(scratch_ / "gcn.toml", text).ok(); };
  ASSERT_TRUE(write(model));
  const auto shell = [&](const std::string& commands) {
    return RunProgram({"/bin/sh", "-ec", "cd " + scratch_.path() + "\n" + commands},
                      {"PATH=" HONE_BINARY_DIR "/bin:/usr/bin:/bin", "CUDA_VISIBLE_DEVICES="});
  };
  const Outcome ran = shell("hone-gnn generate arxiv graph --nodes 1500\n" + BlockOf(document, "sh"));
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("gcn: 2 layers"));
  const auto message = [&](const std::string& from, const std::string& to, const std::string& more) {
    std::string text = model;
    text.replace(text.find(from), from.size(), to);
    EXPECT_TRUE(write(text));
    const Outcome outcome = shell("hone-gnn models gcn.toml" + more);
    EXPECT_EQ(outcome.status, 2);
    // The program's name and the file's stand before the checker's own message.
    const std::string_view err(outcome.err);
    const size_t at = err.find("model 'gcn'");
    return std::string(at == std::string_view::npos ? err.substr(err.find("gcn.toml")) : err.substr(at));
  };
  EXPECT_THAT(document, HasSubstr(message("probability", "probabilty", "")));
  EXPECT_THAT(document, HasSubstr(message("of = \"a0\"", "of = \"a1\"", "")));
  EXPECT_THAT(document, HasSubstr(message("{name = \"r0\", op = \"activate\", of = \"h0\"}",
                                          "{name = \"s\", op = \"add\", of = [\"a0\", \"h0\"]},\n"
                                          "  {name = \"r0\", op = \"activate\", of = \"s\"}",
                                          "")));
}

TEST_F(HoneGnnModels, ModelsListsOperationsAndShowsWhatAModelIs) {
  const Outcome listed = Run({"models"});
  ASSERT_EQ(listed.status, 0) << listed.err;
  for (const char* operation :
       {"aggregate", "attention", "linear", "norm", "activate", "drop", "add", "concat", "collect", "head"}) {
    EXPECT_THAT(listed.out, HasSubstr(std::string("\n  ") + operation));
  }
  // The sizes are those of a graph, where one is named; of kGraph 128 features and 40 classes.
  EXPECT_THAT(listed.out, HasSubstr("128 features and 16 classes, an example; --graph GRAPH takes those of a graph"));
  EXPECT_THAT(Run({"models", "--graph", kGraph}).out,
              HasSubstr("128 features and 40 classes, those of 'synthetic:arxiv"));
  const json models_json =
      json::parse(Run({"models", "--json", "--graph", kGraph, "--layers", "2", "--hidden", "24"}).out);
  EXPECT_EQ(models_json.at("classes"), 40);
  EXPECT_EQ(models_json.at("models").size(), 4u);
  EXPECT_EQ(models_json.at("operations").size(), 10u);
  // Two layers of GraphSAGE without biases: two matrices each, and the norm that stands between where there is one.
  EXPECT_EQ(models_json.at("models").at(0).at("parameters"),
            json::parse(Run({"models", "sage", "--json", "--graph", kGraph, "--layers", "2", "--hidden", "24"}).out)
                .at("parameters"));
  EXPECT_GE(models_json.at("models").at(0).at("parameters").get<int64_t>(), 2 * 128 * 24 + 2 * 24 * 40);
  EXPECT_THAT(Run({"models", "--toml"}).err, HasSubstr("--toml: say which model"));
  EXPECT_THAT(Run({"models", "--graph", kGraph, "--classes", "3"}).err, HasSubstr("excludes"));
  for (const char* name : {"sage", "gat", "gin", "sage-ri"}) {
    const Outcome text = Run({"models", name, "--toml", "--layers", "2", "--hidden", "24"});
    ASSERT_EQ(text.status, 0) << text.err;
    ASSERT_TRUE(WriteFileAtomically(scratch_ / "again.toml", text.out).ok());
    EXPECT_EQ(Run({"models", scratch_ / "again.toml", "--toml"}).out, text.out);
    const Outcome shown = Run({"models", name, "--json", "--layers", "2", "--hidden", "24"});
    ASSERT_EQ(shown.status, 0) << shown.err;
    EXPECT_EQ(json::parse(shown.out).at("layers"), 2);
    EXPECT_EQ(json::parse(shown.out).at("toml"), text.out);
    EXPECT_EQ(json::parse(shown.out).at("gpu_program"), name);
  }
}

TEST_F(HoneGnnModels, AFileOfAPublishedModelIsThatModel) {
  std::string text = Run({"models", "gat", "--toml", "--layers", "2", "--hidden", "16", "--heads", "2"}).out;
  text.replace(text.find("name = \"gat\""), 12, "name = \"mine\"");
  const std::string file = scratch_ / "mine.toml";
  ASSERT_TRUE(WriteFileAtomically(file, text).ok());
  EXPECT_THAT(Run({"models", file}).out, AllOf(HasSubstr("mine: 2 layers"), HasSubstr("as the program of gat")));
  EXPECT_THAT(Run({"models", Example("gcn")}).out,
              AllOf(HasSubstr("On a GPU, which has no program of this model whole"),
                    HasSubstr("\n  a0: the outermost hop, drawn and aggregated at once while the batch is sampled\n"),
                    HasSubstr("\n  h0, r0 and d0: bias, activation and dropout in one pass\n")));
  const json gat = json::parse(Run({"models", Example("residual_gat"), "--json"}).out);
  EXPECT_EQ(gat.at("gpu_program"), nullptr);
  EXPECT_EQ(gat.at("gpu_passes").at(0), "x: rows gathered while the batch is sampled");
  const auto train = [&](const std::vector<std::string>& model, const std::string& folder) {
    std::vector<std::string> arguments = {"train",   kGraph, "--fanout", "5,5",          "--epochs",       "2",
                                          "--batch", "256",  "--quiet",  "--checkpoint", scratch_ / folder};
    arguments.insert(arguments.end(), model.begin(), model.end());
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return ReadFile(scratch_ / folder + "/last.safetensors").value();
  };
  train({"--model", file}, "file");
  train({"--model", "gat", "--hidden", "16", "--heads", "2"}, "name");
  const auto answer = [&](const std::string& folder) {
    const Outcome outcome = Run(
        {"infer", kGraph, scratch_ / folder, "--full", "--logits", "--output", scratch_ / folder + ".npy", "--quiet"});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return ReadFile(scratch_ / folder + ".npy").value();
  };
  EXPECT_EQ(answer("file"), answer("name"));
  EXPECT_EQ(Run({"infer", kGraph, scratch_ / "name", "--model", file, "--quiet"}).status, 0);
  ASSERT_TRUE(
      WriteFileAtomically(file, Run({"models", "gat", "--toml", "--layers", "2", "--hidden", "24", "--heads", "2"}).out)
          .ok());
  EXPECT_EQ(Run({"infer", kGraph, scratch_ / "name", "--model", file, "--quiet"}).status, 2);
}

TEST_F(HoneGnnModels, WrongFilesAndFlagsAreToldBeforeTheGraphIsOpened) {
  const auto refused = [&](const std::string& model, std::vector<std::string> more) {
    const Outcome outcome = TrainModel(model, std::move(more));
    EXPECT_EQ(outcome.status, 2) << outcome.out;
    return outcome.err;
  };
  EXPECT_THAT(refused("nowhere.toml", {}), AllOf(HasSubstr("nowhere.toml"), HasSubstr("`hone-gnn models` shows")));
  EXPECT_THAT(refused(Example("gcn"), {"--hidden", "64"}), HasSubstr("--hidden and --model"));
  EXPECT_THAT(refused(Example("gcn"), {"--layers", "3"}), HasSubstr("aggregates over 2 hops; leave --layers out"));
  const std::string bad = scratch_ / "bad.toml";
  ASSERT_TRUE(WriteFileAtomically(bad,
                                  "name = 'bad'\nvalues = [\n  {name = 'a', op = 'aggregate', of = 'x'},\n"
                                  "  {name = 'h', op = 'linear', of = 'a', widht = 3},\n]\n")
                  .ok());
  EXPECT_THAT(refused(bad, {}),
              AllOf(HasSubstr("bad.toml:4"), HasSubstr("'widht'"), HasSubstr("did you mean 'width'?")));
  ASSERT_TRUE(WriteFileAtomically(bad,
                                  "name = 'bad'\nvalues = [{name = 'a', op = 'aggregate', of = 'x'},\n"
                                  "  {name = 'h', op = 'linear', of = 'a', width = 3}]\n")
                  .ok());
  const Outcome narrow = Run({"train", kGraph, "--model", bad, "--fanout", "5", "--quiet"});
  EXPECT_EQ(narrow.status, 2);
  EXPECT_THAT(narrow.err, HasSubstr("has 3 columns, where the graph has 40 classes: end with a head"));
  const Outcome hops = Run({"train", kGraph, "--model", Example("gcn"), "--fanout", "5,5,5"});
  EXPECT_EQ(hops.status, 2);
  EXPECT_THAT(hops.err, HasSubstr("model 'gcn' aggregates over 2 hops; give one number a hop"));
}

}  // namespace
}  // namespace hone::gnn
