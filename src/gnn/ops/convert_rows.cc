// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts half and bfloat16 rows to float; see convert_rows.h.
#include "gnn/ops/convert_rows.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <vector>

#include "gnn/ops/parallel.h"
#include "gnn/ops/simd.h"

namespace hone::gnn {

float HalfToFloat(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = (half >> 10) & 0x1f;
  const uint32_t mantissa = half & 0x3ff;
  if (exponent == 0) {  // zero and subnormals: mantissa * 2^-24, which float holds exactly
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  if (exponent == 31) {  // infinities; NaNs keep their payload and become quiet, as in the vector instruction
    const uint32_t quiet = mantissa != 0 ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | mantissa << 13);
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

namespace {

[[gnu::target("avx2,f16c")]] void HalfRowAvx2(const uint16_t* in, float* out, int64_t cols) {
  int64_t c = 0;
  for (; c + 8 <= cols; c += 8) {
    _mm256_storeu_ps(out + c, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + c))));
  }
  for (; c < cols; ++c) out[c] = _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(in[c])));
}

void HalfRow(const uint16_t* in, float* out, int64_t cols) {
  if (CpuHasAvx2()) return HalfRowAvx2(in, out, cols);
  for (int64_t c = 0; c < cols; ++c) out[c] = HalfToFloat(in[c]);
}

HONE_INLINE_BODY void BFloat16RowBody(const uint16_t* in, float* out, int64_t cols) {
  for (int64_t c = 0; c < cols; ++c) out[c] = std::bit_cast<float>(static_cast<uint32_t>(in[c]) << 16);
}
HONE_VECTORISE(BFloat16Row, (const uint16_t* in, float* out, int64_t cols), (in, out, cols))

// Converts a feature row of the given type to float.
void ConvertRow(const std::byte* row, FeatureDtype dtype, float* out, int64_t cols) {
  switch (dtype) {
    case FeatureDtype::kFloat32:
      std::memcpy(out, row, static_cast<size_t>(cols) * sizeof(float));
      break;
    case FeatureDtype::kFloat16:
      HalfRow(reinterpret_cast<const uint16_t*>(row), out, cols);
      break;
    case FeatureDtype::kBFloat16:
      BFloat16Row(reinterpret_cast<const uint16_t*>(row), out, cols);
      break;
  }
}

}  // namespace

void ConvertRows(const FeatureRows& rows, Matrix<float> out, int threads) {
  ParallelRows(threads, rows.num_rows, PieceRows(rows.width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ConvertRow(rows.Row(i), rows.dtype, out.Row(i), rows.width);
  });
}

void GatherRows(const FeatureView& features, std::span<const NodeId> ids, Matrix<float> out, int threads) {
  const auto count = static_cast<int64_t>(ids.size());
  constexpr int64_t kAhead = 8;
  ParallelRows(threads, count, PieceRows(features.width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (i + kAhead < count) {
        const std::byte* ahead = features.Row(ids[static_cast<size_t>(i + kAhead)]);
        for (int64_t b = 0; b < std::min<int64_t>(features.stride_bytes, 1024); b += 64) __builtin_prefetch(ahead + b);
      }
      ConvertRow(features.Row(ids[static_cast<size_t>(i)]), features.dtype, out.Row(i), features.width);
    }
  });
}

template <typename T>
void GatherEdgeRows(const FeatureView& features, std::span<const int64_t> edges, Matrix<T> out, int threads) {
  const auto count = static_cast<int64_t>(edges.size());
  constexpr int64_t kAhead = 16;
  ParallelRows(threads, count, PieceRows(features.width), [&](int64_t begin, int64_t end) {
    std::vector<float> row(std::is_same_v<T, float> ? 0 : static_cast<size_t>(features.width));
    for (int64_t i = begin; i < end; ++i) {
      if (i + kAhead < count) __builtin_prefetch(features.Row(edges[static_cast<size_t>(i + kAhead)]));
      const std::byte* const from = features.Row(edges[static_cast<size_t>(i)]);
      if constexpr (std::is_same_v<T, float>) {
        ConvertRow(from, features.dtype, out.Row(i), features.width);
      } else {
        ConvertRow(from, features.dtype, row.data(), features.width);
        std::copy(row.begin(), row.end(), out.Row(i));
      }
    }
  });
}
template void GatherEdgeRows<float>(const FeatureView&, std::span<const int64_t>, Matrix<float>, int);
template void GatherEdgeRows<double>(const FeatureView&, std::span<const int64_t>, Matrix<double>, int);

}  // namespace hone::gnn
