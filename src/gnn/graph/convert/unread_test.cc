// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that every part of a source that a conversion skips is named, with its consequence.
#include "gnn/graph/convert/unread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gnn/graph/convert/convert_fixture.h"

namespace hone::gnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Unread : public ConvertTest {
 protected:
  std::string Meaning(const std::string& name) {
    for (const UnreadPart& part : report_.unread) {
      if (part.name == name) return part.meaning;
    }
    return "not named";
  }
};

TEST_F(Unread, FilesOfAFolderOfArraysAreNamed) {
  PutPath();
  Convert(in_);
  EXPECT_THAT(report_.unread, IsEmpty());
  Put("edge_weight.npy", "x");
  Put("train_idx.npy", "x");
  Put("x.npy", "x");
  Put("y.npy", "x");
  Put("readme.md", "x");
  Put("raw_texts/0.txt", "x");
  Convert(in_ + "/");
  EXPECT_THAT(UnreadNames(),
              ElementsAre("edge_weight.npy", "raw_texts/", "readme.md", "train_idx.npy", "x.npy", "y.npy"));
  EXPECT_THAT(Meaning("edge_weight.npy"), HasSubstr("every edge counts the same"));
  EXPECT_THAT(Meaning("train_idx.npy"), HasSubstr("train_mask.npy"));
  EXPECT_THAT(Meaning("x.npy"), HasSubstr("features.npy [N, F]"));
  EXPECT_THAT(Meaning("y.npy"), HasSubstr("labels.npy [N]"));
  EXPECT_THAT(Meaning("readme.md"), HasSubstr("no part that a graph is made of"));
}

TEST_F(Unread, AnEarlierOutputInTheSourcesFolderIsNotAPartOfTheSource) {
  PutPath();
  out_ = in_ + "/graph.hgraph";
  Convert(in_);
  Convert(in_);
  EXPECT_THAT(report_.unread, IsEmpty());
}

TEST_F(Unread, PartsOfAnOgbFolderAreNamed) {
  Put("raw/edge.csv", "0,1\n1,2\n");
  Put("raw/num-node-list.csv", "3\n");
  Put("raw/num-edge-list.csv", "2\n");
  Put("raw/edge-feat.csv.gz", GzipBytes("1\n2\n"));
  Put("raw/node_year.csv.gz", GzipBytes("1\n2\n3\n"));
  Put("mapping/nodeidx2paperid.csv.gz", "x");
  Put("RELEASE_v1.txt", "");
  Convert(in_);
  EXPECT_THAT(UnreadNames(), ElementsAre("RELEASE_v1.txt", "mapping/", "raw/edge-feat.csv.gz", "raw/node_year.csv.gz",
                                         "raw/num-edge-list.csv"));
  EXPECT_THAT(Meaning("raw/edge-feat.csv.gz"), HasSubstr("every edge counts the same"));
  EXPECT_EQ(Meaning("raw/node_year.csv.gz"), "times are not used");
}

TEST_F(Unread, FurtherColumnsOfAnEdgeListAreNamedWithHowManyEdgesHaveThem) {
  Put("g.csv", "source,target,weight\n0,1,0.5\n1,0\n1,2,2\n");
  Convert(in_ + "/g.csv");
  EXPECT_THAT(UnreadNames(), ElementsAre("g.csv, columns from the third on"));
  EXPECT_THAT(Meaning("g.csv, columns from the third on"), HasSubstr("2 edges have one"));
  Put("g.csv", "source , target\r\n0 , 1 \r\n1,\t0\r\n");
  Convert(in_ + "/g.csv");
  EXPECT_THAT(report_.unread, IsEmpty());
}

TEST_F(Unread, ColumnsOfATableOfClassesAreNamedWithTheOneThatIsTheClass) {
  Put("pages_edges.csv", "id_1,id_2\n0,1\n");
  Put("pages_target.csv", "id,page_name,page_type\n0,A,tvshow\n1,B,company\n");
  Convert(in_);
  ASSERT_EQ(report_.unread.size(), 1u);
  EXPECT_THAT(report_.unread[0].name, HasSubstr("(page_name)"));
  EXPECT_THAT(report_.unread[0].meaning, HasSubstr("the last one (page_type) its class"));
}

TEST_F(Unread, MembersOfAnArchiveAreNamed) {
  const std::vector<std::pair<std::string, std::string>> members = {
      {"adj_data.npy", NpyBytes<float>("<f4", "1,", {1})},
      {"adj_indices.npy", NpyBytes<int32_t>("<i4", "1,", {1})},
      {"adj_indptr.npy", NpyBytes<int32_t>("<i4", "3,", {0, 1, 1})},
      {"adj_shape.npy", NpyBytes<int64_t>("<i8", "2,", {2, 2})},
      {"node_names.npy", NpyBytes("|O", "2,", std::string_view("a pickle"))}};
  Put("g.npz", ZipBytes(members));
  Convert(in_ + "/g.npz");
  EXPECT_THAT(UnreadNames(), ElementsAre("g.npz:adj_data", "g.npz:node_names"));
  EXPECT_THAT(Meaning("g.npz:adj_data"), HasSubstr("edge weights are not used"));
  EXPECT_THAT(Meaning("g.npz:node_names"), HasSubstr("numbers"));
}

}  // namespace
}  // namespace hone::gnn
