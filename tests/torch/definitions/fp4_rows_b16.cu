// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sums of packed 4-bit floats, a thread for each row.
/*hone
[[launch]]
kernel = "sum_rows"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["packed", "scale", "sums", "rows:i32"]
*/
__global__ void sum_rows(const unsigned char* packed, const float* scale, float* sums, int rows) {
  const float table[8] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = 0; i < 16; ++i) {
    const int byte = packed[row * 16 + i];
    const float low = (byte & 8) ? -table[byte & 7] : table[byte & 7];
    const float high = (byte & 128) ? -table[byte >> 4 & 7] : table[byte >> 4 & 7];
    sum += fabsf(low + high);
  }
  sums[row] = sum * scale[row];
}
