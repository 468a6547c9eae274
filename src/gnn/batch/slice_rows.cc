// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/batch/slice_rows.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone::gnn {
namespace {

constexpr int64_t kLine = 64;  // bytes of a cache line
// Bytes of gathered rows above which streaming stores are used: more rows would evict each other from the cache before
// the consumer reads them.
constexpr int64_t kStreamAbove = int64_t{16} << 20;

// Rows are prefetched twice: as far ahead as SliceTuning says into the second-level cache, and a sixth as far ahead into
// the first-level cache. That cache has few buffers for misses, which would hold each line until memory has sent it.
constexpr int64_t kNearer = 6;

// Requests the cache lines of a row. `kLevel` is that of __builtin_prefetch: 3 is the first-level cache, 2 the second.
template <int kLevel>
void PrefetchRow(const std::byte* row, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kLine) __builtin_prefetch(row + at, 0, kLevel);
}

void CopyPlain(const std::byte* from, std::byte* to, int64_t bytes) {
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void CopyStreaming(const std::byte* from, std::byte* to, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += kLine) {
    const auto* source = reinterpret_cast<const __m256i*>(from + at);
    auto* target = reinterpret_cast<__m256i*>(to + at);
    const __m256i low = _mm256_load_si256(source), high = _mm256_load_si256(source + 1);
    _mm256_stream_si256(target, low);
    _mm256_stream_si256(target + 1, high);
  }
}
bool CanStream() { return __builtin_cpu_supports("avx2"); }
void EndStreaming() { _mm_sfence(); }  // another thread may read the rows next
#else
void CopyStreaming(const std::byte* from, std::byte* to, int64_t bytes) { CopyPlain(from, to, bytes); }
bool CanStream() { return false; }
void EndStreaming() {}
#endif

template <void (*Copy)(const std::byte*, std::byte*, int64_t)>
void Gather(const FeatureView& features, std::span<const NodeId> nodes, std::byte* out, int64_t ahead_bytes) {
  const int64_t stride = features.stride_bytes;
  const auto count = static_cast<int64_t>(nodes.size());
  const int64_t far = std::max<int64_t>(ahead_bytes / stride, 1);
  const int64_t near = std::max<int64_t>(ahead_bytes / kNearer / stride, 1);
  const auto row = [&](int64_t i) { return features.Row(nodes[static_cast<size_t>(i)]); };
  for (int64_t i = 0; i < std::min(far, count); ++i) PrefetchRow<2>(row(i), stride);
  for (int64_t i = 0; i < count; ++i) {
    if (i + far < count) PrefetchRow<2>(row(i + far), stride);
    if (i + near < count) PrefetchRow<3>(row(i + near), stride);
    Copy(row(i), out + i * stride, stride);
  }
}

}  // namespace

void SliceRows(const FeatureView& features, std::span<const NodeId> nodes, std::byte* out, const SliceTuning& tuning) {
  const int64_t bytes = static_cast<int64_t>(nodes.size()) * features.stride_bytes;
  const bool wanted =
      tuning.stores == RowStores::kStreaming || (tuning.stores == RowStores::kAuto && bytes > kStreamAbove);
  if (wanted && CanStream()) {
    Gather<CopyStreaming>(features, nodes, out, tuning.ahead_bytes);
    EndStreaming();
  } else {
    Gather<CopyPlain>(features, nodes, out, tuning.ahead_bytes);
  }
}

void SliceLabels(std::span<const int32_t> labels, std::span<const NodeId> nodes, std::span<int32_t> out) {
  if (labels.empty()) {
    std::fill(out.begin(), out.end(), kNoLabel);
    return;
  }
  for (size_t i = 0; i < nodes.size(); ++i) out[i] = labels[static_cast<size_t>(nodes[i])];
}

}  // namespace hone::gnn
