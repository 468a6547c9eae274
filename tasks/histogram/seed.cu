// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Blocks count stretches of a row in shared memory and add what they have to the row's counts, which were set to zero.
// More bins than shared memory holds are counted where they are.
/*hone
[tune]
STRETCH = [16384, 8192, 65536]

[[memset]]
target = "counts"
value  = 0

[[launch]]
step   = 1
kernel = "count_shared"
grid   = ["ceil_div(length, STRETCH)", "rows"]
block  = ["256"]
shared = "bins * 4"
args   = ["x", "counts", "length:i64", "bins:i32"]
when   = "bins <= 8192 && rows <= 65535"

[[launch]]
step   = 1
kernel = "count_global"
grid   = ["ceil_div(rows * length, 256)"]
block  = ["256"]
args   = ["x", "counts", "rows * length:i64", "length:i64", "bins:i64"]
*/

__global__ void __launch_bounds__(256) count_shared(const int* __restrict__ x, int* __restrict__ counts, long long length,
                                                    int bins) {
  extern __shared__ int mine[];
  for (int b = threadIdx.x; b < bins; b += 256) mine[b] = 0;
  __syncthreads();
  const long long row = blockIdx.y, begin = static_cast<long long>(blockIdx.x) * HONE_TUNE_STRETCH;
  const long long end = min(length, begin + HONE_TUNE_STRETCH);
  const int* const numbers = x + row * length;
  if (length % 4 == 0) {
    for (long long i = begin + threadIdx.x * 4; i < end; i += 1024) {
      const int4 four = *reinterpret_cast<const int4*>(numbers + i);
      atomicAdd(mine + four.x, 1);
      atomicAdd(mine + four.y, 1);
      atomicAdd(mine + four.z, 1);
      atomicAdd(mine + four.w, 1);
    }
  } else {
    for (long long i = begin + threadIdx.x; i < end; i += 256) atomicAdd(mine + numbers[i], 1);
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += 256) {
    if (mine[b] != 0) atomicAdd(counts + row * bins + b, mine[b]);
  }
}

__global__ void count_global(const int* __restrict__ x, int* __restrict__ counts, long long numbers, long long length,
                             long long bins) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n < numbers) atomicAdd(counts + n / length * bins + x[n], 1);
}
