// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// HostLibrary is a host-mode candidate's shared library, loaded into this process and called.
//
// Loading the library runs its static initialisers, and calling it runs its code, with all rights of this process. So
// use it only in a worker that was started confined (HostModeWorkerPolicy) and ends after the job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/process/sandbox.h"
#include "hone/base/status.h"

namespace hone {

class HostLibrary {
 public:
  // Loads `image`, the bytes that HostModeCompiler made. Returns kInvalidArgument, with the loader's message, when it
  // does not load (an undefined symbol, a missing library), which is the candidate's fault.
  static Result<std::unique_ptr<HostLibrary>> Load(std::string_view image);
  ~HostLibrary();
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;

  // Returns the size in bytes of each parameter except the last, the stream.
  const std::vector<size_t>& parameter_bytes() const { return parameter_bytes_; }

  // Returns why arguments of these `sizes` (in bytes) cannot be passed, as a sentence; empty when they can.
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

// Returns the sandbox policy of a worker that runs host-mode candidates. The worker may read the system's libraries,
// the NVIDIA driver's libraries wherever the loader finds them, the toolkit under `cuda_home`, and the files of /proc
// and /sys that the driver reads. It may name its threads, use the GPU's device files, and execute only the system's
// loader and `program` (itself). It may create no processes, open no connection, and write only below `scratch` (empty:
// nowhere).
SandboxPolicy HostModeWorkerPolicy(const std::string& program, const std::string& cuda_home, const std::string& scratch);

}  // namespace hone
