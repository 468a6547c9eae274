// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds the rows that one layer of exact inference computes for the next, for every node, in memory or in an unnamed
// file.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hone/base/status.h"
#include "hone/gnn/layer.h"

namespace hone::gnn {

// A matrix [rows, cols] of floats, initially zero. Pages that are never written take no memory. The destructor unmaps
// it.
class Activations {
 public:
  Activations() = default;
  Activations(Activations&& other) noexcept
      : matrix_(std::exchange(other.matrix_, {})), bytes_(std::exchange(other.bytes_, 0)) {}
  Activations& operator=(Activations&& other) noexcept;
  ~Activations();

  // Makes the matrix in an unnamed file of `folder`, or in memory if `folder` is empty. kIo, or kResourceExhausted with
  // the bytes that were needed.
  static Result<Activations> Make(int64_t rows, int64_t cols, const std::string& folder);

  const Matrix<float>& matrix() const { return matrix_; }

 private:
  Matrix<float> matrix_;
  size_t bytes_ = 0;
};

}  // namespace hone::gnn
