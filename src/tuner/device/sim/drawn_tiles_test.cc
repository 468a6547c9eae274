// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/drawn_tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tuner/device/host_tensor_ops.h"

namespace hone::sim {
namespace {

constexpr int64_t kElements = 257;

// Returns a dense request for `memory`.
DrawRequest RequestOver(std::vector<float>& memory, uint64_t key) {
  DrawRequest request;
  request.view.address = reinterpret_cast<uint64_t>(memory.data());
  request.view.dtype = DType::kFloat32;
  request.view.shape = {kElements};
  request.view.strides = {1};
  request.view.elements = kElements;
  request.view.span_bytes = kElements * 4;
  request.view.slice_axis = -1;
  request.key = key;
  return request;
}

// Returns the result of host::Draw for the same request.
std::vector<float> DrawOnHost(DrawRequest request) {
  std::vector<float> memory(kElements);
  request.view.address = reinterpret_cast<uint64_t>(memory.data());
  EXPECT_TRUE(host::Draw(request).ok());
  return memory;
}

TEST(DrawnTiles, GiveWhatDrawingGivesWheneverTheyAreAskedFor) {
  DrawnTiles tiles;
  std::vector<float> memory(kElements);
  std::vector<DrawRequest> requests;
  for (const uint64_t key : {11u, 12u}) {
    requests.push_back(RequestOver(memory, key));
    requests.push_back(RequestOver(memory, key));
    requests.back().values.distribution = Distribution::kUniform;
    requests.push_back(requests.back());
    requests.back().values.high = 3;
    requests.push_back(RequestOver(memory, key));
    requests.back().values.distribution = Distribution::kIndex;
    requests.back().index_bound = 40 + static_cast<int64_t>(key);
    requests.push_back(RequestOver(memory, key));
    requests.back().values.scale = 2;
  }
  // There are more contents than are kept: in each round some are cached and some are not. A launch writes between any
  // two.
  for (int round = 0; round < 3; ++round) {
    for (const DrawRequest& request : requests) {
      std::fill(memory.begin(), memory.end(), -1.0f);
      ASSERT_TRUE(tiles.Draw(request).ok());
      EXPECT_EQ(memory, DrawOnHost(request));
      std::fill(memory.begin(), memory.end(), -2.0f);
      ASSERT_TRUE(tiles.Draw(request).ok());
      EXPECT_EQ(memory, DrawOnHost(request));
    }
  }
}

TEST(DrawnContents, DifferInAllThatDecidesWhatIsDrawn) {
  std::vector<float> memory(kElements);
  const DrawRequest plain = RequestOver(memory, 5);
  std::vector<DrawRequest> others(10, plain);
  others[0].key = 6;
  others[1].pattern_key = 1;
  others[2].index_bound = 9;
  others[3].values.distribution = Distribution::kSpecial;
  others[4].values.special = 1;
  others[5].values.vary = 2;
  others[6].values.offset = 1;
  others[7].values.padding = 0.5;
  others[8].values.index_order = IndexOrder::kAscending;
  others[9].view.dtype = DType::kInt32;
  EXPECT_EQ(DrawnContents(plain), DrawnContents(RequestOver(memory, 5)));
  for (size_t i = 0; i < others.size(); ++i) EXPECT_FALSE(DrawnContents(others[i]) == DrawnContents(plain)) << i;
}

}  // namespace
}  // namespace hone::sim
