// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file is part of the fake PyTorch (torch/extension.h). It has the functions that generated bindings call in place
// of a plan's library calls: matrix products in float32, computed on the host, and a convolution that computes nothing.
#pragma once

#include <torch/extension.h>

#include <cmath>
#include <optional>
#include <string>

namespace at {

using torch::ScalarType;
constexpr ScalarType kFloat = torch::kFloat32, kHalf = torch::kFloat16, kBFloat16 = torch::kBFloat16;
constexpr int kCUDA = torch::kCUDA;

struct TensorOptions {
  TensorOptions dtype(ScalarType) const { return *this; }
  TensorOptions device(int, int) const { return *this; }
};
struct NoTF32Guard {
  NoTF32Guard() {}
};

// A view of float32 memory.
class Tensor {
 public:
  Tensor(float* data, std::vector<int64_t> shape) : data_(data), shape_(std::move(shape)), strides_(shape_.size(), 1) {
    for (size_t i = shape_.size(); i-- > 1;) strides_[i - 1] = strides_[i] * shape_[i];
  }
  Tensor transpose(int, int) const {  // swaps the last two axes
    Tensor turned = *this;
    std::swap(turned.shape_[shape_.size() - 1], turned.shape_[shape_.size() - 2]);
    std::swap(turned.strides_[shape_.size() - 1], turned.strides_[shape_.size() - 2]);
    return turned;
  }
  Tensor expand(std::vector<int64_t>) const { return *this; }
  Tensor& copy_(const Tensor&) { return *this; }
  int64_t extent(int from_the_end) const { return shape_[shape_.size() - static_cast<size_t>(from_the_end)]; }
  int64_t batch() const { return shape_.size() > 2 ? shape_[0] : 1; }
  float& at(int64_t batch, int64_t row, int64_t column) const {
    return data_[(shape_.size() > 2 ? batch * strides_[0] : 0) + row * strides_[shape_.size() - 2] +
                 column * strides_.back()];
  }
  float element(int64_t i) const { return data_[i]; }

 private:
  float* data_;
  std::vector<int64_t> shape_, strides_;
};

inline Tensor from_blob(void* memory, const std::vector<int64_t>& shape, TensorOptions) {
  return {static_cast<float*>(memory), shape};
}

template <typename After>
void Product(Tensor& out, const Tensor& a, const Tensor& b, const Tensor* bias, After after) {
  for (int64_t g = 0; g < out.batch(); ++g) {
    for (int64_t i = 0; i < out.extent(2); ++i) {
      for (int64_t j = 0; j < out.extent(1); ++j) {
        float sum = bias == nullptr ? 0.0f : bias->element(j);
        for (int64_t k = 0; k < a.extent(1); ++k) sum += a.at(g, i, k) * b.at(g, k, j);
        out.at(g, i, j) = after(sum);
      }
    }
  }
}
inline float Same(float x) { return x; }
inline float Relu(float x) { return x > 0 ? x : 0; }
inline float GeluTanh(float x) { return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x))); }

inline void mm_out(Tensor& out, const Tensor& a, const Tensor& b) { Product(out, a, b, nullptr, Same); }
inline void bmm_out(Tensor& out, const Tensor& a, const Tensor& b) { Product(out, a, b, nullptr, Same); }
inline void addmm_out(Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b) {
  Product(out, a, b, &bias, Same);
}
inline void baddbmm_out(Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b) {
  Product(out, a, b, &bias, Same);
}
inline void _addmm_activation_out(Tensor& out, const Tensor& bias, const Tensor& a, const Tensor& b, double, double,
                                  bool gelu) {
  Product(out, a, b, &bias, gelu ? GeluTanh : Relu);
}
template <typename F>
void Each(Tensor& out, F after) {
  for (int64_t g = 0; g < out.batch(); ++g) {
    for (int64_t i = 0; i < out.extent(2); ++i) {
      for (int64_t j = 0; j < out.extent(1); ++j) out.at(g, i, j) = after(out.at(g, i, j));
    }
  }
}
inline void relu_(Tensor& out) { Each(out, Relu); }
inline void gelu_(Tensor& out, const std::string&) { Each(out, GeluTanh); }
inline Tensor convolution(const Tensor& input, const Tensor&, const std::optional<Tensor>&, const std::vector<int64_t>&,
                          const std::vector<int64_t>&, const std::vector<int64_t>&, bool, const std::vector<int64_t>&,
                          int64_t) {
  return input;
}

}  // namespace at

namespace c10::cuda {
inline int current_device() { return 0; }
}  // namespace c10::cuda
