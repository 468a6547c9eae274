// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the matrix products of matmul.h for the emulated runtime by plain loops. Operands are as the device holds
// them, sums are in fp32 in the order of k, and the result is rounded once to the output's type.
#include "gnn/cuda/kernels/matmul.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "gnn/cuda/base/cuda_support.h"
#include "gnn/cuda/emulated/runtime.h"

namespace hone::gnn::cuda {
namespace {

template <typename T>
float ValueAt(const void* data, int64_t i) {
  return static_cast<float>(static_cast<const T*>(data)[i]);
}

// Returns [rows, cols] as fp32, transposed if requested.
std::vector<float> ToFloatMatrix(const void* data, Element element, int64_t rows, int64_t cols, bool transpose) {
  std::vector<float> out(static_cast<size_t>(rows * cols));
  const auto fill = [&](auto value_at) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        out[static_cast<size_t>(transpose ? c * rows + r : r * cols + c)] = value_at(data, r * cols + c);
      }
    }
  };
  switch (element) {
    case Element::kFloat32: fill(ValueAt<float>); break;
    case Element::kFloat16: fill(ValueAt<__half>); break;
    case Element::kBFloat16: fill(ValueAt<__nv_bfloat16>); break;
  }
  return out;
}

void Store(const std::vector<float>& row, Element element, void* out, int64_t at) {
  switch (element) {
    case Element::kFloat32:
      std::memcpy(static_cast<float*>(out) + at, row.data(), row.size() * sizeof(float));
      break;
    case Element::kFloat16:
      for (size_t i = 0; i < row.size(); ++i) static_cast<__half*>(out)[at + static_cast<int64_t>(i)] = __half(row[i]);
      break;
    case Element::kBFloat16:
      for (size_t i = 0; i < row.size(); ++i) {
        static_cast<__nv_bfloat16*>(out)[at + static_cast<int64_t>(i)] = __nv_bfloat16(row[i]);
      }
      break;
  }
}

void Multiply(const MatmulShape& shape, const void* a, const void* b, void* out) {
  const std::vector<float> matrix_a = shape.transpose_a
                                          ? ToFloatMatrix(a, shape.in, shape.k, shape.m, /*transpose=*/true)
                                          : ToFloatMatrix(a, shape.in, shape.m, shape.k, /*transpose=*/false);
  const std::vector<float> matrix_b = shape.transpose_b
                                          ? ToFloatMatrix(b, shape.in, shape.n, shape.k, /*transpose=*/true)
                                          : ToFloatMatrix(b, shape.in, shape.k, shape.n, /*transpose=*/false);
  std::vector<float> row(static_cast<size_t>(shape.n));
  for (int64_t i = 0; i < shape.m; ++i) {
    std::fill(row.begin(), row.end(), 0.0f);
    for (int64_t k = 0; k < shape.k; ++k) {
      const float factor = matrix_a[static_cast<size_t>(i * shape.k + k)];
      const float* from = matrix_b.data() + k * shape.n;
      for (size_t j = 0; j < row.size(); ++j) row[j] += factor * from[j];
    }
    Store(row, shape.out, out, i * shape.n);
  }
}

class EmulatedMatmul final : public Matmul {
 public:
  explicit EmulatedMatmul(const MatmulShape& shape) : shape_(shape) {}
  Status Enqueue(const void* a, const void* b, void* out, cudaStream_t stream) override {
    const auto word = [](auto value) { return static_cast<uint64_t>(value); };
    const auto address = [](const void* pointer) { return reinterpret_cast<uint64_t>(pointer); };
    const uint64_t arguments[] = {word(shape_.m), word(shape_.n), word(shape_.k), word(shape_.transpose_a),
                                  word(shape_.transpose_b), word(shape_.in), word(shape_.out),
                                  address(a), address(b), address(out)};
    HONE_CUDA_RETURN_IF_ERROR(emulated::Enqueue(
        stream, "matmul", [shape = shape_, a, b, out] { Multiply(shape, a, b, out); }, arguments));
    return Status::Ok();
  }

 private:
  MatmulShape shape_;
};

class EmulatedLibrary final : public MatmulLibrary {
 public:
  Result<std::unique_ptr<Matmul>> Plan(const MatmulShape& shape) override {
    if (shape.m < 1 || shape.n < 1 || shape.k < 1) return Status::Device("a matrix product of no size");
    return std::unique_ptr<Matmul>(std::make_unique<EmulatedMatmul>(shape));
  }
};

}  // namespace

Status MatmulLibraryIsHere() { return Status::Ok(); }

Result<std::unique_ptr<MatmulLibrary>> OpenMatmulLibrary() {
  return std::unique_ptr<MatmulLibrary>(std::make_unique<EmulatedLibrary>());
}

}  // namespace hone::gnn::cuda
