// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/batch/slice_rows.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/sample/huge_buffer.h"
#include "gnn/sample/test_graphs.h"

namespace hone::gnn {
namespace {

TEST(SliceRows, CopiesWholeRowsEitherWay) {
  for (const int64_t width : {1, 32, 33, 100, 256}) {
    const TestGraph graph(Cycle(500), width);
    const FeatureView features = graph.features();
    Rng rng(1);
    for (const size_t count : {size_t{0}, size_t{1}, size_t{7}, size_t{300}}) {
      std::vector<NodeId> nodes(count);
      for (NodeId& node : nodes) node = static_cast<NodeId>(rng.Below(500));
      for (const RowStores stores : {RowStores::kPlain, RowStores::kStreaming, RowStores::kAuto}) {
        HugeBuffer out = std::move(HugeBuffer::Allocate(count * static_cast<size_t>(features.stride_bytes) + 64)).value();
        std::memset(out.data(), 0xee, out.bytes());
        SliceRows(features, nodes, out.data(), {.stores = stores});
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(std::memcmp(out.data() + static_cast<int64_t>(i) * features.stride_bytes, features.Row(nodes[i]),
                                static_cast<size_t>(features.stride_bytes)), 0)
              << "row " << i << " of width " << width;
        }
        EXPECT_EQ(out.data()[count * static_cast<size_t>(features.stride_bytes)], std::byte{0xee}) << "wrote past the end";
      }
    }
  }
}

TEST(SliceLabels, LeavesNodesOfAGraphWithoutLabelsUnlabelled) {
  const std::vector<int32_t> labels = {4, kNoLabel, 6};
  const std::vector<NodeId> nodes = {2, 1, 2};
  std::vector<int32_t> out(3);
  SliceLabels(labels, nodes, out);
  EXPECT_EQ(out, (std::vector<int32_t>{6, kNoLabel, 6}));
  SliceLabels({}, nodes, out);
  EXPECT_EQ(out, (std::vector<int32_t>{kNoLabel, kNoLabel, kNoLabel}));
}

}  // namespace
}  // namespace hone::gnn
