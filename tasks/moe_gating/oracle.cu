// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The trusted answer to moe_gating, in double, and the residuals of a candidate's experts. One thread a token: the next
// largest logit is the largest below the one before, or an equal one that is left.
/*hone
[[launch]]
kernel = "gate"
grid   = ["ceil_div(tokens, 64)"]
block  = ["64"]
args   = ["logits", "experts", "ref:weights", "ref:membership", "ref:distinct", "tokens:i64", "num_experts:i64",
          "top_k:i64"]
*/

// The linter compiles the oracle again with other definitions of these, to see what a kernel of lower
// precision would answer: the type sums are kept in, how inputs are read, how intermediate values are kept.
#ifndef HONE_ORACLE_ACC
#define HONE_ORACLE_ACC double
#endif
#ifndef HONE_ORACLE_IN
#define HONE_ORACLE_IN(x) static_cast<double>(x)
#endif
#ifndef HONE_ORACLE_MID
#define HONE_ORACLE_MID(x) (x)
#endif

__global__ void gate(const float* logits, const int* experts, double* weights, double* membership, double* distinct,
                     long long tokens, long long num_experts, long long top_k) {
  const long long token = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  const float* const row = logits + token * num_experts;
  // The logit of rank j goes to membership[j] first; that of rank 0 is the largest of all.
  float bound = 0;
  long long taken = 0;  // ranks that `bound` and what is larger have
  for (long long j = 0; j < top_k; ++j) {
    if (j == taken) {
      float next = 0;
      bool found = false;
      for (long long e = 0; e < num_experts; ++e) {
        if ((j == 0 || row[e] < bound) && (!found || row[e] > next)) {
          next = row[e];
          found = true;
        }
      }
      bound = next;
      for (long long e = 0; e < num_experts; ++e) taken += row[e] == bound;
    }
    membership[token * top_k + j] = bound;
  }
  const double largest = top_k > 0 ? HONE_ORACLE_IN(static_cast<float>(membership[token * top_k])) : 0.0;
  HONE_ORACLE_ACC sum = 0;
  for (long long j = 0; j < top_k; ++j) {
    sum += HONE_ORACLE_MID(exp(HONE_ORACLE_IN(static_cast<float>(membership[token * top_k + j])) - largest));
  }
  double twice = 0;
  for (long long j = 0; j < top_k; ++j) {
    const double logit = membership[token * top_k + j];
    const double weight = HONE_ORACLE_MID(exp(HONE_ORACLE_IN(static_cast<float>(logit)) - largest));
    weights[token * top_k + j] = weight / static_cast<double>(sum);
    const int named = experts[token * top_k + j];
    const bool there = named >= 0 && named < num_experts;
    membership[token * top_k + j] = there ? fabs(1.0 - exp(static_cast<double>(row[named]) - logit)) : 1e30;
    for (long long i = 0; i < j; ++i) twice += experts[token * top_k + i] == named;
  }
  distinct[token] = twice;
}
