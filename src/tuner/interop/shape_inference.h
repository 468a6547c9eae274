// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's body tells about the tensors behind its pointers: who is read, who is written, and how far indices
// reach. A reading, not a proof: the caller shows it to the user.
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
  // What accesses suggest, over the kernel's own names; outermost first. An extent "@ids" stands for an axis along
  // which elements of the pointer `ids` choose.
  std::vector<std::vector<std::string>> shapes;
  bool vector_access = false;  // through float4 and the like
  bool first = false;          // its first element is read or written by name: *p, p[0], atomicAdd(p, v)
  bool elsewhere = false;      // so are others, or it cannot be told
  bool scattered = false;      // written where another pointer's elements say
  // Of a pointer whose elements choose places.
  bool index = false;              // its elements stand in an index whose bound is not known
  bool offsets = false;            // p[i] and p[i + 1] are read: where rows begin
  bool padded = false;             // its elements are compared with what is below zero: some stand for nothing
  std::vector<std::string> below;  // sizes that its elements must stay below
};

struct KernelBounds {
  std::set<std::string> dims;     // integer parameters that stand for sizes
  std::vector<std::string> grid;  // extents of the launch in the kernel's names where known; may be empty
};

// One entry a pointer parameter, by name.
std::map<std::string, PointerUse> ReadPointerUses(const CuSource& source, const CuKernel& kernel,
                                                  const KernelBounds& bounds);

// The shape with the most axes; nullopt when nothing was understood.
std::optional<std::vector<std::string>> LikelyShape(const PointerUse& use);

}  // namespace hone
