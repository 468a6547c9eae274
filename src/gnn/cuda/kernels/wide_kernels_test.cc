// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares draws of more neighbors than a warp has lanes with the CPU sampler's, and the maximum with the CPU's in
// double and, for equal values, with results worked out by hand. engine_models_test.cc tests the engine with such
// fanouts.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/cuda/kernels/wide_aggregate_kernels.h"
#include "gnn/cuda/sample/all_neighbors.h"
#include "gnn/cuda/sample/source_kernels.h"
#include "gnn/cuda/sample/wide_sample_kernels.h"
#include "gnn/ops/aggregate.h"
#include "hone/gnn/neighbor_sampler.h"

namespace hone::gnn::cuda {
namespace {

class WideKernels : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
  }
};

template <typename T>
DeviceArray<T> OnDevice(const std::vector<T>& values) {
  DeviceArray<T> array;
  EXPECT_TRUE(array.Upload(values.data(), static_cast<int64_t>(values.size())).ok());
  return array;
}

// A graph whose rows have the given lengths; row v lists v + 1, v + 2, … around the graph.
struct RingGraph {
  std::vector<int64_t> row_offsets{0};
  std::vector<NodeId> columns;
  RingGraph(const std::vector<int32_t>& degrees, int32_t nodes) {
    for (int32_t v = 0; v < nodes; ++v) {
      const int32_t degree = v < static_cast<int32_t>(degrees.size()) ? degrees[static_cast<size_t>(v)] : 0;
      for (int32_t i = 0; i < degree; ++i) columns.push_back((v + 1 + i) % nodes);
      row_offsets.push_back(static_cast<int64_t>(columns.size()));
    }
  }
  CsrView view() const { return {static_cast<int64_t>(row_offsets.size()) - 1, row_offsets, columns}; }
};

struct BatchOfRows {
  DeviceArray<RunState> state;
  DeviceArray<BatchHeader> header;
  explicit BatchOfRows(std::vector<int32_t> hop_nodes, const BatchKey& key = {}) {
    RunState of_run{};
    of_run.seed = key.seed;
    BatchHeader of_batch{};
    of_batch.valid = 1;
    of_batch.step = key.step;
    of_batch.epoch = key.epoch;
    std::copy(hop_nodes.begin(), hop_nodes.end(), of_batch.hop_nodes);
    state = OnDevice<RunState>({of_run});
    header = OnDevice<BatchHeader>({of_batch});
  }
};

// If a row is one longer than the fanout, nearly every draw is replaced, which gives the longest chains
// (wide_draw.cuh).
TEST_F(WideKernels, DrawTheNeighborsThatTheCpuDraws) {
  for (const int32_t fanout : {33, 64, 100, 1000, 1024, kAllNeighbors}) {
    SCOPED_TRACE(fanout);
    const int32_t k = fanout == kAllNeighbors ? 700 : fanout;
    const std::vector<int32_t> degrees = {0, 1, k - 1, k, k + 1, k + 2, 2 * k, 20 * k, 32, 33, 5000};
    const RingGraph graph(degrees, 24'000);
    const auto rows = static_cast<int32_t>(degrees.size());
    std::vector<NodeId> seeds(degrees.size());
    std::iota(seeds.begin(), seeds.end(), 0);
    const BatchKey key{.seed = 11, .epoch = 2, .step = 5};
    auto sampler = MakeNeighborSampler(graph.view(), {{fanout}, FrontierRule::kAllSoFar}).value();
    NeighborSample sample;
    ASSERT_TRUE(sampler->Sample(seeds, key, sample).ok());

    const int32_t stride = WithAllNeighbors({{fanout}}, LargestDegree(graph.view()))[0];
    const auto row_offsets = OnDevice(graph.row_offsets);
    const auto columns = OnDevice(graph.columns), nodes = OnDevice(seeds);
    GraphOnDevice on_device{};
    on_device.row_offsets = row_offsets.get();
    on_device.columns = columns.get();
    on_device.num_nodes = 24'000;
    const BatchOfRows batch({rows}, key);
    DeviceArray<int32_t> neighbors, counts;
    ASSERT_TRUE(neighbors.Allocate(int64_t{rows} * stride).ok() && counts.Allocate(rows).ok());
    ASSERT_EQ(EnqueueWideDraw(on_device, 0, stride, rows, neighbors.get(), counts.get(), batch.state.get(),
                              batch.header.get(), nodes.get(), nullptr),
              cudaSuccess);
    std::vector<int32_t> drawn, count;
    ASSERT_TRUE(neighbors.Download(drawn).ok() && counts.Download(count).ok());
    for (int32_t row = 0; row < rows; ++row) {
      std::vector<int32_t> expected;
      for (int32_t e = sample.rows[0].row_offsets[static_cast<size_t>(row)];
           e < sample.rows[0].row_offsets[static_cast<size_t>(row) + 1]; ++e) {
        expected.push_back(sample.nodes[static_cast<size_t>(sample.rows[0].columns[static_cast<size_t>(e)])]);
      }
      ASSERT_EQ(count[static_cast<size_t>(row)], static_cast<int32_t>(expected.size())) << row;
      expected.resize(static_cast<size_t>(stride), -1);
      const auto row_begin = drawn.begin() + int64_t{row} * stride;
      EXPECT_TRUE(std::equal(expected.begin(), expected.end(), row_begin))
          << "row of " << degrees[static_cast<size_t>(row)];
    }
    EXPECT_EQ(LargestDegree(on_device).value(), LargestDegree(graph.view()));
  }
}

// The maximum over a hop whose rows have `slots` (local ids of sources), and its gradient.
struct Maximum {
  std::vector<float> out, grad_z;
  std::vector<int32_t> winners;
};
Maximum MaximumOnDevice(const std::vector<std::vector<int32_t>>& slots, int32_t fanout, int32_t sources,
                        const std::vector<float>& z, int32_t width, const std::vector<float>& grad_out) {
  const auto rows = static_cast<int32_t>(slots.size());
  std::vector<int32_t> columns, counts, first(static_cast<size_t>(sources), 0);
  std::vector<uint32_t> ranks;
  for (const std::vector<int32_t>& row : slots) {
    counts.push_back(static_cast<int32_t>(row.size()));
    for (int32_t s = 0; s < fanout; ++s) {
      columns.push_back(s < counts.back() ? row[static_cast<size_t>(s)] : -1);
      ranks.push_back(columns.back() < 0 ? 0 : static_cast<uint32_t>(first[static_cast<size_t>(columns.back())]++));
    }
  }
  const auto places = static_cast<int64_t>(columns.size());
  std::vector<int32_t> ids(static_cast<size_t>(sources));
  std::iota(ids.begin(), ids.end(), 0);
  const auto on_columns = OnDevice(columns), on_counts = OnDevice(counts), on_first = OnDevice(first), nodes = OnDevice(ids);
  const auto on_ranks = OnDevice(ranks);
  const auto on_z = OnDevice(z), on_grad = OnDevice(grad_out);
  DeviceArray<uint32_t> ordering, sorted, words;
  DeviceArray<int32_t> end, winners;
  DeviceArray<float> out, grad_z;
  EXPECT_TRUE(ordering.Allocate(places).ok() && sorted.Allocate(places).ok() && end.Allocate(sources).ok() &&
              words.Allocate((sources + kSourceTile - 1) / kSourceTile + 1).ok() && winners.Allocate(rows * width).ok() &&
              out.Allocate(2 * rows * width).ok() && grad_z.Allocate(sources * width).ok());
  HopOnDevice hop{};
  hop.fanout = fanout;
  hop.rows = rows;
  hop.sources = sources;
  hop.columns = on_columns.get();
  hop.counts = on_counts.get();
  hop.slot_ranks = on_ranks.get();
  hop.ordering = ordering.get();
  hop.sorted_slots = sorted.get();
  hop.first = on_first.get();
  hop.end = end.get();
  hop.prefix_sum_scratch = words.get();
  const BatchOfRows batch({rows, sources});
  AggregateInput input;
  input.z = on_z.get();
  EXPECT_EQ(EnqueueBySource(hop, nullptr), cudaSuccess);
  EXPECT_EQ(EnqueueMaximum(hop, 0, Element::kFloat32, input, width, batch.state.get(), batch.header.get(), nodes.get(),
                           out.get(), winners.get(), nullptr),
            cudaSuccess);
  EXPECT_EQ(EnqueueMaximumBackward(hop, 0, Element::kFloat32, input, width, sources, winners.get(), on_grad.get(),
                                   batch.state.get(), batch.header.get(), nodes.get(), grad_z.get(), nullptr),
            cudaSuccess);
  Maximum result;
  EXPECT_TRUE(out.Download(result.out).ok() && winners.Download(result.winners).ok() &&
              grad_z.Download(result.grad_z).ok());
  return result;
}

// Row 0 has the sources 2, 1, 2; row 1 has none. In column 0, source 2 has the largest value, in slots 0 and 2. In
// column 1, sources 1 and 2 are equal. In column 2 all values are below zero, so a maximum that started at 0 would
// fail.
TEST_F(WideKernels, TheFirstOfEqualsWinsAndNobodyGivesZero) {
  const std::vector<float> z = {10, 11, 12, 0, 0, 0, 0, 0,  //
                                1,  5,  -3, 0, 0, 0, 0, 0,  //
                                4,  5,  -7, 0, 0, 0, 0, 0};
  std::vector<float> grad_out(32, 0);
  for (size_t c = 0; c < 8; ++c) grad_out[c] = 1 + static_cast<float>(c);           // gradient of row 0's maximum
  for (size_t c = 0; c < 8; ++c) grad_out[24 + c] = 100 + static_cast<float>(c);    // gradient of row 1 itself
  const Maximum maximum_on_gpu = MaximumOnDevice({{2, 1, 2}, {}}, 3, 3, z, 8, grad_out);
  EXPECT_EQ(std::vector<float>(maximum_on_gpu.out.begin(), maximum_on_gpu.out.begin() + 3),
            (std::vector<float>{4, 5, -3}));
  EXPECT_EQ(std::vector<float>(maximum_on_gpu.out.begin() + 8, maximum_on_gpu.out.begin() + 11),
            (std::vector<float>{10, 11, 12}));
  EXPECT_EQ(std::vector<float>(maximum_on_gpu.out.begin() + 16, maximum_on_gpu.out.begin() + 19),
            (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(std::vector<int32_t>(maximum_on_gpu.winners.begin(), maximum_on_gpu.winners.begin() + 3),
            (std::vector<int32_t>{0, 0, 1}));
  EXPECT_EQ(maximum_on_gpu.winners[8], -1);
  EXPECT_EQ(std::vector<float>(maximum_on_gpu.grad_z.begin() + 8, maximum_on_gpu.grad_z.begin() + 11),
            (std::vector<float>{100, 101, 105}));
  EXPECT_EQ(std::vector<float>(maximum_on_gpu.grad_z.begin() + 16, maximum_on_gpu.grad_z.begin() + 19),
            (std::vector<float>{1, 2, 0}));
}

// A maximum of floats is exact, and a gradient adds at most as many floats as a source has slots.
TEST_F(WideKernels, TheMaximumAndItsGradientAreTheDoubleReferences) {
  std::mt19937 draw(3);
  constexpr int32_t kRows = 20, kSources = 90, kWidth = 264;
  for (const int32_t fanout : {5, 70}) {
    SCOPED_TRACE(fanout);
    std::vector<std::vector<int32_t>> slots(kRows);
    NeighborSample::Rows rows;
    rows.row_offsets.push_back(0);
    for (std::vector<int32_t>& row : slots) {
      row.resize(draw() % static_cast<uint32_t>(fanout + 1));
      for (int32_t& source : row) source = static_cast<int32_t>(draw() % kSources);
      rows.columns.insert(rows.columns.end(), row.begin(), row.end());
      rows.row_offsets.push_back(static_cast<int32_t>(rows.columns.size()));
    }
    std::vector<float> z(kSources * kWidth), grad_out(2 * kRows * kWidth);
    for (float& x : z) x = static_cast<float>(static_cast<int32_t>(draw() % 41) - 20);  // with ties
    for (float& x : grad_out) x = static_cast<float>(static_cast<int32_t>(draw() % 2001) - 1000) * 1e-3f;
    const Maximum maximum_on_gpu = MaximumOnDevice(slots, fanout, kSources, z, kWidth, grad_out);

    const BlockView block{kRows, kSources, rows.row_offsets, rows.columns};
    std::vector<double> x(z.begin(), z.end()), out(kRows * kWidth), grad(kRows * kWidth), grad_x(kSources * kWidth);
    std::vector<int32_t> winners(kRows * kWidth);
    for (int32_t r = 0; r < kRows; ++r) {
      for (int32_t c = 0; c < kWidth; ++c) {
        grad[static_cast<size_t>(r * kWidth + c)] = grad_out[static_cast<size_t>(2 * r * kWidth + c)];
      }
    }
    AggregateForward<double>(Aggregation::kMax, block, {x.data(), kSources, kWidth, kWidth},
                             {out.data(), kRows, kWidth, kWidth}, winners.data(), 1);
    SourceMajorBlock by_source;
    BySource(block, by_source);
    MaxBackward<double>(block, by_source, winners.data(), {grad.data(), kRows, kWidth, kWidth},
                        {grad_x.data(), kSources, kWidth, kWidth}, 1);
    double worst_out = 0, worst_grad = 0;
    for (int32_t i = 0; i < kRows * kWidth; ++i) {
      const auto at = static_cast<size_t>(i);
      const size_t two = static_cast<size_t>(i / kWidth * 2 * kWidth + i % kWidth);
      worst_out = std::max(worst_out, std::abs(maximum_on_gpu.out[two] - out[at]));
      const int32_t won = maximum_on_gpu.winners[at];
      EXPECT_EQ(won < 0 ? -1 : slots[static_cast<size_t>(i / kWidth)][static_cast<size_t>(won)], winners[at]);
    }
    for (int32_t i = 0; i < kSources * kWidth; ++i) {
      double expected = grad_x[static_cast<size_t>(i)];
      if (i < kRows * kWidth) expected += grad_out[static_cast<size_t>(i / kWidth * 2 * kWidth + kWidth + i % kWidth)];
      worst_grad = std::max(worst_grad, std::abs(maximum_on_gpu.grad_z[static_cast<size_t>(i)] - expected));
    }
    EXPECT_EQ(worst_out, 0);
    EXPECT_LE(worst_grad, 100 * 100 * 6e-8) << "up to 100 terms of at most 1, each sum rounded";
  }
}

}  // namespace
}  // namespace hone::gnn::cuda
