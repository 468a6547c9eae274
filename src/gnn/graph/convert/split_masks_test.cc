// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that masks become the splits that they mark, and that arrays of truth values are not mistaken for anything
// else.
#include "gnn/graph/convert/split_masks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gnn/graph/container/container_reader.h"
#include "gnn/graph/convert/convert_fixture.h"

namespace hone::gnn {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using SplitMasks = ConvertTest;

std::string Bools(std::string_view shape, const std::vector<int8_t>& values, bool fortran_order = false) {
  return NpyBytes("|b1", shape, values, fortran_order);
}

TEST_F(SplitMasks, ABooleanSplitIsRefusedWithTheRemedy) {
  PutPath();
  Put("split.npy", Bools("4,", {1, 1, 0, 0}));
  EXPECT_THAT(Refused(in_),
              AllOf(HasSubstr("split.npy' is bool [4]"), HasSubstr("train_mask.npy"), HasSubstr("val_mask.npy")));
}

TEST_F(SplitMasks, NumbersAreExplainedAndAMissingTestSplitIsDoubted) {
  PutPath();
  Put("split.npy", NpyBytes<int8_t>("|i1", "4,", {0, 1, 2, -1}));
  Convert(in_);
  EXPECT_EQ(report_.splits_meaning, "in split.npy 0 is train, 1 is valid, 2 is test, -1 is none");
  EXPECT_EQ(report_.in_no_split, 1);
  EXPECT_THAT(report_.notes, IsEmpty());
  Put("split.npy", NpyBytes<int8_t>("|i1", "4,", {1, 1, 0, 0}));
  Convert(in_);
  EXPECT_THAT(report_.notes, ElementsAre(AllOf(HasSubstr("no test node"), HasSubstr("rename it to train_mask.npy"))));
}

TEST_F(SplitMasks, ASplitInWhichNothingIsKnownIsNoted) {
  PutPath();
  Put("split.npy", NpyBytes<int8_t>("|i1", "4,", {0, 1, 1, 2}));
  Put("labels.npy", NpyBytes<int64_t>("<i8", "4,", {0, -1, -1, 1}));
  Convert(in_);
  EXPECT_THAT(report_.notes, ElementsAre(HasSubstr("no label of the 2 validation nodes is known")));
}

TEST_F(SplitMasks, MarkTheNodesOfTheirSplit) {
  PutPath();
  Put("train_mask.npy", Bools("4,", {1, 0, 0, 1}));
  Put("val_mask.npy", NpyBytes<int64_t>("<i8", "4,", {0, 1, 0, 0}));
  Put("test_mask.npy", NpyBytes<float>("<f4", "4, 1", {0, 0, 1, 0}));
  auto graph = Convert(in_);
  EXPECT_THAT(graph->train_nodes(), ElementsAre(0, 3));
  EXPECT_THAT(graph->valid_nodes(), ElementsAre(1));
  EXPECT_THAT(graph->test_nodes(), ElementsAre(2));
  EXPECT_FALSE(report_.splits_made);
  EXPECT_EQ(report_.splits_meaning, "train from train_mask.npy, valid from val_mask.npy, test from test_mask.npy");
  EXPECT_THAT(UnreadNames(), IsEmpty());
  std::filesystem::rename(in_ + "/val_mask.npy", in_ + "/valid_mask.npy");
  graph = Convert(in_);
  EXPECT_THAT(graph->valid_nodes(), ElementsAre(1));
  // A request for other splits is followed, and the loss of the official splits is reported.
  Convert(in_, {.split_seed = 3});
  EXPECT_TRUE(report_.splits_made);
  EXPECT_THAT(report_.notes, ElementsAre(HasSubstr("were replaced by splits made by seed")));
}

TEST_F(SplitMasks, ThatAreWrongAreNamed) {
  PutPath();
  Put("val_mask.npy", Bools("4,", {0, 1, 0, 0}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("val_mask.npy' is there without a train mask")));
  Put("train_mask.npy", Bools("4,", {1, 1, 0, 0}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("node 1 is in"), HasSubstr("train_mask.npy"), HasSubstr("val_mask.npy")));
  Put("train_mask.npy", Bools("4,", {0, 0, 0, 0}));
  EXPECT_THAT(Refused(in_), HasSubstr("train_mask.npy' is true at no node"));
  Put("train_mask.npy", Bools("5,", {1, 0, 0, 0, 0}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("bool [5]"), HasSubstr("bool [4]")));
  Put("val_mask.npy", Bools("5,", {0, 1, 0, 0, 0}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("mask.npy' has 5 rows"), HasSubstr("says 4 nodes")));
  Put("val_mask.npy", Bools("4,", {0, 1, 0, 0}));
  Put("train_mask.npy", NpyBytes<int8_t>("|i1", "4,", {2, 0, 0, 0}));
  EXPECT_THAT(Refused(in_), AllOf(HasSubstr("train_mask.npy' row 0: 2 is neither 0 nor 1")));
  Put("train_mask.npy", Bools("4,", {1, 0, 0, 0}));
  Put("valid_mask.npy", Bools("4,", {0, 1, 0, 0}));
  EXPECT_THAT(Refused(in_),
              AllOf(HasSubstr("val_mask.npy"), HasSubstr("valid_mask.npy"), HasSubstr("remove the other")));
  std::filesystem::remove(in_ + "/valid_mask.npy");
  Put("split.npy", NpyBytes<int8_t>("|i1", "4,", {0, 1, 2, -1}));
  EXPECT_THAT(Refused(in_), HasSubstr("both tell splits"));
}

TEST_F(SplitMasks, OneOfSeveralSplitsIsChosenInEitherOrder) {
  PutPath();
  for (const bool fortran : {false, true}) {
    // Split 0 trains on node 0, split 1 on nodes 2 and 3; both validate on node 1.
    Put("train_mask.npy", fortran ? Bools("4, 2", {1, 0, 0, 0, 0, 0, 1, 1}, /*fortran_order=*/true)
                                  : Bools("4, 2", {1, 0, 0, 0, 0, 1, 0, 1}));
    Put("val_mask.npy", fortran ? Bools("4, 2", {0, 1, 0, 0, 0, 1, 0, 0}, /*fortran_order=*/true)
                                : Bools("4, 2", {0, 0, 1, 1, 0, 0, 0, 0}));
    auto graph = Convert(in_);
    EXPECT_THAT(graph->train_nodes(), ElementsAre(0));
    EXPECT_THAT(report_.splits_meaning, HasSubstr("split 0 of 2, numbered from 0 (--split-index chooses another)"));
    graph = Convert(in_, {.split_index = 1});
    EXPECT_THAT(graph->train_nodes(), ElementsAre(2, 3));
    EXPECT_THAT(graph->valid_nodes(), ElementsAre(1));
    EXPECT_EQ(report_.split_count, 2);
    EXPECT_THAT(ReadContainerProvenance(out_).value(), HasSubstr("of the source, 1 of 2"));
  }
  std::filesystem::remove_all(directory_ / "out");
  EXPECT_THAT(Refused(in_, {.split_index = 2}), AllOf(HasSubstr("--split-index 2"), HasSubstr("holds 2 splits")));
  EXPECT_THAT(Refused(in_, {.split_seed = 0, .split_index = 1}), HasSubstr("leave out one of them"));
  Put("train_mask.npy", Bools("4,", {1, 0, 0, 0}));
  Put("val_mask.npy", Bools("4,", {0, 1, 0, 0}));
  EXPECT_THAT(Refused(in_, {.split_index = 0}), HasSubstr("holds one split; leave the option out"));
  std::filesystem::remove(in_ + "/train_mask.npy");
  std::filesystem::remove(in_ + "/val_mask.npy");
  EXPECT_THAT(Refused(in_, {.split_index = 0}), HasSubstr("leave the option out"));
}

// The members of PyTorch Geometric's HeterophilousGraphDataset: masks are [splits, nodes].
TEST_F(SplitMasks, OfHeterophilousArchivesAreRead) {
  const std::vector<std::pair<std::string, std::string>> members = {
      {"node_features.npy", NpyBytes<float>("<f4", "3, 2", {1, 2, 3, 4, 5, 6})},
      {"node_labels.npy", NpyBytes<int64_t>("<i8", "3,", {0, 1, 1})},
      {"edges.npy", NpyBytes<int64_t>("<i8", "2, 2", {0, 1, 1, 2})},
      {"train_masks.npy", Bools("2, 3", {1, 0, 0, 0, 0, 1})},
      {"val_masks.npy", Bools("2, 3", {0, 1, 0, 0, 1, 0})},
      {"test_masks.npy", Bools("2, 3", {0, 0, 1, 1, 0, 0})},
      {"node_positions.npy", NpyBytes<float>("<f4", "3,", {1, 2, 3})}};
  Put("toy.npz", ZipBytes(members, ZipStyle::kDeflated));
  for (const std::string& source : {in_ + "/toy.npz", in_}) {
    auto graph = Convert(source);
    EXPECT_THAT(Row(*graph, 1), ElementsAre(0));
    EXPECT_THAT(Row(*graph, 2), ElementsAre(1));
    EXPECT_THAT(Features(*graph, 2), ElementsAre(5, 6));
    EXPECT_THAT(graph->train_nodes(), ElementsAre(0));
    EXPECT_THAT(graph->test_nodes(), ElementsAre(2));
    graph = Convert(source, {.split_index = 1});
    EXPECT_THAT(graph->train_nodes(), ElementsAre(2));
    EXPECT_THAT(graph->test_nodes(), ElementsAre(0));
    EXPECT_THAT(graph->labels(), ElementsAre(0, 1, 1));
    EXPECT_THAT(UnreadNames(), ElementsAre("toy.npz:node_positions"));
  }
  std::filesystem::remove_all(directory_ / "out");
  EXPECT_THAT(Refused(in_ + "/toy.npz", {.split_index = 2}), HasSubstr("holds 2 splits"));
}

}  // namespace
}  // namespace hone::gnn
