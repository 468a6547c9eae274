// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file finds the CUTLASS headers, which hold CuTe, on this machine and checks that they are new enough for the
// include set "cute". It only reads files: it runs nothing and reads no environment.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone {

inline constexpr int kLeastCutlassMajor = 4;
// This is the last minor version of CUTLASS 4 with which hone/cute_fast_strides.cuh gave CuTe's own types and machine
// code; docs/cute.md says how to compare another.
inline constexpr int kLastComparedCutlassMinor = 7;

struct CutlassHeaders {
  std::string include;  // the folder that holds cute/ and cutlass/
  int major = 0, minor = 0, patch = 0;
};

// Finds the headers in `folder`: an include folder itself, a CUTLASS checkout, or a place where the Python package
// nvidia-cutlass was put (its cutlass_library/source, or the folder above). With an empty `folder`, the first of
// UsualCutlassFolders that has headers is taken. kUnavailable, in one sentence with the remedy, when there are none or
// they are older than 4.0.
Result<CutlassHeaders> FindCutlassHeaders(const std::string& folder);

// Returns the folder of libcu++'s headers (it holds cuda/std/), which CUTLASS's headers need. It belongs to the toolkit
// at `cuda_home`, or to one in the usual places if that is empty, or to the Python package nvidia-cuda-cccl.
// kUnavailable with the remedy.
Result<std::string> FindCcclHeaders(const std::string& cuda_home);

// Returns /usr/local/cutlass, /opt/cutlass, the system's include folders, and the Python packages of `prefixes` (such
// as /usr).
std::vector<std::string> UsualCutlassFolders(const std::vector<std::string>& prefixes = {"/usr/local", "/usr"});

}  // namespace hone
