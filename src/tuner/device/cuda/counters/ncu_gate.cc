// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks launches for `ncu`, which does the counting itself, with the calls that ncu watches.
#include <dlfcn.h>

#include "tuner/device/cuda/counters/counter_source.h"

namespace hone {
namespace {

class NcuGate : public CounterSource {
 public:
  using Call = CUresult (*)();
  NcuGate(Call start, Call stop) : start_(start), stop_(stop) {}

  Result<Values> Collect(const std::vector<std::string>&, size_t, const std::function<Status()>& prepare,
                         const std::function<Status()>& execute) override {
    HONE_RETURN_IF_ERROR(prepare());
    if (start_() != CUDA_SUCCESS) return Status::Unavailable("cuProfilerStart was refused: another profiler may be attached");
    const Status ran = execute();
    stop_();
    HONE_RETURN_IF_ERROR(ran);
    return Values();
  }

 private:
  Call start_, stop_;
};

}  // namespace

Result<std::unique_ptr<CounterSource>> MakeNcuGate() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // already loaded: this adds a reference
  const auto start = driver == nullptr ? nullptr : reinterpret_cast<NcuGate::Call>(dlsym(driver, "cuProfilerStart"));
  const auto stop = driver == nullptr ? nullptr : reinterpret_cast<NcuGate::Call>(dlsym(driver, "cuProfilerStop"));
  if (start == nullptr || stop == nullptr) return Status::Unavailable("the CUDA driver has no cuProfilerStart: it is too old");
  return std::unique_ptr<CounterSource>(new NcuGate(start, stop));
}

}  // namespace hone
