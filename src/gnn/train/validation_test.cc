// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests which nodes a validation counts, and that the ranks' parts are disjoint and complete.
#include "gnn/train/validation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gnn/train/test_graph.h"

namespace hone::gnn {
namespace {

std::unique_ptr<Model<float>> ModelOf(const Graph& graph) {
  return MakeModel({.kind = "sage",
                    .in_width = graph.features().width,
                    .hidden = 8,
                    .num_classes = graph.num_classes(),
                    .layers = 2,
                    .seed = 4})
      .value();
}

ValidationOptions OptionsOfRank(int rank, int ranks) {
  return {.fanouts = {5, 5}, .batch = 30, .seed = 9, .rank = rank, .ranks = ranks};
}

void Add(const ClassCounts& part, ClassCounts& sum) {
  for (size_t c = 0; c < sum.actual.size(); ++c) {
    sum.actual[c] += part.actual[c];
    sum.predicted[c] += part.predicted[c];
    sum.correct[c] += part.correct[c];
  }
}

TEST(Validation, NodesWithoutALabelAreNeitherRightNorWrong) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 700, .unlabelled_every = 3});
  const auto labelled = std::ranges::count_if(
      graph->valid_nodes(), [&](NodeId v) { return graph->labels()[static_cast<size_t>(v)] != kNoLabel; });
  ASSERT_LT(labelled, static_cast<int64_t>(graph->valid_nodes().size()));
  const ValidationCounts counts = CountCorrect(graph, *ModelOf(*graph), OptionsOfRank(0, 1)).value();
  EXPECT_EQ(counts.classes.labelled(), labelled);
  EXPECT_GT(counts.classes.right(), 0);
  EXPECT_LT(counts.classes.right(), labelled);
}

TEST(Validation, OfTwoClassesEachLabelledNodeHasAScoreThatIsOnTheSideOfItsPrediction) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 700, .classes = 2, .unlabelled_every = 3});
  for (const std::vector<int32_t>& fanouts : {std::vector<int32_t>{5, 5}, {kAllNeighbors, kAllNeighbors}}) {
    ValidationOptions options = OptionsOfRank(0, 1);
    options.fanouts = fanouts;
    const ValidationCounts counts = CountCorrect(graph, *ModelOf(*graph), options).value();
    ASSERT_EQ(static_cast<int64_t>(counts.scores.size()), counts.classes.labelled());
    int64_t positives = 0, said = 0;
    for (const ScoredNode& node : counts.scores) {
      positives += node.positive;
      said += node.score > 0;
    }
    EXPECT_EQ(positives, counts.classes.actual[1]);
    EXPECT_EQ(said, counts.classes.predicted[1]);
  }
  const std::shared_ptr<const Graph> four = CommunityGraph({.nodes = 700});
  EXPECT_TRUE(CountCorrect(four, *ModelOf(*four), OptionsOfRank(0, 1)).value().scores.empty());
}

TEST(Validation, ThePartsOfTheRanksAddUpToTheWhole) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 700});
  const std::unique_ptr<Model<float>> model = ModelOf(*graph);
  const ValidationCounts all_counts = CountCorrect(graph, *model, OptionsOfRank(0, 1)).value();
  for (const int ranks : {2, 3, 50}) {  // 50: more than there are batches, so that some have none
    ClassCounts sum(graph->num_classes());
    for (int rank = 0; rank < ranks; ++rank)
      Add(CountCorrect(graph, *model, OptionsOfRank(rank, ranks)).value().classes, sum);
    EXPECT_EQ(sum.actual, all_counts.classes.actual) << ranks;
    EXPECT_EQ(sum.predicted, all_counts.classes.predicted) << ranks;
    EXPECT_EQ(sum.correct, all_counts.classes.correct) << ranks;
  }
}

// The sums are the same in another order. A node could be counted differently only if its two largest logits differed
// by rounding alone, which does not occur here.
TEST(Validation, EveryNeighborIsCountedLayerByLayerAsInBatches) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 700, .width = 40, .unlabelled_every = 3});
  for (const char* kind : {"sage", "gat", "gin", "sage-ri"}) {
    const std::unique_ptr<Model<float>> model = MakeModel({.kind = kind,
                                                           .in_width = graph->features().width,
                                                           .hidden = 8,
                                                           .num_classes = graph->num_classes(),
                                                           .layers = 2,
                                                           .seed = 4})
                                                    .value();
    ValidationOptions options = OptionsOfRank(0, 1);
    options.fanouts = {kAllNeighbors, kAllNeighbors};
    int64_t largest_total = 0;  // largest total reported: batches, or rows of a layer
    options.progress = [&](int64_t, int64_t total) { largest_total = std::max(largest_total, total); };
    const ValidationCounts exact = CountCorrect(graph, *model, options).value();
    EXPECT_GE(largest_total, static_cast<int64_t>(graph->valid_nodes().size()));
    largest_total = 0;
    options.exact_bytes = 0;
    const ValidationCounts batches = CountCorrect(graph, *model, options).value();
    EXPECT_LT(largest_total, 10);
    EXPECT_EQ(exact.classes.actual, batches.classes.actual);
    EXPECT_EQ(exact.classes.predicted, batches.classes.predicted) << kind;
    EXPECT_EQ(exact.classes.correct, batches.classes.correct) << kind;
    EXPECT_GT(exact.classes.right(), 0);
  }
}

TEST(Validation, LayerByLayerTheRanksAddUpAndAStopIsHeard) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 700});
  const std::unique_ptr<Model<float>> model = ModelOf(*graph);
  const auto options = [](int rank, int ranks) {
    ValidationOptions part = OptionsOfRank(rank, ranks);
    part.fanouts = {kAllNeighbors, kAllNeighbors};
    return part;
  };
  const ValidationCounts all_counts = CountCorrect(graph, *model, options(0, 1)).value();
  ClassCounts sum(graph->num_classes());
  for (int rank = 0; rank < 3; ++rank) Add(CountCorrect(graph, *model, options(rank, 3)).value().classes, sum);
  EXPECT_EQ(sum.actual, all_counts.classes.actual);
  EXPECT_EQ(sum.correct, all_counts.classes.correct);
  ValidationOptions stopping = options(0, 1);
  stopping.stop = [] { return true; };
  EXPECT_TRUE(CountCorrect(graph, *model, stopping).value().stopped);
}

TEST(Validation, EndsWhenAskedAndTellsHowFarItIs) {
  const std::shared_ptr<const Graph> graph = CommunityGraph({.nodes = 700});
  const std::unique_ptr<Model<float>> model = ModelOf(*graph);
  ValidationOptions options = OptionsOfRank(0, 1);
  int64_t batches = 0;
  options.progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(done, batches + 1);
    EXPECT_EQ(total, (static_cast<int64_t>(graph->valid_nodes().size()) + 29) / 30);
    batches = done;
  };
  options.stop = [&] { return batches == 2; };
  EXPECT_TRUE(CountCorrect(graph, *model, options).value().stopped);
  EXPECT_EQ(batches, 2);
}

}  // namespace
}  // namespace hone::gnn
