// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/values/keyed_hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace hone {
namespace {

// Bytes 0, 1, 2, … as words, least significant first: the inputs of the authors' own test vectors.
constexpr uint64_t kFirst = 0x0706050403020100ULL, kSecond = 0x0f0e0d0c0b0a0908ULL;

TEST(SipHash, GivesTheValuesOfItsAuthorsVectors) {
  EXPECT_EQ(siphash::OfOne(kFirst, kSecond, kFirst), 0x93f5f5799a932462ULL);
  EXPECT_EQ(siphash::OfTwo(kFirst, kSecond, kFirst, kSecond), 0x3f2acc7f57c29bdbULL);
}

TEST(Keyed, EveryBitOfSecretAndUseChangesAboutHalfOfTheBits) {
  const uint64_t before = Keyed(5, 6);
  for (int bit = 0; bit < 64; ++bit) {
    for (const uint64_t changed : {Keyed(5 ^ uint64_t{1} << bit, 6), Keyed(5, 6 ^ uint64_t{1} << bit)}) {
      const int flipped = std::popcount(before ^ changed);
      EXPECT_TRUE(flipped > 10 && flipped < 54) << "bit " << bit << ": " << flipped;
    }
  }
  EXPECT_NE(Keyed(5, 6), Keyed(5, 6, 0)) << "a use with a number and one without are two uses";
}

TEST(SecretNumbers, RepeatUnderOneSecretAndDoNotOtherwise) {
  SecretNumbers a(7), again(7), other(8);
  std::set<uint64_t> hashes;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t number = a.Next();
    ASSERT_EQ(number, again.Next());
    hashes.insert(number);
    hashes.insert(other.Next());
  }
  EXPECT_EQ(hashes.size(), 2000u);
}

}  // namespace
}  // namespace hone
