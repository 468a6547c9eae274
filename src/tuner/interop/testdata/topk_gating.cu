// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The gate of a mixture of experts: softmax over the experts' scores, the k largest with their places. A PyTorch
// extension, whose sizes come from tensors. For tests of `hone new`.
#include <torch/extension.h>

#include <vector>

__global__ void topk_gating_kernel(const float* scores, float* weights, int* experts, int tokens, int num_experts,
                                   int k) {
  const int token = blockIdx.x * blockDim.x + threadIdx.x;
  if (token >= tokens) return;
  const float* s = scores + token * num_experts;
  float largest = -INFINITY;
  for (int e = 0; e < num_experts; e++) largest = fmaxf(largest, s[e]);
  float sum = 0.0f;
  for (int e = 0; e < num_experts; e++) sum += expf(s[e] - largest);
  for (int j = 0; j < k; j++) {
    int best = -1;
    for (int e = 0; e < num_experts; e++) {
      bool taken = false;
      for (int i = 0; i < j; i++) taken = taken || experts[token * k + i] == e;
      if (!taken && (best < 0 || s[e] > s[best])) best = e;
    }
    experts[token * k + j] = best;
    weights[token * k + j] = expf(s[best] - largest) / sum;
  }
}

std::vector<torch::Tensor> topk_gating(torch::Tensor scores, int64_t k) {
  const int tokens = scores.size(0);
  const int num_experts = scores.size(1);
  auto weights = torch::empty({tokens, k}, scores.options());
  auto experts = torch::empty({tokens, k}, scores.options().dtype(torch::kInt32));
  const int threads = 128;
  topk_gating_kernel<<<(tokens + threads - 1) / threads, threads>>>(scores.data_ptr<float>(), weights.data_ptr<float>(),
                                                                    experts.data_ptr<int>(), tokens, num_experts, k);
  return {weights, experts};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("topk_gating", &topk_gating); }
