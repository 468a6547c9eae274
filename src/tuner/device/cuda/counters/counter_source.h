// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads hardware counters. A GPU counts few things at a time, so the same work is executed repeatedly, with another
// group of counters each time, until all have been read.
//
// Bound to one context; used from the thread that holds it.
#pragma once

#include <cuda.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

class CounterSource {
 public:
  virtual ~CounterSource() = default;

  // Counts the kernels that `execute` launches. Returns one map for each of them, in launch order: values by metric
  // name (hone/tuner/profile.h), without metrics that this GPU lacks. Empty if another program counts (ncu). `prepare`
  // is called before each `execute` and is not counted; `execute` launches at most `most_kernels` and waits for them.
  // kUnavailable: counters may not be read here; the message is one sentence with the remedy. Other errors are those of
  // `prepare` and `execute`, or the library's.
  using Values = std::vector<std::map<std::string, double>>;
  virtual Result<Values> Collect(const std::vector<std::string>& metrics, size_t most_kernels,
                                 const std::function<Status()>& prepare, const std::function<Status()>& execute) = 0;
};

// Makes a source on CUPTI's range profiler, loaded from the first of `libraries` that exists. kUnavailable, with the
// remedy, if there is none, if it is too old, and in a build without CUPTI's headers.
Result<std::unique_ptr<CounterSource>> MakeCuptiCounters(CUcontext context, int device_ordinal,
                                                         const std::vector<std::string>& libraries);
// Makes a source for a process that runs under `ncu --profile-from-start off`.
Result<std::unique_ptr<CounterSource>> MakeNcuGate();
// Returns paths of libcupti: its name for the loader, then paths beside the toolkit's usual folders.
std::vector<std::string> CuptiLibraries();

}  // namespace hone
