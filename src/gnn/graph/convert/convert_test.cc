// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that every source format becomes the graph it describes, and that errors name the source's file, row and
// remedy. All files are made here; real graphs are read too if HONE_GRAPH_DATA names their folder.
#include "gnn/graph/convert/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "base/files/file.h"
#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/convert/convert_fixture.h"
#include "gnn/graph/convert/test_files.h"
#include "gnn/graph/describe.h"
#include "gnn/graph/feature_dtype.h"
#include "gnn/graph/synthetic/synthetic_graph.h"

namespace hone::gnn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(ConvertTest, FolderOfArrays) {
  PutPath();
  Put("split.npy", NpyBytes<int8_t>("|i1", "4,", {0, 1, 2, -1}));
  const auto graph = Convert(in_);
  EXPECT_THAT(Row(*graph, 0), IsEmpty());  // row v lists the sources of v
  EXPECT_THAT(Row(*graph, 1), ElementsAre(0));
  EXPECT_THAT(Row(*graph, 3), ElementsAre(2));
  EXPECT_THAT(Features(*graph, 2), ElementsAre(2, 12));
  EXPECT_EQ(graph->features().stride_bytes, 64);
  EXPECT_THAT(graph->labels(), ElementsAre(0, 1, 0, 1));
  EXPECT_EQ(graph->num_classes(), 2);
  EXPECT_THAT(graph->train_nodes(), ElementsAre(0));
  EXPECT_THAT(graph->valid_nodes(), ElementsAre(1));
  EXPECT_THAT(graph->test_nodes(), ElementsAre(2));
  EXPECT_FALSE(graph->flags().symmetric);
  EXPECT_FALSE(graph->flags().self_loops);
  EXPECT_FALSE(report_.splits_made);
  EXPECT_THAT(ReadContainerProvenance(out_).value(), HasSubstr(R"("splits":"of the source")"));
}

TEST_F(ConvertTest, AnOutputThatHoldsSomethingElseIsRefusedAndStays) {
  Put("edges.txt", "0 1\n1 2\n");
  for (const char* name : {"/edges.txt", "/notes"}) {  // the source itself, and a foreign file
    if (std::string_view(name) == "/notes") Put("notes", "mine");
    const std::string before = ReadFile(in_ + name).value();
    const Status status = ConvertGraph(in_ + "/edges.txt", in_ + name, {}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), AllOf(HasSubstr(name), HasSubstr("name another file")));
    EXPECT_EQ(ReadFile(in_ + name).value(), before);
    EXPECT_EQ(GenerateContainer("synthetic:arxiv?nodes=10", in_ + name, 1, {}).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(ReadFile(in_ + name).value(), before);
  }
  Convert(in_ + "/edges.txt");
  Convert(in_ + "/edges.txt");  // an existing container may be replaced
  EXPECT_THAT(ConvertGraph(out_, directory_ / "other", {}).status().message(), HasSubstr("a graph container already"));
}

TEST_F(ConvertTest, AByteOrderMarkIsNoHeadingAndBinaryBytesAreNotPrinted) {
  Put("marked.txt",
      "\xef\xbb\xbf"
      "0 1\r\n1 2\r\n");
  EXPECT_EQ(Convert(in_ + "/marked.txt")->structure().num_edges(), 2);
  std::filesystem::remove_all(directory_ / "out");
  Put("binary", std::string_view("0 1\n\x1b[2J\x01\x02\n", 12));
  EXPECT_THAT(Refused(in_ + "/binary"),
              AllOf(HasSubstr("line 2"), HasSubstr("control characters"), testing::Not(HasSubstr("\x1b"))));
}

TEST_F(ConvertTest, EdgeArraysMayLieInEitherOrder) {
  const std::vector<int32_t> by_edge = {0, 1, 1, 2, 2, 3}, by_end = {0, 1, 2, 1, 2, 3};
  for (const std::string& bytes :
       {NpyBytes("<i4", "3, 2", by_edge), NpyBytes("<i4", "3, 2", by_end, /*fortran_order=*/true),
        NpyBytes("<i4", "2, 3", by_end), NpyBytes("<i4", "2, 3", by_edge, /*fortran_order=*/true)}) {
    Put("edges.npy", bytes);
    const auto graph = Convert(in_);
    EXPECT_EQ(graph->structure().num_nodes, 4);
    EXPECT_THAT(Row(*graph, 1), ElementsAre(0));
    EXPECT_THAT(Row(*graph, 2), ElementsAre(1));
    EXPECT_THAT(Row(*graph, 3), ElementsAre(2));
  }
}

TEST_F(ConvertTest, SymmetrizeCoalesceAndSelfLoops) {
  // The edges are 0->1 twice, 1->0, 2->2 and 2->0.
  Put("g.txt", "# SNAP says: FromNodeId ToNodeId\n0\t1\n0\t1\n1\t0\n2\t2\n2\t0\n");
  const std::string source = in_ + "/g.txt";
  auto graph = Convert(source);
  EXPECT_THAT(Row(*graph, 0), ElementsAre(1, 2));
  EXPECT_THAT(Row(*graph, 1), ElementsAre(0, 0));
  EXPECT_THAT(Row(*graph, 2), ElementsAre(2));
  EXPECT_EQ(FlagBits(graph->flags()), GraphFlags::kSorted | GraphFlags::kParallelEdges | GraphFlags::kSelfLoops);

  graph = Convert(source, {.symmetrize = true});
  EXPECT_THAT(Row(*graph, 0), ElementsAre(1, 1, 1, 2));
  EXPECT_THAT(Row(*graph, 2), ElementsAre(0, 2));
  EXPECT_TRUE(graph->flags().symmetric);

  graph = Convert(source, {.symmetrize = true, .coalesce = true, .self_loops = SelfLoops::kRemove});
  EXPECT_THAT(Row(*graph, 0), ElementsAre(1, 2));
  EXPECT_THAT(Row(*graph, 1), ElementsAre(0));
  EXPECT_THAT(Row(*graph, 2), ElementsAre(0));
  EXPECT_EQ(FlagBits(graph->flags()), GraphFlags::kSorted | GraphFlags::kSymmetric);
  EXPECT_EQ(report_.self_loops_dropped, 1);

  graph = Convert(source, {.coalesce = true, .self_loops = SelfLoops::kAdd});
  EXPECT_THAT(Row(*graph, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(Row(*graph, 1), ElementsAre(0, 1));
  EXPECT_THAT(Row(*graph, 2), ElementsAre(2));
  EXPECT_EQ(report_.num_edges, 6);
}

TEST_F(ConvertTest, SymmetryIsSeenWithoutBeingAskedFor) {
  Put("g.csv", "source,target\r\n0,1\r\n1,0\r\n1,2\r\n2,1\r\n");
  EXPECT_TRUE(Convert(in_ + "/g.csv")->flags().symmetric);
  Put("g.csv", "source,target,weight\n0,1,0.5\n1,0,1\n1,2,2\n2,0,1\n");
  EXPECT_FALSE(Convert(in_ + "/g.csv")->flags().symmetric);
}

TEST_F(ConvertTest, GzippedEdgeListAndFurtherNodes) {
  Put("g.txt.gz", GzipBytes("0 1\n") + GzipBytes("1 2\n"));  // concatenated members are one text
  const auto graph = Convert(in_ + "/g.txt.gz", {.num_nodes = 5});
  EXPECT_EQ(graph->structure().num_nodes, 5);
  EXPECT_THAT(Row(*graph, 2), ElementsAre(1));
  EXPECT_THAT(Row(*graph, 4), IsEmpty());
}

TEST_F(ConvertTest, OgbFolderOfText) {
  Put("raw/edge.csv.gz", GzipBytes("0,1\n1,2\n3,2\n"));
  Put("raw/num-node-list.csv.gz", GzipBytes("4\n"));
  Put("raw/num-edge-list.csv.gz", GzipBytes("3\n"));
  Put("raw/node-feat.csv.gz", GzipBytes("0.5,-1e-3,2\n1,1,1\n0,0,0\n3,2.25,1\n"));
  Put("raw/node-label.csv.gz", GzipBytes("1\nnan\n0\n2\n"));
  Put("split/time/train.csv.gz", GzipBytes("3\n0\n"));
  Put("split/time/valid.csv.gz", GzipBytes("2\n"));
  Put("split/time/test.csv.gz", GzipBytes(""));
  const auto graph = Convert(in_, {.dtype = FeatureDtype::kFloat16});
  EXPECT_THAT(Row(*graph, 2), ElementsAre(1, 3));
  EXPECT_THAT(Features(*graph, 3), ElementsAre(3, 2.25, 1));
  EXPECT_THAT(graph->labels(), ElementsAre(1, kNoLabel, 0, 2));
  EXPECT_THAT(graph->train_nodes(), ElementsAre(0, 3));
  EXPECT_THAT(graph->test_nodes(), IsEmpty());
  EXPECT_EQ(graph->features().dtype, FeatureDtype::kFloat16);
}

TEST_F(ConvertTest, OgbFolderAsPapers100MHasIt) {
  const float nan = std::nanf("");
  const std::string edges = NpyBytes<int64_t>("<i8", "2, 3", {0, 1, 3, 1, 2, 2});
  const std::string features = NpyBytes<float>("<f4", "4, 1", {0.5f, 1, 2, 3});
  const std::string years = NpyBytes<int64_t>("<i8", "4, 1", {2001, 2002, 2003, 2004});
  Put("raw/node-label.npz", ZipBytes({{"node_label.npy", NpyBytes<float>("<f4", "4, 1", {1, nan, 0, nan})}}));
  Put("split/time/train.csv.gz", GzipBytes("0\n"));
  Put("split/time/valid.csv.gz", GzipBytes("2\n"));
  Put("split/time/test.csv.gz", GzipBytes(""));
  for (const ZipStyle style : {ZipStyle::kStored, ZipStyle::kDeflated, ZipStyle::kZip64}) {
    Put("raw/data.npz",
        ZipBytes({{"edge_index.npy", edges}, {"node_feat.npy", features}, {"node_year.npy", years}}, style));
    const auto graph = Convert(in_);
    EXPECT_THAT(Row(*graph, 1), ElementsAre(0));
    EXPECT_THAT(Row(*graph, 2), ElementsAre(1, 3));
    EXPECT_THAT(Features(*graph, 3), ElementsAre(3));
    EXPECT_THAT(graph->labels(), ElementsAre(1, kNoLabel, 0, kNoLabel));
    EXPECT_THAT(UnreadNames(), ElementsAre("data.npz:node_year"));
  }
}

TEST_F(ConvertTest, ScipyArchive) {
  const std::vector<std::pair<std::string, std::string>> members = {
      {"adj_data.npy", NpyBytes<float>("<f4", "3,", {1, 1, 1})},
      {"adj_indices.npy", NpyBytes<int32_t>("<i4", "3,", {1, 2, 0})},
      {"adj_indptr.npy", NpyBytes<int32_t>("<i4", "4,", {0, 2, 2, 3})},
      {"adj_shape.npy", NpyBytes<int64_t>("<i8", "2,", {3, 3})},
      {"attr_data.npy", NpyBytes<float>("<f4", "3,", {1, 2, 3})},
      {"attr_indices.npy", NpyBytes<int32_t>("<i4", "3,", {4, 0, 2})},
      {"attr_indptr.npy", NpyBytes<int32_t>("<i4", "4,", {0, 1, 1, 3})},
      {"attr_shape.npy", NpyBytes<int64_t>("<i8", "2,", {3, 5})},
      {"labels.npy", NpyBytes<int8_t>("|i1", "3,", {2, 0, 1})},
      {"node_names.npy", NpyBytes("|O", "3,", std::string_view("a pickle"))}};
  Put("g.npz", ZipBytes(members));
  const auto graph = Convert(in_ + "/g.npz");
  EXPECT_THAT(Row(*graph, 0), ElementsAre(2));
  EXPECT_THAT(Row(*graph, 1), ElementsAre(0));
  EXPECT_THAT(Row(*graph, 2), ElementsAre(0));
  EXPECT_THAT(Features(*graph, 0), ElementsAre(0, 0, 0, 0, 1));
  EXPECT_THAT(Features(*graph, 1), ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(Features(*graph, 2), ElementsAre(2, 0, 3, 0, 0));
  EXPECT_THAT(graph->labels(), ElementsAre(2, 0, 1));
}

TEST_F(ConvertTest, FolderLikeFacebookLarge) {
  Put("pages_edges.csv", "id_1,id_2\n0,2\n1,2\n");
  Put("pages_target.csv",
      "id,facebook_id,page_name,page_type\n0,11,\"Tea, \"\"black\"\"\",tvshow\n1,12,B,company\n2,13,C,tvshow\n");
  Put("pages_features.json", R"({"1": [3, 0], "0": [], "2": [1]})");
  const auto graph = Convert(in_, {.symmetrize = true});
  EXPECT_THAT(Row(*graph, 2), ElementsAre(0, 1));
  EXPECT_THAT(graph->labels(), ElementsAre(1, 0, 1));
  EXPECT_THAT(graph->class_names(), ElementsAre("company", "tvshow"));
  EXPECT_THAT(Features(*graph, 1), ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(Features(*graph, 0), ElementsAre(0, 0, 0, 0));
}

TEST_F(ConvertTest, ClassesAreNamedByAFileBesideTheLabels) {
  Put("edges.npy", NpyBytes("<i8", "2, 2", std::vector<int64_t>{0, 1, 1, 2}));
  Put("labels.npy", NpyBytes("<i8", "3,", std::vector<int64_t>{0, 1, 0}));
  Put("classes.txt", "cat\r\nsmall dog\nunseen\n");
  const auto graph = Convert(in_);
  EXPECT_THAT(graph->class_names(), ElementsAre("cat", "small dog", "unseen"));
  EXPECT_EQ(graph->num_classes(), 3);
  EXPECT_TRUE(report_.unread.empty());
  std::filesystem::remove_all(directory_ / "out");
  Put("classes.txt", "cat\n");
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("has the label 1"), HasSubstr("names 1 classes: give each class a line")));
  Put("classes.txt", "cat\n\ndog\n");
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("classes.txt'"), HasSubstr("line 2 names no class")));
  Put("classes.txt", "cat\ncat\n");
  EXPECT_THAT(Refused(in_), HasSubstr("lines 1 and 2 both name class 'cat'"));
  Put("classes.txt", "cat\ndog\n");
  EXPECT_THAT(Refused(in_, {.num_classes = 1}), HasSubstr("outside the 1 classes"));
}

TEST_F(ConvertTest, SplitsAreStratifiedByClassAndSeed) {
  const int64_t n = 1000;
  std::vector<int64_t> labels(static_cast<size_t>(n)), edges;
  for (int64_t v = 0; v < n; ++v) {
    labels[static_cast<size_t>(v)] = v % 10 == 0 ? -1 : v % 3;
    edges.insert(edges.end(), {v, (v + 1) % n});
  }
  Put("edges.npy", NpyBytes("<i8", "1000, 2", edges));
  Put("labels.npy", NpyBytes("<i8", "1000,", labels));
  const auto first = Convert(in_);
  EXPECT_TRUE(report_.splits_made);
  for (const auto& [nodes, share] :
       {std::pair{first->train_nodes(), 0.6}, {first->valid_nodes(), 0.2}, {first->test_nodes(), 0.2}}) {
    std::vector<int64_t> of_class(3);
    for (const NodeId v : nodes) {
      ASSERT_GE(labels[static_cast<size_t>(v)], 0);
      ++of_class[static_cast<size_t>(labels[static_cast<size_t>(v)])];
    }
    for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(static_cast<double>(of_class[c]), share * 300, 1);
  }
  const std::vector<NodeId> train(first->train_nodes().begin(), first->train_nodes().end());
  EXPECT_THAT(Convert(in_)->train_nodes(), testing::ElementsAreArray(train));
  EXPECT_THAT(Convert(in_, {.split_seed = 7})->train_nodes(), testing::Not(testing::ElementsAreArray(train)));
  const auto halves = Convert(in_, {.split = SplitFractions{0.5, 0.1, 0.1}});
  EXPECT_EQ(halves->train_nodes().size(), 450u);
  EXPECT_EQ(halves->test_nodes().size(), 90u);
}

// Makes 600,000 slots of 8 bytes, of which 1 MiB stays in memory: most go through the temporary file.
TEST_F(ConvertTest, LittleMemoryGivesTheSameGraph) {
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < 300'000; ++i) edges.insert(edges.end(), {(i * 7919) % 100'003, (i * i + 3) % 100'003});
  Put("edges.npy", NpyBytes("<i8", "300000, 2", edges));
  const auto roomy = Convert(in_, {.symmetrize = true});
  EXPECT_FALSE(report_.spilled);
  const auto columns = roomy->structure().columns;
  const std::vector<NodeId> expected(columns.begin(), columns.end());
  const auto tight = Convert(in_, {.symmetrize = true, .memory_bytes = 1 << 20, .threads = 3});
  EXPECT_TRUE(report_.spilled);
  EXPECT_TRUE(std::ranges::equal(tight->structure().columns, expected));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_ / "out"), {}), 1);
}

TEST_F(ConvertTest, FloatsAreRoundedOnceToNearestEven) {
  Put("edges.npy", NpyBytes<int32_t>("<i4", "1, 2", {0, 0}));
  Put("features.npy", NpyBytes<double>("<f8", "1, 5", {1.00048828125, 65504, -0.0, 1e-7, 1.0 / 3}));
  EXPECT_THAT(Features(*Convert(in_, {.dtype = FeatureDtype::kFloat16}), 0),
              ElementsAre(1.0f, 65504.0f, 0.0f, 0x1p-23f, 0.333251953125f));
  EXPECT_THAT(Features(*Convert(in_, {.dtype = FeatureDtype::kBFloat16}), 0),
              ElementsAre(1.0f, 65536.0f, 0.0f, testing::FloatNear(1e-7f, 1e-9f), 0.333984375f));
}

// 3 x 2 features, column by column: 0 1 2, then 10 11 12.
TEST_F(ConvertTest, FeaturesInFortranOrderAreTheSame) {
  const std::string columns = NpyBytes<double>("<f8", "3, 2", {0, 1, 2, 10, 11, 12}, true);
  Put("edges.npy", NpyBytes<int32_t>("<i4", "1, 2", {0, 1}));
  Put("features.npy", columns);
  for (int64_t v = 0; v < 3; ++v) EXPECT_THAT(Features(*Convert(in_), v), ElementsAre(v, 10 + v));
  for (const ZipStyle style : {ZipStyle::kStored, ZipStyle::kDeflated}) {
    Put("g.npz",
        ZipBytes({{"edges.npy", NpyBytes<int32_t>("<i4", "1, 2", {0, 1})}, {"node_features.npy", columns}}, style));
    for (int64_t v = 0; v < 3; ++v) EXPECT_THAT(Features(*Convert(in_ + "/g.npz"), v), ElementsAre(v, 10 + v));
  }
}

// There are more rows than are read at a time: 16 MiB of 4,096 columns are 1,024 rows.
TEST_F(ConvertTest, ManyRowsInFortranOrderAreReadInParts) {
  constexpr int64_t kRows = 1500, kWidth = 4096;
  std::vector<int16_t> columns(kRows * kWidth);
  for (int64_t f = 0; f < kWidth; ++f) {
    for (int64_t v = 0; v < kRows; ++v)
      columns[static_cast<size_t>(f * kRows + v)] = static_cast<int16_t>((v * 7 + f) % 32000);
  }
  Put("edges.npy", NpyBytes<int32_t>("<i4", "1, 2", {0, 1}));
  Put("features.npy", NpyBytes("<i2", "1500, 4096", columns, /*fortran_order=*/true));
  const auto graph = Convert(in_);
  for (const int64_t v : {0, 1023, 1024, 1499}) {
    const std::vector<float> row = Features(*graph, v);
    for (const size_t f : {size_t{0}, size_t{1}, size_t{4095}}) {
      EXPECT_EQ(row[f], static_cast<float>((v * 7 + static_cast<int64_t>(f)) % 32000)) << v << ", " << f;
    }
  }
}

TEST_F(ConvertTest, IdsWithWideGapsAreRefusedUnlessAllowed) {
  Put("g.txt", "0 1\n200000 5\n");
  EXPECT_THAT(Refused(in_ + "/g.txt"), AllOf(HasSubstr("the largest id is 200000"), HasSubstr("4 nodes have an edge"),
                                             HasSubstr("--allow-isolated")));
  EXPECT_EQ(Convert(in_ + "/g.txt", {.allow_isolated = true})->structure().num_nodes, 200'001);
  EXPECT_EQ(Convert(in_ + "/g.txt", {.num_nodes = 300'000})->structure().num_nodes, 300'000);
  Put("g.txt", "0 1\n90000 5\n");  // below kFewNodes
  EXPECT_EQ(Convert(in_ + "/g.txt")->structure().num_nodes, 90'001);
}

TEST_F(ConvertTest, NodeIdsOutOfRangeAreNamedWithTheirRow) {
  PutPath();
  Put("edges.npy", NpyBytes<int64_t>("<i8", "3, 2", {0, 1, 1, 4, 2, 3}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("edges.npy' row 1"), HasSubstr("node 4 has no features"),
                                  HasSubstr("features.npy' has 4 rows"), HasSubstr("add the missing rows")));
  Put("edges.npy", NpyBytes<int64_t>("<i8", "3, 2", {0, 1, -1, 2, 2, 3}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("row 1"), HasSubstr("node -1 is negative")));
  Put("g.txt", "0 1\n1 2\n2 7\n");
  EXPECT_THAT(Refused(in_ + "/g.txt", {.num_nodes = 4}), AllOf(HasSubstr("g.txt' line 3"), HasSubstr("--nodes")));
  Put("g.txt", "0 1\n1 99999999999\n");
  EXPECT_THAT(Refused(in_ + "/g.txt"), AllOf(HasSubstr("line 2"), HasSubstr("32-bit")));
}

TEST_F(ConvertTest, IdsThatSeemToBeCountedFromOneAreSuspectedAndTaken) {
  PutPath();
  Put("edges.npy", NpyBytes<int64_t>("<i8", "3, 2", {1, 2, 2, 3, 3, 4}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("row 2"), HasSubstr("node 4 has no features"), HasSubstr("--first-id 1")));
  // Node 0 has an edge, or the largest id is larger: these are other mistakes.
  Put("edges.npy", NpyBytes<int64_t>("<i8", "3, 2", {0, 1, 1, 4, 2, 3}));
  EXPECT_THAT(Refused(in_), testing::Not(HasSubstr("--first-id")));
  Put("edges.npy", NpyBytes<int64_t>("<i8", "3, 2", {1, 4, 2, 3, 3, 5}));
  EXPECT_THAT(Refused(in_), testing::Not(HasSubstr("--first-id")));
  Put("edges.npy", NpyBytes<int64_t>("<i8", "3, 2", {0, 1, 1, 2, 2, 3}));
  EXPECT_THAT(Refused(in_, {.first_id = 1}), AllOf(HasSubstr("row 0"), HasSubstr("node 0 is below --first-id 1")));
  Put("edges.npy", NpyBytes<int64_t>("<i8", "3, 2", {1, 2, 2, 3, 3, 4}));
  const auto shifted = Convert(in_, {.first_id = 1});
  ASSERT_NE(shifted, nullptr);
  EXPECT_EQ(shifted->structure().num_nodes, 4);
  EXPECT_THAT(shifted->structure().Neighbors(1), ElementsAre(0));

  // Edges alone say nothing of a node 0, so that they are converted, with a note.
  Put("g.txt", "1 2\n2 3\n3 1\n");
  const ConvertReport noted = ConvertGraph(in_ + "/g.txt", out_, {}).value();
  EXPECT_EQ(noted.num_nodes, 4);
  EXPECT_TRUE(noted.perhaps_from_one);
  EXPECT_THAT(noted.notes, testing::Contains(HasSubstr("--first-id 1")));
  const ConvertReport plain = ConvertGraph(in_ + "/g.txt", out_, {.first_id = 1}).value();
  EXPECT_EQ(plain.num_nodes, 3);
  EXPECT_FALSE(plain.perhaps_from_one);
  Put("g.txt", "0 2\n2 3\n");
  EXPECT_FALSE(ConvertGraph(in_ + "/g.txt", out_, {})->perhaps_from_one);
}

TEST_F(ConvertTest, RowsOfDifferentFilesMustAgree) {
  PutPath();
  Put("labels.npy", NpyBytes<int64_t>("<i8", "5,", {0, 1, 0, 1, 0}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("labels.npy' has 5 rows"), HasSubstr("features.npy says 4")));
  EXPECT_THAT(Refused(in_, {.num_nodes = 9}),
              AllOf(HasSubstr("features.npy' has 4 rows"), HasSubstr("--nodes says 9")));
}

TEST_F(ConvertTest, FeaturesThatAreNotFiniteAreNamedOrReplaced) {
  PutPath();
  Put("features.npy", NpyBytes<float>("<f4", "4, 2", {0, 1, 2, 3, 4, std::nanf(""), 6, 7}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("features.npy' row 2 column 1 is nan"), HasSubstr("--replace-nan")));
  EXPECT_THAT(Features(*Convert(in_, {.replace_nan = -1.0f}), 2), ElementsAre(4, -1));
  EXPECT_EQ(report_.nan_replaced, 1);
  std::filesystem::remove_all(directory_ / "out");
  Put("features.npy", NpyBytes<float>("<f4", "4, 2", {0, 1, 2, 3, 4, 70000, 6, 7}));
  EXPECT_THAT(Refused(in_, {.dtype = FeatureDtype::kFloat16}),
              AllOf(HasSubstr("row 2 column 1"), HasSubstr("bfloat16")));
}

TEST_F(ConvertTest, LabelsOutsideTheClassesAreNamed) {
  PutPath();
  EXPECT_THAT(Refused(in_, {.num_classes = 1}),
              AllOf(HasSubstr("labels.npy' row 1"), HasSubstr("outside the 1 classes")));
  Put("labels.npy", NpyBytes<int64_t>("<i8", "4,", {0, 1, -7, 1}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("row 2"), HasSubstr("label -7 is no class")));
  Put("labels.npy", NpyBytes<float>("<f4", "4,", {0, 1, 0.5, 1}));
  EXPECT_THAT(Refused(in_), HasSubstr("label 0.5 is no class"));
  Put("labels.npy", NpyBytes<int64_t>("<i8", "4,", {0, 1, 2000000, 1}));
  EXPECT_THAT(Refused(in_), HasSubstr("number the classes from 0"));
  Put("labels.npy", NpyBytes<int64_t>("<i8", "4, 2", {0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_THAT(Refused(in_, {.labels = TargetKind::kClasses}), HasSubstr("one class a node"));
}

std::vector<float> Targets(const Graph& graph) {
  const TargetView targets = graph.targets();
  return {targets.rows, targets.rows + targets.num_rows * targets.width};
}

TEST_F(ConvertTest, SeveralColumnsOfLabelsAreTrueOrFalseEach) {
  PutPath();
  Put("labels.npy", NpyBytes<int64_t>("<i8", "4, 2", {0, 1, -1, -1, 1, 1, 0, -1}));
  auto graph = Convert(in_);
  EXPECT_EQ(graph->targets().kind, TargetKind::kMultiLabel);
  EXPECT_EQ(graph->targets().width, 2);
  EXPECT_EQ(graph->num_classes(), 2);
  EXPECT_THAT(graph->labels(), ElementsAre(0, kNoLabel, 0, 0));
  EXPECT_THAT(Targets(*graph), ElementsAre(0, 1, testing::IsNan(), testing::IsNan(), 1, 1, 0, testing::IsNan()));
  EXPECT_EQ(report_.labelled, 3);
  EXPECT_EQ(graph->train_nodes().size() + graph->valid_nodes().size() + graph->test_nodes().size(), 3u);
  const GraphDescription described = DescribeGraph(*graph).value();
  EXPECT_EQ(described.known_targets, 5);
  EXPECT_DOUBLE_EQ(described.mean_target, 0.6);
  EXPECT_EQ(described.labelled_edges, 0);
  // A mapped container, and a copy of the graph, have the same targets.
  const auto mapped = OpenGraph(out_, {.load = OpenGraphOptions::Load::kMap}).value();
  EXPECT_THAT(mapped->labels(), ElementsAre(0, kNoLabel, 0, 0));
  ASSERT_TRUE(WriteContainer(*graph, directory_ / "copy", "{}").ok());
  EXPECT_EQ(OpenGraph(directory_ / "copy").value()->targets().rows[1], 1);
  Put("labels.npy", NpyBytes<uint8_t>("|u1", "4, 2", {0, 1, 0, 1, 1, 1, 0, 0}));
  Put("classes.txt", "red\nround\n");
  graph = Convert(in_);
  EXPECT_THAT(graph->class_names(), ElementsAre("red", "round"));
  EXPECT_THAT(Targets(*graph), ElementsAre(0, 1, 0, 1, 1, 1, 0, 0));
  Put("classes.txt", "red\nround\nsoft\n");
  std::filesystem::remove_all(directory_ / "out");
  EXPECT_THAT(Refused(in_), HasSubstr("names 3 columns"));
  std::filesystem::remove(in_ + "/classes.txt");
  Put("labels.npy", NpyBytes<float>("<f4", "4, 2", {0, 1, 0, 0.5, 1, 1, 0, 0}));
  EXPECT_THAT(Refused(in_),
              AllOf(HasSubstr("labels.npy' row 1 column 1: 0.5 is no label"), HasSubstr("--labels values")));
  Put("labels.npy", NpyBytes<uint8_t>("|u1", "4, 2", {0, 1, 0, 2, 1, 1, 0, 0}));
  EXPECT_THAT(Refused(in_), HasSubstr("row 1 column 1: 2 is no label"));
}

TEST_F(ConvertTest, AnOgbTableMayHaveSeveralLabelsANode) {
  Put("raw/edge.csv", "0,1\n1,2\n2,3\n");
  Put("raw/num-node-list.csv", "4\n");
  Put("raw/node-label.csv", "0,1,1\n1,0,nan\n\n0,0,1\n");
  for (int i = 0; i < 3; ++i) {
    Put(std::string("split/species/") +
            (i == 0   ? "train"
             : i == 1 ? "valid"
                      : "test") +
            ".csv",
        std::to_string(i) + "\n");
  }
  const auto graph = Convert(in_);
  EXPECT_EQ(graph->targets().kind, TargetKind::kMultiLabel);
  EXPECT_EQ(graph->targets().width, 3);
  EXPECT_THAT(graph->labels(), ElementsAre(0, 0, kNoLabel, 0));
  std::filesystem::remove_all(directory_ / "out");
  Put("raw/node-label.csv", "0,1,1\n1,0\n");
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("node-label.csv' line 2: 2 labels"), HasSubstr("have 3")));
  Put("raw/node-label.csv", "0.5\n1\nnan\n-2\n");
  EXPECT_THAT(Refused(in_), HasSubstr("label 0.5 is no class"));
  EXPECT_THAT(Targets(*Convert(in_, {.labels = TargetKind::kValues})), ElementsAre(0.5f, 1, testing::IsNan(), -2));
}

TEST_F(ConvertTest, ValuesToPredictAreSaidAndMayBeUnknown) {
  PutPath();
  const float unknown = std::nanf("");
  Put("labels.npy", NpyBytes<float>("<f4", "4,", {0.5f, -3, unknown, 8}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("is no class"), HasSubstr("--labels values")));
  auto graph = Convert(in_, {.labels = TargetKind::kValues});
  EXPECT_EQ(graph->targets().kind, TargetKind::kValues);
  EXPECT_THAT(Targets(*graph), ElementsAre(0.5f, -3, testing::IsNan(), 8));
  EXPECT_THAT(graph->labels(), ElementsAre(0, 0, kNoLabel, 0));
  Put("labels.npy", NpyBytes<float>("<f4", "4, 2", {1, 2, 3, 4, 5, 6, 7, unknown}));
  EXPECT_EQ(Convert(in_, {.labels = TargetKind::kValues})->targets().width, 2);
  std::filesystem::remove_all(directory_ / "out");
  Put("labels.npy", NpyBytes<float>("<f4", "4,", {0, 1, HUGE_VALF, 2}));
  EXPECT_THAT(Refused(in_, {.labels = TargetKind::kValues}), HasSubstr("row 2 column 0: inf is infinite"));
  EXPECT_THAT(Refused(in_, {.num_classes = 3, .labels = TargetKind::kMultiLabel}), HasSubstr("is no label"));
}

TEST_F(ConvertTest, SplitsThatAreWrongAreNamed) {
  PutPath();
  Put("split.npy", NpyBytes<int8_t>("|i1", "4,", {0, 1, 3, 0}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("split.npy' row 2"), HasSubstr("0 train, 1 valid, 2 test")));
  Put("split.npy", NpyBytes<int8_t>("|i1", "6,", {0, 1, 2, 0, 0, 0}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("split.npy' has 6 rows"), HasSubstr("says 4 nodes")));
  Put("split.npy", NpyBytes<int8_t>("|i1", "3,", {0, 1, 2}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("split.npy' has 3 rows"), HasSubstr("says 4 nodes")));
  Put("split.npy", NpyBytes<int8_t>("|i1", "4,", {0, 1, 2, 0}));
  EXPECT_THAT(Refused(in_, {.split = SplitFractions{0.6, 0.6, 0.2}}), HasSubstr("their sum is at most 1"));
  std::filesystem::remove(in_ + "/labels.npy");
  EXPECT_THAT(Refused(in_, {.split_seed = 1}), HasSubstr("no labels to split by"));
}

TEST_F(ConvertTest, EmptyGraphsAreRefused) {
  Put("g.txt", "# nothing\n");
  EXPECT_THAT(Refused(in_ + "/g.txt"), HasSubstr("is an empty graph"));
  Put("edges.npy", NpyBytes<int64_t>("<i8", "0, 2", {}));
  EXPECT_THAT(Refused(in_), HasSubstr("is an empty graph"));
  Put("features.npy", NpyBytes<float>("<f4", "3, 1", {1, 2, 3}));
  EXPECT_THAT(Refused(in_), HasSubstr("it has no edges"));
}

TEST_F(ConvertTest, DamagedFilesAreNamed) {
  PutPath();
  const std::string edges = NpyBytes<int64_t>("<i8", "3, 2", {0, 1, 1, 2, 2, 3});
  Put("edges.npy", std::string_view(edges).substr(0, edges.size() - 8));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("edges.npy"), HasSubstr("its shape int64 [3, 2] needs")));
  Put("edges.npy", NpyBytes<float>("<f4", "3, 2", {0, 1, 1, 2, 2, 3}));
  EXPECT_THAT(Refused(in_), HasSubstr("edges are integer node ids"));
  Put("edges.npy", NpyBytes<int64_t>("<i8", "6,", {0, 1, 1, 2, 2, 3}));
  EXPECT_THAT(Refused(in_), HasSubstr("[E, 2] or [2, E]"));
  Put("edges.npy", NpyBytes("|O", "3, 2", std::string_view("pickle")));
  EXPECT_THAT(Refused(in_), HasSubstr("pickled Python objects"));
  Put("edges.npy", NpyBytes<int64_t>(">i8", "3, 2", {0, 1, 1, 2, 2, 3}));
  EXPECT_THAT(Refused(in_), HasSubstr("type '>i8'"));
  Put("edges.npy", "not an array");
  EXPECT_THAT(Refused(in_), HasSubstr("does not begin as a .npy file does"));

  const std::string gzip = GzipBytes("0 1\n1 2\n2 3\n3 4\n4 5\n5 6\n6 0\n");
  Put("g.txt.gz", std::string_view(gzip).substr(0, gzip.size() - 9));
  EXPECT_THAT(Refused(in_ + "/g.txt.gz"), AllOf(HasSubstr("g.txt.gz"), HasSubstr("ends within its compressed data")));
  Put("g.txt", "0 1\n1 two\n");
  EXPECT_THAT(Refused(in_ + "/g.txt"), AllOf(HasSubstr("line 2"), HasSubstr("'1 two' is no edge")));
  const std::string zip = ZipBytes({{"a.npy", edges}});
  Put("g.npz", std::string_view(zip).substr(0, zip.size() - 5));
  EXPECT_THAT(Refused(in_ + "/g.npz"), HasSubstr("is no intact zip"));
  Put("g.npz", zip);
  EXPECT_THAT(Refused(in_ + "/g.npz"), AllOf(HasSubstr("adj_indices"), HasSubstr("it has: a.npy")));
  EXPECT_THAT(Refused(in_ + "/absent"), HasSubstr("is not there"));
  std::filesystem::create_directories(in_ + "/nothing");
  EXPECT_THAT(Refused(in_ + "/nothing"), HasSubstr("holds no graph that is known"));
}

TEST_F(ConvertTest, TextFeaturesAreNamedByLine) {
  Put("raw/edge.csv", "0,1\n1,2\n");
  Put("raw/num-node-list.csv", "3\n");
  Put("raw/node-feat.csv", "1,2\n3,4\n");
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("node-feat.csv' ends after 2 rows"), HasSubstr("every node needs a row")));
  Put("raw/node-feat.csv", "1,2\n3,x\n5,6\n");
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("node-feat.csv' line 2"), HasSubstr("field 2 of 2")));
  Put("raw/node-feat.csv", "1,2\n3,4,5\n5,6\n");
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("line 2"), HasSubstr("more than the 2 fields")));
  Put("raw/node-feat.csv", "1,2\n3,1e99\n5,6\n");
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("row 1 column 1 is inf")));
}

TEST_F(ConvertTest, FeatureListsAreChecked) {
  Put("p_edges.csv", "id_1,id_2\n0,1\n");
  Put("p_target.csv", "id,t\n0,a\n1,b\n");
  for (const auto& [text, why] : std::vector<std::pair<std::string, std::string>>{
           {R"({"5": [1]})", "names node 5, and the graph has nodes 0 to 1 only"},
           {R"({"0": [-1]})", "-1 is no feature index of node 0"},
           {R"({"0": [1.5]})", "fraction"},
           {R"({"x": [1]})", "'x' is no node id"},
           {R"({"0": {"1": 2}})", "objects inside"},
           {R"({"0": [1)", "no JSON at byte"},
           {"{}", "it names no feature"}}) {
    Put("p_features.json", text);
    EXPECT_THAT(Refused(in_), AllOf(HasSubstr("p_features.json"), HasSubstr(why)));
  }
}

// A file-size limit stands for a full disk: EFBIG takes the place of ENOSPC, through the same code. The limit is met by
// the reservation, by the spill file or, if nothing can be reserved, by the writing.
TEST_F(ConvertTest, FullDiskLeavesNothing) {
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < 200'000; ++i) edges.insert(edges.end(), {i % 1000, (i * 31) % 1000});
  Put("edges.npy", NpyBytes("<i8", "200000, 2", edges));
  std::filesystem::create_directories(directory_ / "out");
  struct rlimit old {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const int64_t memory : {int64_t{1} << 30, int64_t{1} << 20}) {
    const struct rlimit tight = {300 * 1024, old.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
    const Status status = ConvertGraph(in_, out_, {.memory_bytes = memory}).status();
    setrlimit(RLIMIT_FSIZE, &old);
    EXPECT_EQ(status.code(), StatusCode::kIo) << status.message();
    EXPECT_THAT(status.message(), HasSubstr("nothing was left behind"));
    EXPECT_TRUE(std::filesystem::is_empty(directory_ / "out"));
  }
  std::signal(SIGXFSZ, old_handler);
}

TEST_F(ConvertTest, DescriptionOfASmallGraph) {
  // The graph is a triangle 0-1-2 with a loop at 2, a pair 3-4, and the isolated node 5.
  Put("edges.npy", NpyBytes<int32_t>("<i4", "5, 2", {0, 1, 1, 2, 2, 0, 2, 2, 3, 4}));
  Put("labels.npy", NpyBytes<int32_t>("<i4", "6,", {0, 0, 1, 1, 1, -1}));
  const auto graph = Convert(in_, {.symmetrize = true});
  const GraphDescription d = DescribeGraph(*graph).value();
  EXPECT_EQ(d.num_edges, 9);
  EXPECT_EQ(d.self_loops, 1);
  EXPECT_EQ(d.components, 3);
  EXPECT_EQ(d.largest_component, 3);
  EXPECT_EQ(d.isolated, 1);
  EXPECT_EQ(d.max_degree, 3);
  EXPECT_EQ(d.min_degree, 0);
  EXPECT_THAT(d.degree_histogram, ElementsAre(1, 2, 3));  // 0; 1; 2 and 3
  EXPECT_EQ(d.labelled, 5);
  EXPECT_EQ(d.classes_present, 2);
  EXPECT_EQ(d.smallest_class, 2);
  EXPECT_EQ(d.labelled_edges, 8);
  EXPECT_DOUBLE_EQ(d.edge_homophily, 0.5);  // 0-1 and 3-4 agree, 1-2 and 0-2 do not
}

// The expected counts are published with the datasets; homophily is that of the literature (0.81, 0.74, 0.885).
TEST_F(ConvertTest, RealGraphs) {
  const char* data = std::getenv("HONE_GRAPH_DATA");
  if (data == nullptr) GTEST_SKIP() << "HONE_GRAPH_DATA does not name a folder with cora, citeseer and facebook_large";
  const ConvertOptions undirected = {.symmetrize = true, .coalesce = true, .dtype = FeatureDtype::kFloat16};
  for (const auto& [name, nodes, read, width, classes, homophily] :
       std::vector<std::tuple<std::string, int64_t, int64_t, int64_t, int32_t, double>>{
           {"cora", 2708, 5429, 1433, 7, 0.810},
           {"citeseer", 3312, 4715, 3703, 6, 0.738},
           {"facebook_large", 22470, 171002, 4714, 4, 0.885}}) {
    const auto graph = Convert(std::string(data) + "/" + name, undirected);
    EXPECT_EQ(report_.num_nodes, nodes);
    EXPECT_EQ(report_.edges_read, read);
    EXPECT_EQ(report_.feature_width, width);
    EXPECT_EQ(report_.num_classes, classes);
    EXPECT_NEAR(DescribeGraph(*graph)->edge_homophily, homophily, 0.001) << name;
  }
}

}  // namespace
}  // namespace hone::gnn
