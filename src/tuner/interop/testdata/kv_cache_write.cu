// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the keys of new tokens into the slots of a cache that an index names: a scatter whose other slots keep what
// they hold. One of its dimensions is called as launch plans call something of their own. For tests of `hone new`.
#include <cuda_bf16.h>
#include <stdint.h>

__global__ void kv_cache_write_kernel(const __nv_bfloat16* __restrict__ key,     // [tokens, stride]
                                      __nv_bfloat16* __restrict__ cache,         // [slots, stride]
                                      const int64_t* __restrict__ slot_mapping,  // [tokens]
                                      int tokens, int stride) {
  const int token = blockIdx.x;
  const int64_t slot = slot_mapping[token];
  if (slot < 0) return;
  for (int i = threadIdx.x; i < stride; i += blockDim.x) {
    cache[slot * stride + i] = key[(int64_t)token * stride + i];
  }
}

void kv_cache_write(const __nv_bfloat16* key, __nv_bfloat16* cache, const int64_t* slot_mapping, int tokens,
                    int stride) {
  kv_cache_write_kernel<<<tokens, 128>>>(key, cache, slot_mapping, tokens, stride);
}
