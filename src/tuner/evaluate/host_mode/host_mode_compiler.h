// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This compiler handles host-mode candidates: nvcc and its host compiler make a shared library of the source and the
// entry appended to it (host_entry.h). The whole tool chain runs confined: it reads the system's headers and the
// toolkit, writes a folder of its own, opens no connection, and has limits on time, memory and processes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/device/compiler.h"

namespace hone {

struct HostModeCompilerOptions {
  // Begins the command line; the plan's options and "-o OUTPUT SOURCE" are appended.
  std::vector<std::string> command;
  std::string prelude;  // text put before the candidate's: includes of the headers that it may rely on
  std::vector<std::string>
      tool_paths;  // what the sandbox lets the tools read and execute: the toolkit, the host compiler, nvcc's shell
  std::vector<std::string> read_paths;                       // paths of further headers
  std::string search_path = "/usr/local/bin:/usr/bin:/bin";  // PATH of the tools
  std::string scratch_directory;         // empty: /tmp
  std::string name = "host";             // tool, version and architecture, for Compiler::Fingerprint
  double limit_seconds = 120;            // wall-clock; nvcc takes 2 to 30 s
  int64_t memory_bytes = int64_t{8} << 30;  // address space of each of the tool chain's processes
};

// Returns options for the nvcc of `cuda_home` (empty: of /usr/local/cuda, else in `search_path`) and for `architecture`
// ("sm_90a"). Returns kUnavailable, with the remedy, when there is no nvcc.
Result<HostModeCompilerOptions> NvccHostMode(const std::string& cuda_home, const std::string& architecture,
                                             const std::string& search_path);

// Makes the compiler. In its translation units, `kernels` holds one name: the C function.
std::unique_ptr<Compiler> MakeHostModeCompiler(HostModeCompilerOptions options);

}  // namespace hone
