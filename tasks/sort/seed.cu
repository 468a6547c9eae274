// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Merging: a thread sorts eight numbers in registers, a block merges its threads' runs in shared memory, and each further kernel merges runs of
// twice the length from one buffer to another. Each thread finds by bisection which eight numbers of two runs are its own. Numbers are sorted
// with their places, as one integer. Rows of up to 65,536 numbers begin as runs of 4,096; of longer rows a block sorts longer runs by itself, so
// that four kernels suffice.
/*hone
[[workspace]]
name  = "front"
bytes = "d > 4096 ? rows * d * 8 : 0"

[[workspace]]
name  = "back"
bytes = "d > 4096 ? rows * d * 8 : 0"

[[launch]]
kernel = "sort_chunks<128>"
grid   = ["rows * ceil_div(d, 1024)"]
block  = ["128"]
args   = ["x", "front", "back", "values", "ids", "d:i32"]
when   = "d <= 1024"

[[launch]]
kernel = "sort_chunks<512>"
grid   = ["rows * ceil_div(d, 4096)"]
block  = ["512"]
args   = ["x", "front", "back", "values", "ids", "d:i32"]

[[launch]]
step   = 1
kernel = "merge_runs"
grid   = ["d > 4096 ? rows * ceil_div(d, 4096) : 0"]
block  = ["512"]
args   = ["x", "front", "back", "values", "ids", "d:i32", "0:i32"]

[[launch]]
step   = 2
kernel = "merge_runs"
grid   = ["d > 8192 ? rows * ceil_div(d, 4096) : 0"]
block  = ["512"]
args   = ["x", "back", "front", "values", "ids", "d:i32", "1:i32"]

[[launch]]
step   = 3
kernel = "merge_runs"
grid   = ["d > 16384 ? rows * ceil_div(d, 4096) : 0"]
block  = ["512"]
args   = ["x", "front", "back", "values", "ids", "d:i32", "2:i32"]

[[launch]]
step   = 4
kernel = "merge_runs"
grid   = ["d > 32768 ? rows * ceil_div(d, 4096) : 0"]
block  = ["512"]
args   = ["x", "back", "front", "values", "ids", "d:i32", "3:i32"]
*/

using Key = unsigned long long;
constexpr int kEach = 8;                   // numbers of a thread
constexpr int kTile = 4096;                // numbers that a block merges at a time
constexpr Key kLast = ~0ull;               // stands after every number

// A number's code and its place. Larger numbers have larger codes; -0 and +0 have one.
__device__ __forceinline__ Key KeyOf(float x, int place) {
  const unsigned bits = __float_as_uint(x + 0.0f);
  const unsigned code = (bits & 0x80000000u) ? ~bits : bits | 0x80000000u;
  return static_cast<Key>(code) << 32 | static_cast<unsigned>(place);
}

// Returns how many of the first `count` numbers of two merged runs come from the first, a.
__device__ __forceinline__ int Split(const Key* a, int of_a, const Key* b, int of_b, int count) {
  int low = max(0, count - of_b), high = min(count, of_a);
  while (low < high) {
    const int middle = (low + high) / 2;
    if (a[middle] <= b[count - 1 - middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Merges kEach numbers of two runs in shared memory, from the begin-th on.
__device__ __forceinline__ void MergeEach(Key (&keys)[kEach], const Key* a, int of_a, const Key* b, int of_b, int begin) {
  begin = min(begin, of_a + of_b);
  int i = Split(a, of_a, b, of_b, begin), j = begin - i;
  Key left = i < of_a ? a[i] : kLast, right = j < of_b ? b[j] : kLast;
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    const bool first = left <= right && i < of_a;
    keys[e] = first ? left : right;
    if (first) {
      ++i;
      left = i < of_a ? a[i] : kLast;
    } else {
      ++j;
      right = j < of_b ? b[j] : kLast;
    }
  }
}

// Writes a block's n sorted numbers, which stand in shared memory, to `to`, or to values and ids if they are final. `row`: x of this row.
__device__ __forceinline__ void Write(const Key* shared, int n, Key* to, const float* row, float* values, int* ids, bool final) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (final) {
      const int place = static_cast<int>(static_cast<unsigned>(shared[i]));
      values[i] = row[place];
      ids[i] = place;
    } else {
      to[i] = shared[i];
    }
  }
}

// Sorts numbers begin to begin + n of a row, at most kThreads * kEach, into shared memory.
template <int kThreads>
__device__ __forceinline__ void SortChunk(Key* shared, const float* row, int begin, int n) {
  constexpr int kChunk = kThreads * kEach;
  for (int i = threadIdx.x; i < kChunk; i += kThreads) shared[i] = i < n ? KeyOf(row[begin + i], begin + i) : kLast;
  __syncthreads();
  const int mine = static_cast<int>(threadIdx.x) * kEach;
  Key keys[kEach];
#pragma unroll
  for (int e = 0; e < kEach; ++e) keys[e] = shared[mine + e];
#pragma unroll
  for (int round = 0; round < kEach; ++round) {
#pragma unroll
    for (int e = round % 2; e + 1 < kEach; e += 2) {
      const Key low = min(keys[e], keys[e + 1]), high = max(keys[e], keys[e + 1]);
      keys[e] = low;
      keys[e + 1] = high;
    }
  }
  for (int width = kEach; width < kChunk; width *= 2) {
    __syncthreads();
#pragma unroll
    for (int e = 0; e < kEach; ++e) shared[mine + e] = keys[e];
    __syncthreads();
    const Key* const pair = shared + mine / (2 * width) * (2 * width);
    MergeEach(keys, pair, width, pair + width, width, mine % (2 * width));
  }
  __syncthreads();
#pragma unroll
  for (int e = 0; e < kEach; ++e) shared[mine + e] = keys[e];
  __syncthreads();
}

// Merges the numbers begin to begin + kTile of a row of d, whose runs of `width` numbers stand in `from`. The block has kTile / kEach threads.
__device__ __forceinline__ void MergeTile(Key* shared, const Key* from, Key* to, const float* row, float* values, int* ids, int d,
                                          long long width, int begin, bool final) {
  const long long pair = begin / (2 * width) * (2 * width);
  const int of_a = static_cast<int>(min(width, d - pair)), of_b = static_cast<int>(max(0ll, min(width, d - pair - width)));
  const int first = static_cast<int>(begin - pair), count = min(kTile, of_a + of_b - first);
  const Key* const a = from + pair;
  const Key* const b = a + of_a;
  const int a_first = Split(a, of_a, b, of_b, first), a_last = Split(a, of_a, b, of_b, first + count);
  const int from_a = a_last - a_first, from_b = count - from_a;
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) shared[i] = i < from_a ? a[a_first + i] : b[first - a_first + i - from_a];
  __syncthreads();
  const int mine = static_cast<int>(threadIdx.x) * kEach;
  Key keys[kEach];
  MergeEach(keys, shared, from_a, shared + from_a, from_b, mine);
  __syncthreads();
#pragma unroll
  for (int e = 0; e < kEach; ++e) {
    if (mine + e < count) shared[mine + e] = keys[e];
  }
  __syncthreads();
  Write(shared, count, to + begin, row, values + begin, ids + begin, final);
}

// The length of the runs that a block sorts by itself.
__device__ __forceinline__ long long RunLength(int d) {
  long long run = kTile;
  while (run * 16 < d) run *= 2;
  return run;
}

template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    sort_chunks(const float* __restrict__ x, Key* front, Key* back, float* __restrict__ values, int* __restrict__ ids, int d) {
  constexpr int kChunk = kThreads * kEach;
  __shared__ Key shared[kChunk];
  const int chunks = (d + kChunk - 1) / kChunk, number = blockIdx.x % chunks;
  const long long at = static_cast<long long>(blockIdx.x / chunks) * d, run = RunLength(d), begin = number * run;
  if (begin >= d) return;
  const float* const row = x + at;
  const int end = static_cast<int>(min(static_cast<long long>(d), begin + run));
  // How often the run's chunks are merged decides which buffer they begin in, so that the run ends in `front`.
  bool swapped = false;
  for (long long width = kTile; width < run; width *= 2) swapped = !swapped;
  for (int chunk = static_cast<int>(begin); chunk < end; chunk += kChunk) {
    const int n = min(kChunk, end - chunk);
    SortChunk<kThreads>(shared, row, chunk, n);
    Write(shared, n, (swapped ? back : front) + at + chunk, row, values + at + chunk, ids + at + chunk, d <= kChunk);
    __syncthreads();
  }
  if constexpr (kChunk == kTile) {
    for (long long width = kTile; width < run; width *= 2, swapped = !swapped) {
      for (int tile = static_cast<int>(begin); tile < end; tile += kTile) {
        MergeTile(shared, (swapped ? back : front) + at, (swapped ? front : back) + at, row, values, ids, d, width, tile, false);
      }
      __syncthreads();
    }
  }
}

// `pass`: how many kernels have merged runs before this one.
__global__ void __launch_bounds__(kTile / kEach)
    merge_runs(const float* __restrict__ x, const Key* __restrict__ from, Key* __restrict__ to, float* __restrict__ values,
               int* __restrict__ ids, int d, int pass) {
  __shared__ Key shared[kTile];
  const int tiles = (d + kTile - 1) / kTile, begin = static_cast<int>(blockIdx.x % tiles) * kTile;
  const long long at = static_cast<long long>(blockIdx.x / tiles) * d, width = RunLength(d) << pass;
  MergeTile(shared, from + at, to + at, x + at, values + at, ids + at, d, width, begin, 2 * width >= d);
}
