// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// HostLibrary is a host-mode candidate's shared library, loaded into this process and called.
//
// Loading runs the library's static initialisers and calling it runs its code, here, with all rights of this process.
// So use it only in a worker of its own that was started confined (HostModeWorkerPolicy) and ends after the job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/sandbox.h"
#include "hone/base/status.h"

namespace hone {

class HostLibrary {
 public:
  // Loads `image`, the bytes that HostModeCompiler made. kInvalidArgument, with the loader's message, when it does not
  // load: the candidate's fault (an undefined symbol, a missing library).
  static Result<std::unique_ptr<HostLibrary>> Load(std::string_view image);
  ~HostLibrary();
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;

  // Returns the bytes of each parameter, the stream (the last) left out.
  const std::vector<size_t>& parameter_bytes() const { return parameter_bytes_; }

  // Explains why `sizes` (bytes of each argument) cannot be passed, as a sentence; empty when they can.
  std::string Mismatch(const std::vector<size_t>& sizes) const;

  // Calls the function: arguments[i] points to parameter_bytes()[i] bytes; `stream` is a CUstream. Returns the
  // function's result (0: success), or kHostCallThrew. The caller waits for the work on the device.
  int Call(const std::vector<const void*>& arguments, void* stream) const;

 private:
  HostLibrary() = default;
  UniqueFd file_;
  void* handle_ = nullptr;
  int (*call_)(const void* const*) = nullptr;
  std::vector<size_t> parameter_bytes_;
};

// Returns the policy of a worker that runs host-mode candidates. It may read the system's libraries, the NVIDIA
// driver's wherever the loader finds them, the toolkit under `cuda_home` and what the driver reads of /proc and /sys;
// name its threads; use the GPU's device files; execute `program` (itself) and nothing else. It may create no
// processes, open no connection, and write nothing but `scratch` (empty: nothing).
SandboxPolicy HostModeWorkerPolicy(const std::string& program, const std::string& cuda_home, const std::string& scratch);

}  // namespace hone
