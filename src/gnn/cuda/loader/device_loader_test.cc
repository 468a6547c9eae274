// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares a GPU's batches, made through the C interface, with those of the host's threads, byte for byte.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/numbers/random.h"
#include "gnn/cuda/base/cuda_handles.h"
#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/loader/c_api.h"
#include "gnn/loader/batch_loader.h"

namespace hone::gnn::cuda {
namespace {

constexpr int64_t kNodes = 300, kEdges = 4000;

// A table of rows that begin `stride` bytes apart, on the host and on the device.
struct TableOnBoth {
  std::vector<unsigned char> bytes;
  DeviceArray<unsigned char> there;
  int64_t rows, row_bytes, stride, first;

  TableOnBoth(int64_t rows_in, int64_t row_bytes_in, int64_t stride_in, int64_t first_in, Rng& rng)
      : rows(rows_in), row_bytes(row_bytes_in), stride(stride_in), first(first_in) {
    for (int64_t i = 0; i < first + rows * stride; ++i) bytes.push_back(static_cast<unsigned char>(rng.Below(256)));
    EXPECT_TRUE(there.Upload(bytes.data(), static_cast<int64_t>(bytes.size())).ok());
  }
  RowTable here() const { return {reinterpret_cast<const std::byte*>(bytes.data()) + first, rows, row_bytes, stride}; }
  HoneRowTable c() const { return {there.get() + first, rows, row_bytes, stride}; }
};

class DeviceLoaderTest : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
    Rng rng(3);
    std::vector<int64_t> sources, destinations;
    for (int64_t e = 0; e < kEdges; ++e) {  // includes parallel edges, self-loops, and nodes without in-edges
      sources.push_back(static_cast<int64_t>(rng.Below(kNodes)));
      destinations.push_back(static_cast<int64_t>(rng.Below(kNodes) * rng.Below(kNodes) / kNodes));
    }
    Result<InEdges> edges_or_error = MakeInEdges(sources, destinations, kNodes, 1);
    ASSERT_TRUE(edges_or_error.ok());
    edges_ = std::make_shared<const InEdges>(std::move(*edges_or_error));
    ASSERT_TRUE(row_offsets_.Upload(edges_->row_offsets.data(), kNodes + 1).ok());
    ASSERT_TRUE(columns_.Upload(edges_->columns.data(), kEdges).ok());
    ASSERT_TRUE(edge_ids_.Upload(edges_->edge_ids.data(), kEdges).ok());
    // The rows are copied in units of 16, 8, 4, 2 and 1 bytes; the last table of each kind begins at an odd address.
    for (const auto& [row, stride, first] :
         {std::array<int64_t, 3>{64, 64, 0}, {40, 48, 0}, {12, 12, 0}, {2, 6, 0}, {7, 9, 1}}) {
      node_tables_.push_back(std::make_unique<TableOnBoth>(kNodes, row, stride, first, rng));
    }
    edge_tables_.push_back(std::make_unique<TableOnBoth>(kEdges, 12, 12, 0, rng));
    edge_tables_.push_back(std::make_unique<TableOnBoth>(kEdges, 0, 0, 0, rng));
    for (int64_t v = 0; v < kNodes; v += 2) seeds_.push_back((v * 7) % kNodes);
  }
  void TearDown() override { hone_cuda_loader_free(loader_); }

  int32_t Make(std::vector<int32_t> fanouts, int64_t batch, int32_t ahead = 1) {
    std::vector<HoneRowTable> nodes, edges;
    for (const auto& table : node_tables_) nodes.push_back(table->c());
    for (const auto& table : edge_tables_) edges.push_back(table->c());
    const HoneCudaLoaderOptions options{.device = 0,
                                        .hops = static_cast<int32_t>(fanouts.size()),
                                        .fanouts = fanouts.data(),
                                        .batch = batch,
                                        .nodes = kNodes,
                                        .edges = kEdges,
                                        .row_offsets = row_offsets_.get(),
                                        .columns = columns_.get(),
                                        .edge_ids = edge_ids_.get(),
                                        .node_tables = nodes.data(),
                                        .edge_tables = edges.data(),
                                        .num_node_tables = static_cast<int32_t>(nodes.size()),
                                        .num_edge_tables = static_cast<int32_t>(edges.size()),
                                        .ahead = ahead};
    hone_cuda_loader_free(loader_);
    loader_ = nullptr;
    return hone_cuda_loader_make(&options, &loader_, error_);
  }
  std::unique_ptr<BatchLoader> OnTheHost(const std::vector<int32_t>& fanouts, int64_t batch) {
    BatchLoaderOptions options{.fanouts = fanouts, .batch = batch, .threads = 1};
    for (const auto& table : node_tables_) options.node_tables.push_back(table->here());
    for (const auto& table : edge_tables_) options.edge_tables.push_back(table->here());
    return BatchLoader::Make(edges_, options).value();
  }
  // A batch that is taken and being written.
  struct Taken {
    HoneBatchView view;
    std::vector<int64_t> hop_nodes, hop_edges, node_rows_at, edge_rows_at;
    DeviceArray<unsigned char> block;
  };
  std::unique_ptr<Taken> Take(cudaStream_t stream) {
    auto batch_on_host = std::make_unique<Taken>();
    HoneBatchView& view = batch_on_host->view;
    EXPECT_EQ(hone_cuda_loader_take(loader_, &view, error_), HONE_OK) << error_;
    batch_on_host->hop_nodes.assign(view.hop_nodes, view.hop_nodes + view.hops + 1);
    batch_on_host->hop_edges.assign(view.hop_edges, view.hop_edges + view.hops);
    batch_on_host->node_rows_at.assign(view.node_rows_at, view.node_rows_at + node_tables_.size());
    batch_on_host->edge_rows_at.assign(view.edge_rows_at, view.edge_rows_at + edge_tables_.size());
    EXPECT_TRUE(batch_on_host->block.Allocate(view.block_bytes + 1).ok());
    EXPECT_EQ(hone_cuda_loader_write(loader_, batch_on_host->block.get(), stream, error_), HONE_OK) << error_;
    return batch_on_host;
  }
  // Expects the next batch, written to a block of its own, to equal `expected`.
  void ExpectTaken(const LoadedBatch& expected) { ExpectSame(*Take(nullptr), expected); }
  void ExpectSame(const Taken& batch_on_host, const LoadedBatch& expected) {
    const HoneBatchView& view = batch_on_host.view;
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(view.step, expected.step);
    ASSERT_EQ(view.seeds, static_cast<int64_t>(expected.input.size()));
    ASSERT_EQ(view.nodes, static_cast<int64_t>(expected.nodes.size()));
    ASSERT_EQ(view.edges, static_cast<int64_t>(expected.sources.size()));
    EXPECT_EQ(batch_on_host.hop_nodes, expected.hop_nodes);
    EXPECT_EQ(batch_on_host.hop_edges, expected.hop_edges);
    std::vector<unsigned char> bytes;
    ASSERT_TRUE(batch_on_host.block.Download(bytes).ok());
    EXPECT_EQ(bytes.back(), 0) << "written past the block";
    const auto expect_ids = [&](int64_t at, std::span<const int64_t> ids, const char* what) {
      const auto* copied_ids = reinterpret_cast<const int64_t*>(bytes.data() + at);
      EXPECT_EQ(std::vector<int64_t>(copied_ids, copied_ids + ids.size()), std::vector<int64_t>(ids.begin(), ids.end()))
          << what;
    };
    expect_ids(view.nodes_at, expected.nodes, "nodes");
    expect_ids(view.input_at, expected.input, "input");
    expect_ids(view.sources_at, expected.sources, "sources");
    expect_ids(view.destinations_at, expected.destinations, "destinations");
    expect_ids(view.edge_ids_at, expected.edge_ids, "edge ids");
    const auto expect_rows = [&](int64_t at, const std::byte* rows, int64_t size, size_t table) {
      EXPECT_EQ(std::vector<unsigned char>(bytes.begin() + at, bytes.begin() + at + size),
                std::vector<unsigned char>(reinterpret_cast<const unsigned char*>(rows),
                                           reinterpret_cast<const unsigned char*>(rows) + size))
          << "table " << table;
    };
    for (size_t i = 0; i < node_tables_.size(); ++i) {
      expect_rows(batch_on_host.node_rows_at[i], expected.node_rows[i], view.nodes * node_tables_[i]->row_bytes, i);
    }
    for (size_t i = 0; i < edge_tables_.size(); ++i) {
      expect_rows(batch_on_host.edge_rows_at[i], expected.edge_rows[i], view.edges * edge_tables_[i]->row_bytes, i);
    }
  }
  // Writes each batch and samples the next one before it reads the batch, as Python does.
  void ExpectTheHostsEpoch(const std::vector<int32_t>& fanouts, const LoaderEpoch& epoch) {
    constexpr int64_t kBatch = 40;
    ASSERT_EQ(Make(fanouts, kBatch), HONE_OK) << error_;
    const std::unique_ptr<BatchLoader> host = OnTheHost(fanouts, kBatch);
    ASSERT_TRUE(host->Start(epoch).ok());
    ASSERT_EQ(hone_cuda_loader_start(loader_, epoch.seeds.data(), static_cast<int64_t>(epoch.seeds.size()), epoch.seed,
                                     epoch.epoch, epoch.shuffle, epoch.drop_last, epoch.first_step, error_),
              HONE_OK);
    int batches = 0;
    for (;; ++batches) {
      const std::unique_ptr<LoadedBatch> expected = host->Next(60).value();
      const int32_t code = hone_cuda_loader_sample(loader_, nullptr, error_);
      if (expected == nullptr) {
        EXPECT_EQ(code, HONE_END);
        break;
      }
      ASSERT_EQ(code, HONE_OK) << error_;
      ExpectTaken(*expected);
    }
    EXPECT_EQ(batches, (static_cast<int64_t>(epoch.seeds.size()) + (epoch.drop_last ? 0 : kBatch - 1)) / kBatch -
                           epoch.first_step);
  }

  std::shared_ptr<const InEdges> edges_;
  DeviceArray<int64_t> row_offsets_, edge_ids_;
  DeviceArray<int32_t> columns_;
  std::vector<std::unique_ptr<TableOnBoth>> node_tables_, edge_tables_;
  std::vector<int64_t> seeds_;
  HoneCudaLoader* loader_ = nullptr;
  char error_[HONE_ERROR_BYTES] = "";
};

TEST_F(DeviceLoaderTest, EpochsAreTheHosts) {
  ExpectTheHostsEpoch({4, 3, 2}, {.seeds = seeds_, .seed = 5, .epoch = 1});
  ExpectTheHostsEpoch({33, -1}, {.seeds = seeds_, .seed = 6, .shuffle = false, .drop_last = true, .first_step = 1});
  ExpectTheHostsEpoch({2}, {.seeds = {}});
}

// Enqueues everything before it reads anything. On the emulated runtime streams run in a random order, so a Sample that
// did not wait for the Write of the batch whose place it reuses would spoil that batch.
TEST_F(DeviceLoaderTest, BatchesAreSampledAheadOnAStreamOfTheirOwn) {
  constexpr int32_t kAhead = 3;
  constexpr int64_t kBatch = 12;
  ASSERT_EQ(Make({4, 3}, kBatch, kAhead), HONE_OK) << error_;
  ASSERT_EQ(hone_cuda_loader_ahead(loader_), kAhead);
  Stream sampling, writing;
  ASSERT_TRUE(sampling.Make().ok());
  ASSERT_TRUE(writing.Make().ok());
  const std::unique_ptr<BatchLoader> host = OnTheHost({4, 3}, kBatch);
  for (const uint32_t epoch : {0u, 1u}) {
    const LoaderEpoch seeds{.seeds = seeds_, .seed = 5, .epoch = epoch};
    ASSERT_TRUE(host->Start(seeds).ok());
    ASSERT_EQ(
        hone_cuda_loader_start(loader_, seeds_.data(), static_cast<int64_t>(seeds_.size()), 5, epoch, 1, 0, 0, error_),
        HONE_OK);
    const auto sample = [&] { return hone_cuda_loader_sample(loader_, sampling.handle, error_); };
    for (int32_t i = 0; i < kAhead; ++i) ASSERT_EQ(sample(), HONE_OK) << error_;
    EXPECT_EQ(sample(), HONE_FAILED) << "there is no room for one more";
    EXPECT_NE(std::string(error_).find("3 batches are sampled and not written"), std::string::npos) << error_;
    std::vector<std::unique_ptr<Taken>> taken_batches;
    const size_t batches = (seeds_.size() + kBatch - 1) / kBatch;
    while (taken_batches.size() < batches) {
      taken_batches.push_back(Take(writing.handle));
      EXPECT_EQ(sample(), taken_batches.size() + kAhead <= batches ? HONE_OK : HONE_END) << error_;
    }
    for (const std::unique_ptr<Taken>& one : taken_batches) ExpectSame(*one, *host->Next(60).value());
  }
}

TEST_F(DeviceLoaderTest, ABatchOfGivenSeedsDropsAnEpochsNextOne) {
  ASSERT_EQ(Make({4, 3}, 40), HONE_OK) << error_;
  ASSERT_EQ(hone_cuda_loader_start(loader_, seeds_.data(), 150, 9, 0, 1, 0, 0, error_), HONE_OK);
  ASSERT_EQ(hone_cuda_loader_sample(loader_, nullptr, error_), HONE_OK);
  const std::vector<int64_t> given_seeds = {7, 299, 0};
  ASSERT_EQ(hone_cuda_loader_sample_these(loader_, given_seeds.data(), 3, 8, 1, 2, nullptr, error_), HONE_OK);
  ExpectTaken(*OnTheHost({4, 3}, 40)->Load(given_seeds, 8, 1, 2).value());
  ASSERT_EQ(hone_cuda_loader_sample_these(loader_, given_seeds.data(), 0, 8, 1, 3, nullptr, error_), HONE_OK);
  ExpectTaken(*OnTheHost({4, 3}, 40)->Load({}, 8, 1, 3).value());
}

TEST_F(DeviceLoaderTest, WhatIsWrongIsToldByName) {
  EXPECT_EQ(Make({4}, 0), HONE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error_).find("batch is 0"), std::string::npos);
  EXPECT_EQ(Make({4}, 4, 0), HONE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error_).find("ahead is 0"), std::string::npos);
  EXPECT_EQ(Make({0}, 4), HONE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error_).find("fanout 0"), std::string::npos);
  ASSERT_EQ(Make({4}, 4), HONE_OK);
  const std::vector<int64_t> beyond = {300}, twice = {4, 4}, many = {1, 2, 3, 4, 5};
  EXPECT_EQ(hone_cuda_loader_start(loader_, beyond.data(), 1, 0, 0, 0, 0, 0, error_), HONE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error_).find("seed 300 is no node"), std::string::npos);
  EXPECT_EQ(hone_cuda_loader_start(loader_, many.data(), 5, 0, 0, 0, 0, 3, error_), HONE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error_).find("2 steps cannot begin at step 3"), std::string::npos);
  EXPECT_EQ(hone_cuda_loader_sample_these(loader_, many.data(), 5, 0, 0, 0, nullptr, error_), HONE_INVALID_ARGUMENT);
  ASSERT_EQ(hone_cuda_loader_sample_these(loader_, twice.data(), 2, 0, 0, 0, nullptr, error_), HONE_OK);
  HoneBatchView view;
  EXPECT_EQ(hone_cuda_loader_take(loader_, &view, error_), HONE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error_).find("a node occurs twice"), std::string::npos);
  EXPECT_EQ(hone_cuda_loader_take(loader_, &view, error_), HONE_FAILED) << "nothing was sampled since";
}

}  // namespace
}  // namespace hone::gnn::cuda
