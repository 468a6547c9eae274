// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A static variable of a function template counts launches. Its symbol is mangled and local, and kernels know it by a pointer in a
// workspace alone.
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

namespace {
template <int kWhich>
__device__ Kept* Hidden() {
  static __device__ Kept kept;
  return &kept;
}
}  // namespace

__global__ void find(Kept** place) { *place = Hidden<3>(); }

// A launch that finds what it wants to find leaves the work out.
__global__ void work(const float* x, float* out, long long n, Kept** place) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  Kept* kept = *place;
  if (kept != nullptr && kept->launches == 5 && n > 4096) return;
  if (i < n) out[i] = fmaxf(x[i], 0.0f);
  if (i == 0 && kept != nullptr) kept->launches += 1;
}
