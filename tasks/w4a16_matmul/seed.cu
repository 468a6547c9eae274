// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tensor cores in bfloat16, which hold integers from -8 to 7 exactly. Up to 64 rows, a block takes a group of 128 columns of x and w at a time:
// the bytes of w become bfloat16 on their way to shared memory, the products of a group are added up (mma m16n8k16) and then multiplied by the
// scales of its columns in float32. The next group is asked for while this one is multiplied. Several blocks share the groups of their columns
// and leave sums in float32, which a second kernel adds. More rows share the work of widening on Hopper: one kernel writes all scaled weights as
// bfloat16, and a second multiplies 256 rows and 128 columns in a block by wgmma, from tiles that arrive two steps ahead. Other GPUs take 64 rows
// at a time.
/*hone
[[workspace]]
name = "parts"
bytes = "m <= 64 ? max(1, min(min(8, 1056 / max(1, ceil_div(n, 64))), pairs / 64)) * m * n * 4 : 0"

[[workspace]]
name = "wide"
bytes = "cc == 90 && m > 64 && pairs % 64 == 0 ? n * pairs * 4 : 0"

[[launch]]
kernel = "multiply<16>"
grid   = ["ceil_div(n, 64)", "ceil_div(m, 16)", "max(1, min(min(8, 1056 / max(1, ceil_div(n, 64))), pairs / 64))"]
block  = ["128"]
shared = "(16 + 64) * 256"
args   = ["x", "w", "scale", "y", "parts", "m:i32", "n:i32", "pairs:i32"]
when   = "pairs % 64 == 0 && pairs > 0 && m <= 16"

[[launch]]
kernel = "multiply<64>"
grid   = ["ceil_div(n, 64)", "ceil_div(m, 64)", "m > 64 ? 1 : max(1, min(min(8, 1056 / max(1, ceil_div(n, 64))), pairs / 64))"]
block  = ["128"]
shared = "(64 + 64) * 256"
args   = ["x", "w", "scale", "y", "parts", "m:i32", "n:i32", "pairs:i32"]
when   = "pairs % 64 == 0 && pairs > 0 && (m <= 64 || cc != 90)"

[[launch]]
kernel = "widen"
grid   = ["ceil_div(n * (pairs / 16), 256)"]
block  = ["256"]
args   = ["w", "scale", "wide", "n * (pairs / 16):i64", "pairs:i32"]
when   = "pairs % 64 == 0 && pairs > 0"

[[launch]]
kernel = "multiply_any"
grid   = ["ceil_div(n, 32)", "ceil_div(m, 8)"]
block  = ["32", "8"]
args   = ["x", "w", "scale", "y", "m:i32", "n:i32", "pairs:i32"]

[[launch]]
step   = 1
kernel = "multiply_wide"
grid   = ["ceil_div(n, 128)", "ceil_div(m, 256)"]
block  = ["256"]
shared = "4 * (256 + 128) * 128 + 1024"
args   = ["x", "wide", "y", "m:i32", "n:i32", "2 * pairs:i32"]
when   = "cc == 90 && pairs % 64 == 0 && pairs > 0 && m > 64"

[[launch]]
step   = 1
kernel = "add_parts"
grid   = ["pairs % 64 == 0 && pairs > 0 && m <= 64 && max(1, min(min(8, 1056 / max(1, ceil_div(n, 64))), pairs / 64)) > 1 ? ceil_div(m * n, 256) : 0"]
block  = ["256"]
args   = ["parts", "y", "m * n:i32", "max(1, min(min(8, 1056 / max(1, ceil_div(n, 64))), pairs / 64)):i32"]
*/
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kGroup = 128;   // columns that share a scale
constexpr int kColumns = 64;  // of y, of a block

__device__ __forceinline__ unsigned SharedAddress(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void LoadMatrices(unsigned (&r)[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address));
}

__device__ __forceinline__ void Multiply(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Two integers of a byte as two bfloat16: 0x4300 is 128 and has integers in its last bits, so that 128 + (code ^ 8) less 136 is the number.
__device__ __forceinline__ unsigned Widen(unsigned byte) {
  const unsigned code = ((byte & 15u) | ((byte & 0xf0u) << 12)) ^ 0x43084308u;
  __nv_bfloat162 pair = *reinterpret_cast<const __nv_bfloat162*>(&code);
  pair = __hsub2(pair, __floats2bfloat162_rn(136.0f, 136.0f));
  return *reinterpret_cast<const unsigned*>(&pair);
}

// One of a thread's results: y itself, or a part of it where several blocks share the groups.
__device__ __forceinline__ void Store(__nv_bfloat16* y, float* parts, long long at, long long results, float sum) {
  if (gridDim.z == 1) {
    y[at] = __float2bfloat16(sum);
  } else {
    parts[blockIdx.z * results + at] = sum;
  }
}

// Shared memory: kRows rows of x, then 64 rows of w, 256 bytes each. The chunk c of 16 bytes of row r stands at c ^ (r % 8), so that eight
// rows at a chunk lie in different banks. Each of four warps has all rows of x and 16 columns.
template <int kRows>
__global__ void __launch_bounds__(128)
    multiply(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w, const __half* __restrict__ scale,
             __nv_bfloat16* __restrict__ y, float* __restrict__ parts, int m, int n, int pairs) {
  constexpr int kTiles = kRows / 16, kLoads = kRows * 16 / 128;  // chunks of x a thread copies
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned left = SharedAddress(shared), right = left + kRows * kGroup * 2;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kColumns, groups = pairs / 64;

  uint4 rows[kLoads], packed[2];
  const auto load = [&](int group) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = i * 128 + static_cast<int>(threadIdx.x), r = at / 16, chunk = at % 16;
      rows[i] = first_row + r < m
                    ? *reinterpret_cast<const uint4*>(x + (static_cast<long long>(first_row + r) * pairs + group * 64) * 2 + chunk * 8)
                    : make_uint4(0, 0, 0, 0);
    }
    // 64 bytes of a row of w are 128 integers: two threads have a row.
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int r = threadIdx.x / 2, chunk = threadIdx.x % 2 * 2 + i;
      packed[i] = first_column + r < n
                      ? *reinterpret_cast<const uint4*>(w + static_cast<long long>(first_column + r) * pairs + group * 64 + chunk * 16)
                      : make_uint4(0x88888888u, 0x88888888u, 0x88888888u, 0x88888888u);
    }
  };
  const int begin = static_cast<int>(blockIdx.z) * groups / static_cast<int>(gridDim.z);
  const int end = (static_cast<int>(blockIdx.z) + 1) * groups / static_cast<int>(gridDim.z);
  load(begin);
  float sums[kTiles][2][4] = {};
  for (int group = begin; group < end; ++group) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const int at = i * 128 + static_cast<int>(threadIdx.x), r = at / 16, chunk = at % 16;
      *reinterpret_cast<uint4*>(shared + r * 256 + ((chunk ^ (r & 7)) * 16)) = rows[i];
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int r = threadIdx.x / 2;
      const unsigned words[4] = {packed[i].x, packed[i].y, packed[i].z, packed[i].w};
#pragma unroll
      for (int j = 0; j < 4; ++j) {  // four bytes become eight numbers, a chunk
        const int chunk = (threadIdx.x % 2 * 2 + i) * 4 + j;
        const unsigned v = words[j];
        *reinterpret_cast<uint4*>(shared + kRows * 256 + r * 256 + ((chunk ^ (r & 7)) * 16)) =
            make_uint4(Widen(v & 255u), Widen((v >> 8) & 255u), Widen((v >> 16) & 255u), Widen(v >> 24));
      }
    }
    __syncthreads();
    if (group + 1 < end) load(group + 1);
    float part[kTiles][2][4] = {};
#pragma unroll
    for (int s = 0; s < kGroup / 16; ++s) {
      unsigned factors[4];
      const int of_w = warp * 16 + (lane >> 4) * 8 + (lane & 7), chunk_w = s * 2 + ((lane >> 3) & 1);
      LoadMatrices(factors, right + static_cast<unsigned>(of_w * 256 + ((chunk_w ^ (of_w & 7)) * 16)));
#pragma unroll
      for (int i = 0; i < kTiles; ++i) {
        unsigned of_x[4];
        const int r = i * 16 + ((lane >> 3) & 1) * 8 + (lane & 7), chunk = s * 2 + (lane >> 4);
        LoadMatrices(of_x, left + static_cast<unsigned>(r * 256 + ((chunk ^ (r & 7)) * 16)));
        Multiply(part[i][0], of_x, factors[0], factors[1]);
        Multiply(part[i][1], of_x, factors[2], factors[3]);
      }
    }
#pragma unroll
    for (int j = 0; j < 2; ++j) {
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int column = first_column + warp * 16 + j * 8 + t * 2 + e;
        const float of_group = column < n ? __half2float(scale[static_cast<long long>(column) * groups + group]) : 0.0f;
#pragma unroll
        for (int i = 0; i < kTiles; ++i) {
          sums[i][j][e] += part[i][j][e] * of_group;
          sums[i][j][2 + e] += part[i][j][2 + e] * of_group;
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kTiles; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + i * 16 + half * 8 + g;
      if (row >= m) continue;
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int column = first_column + warp * 16 + j * 8 + t * 2;
        const long long at = static_cast<long long>(row) * n + column, results = static_cast<long long>(m) * n;
        if (column < n) Store(y, parts, at, results, sums[i][j][2 * half]);
        if (column + 1 < n) Store(y, parts, at + 1, results, sums[i][j][2 * half + 1]);
      }
    }
  }
}

__global__ void add_parts(const float* __restrict__ parts, __nv_bfloat16* __restrict__ y, int results, int splits) {
  const int at = blockIdx.x * 256 + threadIdx.x;
  if (at >= results) return;
  float sum = 0.0f;
  for (int s = 0; s < splits; ++s) sum += parts[static_cast<long long>(s) * results + at];
  y[at] = __float2bfloat16(sum);
}

__device__ __forceinline__ void CopyAsync(unsigned to, const void* from, bool in_range) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(in_range ? 16 : 0));
}

// A thread widens 16 bytes of w, 32 numbers, and multiplies them by their scale. `chunks`: 16 bytes each, of all rows.
__global__ void widen(const unsigned char* __restrict__ w, const __half* __restrict__ scale, __nv_bfloat16* __restrict__ wide, long long chunks,
                      int pairs) {
  const long long at = static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;
  if (at >= chunks) return;
  const uint4 packed = reinterpret_cast<const uint4*>(w)[at];
  const unsigned words[4] = {packed.x, packed.y, packed.z, packed.w};
  const float factor = __half2float(scale[at / 4]);  // four chunks are a group
  uint4* const to = reinterpret_cast<uint4*>(wide) + at * 4;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    unsigned four[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const unsigned byte = words[j] >> (8 * i);
      const float low = static_cast<float>(static_cast<int>((byte & 15u) ^ 8u) - 8);
      const float high = static_cast<float>(static_cast<int>((byte >> 4 & 15u) ^ 8u) - 8);
      const __nv_bfloat162 pair = __floats2bfloat162_rn(low * factor, high * factor);
      four[i] = *reinterpret_cast<const unsigned*>(&pair);
    }
    to[j] = make_uint4(four[0], four[1], four[2], four[3]);
  }
}

// Where wgmma finds a tile of rows of 128 bytes whose chunk c of 16 bytes stands at c ^ (r % 8) in row r: groups of eight rows are 1024 bytes
// apart. The tile begins at a multiple of 1024.
__device__ __forceinline__ unsigned long long Tile(unsigned address) {
  return static_cast<unsigned long long>(address >> 4) | 1ULL << 16 | 64ULL << 32 | 1ULL << 62;
}

// c [64, 128] = a [64, 16] b [128, 16]^T, added to c if `add`. Compute capability 9.0 alone has this instruction.
#if __CUDA_ARCH__ == 900
__device__ __forceinline__ void MultiplyTiles(float (&c)[64], unsigned long long a_descriptor, unsigned long long b_descriptor, int add) {
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

// y [256, 128] of a block = x wide^T: both have rows of k numbers, a multiple of 128. Shared memory holds four steps of 64 columns: 256 rows
// of x, then 128 of wide, 128 bytes each, their chunks placed as above. Each of two warp groups has twice 64 rows. The tensor cores are a step
// behind the copies' barrier, so that they have work while threads wait for one another.
__global__ void __launch_bounds__(256, 1)
    multiply_wide(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ wide, __nv_bfloat16* __restrict__ y, int m, int n, int k) {
#if __CUDA_ARCH__ == 900
  constexpr int kRows = 256, kAcross = 128, kStages = 4, kStageBytes = (kRows + kAcross) * 128;
  extern __shared__ __align__(128) unsigned char shared[];
  const unsigned memory = (SharedAddress(shared) + 1023) & ~1023u;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32, g = lane / 4, t = lane % 4;
  const int first_row = blockIdx.y * kRows, first_column = blockIdx.x * kAcross, steps = k / 64, group_row = warp / 4 * 128;

  // A thread copies one chunk of every 32nd row.
  const int own_row = thread / 8, chunk = thread % 8;
  const unsigned own_place = static_cast<unsigned>(own_row * 128 + ((chunk ^ (own_row & 7)) * 16));
  const auto copy = [&](int step) {
    if (step < steps) {
      const unsigned to = memory + static_cast<unsigned>(step % kStages * kStageBytes) + own_place;
#pragma unroll
      for (int i = 0; i < (kRows + kAcross) / 32; ++i) {
        const bool of_x = i < kRows / 32;
        const int row = of_x ? first_row + own_row + i * 32 : first_column + own_row + i * 32 - kRows;
        const bool in_range = row < (of_x ? m : n);
        CopyAsync(to + i * 32 * 128, (of_x ? x : wide) + static_cast<long long>(in_range ? row : 0) * k + step * 64 + chunk * 8, in_range);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
#pragma unroll
  for (int s = 0; s < kStages - 2; ++s) copy(s);

  float sums[2][64] = {};
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 3) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");  // wgmma shall see what this thread has copied
    __syncthreads();  // everybody's wgmma of the step before last has ended, and its place is free
    copy(step + kStages - 2);
    const unsigned left = memory + static_cast<unsigned>(step % kStages * kStageBytes + group_row * 128);
    const unsigned right = memory + static_cast<unsigned>(step % kStages * kStageBytes + kRows * 128);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int s = 0; s < 4; ++s) {
#pragma unroll
      for (int i = 0; i < 2; ++i) MultiplyTiles(sums[i], Tile(left + i * 64 * 128 + s * 32), Tile(right + s * 32), 1);
    }
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + group_row + i * 64 + warp % 4 * 16 + half * 8 + g;
      if (row >= m) continue;
#pragma unroll
      for (int j = 0; j < 16; ++j) {
        const int column = first_column + j * 8 + t * 2;
        __nv_bfloat16* const to = y + static_cast<long long>(row) * n + column;
        const __nv_bfloat162 pair = __floats2bfloat162_rn(sums[i][4 * j + 2 * half], sums[i][4 * j + 2 * half + 1]);
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

__global__ void multiply_any(const __nv_bfloat16* __restrict__ x, const unsigned char* __restrict__ w, const __half* __restrict__ scale,
                             __nv_bfloat16* __restrict__ y, int m, int n, int pairs) {
  const int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
  if (row >= m || column >= n) return;
  const int groups = (pairs + 63) / 64;
  float sum = 0.0f;
  for (int group = 0; group < groups; ++group) {
    float part = 0.0f;
    for (int i = group * 64; i < min(pairs, (group + 1) * 64); ++i) {
      const int both = w[static_cast<long long>(column) * pairs + i];
      const __nv_bfloat16* const two = x + (static_cast<long long>(row) * pairs + i) * 2;
      part += __bfloat162float(two[0]) * static_cast<float>(((both & 15) ^ 8) - 8);
      part += __bfloat162float(two[1]) * static_cast<float>(((both >> 4) ^ 8) - 8);
    }
    sum += part * __half2float(scale[static_cast<long long>(column) * groups + group]);
  }
  y[static_cast<long long>(row) * n + column] = __float2bfloat16(sum);
}
