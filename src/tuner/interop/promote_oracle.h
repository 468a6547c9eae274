// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites a kernel in double precision as a first oracle: mechanically, and only where this is sound.
//
// Such an oracle finds errors of later rewrites and of lower precision. It cannot find errors of the kernel itself, and
// says so; a lasting task has [[hand]] cases or an oracle of its own.
//
// Some code is refused, with reasons: code whose meaning depends on the width of a float (vector stores, packed halves,
// bit patterns, assembly, tensor cores). Inputs are read through HONE_ORACLE_IN, so that `hone tasks check` can try
// lower precisions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hone/tuner/task.h"
#include "tuner/interop/cu_source.h"

namespace hone {

struct PromotedParameter {
  TensorRole role = TensorRole::kIn;
  DType dtype = DType::kFloat32;
};

struct KernelToPromote {
  const CuKernel* kernel = nullptr;
  std::vector<std::string> template_args;               // one per template parameter
  std::map<std::string, PromotedParameter> parameters;  // pointers to floats by name; others are workspaces
  std::set<std::string> integers;                       // pointers to integers: their types stay as they are
};

struct PromotedCode {
  std::string text;                  // device code with the kernels under their names
  std::vector<std::string> reasons;  // not empty: the rewriting failed, and `text` is empty
};

// Derives an oracle from a kernel. `device_code` is the result of DeviceCode(), after `lines_before` lines of seed.cu.
// A kernel's in-place tensors must hold their input, as double, in the `ref:` argument; for each name in `in_place`, a
// kernel `hone_copy_NAME` that does this is added.
PromotedCode PromoteToDouble(const std::string& device_code, int lines_before,
                             const std::vector<KernelToPromote>& kernels, const std::map<std::string, DType>& in_place);

}  // namespace hone
