// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file finds the CUTLASS headers, which contain CuTe, on this machine and checks that they are new enough for the
// include set "cute". It only reads files: it runs nothing and reads no environment variables.
#pragma once

#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// The oldest major version of CUTLASS that the include set "cute" accepts.
inline constexpr int kLeastCutlassMajor = 4;
// The last minor version of CUTLASS 4 that was compared: with it, hone/cute_fast_strides.cuh gives the same types and
// machine code as CuTe alone. docs/design/0033 says what compares another version.
inline constexpr int kLastComparedCutlassMinor = 7;

struct CutlassHeaders {
  std::string include;  // path of the folder that contains cute/ and cutlass/
  int major = 0, minor = 0, patch = 0;
};

// Finds the headers in `folder`: an include folder itself, a CUTLASS checkout, or a place where the Python package
// nvidia-cutlass was put (its cutlass_library/source, or the folder above). With an empty `folder`, the first of
// UsualCutlassFolders that has headers is taken. Returns kUnavailable, with the remedy, when there are no headers or
// they are older than 4.0.
Result<CutlassHeaders> FindCutlassHeaders(const std::string& folder);

// Returns the folder of libcu++'s headers, which CUTLASS's headers need: the folder that contains cuda/std/. It belongs
// to the toolkit at `cuda_home` (empty: to one in the usual places) or to the Python package nvidia-cuda-cccl. Returns
// kUnavailable, with the remedy, when there is none.
Result<std::string> FindCcclHeaders(const std::string& cuda_home);

// Returns /usr/local/cutlass, /opt/cutlass, the system's include folders, and the Python packages of `prefixes` (such
// as /usr).
std::vector<std::string> UsualCutlassFolders(const std::vector<std::string>& prefixes = {"/usr/local", "/usr"});

}  // namespace hone
