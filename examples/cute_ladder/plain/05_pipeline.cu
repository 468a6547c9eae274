// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Step 5, and with it step 4, without CuTe: the swizzled places written out as exclusive ors. It needs no CUTLASS headers,
// and the simulated GPU runs it, which is how the ladder's arithmetic is judged where there is no GPU; that these places
// are those of the layouts is tested (cute_ladder_layout_test.cc).
/*hone
[tune]
STAGES = [4, 3, 5]

[[launch]]
kernel = "pipeline<STAGES>"
grid   = ["ceil_div(m, 128) * ceil_div(n, 128)"]
block  = ["256"]
shared = "STAGES * 16384"
args   = ["a", "b", "c", "m:i32", "n:i32", "k:i32"]
when   = "n % 8 == 0 && k % 8 == 0"

[[launch]]
kernel = "any_shape"
grid   = ["ceil_div(m * n, 256)"]
block  = ["256"]
args   = ["a", "b", "c", "m:i64", "n:i64", "k:i64"]
*/
#include <cuda_bf16.h>

using Element = __nv_bfloat16;
constexpr int kBK = 32;
__device__ __forceinline__ constexpr int AtA(int row, int k) { return (row * 32 + k) ^ (((row * 32 + k) >> 3) & 0x18); }
__device__ __forceinline__ constexpr int AtB(int column, int k) { return (k * 128 + column) ^ (((k * 128 + column) >> 4) & 0x38); }

__device__ __forceinline__ unsigned Shared(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__device__ __forceinline__ void Copy(Element* to, const Element* from, bool inside) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(Shared(to)), "l"(from), "r"(inside ? 16 : 0) : "memory");
}
__device__ __forceinline__ void LoadA(const Element* from, unsigned (&r)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(Shared(from)));
}
__device__ __forceinline__ void LoadB(const Element* from, unsigned (&r)[2], unsigned (&q)[2]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(q[0]), "=r"(q[1])
               : "r"(Shared(from)));
}
__device__ __forceinline__ void Mma(float (&s)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Sixteen bytes of each of two rows of both tiles: a thread's share of one step of K. Vectors that begin inside a matrix
// end inside it, and those outside arrive as zeros.
__device__ __forceinline__ void Fetch(const Element* a, const Element* b, Element* a_tile, Element* b_tile, int row,
                                      int column, int first_k, int m, int n, int k) {
  const int thread = threadIdx.x;
  #pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int ra = thread / 4 + 64 * i, ka = thread % 4 * 8;     // of a's tile: row, K
    const int kb = thread / 16 + 16 * i, nb = thread % 16 * 8;   // of b's tile: K, column
    const bool in_a = row + ra < m && first_k + ka < k, in_b = first_k + kb < k && column + nb < n;
    const Element* from_a = in_a ? a + (long long)(row + ra) * k + first_k + ka : a;
    const Element* from_b = in_b ? b + (long long)(first_k + kb) * n + column + nb : b;
    Copy(a_tile + AtA(ra, ka), from_a, in_a);
    Copy(b_tile + AtB(nb, kb), from_b, in_b);
  }
  asm volatile("cp.async.commit_group;");
}

// Sixteen steps of K for a warp: four fragments of 16 rows of a, and of b two times two fragments of 8 columns.
struct Fragments {
  unsigned a[4][4], b[4][2];
  __device__ __forceinline__ void Load(const Element* a_tile, const Element* b_tile, int row, int column, int first_k) {
    const int low = threadIdx.x % 16, high = threadIdx.x % 32 / 16 * 8;
    #pragma unroll
    for (int i = 0; i < 4; ++i) {
      LoadA(a_tile + AtA(row + 16 * i + low, first_k + high), a[i]);
    }
    #pragma unroll
    for (int j = 0; j < 4; j += 2) {
      LoadB(b_tile + AtB(column + 8 * j + high, first_k + low), b[j], b[j + 1]);
    }
  }
};

__device__ __forceinline__ void Multiply(const Fragments& f, float (&sum)[4][4][4]) {
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      Mma(sum[i][j], f.a[i], f.b[j]);
    }
  }
}

template <int kStages>
__global__ void __launch_bounds__(256) pipeline(const Element* a, const Element* b, Element* c, int m, int n, int k) {
  constexpr int kTileA = 128 * 32, kTileB = 32 * 128;
  extern __shared__ __align__(128) unsigned char raw[];
  Element* a_shared = reinterpret_cast<Element*>(raw);
  Element* b_shared = a_shared + kStages * kTileA;
  const int tiles_n = (n + 127) / 128;
  const int row = blockIdx.x / tiles_n * 128, column = blockIdx.x % tiles_n * 128;
  const int thread = threadIdx.x;
  const int warp_row = thread / 128 * 64, warp_column = thread / 32 % 4 * 32;  // 2 x 4 warps of 64 x 32 results
  const int steps = (k + kBK - 1) / kBK;
  const auto fetch = [&](int step) {
    const int s = step % kStages;
    if (step < steps) {
      Fetch(a, b, a_shared + s * kTileA, b_shared + s * kTileB, row, column, step * kBK, m, n, k);
    } else {
      asm volatile("cp.async.commit_group;");  // an empty group: waits count groups
    }
  };

  Fragments fragments[2];
  float sum[4][4][4] = {};
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
  __syncthreads();
  if (steps > 0) fragments[0].Load(a_shared, b_shared, warp_row, warp_column, 0);
  for (int step = 0; step < steps; ++step) {
    const int s = step % kStages, next = (step + 1) % kStages;
    fragments[1].Load(a_shared + s * kTileA, b_shared + s * kTileB, warp_row, warp_column, 16);
    fetch(step + kStages - 1);  // into the stage that everyone left at the last barrier
    Multiply(fragments[0], sum);
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();  // the next step's tiles are there
    if (step + 1 < steps) fragments[0].Load(a_shared + next * kTileA, b_shared + next * kTileB, warp_row, warp_column, 0);
    Multiply(fragments[1], sum);
  }
  asm volatile("cp.async.wait_group 0;" ::: "memory");

  // A lane holds pairs of neighbouring columns, in rows lane / 4 and lane / 4 + 8 of every 16 x 8 results.
  const int lane = thread % 32;
  #pragma unroll
  for (int i = 0; i < 4; ++i) {
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
      #pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int r = row + warp_row + 16 * i + 8 * h + lane / 4, q = column + warp_column + 8 * j + lane % 4 * 2;
        if (r < m && q < n) {
          *reinterpret_cast<__nv_bfloat162*>(c + (long long)(r) * n + q) =
              __floats2bfloat162_rn(sum[i][j][2 * h], sum[i][j][2 * h + 1]);
        }
      }
    }
  }
}

// What 16-byte copies cannot bring.
__global__ void any_shape(const Element* a, const Element* b, Element* c, long long m, long long n, long long k) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0;
  for (long long j = 0; j < k; ++j) sum += __bfloat162float(a[i / n * k + j]) * __bfloat162float(b[j * n + i % n]);
  c[i] = __float2bfloat16_rn(sum);
}
