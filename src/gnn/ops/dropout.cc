// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Masks from the counter generator; see dropout.h.
#include "gnn/ops/dropout.h"

#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "gnn/ops/parallel.h"
#include "gnn/ops/simd.h"
#include "hone/base/status.h"

namespace hone::gnn {
namespace {

// Blocks computed together: their counters differ in the last word alone, and the rounds vectorise over them.
constexpr int64_t kTogether = 16;

HONE_INLINE_BODY void MaskRowsBody(uint64_t key, uint32_t step, uint32_t epoch, uint32_t place, uint32_t threshold,
                                   const NodeId* nodes, int64_t blocks, uint8_t* bits, int64_t begin, int64_t end) {
  const auto key_low = static_cast<uint32_t>(key);
  const auto key_high = static_cast<uint32_t>(key >> 32);
  for (int64_t i = begin; i < end; ++i) {
    uint8_t* row = bits + i * blocks;
    for (int64_t first = 0; first < blocks; first += kTogether) {
      // The ten rounds of base/philox.h, lane by lane; 64-bit words keep the products in place.
      alignas(64) uint64_t c0[kTogether], c1[kTogether], c2[kTogether], c3[kTogether];
      for (int64_t j = 0; j < kTogether; ++j) {
        c0[j] = static_cast<uint32_t>(nodes[i]);
        c1[j] = step;
        c2[j] = epoch;
        c3[j] = place | static_cast<uint32_t>(first + j);
      }
      uint32_t k0 = key_low;
      uint32_t k1 = key_high;
      for (int round = 0; round < 10; ++round) {
        for (int64_t j = 0; j < kTogether; ++j) {
          const uint64_t p0 = uint64_t{0xD2511F53u} * static_cast<uint32_t>(c0[j]);
          const uint64_t p1 = uint64_t{0xCD9E8D57u} * static_cast<uint32_t>(c2[j]);
          c0[j] = (p1 >> 32) ^ c1[j] ^ k0;
          c1[j] = static_cast<uint32_t>(p1);
          c2[j] = (p0 >> 32) ^ c3[j] ^ k1;
          c3[j] = static_cast<uint32_t>(p0);
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
      }
      alignas(64) uint8_t bytes[kTogether];
      for (int64_t j = 0; j < kTogether; ++j) {
        const auto kept = [threshold](uint64_t bits16, int at) { return static_cast<uint32_t>(bits16 >= threshold) << at; };
        bytes[j] = static_cast<uint8_t>(kept(c0[j] & 0xffff, 0) | kept(c0[j] >> 16, 1) | kept(c1[j] & 0xffff, 2) |
                                        kept(c1[j] >> 16, 3) | kept(c2[j] & 0xffff, 4) | kept(c2[j] >> 16, 5) |
                                        kept(c3[j] & 0xffff, 6) | kept(c3[j] >> 16, 7));
      }
      std::copy_n(bytes, std::min(kTogether, blocks - first), row + first);
    }
  }
}
HONE_VECTORISE(MaskRows,
               (uint64_t key, uint32_t step, uint32_t epoch, uint32_t place, uint32_t threshold, const NodeId* nodes,
                int64_t blocks, uint8_t* bits, int64_t begin, int64_t end),
               (key, step, epoch, place, threshold, nodes, blocks, bits, begin, end))

template <typename T>
HONE_INLINE_BODY void ApplyRowsBody(const uint8_t* bits, int64_t row_bytes, T scale, const T* x, int64_t x_stride,
                                    T* out, int64_t out_stride, int64_t cols, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const T* r = x + i * x_stride;
    T* o = out + i * out_stride;
    const uint8_t* row = bits + i * row_bytes;
    const int64_t whole = cols / 8;
    for (int64_t b = 0; b < whole; ++b) {
      const uint32_t byte = row[b];
      for (int k = 0; k < 8; ++k) o[b * 8 + k] = (byte & (1u << k)) != 0 ? r[b * 8 + k] * scale : T(0);
    }
    for (int64_t c = whole * 8; c < cols; ++c) o[c] = (row[c / 8] & (1u << (c % 8))) != 0 ? r[c] * scale : T(0);
  }
}
#define HONE_APPLY_ROWS(T)                                                                                       \
  HONE_VECTORISE(ApplyRows,                                                                                      \
                 (const uint8_t* bits, int64_t row_bytes, T scale, const T* x, int64_t x_stride, T* out,         \
                  int64_t out_stride, int64_t cols, int64_t begin, int64_t end),                                 \
                 (bits, row_bytes, scale, x, x_stride, out, out_stride, cols, begin, end))
HONE_APPLY_ROWS(float)
HONE_APPLY_ROWS(double)

}  // namespace

DropoutRate::DropoutRate(double probability) {
  HONE_CHECK(probability >= 0 && probability < 1, "a dropout probability outside [0, 1)");
  threshold = std::min(65535u, static_cast<uint32_t>(std::lround(probability * 65536.0)));
  scale = 65536.0 / (65536.0 - threshold);
}

DropoutMask MakeDropoutMask(const DropoutRate& rate, DropoutSite site, const LayerContext& context, int64_t rows,
                            int64_t cols, Buffer<uint8_t>& memory) {
  HONE_CHECK(static_cast<int64_t>(context.nodes.size()) >= rows, "a dropout mask needs the global id of every row");
  const int64_t row_bytes = MaskRowBytes(cols);
  HONE_CHECK(row_bytes <= 65536 && context.layer >= 0 && context.layer <= 255,
             "a dropout mask wider than 524,288 columns, or a layer beyond 255");
  const DropoutMask mask{memory.Resize(rows * row_bytes), row_bytes};
  const uint32_t place = static_cast<uint32_t>(context.layer) << 24 | static_cast<uint32_t>(site) << 16;
  ParallelRows(context.threads, rows, PieceRows(cols), [&](int64_t begin, int64_t end) {
    MaskRows(context.key.seed ^ kDropoutDomain, context.key.step, context.key.epoch, place, rate.threshold,
             context.nodes.data(), row_bytes, mask.bits, begin, end);
  });
  return mask;
}

template <typename T>
void ApplyDropout(const DropoutMask& mask, double scale, Matrix<const T> x, Matrix<T> out, int threads) {
  ParallelRows(threads, out.rows, PieceRows(out.cols), [&](int64_t begin, int64_t end) {
    ApplyRows(mask.bits, mask.row_bytes, static_cast<T>(scale), x.data, x.stride, out.data, out.stride, out.cols,
              begin, end);
  });
}

template void ApplyDropout<float>(const DropoutMask&, double, Matrix<const float>, Matrix<float>, int);
template void ApplyDropout<double>(const DropoutMask&, double, Matrix<const double>, Matrix<double>, int);

}  // namespace hone::gnn
