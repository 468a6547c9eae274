// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/files/file.h"
#include "base/text/toml_document.h"
#include "gnn/tune/batch_shapes.h"
#include "gnn/tune/hot_operations.h"
#include "gnn/tune/write_tasks.h"

namespace hone::gnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Kind = HotOperation::Kind;

std::shared_ptr<const Graph> SmallGraph() {
  auto graph = OpenGraph("synthetic:arxiv?nodes=1500&seed=1");
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return *graph;
}

HotOperations OperationsOf(const std::string& values) {
  const Result<ModelSpec> spec = ParseModelSpec("name = \"m\"\nvalues = [\n" + values + "]", "m.toml");
  EXPECT_TRUE(spec.ok()) << spec.status().message();
  const Result<SpecShapes> shapes = CheckModelSpec(*spec, 12, 5);
  EXPECT_TRUE(shapes.ok()) << shapes.status().message();
  return FindHotOperations(*spec, *shapes, LowerToUnits(*spec, *shapes));
}

std::vector<std::string> Names(const HotOperations& operations) {
  std::vector<std::string> names;
  for (const HotOperation& operation : operations.operations)
    names.push_back(operation.value + ": " + TaskName(operation));
  return names;
}

TEST(BatchShapes, AreThoseThatTheSamplerDraws) {
  const auto graph = SmallGraph();
  const MeasureOptions options{.fanouts = {4, 3}, .batch = 64, .batches = 3, .seed = 9};
  const Result<MeasuredBatches> measured = MeasureBatches(graph, options);
  ASSERT_TRUE(measured.ok()) << measured.status().message();
  ASSERT_EQ(measured->batches.size(), 3u);
  auto sampler = MakeNeighborSampler(graph->structure(), {.fanouts = options.fanouts});
  ASSERT_TRUE(sampler.ok());
  const auto train = graph->train_nodes();
  std::multimap<int64_t, BatchShape> expected;  // by edges
  for (uint32_t step = 0; step < 3; ++step) {
    std::vector<NodeId> seeds;
    for (int64_t i = 0; i < 64; ++i) {
      seeds.push_back(
          train[static_cast<size_t>(PermutedIndex(9, 0, static_cast<int64_t>(train.size()), step * 64 + i))]);
    }
    NeighborSample sample;
    ASSERT_TRUE((*sampler)->Sample(seeds, {.seed = 9, .step = step}, sample).ok());
    BatchShape shape;
    for (const int layer : {1, 0}) {
      const BlockView block = sample.Block(layer);
      std::map<int32_t, int64_t> uses;
      HopShape hop{block.num_dst, block.num_src, block.num_edges()};
      for (const int32_t column : block.columns) hop.most_uses = std::max(hop.most_uses, ++uses[column]);
      shape.hops.push_back(hop);
    }
    expected.emplace(shape.edges(), shape);
  }
  size_t b = 0;
  for (const auto& [edges, shape] : expected) {
    const BatchShape& batch = measured->batches[b++];
    EXPECT_EQ(batch.edges(), edges);
    for (size_t h = 0; h < 2; ++h) {
      EXPECT_EQ(batch.hops[h].num_dst, shape.hops[h].num_dst);
      EXPECT_EQ(batch.hops[h].num_src, shape.hops[h].num_src);
      EXPECT_EQ(batch.hops[h].most_uses, shape.hops[h].most_uses);
    }
    EXPECT_EQ(batch.Rows(0), 64);
    EXPECT_EQ(batch.Rows(1), batch.hops[0].num_src);
    EXPECT_EQ(batch.Rows(2), batch.hops[1].num_src);
  }
}

TEST(BatchShapes, NeedFanoutsThatAreNumbersAndNodesToTrainOn) {
  const auto measured = MeasureBatches(SmallGraph(), {.fanouts = {4, kAllNeighbors}});
  ASSERT_FALSE(measured.ok());
  EXPECT_THAT(measured.status().message(), HasSubstr("give one number a hop"));
}

TEST(BatchShapes, EvenDegreesBelowTheBoundFillAsManySlots) {
  for (const int32_t fanout : {1, 5, 15, 20}) {
    for (const double filled : {0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0}) {
      const int64_t bound = DegreeBound(filled, fanout);
      double slots = 0;
      for (int64_t d = 0; d < bound; ++d) slots += static_cast<double>(std::min<int64_t>(d, fanout));
      const double mean = slots / static_cast<double>(bound);
      // The bound is a whole number, and one more moves the mean by at most half a slot.
      EXPECT_NEAR(mean, filled * fanout, 0.26) << filled << " of " << fanout << ": bound " << bound;
    }
  }
}

TEST(HotOperations, AreThoseThatAGpuRunsForwardAndBackward) {
  const HotOperations operations = OperationsOf(R"(
    {name = "a0", op = "aggregate", of = "x", how = "sum", scale = "symmetric"},
    {name = "h0", op = "linear", of = "a0", width = 32},
    {name = "r0", op = "activate", of = "h0"},
    {name = "h1", op = "linear", of = "r0", width = "classes"},
    {name = "a1", op = "aggregate", of = "h1", how = "max"},
  )");
  EXPECT_THAT(Names(operations),
              ElementsAre("a0: aggregate_symmetric_of_features",  // features have no gradient
                          "h0: linear", "h0: linear_backward_weight", "h1: linear", "h1: linear_backward_input",
                          "h1: linear_backward_weight", "a1: aggregate_max", "a1: aggregate_max_backward"));
  EXPECT_EQ(operations.operations[0].hop, 1);
  EXPECT_EQ(operations.operations[1].in_width, 12);
  EXPECT_EQ(operations.operations[4].out_width, 5);
  EXPECT_TRUE(operations.left_out.empty());
}

TEST(HotOperations, AttentionIsProjectedBehindTheWeightedSum) {
  const HotOperations operations = OperationsOf(R"(
    {name = "g0", op = "attention", of = "x", width = 4, heads = 3},
    {name = "l", op = "head", of = "g0"},
  )");
  EXPECT_THAT(Names(operations), ElementsAre("x: gather_features", "g0: attention", "g0: attention_backward",
                                             "g0: linear", "g0: linear_backward_input", "g0: linear_backward_weight",
                                             "l: linear", "l: linear_backward_input", "l: linear_backward_weight"));
  EXPECT_EQ(operations.operations[1].heads, 3);
  EXPECT_EQ(operations.operations[1].in_width, 12);
  EXPECT_EQ(operations.operations[3].hop, 0);  // of the destinations
  EXPECT_EQ(operations.operations[3].in_width, 36);
  EXPECT_EQ(operations.operations[3].out_width, 12);
  EXPECT_TRUE(operations.left_out.empty());  // features have no gradient
  const HotOperations behind = OperationsOf(R"(
    {name = "h", op = "linear", of = "x", width = 8},
    {name = "g0", op = "attention", of = "h", width = 4},
    {name = "l", op = "head", of = "g0"},
  )");
  EXPECT_THAT(Names(behind), testing::IsSupersetOf({"g0: attention_backward", "g0: attention_rows_backward"}));
  EXPECT_TRUE(behind.left_out.empty());
}

TEST(TaskTexts, AreWholeForEveryOperationAndType) {
  int checked = 0;
  for (const Kind kind : {Kind::kGather, Kind::kAggregate, Kind::kAggregateBackward, Kind::kAttention,
                          Kind::kAttentionBackward, Kind::kAttentionRowsBackward, Kind::kLinear, Kind::kLinearBackwardInput, Kind::kLinearBackwardWeight}) {
    for (const auto how : {AggregateSpec::How::kMean, AggregateSpec::How::kSum, AggregateSpec::How::kMax}) {
      for (const bool symmetric : {false, true}) {
        if (symmetric && how != AggregateSpec::How::kSum) continue;
        for (const FeatureDtype features : {FeatureDtype::kFloat32, FeatureDtype::kFloat16, FeatureDtype::kBFloat16}) {
          for (const bool fp32 : {false, true}) {
            HotOperation operation{.kind = kind, .how = how, .symmetric = symmetric};
            operation.of_features = kind == Kind::kGather || kind == Kind::kAggregate;
            const TaskTexts texts = MakeTaskTexts(operation, "m", {features, fp32}, {{{{"rows", 3}}, "'h' here"}});
            for (const std::string* text : {&texts.task, &texts.oracle, &texts.seed, &texts.engine, &texts.baseline}) {
              EXPECT_THAT(*text, Not(HasSubstr("{{")));
              EXPECT_THAT(*text, Not(HasSubstr("}}")));
            }
            const auto task = ParseToml(texts.task, TaskName(operation));
            EXPECT_TRUE(task.ok()) << task.status().message();
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_EQ(checked, 9 * 4 * 3 * 2);
}

TEST(WriteTasks, AFolderAppearsWholeOrNotAtAll) {
  TemporaryDirectory scratch = std::move(MakeTemporaryDirectory()).value();
  const std::vector<ModelTask> tasks = {{.name = "linear", .texts = {"t", "o", "s", "", ""}, .readme = "r"}};
  ASSERT_TRUE(WriteTasks(scratch / "tasks/", tasks, "all", "{}").ok());
  EXPECT_EQ(*ReadFile(scratch / "tasks/linear/seed.cu"), "s");
  EXPECT_FALSE(FileExists(scratch / "tasks/linear/baseline.toml"));
  const Status again = WriteTasks(scratch / "tasks", tasks, "all", "{}");
  EXPECT_EQ(again.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(again.message(), HasSubstr("--out"));
  // A task's name that cannot be a folder: what was begun is removed.
  EXPECT_FALSE(WriteTasks(scratch / "other", {{.name = std::string(300, 'x')}}, "all", "{}").ok());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch.path()), {}), 1);
}

}  // namespace
}  // namespace hone::gnn
