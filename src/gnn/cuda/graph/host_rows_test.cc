// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests how much host memory rows take, and their contents. Ranks that share rows: emulated/rank_engine_test.cc.
#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/graph/host_rows.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstring>

#include "gnn/train/test_graph.h"

namespace hone::gnn::cuda {
namespace {

TEST(HostRows, ACopyForEachRankWhereThereIsRoomElseOneForAll) {
  // A copy needs 1000 bytes per rank, and an eighth of the memory stays free.
  const HostRowsPlan roomy = PlanHostRows(1000, 4, 4500);
  EXPECT_TRUE(roomy.managed);
  EXPECT_TRUE(roomy.fits);
  EXPECT_EQ(roomy.needed, 4000);
  const HostRowsPlan tight = PlanHostRows(1000, 4, 4499);
  EXPECT_FALSE(tight.managed);
  EXPECT_TRUE(tight.fits);
  EXPECT_EQ(tight.needed, 1000);
  EXPECT_TRUE(PlanHostRows(1000, 4, 1125).fits);
  EXPECT_FALSE(PlanHostRows(1000, 4, 1124).fits);
}

TEST(HostRows, OneRankHasThemWhateverTheRoom) {
  HONE_REQUIRE_DEVICE();
  const auto graph = CommunityGraph({.nodes = 100});
  const FeatureView rows = graph->features();
  const auto bytes = static_cast<size_t>(rows.num_rows * rows.stride_bytes);
  for (const int64_t most_bytes : {int64_t{0}, int64_t{1}}) {
    HostRows host;
    ASSERT_TRUE(host.Open(rows, {.threads = 1, .most_bytes = most_bytes}).ok());
    EXPECT_FALSE(host.shared());
    std::vector<std::byte> bytes_read(bytes);
    ASSERT_EQ(cudaMemcpy(bytes_read.data(), host.device(), bytes, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(std::memcmp(bytes_read.data(), rows.rows, bytes), 0);
    HostRows host_rows;
    ASSERT_TRUE(host_rows.Allocate(static_cast<int64_t>(bytes), {.threads = 1, .most_bytes = most_bytes}).ok());
    EXPECT_EQ(host_rows.share().Begin(100), 0);
    EXPECT_EQ(host_rows.share().End(100), 100);
    std::memcpy(host_rows.own(), rows.rows, bytes);
    ASSERT_TRUE(host_rows.Ready().ok());
    ASSERT_EQ(cudaMemcpy(bytes_read.data(), host_rows.device(), bytes, cudaMemcpyDefault), cudaSuccess);
    EXPECT_EQ(std::memcmp(bytes_read.data(), rows.rows, bytes), 0);
    HostRows failed;
    ASSERT_TRUE(failed.Allocate(static_cast<int64_t>(bytes), {.threads = 1}).ok());
    EXPECT_EQ(failed.Ready(Status::Io("a disk")).code(), StatusCode::kIo);
  }
}

}  // namespace
}  // namespace hone::gnn::cuda
