// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Replaces the simulator's runtime in tests of the headers alone: one warp whose lanes are OS threads, with barriers
// between them. It checks nothing and counts nothing; every lane must take part in every collective. The real runtime's
// behaviour has its own tests.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"

namespace hone::testing {

// Runs `lane_function` once per lane of a block of 32 threads and returns when all have returned.
void RunWarp(const std::function<void()>& lane_function);

// Returns the first bytes of the memory that device code sees as shared: 32-bit addresses count from its start.
unsigned char* SharedMemory();
inline constexpr size_t kSharedBytes = 65536;

// Returns the multiply-adds counted by hone_sim_count_mma since the start.
uint64_t CountedMultiplyAdds();

// Device code compiled at test time by the compiler that built the test: `source` after RewriteInlinePtx, behind
// hone_cuda.h, as a shared library without access hooks. Functions are looked up by their C name.
class DeviceCode {
 public:
  static Result<std::unique_ptr<DeviceCode>> Compile(const std::string& source);
  ~DeviceCode();
  void* Find(const char* name) const;
  template <typename F>
  F* Function(const char* name) const {
    return reinterpret_cast<F*>(Find(name));
  }

 private:
  DeviceCode() = default;
  void* library_ = nullptr;
};

// Runs the compiler on `source` (its standard input) with the headers' directories and `flags`; returns its standard
// output, or its messages as a Status.
Result<std::string> RunHostCompiler(const std::string& source, const std::vector<std::string>& flags);

}  // namespace hone::testing
