// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to top_k, and the residuals of a candidate's places. A thread counts for one number how many are
// larger, and how many equal ones stand before it: that is its rank, one of each. It visits its row in an order that
// jumps about, because a thread of a sorted row would otherwise meet the larger numbers last.
/*hone
[[launch]]
kernel = "rank_numbers"
grid   = ["ceil_div(rows * d, 128)"]
block  = ["128"]
args   = ["x", "ref:values", "rows * d:i64", "d:i64", "k:i64"]

[[launch]]
step   = 1
kernel = "residuals"
grid   = ["ceil_div(rows, 64)"]
block  = ["64"]
args   = ["x", "ids", "ref:values", "ref:membership", "ref:distinct", "rows:i64", "d:i64", "k:i64"]
*/

// Returns a step near the golden section of d which has no divisor in common with d, so that places 0, step, 2 step, …
// modulo d are each place once.
__device__ long long step_of(long long d) {
  for (long long step = max(1LL, static_cast<long long>(0.6180339887 * d));; ++step) {
    long long a = d, b = step;
    while (b != 0) {
      const long long rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1) return step;
  }
}

__global__ void rank_numbers(const float* x, double* values, long long count, long long d, long long k) {
  const long long n = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (n >= count) return;
  const float* const row = x + n / d * d;
  const float mine = x[n];
  const long long place = n % d, step = step_of(d);
  long long rank = 0, i = 0;
  // Most numbers of a long row are soon known to be none of the largest.
  for (long long seen = 0; seen < d && rank < k; ++seen) {
    rank += row[i] > mine || (row[i] == mine && i < place);
    i += step;
    if (i >= d) i -= d;
  }
  if (rank < k) values[n / d * k + rank] = mine;
}

__global__ void residuals(const float* x, const int* ids, double* values, double* membership, double* distinct,
                          long long rows, long long d, long long k) {
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  double twice = 0;
  for (long long j = 0; j < k; ++j) {
    const int place = ids[row * k + j];
    const bool there = place >= 0 && place < d;
    membership[row * k + j] = there && static_cast<double>(x[row * d + place]) == values[row * k + j] ? 0.0 : 1.0;
    for (long long i = 0; i < j; ++i) twice += ids[row * k + i] == place;
  }
  distinct[row] = twice;
}
