// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a .cu file says about the shapes of its tensors apart from how kernels index them: sizes that host code asks
// tensors for, memory that it makes, and comments.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/interop/cu_source.h"

namespace hone {

struct StatedShape {
  std::vector<std::string> extents;  // as they are written there, outermost first
  std::string where;                 // "x.size()", "torch::empty", "a comment in line 7"
};

// The shape of the tensor that host code calls `name`, from rows = x.size(0) and x = torch::empty({rows, d}); nullopt
// when not every axis is told. `function`: index of the host function, -1: none.
std::optional<StatedShape> ShapeFromHost(const CuSource& source, int function, const std::string& name);

// From comments: "x: [rows, d]", "q, k: (tokens, heads, width)", and "[rows, d]" behind a parameter in its line.
// Extents are whatever stands there, "..." too: the caller decides what it can use.
std::vector<StatedShape> ShapesFromComments(const CuSource& source, const std::string& name);

// The number of elements in cudaMalloc(&x, n * sizeof(float)) or cudaMemset(x, 0, …).
std::optional<StatedShape> ElementsFromHost(const CuSource& source, int function, const std::string& name);

// What host code makes the tensor with: "empty", "zeros_like", …; empty where it does not make it by PyTorch.
std::string MadeBy(const CuSource& source, int function, const std::string& name);

}  // namespace hone
