// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the outermost hop with a literal version of Floyd's rule and plain sums. Features are small whole numbers,
// so that every sum is exact in every element type and order.
#include "gnn/cuda/kernels/outermost_kernels.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"
#include "gnn/sample/draw.h"

namespace hone::gnn::cuda {
namespace {

constexpr int32_t kNodes = 300;
constexpr int kHop = 2;

struct Case {
  Element features;  // the element type of the feature rows
  int32_t width, fanout, rows;
  SumOrder order;
  bool mean, adds_self;  // whether the neighbors' sum becomes a mean, and whether the node's own row is added to it
  float share;           // the share of the multiprocessors that the kernel may use
};

// Returns the bits of a whole number from -8 to 8 in the element type.
uint32_t BitsOf(Element element, int value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (element == Element::kFloat32) return bits;
  if (element == Element::kBFloat16) return bits >> 16;
  if (value == 0) return 0;
  return (bits >> 16 & 0x8000u) | ((bits >> 23 & 0xffu) - 112) << 10 | (bits >> 13 & 0x3ffu);
}

template <typename T>
DeviceArray<T> OnDevice(const std::vector<T>& values) {
  DeviceArray<T> array;
  EXPECT_TRUE(array.Upload(values.data(), static_cast<int64_t>(values.size())).ok());
  return array;
}

// A graph with degrees from 0 to 90; some nodes have exactly as many neighbors as the cases' fanouts, or one more.
struct Graph {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> columns;
  Graph() {
    std::mt19937 draw(5);
    for (int32_t v = 0; v < kNodes; ++v) {
      const int degrees[] = {0, 5, 6, 12, 13, 20, 21, 22, 32, 33};
      const auto degree = v % 3 == 0 ? degrees[v / 3 % 10] : static_cast<int>(draw() % 91);
      for (int i = 0; i < degree; ++i) columns.push_back(static_cast<int32_t>(draw() % kNodes));
      offsets.push_back(static_cast<int64_t>(columns.size()));
    }
  }
  std::vector<int32_t> Drawn(const DrawKey& key, int32_t node, int32_t fanout) const {
    const int64_t begin = offsets[static_cast<size_t>(node)];
    const auto degree = static_cast<int32_t>(offsets[static_cast<size_t>(node) + 1] - begin);
    std::vector<int32_t> slots;
    for (int32_t j = 0; j < std::min(degree, fanout); ++j) {
      int32_t slot = j;
      if (degree > fanout) {
        const auto at = static_cast<uint32_t>(j), id = static_cast<uint32_t>(node);
        slot = static_cast<int32_t>(
            BoundedDraw(key, id, at, DrawWord(key, id, at, 0), static_cast<uint32_t>(degree - fanout + j + 1)));
        if (std::find(slots.begin(), slots.end(), slot) != slots.end()) slot = degree - fanout + j;
      }
      slots.push_back(slot);
    }
    for (int32_t& slot : slots) slot = columns[static_cast<size_t>(begin + slot)];
    return slots;
  }
};

// Compares the kernel's sums with those of the neighbors that Floyd's rule draws, added up on the host.
void CheckOutermostHop(const Case& c) {
  SCOPED_TRACE(testing::Message() << "width " << c.width << " fanout " << c.fanout << " rows " << c.rows);
  const Graph graph;
  const int32_t vectors = (c.width + 7) / 8, stride = vectors * 8;
  std::mt19937 draw(7);
  std::vector<int> values(size_t{kNodes} * static_cast<size_t>(stride));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<int32_t>(i % static_cast<size_t>(stride)) < c.width ? static_cast<int>(draw() % 17) - 8 : 0;
  }
  const size_t bytes = c.features == Element::kFloat32 ? 4 : 2;
  std::vector<unsigned char> features(values.size() * bytes);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint32_t bits = BitsOf(c.features, values[i]);
    std::memcpy(features.data() + i * bytes, &bits, bytes);
  }
  std::vector<int32_t> nodes;
  for (int32_t i = 0; i < c.rows; ++i) nodes.push_back(static_cast<int32_t>(draw() % kNodes));
  BatchHeader header{};
  header.valid = 1;
  header.step = 3;
  header.epoch = 1;
  header.hop_nodes[kHop] = c.rows;
  RunState state{};
  state.seed = 41;

  const auto offsets_on = OnDevice(graph.offsets);
  const auto columns_on = OnDevice(graph.columns), nodes_on = OnDevice(nodes);
  const auto features_on = OnDevice(features);
  const auto header_on = OnDevice(std::vector<BatchHeader>{header});
  const auto state_on = OnDevice(std::vector<RunState>{state});
  const auto eps_on = OnDevice(std::vector<float>{1.0f});
  const size_t out_width = static_cast<size_t>(stride) * (c.adds_self ? 1 : 2);
  const int32_t envelope = c.rows + 70;
  auto out_on = OnDevice(std::vector<float>(static_cast<size_t>(envelope) * out_width, -99.0f));
  GraphOnDevice view{};
  view.row_offsets = offsets_on.get();
  view.columns = columns_on.get();
  view.features = features_on.get();
  view.num_nodes = kNodes;
  view.feature_stride = stride;
  view.feature_vectors = vectors;
  SampleAggregate aggregate;
  aggregate.kind = {.mean = c.mean, .adds_self = c.adds_self, .eps = eps_on.get()};
  aggregate.out = out_on.get();
  aggregate.share = c.share;
  ASSERT_EQ(EnqueueOutermostHop(view, c.features, kHop, c.fanout, envelope, aggregate, c.order, state_on.get(),
                                header_on.get(), nodes_on.get(), Element::kFloat32, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess) << cudaGetErrorString(cudaGetLastError());

  std::vector<float> out;
  ASSERT_TRUE(out_on.Download(out).ok());
  const DrawKey key = {state.seed, header.step, header.epoch, kHop};
  for (size_t i = 0; i < static_cast<size_t>(c.rows); ++i) {
    const std::vector<int32_t> drawn = graph.Drawn(key, nodes[i], c.fanout);
    for (size_t k = 0; k < static_cast<size_t>(stride); ++k) {
      int sum = 0;
      for (const int32_t v : drawn) sum += values[static_cast<size_t>(v) * static_cast<size_t>(stride) + k];
      const int own = values[static_cast<size_t>(nodes[i]) * static_cast<size_t>(stride) + k];
      const float scale = c.mean && !drawn.empty() ? 1.0f / static_cast<float>(drawn.size()) : 1.0f;
      const float neighbors = static_cast<float>(sum) * scale;
      const float* row = out.data() + i * out_width;
      if (c.adds_self) {
        ASSERT_EQ(row[k], neighbors + 2.0f * static_cast<float>(own)) << "row " << i << " column " << k;
      } else {
        ASSERT_EQ(row[k], neighbors) << "row " << i << " column " << k;
        ASSERT_EQ(row[static_cast<size_t>(stride) + k], static_cast<float>(own)) << "row " << i << " column " << k;
      }
    }
  }
  for (size_t i = static_cast<size_t>(c.rows) * out_width; i < out.size(); ++i) {
    ASSERT_EQ(out[i], -99.0f) << "past the batch's rows";
  }
}

// Uses one thread block, whose warps have more than 32 rows each, so that they look up rows more than once.
TEST(OutermostHop, SumsWhatFloydsRuleDraws) {
  HONE_REQUIRE_DEVICE();
  CheckOutermostHop({.features = Element::kFloat16,
                     .width = 128,
                     .fanout = 20,
                     .rows = 1500,
                     .order = SumOrder::kShared,
                     .mean = false,
                     .adds_self = true,
                     .share = 0.001f});
}

// Uses rows wider than a warp, rows that leave lanes idle, and rows side by side, with as many blocks as there is work
// for.
TEST(OutermostHop, AnyWidthElementAndOrder) {
  HONE_REQUIRE_DEVICE();
  CheckOutermostHop({.features = Element::kBFloat16,
                     .width = 300,
                     .fanout = 12,
                     .rows = 70,
                     .order = SumOrder::kShared,
                     .mean = true,
                     .adds_self = false,
                     .share = 1});
  CheckOutermostHop({.features = Element::kFloat32,
                     .width = 40,
                     .fanout = 5,
                     .rows = 203,
                     .order = SumOrder::kApart,
                     .mean = true,
                     .adds_self = false,
                     .share = 1});
  CheckOutermostHop({.features = Element::kFloat16,
                     .width = 128,
                     .fanout = 5,
                     .rows = 203,
                     .order = SumOrder::kApart,
                     .mean = true,
                     .adds_self = false,
                     .share = 0.5f});
  CheckOutermostHop({.features = Element::kFloat32,
                     .width = 264,
                     .fanout = 32,
                     .rows = 30,
                     .order = SumOrder::kShared,
                     .mean = false,
                     .adds_self = true,
                     .share = 1});
  CheckOutermostHop({.features = Element::kBFloat16,
                     .width = 1,
                     .fanout = 13,
                     .rows = 61,
                     .order = SumOrder::kApart,
                     .mean = true,
                     .adds_self = false,
                     .share = 1});
  CheckOutermostHop({.features = Element::kFloat16,
                     .width = 8,
                     .fanout = 5,
                     .rows = 61,
                     .order = SumOrder::kShared,
                     .mean = false,
                     .adds_self = true,
                     .share = 1});
}

}  // namespace
}  // namespace hone::gnn::cuda
