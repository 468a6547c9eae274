// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Infers facts about the tensors behind a kernel's pointers from its body: which are read, which are written, and how
// far indices reach. This is a guess, not a proof: the caller shows it to the user.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tuner/interop/cu_source.h"

namespace hone {

struct PointerUse {
  bool read = false, written = false;
  // Shapes suggested by accesses, in the kernel's own names; outermost first. An extent "@ids" is an axis whose places
  // are selected by elements of the pointer `ids`.
  std::vector<std::vector<std::string>> shapes;
  bool vector_access = false;  // through float4 and the like
  bool first = false;          // its first element is read or written by name: *p, p[0], atomicAdd(p, v)
  bool elsewhere = false;      // other elements are accessed too, or this is not known
  bool scattered = false;      // written at places that another pointer's elements select
  // Facts about a pointer whose elements select places.
  bool index = false;              // its elements stand in an index whose bound is not known
  bool offsets = false;            // p[i] and p[i + 1] are read: starts of rows
  bool padded = false;             // its elements are compared with numbers below zero: some mean nothing
  std::vector<std::string> below;  // sizes that its elements must stay below
};

struct KernelBounds {
  std::set<std::string> dims;     // integer parameters that are sizes
  std::vector<std::string> grid;  // extents of the launch in the kernel's names, as far as known; may be empty
};

// Returns one entry per pointer parameter, by name.
std::map<std::string, PointerUse> ReadPointerUses(const CuSource& source, const CuKernel& kernel,
                                                  const KernelBounds& bounds);

// Returns the shape with the most axes; nullopt when none was inferred.
std::optional<std::vector<std::string>> LikelyShape(const PointerUse& use);

}  // namespace hone
