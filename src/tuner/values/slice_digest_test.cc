// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/values/slice_digest.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace hone::digest {
namespace {

constexpr uint64_t kWholeSlice = 4 * (kMostWords - 1);

std::vector<uint64_t> Keys(uint64_t secret, uint64_t bytes = kWholeSlice) {
  std::vector<uint64_t> keys(kKeys);
  MakeKeys(secret, bytes, keys.data());
  return keys;
}

// Computes a word's part by the formula in the header, digit by digit, with remainders in 128 bits.
uint64_t ByTheFormula(uint64_t word, uint32_t value, const std::vector<uint64_t>& keys) {
  const uint64_t halves = keys[word % 1024];
  Product128 product = (halves >> 32 << 30) + (halves & 0xffffffffu);
  uint64_t group = word / 1024;
  for (size_t table = 1024; table < kKeys; table += 512, group /= 512) {
    if (group % 512 != 0) product = product * keys[table + group % 512] % kPrime;
  }
  return static_cast<uint64_t>(product * value % kPrime);
}

uint64_t OfElement(uint64_t bits, uint64_t position, int bytes, const uint64_t* keys) {
  Sum sum(keys);
  sum.AddElement(bits, position, bytes);
  return sum.Total();
}

TEST(SliceDigest, IsTheSumThatTheHeaderStates) {
  const std::vector<uint64_t> keys = Keys(3);
  std::mt19937_64 random(1);
  for (const uint64_t most : {uint64_t{1} << 10, uint64_t{1} << 19, uint64_t{1} << 28, kMostWords}) {
    for (int i = 0; i < 200; ++i) {
      const uint64_t word = i == 0 ? most - 1 : random() % most;
      const auto value = static_cast<uint32_t>(i == 1 ? 0xffffffffu : random());
      ASSERT_EQ(Canonical(OfElement(value, word, 4, keys.data())), ByTheFormula(word, value, keys)) << word;
    }
  }
}

TEST(SliceDigest, DoesNotDependOnTheOrderOfTheWalk) {
  const std::vector<uint64_t> keys = Keys(9);
  std::mt19937_64 random(2);
  std::vector<uint32_t> random_words(5000);
  for (uint32_t& word : random_words) word = static_cast<uint32_t>(random());
  Sum upwards(keys.data()), downwards(keys.data()), by_four(keys.data());
  for (size_t i = 0; i < random_words.size(); ++i) upwards.AddElement(random_words[i], i, 4);
  for (size_t i = random_words.size(); i-- > 0;) downwards.AddElement(random_words[i], i, 4);
  for (size_t part = 0; part < 2; ++part) {  // even groups of four, then odd ones, so that each run is entered twice
    for (size_t i = 4 * part; i < random_words.size(); i += 8)
      by_four.AddFour(i, random_words[i], random_words[i + 1], random_words[i + 2], random_words[i + 3]);
  }
  EXPECT_EQ(Canonical(upwards.Total()), Canonical(downwards.Total()));
  EXPECT_EQ(Canonical(upwards.Total()), Canonical(by_four.Total()));
}

TEST(SliceDigest, NarrowAndWideElementsAreTheirWords) {
  const std::vector<uint64_t> keys = Keys(4);
  const uint64_t words[] = {0x8899aabbccddeeffULL, 0x0123456789abcdefULL};
  const auto sum = [&](int bytes, uint64_t first) {  // 16 bytes starting at byte `first` of a slice
    uint64_t digest = 0;
    for (int at = 0; at < 16; at += bytes) {
      const uint64_t bits = words[at / 8] >> (8 * (at % 8));
      const uint64_t element = bytes == 8 ? bits : bits & ((uint64_t{1} << (8 * bytes)) - 1);
      digest = Plus(digest, OfElement(element, (first + static_cast<uint64_t>(at)) / static_cast<uint64_t>(bytes),
                                      bytes, keys.data()));
    }
    return Canonical(digest);
  };
  for (const uint64_t first : {uint64_t{0}, uint64_t{4096}, uint64_t{4096} * 512, uint64_t{40} << 30}) {
    const uint64_t four = sum(4, first);
    EXPECT_EQ(sum(1, first), four);
    EXPECT_EQ(sum(2, first), four);
    EXPECT_EQ(sum(8, first), four);
    EXPECT_NE(four, sum(4, first + 16));
  }
}

TEST(SliceDigest, FoldsDoNotOverflow) {
  const uint64_t largest_sum = kPrime + 8;                     // limit of sums and products
  EXPECT_EQ(Canonical(Times(largest_sum, largest_sum)), 64u);  // 8 * 8
  EXPECT_EQ(Canonical(Times(kPrime - 1, kPrime - 1)), 1u);
  // The words are four of the largest, under the largest keys, 2^60 - 1 each.
  constexpr uint64_t kLargestKey = (uint64_t{0x3fffffffu} << 32) | 0x3fffffffu;
  Halves halves{0, 0};
  for (int i = 0; i < 4; ++i) AddWord(halves, kLargestKey, 0xffffffffu);
  EXPECT_EQ(Canonical(JoinHalves(halves)),
            static_cast<uint64_t>(Product128{4} * ((uint64_t{1} << 60) - 1) * 0xffffffffu % kPrime));
  EXPECT_LT(JoinHalves(halves), uint64_t{1} << 63);
  EXPECT_LT(Times(largest_sum, largest_sum), kPrime + 9);
  EXPECT_EQ(Canonical(~uint64_t{0}), 7u);  // 2^64 is 8
}

TEST(SliceDigest, KeysHaveSixtyBitsAndAreAsManyAsASliceReads) {
  const std::vector<uint64_t> keys = Keys(5);
  uint64_t low = 0, high = 0;
  for (uint64_t entry = 0; entry < kKeys; ++entry) (entry < kLowKeys ? low : high) |= keys[entry];
  EXPECT_EQ(low, (uint64_t{0x3fffffffu} << 32) | 0x3fffffffu);
  EXPECT_EQ(high, (uint64_t{1} << 60) - 1);
  EXPECT_EQ(std::set<uint64_t>(keys.begin(), keys.end()).size(), kKeys);
  EXPECT_NE(Keys(6), keys);
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{4096}, uint64_t{4100}, uint64_t{3} << 20, uint64_t{5} << 30}) {
    const std::vector<uint64_t> few = Keys(5, bytes);
    const uint64_t last = (bytes - 1) / 4;
    EXPECT_EQ(OfElement(77, last, 4, few.data()), OfElement(77, last, 4, keys.data())) << bytes;
    EXPECT_EQ(OfElement(77, last / 2, 4, few.data()), OfElement(77, last / 2, 4, keys.data())) << bytes;
  }
}

// A poor hash misses differences such as two exchanged words, one carried into the next, and equal changes of opposite
// sign in places that share factors. This digest shows all of them under each of many secrets.
TEST(SliceDigest, ChangesThatCancelElsewhereShow) {
  struct Change {
    uint64_t word;
    uint32_t from, to;
  };
  const std::vector<std::vector<Change>> changes = {
      {{5, 1, 2}, {6, 2, 1}},
      {{5, 0, 1}, {5 + 1024, 1, 0}},
      {{5, 0, 1}, {6, 1, 0}, {5 + 1024, 1, 0}, {6 + 1024, 0, 1}},
      {{0, 0x80000000u, 0}},
      {{1023, 0xffffffffu, 0}, {1024, 0, 1}},
      {{uint64_t{1} << 19, 1, 0}, {uint64_t{1} << 28, 0, 1}},
  };
  for (uint64_t secret = 1; secret <= 20; ++secret) {
    const std::vector<uint64_t> keys = Keys(secret);
    for (const std::vector<Change>& change : changes) {
      uint64_t before = 0, after = 0;
      for (const Change& c : change) {
        before = Plus(before, OfElement(c.from, c.word, 4, keys.data()));
        after = Plus(after, OfElement(c.to, c.word, 4, keys.data()));
      }
      EXPECT_NE(Canonical(before), Canonical(after));
    }
  }
}

}  // namespace
}  // namespace hone::digest
