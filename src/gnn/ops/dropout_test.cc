// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests dropout masks: the documented formula, element by element, and what they depend on.
#include "gnn/ops/dropout.h"

#include <cmath>
#include <set>

#include "base/numbers/philox.h"
#include "gnn/ops/test_support.h"

namespace hone::gnn {
namespace {

TEST(Philox, GivesTheKnownAnswersOfItsAuthors) {  // the file kat_vectors of the Random123 distribution
  EXPECT_EQ(Philox4x32(0, {0, 0, 0, 0}), (PhiloxWords{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(Philox4x32(~uint64_t{0}, {~0u, ~0u, ~0u, ~0u}),
            (PhiloxWords{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
  EXPECT_EQ(Philox4x32(0x299f31d0a4093822u, {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}),
            (PhiloxWords{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
  EXPECT_EQ(Philox4x32<7>(0, {0, 0, 0, 0}), (PhiloxWords{0x5f6fb709u, 0x0d893f64u, 0x4f121f81u, 0x4f730a48u}));
  EXPECT_EQ(Philox4x32<7>(~uint64_t{0}, {~0u, ~0u, ~0u, ~0u}),
            (PhiloxWords{0x5207ddc2u, 0x45165e59u, 0x4d8ee751u, 0x8c52f662u}));
  EXPECT_EQ(Philox4x32<7>(0x299f31d0a4093822u, {0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}),
            (PhiloxWords{0x4dfccabau, 0x190a87f0u, 0xc47362bau, 0xb6b5242au}));
}

const std::vector<NodeId>& Nodes() {
  static const std::vector<NodeId> nodes = {7, 0, 2147483647, 12, 99, 3, 8};
  return nodes;
}
LayerContext Context() {
  LayerContext context;
  context.key = {0x123456789abcdefULL, 3, 17, 5};
  context.layer = 2;
  context.nodes = Nodes();
  return context;
}

std::vector<uint8_t> Mask(double p, DropoutSite site, const LayerContext& context, int64_t cols) {
  Buffer<uint8_t> memory;
  const auto rows = static_cast<int64_t>(context.nodes.size());
  const DropoutMask mask = MakeDropoutMask(DropoutRate(p), site, context, rows, cols, memory);
  return {mask.bits, mask.bits + rows * mask.row_bytes};
}

TEST(Dropout, EveryBitFollowsTheDocumentedFormula) {
  constexpr int64_t kCols = 203;  // several groups of blocks, and a last byte that is not full
  const LayerContext context = Context();
  const std::vector<uint8_t> bits = Mask(0.3, DropoutSite::kSelf, context, kCols);
  for (size_t i = 0; i < context.nodes.size(); ++i) {
    for (uint32_t c = 0; c < kCols; ++c) {
      const PhiloxWords random_words =
          Philox4x32<7>(context.key.seed ^ kDropoutDomain,
                        {static_cast<uint32_t>(context.nodes[i]), 17, 3, 2u << 24 | 2u << 16 | c / 8});
      const uint32_t sixteen = random_words[c % 8 / 2] >> (c % 2 * 16) & 0xffff;
      const bool is_kept = (bits[i * MaskRowBytes(kCols) + c / 8] >> (c % 8) & 1) != 0;
      ASSERT_EQ(is_kept, sixteen >= 19661) << "node " << context.nodes[i] << " column " << c;  // 0.3 * 65536 = 19660.8
    }
  }
}

// Measures on 4 x 10^6 elements what the second mask keeps of what the first kept, and of what it dropped.
TEST(Dropout, ASecondMaskFromTheSameDrawKeepsItsShareOfWhatTheFirstKept) {
  const DropoutRate first(0.3), second(0.1), both = first.Then(second);
  EXPECT_NEAR(1 / both.scale, 0.7 * 0.9, 1.0 / 65536);
  EXPECT_DOUBLE_EQ(DropoutRate(0.0).Then(second).scale, second.scale);
  EXPECT_EQ(DropoutRate(0.0).Then(second).threshold, second.threshold);
  std::vector<NodeId> nodes(4000);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<NodeId>(3 * i);
  LayerContext context = Context();
  context.nodes = nodes;
  constexpr int64_t kCols = 1000;
  Buffer<uint8_t> of_first, of_both;
  const DropoutMask a = MakeDropoutMask(first, DropoutSite::kInput, context, 4000, kCols, of_first);
  const DropoutMask b = MakeDropoutMask(both, DropoutSite::kInput, context, 4000, kCols, of_both);
  int64_t kept_elements = 0, again = 0;
  for (int64_t i = 0; i < 4000 * MaskRowBytes(kCols); ++i) {
    ASSERT_EQ(b.bits[i] & ~a.bits[i], 0) << "the second mask keeps what the first has dropped";
    kept_elements += __builtin_popcount(a.bits[i]);
    again += __builtin_popcount(b.bits[i]);
  }
  // The tolerance is five standard deviations of a binomial with 2.8 million trials.
  EXPECT_NEAR(static_cast<double>(again) / static_cast<double>(kept_elements), 0.9, 5 * std::sqrt(0.09 / 2.8e6));
}

TEST(Dropout, DependsOnTheNodeAndNotOnItsRow) {
  const LayerContext context = Context();
  const std::vector<NodeId> reversed(Nodes().rbegin(), Nodes().rend());
  LayerContext reversed_context = context;
  reversed_context.nodes = reversed;
  const auto a = Mask(0.5, DropoutSite::kActivation, context, 64);
  const auto b = Mask(0.5, DropoutSite::kActivation, reversed_context, 64);
  for (size_t i = 0; i < reversed.size(); ++i) {
    EXPECT_TRUE(std::equal(a.begin() + 8 * i, a.begin() + 8 * i + 8, b.end() - 8 * i - 8)) << i;
  }
}

TEST(Dropout, EveryPartOfTheKeyChangesTheMaskButTheShard) {
  const LayerContext base = Context();
  std::set<std::vector<uint8_t>> masks;
  const auto add = [&](const LayerContext& context, DropoutSite site = DropoutSite::kActivation) {
    masks.insert(Mask(0.5, site, context, 64));
  };
  add(base);
  LayerContext c = base;
  c.key.seed ^= 1;
  add(c);
  c = base;
  c.key.seed ^= uint64_t{1} << 40;
  add(c);
  c = base;
  c.key.epoch ^= 1;
  add(c);
  c = base;
  c.key.step ^= 1;
  add(c);
  c = base;
  c.layer = 3;
  add(c);
  for (const auto site : {DropoutSite::kNeighbors, DropoutSite::kSelf, DropoutSite::kInput, DropoutSite::kHead}) {
    add(base, site);
  }
  EXPECT_EQ(masks.size(), 10u);
  c = base;
  c.key.shard = 6;
  // A mask with another shard must be the same: one process with eight shards must equal eight processes with one.
  add(c);
  EXPECT_EQ(masks.size(), 10u);
}

TEST(Dropout, ARowForCustomLayersIsTheRowOfTheWholeMask) {
  const LayerContext context = Context();
  const auto mask_of_all_rows = Mask(0.25, static_cast<DropoutSite>(130), context, 77);
  for (size_t i = 0; i < context.nodes.size(); ++i) {
    std::vector<uint8_t> row(10);
    EXPECT_DOUBLE_EQ(DropoutRow(context, 130, static_cast<int64_t>(i), 77, 0.25, row), 4.0 / 3);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), mask_of_all_rows.begin() + static_cast<int64_t>(i) * 10)) << i;
  }
}

TEST(Dropout, KeepsTheExpectedShare) {
  std::vector<NodeId> nodes(2000);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<NodeId>(i);
  LayerContext context = Context();
  context.nodes = nodes;
  for (const double p : {0.1, 0.5, 0.9}) {
    int64_t kept_elements = 0;
    for (const uint8_t byte : Mask(p, DropoutSite::kActivation, context, 128))
      kept_elements += __builtin_popcount(byte);
    constexpr double kCount = 2000 * 128;
    // The tolerance is five standard deviations of a binomial.
    EXPECT_NEAR(static_cast<double>(kept_elements), kCount * (1 - p), 5 * std::sqrt(kCount * p * (1 - p))) << p;
  }
}

TEST(Dropout, ScalesWhatItKeepsByTheRoundedProbability) {
  const DropoutRate rate(0.1);
  EXPECT_EQ(rate.threshold, 6554u);
  EXPECT_DOUBLE_EQ(rate.scale, 65536.0 / (65536 - 6554));
  EXPECT_FALSE(DropoutRate(0).active());
  uint8_t bits[] = {0b00000101, 0b1};
  std::vector<float> x = {1, 2, 3, 4, 5, 6, 7, 8, 9}, out(9);
  ApplyDropout<float>({bits, 2}, 2.0, View(x, 9), View(out, 9), 1);
  EXPECT_EQ(out, (std::vector<float>{2, 0, 6, 0, 0, 0, 0, 0, 18}));
}

TEST(Dropout, GivesTheSameBitsOnAnyThreadCountAndInstructionSet) {
  std::vector<NodeId> nodes(3000);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<NodeId>(i * 7);
  LayerContext context = Context();
  context.nodes = nodes;
  std::vector<float> x = RandomValues<float>(3000 * 45, 1);
  ExpectSameBits("dropout", [&](int threads) {
    context.threads = threads;
    Buffer<uint8_t> memory;
    const DropoutRate rate(0.4);
    const DropoutMask mask = MakeDropoutMask(rate, DropoutSite::kActivation, context, 3000, 45, memory);
    std::vector<float> out(x.size());
    ApplyDropout<float>(mask, rate.scale, View(x, 45), View(out, 45), threads);
    return out;
  });
}

}  // namespace
}  // namespace hone::gnn
