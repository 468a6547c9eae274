// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/cuda/sample/source_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"

namespace hone::gnn::cuda {
namespace {

struct Structure {
  std::vector<int32_t> first, end;
  std::vector<uint32_t> slots;  // all sources' slots, source after source
};

Structure Expected(const std::vector<int32_t>& columns, int32_t sources) {
  Structure structure;
  structure.slots.resize(columns.size());
  std::iota(structure.slots.begin(), structure.slots.end(), 0u);
  std::erase_if(structure.slots, [&](uint32_t slot) { return columns[slot] < 0; });
  std::stable_sort(structure.slots.begin(), structure.slots.end(),
                   [&](uint32_t a, uint32_t b) { return columns[a] < columns[b]; });
  for (int32_t source = 0, at = 0; source < sources; ++source) {
    structure.first.push_back(at);
    at += static_cast<int32_t>(std::count(columns.begin(), columns.end(), source));
    structure.end.push_back(at);
  }
  return structure;
}

// Sorts a hop on the device. Arranges it first as EnqueueRelabel does if threads reach the counters in a random order.
Structure OnDevice(const std::vector<int32_t>& columns, int32_t fanout, int32_t sources, uint32_t order) {
  const auto places = static_cast<int64_t>(columns.size());
  std::vector<size_t> met(columns.size());
  std::iota(met.begin(), met.end(), size_t{0});
  std::shuffle(met.begin(), met.end(), std::mt19937(order));
  std::vector<int32_t> counts(static_cast<size_t>(sources), 0);
  std::vector<uint32_t> ranks(columns.size(), 0);
  for (const size_t slot : met) {
    if (columns[slot] >= 0) ranks[slot] = static_cast<uint32_t>(counts[static_cast<size_t>(columns[slot])]++);
  }
  DeviceArray<int32_t> on_columns, first, end;
  DeviceArray<uint32_t> on_ranks, ordering, sorted, words;
  EXPECT_TRUE(on_columns.Upload(columns.data(), places).ok() && on_ranks.Upload(ranks.data(), places).ok() &&
              first.Upload(counts.data(), sources).ok() && end.Allocate(sources).ok() &&
              ordering.Allocate(places).ok() && sorted.Allocate(places).ok() &&
              words.Allocate((sources + kSourceTile - 1) / kSourceTile + 1).ok());
  HopOnDevice hop{};
  hop.fanout = fanout;
  hop.rows = static_cast<int32_t>(places) / fanout;
  hop.sources = sources;
  hop.columns = on_columns.get();
  hop.slot_ranks = on_ranks.get();
  hop.ordering = ordering.get();
  hop.sorted_slots = sorted.get();
  hop.first = first.get();
  hop.end = end.get();
  hop.prefix_sum_scratch = words.get();
  EXPECT_EQ(EnqueueBySource(hop, nullptr), cudaSuccess);
  Structure structure;
  EXPECT_TRUE(first.Download(structure.first).ok() && end.Download(structure.end).ok() &&
              sorted.Download(structure.slots).ok());
  structure.slots.resize(static_cast<size_t>(structure.end.back()));
  return structure;
}

class SourceKernels : public testing::Test {
 protected:
  void SetUp() override {
    HONE_REQUIRE_DEVICE();
  }
};

void ExpectEqual(const Structure& computed, const Structure& expected) {
  EXPECT_EQ(computed.first, expected.first);
  EXPECT_EQ(computed.end, expected.end);
  EXPECT_EQ(computed.slots, expected.slots);
}

TEST_F(SourceKernels, SlotsOfASourceAscendWhateverOrderTheyCameIn) {
  // Source 0 has slots 1 and 4, source 1 slot 2, source 2 slots 0 and 3, source 3 none; slot 5 drew no node.
  const std::vector<int32_t> columns = {2, 0, 1, 2, 0, -1};
  for (uint32_t order = 0; order < 4; ++order) {
    const Structure structure = OnDevice(columns, 2, 4, order);
    EXPECT_EQ(structure.first, (std::vector<int32_t>{0, 2, 3, 5}));
    EXPECT_EQ(structure.end, (std::vector<int32_t>{2, 3, 5, 5}));
    EXPECT_EQ(structure.slots, (std::vector<uint32_t>{1, 4, 2, 0, 3}));
  }
}

// Covers sources with no slot, one slot, few, up to 256 (which a warp sorts) and more (which a block sorts), over
// several tiles.
TEST_F(SourceKernels, RowsOfEveryLengthAreInOrder) {
  std::mt19937 draw(1);
  const int32_t sources = 2 * kSourceTile + 100;
  std::vector<int32_t> columns(7000, -1);
  for (int32_t& column : columns) {
    const uint32_t kind = draw() % 100;
    if (kind < 10) {
      column = 0;
    } else if (kind < 13) {
      column = 33;
    } else if (kind < 14) {
      column = kSourceTile;
    } else if (kind < 90) {
      column = static_cast<int32_t>(draw() % static_cast<uint32_t>(sources - 1));  // the last source has no slot
    }
  }
  ASSERT_GT(std::count(columns.begin(), columns.end(), 0), 256);
  ExpectEqual(OnDevice(columns, 10, sources, 2), Expected(columns, sources));
}

// The hop has more slots than a thread block covers at once, nearly all of one source; every hundredth slot has
// another.
TEST_F(SourceKernels, ALongRowMaySpanTheWholeHop) {
  std::vector<int32_t> columns(270000, 1);
  for (size_t slot = 0; slot < columns.size(); slot += 100) columns[slot] = slot % 200 == 0 ? 0 : -1;
  ExpectEqual(OnDevice(columns, 10, 2, 3), Expected(columns, 2));
}

}  // namespace
}  // namespace hone::gnn::cuda
