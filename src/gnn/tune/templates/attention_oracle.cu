// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to {{name}}, in double: first the maximum and the sum of each destination and head, a thread
// each, then a thread an output.
/*hone
[[workspace]]
name = "largest"
bytes = "num_dst * heads * 8"

[[workspace]]
name = "total"
bytes = "num_dst * heads * 8"

[[launch]]
kernel = "normaliser"
grid   = ["ceil_div(num_dst * heads, 128)"]
block  = ["128"]
args   = ["score_src", "score_dst", "self", "index", "degree", "largest", "total", "num_dst * heads:i64", "fanout:i64",
          "heads:i64", "negative_slope:f64"]

[[launch]]
step   = 1
kernel = "weighted_sum"
grid   = ["ceil_div(num_dst * heads * dim, 256)"]
block  = ["256"]
args   = ["x", "score_src", "score_dst", "self", "index", "degree", "largest", "total", "ref:out",
          "num_dst * heads * dim:i64", "fanout:i64", "heads:i64", "dim:i64", "negative_slope:f64"]
*/
{{oracle_head}}
__device__ double Logit(float source, float destination, double slope) {
  const double sum = HONE_ORACLE_MID(HONE_ORACLE_IN(source) + HONE_ORACLE_IN(destination));
  return sum > 0 ? sum : HONE_ORACLE_MID(slope * sum);
}

// Item 0 is the destination itself, item j + 1 its slot j. -1: does not count.
__device__ long long Source(const int* self, const int* index, const int* degree, long long fanout, long long vertex,
                            long long item) {
  if (item == 0) return self[vertex];
  if (item > degree[vertex]) return -1;
  const int source = index[vertex * fanout + item - 1];
  return source == self[vertex] ? -1 : source;
}

__global__ void normaliser(const float* score_src, const float* score_dst, const int* self, const int* index,
                           const int* degree, double* largest, double* total, long long count, long long fanout,
                           long long heads, double slope) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const long long vertex = t / heads;
  double top = Logit(score_src[self[vertex] * heads + t % heads], score_dst[t], slope);
  for (long long item = 1; item <= fanout; ++item) {
    const long long source = Source(self, index, degree, fanout, vertex, item);
    if (source < 0) continue;
    const double logit = Logit(score_src[source * heads + t % heads], score_dst[t], slope);
    if (logit > top) top = logit;
  }
  HONE_ORACLE_ACC sum = 0;
  for (long long item = 0; item <= fanout; ++item) {
    const long long source = Source(self, index, degree, fanout, vertex, item);
    if (source < 0) continue;
    sum += HONE_ORACLE_MID(exp(Logit(score_src[source * heads + t % heads], score_dst[t], slope) - top));
  }
  largest[t] = top;
  total[t] = static_cast<double>(sum);
}

__global__ void weighted_sum(const {{type}}* x, const float* score_src, const float* score_dst, const int* self,
                             const int* index, const int* degree, const double* largest, const double* total,
                             double* out, long long elements, long long fanout, long long heads, long long dim,
                             double slope) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  const long long row = i / dim;  // of a destination and a head
  const long long vertex = row / heads;
  HONE_ORACLE_ACC sum = 0;
  for (long long item = 0; item <= fanout; ++item) {
    const long long source = Source(self, index, degree, fanout, vertex, item);
    if (source < 0) continue;
    const double logit = Logit(score_src[source * heads + row % heads], score_dst[row], slope);
    const double weight = HONE_ORACLE_MID(exp(logit - largest[row]) / total[row]);
    sum += weight * HONE_ORACLE_IN(static_cast<float>(x[source * dim + i % dim]));
  }
  out[i] = static_cast<double>(sum);
}
