// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Does what draw_rows_avx2.cc does, for sixteen rows. A masked shuffle joins the halves of a product in one
// instruction, and a ternary instruction does two exclusive ors, so that a draw takes a third of the instructions.
// Function attributes select AVX-512F; the code is called only if the processor has it.
#include "gnn/sample/draw_rows.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace hone::gnn {
namespace {

#define HONE_AVX512 __attribute__((target("avx512f"), always_inline)) inline

constexpr int kLanes = 16;
constexpr int kXor3 = 0x96;  // the truth table of a ^ b ^ c

struct Product {
  __m512i high, low;
};

// Multiplies unsigned 32-bit lanes to 64 bits. `b_odd` has b's odd lanes in the even ones.
HONE_AVX512 Product Multiply(__m512i a, __m512i b, __m512i b_odd) {
  const __m512i even = _mm512_mul_epu32(a, b);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), b_odd);
  return {_mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB), _mm512_mask_shuffle_epi32(even, 0xAAAA, odd, _MM_PERM_CCAA)};
}

struct Blocks {
  __m512i word[4];
};

HONE_AVX512 Blocks Philox(const DrawKey& key, const uint32_t* round_keys, __m512i nodes, uint32_t block) {
  const __m512i multiplier0 = _mm512_set1_epi32(static_cast<int>(0xD2511F53u));
  const __m512i multiplier1 = _mm512_set1_epi32(static_cast<int>(0xCD9E8D57u));
  __m512i c0 = nodes;
  __m512i c1 = _mm512_set1_epi32(static_cast<int>(key.step));
  __m512i c2 = _mm512_set1_epi32(static_cast<int>(key.epoch));
  __m512i c3 = _mm512_set1_epi32(static_cast<int>(key.hop | block << 8));
  for (int round = 0; round < 10; ++round) {
    const Product p0 = Multiply(c0, multiplier0, multiplier0);
    const Product p1 = Multiply(c2, multiplier1, multiplier1);
    c0 = _mm512_ternarylogic_epi32(p1.high, c1, _mm512_set1_epi32(static_cast<int>(round_keys[2 * round])), kXor3);
    c2 = _mm512_ternarylogic_epi32(p0.high, c3, _mm512_set1_epi32(static_cast<int>(round_keys[2 * round + 1])), kXor3);
    c1 = p1.low;
    c3 = p0.low;
  }
  return {{c0, c1, c2, c3}};
}

__attribute__((target("avx512f"))) void DrawRows(const DrawKey& key, const uint32_t* nodes, const uint32_t* degrees,
                                                 int fanout, uint32_t* slots) {
  uint32_t round_keys[20];
  for (uint32_t round = 0; round < 10; ++round) {
    round_keys[2 * round] = static_cast<uint32_t>(key.seed) + round * 0x9E3779B9u;
    round_keys[2 * round + 1] = static_cast<uint32_t>(key.seed >> 32) + round * 0xBB67AE85u;
  }
  const __m512i node = _mm512_loadu_si512(nodes);
  // `last` is the largest value that a slot may take: degree - fanout + slot. One more is the bound of its draw.
  __m512i last = _mm512_sub_epi32(_mm512_loadu_si512(degrees), _mm512_set1_epi32(fanout));
  const __m512i one = _mm512_set1_epi32(1);
  Blocks blocks{};
  for (int slot = 0; slot < fanout; ++slot) {
    if (slot % 4 == 0) blocks = Philox(key, round_keys, node, static_cast<uint32_t>(slot / 4));
    const __m512i bound = _mm512_add_epi32(last, one);
    const Product product = Multiply(blocks.word[slot % 4], bound, _mm512_srli_epi64(bound, 32));
    __m512i drawn = product.high;
    if (_mm512_cmplt_epu32_mask(product.low, bound) != 0) [[unlikely]] {
      // The low half of some lane is below its bound (probability bound / 2^32): each lane then follows the exact rule
      // by itself.
      uint32_t random_words[kLanes], bounds[kLanes], values[kLanes];
      _mm512_storeu_si512(random_words, blocks.word[slot % 4]);
      _mm512_storeu_si512(bounds, bound);
      for (int lane = 0; lane < kLanes; ++lane) {
        values[lane] = BoundedDraw(key, nodes[lane], static_cast<uint32_t>(slot), random_words[lane], bounds[lane]);
      }
      drawn = _mm512_loadu_si512(values);
    }
    if (fanout <= kFloydCompareAll) {
      __mmask16 taken = 0;
      for (int before = 0; before < slot; ++before) {
        taken = static_cast<__mmask16>(taken | _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(slots + before * kLanes), drawn));
      }
      drawn = _mm512_mask_mov_epi32(drawn, taken, last);
    }
    _mm512_storeu_si512(slots + slot * kLanes, drawn);
    last = bound;
  }
  if (fanout > kFloydCompareAll) {
    for (int lane = 0; lane < kLanes; ++lane) ResolveFloyd(degrees[lane], fanout, slots + lane, kLanes);
  }
}

}  // namespace

RowDrawer DrawRowsAvx512() { return {__builtin_cpu_supports("avx512f") ? &DrawRows : nullptr, kLanes}; }

}  // namespace hone::gnn

#else
namespace hone::gnn {
RowDrawer DrawRowsAvx512() { return {}; }
}  // namespace hone::gnn
#endif
