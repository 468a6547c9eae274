// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Packs a model's tensors for exact inference, on the host, and runs products with them on the device.
//
// Weights are read once. Widths are padded to multiples of 8, and padding is zero. Folded weights are computed in
// double and rounded once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/base/element.h"
#include "gnn/cuda/kernels/matmul.h"
#include "hone/base/status.h"
#include "hone/gnn/model.h"

namespace hone::gnn::cuda {

inline constexpr int64_t kNowhere = -1;

// The two pools of packed tensors. A place in a pool is an offset in elements; kNowhere stands for no tensor.
struct ExactWeights {
  std::vector<float> weights;  // converted to the products' dtype on the device
  std::vector<float> vectors;  // in fp32
};

// The places of a normalisation's vectors, for (x - mean) * scale + shift.
struct ExactNorm {
  int64_t mean = kNowhere, scale = kNowhere, shift = kNowhere;
};

// A layer of graph attention by linearity (ops/attention.h).
struct ExactAttention {
  int64_t folded = kNowhere;  // [2 * heads, padded in] in vectors
  int64_t in = 0, out = 0;    // padded columns of a head's gathered rows, and of the result
  int64_t weight = kNowhere;  // [out, heads * in]
};

// Copies named tensors to the pools. A missing tensor, or one of another size, makes status() a kInvalidArgument that
// names it; what is packed after that is meaningless.
class ExactPacker {
 public:
  // Borrows both arguments.
  ExactPacker(Model<float>& model, ExactWeights& to);
  const Status& status() const { return status_; }

  // Returns the tensor; an empty vector if the model has no tensor of this name with `size` values.
  const std::vector<float>& Tensor(const std::string& name, int64_t size);
  // Reserves zeros in a pool and returns where they begin, a multiple of 64.
  int64_t ReserveWeights(int64_t count) { return Reserve(to_.weights, count); }
  int64_t ReserveVectors(int64_t count) { return Reserve(to_.vectors, count); }
  // Copies a block [rows, cols] of `tensor`, whose rows are `tensor_stride` apart, to the weights at `at`, where rows
  // are `stride` apart.
  void Put(const std::vector<float>& tensor, int64_t rows, int64_t cols, int64_t tensor_stride, int64_t at,
           int64_t stride);
  // Packs a whole vector and returns where it lies.
  int64_t Vector(const std::string& name, int64_t size);
  // Packs a whole weight as [padded out, padded in] and returns where it lies.
  int64_t Matrix(const std::string& name, int64_t out, int64_t in);
  // Reads the normalisation `prefix` + weight, bias, running_mean and running_var. `linear_bias` names the bias of the
  // preceding Linear, which is folded in by shifting running_mean; empty: none.
  ExactNorm Normalisation(const std::string& prefix, const std::string& linear_bias, int64_t width);
  // Reads the attention `prefix` + lin.weight [heads * width, in], att_src and att_dst. One product serves all heads:
  // the heads' weights are blocks on a diagonal if heads are concatenated, and side by side if they are averaged.
  ExactAttention Attention(const std::string& prefix, int64_t in, int64_t width, int64_t heads, bool concatenate);

 private:
  bool ok() const { return status_.ok(); }
  static int64_t Reserve(std::vector<float>& pool, int64_t count);

  std::map<std::string, const std::vector<float>*> tensors_;
  ExactWeights& to_;  // where the packed weights go
  Status status_;
};

// The model's weights on the device, packed in one array a dtype, and the products of blocks of rows with them.
class ExactProducts {
 public:
  // `matmuls` is borrowed and must outlive the products. A product has `product_rows` rows, so the memory of a block
  // must be a multiple of them: the last product may reach past the block's valid rows.
  Status Make(const ExactWeights& packed, Element element, int64_t product_rows, MatmulLibrary& matmuls);
  // Enqueues to = from * W^T, with from [rows, in] in the products' dtype, the packed weight W [out, in] at `weight`,
  // and to [rows, out] in the dtype `result`.
  Status Enqueue(int64_t rows, int64_t in, int64_t out, int64_t weight, Element result, const void* from, void* to,
                 cudaStream_t stream);
  const float* Vector(int64_t at) const { return at == kNowhere ? nullptr : vectors_.get() + at; }
  static int64_t Bytes(const ExactWeights& packed, Element element);

 private:
  Element element_ = Element::kBFloat16;
  int64_t product_rows_ = 0;
  MatmulLibrary* matmuls_ = nullptr;
  std::map<std::tuple<int64_t, int64_t, Element>, std::unique_ptr<Matmul>> plans_;
  DeviceArray<unsigned char> weights_;
  DeviceArray<float> vectors_;
};

}  // namespace hone::gnn::cuda
