// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds shapes of tensors that a .cu file states outside its kernels: sizes that host code reads from tensors, memory
// that it allocates, and comments.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/interop/cu_source.h"

namespace hone {

struct StatedShape {
  std::vector<std::string> extents;  // as written, outermost first
  std::string where;                 // "x.size()", "torch::empty", "a comment in line 7"
};

// Returns the shape of the tensor that host code calls `name`, from rows = x.size(0) and x = torch::empty({rows, d});
// nullopt unless every axis is stated. `function`: index of the host function, -1: none.
std::optional<StatedShape> ShapeFromHost(const CuSource& source, int function, const std::string& name);

// Returns shapes from comments: "x: [rows, d]", "q, k: (tokens, heads, width)", and "[rows, d]" after a parameter in
// its line. Extents are any text, even "...": the caller decides what it can use.
std::vector<StatedShape> ShapesFromComments(const CuSource& source, const std::string& name);

// Returns the number of elements in cudaMalloc(&x, n * sizeof(float)) or cudaMemset(x, 0, …).
std::optional<StatedShape> ElementsFromHost(const CuSource& source, int function, const std::string& name);

// Returns the function by which host code makes the tensor: "empty", "zeros_like", …; empty if PyTorch does not make
// it.
std::string MadeBy(const CuSource& source, int function, const std::string& name);

}  // namespace hone
