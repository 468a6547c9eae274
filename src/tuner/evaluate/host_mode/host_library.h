// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A host-mode candidate's shared library, loaded into this process and called.
//
// Loading runs the library's static initialisers and calling it runs its code, here, with everything this process may
// do. So only ever in a worker of its own that was started confined (HostModeWorkerPolicy) and ends after the job.
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
  // `image`: the bytes HostModeCompiler made. kInvalidArgument, with the loader's words, when it does not load: the
  // candidate's fault (an undefined symbol, a library that is not here).
  static Result<std::unique_ptr<HostLibrary>> Load(std::string_view image);
  ~HostLibrary();
  HostLibrary(const HostLibrary&) = delete;
  HostLibrary& operator=(const HostLibrary&) = delete;

  // Bytes of each parameter, the stream (the last) left out.
  const std::vector<size_t>& parameter_bytes() const { return parameter_bytes_; }

  // What keeps `sizes` (bytes of each argument) from being passed, as a sentence; empty when nothing does.
  std::string Mismatch(const std::vector<size_t>& sizes) const;

  // Calls the function: arguments[i] points to parameter_bytes()[i] bytes; `stream` is a CUstream. Returns its answer
  // (0: success), or kHostCallThrew. What happens on the device is the caller's to wait for.
  int Call(const std::vector<const void*>& arguments, void* stream) const;

 private:
  HostLibrary() = default;
  UniqueFd file_;
  void* handle_ = nullptr;
  int (*call_)(const void* const*) = nullptr;
  std::vector<size_t> parameter_bytes_;
};

// What a worker that runs host-mode candidates may do: read the system's libraries, the NVIDIA driver's wherever
// the loader finds them, the toolkit under `cuda_home` and what the driver reads of /proc and /sys; name its threads; use the GPU's device
// files; execute `program` (itself) and nothing else, create no processes, open no connection, write nothing but `scratch` (empty: nothing).
SandboxPolicy HostModeWorkerPolicy(const std::string& program, const std::string& cuda_home, const std::string& scratch);

}  // namespace hone
