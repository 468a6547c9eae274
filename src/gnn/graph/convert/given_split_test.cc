// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/graph/convert/given_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gnn/graph/convert/convert_fixture.h"

namespace hone::gnn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using GivenSplit = ConvertTest;

TEST_F(GivenSplit, TakesThePlaceOfTheGraphsOwnAndLeavesTheRest) {
  PutPath();
  Put("split.npy", NpyBytes<int8_t>("|i1", "4,", {0, 1, 2, -1}));
  const std::shared_ptr<const Graph> graph = Convert(in_);
  Put("other.npy", NpyBytes<int64_t>("<i8", "4,", {-1, 0, -1, 0}));
  const std::shared_ptr<const Graph> other = WithGivenSplit(graph, in_ + "/other.npy").value();
  EXPECT_THAT(other->train_nodes(), ElementsAre(1, 3));
  EXPECT_THAT(other->valid_nodes(), IsEmpty());
  EXPECT_THAT(other->test_nodes(), IsEmpty());
  EXPECT_EQ(other->name(), graph->name());
  EXPECT_EQ(other->structure().columns.data(), graph->structure().columns.data());
  EXPECT_EQ(other->labels().data(), graph->labels().data());
  EXPECT_THAT(graph->train_nodes(), ElementsAre(0));
}

TEST_F(GivenSplit, ThatIsNoneIsToldByFileAndPlace) {
  PutPath();
  const std::shared_ptr<const Graph> graph = Convert(in_);
  const auto refused = [&](const std::string& bytes) {
    Put("other.npy", bytes);
    return std::string(WithGivenSplit(graph, in_ + "/other.npy").status().message());
  };
  EXPECT_THAT(refused(NpyBytes<int64_t>("<i8", "3,", {0, 1, 2})), HasSubstr("is int64 [3]; a split of graph"));
  EXPECT_THAT(refused(NpyBytes<int8_t>("|b1", "4,", {1, 0, 0, 0})), HasSubstr("is bool [4]; a split of graph"));
  EXPECT_THAT(refused(NpyBytes<int64_t>("<i8", "4,", {0, 1, 3, 0})), HasSubstr("node 2 is in part 3"));
  EXPECT_THAT(refused(NpyBytes<int64_t>("<i8", "4,", {1, 1, 2, -1})), HasSubstr("has no training node"));
  EXPECT_THAT(WithGivenSplit(graph, in_ + "/absent.npy").status().message(), HasSubstr("absent.npy"));
}

}  // namespace
}  // namespace hone::gnn
