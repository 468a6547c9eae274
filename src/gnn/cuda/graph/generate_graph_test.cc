// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests that a graph generated in device memory has the bytes of the host's graph.
#include <gtest/gtest.h>

#include <cstring>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/graph/device_graph.h"
#include "gnn/graph/synthetic/synthetic_graph.h"
#include "hone/gnn/predictor.h"

namespace hone::gnn::cuda {
namespace {

class GenerateGraph : public testing::TestWithParam<const char*> {};

TEST_P(GenerateGraph, HasTheHostsBytes) {
  HONE_REQUIRE_DEVICE();
  const std::string name = GetParam();
  const Result<std::shared_ptr<const Graph>> host = OpenGraph(name);
  ASSERT_TRUE(host.ok()) << host.status().message();
  const Result<SyntheticRequest> request = ParseSyntheticName(name);
  ASSERT_TRUE(request.ok());
  DeviceGraph device;
  const Status generate_status = device.Generate(*request);
  ASSERT_TRUE(generate_status.ok()) << generate_status.message();

  const CsrView csr = (*host)->structure();
  std::vector<int64_t> row_offsets;
  std::vector<int32_t> columns, labels;
  std::vector<unsigned char> features;
  ASSERT_TRUE(device.row_offsets().Download(row_offsets).ok());
  ASSERT_TRUE(device.columns().Download(columns).ok());
  ASSERT_TRUE(device.labels().Download(labels).ok());
  ASSERT_TRUE(device.features().Download(features).ok());
  ASSERT_EQ(device.num_edges(), csr.num_edges());
  EXPECT_TRUE(std::equal(row_offsets.begin(), row_offsets.end(), csr.row_offsets.begin(), csr.row_offsets.end()));
  EXPECT_TRUE(std::equal(columns.begin(), columns.end(), csr.columns.begin(), csr.columns.end()));
  EXPECT_TRUE(std::equal(labels.begin(), labels.end(), (*host)->labels().begin(), (*host)->labels().end()));
  const FeatureView rows = (*host)->features();
  ASSERT_EQ(features.size(), static_cast<size_t>(rows.num_rows * rows.stride_bytes));
  EXPECT_EQ(std::memcmp(features.data(), rows.rows, features.size()), 0);
  EXPECT_EQ(device.view().feature_stride * FeatureDtypeBytes(rows.dtype), rows.stride_bytes);

  // The fingerprint is equal too. For it, the host needs neither edges nor features.
  const Result<std::shared_ptr<const Graph>> outline = OutlineSyntheticGraph(name);
  ASSERT_TRUE(outline.ok());
  const Result<std::string> fingerprint = FingerprintThrough(**outline, device.Reader());
  ASSERT_TRUE(fingerprint.ok()) << fingerprint.status().message();
  EXPECT_EQ(*fingerprint, GraphFingerprint(**host));
}

// The shapes have several class blocks and regions, a last block with a remainder, every dtype, and widths with
// padding.
INSTANTIATE_TEST_SUITE_P(Shapes, GenerateGraph,
                         testing::Values("synthetic:papers100M?nodes=9001&degree=9&seed=3",
                                         "synthetic:arxiv?nodes=3000&seed=2&dtype=float32&features=13",
                                         "synthetic:products?nodes=2500&degree=12&dtype=bfloat16&features=30"));

}  // namespace
}  // namespace hone::gnn::cuda
