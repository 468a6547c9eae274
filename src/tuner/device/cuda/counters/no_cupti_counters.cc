// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces cupti_counters.cc for toolkits without the headers of CUPTI's range profiler (older than 12.6, or installed
// in part).
#include "tuner/device/cuda/counters/counter_source.h"

namespace hone {

Result<std::unique_ptr<CounterSource>> MakeCuptiCounters(CUcontext, int, const std::vector<std::string>&) {
  return Status::Unavailable("this build has no CUPTI: install a CUDA toolkit of 12.6 or newer with CUPTI and build again, or put `ncu` "
                             "(Nsight Compute) on the PATH");
}

std::vector<std::string> CuptiLibraries() { return {}; }

}  // namespace hone
