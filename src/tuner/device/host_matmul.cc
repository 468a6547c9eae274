// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/host_matmul.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "tuner/device/host_elements.h"

namespace hone::host {
namespace {

// Size of a tile of sums in registers; kTerms products are summed there before the sums are added to the others.
constexpr int64_t kRows = 4, kColumns = 16, kTerms = 256;
// Rows that one thread takes at a time.
constexpr int64_t kRowsAtOnce = 64;
// Smallest work that is worth another thread.
constexpr double kFlopsOfAThread = 5e7;

using Lanes = float __attribute__((vector_size(32)));

// Computes one tile: `a` has kRows values per term, `b` kColumns; `sums` are kRows rows of kColumns.
[[gnu::always_inline]] inline void TileBody(int64_t terms, const float* a, const float* b, float* sums) {
  Lanes sum[kRows][2];
  std::memcpy(sum, sums, sizeof sum);
  for (int64_t t = 0; t < terms; ++t) {
    Lanes left_half, right_half;
    std::memcpy(&left_half, b + t * kColumns, sizeof left_half);
    std::memcpy(&right_half, b + t * kColumns + kColumns / 2, sizeof right_half);
    for (int64_t r = 0; r < kRows; ++r) {
      const float factor = a[t * kRows + r];
      sum[r][0] += factor * left_half;
      sum[r][1] += factor * right_half;
    }
  }
  std::memcpy(sums, sum, sizeof sum);
}

[[gnu::target("avx2")]] void TileAvx2(int64_t terms, const float* a, const float* b, float* sums) {
  TileBody(terms, a, b, sums);
}
void TileBaseline(int64_t terms, const float* a, const float* b, float* sums) { TileBody(terms, a, b, sums); }

// Returns b as panels of kColumns columns, in which the values of a term are adjacent; zeros beyond the last column.
std::vector<float> PanelsOf(const ResolvedCall& call, const void* b, int64_t batch) {
  const int64_t panels = (call.n + kColumns - 1) / kColumns, base = batch * call.k * call.n;
  std::vector<float> packed(static_cast<size_t>(panels * kColumns * call.k), 0.0f);
  for (int64_t t = 0; t < call.k; ++t) {
    for (int64_t column = 0; column < call.n; ++column) {
      const int64_t at = base + (call.transpose_b ? column * call.k + t : t * call.n + column);
      packed[static_cast<size_t>((column / kColumns * call.k + t) * kColumns + column % kColumns)] =
          Load(call.dtype, b, at);
    }
  }
  return packed;
}

float Finish(const ResolvedCall& call, float value) {
  // std::max would lose a NaN.
  if (call.epilogue == "relu") return value < 0.0f ? 0.0f : value;
  if (call.epilogue != "gelu_tanh") return value;
  const float inner = 0.7978845608f * (value + 0.044715f * value * value * value);
  return 0.5f * value * (1.0f + std::tanh(inner));
}

// Computes rows first to last of one product.
void Rows(const ResolvedCall& call, const void* a, const std::vector<float>& panels, const void* bias, void* out,
          int64_t batch, int64_t first, int64_t last) {
  const auto tile = __builtin_cpu_supports("avx2") > 0 ? TileAvx2 : TileBaseline;
  const int64_t a_base = batch * call.m * call.k, out_base = batch * call.m * call.n;
  std::vector<float> strip(static_cast<size_t>(call.k * kRows));
  for (int64_t row = first; row < last; row += kRows) {
    for (int64_t r = 0; r < kRows; ++r) {
      const int64_t at = std::min(row + r, last - 1);  // the last strip repeats its last row, and drops its results
      for (int64_t t = 0; t < call.k; ++t) {
        strip[static_cast<size_t>(t * kRows + r)] =
            Load(call.dtype, a, a_base + (call.transpose_a ? t * call.m + at : at * call.k + t));
      }
    }
    for (int64_t column = 0; column < call.n; column += kColumns) {
      float sums[kRows * kColumns] = {};
      for (int64_t t = 0; t < call.k; t += kTerms) {
        float part[kRows * kColumns] = {};
        tile(std::min(kTerms, call.k - t), strip.data() + t * kRows,
             panels.data() + (column / kColumns * call.k + t) * kColumns, part);
        for (int64_t i = 0; i < kRows * kColumns; ++i) sums[i] += part[i];
      }
      for (int64_t r = 0; r < std::min(kRows, last - row); ++r) {
        for (int64_t c = 0; c < std::min(kColumns, call.n - column); ++c) {
          float value = sums[r * kColumns + c];
          if (bias != nullptr) value += Load(call.dtype, bias, column + c);
          Store(call.dtype, out, out_base + (row + r) * call.n + column + c, Finish(call, value));
        }
      }
    }
  }
}

}  // namespace

void Matmul(const ResolvedCall& call, const void* a, const void* b, const void* bias, void* out, int threads) {
  const int64_t worthwhile_threads =
      static_cast<int64_t>(std::min(1e6, call.flops() / static_cast<double>(call.batch) / kFlopsOfAThread));
  const int64_t count = std::clamp<int64_t>(worthwhile_threads, 1, std::max(threads, 1));
  for (int64_t batch = 0; batch < call.batch; ++batch) {
    const std::vector<float> panels = PanelsOf(call, b, batch);
    std::atomic<int64_t> next_row{0};
    const auto work = [&] {
      for (int64_t row = next_row.fetch_add(kRowsAtOnce); row < call.m; row = next_row.fetch_add(kRowsAtOnce)) {
        Rows(call, a, panels, bias, out, batch, row, std::min(row + kRowsAtOnce, call.m));
      }
    };
    std::vector<std::thread> helpers;
    for (int64_t i = 1; i < count; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
  }
}

}  // namespace hone::host
