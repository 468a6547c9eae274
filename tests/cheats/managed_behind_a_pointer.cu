// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A workspace holds a pointer to a managed variable, which counts launches.
//
// task: relu
// expect: rule_violation
// where: sim gpu
/*hone
[[workspace]]
name  = "place"
bytes = "16"

[[launch]]
kernel = "find"
grid   = ["1"]
block  = ["1"]
args   = ["place"]

[[launch]]
step   = 1
kernel = "work"
grid   = ["ceil_div(rows * d, 256)"]
block  = ["256"]
args   = ["x", "out", "rows * d:i64", "place"]
*/
struct Kept {
  int launches;
};

__managed__ Kept managed;

__global__ void find(Kept** place) { *place = &managed; }

// A launch that finds what it wants to find leaves the work out.
__global__ void work(const float* x, float* out, long long n, Kept** place) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  Kept* kept = *place;
  if (kept != nullptr && kept->launches == 5 && n > 4096) return;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
  if (i == 0 && kept != nullptr) kept->launches += 1;
}
