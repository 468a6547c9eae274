// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares the backward gather with plain sums in double, for sources that no slot drew, sources that few drew, and
// hubs.
#include "gnn/cuda/kernels/gather_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/test_device.h"

namespace hone::gnn::cuda {
namespace {

template <typename T>
DeviceArray<T> OnDevice(const std::vector<T>& values) {
  DeviceArray<T> array;
  EXPECT_TRUE(array.Upload(values.data(), static_cast<int64_t>(values.size())).ok());
  return array;
}

void ExpectSums(int32_t width, int32_t padded_sources) {
  SCOPED_TRACE(width);
  constexpr int32_t kRows = 90, kFanout = 5, kSources = 120;
  std::mt19937 draw(static_cast<uint32_t>(width));
  std::uniform_real_distribution<float> number(-1, 1);
  std::vector<int32_t> columns(size_t{kRows} * kFanout), counts(kRows);
  for (int32_t row = 0; row < kRows; ++row) {
    counts[static_cast<size_t>(row)] = 1 + row % kFanout;
    for (int32_t j = 0; j < kFanout; ++j) {
      // Source 3 is in every row, source 40 in most rows' second slots, source 7 in some rows. The other slots have
      // random sources below 100, so no slot draws the sources from 100 on.
      const int32_t other = static_cast<int32_t>(draw() % 100);
      columns[static_cast<size_t>(row * kFanout + j)] = j == 0 ? 3 : j == 1 && row % 4 != 0 ? 40 : j == 2 && row % 8 == 7 ? 7 : other;
    }
  }
  std::vector<int32_t> first, end;
  std::vector<uint32_t> slots;
  for (int32_t source = 0; source < kSources; ++source) {
    first.push_back(static_cast<int32_t>(slots.size()));
    for (uint32_t slot = 0; slot < columns.size(); ++slot) {
      const bool used = static_cast<int32_t>(slot % kFanout) < counts[slot / kFanout];
      if (used && columns[slot] == source) slots.push_back(slot);
    }
    end.push_back(static_cast<int32_t>(slots.size()));
  }
  ASSERT_GT(end[3] - first[3], 64);
  ASSERT_GT(end[40] - first[40], 32);
  std::vector<float> grad_out(size_t{kRows} * 2 * static_cast<size_t>(width));
  for (float& x : grad_out) x = number(draw);
  const size_t bytes = static_cast<size_t>(width) / 8;
  std::vector<uint8_t> passed(static_cast<size_t>(padded_sources) * bytes);
  for (uint8_t& bits : passed) bits = static_cast<uint8_t>(draw());

  const DeviceArray<int32_t> on_counts = OnDevice(counts), on_first = OnDevice(first), on_end = OnDevice(end);
  const DeviceArray<uint32_t> on_slots = OnDevice(slots);
  const DeviceArray<float> on_grad = OnDevice(grad_out);
  const DeviceArray<uint8_t> on_passed = OnDevice(passed);
  BatchHeader header{};
  header.valid = 1;
  header.hop_nodes[1] = kRows;
  header.hop_nodes[2] = kSources;
  DeviceArray<BatchHeader> on_header;
  ASSERT_TRUE(on_header.Upload(&header, 1).ok());
  DeviceArray<float> on_result;
  const std::vector<float> before(static_cast<size_t>(padded_sources * width), std::nanf(""));
  ASSERT_TRUE(on_result.Upload(before.data(), static_cast<int64_t>(before.size())).ok());
  HopOnDevice hop{};
  hop.fanout = kFanout;
  hop.rows = kRows;
  hop.sources = kSources;
  hop.counts = on_counts.get();
  hop.first = on_first.get();
  hop.end = on_end.get();
  hop.sorted_slots = on_slots.get();
  constexpr float kScale = 1.25f;
  ASSERT_EQ(EnqueueGatherMeanBackward(hop, 1, Element::kFloat32, on_grad.get(), on_passed.get(), width, padded_sources,
                                      kScale, on_header.get(), on_result.get(), nullptr),
            cudaSuccess);
  std::vector<float> result;
  ASSERT_TRUE(on_result.Download(result).ok());
  for (int32_t source = 0; source < padded_sources; ++source) {
    for (int32_t c = 0; c < width; ++c) {
      double sum = 0, largest = 0;
      if (source < kRows) sum = grad_out[static_cast<size_t>((source * 2 + 1) * width + c)];
      for (int32_t i = source < kSources ? first[static_cast<size_t>(source)] : 0;
           source < kSources && i < end[static_cast<size_t>(source)]; ++i) {
        const uint32_t row = slots[static_cast<size_t>(i)] / kFanout;
        const double term = static_cast<double>(grad_out[row * 2 * static_cast<uint32_t>(width) + static_cast<uint32_t>(c)]) / counts[row];
        sum += term;
        largest += std::abs(term);
      }
      const bool is_kept =
          source < kSources &&
          (passed[static_cast<size_t>(source) * bytes + static_cast<size_t>(c / 8)] >> (c % 8) & 1) != 0;
      // The tolerance is half an ulp for each of at most 92 sums and products of values no larger than `largest` + 1.
      const double tolerance = 92 * 6e-8 * (largest + 1) * kScale;
      ASSERT_NEAR(result[static_cast<size_t>(source * width + c)], is_kept ? sum * kScale : 0.0, tolerance)
          << source << " " << c;
    }
  }
}

TEST(GatherKernels, GradientsOfSourcesAreTheSumsOverTheirSlotsHubsIncluded) {
  HONE_REQUIRE_DEVICE();
  ExpectSums(16, 128);
  ExpectSums(320, 128);    // more than a warp's lanes hold
  ExpectSums(24, 32896);   // enough sources for the launch that gives a warp eight
}

}  // namespace
}  // namespace hone::gnn::cuda
