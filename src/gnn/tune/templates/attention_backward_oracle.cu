// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to {{name}}, in double: first the products of the gradient with every item's row, a thread each, then a
// thread for each destination and head.
/*hone
[[workspace]]
name = "dots"
bytes = "num_dst * (fanout + 1) * heads * 8"

[[launch]]
kernel = "products"
grid   = ["ceil_div(num_dst * (fanout + 1) * heads, 128)"]
block  = ["128"]
args   = ["x", "grad_out", "self", "index", "degree", "dots", "num_dst * (fanout + 1) * heads:i64", "fanout:i64",
          "heads:i64", "dim:i64"]

[[launch]]
step   = 1
kernel = "gradients"
grid   = ["ceil_div(num_dst * heads, 128)"]
block  = ["128"]
args   = ["weight", "self", "index", "degree", "dots", "ref:grad_logit", "num_dst * heads:i64", "fanout:i64", "heads:i64",
          "negative_slope:f64"]
*/
{{oracle_head}}
// Item 0 is the destination itself, item j + 1 its slot j. -1: does not count.
__device__ long long Source(const int* self, const int* index, const int* degree, long long fanout, long long vertex,
                            long long item) {
  if (item == 0) return self[vertex];
  if (item > degree[vertex]) return -1;
  const int source = index[vertex * fanout + item - 1];
  return source == self[vertex] ? -1 : source;
}

__global__ void products(const {{type}}* x, const {{type}}* grad_out, const int* self, const int* index,
                         const int* degree, double* dots, long long count, long long fanout, long long heads,
                         long long dim) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const long long item = t / heads % (fanout + 1), vertex = t / heads / (fanout + 1);
  const long long source = Source(self, index, degree, fanout, vertex, item);
  HONE_ORACLE_ACC sum = 0;
  if (source >= 0) {
    for (long long column = 0; column < dim; ++column) {
      sum += HONE_ORACLE_IN(static_cast<float>(x[source * dim + column])) *
             HONE_ORACLE_IN(static_cast<float>(grad_out[(vertex * heads + t % heads) * dim + column]));
    }
  }
  dots[t] = HONE_ORACLE_MID(static_cast<double>(sum));
}

__global__ void gradients(const float* weight, const int* self, const int* index, const int* degree, const double* dots,
                          double* grad_logit, long long count, long long fanout, long long heads, double slope) {
  const long long t = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (t >= count) return;
  const long long vertex = t / heads;
  HONE_ORACLE_ACC expected = 0;
  for (long long item = 0; item <= fanout; ++item) {
    if (Source(self, index, degree, fanout, vertex, item) < 0) continue;
    const long long at = (vertex * (fanout + 1) + item) * heads + t % heads;
    expected += HONE_ORACLE_MID(fabs(HONE_ORACLE_IN(weight[at])) * dots[at]);
  }
  for (long long item = 0; item <= fanout; ++item) {
    const long long at = (vertex * (fanout + 1) + item) * heads + t % heads;
    const double w = HONE_ORACLE_IN(weight[at]);
    const bool counts = Source(self, index, degree, fanout, vertex, item) >= 0;
    const double through = fabs(w) * (w < 0 ? slope : 1.0);
    grad_logit[at] = counts ? through * HONE_ORACLE_MID(dots[at] - static_cast<double>(expected)) : 0.0;
  }
}
