// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/loader/batch_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <thread>

#include "gnn/loader/huge_pages.h"

namespace hone::gnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct EdgeList {
  std::vector<int64_t> sources, destinations;
};

// Returns `edges` random edges, among them parallel ones and self-loops.
EdgeList RandomEdges(int64_t nodes, int64_t edges, uint64_t seed) {
  std::mt19937_64 random(seed);
  EdgeList list;
  for (int64_t e = 0; e < edges; ++e) {
    list.sources.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(nodes)));
    list.destinations.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(nodes)));
  }
  return list;
}
std::shared_ptr<const InEdges> GraphOf(const EdgeList& list, int64_t nodes, int threads = 2) {
  return std::make_shared<const InEdges>(MakeInEdges(list.sources, list.destinations, nodes, threads).value());
}

struct Copied {
  std::vector<int64_t> nodes, input, sources, destinations, edge_ids, hop_nodes, hop_edges;
  bool operator==(const Copied&) const = default;
};
Copied CopyBatch(const LoadedBatch& batch) {
  const auto vector = [](std::span<const int64_t> span) { return std::vector<int64_t>(span.begin(), span.end()); };
  return {vector(batch.nodes),    vector(batch.input), vector(batch.sources), vector(batch.destinations),
          vector(batch.edge_ids), batch.hop_nodes,     batch.hop_edges};
}
std::vector<Copied> BatchesOfEpoch(BatchLoader& loader, const LoaderEpoch& epoch) {
  EXPECT_TRUE(loader.Start(epoch).ok());
  std::vector<Copied> batches;
  while (true) {
    Result<std::unique_ptr<LoadedBatch>> batch_or_error = loader.Next(60);
    if (!batch_or_error.ok() || *batch_or_error == nullptr) {
      EXPECT_TRUE(batch_or_error.ok()) << batch_or_error.status().message();
      return batches;
    }
    batches.push_back(CopyBatch(**batch_or_error));
  }
}

TEST(InEdges, SayWhetherTheListWasInTheirOrder) {
  EdgeList list{.sources = {3, 5, 5, 0, 2}, .destinations = {1, 1, 1, 4, 4}};
  EXPECT_TRUE(GraphOf(list, 6)->in_order);
  std::swap(list.sources[3], list.sources[4]);
  EXPECT_FALSE(GraphOf(list, 6)->in_order);
  EXPECT_TRUE(GraphOf({}, 6)->in_order);
}

TEST(HugePages, KeepTheValuesOfMemoryThatIsMoved) {
  const size_t count = static_cast<size_t>(kLeastToMove) / sizeof(uint64_t) * 3;
  std::vector<uint64_t> values(count);
  std::iota(values.begin(), values.end(), uint64_t{7});
  const int64_t bytes = static_cast<int64_t>(count * sizeof(uint64_t));
  const int64_t moved = MoveToHugePages(values.data(), bytes, 2);
  EXPECT_GE(moved, 0);  // 0 where the system gives none
  EXPECT_LE(moved, bytes);
  EXPECT_EQ(moved % static_cast<int64_t>(kHugePage), 0);
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(values[i], i + 7);
  EXPECT_EQ(MoveToHugePages(values.data(), kLeastToMove - 1, 2), 0);
}

TEST(HugePages, LeaveSharedMemoryWhereItIs) {
  const auto bytes = static_cast<size_t>(kLeastToMove) * 2;
  void* const shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  std::memset(shared, 1, bytes);
  EXPECT_EQ(MoveToHugePages(shared, static_cast<int64_t>(bytes), 1), 0);
  munmap(shared, bytes);
}

TEST(InEdges, AreSortedByDestinationAndSourceAndKnowTheirPlaceInTheList) {
  const EdgeList list = RandomEdges(50, 4000, 1);
  for (const int threads : {1, 4}) {
    const auto graph = GraphOf(list, 50, threads);
    ASSERT_EQ(graph->columns.size(), 4000u);
    std::set<int64_t> edge_ids(graph->edge_ids.begin(), graph->edge_ids.end());
    EXPECT_EQ(edge_ids.size(), 4000u);
    for (int64_t v = 0; v < 50; ++v) {
      for (int64_t i = graph->row_offsets[static_cast<size_t>(v)]; i < graph->row_offsets[static_cast<size_t>(v) + 1];
           ++i) {
        const auto at = static_cast<size_t>(i), edge = static_cast<size_t>(graph->edge_ids[at]);
        EXPECT_EQ(list.destinations[edge], v);
        EXPECT_EQ(list.sources[edge], graph->columns[at]);
        if (i > graph->row_offsets[static_cast<size_t>(v)]) {
          EXPECT_LT(std::pair(graph->columns[at - 1], graph->edge_ids[at - 1]),
                    std::pair(graph->columns[at], graph->edge_ids[at]));
        }
      }
    }
  }
}

TEST(InEdges, SayWhichEdgeEndsNowhere) {
  const std::vector<int64_t> sources{0, 1, 7, 9}, destinations{1, 0, 2, 0};
  EXPECT_THAT(MakeInEdges(sources, destinations, 7, 2).status().message(),
              HasSubstr("edge 2 goes from node 7 to node 2, and the graph has 7 nodes"));
  EXPECT_THAT(MakeInEdges(sources, {destinations.data(), 3}, 7, 2).status().message(), HasSubstr("4 sources and 3"));
}

TEST(BatchLoader, EveryEdgeOfABatchIsTheEdgeOfTheListThatItNames) {
  const int64_t nodes = 300;
  const EdgeList list = RandomEdges(nodes, 9000, 2);
  std::vector<int64_t> seeds(static_cast<size_t>(nodes));
  std::iota(seeds.begin(), seeds.end(), 0);
  auto loader = BatchLoader::Make(GraphOf(list, nodes), {.fanouts = {7, 5, -1}, .batch = 32, .threads = 2}).value();
  const std::vector<Copied> batches = BatchesOfEpoch(*loader, {.seeds = seeds, .seed = 3, .epoch = 1});
  ASSERT_EQ(batches.size(), 10u);
  std::vector<int64_t> input;
  for (const Copied& batch : batches) {
    EXPECT_EQ(std::set(batch.nodes.begin(), batch.nodes.end()).size(), batch.nodes.size());
    EXPECT_EQ(std::set(batch.edge_ids.begin(), batch.edge_ids.end()).size(), batch.edge_ids.size())
        << "no edge is drawn twice";
    EXPECT_EQ(std::accumulate(batch.hop_nodes.begin(), batch.hop_nodes.end(), int64_t{0}),
              static_cast<int64_t>(batch.nodes.size()));
    EXPECT_EQ(std::accumulate(batch.hop_edges.begin(), batch.hop_edges.end(), int64_t{0}),
              static_cast<int64_t>(batch.sources.size()));
    EXPECT_TRUE(std::is_sorted(batch.destinations.begin(), batch.destinations.end()));
    for (size_t e = 0; e < batch.sources.size(); ++e) {
      const auto edge = static_cast<size_t>(batch.edge_ids[e]);
      EXPECT_EQ(list.sources[edge], batch.nodes[static_cast<size_t>(batch.sources[e])]);
      EXPECT_EQ(list.destinations[edge], batch.nodes[static_cast<size_t>(batch.destinations[e])]);
    }
    for (size_t i = 0; i < batch.input.size(); ++i)
      EXPECT_EQ(batch.nodes[i], seeds[static_cast<size_t>(batch.input[i])]);
    input.insert(input.end(), batch.input.begin(), batch.input.end());
  }
  std::sort(input.begin(), input.end());
  EXPECT_EQ(input, seeds) << "each seed once an epoch";
}

// Rows of a large batch are written past the caches, and its block is on huge pages.
TEST(BatchLoader, LargeBatchesHoldTheRowsOfTheirNodes) {
  const int64_t nodes = 12000, width = 208;  // floats per row: 13 cache lines, and rows do not fill whole pages
  std::vector<float> rows(static_cast<size_t>(nodes * width));
  std::iota(rows.begin(), rows.end(), 0.0F);
  std::vector<int64_t> seeds(static_cast<size_t>(nodes));
  std::iota(seeds.begin(), seeds.end(), 0);
  std::shuffle(seeds.begin(), seeds.end(), std::mt19937_64(3));
  const auto bytes = width * static_cast<int64_t>(sizeof(float));
  const RowTable table{reinterpret_cast<const std::byte*>(rows.data()), nodes, bytes, bytes};
  auto loader = BatchLoader::Make(GraphOf(RandomEdges(nodes, 500, 5), nodes),
                                  {.fanouts = {2}, .batch = nodes, .threads = 1, .node_tables = {table}})
                    .value();
  for (uint32_t step = 0; step < 2; ++step) {  // the second batch uses the first one's memory
    const auto batch = loader->Load(seeds, 5, 0, step).value();
    ASSERT_EQ(static_cast<int64_t>(batch->nodes.size()), nodes);
    for (int64_t v = 0; v < nodes; ++v) {
      const int64_t row = batch->nodes[static_cast<size_t>(v)];
      ASSERT_EQ(std::memcmp(batch->node_rows[0] + v * bytes, rows.data() + row * width, static_cast<size_t>(bytes)), 0)
          << v;
    }
  }
}

TEST(BatchLoader, ParallelEdgesAreDrawnAlike) {
  // Five edges from 1 to 0 and one from 2 to 0; two of the six are drawn.
  const EdgeList list{{1, 1, 2, 1, 1, 1}, {0, 0, 0, 0, 0, 0}};
  auto loader = BatchLoader::Make(GraphOf(list, 3), {.fanouts = {2}, .threads = 1}).value();
  std::map<int64_t, int> drawn;
  const std::vector<int64_t> seeds{0};
  const int draws = 12000;
  for (int i = 0; i < draws; ++i) {
    const auto batch = loader->Load(seeds, 5, 0, static_cast<uint32_t>(i)).value();
    for (const int64_t edge : batch->edge_ids) ++drawn[edge];
  }
  ASSERT_EQ(drawn.size(), 6u);
  double chi2 = 0;
  for (const auto& [edge, count] : drawn) chi2 += (count - draws / 3.0) * (count - draws / 3.0) / (draws / 3.0);
  EXPECT_LT(chi2, 20.5) << "5 degrees of freedom, one in a thousand";
}

TEST(BatchLoader, BatchesDependOnTheKeyAndOnNothingElse) {
  const EdgeList list = RandomEdges(200, 6000, 4);
  std::vector<int64_t> seeds(150);
  std::iota(seeds.begin(), seeds.end(), 10);
  const auto graph = GraphOf(list, 200);
  auto small_loader = BatchLoader::Make(graph, {.fanouts = {4, 3}, .batch = 16, .threads = 1, .queue = 1}).value();
  auto four = BatchLoader::Make(graph, {.fanouts = {4, 3}, .batch = 16, .threads = 4, .queue = 7}).value();
  const LoaderEpoch epoch{.seeds = seeds, .seed = 9, .epoch = 2};
  const std::vector<Copied> all_batches = BatchesOfEpoch(*small_loader, epoch);
  EXPECT_EQ(all_batches, BatchesOfEpoch(*four, epoch));
  LoaderEpoch epoch_from_step = epoch;
  epoch_from_step.first_step = 6;
  EXPECT_EQ(std::vector(all_batches.begin() + 6, all_batches.end()), BatchesOfEpoch(*four, epoch_from_step));
  LoaderEpoch other_epoch = epoch;
  other_epoch.epoch = 3;
  EXPECT_NE(all_batches, BatchesOfEpoch(*four, other_epoch));
  LoaderEpoch full = epoch;
  full.drop_last = true;
  EXPECT_EQ(BatchesOfEpoch(*four, full).size(), 9u);
  EXPECT_EQ(all_batches.size(), 10u);
}

TEST(BatchLoader, RowsOfTablesAreGatheredByNodeAndByEdge) {
  const int64_t nodes = 64, edges = 900;
  const EdgeList list = RandomEdges(nodes, edges, 6);
  std::vector<int32_t> x(static_cast<size_t>(nodes * 5));  // rows of 3 in a stride of 5
  std::vector<double> weight(static_cast<size_t>(edges));
  std::iota(x.begin(), x.end(), 0);
  std::iota(weight.begin(), weight.end(), 0.5);
  BatchLoaderOptions options{.fanouts = {3, 3}, .batch = 8, .threads = 2};
  options.node_tables.push_back({reinterpret_cast<const std::byte*>(x.data()), nodes, 12, 20});
  options.edge_tables.push_back({reinterpret_cast<const std::byte*>(weight.data()), edges, 8, 8});
  auto loader = BatchLoader::Make(GraphOf(list, nodes), options).value();
  std::vector<int64_t> seeds{5, 9, 63};
  const auto batch = loader->Load(seeds, 1, 1, 1).value();
  for (size_t i = 0; i < batch->nodes.size(); ++i) {
    int32_t row[3];
    std::memcpy(row, batch->node_rows[0] + i * 12, 12);
    const auto first = static_cast<int32_t>(batch->nodes[i] * 5);
    EXPECT_THAT(row, ElementsAre(first, first + 1, first + 2));
  }
  for (size_t e = 0; e < batch->edge_ids.size(); ++e) {
    double value;
    std::memcpy(&value, batch->edge_rows[0] + e * 8, 8);
    EXPECT_EQ(value, static_cast<double>(batch->edge_ids[e]) + 0.5);
  }
}

TEST(BatchLoader, AnEpochMayBeAbandonedAndBatchesOutliveTheirLoader) {
  const EdgeList list = RandomEdges(500, 20000, 7);
  std::vector<int64_t> seeds(500);
  std::iota(seeds.begin(), seeds.end(), 0);
  auto loader = BatchLoader::Make(GraphOf(list, 500), {.fanouts = {10, 10}, .batch = 4, .threads = 3}).value();
  std::unique_ptr<LoadedBatch> kept_batch;
  for (uint32_t epoch = 0; epoch < 50; ++epoch) {
    ASSERT_TRUE(loader->Start({.seeds = seeds, .seed = 1, .epoch = epoch}).ok());
    kept_batch = loader->Next(60).value();
    ASSERT_NE(kept_batch, nullptr);
  }
  const Copied before = CopyBatch(*kept_batch);
  loader.reset();
  EXPECT_EQ(CopyBatch(*kept_batch), before);
  std::thread([&] { kept_batch.reset(); }).join();
}

TEST(BatchLoader, WrongOptionsAndSeedsAreNamed) {
  const auto graph = GraphOf({{0, 1}, {1, 0}}, 2);
  EXPECT_THAT(BatchLoader::Make(graph, {.fanouts = {0}}).status().message(), HasSubstr("0"));
  EXPECT_THAT(BatchLoader::Make(graph, {.fanouts = {1}, .batch = 0}).status().message(), HasSubstr("batch is 0"));
  auto loader = BatchLoader::Make(graph, {.fanouts = {1}, .threads = 1}).value();
  const std::vector<int64_t> outside{0, 2}, twice{1, 1};
  EXPECT_THAT(loader->Start({.seeds = outside}).message(), HasSubstr("seed 2 is no node: the graph has 2"));
  EXPECT_THAT(loader->Load(twice, 0, 0, 0).status().message(), HasSubstr("twice"));
  ASSERT_TRUE(loader->Start({.seeds = twice}).ok());
  EXPECT_THAT(loader->Next(60).status().message(), HasSubstr("twice"));
  EXPECT_EQ(loader->Next(60).value(), nullptr);
  EXPECT_THAT(loader->Start({.seeds = {outside.data(), 1}, .first_step = 2}).message(),
              HasSubstr("cannot begin at step 2"));
}

}  // namespace
}  // namespace hone::gnn
