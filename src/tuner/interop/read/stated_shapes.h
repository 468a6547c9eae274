// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the shapes of tensors that a .cu file states outside its kernels: by sizes that host code reads from tensors,
// by memory that it allocates, and in comments.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/interop/read/cu_source.h"

namespace hone {

struct StatedShape {
  std::vector<std::string> extents;  // as written, outermost first
  std::string where;                 // "x.size()", "torch::empty", "a comment in line 7"
};

// Returns the shape of the tensor that host code calls `name`, from statements such as rows = x.size(0) and x =
// torch::empty({rows, d}); nullopt unless the extent of every axis is stated. `function`: index of the host function in
// source.functions; -1: none.
std::optional<StatedShape> ShapeFromHost(const CuSource& source, int function, const std::string& name);

// Returns the shapes that comments state for the tensor `name`: "x: [rows, d]", "q, k: (tokens, heads, width)", and
// "[rows, d]" behind a parameter on the same line. An extent may be any text, even "...": the caller decides what it
// can use.
std::vector<StatedShape> ShapesFromComments(const CuSource& source, const std::string& name);

// Returns the number of elements, as one extent, that host code passes to cudaMalloc(&x, n * sizeof(float)) or
// cudaMemset(x, 0, …); nullopt: there is no such call.
std::optional<StatedShape> ElementsFromHost(const CuSource& source, int function, const std::string& name);

// Returns the name of the PyTorch function with which host code makes the tensor: "empty", "zeros_like", …; empty:
// there is none.
std::string MadeBy(const CuSource& source, int function, const std::string& name);

}  // namespace hone
