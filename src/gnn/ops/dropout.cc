// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes masks with the counter-based generator; see dropout.h.
#include "gnn/ops/dropout.h"

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "gnn/ops/parallel.h"
#include "gnn/ops/simd.h"
#include "hone/base/status.h"

namespace hone::gnn {
namespace {

// The inputs of a dropout mask for some rows, and the memory to which the mask is written.
struct MaskTask {
  uint64_t key;
  uint32_t step, epoch, layer_and_site, threshold;
  const NodeId* nodes;
  int64_t blocks;  // blocks of eight columns; each is one byte of the mask
  uint8_t* bits;
};

// Writes the masks of rows [begin, end) without vector instructions.
void MaskRowsBaseline(const MaskTask& task, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t block = 0; block < task.blocks; ++block) {
      const PhiloxWords random_words =
          DropoutWords(task.key, {static_cast<uint32_t>(task.nodes[i]), task.step, task.epoch,
                                  task.layer_and_site | static_cast<uint32_t>(block)});
      uint32_t byte = 0;
      for (size_t k = 0; k < 8; ++k) {
        byte |= static_cast<uint32_t>((random_words[k / 2] >> (k % 2 * 16) & 0xffff) >= task.threshold) << k;
      }
      task.bits[i * task.blocks + block] = static_cast<uint8_t>(byte);
    }
  }
}

// Computes sixteen blocks at once, four in each of four registers. A counter word is the low half of a 64-bit lane; the
// high halves of products are ignored.
[[gnu::target("avx2")]] void MaskRowsAvx2(const MaskTask& task, int64_t begin, int64_t end) {
  const __m256i multiplier0 = _mm256_set1_epi64x(0xD2511F53);
  const __m256i multiplier1 = _mm256_set1_epi64x(0xCD9E8D57);
  const __m256i threshold = _mm256_set1_epi16(static_cast<short>(task.threshold));
  for (int64_t i = begin; i < end; ++i) {
    uint8_t* row = task.bits + i * task.blocks;
    for (int64_t first = 0; first < task.blocks; first += 16) {
      __m256i c0[4], c1[4], c2[4], c3[4];
      for (int g = 0; g < 4; ++g) {
        c0[g] = _mm256_set1_epi64x(static_cast<uint32_t>(task.nodes[i]));
        c1[g] = _mm256_set1_epi64x(task.step);
        c2[g] = _mm256_set1_epi64x(task.epoch);
        const int64_t block = task.layer_and_site | (first + 4 * g);
        c3[g] = _mm256_set_epi64x(block + 3, block + 2, block + 1, block);
      }
      auto key0 = static_cast<uint32_t>(task.key);
      auto key1 = static_cast<uint32_t>(task.key >> 32);
      for (int round = 0; round < 7; ++round) {
        const __m256i k0 = _mm256_set1_epi64x(key0);
        const __m256i k1 = _mm256_set1_epi64x(key1);
        for (int g = 0; g < 4; ++g) {
          const __m256i p0 = _mm256_mul_epu32(multiplier0, c0[g]);
          const __m256i p1 = _mm256_mul_epu32(multiplier1, c2[g]);
          c0[g] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), c1[g]), k0);
          c1[g] = p1;
          c2[g] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), c3[g]), k1);
          c3[g] = p0;
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
      }
      alignas(16) uint32_t bytes[4];
      for (int g = 0; g < 4; ++g) {
        // The four words of each block are put side by side, two blocks per register: sixteen bits per element, in
        // order.
        const __m256i low = _mm256_blend_epi32(c0[g], _mm256_slli_epi64(c1[g], 32), 0xaa);
        const __m256i high = _mm256_blend_epi32(c2[g], _mm256_slli_epi64(c3[g], 32), 0xaa);
        const auto kept = [threshold](__m256i v) __attribute__((target("avx2"), always_inline)) {
          return _mm256_cmpeq_epi16(_mm256_max_epu16(v, threshold), v);
        };
        const __m256i even = kept(_mm256_unpacklo_epi64(low, high));  // blocks 0 and 2
        const __m256i odd = kept(_mm256_unpackhi_epi64(low, high));   // blocks 1 and 3
        bytes[g] = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_packs_epi16(even, odd)));
      }
      std::memcpy(row + first, bytes, static_cast<size_t>(std::min<int64_t>(16, task.blocks - first)));
    }
  }
}

template <typename T>
void ApplyRowBaseline(const uint8_t* bits, T scale, const T* x, T* out, int64_t first, int64_t cols) {
  for (int64_t c = first; c < cols; ++c) out[c] = (bits[c / 8] & (1u << (c % 8))) != 0 ? x[c] * scale : T(0);
}

[[gnu::target("avx2")]] void ApplyRowAvx2(const uint8_t* bits, float scale, const float* x, float* out, int64_t cols) {
  const __m256i lane = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
  const __m256 factor = _mm256_set1_ps(scale);
  const int64_t whole_bytes = cols / 8;
  for (int64_t block = 0; block < whole_bytes; ++block) {
    const __m256i kept = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits[block]), lane), lane);
    const __m256 product = _mm256_mul_ps(_mm256_loadu_ps(x + block * 8), factor);
    _mm256_storeu_ps(out + block * 8, _mm256_and_ps(product, _mm256_castsi256_ps(kept)));
  }
  ApplyRowBaseline(bits, scale, x, out, whole_bytes * 8, cols);
}

// Multiplies a row by `scale` where the bit is set, and sets the other elements to 0.
void ApplyRow(const uint8_t* bits, float scale, const float* x, float* out, int64_t cols) {
  if (CpuHasAvx2()) return ApplyRowAvx2(bits, scale, x, out, cols);
  ApplyRowBaseline(bits, scale, x, out, 0, cols);
}
// Doubles are used only by gradient checks.
void ApplyRow(const uint8_t* bits, double scale, const double* x, double* out, int64_t cols) {
  ApplyRowBaseline(bits, scale, x, out, 0, cols);
}

}  // namespace

DropoutRate::DropoutRate(double probability) {
  HONE_CHECK(probability >= 0 && probability < 1, "a dropout probability outside [0, 1)");
  threshold = std::min(65535u, static_cast<uint32_t>(std::lround(probability * 65536.0)));
  scale = 65536.0 / (65536.0 - threshold);
}

DropoutRate DropoutRate::Then(const DropoutRate& next_rate) const {
  DropoutRate combined = *this;
  const double kept_levels = 65536.0 - threshold;
  combined.threshold =
      threshold +
      std::min(65535u - threshold, static_cast<uint32_t>(std::lround(kept_levels * next_rate.threshold / 65536.0)));
  combined.scale = 65536.0 / (65536.0 - combined.threshold);
  return combined;
}

DropoutMask MakeDropoutMask(const DropoutRate& rate, DropoutSite site, const LayerContext& context, int64_t rows,
                            int64_t cols, Buffer<uint8_t>& memory) {
  HONE_CHECK(static_cast<int64_t>(context.nodes.size()) >= rows, "a dropout mask needs the global id of every row");
  const int64_t row_bytes = MaskRowBytes(cols);
  HONE_CHECK(row_bytes <= 65536 && context.layer >= 0 && context.layer <= 255,
             "a dropout mask wider than 524,288 columns, or a layer beyond 255");
  const DropoutMask mask{memory.Resize(rows * row_bytes), row_bytes};
  const uint32_t layer_and_site = static_cast<uint32_t>(context.layer) << 24 | static_cast<uint32_t>(site) << 16;
  const MaskTask task{context.key.seed ^ kDropoutDomain,
                      context.key.step,
                      context.key.epoch,
                      layer_and_site,
                      rate.threshold,
                      context.nodes.data(),
                      row_bytes,
                      mask.bits};
  ParallelRows(context.threads, rows, PieceRows(cols), [&](int64_t begin, int64_t end) {
    CpuHasAvx2() ? MaskRowsAvx2(task, begin, end) : MaskRowsBaseline(task, begin, end);
  });
  return mask;
}

double DropoutRow(const LayerContext& context, uint8_t site, int64_t row, int64_t cols, double probability,
                  std::span<uint8_t> kept) {
  HONE_CHECK(static_cast<int64_t>(kept.size()) >= MaskRowBytes(cols), "a dropout row needs a bit for every column");
  LayerContext row_context = context;
  row_context.nodes = context.nodes.subspan(static_cast<size_t>(row), 1);
  row_context.threads = 1;
  thread_local Buffer<uint8_t> memory;
  const DropoutRate rate(probability);
  const DropoutMask mask = MakeDropoutMask(rate, static_cast<DropoutSite>(site), row_context, 1, cols, memory);
  std::copy_n(mask.bits, mask.row_bytes, kept.data());
  return rate.scale;
}

template <typename T>
void ApplyDropout(const DropoutMask& mask, double scale, Matrix<const T> x, Matrix<T> out, int threads) {
  ParallelRows(threads, x.rows, PieceRows(out.cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      ApplyRow(mask.bits + i * mask.row_bytes, static_cast<T>(scale), x.Row(i), out.Row(i), out.cols);
    }
  });
}

template void ApplyDropout<float>(const DropoutMask&, double, Matrix<const float>, Matrix<float>, int);
template void ApplyDropout<double>(const DropoutMask&, double, Matrix<const double>, Matrix<double>, int);

}  // namespace hone::gnn
