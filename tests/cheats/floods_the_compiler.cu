// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the compiler report thousands of errors.
//
// task: relu
// expect: compile_error
// where: sim gpu
/*hone
[[launch]]
kernel = "cheat"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64"]
*/
#define A1(x) int x = "nothing"; int x##b = "nothing"; int x##c = "nothing"; int x##d = "nothing";
#define A2(x) A1(x##1) A1(x##2) A1(x##3) A1(x##4) A1(x##5) A1(x##6) A1(x##7) A1(x##8)
#define A3(x) A2(x##1) A2(x##2) A2(x##3) A2(x##4) A2(x##5) A2(x##6) A2(x##7) A2(x##8)
#define A4(x) A3(x##1) A3(x##2) A3(x##3) A3(x##4) A3(x##5) A3(x##6) A3(x##7) A3(x##8)
#define A5(x) A4(x##1) A4(x##2) A4(x##3) A4(x##4)
A5(flood)

__global__ void cheat(const float* x, float* out, long long n) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  if (i < n) out[i] = x[i];
}
