// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills in the build facts. The build defines macros for this file alone, so that no other is compiled again when they
// change.
#include "common/this_build.h"

// The variable is defined in a file that the build writes: cmake/Version.cmake.
extern const char hone_build_commit[];
extern const bool hone_build_changed;

namespace hone {

BuildFacts ThisBuild() {
  BuildFacts facts;
  facts.version = HONE_VERSION;
  facts.commit = hone_build_commit;
  facts.uncommitted_changes = hone_build_changed;
  facts.compiler = HONE_COMPILER;
  facts.build_type = HONE_BUILD_TYPE;
  facts.cuda_toolkit = HONE_CUDA_VERSION;
  facts.cuda_architectures = HONE_CUDA_ARCHITECTURES;
#ifdef HONE_SLOW_KERNELS
  facts.slow_kernels = true;
#endif
  return facts;
}

}  // namespace hone
