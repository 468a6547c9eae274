// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that an edge's features stay with the edge, from the source's order to the rows of the container.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/convert/convert.h"
#include "gnn/graph/convert/convert_fixture.h"

namespace hone::gnn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EdgeFeaturesTest : public ConvertTest {
 protected:
  // Writes a folder with the edges 2->0, 0->1, 1->0, 0->1 and 2->2. Edge e has the features e + 1 and 10 * (e + 1).
  void PutEdges() {
    Put("edges.npy", NpyBytes<int64_t>("<i8", "5, 2", {2, 0, 0, 1, 1, 0, 0, 1, 2, 2}));
    Put("edge_features.npy", NpyBytes<float>("<f4", "5, 2", {1, 10, 2, 20, 3, 30, 4, 40, 5, 50}));
  }
  // Returns the first feature of each edge of row v, in the row's order.
  static std::vector<float> FirstOfRow(const Graph& graph, NodeId v) {
    const FeatureView rows = graph.edge_features();
    const CsrView csr = graph.structure();
    EXPECT_EQ(rows.num_rows, csr.num_edges());
    std::vector<float> first;
    for (int64_t e = csr.row_offsets[static_cast<size_t>(v)]; e < csr.row_offsets[static_cast<size_t>(v) + 1]; ++e) {
      first.push_back(Values(rows, e).front());
    }
    return first;
  }
  static std::vector<float> Values(const FeatureView& rows, int64_t e) {
    std::vector<float> values;
    for (int64_t f = 0; f < rows.width; ++f) {
      values.push_back(rows.dtype == FeatureDtype::kFloat32
                           ? reinterpret_cast<const float*>(rows.Row(e))[f]
                           : FloatFromHalf(reinterpret_cast<const uint16_t*>(rows.Row(e))[f]));
    }
    return values;
  }
};

TEST_F(EdgeFeaturesTest, FollowTheirEdgesIntoTheSortedRows) {
  PutEdges();
  const auto graph = Convert(in_);
  EXPECT_THAT(Row(*graph, 0), ElementsAre(1, 2));
  EXPECT_THAT(FirstOfRow(*graph, 0), ElementsAre(3, 1));
  EXPECT_THAT(Row(*graph, 1), ElementsAre(0, 0));
  EXPECT_THAT(FirstOfRow(*graph, 1), ElementsAre(2, 4));  // parallel edges stay in the order of the source
  EXPECT_THAT(FirstOfRow(*graph, 2), ElementsAre(5));
  EXPECT_THAT(Values(graph->edge_features(), 0), ElementsAre(3, 30));
  EXPECT_EQ(graph->edge_features().stride_bytes, 8);
  EXPECT_EQ(report_.edge_feature_width, 2);
  EXPECT_THAT(UnreadNames(), IsEmpty());
  EXPECT_THAT(ReadContainerProvenance(out_).value(), HasSubstr("edge_features.npy"));
  const auto half_graph = Convert(in_, {.dtype = FeatureDtype::kFloat16});
  EXPECT_EQ(half_graph->edge_features().dtype, FeatureDtype::kFloat16);
  EXPECT_EQ(half_graph->edge_features().stride_bytes, 4);
  EXPECT_THAT(FirstOfRow(*half_graph, 0), ElementsAre(3, 1));
}

TEST_F(EdgeFeaturesTest, BothDirectionsHaveTheRowAndCoalescingKeepsTheFirst) {
  PutEdges();
  auto graph = Convert(in_, {.symmetrize = true});
  EXPECT_THAT(Row(*graph, 0), ElementsAre(1, 1, 1, 2));
  EXPECT_THAT(FirstOfRow(*graph, 0), ElementsAre(2, 3, 4, 1));
  EXPECT_THAT(FirstOfRow(*graph, 1), ElementsAre(2, 3, 4));
  EXPECT_THAT(Row(*graph, 2), ElementsAre(0, 2));
  EXPECT_THAT(FirstOfRow(*graph, 2), ElementsAre(1, 5));

  graph = Convert(in_, {.symmetrize = true, .coalesce = true});
  EXPECT_THAT(FirstOfRow(*graph, 0), ElementsAre(2, 1));
  EXPECT_THAT(FirstOfRow(*graph, 1), ElementsAre(2));  // the same row in both directions
  EXPECT_EQ(graph->structure().num_edges(), 5);

  graph = Convert(in_, {.self_loops = SelfLoops::kAdd});
  EXPECT_THAT(Row(*graph, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(FirstOfRow(*graph, 0), ElementsAre(0, 3, 1));
  EXPECT_THAT(FirstOfRow(*graph, 2), ElementsAre(0));
  EXPECT_THAT(report_.notes, ElementsAre(HasSubstr("edge features of zero")));
}

TEST_F(EdgeFeaturesTest, AnyFileMayHaveThemForAnyEdgeList) {
  PutEdges();
  std::filesystem::rename(in_ + "/edge_features.npy", in_ + "/mine.npy");
  Put("g.txt", "2 0\n0 1\n# a comment\n1 0\n0 1\n2 2\n");
  const auto graph = Convert(in_ + "/g.txt", {.edge_features = in_ + "/mine.npy"});
  EXPECT_THAT(FirstOfRow(*graph, 0), ElementsAre(3, 1));
  EXPECT_THAT(FirstOfRow(*graph, 1), ElementsAre(2, 4));
  std::filesystem::remove(in_ + "/g.txt");
  Convert(in_, {.edge_features = in_ + "/mine.npy"});
  EXPECT_THAT(UnreadNames(), IsEmpty());
  EXPECT_EQ(Convert(in_)->edge_features().num_rows, 0);
  EXPECT_THAT(UnreadNames(), ElementsAre("mine.npy"));
}

// Makes 600,000 edges with 12 bytes of features each, of which 1 MiB stays in memory.
TEST_F(EdgeFeaturesTest, LittleMemoryGivesTheSameRows) {
  std::vector<int64_t> edges;
  std::vector<float> features;
  for (int64_t i = 0; i < 300'000; ++i) {
    const int64_t u = (i * 7919) % 100'003, v = (i * i + 3) % 100'003;
    edges.insert(edges.end(), {u, v});
    features.insert(features.end(), {static_cast<float>(u + v), static_cast<float>(i), 7});
  }
  Put("edges.npy", NpyBytes("<i8", "300000, 2", edges));
  Put("edge_features.npy", NpyBytes("<f4", "300000, 3", features));
  const auto roomy = Convert(in_, {.symmetrize = true});
  EXPECT_FALSE(report_.spilled);
  const std::string expected = ReadFile(out_).value();
  const FeatureView rows = roomy->edge_features();
  const CsrView csr = roomy->structure();
  for (NodeId v = 0; v < csr.num_nodes; ++v) {
    for (int64_t e = csr.row_offsets[static_cast<size_t>(v)]; e < csr.row_offsets[static_cast<size_t>(v) + 1]; ++e) {
      ASSERT_EQ(Values(rows, e)[0], static_cast<float>(v + csr.columns[static_cast<size_t>(e)])) << v;
    }
  }
  Convert(in_, {.symmetrize = true, .memory_bytes = 1 << 20, .threads = 3});
  EXPECT_TRUE(report_.spilled);
  EXPECT_TRUE(ReadFile(out_).value() == expected);
}

TEST_F(EdgeFeaturesTest, AreWrittenReadAndVerified) {
  PutEdges();
  const auto graph = Convert(in_);
  const std::string again = directory_ / "again.hgraph";
  ASSERT_TRUE(WriteContainer(*graph, again, "{}").ok());
  for (const auto load : {OpenGraphOptions::Load::kCopy, OpenGraphOptions::Load::kMap}) {
    const auto reopened = OpenGraph(again, {.load = load, .check = OpenGraphOptions::Check::kAll});
    ASSERT_TRUE(reopened.ok()) << reopened.status().message();
    EXPECT_THAT(FirstOfRow(**reopened, 0), ElementsAre(3, 1));
  }
  // A changed byte of the section is found, and named.
  const ContainerHeader header = ReadContainerHeader(again).value();
  const ContainerSection* section = header.Find(SectionType::kEdgeFeatures);
  ASSERT_NE(section, nullptr);
  std::string bytes = ReadFile(again).value();
  bytes[static_cast<size_t>(section->offset) + 5] ^= 1;
  WriteTestFile(again, bytes);
  EXPECT_THAT(OpenGraph(again, {.load = OpenGraphOptions::Load::kCopy}).status().message(),
              HasSubstr("section edge_features"));
  const Status mapped =
      OpenGraph(again, {.load = OpenGraphOptions::Load::kMap, .check = OpenGraphOptions::Check::kAll}).status();
  EXPECT_THAT(mapped.message(), HasSubstr("section edge_features"));
}

TEST_F(EdgeFeaturesTest, WrongOnesAreNamed) {
  PutEdges();
  Put("edge_features.npy", NpyBytes<float>("<f4", "4, 2", {1, 10, 2, 20, 3, 30, 4, 40}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("edge_features.npy"), HasSubstr("4 rows"), HasSubstr("5 edges"),
                                  HasSubstr("before --symmetrize")));
  Put("g.txt", "2 0\n0 1\n1 0\n");
  const std::string file = in_ + "/edge_features.npy";
  EXPECT_THAT(Refused(in_ + "/g.txt", {.edge_features = file}), AllOf(HasSubstr("4 rows"), HasSubstr("has 3 edges")));
  Put("g.txt", "2 0\n0 1\n1 0\n0 1\n2 2\n");
  EXPECT_THAT(Refused(in_ + "/g.txt", {.edge_features = file}), HasSubstr("has 5 or more edges"));
  EXPECT_THAT(Refused(in_, {.edge_features = file}), HasSubstr("leave --edge-features out"));
  EXPECT_THAT(Refused(in_ + "/g.txt", {.edge_features = in_ + "/nowhere.npy"}), HasSubstr("nowhere.npy"));
  Put("edge_features.npy", NpyBytes<float>("<f4", "5,", {1, 2, 3, 4, 5}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("[E, F], a row for each edge"), HasSubstr("x.reshape(-1, 1)")));
  Put("edge_features.npy", NpyBytes<float>("<f4", "5, 1", {1, 2, NAN, 4, 5}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("edge_features.npy"), HasSubstr("row 2 column 0"), HasSubstr("nan")));
}

}  // namespace
}  // namespace hone::gnn
