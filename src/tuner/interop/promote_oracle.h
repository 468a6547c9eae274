// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A kernel's own algorithm in double precision, as a first oracle: a mechanical rewriting, made only where it is sound.
//
// Such an oracle finds what a rewrite breaks and what lower precision loses. It cannot find what the kernel itself gets
// wrong, and says so; a task for keeps has [[hand]] cases or an oracle of its own.
//
// Refused, with reasons: code whose meaning depends on the width of a float (vector stores, packed halves, bit
// patterns, assembly, tensor cores). Inputs are read through HONE_ORACLE_IN, so that `hone tasks check` can try lower
// precisions.
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
  std::vector<std::string> template_args;               // one a template parameter
  std::map<std::string, PromotedParameter> parameters;  // pointers to floats by name; others are workspaces
  std::set<std::string> integers;                       // pointers to integers: their types stay as they are
};

struct PromotedCode {
  std::string text;                  // device code with the kernels under their names
  std::vector<std::string> reasons;  // not empty: `text` is empty, it cannot be done
};

// `device_code`: as DeviceCode() gave it, after `lines_before` lines of seed.cu. A kernel's in-place tensors are
// expected to hold their input, as double, in what `ref:` passes; a kernel `hone_copy_NAME` for that is added for each
// name in `in_place`.
PromotedCode PromoteToDouble(const std::string& device_code, int lines_before,
                             const std::vector<KernelToPromote>& kernels, const std::map<std::string, DType>& in_place);

}  // namespace hone
