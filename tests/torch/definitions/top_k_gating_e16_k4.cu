// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
/*hone
[[launch]]
kernel = "gating"
grid   = ["ceil_div(tokens, 64)"]
block  = ["64"]
args   = ["logits", "taken", "weights", "ids", "tokens:i64"]
*/
__global__ void gating(const float* logits, const unsigned char* taken, float* weights, int* ids, long long tokens) {
  const long long token = static_cast<long long>(blockIdx.x) * 64 + threadIdx.x;
  if (token >= tokens) return;
  const float* row = logits + token * 16;
  unsigned used = 0;
  float value[4], sum = 0.0f;
  for (int k = 0; k < 4; ++k) {
    int best = -1;
    float most = 0.0f;
    for (int e = 0; e < 16; ++e) {
      const float one = taken[e] != 0 ? row[e] : -1e30f;
      if ((used >> e & 1u) == 0 && (best < 0 || one > most)) {
        best = e;
        most = one;
      }
    }
    used |= 1u << best;
    ids[token * 4 + k] = best;
    value[k] = expf(most - (k == 0 ? most : value[0]));
    if (k == 0) {
      value[0] = most;
    } else {
      sum += value[k];
    }
  }
  sum += 1.0f;
  weights[token * 4] = 1.0f / sum;
  for (int k = 1; k < 4; ++k) weights[token * 4 + k] = value[k] / sum;
}
