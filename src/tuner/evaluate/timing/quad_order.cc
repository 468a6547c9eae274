// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/timing/quad_order.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "hone/base/status.h"
#include "tuner/values/draw.h"

namespace hone {
namespace {

__extension__ using Uint128 = unsigned __int128;

// A Purpose says what a key is used for. It is hashed with the key, so that a coin reveals nothing about an order drawn
// with the same key.
enum Purpose : uint64_t { kCoin = 1, kOrder, kSubset };

// A SecretStream yields numbers below given bounds, which follow from a key and a purpose.
class SecretStream {
 public:
  SecretStream(uint64_t key, Purpose purpose) : key_(key), purpose_(purpose) {}

  // Returns a number drawn uniformly below `bound`: the high half of a 64 x 64 bit product, biased by less than
  // bound / 2^64.
  uint64_t Below(uint64_t bound) {
    const uint64_t bits = draw::Hash(key_, purpose_, position_++);
    return static_cast<uint64_t>((static_cast<Uint128>(bits) * bound) >> 64);
  }

 private:
  uint64_t key_;
  uint64_t purpose_;
  uint64_t position_ = 0;
};

}  // namespace

QuadOrder SecretQuadOrder(uint64_t quad, uint64_t key) {
  return (draw::Hash(key, kCoin, quad) >> 63) != 0 ? QuadOrder::kAbba : QuadOrder::kBaab;
}

std::vector<int> SecretOrder(int n, uint64_t key) {
  HONE_CHECK(n >= 0, "an order of a negative number of things");
  std::vector<int> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  SecretStream stream(key, kOrder);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.Below(i)]);  // Fisher and Yates
  return order;
}

std::vector<int64_t> SecretSubset(int64_t n, int64_t count, uint64_t key) {
  HONE_CHECK(n >= 0 && count >= 0, "a subset of negative size");
  std::vector<int64_t> subset;
  if (count >= n) {
    subset.resize(static_cast<size_t>(n));
    std::iota(subset.begin(), subset.end(), int64_t{0});
    return subset;
  }
  // This is Floyd's algorithm: one draw per chosen number, however large n is.
  std::set<int64_t> chosen;
  SecretStream stream(key, kSubset);
  for (int64_t last = n - count; last < n; ++last) {
    const auto pick = static_cast<int64_t>(stream.Below(static_cast<uint64_t>(last) + 1));
    if (!chosen.insert(pick).second) chosen.insert(last);
  }
  subset.assign(chosen.begin(), chosen.end());
  return subset;
}

}  // namespace hone
