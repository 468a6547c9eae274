// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Multiplies matrices for the dense layers with cuBLASLt, which is loaded when first needed.
//
// All matrices are row-major. A plan fixes shapes, dtypes and algorithm once. Running it only enqueues work, so it can
// be captured in a graph. Sums are in fp32; fp32 operands use plain fp32 arithmetic, never TF32.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>

#include "gnn/cuda/base/element.h"
#include "hone/base/status.h"

namespace hone::gnn::cuda {

// The shape of out[m, n] = op(a) * op(b): a is [m, k], or [k, m] if transposed; b is [k, n], or [n, k] if transposed.
struct MatmulShape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  Element in = Element::kFloat32;   // dtype of a and b
  Element out = Element::kFloat32;
};

class Matmul {
 public:
  virtual ~Matmul() = default;
  // Enqueues the product, which uses the library's workspace. `out` must not overlap `a` or `b`.
  virtual Status Enqueue(const void* a, const void* b, void* out, cudaStream_t stream) = 0;
};

// Owns one handle and one workspace, so all its products must run on one stream at a time.
class MatmulLibrary {
 public:
  virtual ~MatmulLibrary() = default;
  virtual Result<std::unique_ptr<Matmul>> Plan(const MatmulShape& shape) = 0;
};

// Opens the library. kUnavailable, naming the searched places, if libcublasLt is not found.
Result<std::unique_ptr<MatmulLibrary>> OpenMatmulLibrary();
// Checks without a device whether the library can be found; returns OpenMatmulLibrary's error if not.
Status MatmulLibraryIsHere();

}  // namespace hone::gnn::cuda
