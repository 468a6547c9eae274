// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block has a row. Three passes count numbers by 11, 11 and 10 bits of an order-preserving code and so find the code of
// the k-th largest; a fourth collects what is larger, and as many equal ones as are wanted, and each is put where its rank
// is. More than 1024 are found one after another.
/*hone
[tune]
BLOCK = [512, 1024, 256]

[[launch]]
kernel = "select_largest"
grid   = ["rows"]
block  = ["BLOCK"]
args   = ["x", "values", "ids", "d:i32", "k:i32"]
when   = "k <= 1024"

[[launch]]
kernel = "one_by_one"
grid   = ["rows"]
block  = ["32"]
args   = ["x", "values", "ids", "d:i32", "k:i32"]
*/

// Larger numbers have larger codes; -0 and +0 have one.
__device__ __forceinline__ unsigned Code(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);
  return (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}

__global__ void __launch_bounds__(1024) select_largest(const float* __restrict__ x, float* __restrict__ values, int* __restrict__ ids,
                                               int d, int k) {
  constexpr int kBins = 2048;
  __shared__ int bins[kBins];
  __shared__ unsigned long long taken[1024];  // code, then place counted from the end
  __shared__ int found, count, equal;
  if (k == 0) return;
  const float* const row = x + static_cast<long long>(blockIdx.x) * d;
  unsigned prefix = 0, mask = 0;
  int wanted = k;  // of those whose code begins with the prefix
  for (int pass = 0; pass < 3; ++pass) {
    const int shift = pass == 0 ? 21 : pass == 1 ? 10 : 0, width = pass == 2 ? 1024 : kBins;
    for (int b = threadIdx.x; b < width; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < d; i += blockDim.x) {
      const unsigned code = Code(row[i]);
      if ((code & mask) == prefix) atomicAdd(bins + ((code >> shift) & (width - 1)), 1);
    }
    __syncthreads();
    // The first warp goes from the largest bin down, 32 at a time.
    if (threadIdx.x < 32) {
      int before = 0;
      for (int base = width - 32; base >= 0; base -= 32) {
        const int lane = threadIdx.x, own = bins[base + 31 - lane];
        int sum = own;
        for (int offset = 1; offset < 32; offset *= 2) {
          const int other = __shfl_up_sync(0xffffffffu, sum, offset);
          if (lane >= offset) sum += other;
        }
        const unsigned reach = __ballot_sync(0xffffffffu, before + sum >= wanted);
        if (reach != 0) {
          const int first = __ffs(static_cast<int>(reach)) - 1;
          if (lane == first) {
            found = base + 31 - lane;
            count = before + sum - own;  // that are larger
          }
          break;
        }
        before += __shfl_sync(0xffffffffu, sum, 31);
      }
    }
    __syncthreads();
    prefix |= static_cast<unsigned>(found) << shift;
    mask |= static_cast<unsigned>(width - 1) << shift;
    wanted -= count;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    count = 0;
    equal = 0;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < d; i += blockDim.x) {
    const unsigned code = Code(row[i]);
    if (code < prefix) continue;
    int at = -1;
    if (code > prefix) {
      at = atomicAdd(&count, 1);
    } else if (const int number = atomicAdd(&equal, 1); number < wanted) {
      at = k - wanted + number;
    }
    if (at >= 0) taken[at] = (static_cast<unsigned long long>(code) << 32) | (0xffffffffu - static_cast<unsigned>(i));
  }
  __syncthreads();
  for (int j = threadIdx.x; j < k; j += blockDim.x) {
    const unsigned long long mine = taken[j];
    int rank = 0;
    for (int i = 0; i < k; ++i) rank += taken[i] > mine;
    const int place = static_cast<int>(0xffffffffu - static_cast<unsigned>(mine));
    values[static_cast<long long>(blockIdx.x) * k + rank] = row[place];
    ids[static_cast<long long>(blockIdx.x) * k + rank] = place;
  }
}

__global__ void one_by_one(const float* __restrict__ x, float* __restrict__ values, int* __restrict__ ids, int d, int k) {
  const float* const row = x + static_cast<long long>(blockIdx.x) * d;
  unsigned long long before = ~0ull;
  for (int j = 0; j < k; ++j) {
    unsigned long long best = 0;
    for (int i = threadIdx.x; i < d; i += 32) {
      const unsigned long long key = (static_cast<unsigned long long>(Code(row[i])) << 32) | (0xffffffffu - static_cast<unsigned>(i));
      if (key < before && key > best) best = key;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      const unsigned long long other = __shfl_xor_sync(0xffffffffu, best, offset);
      best = other > best ? other : best;
    }
    before = best;
    if (threadIdx.x == 0) {
      const int place = static_cast<int>(0xffffffffu - static_cast<unsigned>(best));
      values[static_cast<long long>(blockIdx.x) * k + j] = row[place];
      ids[static_cast<long long>(blockIdx.x) * k + j] = place;
    }
  }
}
