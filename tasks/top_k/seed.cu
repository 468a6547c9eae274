// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A row is cut into slices, a block has one. Its threads' largest numbers are as many numbers of the slice, so the k-th
// largest of them bounds the slice's k-th largest from below, and few numbers reach that bound: they are collected, and
// each is put where its rank is. A second kernel does the same with what the slices of a row have found. Short rows
// take a warp each. Where too many reach the bound (equal numbers, say), three passes count codes by 11, 11 and 10 bits
// and find the k-th largest exactly. More than 256 are found by that alone, more than 1024 one after another.
/*hone
[tune]
BLOCK = [512, 1024, 256]
PER_THREAD = [8, 16, 4]

[[workspace]]
name  = "found"
bytes = "k <= 256 && rows > 0 ? rows * max(1, min(ceil_div(d, BLOCK * PER_THREAD), max(1, 4 * sm_count / max(1, rows)))) * k * 8 : 0"

[[launch]]
kernel = "short_rows"
grid   = ["ceil_div(rows, 4)"]
block  = ["128"]
args   = ["x", "values", "ids", "rows:i32", "d:i32", "k:i32"]
when   = "k <= 24 && d <= 2048"

[[launch]]
kernel = "select_slices"
grid   = ["max(1, min(ceil_div(d, BLOCK * PER_THREAD), max(1, 4 * sm_count / max(1, rows))))", "rows"]
block  = ["BLOCK"]
args   = ["x", "found", "d:i32", "k:i32"]
when   = "k <= 256 && rows <= 65535"

[[launch]]
kernel = "select_rows"
grid   = ["rows"]
block  = ["BLOCK"]
args   = ["x", "values", "ids", "d:i32", "k:i32"]
when   = "k <= 1024"

[[launch]]
kernel = "one_by_one"
grid   = ["rows"]
block  = ["32"]
args   = ["x", "values", "ids", "d:i32", "k:i32"]

[[launch]]
step   = 1
pdl    = true
kernel = "join_slices"
grid   = ["(k <= 24 && d <= 2048) || k > 256 || rows > 65535 ? 0 : rows"]
block  = ["BLOCK"]
args   = ["found", "x", "values", "ids", "d:i32", "k:i32",
          "max(1, min(ceil_div(d, BLOCK * PER_THREAD), max(1, 4 * sm_count / max(1, rows)))):i32"]
*/

constexpr unsigned kAll = 0xffffffffu;

// Larger numbers have larger codes; -0 and +0 have one. No number's code is 0.
__device__ __forceinline__ unsigned Code(float x) {
  const unsigned bits = __float_as_uint(x + 0.0f);
  return (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
}

// What is sorted: a number's code, and its place counted from the end, so that no two are equal.
using Key = unsigned long long;
__device__ __forceinline__ Key KeyOf(unsigned code, int place) {
  return (static_cast<Key>(code) << 32) | (kAll - static_cast<unsigned>(place));
}
__device__ __forceinline__ unsigned CodeOf(Key key) { return static_cast<unsigned>(key >> 32); }
__device__ __forceinline__ int PlaceOf(Key key) { return static_cast<int>(kAll - static_cast<unsigned>(key)); }

constexpr int kRoom = 1024;  // keys that a block can collect
struct Shared {
  Key taken[kRoom];
  int bins[2048];
  int found, count, equal;
};

// Finds the min(k, n) largest of a block's n keys, whose codes are code_of(i) and which are key_of(i), and gives each
// and its rank to put. All threads of a block call it; k is at most 1024.
template <typename CodeFn, typename KeyFn, typename PutFn>
__device__ __forceinline__ void SelectLargest(Shared& shared, int n, int k, CodeFn code_of, KeyFn key_of, PutFn put) {
  k = min(k, n);
  if (k == 0) return;
  unsigned largest = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < n; i += blockDim.x) largest = max(largest, code_of(i));
  // The bound: 20 bits of the k-th largest of the threads' largest codes; 0 if there are fewer threads.
  unsigned bound = 0;
  for (int bit = 31; bit >= 12; --bit) {
    const unsigned next = bound | 1u << bit;
    if (__syncthreads_count(largest >= next) >= k) bound = next;
  }
  if (threadIdx.x == 0) shared.count = 0;
  __syncthreads();
  if (bound > 0 && largest >= bound) {
#pragma unroll 4
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      if (code_of(i) < bound) continue;
      const int at = atomicAdd(&shared.count, 1);
      if (at < kRoom) shared.taken[at] = key_of(i);
    }
  }
  __syncthreads();
  int collected = shared.count;
  if (bound == 0 || collected > kRoom) {
    unsigned prefix = 0, mask = 0;
    int wanted = k;  // of those whose code begins with the prefix
    for (int pass = 0; pass < 3; ++pass) {
      const int shift = pass == 0 ? 21 : pass == 1 ? 10 : 0, width = pass == 2 ? 1024 : 2048;
      for (int b = threadIdx.x; b < width; b += blockDim.x) shared.bins[b] = 0;
      __syncthreads();
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const unsigned code = code_of(i);
        if ((code & mask) == prefix) atomicAdd(shared.bins + ((code >> shift) & (width - 1)), 1);
      }
      __syncthreads();
      // The first warp goes from the largest bin down, 32 at a time.
      if (threadIdx.x < 32) {
        int before = 0;
        for (int base = width - 32; base >= 0; base -= 32) {
          const int lane = threadIdx.x, own = shared.bins[base + 31 - lane];
          int sum = own;
          for (int offset = 1; offset < 32; offset *= 2) {
            const int other = __shfl_up_sync(kAll, sum, offset);
            if (lane >= offset) sum += other;
          }
          const unsigned reach = __ballot_sync(kAll, before + sum >= wanted);
          if (reach != 0) {
            const int first = __ffs(static_cast<int>(reach)) - 1;
            if (lane == first) {
              shared.found = base + 31 - lane;
              shared.count = before + sum - own;  // that are larger
            }
            break;
          }
          before += __shfl_sync(kAll, sum, 31);
        }
      }
      __syncthreads();
      prefix |= static_cast<unsigned>(shared.found) << shift;
      mask |= static_cast<unsigned>(width - 1) << shift;
      wanted -= shared.count;
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      shared.count = 0;
      shared.equal = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      const unsigned code = code_of(i);
      if (code < prefix) continue;
      if (code > prefix) {
        shared.taken[atomicAdd(&shared.count, 1)] = key_of(i);
      } else if (const int number = atomicAdd(&shared.equal, 1); number < wanted) {
        shared.taken[k - wanted + number] = key_of(i);
      }
    }
    collected = k;
    __syncthreads();
  }
  for (int j = threadIdx.x; j < collected; j += blockDim.x) {
    const Key mine = shared.taken[j];
    int rank = 0;
#pragma unroll 8
    for (int i = 0; i < collected; ++i) rank += shared.taken[i] > mine;
    if (rank < k) put(rank, mine);
  }
}

// found [rows][slices][k]: the largest of each slice, in descending order, and 0 where the slice has fewer.
__global__ void __launch_bounds__(1024)
    select_slices(const float* __restrict__ x, Key* __restrict__ found, int d, int k) {
  __shared__ Shared shared;
  cudaTriggerProgrammaticLaunchCompletion();
  const int begin = static_cast<int>(static_cast<long long>(d) * blockIdx.x / gridDim.x);
  const int n = static_cast<int>(static_cast<long long>(d) * (blockIdx.x + 1) / gridDim.x) - begin;
  const float* const slice = x + static_cast<long long>(blockIdx.y) * d + begin;
  Key* const to = found + (static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x) * k;
  SelectLargest(
      shared, n, k, [&](int i) { return Code(__ldg(slice + i)); },
      [&](int i) { return KeyOf(Code(__ldg(slice + i)), begin + i); }, [&](int rank, Key key) { to[rank] = key; });
  for (int j = n + threadIdx.x; j < k; j += blockDim.x) to[j] = 0;
}

__global__ void __launch_bounds__(1024)
    join_slices(const Key* __restrict__ found, const float* __restrict__ x, float* __restrict__ values,
                int* __restrict__ ids, int d, int k, int slices) {
  __shared__ Shared shared;
  cudaGridDependencySynchronize();
  const Key* const of_row = found + static_cast<long long>(blockIdx.x) * slices * k;
  const float* const row = x + static_cast<long long>(blockIdx.x) * d;
  SelectLargest(
      shared, slices * k, k, [&](int i) { return CodeOf(of_row[i]); }, [&](int i) { return of_row[i]; },
      [&](int rank, Key key) {
        values[static_cast<long long>(blockIdx.x) * k + rank] = row[PlaceOf(key)];
        ids[static_cast<long long>(blockIdx.x) * k + rank] = PlaceOf(key);
      });
}

__global__ void __launch_bounds__(1024)
    select_rows(const float* __restrict__ x, float* __restrict__ values, int* __restrict__ ids, int d, int k) {
  __shared__ Shared shared;
  const float* const row = x + static_cast<long long>(blockIdx.x) * d;
  SelectLargest(
      shared, d, k, [&](int i) { return Code(row[i]); }, [&](int i) { return KeyOf(Code(row[i]), i); },
      [&](int rank, Key key) {
        values[static_cast<long long>(blockIdx.x) * k + rank] = row[PlaceOf(key)];
        ids[static_cast<long long>(blockIdx.x) * k + rank] = PlaceOf(key);
      });
}

// A warp has a row of at most 2048 numbers; k is at most 24.
__global__ void __launch_bounds__(128)
    short_rows(const float* __restrict__ x, float* __restrict__ values, int* __restrict__ ids, int rows, int d, int k) {
  __shared__ Key taken[4][64];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, at = blockIdx.x * 4 + warp;
  if (at >= rows || k == 0) return;
  const float* const row = x + static_cast<long long>(at) * d;
  unsigned largest = 0;
#pragma unroll 8
  for (int i = lane; i < d; i += 32) largest = max(largest, Code(__ldg(row + i)));
  unsigned bound = 0;
  for (int bit = 31; bit >= 12; --bit) {
    const unsigned next = bound | 1u << bit;
    if (__popc(__ballot_sync(kAll, largest >= next)) >= k) bound = next;
  }
  // Those that reach the bound, as long as there is room.
  int collected = bound == 0 ? 65 : 0;
  if (bound > 0) {
#pragma unroll 8
    for (int base = 0; base < d; base += 32) {
      const unsigned code = base + lane < d ? Code(__ldg(row + base + lane)) : 0;
      const unsigned reach = __ballot_sync(kAll, code >= bound);
      const int to = collected + __popc(reach & ((1u << lane) - 1));
      if (code >= bound && to < 64) taken[warp][to] = KeyOf(code, base + lane);
      collected += __popc(reach);
    }
    __syncwarp();
  }
  float* const row_values = values + static_cast<long long>(at) * k;
  int* const row_ids = ids + static_cast<long long>(at) * k;
  if (collected <= 64) {
    for (int j = lane; j < collected; j += 32) {
      const Key mine = taken[warp][j];
      int rank = 0;
      for (int i = 0; i < collected; ++i) rank += taken[warp][i] > mine;
      if (rank < k) {
        row_values[rank] = row[PlaceOf(mine)];
        row_ids[rank] = PlaceOf(mine);
      }
    }
    return;
  }
  Key before = ~0ull;
  for (int j = 0; j < k; ++j) {
    Key best = 0;
    for (int i = lane; i < d; i += 32) {
      const Key key = KeyOf(Code(row[i]), i);
      if (key < before && key > best) best = key;
    }
    for (int offset = 16; offset > 0; offset /= 2) {
      const Key other = __shfl_xor_sync(kAll, best, offset);
      best = other > best ? other : best;
    }
    before = best;
    if (lane == 0) {
      row_values[j] = row[PlaceOf(best)];
      row_ids[j] = PlaceOf(best);
    }
  }
}

__global__ void one_by_one(const float* __restrict__ x, float* __restrict__ values, int* __restrict__ ids, int d,
                           int k) {
  const float* const row = x + static_cast<long long>(blockIdx.x) * d;
  unsigned long long before = ~0ull;
  for (int j = 0; j < k; ++j) {
    unsigned long long best = 0;
    for (int i = threadIdx.x; i < d; i += 32) {
      const unsigned long long key =
          (static_cast<unsigned long long>(Code(row[i])) << 32) | (0xffffffffu - static_cast<unsigned>(i));
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
