// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// An implicit matrix product on tensor cores: rows are the places of out, columns its filters, and what is summed are the filter's places times
// the channels, 64 at a time. A block has 128 places and 64 filters; the parts of image and weights that it needs next are copied to shared
// memory ahead of their use, with zeros for what lies outside the image. Channels that are no multiple of eight take a plain kernel.
/*hone
[tune]
STAGES = [3, 2, 4]

[[launch]]
kernel = "convolve<64>"
grid   = ["ceil_div(batch * max(0, (height + 2 * padding - kernel + step) / step) * max(0, (width + 2 * padding - kernel + step) / step), 128)", "ceil_div(filters, 64)"]
block  = ["256"]
shared = "STAGES * (128 + 64) * 128"
args   = ["image", "weight", "bias", "out", "batch * max(0, (height + 2 * padding - kernel + step) / step) * max(0, (width + 2 * padding - kernel + step) / step):i32", "height:i32", "width:i32", "channels:i32", "filters:i32", "kernel:i32",
          "step:i32", "padding:i32", "max(0, (height + 2 * padding - kernel + step) / step):i32", "max(0, (width + 2 * padding - kernel + step) / step):i32"]
when   = "channels % 8 == 0 && channels > 0"

[[launch]]
kernel = "convolve_any"
grid   = ["ceil_div(batch * max(0, (height + 2 * padding - kernel + step) / step) * max(0, (width + 2 * padding - kernel + step) / step) * filters, 128)"]
block  = ["128"]
args   = ["image", "weight", "bias", "out", "batch * max(0, (height + 2 * padding - kernel + step) / step) * max(0, (width + 2 * padding - kernel + step) / step):i32", "height:i32", "width:i32", "channels:i32", "filters:i32", "kernel:i32",
          "step:i32", "padding:i32", "max(0, (height + 2 * padding - kernel + step) / step):i32", "max(0, (width + 2 * padding - kernel + step) / step):i32"]
*/
#include <cuda_bf16.h>

constexpr int kPlaces = 128, kDepth = 64, kThreads = 256, kRowBytes = kDepth * 2;

__device__ __forceinline__ unsigned SharedAddress(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }

__device__ __forceinline__ void CopyAsync(unsigned to, const void* from, bool in_range) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(in_range ? 16 : 0));
}

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

// Where chunk c of 8 elements of a row of 64 stands, so that eight rows at a chunk lie in different banks.
__device__ __forceinline__ unsigned Place(int r, int c) { return static_cast<unsigned>(r * kRowBytes + ((c ^ (r & 7)) * 16)); }

// Eight warps, four times two: each has 32 places and half of the filters.
template <int kFilters>
__global__ void __launch_bounds__(kThreads)
    convolve(const __nv_bfloat16* __restrict__ image, const __nv_bfloat16* __restrict__ weight, const __nv_bfloat16* __restrict__ bias,
             __nv_bfloat16* __restrict__ out, int places, int height, int width, int channels, int filters, int kernel, int step, int padding,
             int out_height, int out_width) {
  constexpr int kStages = HONE_TUNE_STAGES, kStageBytes = (kPlaces + kFilters) * kRowBytes, kOwn = kFilters / 2;
  extern __shared__ __align__(128) unsigned char shared[];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const int first_place = blockIdx.x * kPlaces, first_filter = blockIdx.y * kFilters;
  const int warp_row = warp / 2 * 32, warp_column = warp % 2 * kOwn;
  const int parts = (channels + kDepth - 1) / kDepth, rounds = kernel * kernel * parts;
  const unsigned base = SharedAddress(shared);

  // A thread copies chunk threadIdx.x % 8 of every 32nd row from threadIdx.x / 8 on. Here are its places: the image and the filter's corner.
  constexpr int kCopies = kPlaces / 32;
  const int chunk = threadIdx.x % 8, first_copied = static_cast<int>(threadIdx.x) / 8;
  int images[kCopies], tops[kCopies], lefts[kCopies];
#pragma unroll
  for (int i = 0; i < kCopies; ++i) {
    const int place = min(first_place + i * 32 + first_copied, places - 1);
    const int x = place % out_width, y = place / out_width % out_height;
    images[i] = place / out_width / out_height * height;
    tops[i] = y * step - padding;
    lefts[i] = x * step - padding;
  }
  int next_i = 0, next_j = 0, next_part = 0;  // what the next copy brings
  const auto copy = [&](int round) {
    if (round < rounds) {
      const unsigned to = base + (round % kStages) * kStageBytes;
      const int c = next_part * kDepth + chunk * 8;
#pragma unroll
      for (int i = 0; i < kCopies; ++i) {
        const int r = i * 32 + first_copied, row = tops[i] + next_i, column = lefts[i] + next_j;
        const bool in_range = c < channels && row >= 0 && row < height && column >= 0 && column < width;
        CopyAsync(to + Place(r, chunk), image + (in_range ? (static_cast<long long>(images[i] + row) * width + column) * channels + c : 0), in_range);
      }
#pragma unroll
      for (int i = 0; i < kFilters / 32; ++i) {
        const int r = i * 32 + first_copied, filter = first_filter + r;
        const bool in_range = c < channels && filter < filters;
        const long long from = ((static_cast<long long>(filter) * kernel + next_i) * kernel + next_j) * channels + c;
        CopyAsync(to + kPlaces * kRowBytes + Place(r, chunk), weight + (in_range ? from : 0), in_range);
      }
      if (++next_part == parts) {
        next_part = 0;
        if (++next_j == kernel) {
          next_j = 0;
          ++next_i;
        }
      }
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int s = 0; s < kStages - 1; ++s) copy(s);

  float sums[2][kOwn / 8][4] = {};
  for (int round = 0; round < rounds; ++round) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2));
    __syncthreads();  // the part is there, and nobody reads the one that the next copy replaces
    copy(round + kStages - 1);
    const unsigned left = base + (round % kStages) * kStageBytes, right = left + kPlaces * kRowBytes;
#pragma unroll
    for (int s = 0; s < kDepth / 16; ++s) {
      unsigned a[2][4];
#pragma unroll
      for (int m = 0; m < 2; ++m) LoadMatrices(a[m], left + Place(warp_row + m * 16 + (lane & 15), s * 2 + (lane >> 4)));
#pragma unroll
      for (int n = 0; n < kOwn / 16; ++n) {
        unsigned b[4];
        LoadMatrices(b, right + Place(warp_column + n * 16 + (lane >> 4) * 8 + (lane & 7), s * 2 + ((lane >> 3) & 1)));
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          Multiply(sums[m][2 * n], a[m], b[0], b[1]);
          Multiply(sums[m][2 * n + 1], a[m], b[2], b[3]);
        }
      }
    }
  }
  asm volatile("cp.async.wait_all;");
#pragma unroll
  for (int n = 0; n < kOwn / 8; ++n) {
    const int filter = first_filter + warp_column + n * 8 + t * 2;
    if (filter >= filters) continue;
    const bool both = filter + 1 < filters;
    const float first = __bfloat162float(bias[filter]), second = both ? __bfloat162float(bias[filter + 1]) : 0.0f;
#pragma unroll
    for (int m = 0; m < 2; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int place = first_place + warp_row + m * 16 + half * 8 + g;
        if (place >= places) continue;
        __nv_bfloat16* const to = out + static_cast<long long>(place) * filters + filter;
        const __nv_bfloat162 pair = __floats2bfloat162_rn(sums[m][n][2 * half] + first, sums[m][n][2 * half + 1] + second);
        if (both && filters % 2 == 0) {
          *reinterpret_cast<__nv_bfloat162*>(to) = pair;
        } else {
          to[0] = pair.x;
          if (both) to[1] = pair.y;
        }
      }
    }
  }
}

__global__ void convolve_any(const __nv_bfloat16* __restrict__ image, const __nv_bfloat16* __restrict__ weight,
                             const __nv_bfloat16* __restrict__ bias, __nv_bfloat16* __restrict__ out, int places, int height, int width,
                             int channels, int filters, int kernel, int step, int padding, int out_height, int out_width) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= static_cast<long long>(places) * filters) return;
  const int o = static_cast<int>(n % filters), place = static_cast<int>(n / filters);
  const int top = place / out_width % out_height * step - padding, left = place % out_width * step - padding;
  const long long b = place / out_width / out_height;
  float sum = __bfloat162float(bias[o]);
  for (int i = max(0, -top); i < min(kernel, height - top); ++i) {
    for (int j = max(0, -left); j < min(kernel, width - left); ++j) {
      const __nv_bfloat16* const pixel = image + ((b * height + top + i) * width + left + j) * channels;
      const __nv_bfloat16* const factor = weight + ((static_cast<long long>(o) * kernel + i) * kernel + j) * channels;
      for (int c = 0; c < channels; ++c) sum += __bfloat162float(pixel[c]) * __bfloat162float(factor[c]);
    }
  }
  out[n] = __float2bfloat16(sum);
}
