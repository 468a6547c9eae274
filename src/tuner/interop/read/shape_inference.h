// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Infers facts about the tensors behind a kernel's pointers from its body: which are read, which are written, and how
// large indices can be. The facts are guesses, not proofs: the caller shows them to the user.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/interop/read/cu_source.h"

namespace hone {

// How a kernel uses one of its pointers.
struct PointerUse {
  bool read = false, written = false;  // elements are read; elements are written
  // Shapes that accesses suggest, in the kernel's own names; outermost axis first. The extent "@ids" means that
  // elements of the pointer `ids` are the indices of this axis.
  std::vector<std::vector<std::string>> shapes;
  bool vector_access = false;  // accessed through float4 or another vector type
  bool first = false;          // the first element is accessed as such: *p, p[0], atomicAdd(p, v)
  bool elsewhere = false;      // other elements are accessed, or may be
  bool scattered = false;      // elements of another pointer select where it is written
  // Facts about a pointer to integers that serve as indices:
  bool index = false;              // its elements are used as an index of unknown bound
  bool offsets = false;            // p[i] and p[i + 1] are read: its elements are where rows begin
  bool padded = false;             // the kernel tests for negative elements, which select nothing
  std::vector<std::string> below;  // exclusive bounds of its elements
};

struct KernelBounds {
  std::set<std::string> dims;     // integer parameters that are sizes
  std::vector<std::string> grid;  // extents of the launch in the kernel's names, as far as known; may be empty
};

// Returns how `kernel` uses its pointers: one entry for each pointer parameter, by name.
std::map<std::string, PointerUse> ReadPointerUses(const CuSource& source, const CuKernel& kernel,
                                                  const KernelBounds& bounds);

// Returns the suggested shape with the most axes; nullopt when no access suggests one.
std::optional<std::vector<std::string>> LikelyShape(const PointerUse& use);

}  // namespace hone
