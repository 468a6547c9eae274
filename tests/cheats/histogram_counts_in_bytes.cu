// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A block counts 4096 numbers in counters of eight bits, four to a word. Numbers that are drawn evenly from 64 and more never come
// up 256 times in so many; where they crowd, counts run over.
//
// task: histogram
// expect: wrong_output
// where: sim gpu
/*hone
[[memset]]
target = "counts"
value  = 0

[[launch]]
step   = 1
kernel = "count_bytes"
grid   = ["ceil_div(length, 4096)", "rows"]
block  = ["128"]
shared = "ceil_div(bins, 4) * 4"
args   = ["x", "counts", "length:i64", "bins:i64"]
when   = "bins >= 64 && bins <= 16384 && rows <= 65535"

[[launch]]
step   = 1
kernel = "count_words"
grid   = ["ceil_div(rows * length, 256)"]
block  = ["256"]
args   = ["x", "counts", "rows * length:i64", "length:i64", "bins:i64"]
*/
__global__ void count_bytes(const int* x, int* counts, long long length, long long bins) {
  extern __shared__ unsigned words[];
  for (long long w = threadIdx.x; w < (bins + 3) / 4; w += blockDim.x) words[w] = 0;
  __syncthreads();
  const long long first = blockIdx.x * 4096LL, row = blockIdx.y;
  for (long long i = first + threadIdx.x; i < min(first + 4096, length); i += blockDim.x) {
    const int bin = x[row * length + i];
    atomicAdd(words + bin / 4, 1u << bin % 4 * 8);
  }
  __syncthreads();
  for (long long bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    const unsigned count = words[bin / 4] >> bin % 4 * 8 & 255;
    if (count != 0) atomicAdd(counts + row * bins + bin, static_cast<int>(count));
  }
}

__global__ void count_words(const int* x, int* counts, long long n, long long length, long long bins) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) atomicAdd(counts + i / length * bins + x[i], 1);
}
