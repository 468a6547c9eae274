// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone-gnn convert`, `generate` and `info` as a user types them: results, exit statuses, and the page about
// them.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>

#include "command.h"

namespace hone::gnn {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class HoneGnnGraphs : public HoneGnn {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = scratch_ / name;
    EXPECT_TRUE(WriteFileAtomicallyUnflushed(path, text).ok());
    return path;
  }
};

TEST_F(HoneGnnGraphs, GeneratesWhatTheNameStandsFor) {
  const std::string path = scratch_ / "a.hgraph";
  const Outcome made = Run({"generate", "arxiv", path, "--nodes", "4000", "--seed", "4", "--json"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_EQ(json::parse(made.out)["nodes"], 4000);
  json stored = json::parse(Run({"info", path, "--verify", "--json"}).out);
  json direct = json::parse(Run({"info", "synthetic:arxiv?nodes=4000&seed=4", "--json"}).out);
  EXPECT_EQ(stored["verified"], true);
  EXPECT_EQ(stored["provenance"]["source"], "synthetic:arxiv?seed=4&nodes=4000");
  EXPECT_EQ(stored["sections"][0]["type"], "row_offsets");
  EXPECT_EQ(stored["flags"]["symmetric"], true);
  EXPECT_GT(stored["edge_homophily"], 0.2);
  for (const char* key : {"graph", "provenance", "sections", "verified"}) {
    stored.erase(key);
    direct.erase(key);
  }
  EXPECT_EQ(stored, direct);
}

TEST_F(HoneGnnGraphs, ConvertsAndDescribes) {
  // The graph is a 6-cycle with one direction of each edge.
  const std::string source = Write("cycle.csv", "source,target\n0,1\n1,2\n2,3\n3,4\n4,5\n5,0\n");
  const std::string path = scratch_ / "cycle.hgraph";
  const Outcome made = Run({"convert", source, path, "--symmetrize", "--self-loops", "add"});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("6 nodes, 18 edges (6 read from the edge list)"));
  const Outcome told = Run({"info", path});
  EXPECT_THAT(told.out, AllOf(HasSubstr("18 stored (6 self-loops;"), HasSubstr("symmetric, sorted, without parallel edges"),
                              HasSubstr("components   1; the largest has 100.00 % of the nodes"), HasSubstr("features     none")));
  EXPECT_EQ(told.err, "");
  const json second_report = json::parse(Run({"convert", source, path, "--json"}).out);
  EXPECT_EQ(second_report["flags"]["symmetric"], false);
  EXPECT_EQ(second_report["edges"], 6);
}

TEST_F(HoneGnnGraphs, NamesOfClassesAreKeptAndAnswered) {
  std::string edges = "id_1,id_2\n", target = "id,kind\n", features = "{";
  for (int v = 0; v < 60; ++v) {
    edges += std::to_string(v) + "," + std::to_string((v + 2) % 60) + "\n";
    target += std::to_string(v) + (v % 2 == 0 ? ",dog\n" : ",cat\n");
    features += (v == 0 ? "\"" : ", \"") + std::to_string(v) + "\": [" + std::to_string(v % 2) + "]";
  }
  Write("pets/pets_edges.csv", edges);
  Write("pets/pets_target.csv", target);
  Write("pets/pets_features.json", features + "}");
  const std::string graph = scratch_ / "pets.hgraph", run = scratch_ / "run";
  EXPECT_THAT(Run({"convert", scratch_ / "pets", scratch_ / "mistyped/pets.hgraph"}).err, HasSubstr("there is no folder"));
  ASSERT_EQ(Run({"convert", scratch_ / "pets", graph, "--symmetrize"}).status, 0);
  EXPECT_THAT(Run({"info", graph}).out, HasSubstr("classes      0 cat, 1 dog\n"));
  EXPECT_EQ(json::parse(Run({"info", graph, "--json"}).out)["class_names"], (std::vector<std::string>{"cat", "dog"}));
  const Outcome trained = Run({"train", graph, "--device", "cpu", "--fanout", "2", "--hidden", "8", "--lr", "0.1", "--epochs", "5",
                               "--batch", "6", "--checkpoint", run});
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(Run({"infer", graph, run, "--nodes", "all", "--confusion"}).out, AllOf(HasSubstr("30       0  cat\n"), HasSubstr("0      30  dog\n")));
  EXPECT_EQ(RunProgram(Arguments({"serve", graph, run, "--names", "--quiet"}), Environment(), "0 1\n").out, "dog\tcat\n");
  EXPECT_EQ(json::parse(RunProgram(Arguments({"serve", graph, run, "--names", "--json", "--quiet"}), Environment(), "1\n").out)["names"],
            std::vector<std::string>{"cat"});
  const std::string table = scratch_ / "classes.csv";
  ASSERT_EQ(Run({"infer", graph, run, "--full", "--nodes", "all", "--output", table}).status, 0);
  EXPECT_THAT(ReadFile(table).value(), testing::StartsWith("node,class,name\n0,1,dog\n1,0,cat\n"));
  ASSERT_EQ(Run({"infer", graph, run, "--full", "--nodes", "all", "--output", table, "--probabilities"}).status, 0);
  EXPECT_THAT(ReadFile(table).value(), testing::StartsWith("node,cat,dog\n0,"));
  const std::string nameless = scratch_ / "nameless.hgraph";
  ASSERT_EQ(Run({"generate", "arxiv", nameless, "--nodes", "500"}).status, 0);
  EXPECT_THAT(Run({"serve", nameless, run, "--names"}).err, HasSubstr("has no names of classes; leave the option out"));
}

// A folder as a user of PyTorch saves it: masks are read, files that are not read are named, and a mask saved under
// another file's name is not taken for the splits.
TEST_F(HoneGnnGraphs, MasksAreReadAndWhatIsNotReadIsNamed) {
  const auto array = [&](const std::string& name, const std::string& type, const std::string& shape,
                         const std::string& items) {
    std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize(117, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size());
    bytes += '\0';
    Write("in/" + name, bytes + header + items);
  };
  const std::string in = scratch_ / "in", out = scratch_ / "out.hgraph";
  array("edges.npy", "|i1", "3, 2", std::string("\0\1\1\2\2\3", 6));
  array("edge_weight.npy", "|i1", "3,", std::string(3, '\1'));
  array("split.npy", "|b1", "4,", std::string("\1\1\0\0", 4));
  const Outcome refused = Run({"convert", in, out});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("split.npy' is bool [4]"), HasSubstr("train_mask.npy")));
  EXPECT_FALSE(std::filesystem::exists(out));
  std::filesystem::rename(in + "/split.npy", in + "/train_mask.npy");
  array("val_mask.npy", "|b1", "4,", std::string("\0\0\1\0", 4));
  const Outcome made = Run({"convert", in, out});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out,
              AllOf(HasSubstr("splits of the source: 2 train, 1 valid, 0 test, 1 in none (train from train_mask.npy, "
                              "valid from val_mask.npy)"),
                    HasSubstr("not read:\n    edge_weight.npy: edge weights are not used")));
  const json conversion_report = json::parse(Run({"convert", in, out, "--json"}).out);
  EXPECT_EQ(conversion_report["unread"].size(), 1u);
  EXPECT_EQ(conversion_report["unread"][0]["name"], "edge_weight.npy");
  EXPECT_EQ(conversion_report["nodes_in_no_split"], 1);
}

TEST_F(HoneGnnGraphs, TellsBadInputApartFromAFailingMachine) {
  const std::string edges = Write("g.txt", "0 1\n1 x\n");
  std::string damaged = Write("damaged.hgraph", std::string(9000, 'x'));
  const std::string out = scratch_ / "out.hgraph";
  const struct {
    std::vector<std::string> arguments;
    int status;
    std::string message;
  } cases[] = {
      {{"convert", edges, out}, 2, "line 2: '1 x' is no edge"},
      {{"convert", scratch_ / "absent", out}, 2, "is not there"},
      {{"convert", edges, out, "--dtype", "int8"}, 2, "use float32, float16 or bfloat16"},
      {{"convert", edges, out, "--self-loops", "some"}, 2, "--self-loops"},
      {{"convert", edges, out, "--split", "0.6,0.2"}, 2, "--split"},
      {{"convert", edges}, 2, "out"},
      {{"convert", edges, out, "--split-index", "1"}, 2, "holds edges alone"},
      {{"convert", Write("far.txt", "1000000000,5\n"), out}, 2, "2 nodes have an edge"},
      {{"convert", Write("graph.pt", "x"), out}, 2, "files that end in .pt are not read. Save the graph's arrays"},
      {{"info", damaged}, 2, "is no graph container"},
      {{"info", scratch_.path()}, 2, "hone-gnn convert"},
      {{"info", "synthetic:reddit"}, 2, "SHAPE one of arxiv"},
      {{"generate", "arxiv", out, "--scale", "0.1", "--nodes", "5"}, 2, "excludes"},
      {{"generate", "arxiv", out, "--scale", "nan"}, 2, "--scale: 'nan'"},
      {{"generate", "arxiv", out, "--seed", "-1"}, 2, "--seed: '-1' is negative"},
      {{"generate", "arxiv", out, "--threads", "-1"}, 2, "--threads"},
      {{"generate", "synthetic:arxiv?nodes=50", out, "--nodes", "60"}, 2, "write nodes=… into it"},
      {{"generate", "arxiv", edges, "--nodes", "50"}, 2, "is no graph container"},
      {{"generate", "arxiv", "/proc/such.hgraph", "--nodes", "50"}, 3, "/proc/such"},
  };
  for (const auto& c : cases) {
    const Outcome outcome = Run(c.arguments);
    EXPECT_EQ(outcome.status, c.status) << c.message << "\n" << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(c.message));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(HoneGnnGraphs, HasEveryOptionDescribed) {
  const std::string document = ReadFile(HONE_SOURCE_DIR "/docs/graphs.md").value();
  const std::regex option(R"(  (--[a-z-]+))");
  for (const char* command : {"convert", "generate", "info"}) {
    const std::string help = Run({command, "--help"}).out;
    int options = 0;
    for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it, ++options) {
      EXPECT_THAT(document, HasSubstr("`" + (*it)[1].str())) << command;
    }
    EXPECT_GE(options, 4) << help;
  }
}

}  // namespace
}  // namespace hone::gnn
