// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the CUTLASS headers, which hold CuTe, lie on this machine, and whether they are new enough for the include set
// "cute". Files are looked at, nothing is run and no environment is read.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone {

inline constexpr int kLeastCutlassMajor = 4;
// The last 4.x with which hone/cute_fast_strides.cuh gave CuTe's own types and machine code; docs/cute.md says how to
// compare another.
inline constexpr int kLastComparedCutlassMinor = 7;

struct CutlassHeaders {
  std::string include;  // the folder that holds cute/ and cutlass/
  int major = 0, minor = 0, patch = 0;
};

// The headers in `folder`: an include folder itself, a CUTLASS checkout, or a place where the Python package
// nvidia-cutlass was put (its cutlass_library/source, or the folder above). Empty: the first that UsualCutlassFolders
// has. kUnavailable, in one sentence with the remedy, when there are none or they are older than 4.0.
Result<CutlassHeaders> FindCutlassHeaders(const std::string& folder);

// The folder of libcu++'s headers (it holds cuda/std/), which CUTLASS's need: of the toolkit at `cuda_home` or, where that is
// empty, in the usual places, or of the Python package nvidia-cuda-cccl. kUnavailable with the remedy.
Result<std::string> FindCcclHeaders(const std::string& cuda_home);

// /usr/local/cutlass, /opt/cutlass, the system's include folders, and the Python packages of `prefixes` (such as /usr).
std::vector<std::string> UsualCutlassFolders(const std::vector<std::string>& prefixes = {"/usr/local", "/usr"});

}  // namespace hone
