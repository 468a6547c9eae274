// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// cub::DeviceRadixSort::SortPairs for the emulated runtime: a stable sort by bits [begin_bit, end_bit) of the key.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "cuda_runtime_api.h"
#include "gnn/cuda/emulated/runtime.h"

namespace cub {

struct DeviceRadixSort {
  // Scratch of null: only says how much is needed. The scratch is overwritten, as CUB does, so that sharing it shows.
  template <typename Key, typename Value, typename Count>
  static cudaError_t SortPairs(void* scratch, size_t& scratch_bytes, const Key* keys_in, Key* keys_out,
                               const Value* values_in, Value* values_out, Count count, int begin_bit = 0,
                               int end_bit = sizeof(Key) * 8, cudaStream_t stream = nullptr) {
    static_assert(std::is_unsigned_v<Key>, "the emulated sort takes unsigned keys");
    const size_t needed = 256 + static_cast<size_t>(count) * (sizeof(Key) + sizeof(Value));
    if (scratch == nullptr) {
      scratch_bytes = needed;
      return cudaSuccess;
    }
    if (scratch_bytes < needed) return cudaErrorInvalidValue;
    return hone::gnn::cuda::emulated::Enqueue(stream, "cub::DeviceRadixSort::SortPairs", [=] {
      const auto n = static_cast<size_t>(count);
      std::memset(scratch, 0xff, needed);
      std::vector<size_t> order(n);
      std::iota(order.begin(), order.end(), size_t{0});
      const int bits = end_bit - begin_bit;
      const Key mask = bits >= static_cast<int>(sizeof(Key)) * 8 ? static_cast<Key>(~Key{0})
                                                                 : static_cast<Key>((Key{1} << bits) - 1);
      const auto part = [&](size_t i) { return static_cast<Key>(keys_in[i] >> begin_bit & mask); };
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return part(a) < part(b); });
      const std::vector<Key> keys(keys_in, keys_in + n);
      const std::vector<Value> values(values_in, values_in + n);
      for (size_t i = 0; i < n; ++i) {
        keys_out[i] = keys[order[i]];
        values_out[i] = values[order[i]];
      }
    });
  }
};

}  // namespace cub
