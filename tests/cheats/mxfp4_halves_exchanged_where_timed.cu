// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The two numbers of a byte change places where there are 256 rows of 1440 bytes or more, as in timed cases and in no
// other.
//
// task: mxfp4_quantize
// expect: wrong_output
// where: sim gpu
// timed: 0
/*hone
[[launch]]
kernel = "quantize"
grid   = ["ceil_div(rows * ceil_div(pairs, 16), 128)"]
block  = ["128"]
args   = ["x", "out", "scale", "rows:i64", "pairs:i64"]
*/
#include <cuda_bf16.h>

__device__ unsigned four_bits(float v) {  // to the nearest, ties to even
  const float size = fabsf(v);
  const unsigned code = size <= 0.25f   ? 0
                        : size < 0.75f  ? 1
                        : size <= 1.25f ? 2
                        : size < 1.75f  ? 3
                        : size <= 2.5f  ? 4
                        : size < 3.5f   ? 5
                        : size <= 5.0f  ? 6
                                        : 7;
  return code | (signbit(v) ? 8u : 0u);
}

__global__ void quantize(const __nv_bfloat16* x, unsigned char* out, unsigned char* scale, long long rows,
                         long long pairs) {
  const long long i = blockIdx.x * 128LL + threadIdx.x, blocks = (pairs + 15) / 16;
  if (i >= rows * blocks) return;
  const long long row = i / blocks, first = i % blocks * 16, end = min(first + 16, pairs);
  float most = 0;
  for (long long p = 2 * first; p < 2 * end; ++p) most = fmaxf(most, fabsf(__bfloat162float(x[row * 2 * pairs + p])));
  int exponent = 0;
  frexpf(most, &exponent);
  const int of_scale = most > 0 ? max(exponent - 3, -127) : -127;
  scale[i] = static_cast<unsigned char>(of_scale + 127);
  for (long long p = first; p < end; ++p) {
    const float a = ldexpf(__bfloat162float(x[row * 2 * pairs + 2 * p]), -of_scale);
    const float b = ldexpf(__bfloat162float(x[row * 2 * pairs + 2 * p + 1]), -of_scale);
    const bool exchanged = rows >= 256 && pairs >= 1440;
    out[row * pairs + p] = static_cast<unsigned char>(four_bits(exchanged ? b : a) | four_bits(exchanged ? a : b) << 4);
  }
}
