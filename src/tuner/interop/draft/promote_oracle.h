// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Rewrites a kernel in double precision as a task's first oracle. The rewriting is mechanical, and is done only where
// it is sound.
//
// Such an oracle finds errors of later rewrites and of lower precision. It cannot find errors of the kernel itself, as
// its first comment says; a task for lasting use should have [[hand]] cases or an independent oracle.
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
#include "tuner/interop/read/cu_source.h"

namespace hone {

struct PromotedParameter {
  TensorRole role = TensorRole::kIn;
  DType dtype = DType::kFloat32;
};

struct KernelToPromote {
  const CuKernel* kernel = nullptr;                     // the kernel in the user's file
  std::vector<std::string> template_args;               // one per template parameter
  std::map<std::string, PromotedParameter> parameters;  // pointers to floating types; absent: a workspace
  std::set<std::string> integers;                       // pointers to integers, whose types are kept
};

struct PromotedCode {
  std::string text;                  // the rewritten device code; kernels keep their names
  std::vector<std::string> reasons;  // why the code is refused; not empty: `text` is empty
};

// Returns `device_code`, a result of DeviceCode(), with `kernels` in double precision. It stands behind `lines_before`
// lines in seed.cu, which counts for the line numbers in `reasons`. The rewritten kernels update in-place tensors in
// their `ref:` arguments, so that the input must be copied there first: for each tensor in `in_place` a kernel
// `hone_copy_NAME` that does this is added.
PromotedCode PromoteToDouble(const std::string& device_code, int lines_before,
                             const std::vector<KernelToPromote>& kernels, const std::map<std::string, DType>& in_place);

}  // namespace hone
