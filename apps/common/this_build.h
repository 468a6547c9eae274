// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Build facts are what a program knows about its own build; `--version` prints them (build_facts.h). No date is among
// them, so that the same source built twice gives the same bytes.
#pragma once

#include <string>

namespace hone {

struct BuildFacts {
  std::string version;               // "0.1.0"
  std::string commit;                // 40 hexadecimal digits; empty: built from files without a git repository
  bool uncommitted_changes = false;  // the files differed from that commit
  std::string compiler;              // "GNU 12.2.0"
  std::string build_type;            // "Release"
  std::string cuda_toolkit;          // "13.0.88"; empty: built without CUDA
  std::string cuda_architectures;    // "80, 90a": the GPUs that Hone's own kernels were compiled for
  bool slow_kernels = false;  // those kernels were compiled without optimisation, as in CI: their times mean nothing
};

BuildFacts ThisBuild();

}  // namespace hone
