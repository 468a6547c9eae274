// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor cores on 8-bit floats, by wgmma: on Hopper, mma.sync widens such numbers to 16 bits first. All threads of a block copy 128 columns of
// both factors at a time to shared memory, STAGES deep; then each warp group multiplies 64 rows, or twice 64, and adds a block's sums to its
// results in float32, times their scales. Few rows take narrower blocks, so that every multiprocessor has some. Shapes whose rows are not
// whole blocks of k take a plain kernel, and so does a GPU of another generation, which has no wgmma.
/*hone
[tune]
STAGES = [4, 3]

[[launch]]
kernel = "multiply<1, 1, 64, 4>"
grid   = ["ceil_div(n, 64)", "ceil_div(m, 64)"]
block  = ["128"]
shared = "4 * (64 + 64) * 128 + 1024"
args   = ["a", "a_scale", "b", "b_scale", "c", "m:i32", "n:i32", "k:i32"]
when   = "cc == 90 && k % 128 == 0 && k > 0 && m <= 64"

[[launch]]
kernel = "multiply<2, 1, 64, 3>"
grid   = ["ceil_div(n, 64)", "ceil_div(m, 128)"]
block  = ["256"]
shared = "3 * (128 + 64) * 128 + 1024"
args   = ["a", "a_scale", "b", "b_scale", "c", "m:i32", "n:i32", "k:i32"]
when   = "cc == 90 && k % 128 == 0 && k > 0 && m <= 128"

[[launch]]
kernel = "multiply<2, 2, 128, STAGES>"
grid   = ["ceil_div(n, 128)", "ceil_div(m, 256)"]
block  = ["256"]
shared = "STAGES * (256 + 128) * 128 + 1024"
args   = ["a", "a_scale", "b", "b_scale", "c", "m:i32", "n:i32", "k:i32"]
when   = "cc == 90 && k % 128 == 0 && k > 0"

[[launch]]
kernel = "multiply_any"
grid   = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block  = ["32", "8"]
args   = ["a", "a_scale", "b", "b_scale", "c", "m:i32", "n:i32", "k:i32"]
*/
#include <cuda_bf16.h>
#include <cuda_fp8.h>

constexpr int kBlock = 128;  // numbers that share a scale

__device__ __forceinline__ unsigned SharedAddress(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void CopyAsync(unsigned to, const void* from, bool in_range) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(in_range ? 16 : 0) : "memory");
}

// Where wgmma finds a tile of rows of 128 bytes whose chunk c of 16 bytes stands at c ^ (r % 8) in row r: groups of eight rows are 1024 bytes
// apart. The tile begins at a multiple of 1024.
__device__ __forceinline__ unsigned long long Tile(unsigned address) {
  return static_cast<unsigned long long>(address >> 4) | 1ULL << 16 | 64ULL << 32 | 1ULL << 62;
}

// c [64, N] = a [64, 32] b [N, 32]^T, added to c if `add`; N is twice the sums of a thread. Compute capability 9.0 alone has this instruction.
#if __CUDA_ARCH__ == 900
__device__ __forceinline__ void Multiply(float (&c)[32], unsigned long long a_descriptor, unsigned long long b_descriptor, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
      "%23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, add, 1, 1;\n}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]),
        "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]),
        "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
        "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31])
      : "l"(a_descriptor), "l"(b_descriptor), "r"(add));
}
__device__ __forceinline__ void Multiply(float (&c)[64], unsigned long long a_descriptor, unsigned long long b_descriptor, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, "
      "%23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, "
      "%44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, add, 1, 1;\n}"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), "+f"(c[8]),
        "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15]), "+f"(c[16]),
        "+f"(c[17]), "+f"(c[18]), "+f"(c[19]), "+f"(c[20]), "+f"(c[21]), "+f"(c[22]), "+f"(c[23]), "+f"(c[24]),
        "+f"(c[25]), "+f"(c[26]), "+f"(c[27]), "+f"(c[28]), "+f"(c[29]), "+f"(c[30]), "+f"(c[31]), "+f"(c[32]),
        "+f"(c[33]), "+f"(c[34]), "+f"(c[35]), "+f"(c[36]), "+f"(c[37]), "+f"(c[38]), "+f"(c[39]), "+f"(c[40]),
        "+f"(c[41]), "+f"(c[42]), "+f"(c[43]), "+f"(c[44]), "+f"(c[45]), "+f"(c[46]), "+f"(c[47]), "+f"(c[48]),
        "+f"(c[49]), "+f"(c[50]), "+f"(c[51]), "+f"(c[52]), "+f"(c[53]), "+f"(c[54]), "+f"(c[55]), "+f"(c[56]),
        "+f"(c[57]), "+f"(c[58]), "+f"(c[59]), "+f"(c[60]), "+f"(c[61]), "+f"(c[62]), "+f"(c[63])
      : "l"(a_descriptor), "l"(b_descriptor), "r"(add));
}
#endif

// kGroups warp groups, each with kHalves times 64 rows of a. Shared memory: kStages times the rows of a, then kColumns rows of b, 128 bytes
// each, from the first multiple of 1024 on.
template <int kGroups, int kHalves, int kColumns, int kStages>
__global__ void __launch_bounds__(kGroups * 128)
    multiply(const __nv_fp8_e4m3* __restrict__ a, const float* __restrict__ a_scale,
             const __nv_fp8_e4m3* __restrict__ b, const float* __restrict__ b_scale, __nv_bfloat16* __restrict__ c,
             int m, int n, int k) {
#if __CUDA_ARCH__ == 900
  constexpr int kRows = kGroups * kHalves * 64, kThreads = kGroups * 128, kStageBytes = (kRows + kColumns) * kBlock;
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned memory = (SharedAddress(shared) + 1023) & ~1023u;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns, blocks = k / kBlock;
  const int group_row = warp / 4 * kHalves * 64;             // the first of this warp group's rows in the block
  const int own_row = first_row + group_row + warp % 4 * 16 + g;  // the first of this thread's rows of c

  // A thread copies one chunk of every 16th or 32nd row.
  const int copy_row = thread / 8, chunk = thread % 8;
  const unsigned copy_place = static_cast<unsigned>(copy_row * kBlock + ((chunk ^ (copy_row & 7)) * 16));
  const auto copy = [&](int block) {
    if (block < blocks) {
      const unsigned to = memory + static_cast<unsigned>(block % kStages * kStageBytes) + copy_place;
#pragma unroll
      for (int i = 0; i < (kRows + kColumns) * 8 / kThreads; ++i) {
        const bool left = i < kRows * 8 / kThreads;
        const int r = copy_row + i * (kThreads / 8), row = left ? first_row + r : first_column + r - kRows;
        const bool in_range = row < (left ? m : n);
        CopyAsync(to + i * (kThreads / 8) * kBlock,
                  (left ? a : b) + static_cast<long long>(in_range ? row : 0) * k + block * kBlock + chunk * 16, in_range);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy(s);

  float sums[kHalves][kColumns / 2] = {};
  for (int block = 0; block < blocks; ++block) {
    // Scales of this thread's rows, asked for before they are needed.
    float scale[kHalves][2];
    const float of_columns = b_scale[static_cast<long long>(first_column / kBlock) * blocks + block];
#pragma unroll
    for (int i = 0; i < kHalves; ++i) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int row = own_row + i * 64 + e * 8;
        scale[i][e] = row < m ? a_scale[static_cast<long long>(row) * blocks + block] : 0.0f;
      }
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma shall see what this thread has copied
    __syncthreads();
    copy(block + kStages - 1);
    const unsigned left = memory + static_cast<unsigned>(block % kStages * kStageBytes), right = left + kRows * kBlock;
#pragma unroll
    for (int i = 0; i < kHalves; ++i) {
      float part[kColumns / 2];
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int s = 0; s < kBlock / 32; ++s) {
        Multiply(part, Tile(left + static_cast<unsigned>((group_row + i * 64) * kBlock + s * 32)), Tile(right + s * 32), s > 0);
      }
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      const float both[2] = {scale[i][0] * of_columns, scale[i][1] * of_columns};
#pragma unroll
      for (int j = 0; j < kColumns / 2; ++j) sums[i][j] += part[j] * both[j / 2 % 2];
    }
  }
  asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll
  for (int i = 0; i < kHalves; ++i) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int row = own_row + i * 64 + e * 8;
      if (row >= m) continue;
#pragma unroll
      for (int j = 0; j < kColumns / 8; ++j) {
        const int column = first_column + j * 8 + t * 2;
        __nv_bfloat16* const to = c + static_cast<long long>(row) * n + column;
        const __nv_bfloat162 pair = __floats2bfloat162_rn(sums[i][4 * j + 2 * e], sums[i][4 * j + 2 * e + 1]);
        if (n % 2 == 0) {
          if (column < n) *reinterpret_cast<__nv_bfloat162*>(to) = pair;
        } else {
          if (column < n) to[0] = pair.x;
          if (column + 1 < n) to[1] = pair.y;
        }
      }
    }
  }
#endif
}

__global__ void multiply_any(const __nv_fp8_e4m3* __restrict__ a, const float* __restrict__ a_scale,
                             const __nv_fp8_e4m3* __restrict__ b, const float* __restrict__ b_scale,
                             __nv_bfloat16* __restrict__ c, int m, int n, int k) {
  const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (row >= m || column >= n) return;
  const int blocks = (k + kBlock - 1) / kBlock;
  float sum = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    float part = 0.0f;
    for (int i = block * kBlock; i < min(k, (block + 1) * kBlock); ++i) {
      part += static_cast<float>(a[static_cast<long long>(row) * k + i]) *
              static_cast<float>(b[static_cast<long long>(column) * k + i]);
    }
    sum += part * a_scale[static_cast<long long>(row) * blocks + block] *
           b_scale[static_cast<long long>(column / kBlock) * blocks + block];
  }
  c[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}
