// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that synthetic graphs match docs/graphs.md: the same bytes on any number of threads, symmetric, with the
// promised degrees, communities, label noise and splits, and features from which neighbors help to learn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/files/file.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/synthetic/synthetic_core.h"
#include "gnn/graph/synthetic/synthetic_generator.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "gnn/graph/synthetic/synthetic_shape.h"

namespace hone::gnn {
namespace {

using testing::HasSubstr;

std::shared_ptr<const Graph> OpenSynthetic(const std::string& name, int threads = 1) {
  Result<std::shared_ptr<const Graph>> graph = OpenGraph(name, {.threads = threads});
  EXPECT_TRUE(graph.ok()) << graph.status().message();
  return graph.value();
}

TEST(KeyedPermutation, IsAPermutationAndItsInverseInverts) {
  for (const uint64_t count : {1, 2, 3, 4, 5, 17, 64, 1000, 4097}) {
    const KeyedPermutation p = MakePermutation(7, kLevelBlock, 3, count, kPurposePairing);
    std::set<uint64_t> seen_ids;
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t image = Permute(p, i);
      ASSERT_LT(image, count);
      EXPECT_TRUE(seen_ids.insert(image).second);
      EXPECT_EQ(PermuteBack(p, image), i);
    }
  }
}

TEST(KeyedPermutation, PartnersAreMutualAndUniform) {
  // 600 slots and 4,000 keys: partners of slot 0 fall in 12 cells of 50; chi-square with 11 degrees of freedom stays
  // below 40 except for about 4 of 100,000 seeds. The seeds here are fixed.
  std::vector<int> cells(12);
  for (uint64_t key = 0; key < 4000; ++key) {
    const KeyedPermutation p = MakePermutation(key, kLevelRegion, 0, 600, kPurposePairing);
    const uint64_t partner = PartnerSlot(p, 0);
    EXPECT_NE(partner, 0u);
    EXPECT_EQ(PartnerSlot(p, partner), 0u);
    ++cells[partner / 50];
  }
  double chi_square = 0;
  for (size_t c = 0; c < cells.size(); ++c) {
    const double expected = 4000.0 * (c == 0 ? 49 : 50) / 599;
    chi_square += (cells[c] - expected) * (cells[c] - expected) / expected;
  }
  EXPECT_LT(chi_square, 40);
  const KeyedPermutation odd = MakePermutation(1, kLevelRegion, 0, 7, kPurposePairing);
  int alone = 0;
  for (uint64_t i = 0; i < 7; ++i) alone += PartnerSlot(odd, i) == i;
  EXPECT_EQ(alone, 1);
}

TEST(DegreeTable, HasTheMeanAndTheLogNormalQuantiles) {
  const DegreeTable table = MakeDegreeTable(29.07, 1.5, 251'471);
  EXPECT_NEAR(table.Mean(), 29.07, 0.01);
  EXPECT_EQ(table.threshold.back(), uint64_t{1} << 32);
  EXPECT_EQ(table.upper.back(), 251'471u);
  // Quantiles of exp(mu + 1.5 z): ratios of those at z = 0, 1 and 2 are e^1.5 = 4.48 whatever mu is. Rounding to whole
  // degrees and steps of 1/64 allow 6 %.
  const auto quantile = [&](double p) {
    return static_cast<double>(DegreeFromUniform(table.view(), static_cast<uint32_t>(p * 0x1p32)));
  };
  EXPECT_NEAR(quantile(0.841344746) / quantile(0.5), 4.4817, 0.27);
  EXPECT_NEAR(quantile(0.977249868) / quantile(0.841344746), 4.4817, 0.27);
  EXPECT_EQ(DegreeFromUniform(table.view(), 0), 1u);
  EXPECT_LE(DegreeFromUniform(table.view(), UINT32_MAX), 251'471u);
}

TEST(Synthetic, SameBytesOnAnyNumberOfThreads) {
  const auto one = OpenSynthetic("synthetic:papers100M?nodes=30000&seed=5", 1);
  const auto five = OpenSynthetic("synthetic:papers100M?nodes=30000&seed=5", 5);
  const auto other = OpenSynthetic("synthetic:papers100M?nodes=30000&seed=6", 5);
  EXPECT_TRUE(std::ranges::equal(one->structure().columns, five->structure().columns));
  EXPECT_TRUE(std::ranges::equal(one->labels(), five->labels()));
  EXPECT_TRUE(std::ranges::equal(one->train_nodes(), five->train_nodes()));
  const FeatureView a = one->features(), b = five->features();
  EXPECT_EQ(std::memcmp(a.rows, b.rows, static_cast<size_t>(a.num_rows * a.stride_bytes)), 0);
  EXPECT_FALSE(std::ranges::equal(one->structure().columns, other->structure().columns));
}

TEST(Synthetic, EdgesAreSymmetricAndDegreesExact) {
  const std::string name = "synthetic:papers100M?nodes=20000&seed=2";
  const auto graph = OpenSynthetic(name);
  const SyntheticRequest request = ParseSyntheticName(name).value();
  const CsrView csr = graph->structure();
  std::vector<uint64_t> forward, backward;
  for (NodeId v = 0; v < csr.num_nodes; ++v) {
    ASSERT_EQ(csr.Degree(v), SlotsOf(request.spec, request.degrees.view(), v).degree());
    for (const NodeId u : csr.Neighbors(v)) {
      ASSERT_TRUE(u >= 0 && u < csr.num_nodes);
      forward.push_back((uint64_t{static_cast<uint32_t>(u)} << 32) | static_cast<uint32_t>(v));
      backward.push_back((uint64_t{static_cast<uint32_t>(v)} << 32) | static_cast<uint32_t>(u));
    }
  }
  std::sort(forward.begin(), forward.end());
  std::sort(backward.begin(), backward.end());
  EXPECT_EQ(forward, backward);
}

// Checks mean, spread and communities of each shape, at 60,000 nodes.
TEST(Synthetic, DegreesAndCommunitiesAreThoseOfTheShape) {
  for (const SyntheticShape& shape : SyntheticShapes()) {
    SCOPED_TRACE(shape.name);
    const std::string name = "synthetic:" + std::string(shape.name) + "?nodes=60000&features=4&seed=1";
    const auto graph = OpenSynthetic(name, 2);
    const SyntheticSpec spec = ParseSyntheticName(name)->spec;
    const CsrView csr = graph->structure();
    const double n = static_cast<double>(csr.num_nodes), mean = static_cast<double>(csr.num_edges()) / n;
    // The relative standard error of a log-normal's mean is sqrt((e^(sigma^2) - 1) / n); the tolerance is four of
    // these.
    const double tolerance = 4 * std::sqrt((std::exp(shape.sigma * shape.sigma) - 1) / n) * shape.mean_degree;
    EXPECT_NEAR(mean, shape.mean_degree, tolerance);
    // Sigma is estimated from the upper quantiles, where rounding to whole degrees matters least.
    std::vector<int64_t> degrees;
    for (NodeId v = 0; v < csr.num_nodes; ++v) degrees.push_back(csr.Degree(v));
    std::sort(degrees.begin(), degrees.end());
    const auto at = [&](double q) { return std::log(static_cast<double>(degrees[static_cast<size_t>(q * n)])); };
    EXPECT_NEAR((at(0.97725) - at(0.5)) / 2, shape.sigma, 0.06);

    int64_t same_class = 0, self = 0;
    for (NodeId v = 0; v < csr.num_nodes; ++v) {
      const int32_t planted = ClassOfBlock(spec, BlockOf(spec, v));
      for (const NodeId u : csr.Neighbors(v)) {
        same_class += ClassOfBlock(spec, BlockOf(spec, u)) == planted;
        self += u == v;
      }
    }
    const double edges = static_cast<double>(csr.num_edges());
    const double homophily = static_cast<double>(same_class) / edges;
    // Neighbors of equal class: 40 % in the block and 1 / classes of the rest. Hubs send slots that do not fit in their
    // block to the region.
    EXPECT_GT(homophily, 0.33);
    EXPECT_LT(homophily, 0.40 + 0.6 / shape.classes + 0.02);
    EXPECT_LT(static_cast<double>(self) / edges, 0.01);
  }
}

TEST(Synthetic, TenPercentOfLabelsAreWrongAndSplitsAreExact) {
  const std::string name = "synthetic:arxiv?scale=0.3&features=4";
  const auto graph = OpenSynthetic(name, 2);
  const SyntheticSpec spec = ParseSyntheticName(name)->spec;
  int64_t wrong = 0;
  std::set<int32_t> classes;
  for (NodeId v = 0; v < spec.num_nodes; ++v) {
    const int32_t label = graph->labels()[static_cast<size_t>(v)];
    ASSERT_TRUE(label >= 0 && label < 40);
    classes.insert(label);
    wrong += label != ClassOfBlock(spec, BlockOf(spec, v));
  }
  const double n = static_cast<double>(spec.num_nodes);
  EXPECT_NEAR(static_cast<double>(wrong) / n, 0.1, 4 * std::sqrt(0.09 / n));
  EXPECT_EQ(classes.size(), 40u);
  EXPECT_EQ(graph->train_nodes().size(), 27282u);  // 0.3 of 90,941
  EXPECT_EQ(graph->valid_nodes().size(), 8940u);
  EXPECT_EQ(graph->train_nodes().size() + graph->valid_nodes().size() + graph->test_nodes().size(),
            static_cast<size_t>(spec.num_nodes));
  std::set<NodeId> nodes_of_splits;
  for (const auto nodes : {graph->train_nodes(), graph->valid_nodes(), graph->test_nodes()}) {
    EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end()));
    nodes_of_splits.insert(nodes.begin(), nodes.end());
  }
  EXPECT_EQ(nodes_of_splits.size(), static_cast<size_t>(spec.num_nodes));
}

TEST(Synthetic, FewLabelledNodesStillHaveEveryClass) {
  const auto graph = OpenSynthetic("synthetic:papers100M?nodes=100000&features=4");
  std::set<int32_t> classes;
  int64_t labelled = 0;
  for (const int32_t label : graph->labels()) {
    labelled += label != kNoLabel;
    if (label != kNoLabel) classes.insert(label);
  }
  EXPECT_EQ(labelled, std::llround(1'546'782 * (100000.0 / 111'059'956)));
  EXPECT_EQ(classes.size(), 172u);
  EXPECT_EQ(static_cast<int64_t>(graph->train_nodes().size() + graph->valid_nodes().size() + graph->test_nodes().size()),
            labelled);
}

TEST(Synthetic, FullPapers100MHasTheSpecifiedCommunities) {
  const SyntheticSpec spec = ParseSyntheticName("synthetic:papers100M?seed=1")->spec;
  EXPECT_EQ(spec.num_nodes, 111'059'956);
  EXPECT_EQ(spec.block_nodes, 2907);
  EXPECT_EQ(spec.blocks_per_region, 172);
  EXPECT_EQ(spec.num_labelled, 1'546'782);
  EXPECT_EQ(spec.labelled_first, 1);
  EXPECT_EQ(spec.num_train, 1'207'179);
  EXPECT_EQ(spec.num_valid, 125'265);
}

TEST(Synthetic, HalfBitsOfFeaturesAreRoundedToNearestEven) {
  for (int32_t units = -70'000; units <= 70'000; ++units) {
    const float value = static_cast<float>(units) * kFeatureUnit;
    ASSERT_EQ(FeatureHalfBits(units), HalfFromFloat(value)) << units;
    ASSERT_EQ(FeatureBFloat16Bits(units), BFloat16FromFloat(value)) << units;
  }
}

// Compares two classifiers that need no training: the nearest centroid (known here) to a node's own features, and to
// the mean of its own and its neighbors'. The second one's gain is what a graph network can learn and an MLP cannot.
TEST(Synthetic, NeighborsTellMuchMoreThanANodesOwnFeatures) {
  for (const std::string shape : {"arxiv", "products", "papers100M"}) {
    SCOPED_TRACE(shape);
    const std::string name = "synthetic:" + shape + "?nodes=20000&dtype=float32";
    const auto graph = OpenSynthetic(name, 2);
    const SyntheticSpec spec = ParseSyntheticName(name)->spec;
    const FeatureView x = graph->features();
    const size_t width = static_cast<size_t>(x.width);
    std::vector<std::vector<float>> centroids(static_cast<size_t>(spec.num_classes), std::vector<float>(width));
    for (int32_t c = 0; c < spec.num_classes; ++c) {
      for (size_t f = 0; f < width; ++f) {
        const uint32_t word = CentroidWords(spec, c, static_cast<int32_t>(f / 4))[f % 4];
        centroids[static_cast<size_t>(c)][f] = static_cast<float>(spec.centroid_weight * ByteSumNoise(word)) * kFeatureUnit;
      }
    }
    // Returns the class c with the largest x . c - |c|^2 * shrink / 2: the nearest centroid if the signal is `shrink`
    // times it.
    const auto classify = [&](const std::vector<float>& row, float shrink) {
      int32_t best = 0;
      float best_score = -INFINITY;
      for (int32_t c = 0; c < spec.num_classes; ++c) {
        float score = 0;
        for (size_t f = 0; f < width; ++f) {
          const float m = centroids[static_cast<size_t>(c)][f];
          score += m * (row[f] - shrink * m / 2);
        }
        if (score > best_score) best = c, best_score = score;
      }
      return best;
    };
    const CsrView csr = graph->structure();
    int alone = 0, together = 0, count = 0;
    for (NodeId v = 0; v < csr.num_nodes; v += 19, ++count) {
      const int32_t planted = ClassOfBlock(spec, BlockOf(spec, v));
      const float* own = reinterpret_cast<const float*>(x.Row(v));
      std::vector<float> row(own, own + width);
      alone += classify(row, 1.0f) == planted;
      // The node's own features have weight 1; the neighbors' mean has a weight that grows with their number, up to 4.
      const float degree = static_cast<float>(csr.Degree(v)), weight = std::min(4.0f, 0.4f * degree);
      for (const NodeId u : csr.Neighbors(v)) {
        const float* other = reinterpret_cast<const float*>(x.Row(u));
        for (size_t f = 0; f < width; ++f) row[f] += weight / degree * other[f];
      }
      together += classify(row, 1.0f + 0.4f * weight) == planted;
    }
    const double own_accuracy = 1.0 * alone / count, both_accuracy = 1.0 * together / count;
    RecordProperty(shape + "_own", std::to_string(own_accuracy));
    RecordProperty(shape + "_with_neighbors", std::to_string(both_accuracy));
    EXPECT_GT(own_accuracy, 0.4);
    EXPECT_LT(own_accuracy, 0.7);
    EXPECT_GT(both_accuracy, own_accuracy + 0.18);
  }
}

// docs/graphs.md lists the shapes with the numbers of the code.
TEST(SyntheticName, PageHasTheShapesOfTheCode) {
  const std::string page = ReadFile(HONE_SOURCE_DIR "/docs/graphs.md").value();
  for (const SyntheticShape& s : SyntheticShapes()) {
    EXPECT_THAT(page, HasSubstr(fmt::format("| `{}` | {} | {:.2f} | {} | {} | {} | {} / {} / {} |", s.name, s.nodes,
                                            s.mean_degree, s.sigma, s.width, s.classes, s.train, s.valid, s.test)));
  }
}

TEST(SyntheticName, SaysWhatIsWrong) {
  const auto message = [](const std::string& name) { return OpenGraph(name).status().message(); };
  EXPECT_THAT(message("synthetic:reddit"), HasSubstr("SHAPE one of arxiv, products, papers100M"));
  EXPECT_THAT(message("synthetic:arxiv?scale=0"), HasSubstr("'scale=0': expected a number from"));
  EXPECT_THAT(message("synthetic:arxiv?scale"), HasSubstr("key=value"));
  EXPECT_THAT(message("synthetic:arxiv?sized=1"), HasSubstr("unknown parameter 'sized'"));
  EXPECT_THAT(message("synthetic:arxiv?nodes=-1"), HasSubstr("'nodes=-1'"));
  EXPECT_THAT(message("synthetic:arxiv?scale=nan"), HasSubstr("'scale=nan'"));
  EXPECT_THAT(message("synthetic:arxiv?dtype=int8"), HasSubstr("float32, float16 or bfloat16"));
  EXPECT_THAT(message("synthetic:papers100M?scale=100"), HasSubstr("are possible"));
  EXPECT_EQ(OpenGraph("synthetic:reddit").status().code(), StatusCode::kInvalidArgument);
}

TEST(SyntheticName, TinyGraphsWork) {
  for (const std::string nodes : {"1", "2", "3", "10", "41", "200"}) {
    for (const SyntheticShape& shape : SyntheticShapes()) {
      const auto graph = OpenSynthetic("synthetic:" + std::string(shape.name) + "?nodes=" + nodes);
      EXPECT_EQ(graph->structure().num_nodes, std::stoll(nodes));
      for (const NodeId u : graph->structure().columns) ASSERT_LT(u, graph->structure().num_nodes);
    }
  }
}

TEST(Synthetic, AnOutlineHasAllButEdgesAndFeatures) {
  const std::string name = "synthetic:papers100M?nodes=9001&degree=9&seed=3";
  const auto whole_graph = OpenGraph(name);
  const auto outline = OutlineSyntheticGraph(name, 2);
  ASSERT_TRUE(whole_graph.ok());
  ASSERT_TRUE(outline.ok()) << outline.status().message();
  const auto same = [](auto a, auto b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); };
  EXPECT_EQ((*outline)->name(), name);
  EXPECT_EQ((*outline)->structure().num_nodes, (*whole_graph)->structure().num_nodes);
  EXPECT_TRUE((*outline)->structure().columns.empty());
  EXPECT_EQ((*outline)->features().rows, nullptr);
  EXPECT_EQ((*outline)->features().width, (*whole_graph)->features().width);
  EXPECT_EQ((*outline)->features().stride_bytes, (*whole_graph)->features().stride_bytes);
  EXPECT_EQ((*outline)->num_classes(), (*whole_graph)->num_classes());
  EXPECT_TRUE(same((*outline)->labels(), (*whole_graph)->labels()));
  EXPECT_TRUE(same((*outline)->train_nodes(), (*whole_graph)->train_nodes()));
  EXPECT_TRUE(same((*outline)->valid_nodes(), (*whole_graph)->valid_nodes()));
  EXPECT_TRUE(same((*outline)->test_nodes(), (*whole_graph)->test_nodes()));
}

}  // namespace
}  // namespace hone::gnn
