// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor cores by wgmma, bfloat16 with sums in float32. Each expert's tokens are cut into tiles of 64 or 128 rows; there are at most
// tokens / ROWS + experts of them, so that many rows of blocks are launched, and each finds its expert by adding up the tiles of those before
// it. Blocks copy 64 columns of both factors at a time to shared memory, several steps ahead. Rows that are no multiple of 16 bytes take a
// plain kernel, and so does a GPU of another generation, which has no wgmma.
/*hone
[[launch]]
kernel = "multiply<2, 3>"
grid   = ["ceil_div(n, 128)", "tokens / 128 + experts"]
block  = ["256"]
shared = "3 * (128 + 128) * 128 + 1024"
args   = ["x", "w", "offsets", "y", "experts:i32", "n:i32", "k:i32"]
when   = "cc == 90 && k % 8 == 0 && experts > 0 && tokens / 128 + experts <= 65535 && tokens >= 128 * experts"

[[launch]]
kernel = "multiply<1, 4>"
grid   = ["ceil_div(n, 128)", "tokens / 64 + experts"]
block  = ["128"]
shared = "4 * (64 + 128) * 128 + 1024"
args   = ["x", "w", "offsets", "y", "experts:i32", "n:i32", "k:i32"]
when   = "cc == 90 && k % 8 == 0 && experts > 0 && tokens / 64 + experts <= 65535"

[[launch]]
kernel = "multiply_any"
grid   = ["ceil_div(n, 32)", "min(ceil_div(tokens, 8), 65535)"]
block  = ["32", "8"]
args   = ["x", "w", "offsets", "y", "tokens:i32", "experts:i32", "n:i32", "k:i32"]
*/
#include <cuda_bf16.h>

__device__ __forceinline__ unsigned SharedAddress(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void CopyAsync(unsigned to, const void* from, bool in_range) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(in_range ? 16 : 0) : "memory");
}

// Where wgmma finds a tile of rows of 128 bytes whose chunk c of 16 bytes stands at c ^ (r % 8) in row r: groups of eight rows are 1024 bytes
// apart. The tile begins at a multiple of 1024.
__device__ __forceinline__ unsigned long long Tile(unsigned address) {
  return static_cast<unsigned long long>(address >> 4) | 1ULL << 16 | 64ULL << 32 | 1ULL << 62;
}

// c [64, 128] = a [64, 16] b [128, 16]^T, added to c if `add`. Compute capability 9.0 alone has this instruction.
#if __CUDA_ARCH__ == 900
__device__ __forceinline__ void Multiply(float (&c)[64], unsigned long long a_descriptor, unsigned long long b_descriptor, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
      "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "
      "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, add, 1, 1, 0, 0;\n}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]), "+f"(c[9]),
        "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]), "+f"(c[17]), "+f"(c[18]),
        "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]), "+f"(c[25]), "+f"(c[26]), "+f"(c[27]),
        "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]), "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]),
        "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]), "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]),
        "+f"(c[46]), "+f"(c[47]), "+f"(c[48]), "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]),
        "+f"(c[55]), "+f"(c[56]), "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
      : "l"(a_descriptor), "l"(b_descriptor), "r"(add));
}
#endif

// Each of kGroups warp groups has 64 rows of a tile. Shared memory: kStages times the tile's rows of x, then 128 rows of w, 64 columns each,
// from the first multiple of 1024 on.
template <int kGroups, int kStages>
__global__ void __launch_bounds__(kGroups * 128, 2)
    multiply(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const int* __restrict__ offsets,
             __nv_bfloat16* __restrict__ y, int experts, int n, int k) {
#if __CUDA_ARCH__ == 900
  constexpr int kRows = kGroups * 64, kColumns = 128, kThreads = kGroups * 128, kStageBytes = (kRows + kColumns) * 128;
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned memory = (SharedAddress(shared) + 1023) & ~1023u;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;

  // The expert of this block's tile: each warp adds up the tiles of 32 experts at a time.
  int expert = -1, first_row = 0, last_row = 0;
  for (int base = 0, before = 0; base < experts; base += 32) {
    const int e = base + lane, begin = offsets[min(e, experts)], end = offsets[min(e + 1, experts)];
    int tiles = (end - begin + kRows - 1) / kRows;
    for (int distance = 1; distance < 32; distance *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, tiles, distance);
      if (lane >= distance) tiles += other;
    }
    const unsigned beyond = __ballot_sync(0xffffffffu, before + tiles > static_cast<int>(blockIdx.y));
    if (beyond != 0) {
      const int found = __ffs(static_cast<int>(beyond)) - 1;
      const int tile = static_cast<int>(blockIdx.y) - before - (found > 0 ? __shfl_sync(0xffffffffu, tiles, max(found - 1, 0)) : 0);
      expert = base + found;
      first_row = __shfl_sync(0xffffffffu, begin, found) + tile * kRows;
      last_row = __shfl_sync(0xffffffffu, end, found);
      break;
    }
    before += __shfl_sync(0xffffffffu, tiles, 31);
  }
  if (expert < 0) return;
  const int first_column = blockIdx.x * kColumns, steps = (k + 63) / 64;
  const __nv_bfloat16* const matrix = w + static_cast<long long>(expert) * n * k;

  // A thread copies one chunk of every 16th or 32nd row.
  const int copy_row = thread / 8, chunk = thread % 8;
  const unsigned copy_place = static_cast<unsigned>(copy_row * 128 + ((chunk ^ (copy_row & 7)) * 16));
  const auto copy = [&](int step) {
    if (step < steps) {
      const unsigned to = memory + static_cast<unsigned>(step % kStages * kStageBytes) + copy_place;
      const int column = step * 64 + chunk * 8;
#pragma unroll
      for (int i = 0; i < (kRows + kColumns) * 8 / kThreads; ++i) {
        const bool left = i < kRows * 8 / kThreads;
        const int r = copy_row + i * (kThreads / 8), row = left ? first_row + r : first_column + r - kRows;
        const bool in_range = row < (left ? last_row : n) && column < k;
        CopyAsync(to + i * (kThreads / 8) * 128, (left ? x : matrix) + (in_range ? static_cast<long long>(row) * k + column : 0), in_range);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int s = 0; s < kStages - 2; ++s) copy(s);

  float sums[kColumns / 2] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 3) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma shall see what this thread has copied
    __syncthreads();  // everybody's wgmma of the step before last has ended, and its place is free
    copy(step + kStages - 2);
    const unsigned left = memory + static_cast<unsigned>(step % kStages * kStageBytes + warp / 4 * 64 * 128);
    const unsigned right = memory + static_cast<unsigned>(step % kStages * kStageBytes + kRows * 128);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int s = 0; s < 4; ++s) Multiply(sums, Tile(left + s * 32), Tile(right + s * 32), 1);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + warp * 16 + half * 8 + g;
    if (row >= last_row) continue;
#pragma unroll
    for (int j = 0; j < kColumns / 8; ++j) {
      const int column = first_column + j * 8 + t * 2;
      __nv_bfloat16* const to = y + static_cast<long long>(row) * n + column;
      const __nv_bfloat162 pair = __floats2bfloat162_rn(sums[4 * j + 2 * half], sums[4 * j + 2 * half + 1]);
      if (n % 2 == 0) {
        if (column < n) *reinterpret_cast<__nv_bfloat162*>(to) = pair;
      } else {
        if (column < n) to[0] = pair.x;
        if (column + 1 < n) to[1] = pair.y;
      }
    }
  }
#endif
}

__global__ void multiply_any(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ w, const int* __restrict__ offsets,
                             __nv_bfloat16* __restrict__ y, int tokens, int experts, int n, int k) {
  const int column = blockIdx.x * 32 + threadIdx.x;
  if (column >= n) return;
  for (long long row = blockIdx.y * 8 + threadIdx.y; row < tokens; row += gridDim.y * 8) {
    // The number of experts that end at or before this row.
    int low = 0, high = experts;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (offsets[middle + 1] <= row) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    float sum = 0.0f;
    if (low < experts) {
      const __nv_bfloat16* const left = x + row * k;
      const __nv_bfloat16* const right = w + (static_cast<long long>(low) * n + column) * k;
      for (int i = 0; i < k; ++i) sum += __bfloat162float(left[i]) * __bfloat162float(right[i]);
    }
    y[row * n + column] = __float2bfloat16(sum);
  }
}
