// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that the engine's captured steps are unchanged. The digests of their texts are stored in
// dump/emulated_graphs.txt.
//
// After a change that is meant to alter a step, store new ones: gnn_gpu_graphs_emulated >
// src/gnn/cuda/dump/emulated_graphs.txt. The program's option --output, run on the commit before and the commit after,
// shows by diff what has changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include "base/numbers/hash.h"
#include "gnn/cuda/dump/dumped_engines.h"
#include "gnn/cuda/dump/graph_text.h"

namespace hone::gnn::cuda {

void PrintTo(const DumpedEngine& engine, std::ostream* out) { *out << engine.name; }

namespace {

std::vector<DumpedEngine> AllEngines() {
  std::vector<DumpedEngine> engines = PublishedEngines(kSmallPublishedGraph, kSmallNarrower);
  for (DumpedEngine& engine : PairwiseEngines()) engines.push_back(std::move(engine));
  return engines;
}

// Returns the stored digests: a name gives "graphs nodes digest".
std::map<std::string, std::string> Stored() {
  std::map<std::string, std::string> stored;
  std::ifstream file(HONE_SOURCE_DIR "/src/gnn/cuda/dump/emulated_graphs.txt");
  for (std::string line; std::getline(file, line);) stored[line.substr(0, line.find(' '))] = line.substr(line.find(' ') + 1);
  return stored;
}

class GraphDumps : public testing::TestWithParam<DumpedEngine> {};

TEST_P(GraphDumps, StepsAreAsStored) {
  const Result<EngineDump> dump = DumpEngine(GetParam());
  ASSERT_TRUE(dump.ok()) << dump.status().message();
  std::ostringstream line;
  line << dump->graphs << ' ' << dump->nodes << ' ' << Sha256Hex(dump->text);
  EXPECT_EQ(Stored()[GetParam().name], line.str())
      << "the steps of " << GetParam().name << " have changed; gnn_gpu_graphs_emulated --only " << GetParam().name
      << " --output FOLDER, on this commit and on its parent, shows what";
}

INSTANTIATE_TEST_SUITE_P(All, GraphDumps, testing::ValuesIn(AllEngines()), [](const auto& engine) {
  std::string name = engine.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(GraphDump, EveryStoredDigestHasItsEngine) {
  std::set<std::string> engines, stored;
  for (const DumpedEngine& engine : AllEngines()) engines.insert(engine.name);
  for (const auto& [name, digest] : Stored()) stored.insert(name);
  EXPECT_EQ(engines, stored);
}

TEST(GraphDump, EveryPairOfOptionsOccurs) {
  // The value of each option of each engine, as a word.
  std::vector<std::vector<std::string>> rows;
  for (const DumpedEngine& e : PairwiseEngines()) {
    rows.push_back({e.model.kind + e.model.aggregation + std::to_string(e.model.heads), std::to_string(e.requests),
                    std::to_string(e.model.layers), std::to_string(e.model.hidden), std::to_string(e.model.dropout),
                    e.model.activation + e.model.norm, std::to_string(e.options.fp32),
                    std::to_string(e.options.fanouts.back() < 0 ? 0 : e.options.fanouts[0] == 4 ? 1 : 2),
                    std::to_string(e.options.shards),
                    std::to_string(static_cast<int>(e.options.storage.tier)) +
                        std::to_string(static_cast<int>(e.options.storage.misses)),
                    std::to_string(e.options.clip_norm) + std::to_string(e.options.class_weights.size())});
  }
  const size_t options = rows[0].size();
  std::vector<std::set<std::string>> values(options);
  std::set<std::tuple<size_t, std::string, size_t, std::string>> pairs;
  for (const auto& row : rows) {
    for (size_t a = 0; a < options; ++a) {
      values[a].insert(row[a]);
      for (size_t b = a + 1; b < options; ++b) pairs.insert({a, row[a], b, row[b]});
    }
  }
  size_t wanted_bytes = 0;
  for (size_t a = 0; a < options; ++a) {
    for (size_t b = a + 1; b < options; ++b) wanted_bytes += values[a].size() * values[b].size();
  }
  EXPECT_EQ(pairs.size(), wanted_bytes);
  EXPECT_THAT(values, testing::Each(testing::SizeIs(testing::Ge(2u))));
  EXPECT_EQ(values[0].size(), 7u);
}

TEST(GraphDump, NamesLoseNamespacesAndParameters) {
  EXPECT_EQ(ShortKernelName("void hone::gnn::cuda::(anonymous namespace)::Gather<float, hone::gnn::A<int>, (bool)1>(int, hone::B)"),
            "Gather<float, A<int>, (bool)1>");
  EXPECT_EQ(ShortKernelName("hone::gnn::cuda::Clear(void*)"), "Clear");
  EXPECT_EQ(ShortKernelName("_GLOBAL__N__2c1::Clear(int (*)(float))"), "Clear");
  EXPECT_EQ(ShortKernelName("matmul"), "matmul");
}

std::vector<unsigned char> Bytes(std::initializer_list<uint64_t> words) {
  std::vector<unsigned char> bytes;
  for (const uint64_t word : words) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<unsigned char>(word >> (8 * i)));
  }
  return bytes;
}

TEST(GraphDump, AddressesBecomeBuffersInTheOrderOfTheirUse) {
  const auto text_of = [](uint64_t first, uint64_t second) {
    GraphText text([=](uint64_t address) -> std::optional<MemoryRange> {
      if (address >= first && address < first + 64) return MemoryRange{first, 64, "device"};
      if (address >= second && address < second + 32) return MemoryRange{second, 32, "host"};
      return std::nullopt;
    });
    GraphNodeFacts node{.kind = "kernel", .name = "K", .grid = {7, 1, 1}, .priority = -5};
    node.arguments = {Bytes({second + 4, 17}), {1, 0, 0, 0}, Bytes({first})};
    GraphNodeFacts padded{.kind = "kernel", .name = "L", .padded = true, .after = {0}};
    padded.arguments = {Bytes({second, 0xdeadbeef}), Bytes({18}), Bytes({second})};
    text.Add(std::vector{node, padded});
    return text.Text();
  };
  EXPECT_EQ(text_of(0x10000, 0x20000),
            "graph 0 has 2 nodes\n"
            "0 kernel K grid 7,1,1 block 1,1,1 shared 0 priority -5 after\n"
            "  b0+4 0x11\n"
            "  0x1\n"
            "  b1+0\n"
            "1 kernel L grid 1,1,1 block 1,1,1 shared 0 priority 0 after 0\n"
            "  16 bytes\n"
            "  0x12\n"
            "  b0+0\n"
            "b0 host 32\n"
            "b1 device 64\n");
  EXPECT_EQ(text_of(0x10000, 0x20000), text_of(0x7000000, 0x10000));
}

}  // namespace
}  // namespace hone::gnn::cuda
