// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws eight rows in the eight lanes of AVX2. Each lane makes one Philox block, bounds its words by one multiplication
// each, and compares them with the earlier slots of the same lane. Function attributes select AVX2 for this code alone,
// so that the rest of the program runs on any x86-64; it is called only if the processor has AVX2.
#include "gnn/sample/draw_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace hone::gnn {
namespace {

#define HONE_AVX2 __attribute__((target("avx2"), always_inline)) inline

constexpr int kLanes = 8;

struct Product {
  __m256i high, low;
};

// Multiplies unsigned 32-bit lanes to 64 bits. `b_odd` is b shifted right by 32 in each 64-bit lane.
HONE_AVX2 Product Multiply(__m256i a, __m256i b, __m256i b_odd) {
  const __m256i even = _mm256_mul_epu32(a, b);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), b_odd);
  return {_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA),
          _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA)};
}

struct EightBlocks {
  __m256i word[4];
};

HONE_AVX2 EightBlocks Philox(const DrawKey& key, const uint32_t* round_keys, __m256i nodes, uint32_t block) {
  const __m256i multiplier0 = _mm256_set1_epi32(static_cast<int>(0xD2511F53u));
  const __m256i multiplier1 = _mm256_set1_epi32(static_cast<int>(0xCD9E8D57u));
  __m256i c0 = nodes;
  __m256i c1 = _mm256_set1_epi32(static_cast<int>(key.step));
  __m256i c2 = _mm256_set1_epi32(static_cast<int>(key.epoch));
  __m256i c3 = _mm256_set1_epi32(static_cast<int>(key.hop | block << 8));
  for (int round = 0; round < 10; ++round) {
    const Product p0 = Multiply(c0, multiplier0, multiplier0);
    const Product p1 = Multiply(c2, multiplier1, multiplier1);
    c0 = _mm256_xor_si256(_mm256_xor_si256(p1.high, c1), _mm256_set1_epi32(static_cast<int>(round_keys[2 * round])));
    c2 = _mm256_xor_si256(_mm256_xor_si256(p0.high, c3), _mm256_set1_epi32(static_cast<int>(round_keys[2 * round + 1])));
    c1 = p1.low;
    c3 = p0.low;
  }
  return {{c0, c1, c2, c3}};
}

__attribute__((target("avx2"))) void DrawRows(const DrawKey& key, const uint32_t* nodes, const uint32_t* degrees,
                                              int fanout, uint32_t* slots) {
  uint32_t round_keys[20];
  for (uint32_t round = 0; round < 10; ++round) {
    round_keys[2 * round] = static_cast<uint32_t>(key.seed) + round * 0x9E3779B9u;
    round_keys[2 * round + 1] = static_cast<uint32_t>(key.seed >> 32) + round * 0xBB67AE85u;
  }
  const __m256i node = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(nodes));
  // `last` is the largest value that a slot may take: degree - fanout + slot. One more is the bound of its draw.
  __m256i last = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(degrees)), _mm256_set1_epi32(fanout));
  const __m256i one = _mm256_set1_epi32(1);
  auto* const out = reinterpret_cast<__m256i*>(slots);
  EightBlocks blocks{};
  for (int slot = 0; slot < fanout; ++slot) {
    if (slot % 4 == 0) blocks = Philox(key, round_keys, node, static_cast<uint32_t>(slot / 4));
    const __m256i bound = _mm256_add_epi32(last, one);
    const Product product = Multiply(blocks.word[slot % 4], bound, _mm256_srli_epi64(bound, 32));
    __m256i drawn = product.high;
    const __m256i accepted = _mm256_cmpeq_epi32(_mm256_max_epu32(product.low, bound), product.low);
    if (_mm256_movemask_epi8(accepted) != -1) [[unlikely]] {
      // The low half of some lane is below its bound (probability bound / 2^32): each lane then follows the exact rule
      // by itself.
      alignas(32) uint32_t random_words[8], bounds[8], values[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(random_words), blocks.word[slot % 4]);
      _mm256_store_si256(reinterpret_cast<__m256i*>(bounds), bound);
      for (int lane = 0; lane < kLanes; ++lane) {
        values[lane] = BoundedDraw(key, nodes[lane], static_cast<uint32_t>(slot), random_words[lane], bounds[lane]);
      }
      drawn = _mm256_load_si256(reinterpret_cast<const __m256i*>(values));
    }
    if (fanout <= kFloydCompareAll) {
      __m256i taken = _mm256_setzero_si256();
      for (int before = 0; before < slot; ++before) {
        taken = _mm256_or_si256(taken, _mm256_cmpeq_epi32(_mm256_loadu_si256(out + before), drawn));
      }
      drawn = _mm256_blendv_epi8(drawn, last, taken);
    }
    _mm256_storeu_si256(out + slot, drawn);
    last = bound;
  }
  if (fanout > kFloydCompareAll) {
    for (int lane = 0; lane < kLanes; ++lane) ResolveFloyd(degrees[lane], fanout, slots + lane, kLanes);
  }
}

}  // namespace

RowDrawer DrawRowsAvx2() { return {__builtin_cpu_supports("avx2") ? &DrawRows : nullptr, kLanes}; }

}  // namespace hone::gnn

#else
namespace hone::gnn {
RowDrawer DrawRowsAvx2() { return {}; }
}  // namespace hone::gnn
#endif
