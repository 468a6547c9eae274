// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the user's own Python and describes the sandbox in which it runs a user's module.
//
// A problem file is code, which runs with the rights of a candidate and not of its user. It may read installed software
// and write to a folder of its own. It may use no other file, no network, no other program, and no more memory and time
// than it is given. SandboxReport::Warnings names the layers of the sandbox that this machine's kernel lacks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "base/process/subprocess.h"
#include "hone/base/status.h"

namespace hone {

struct PythonOptions {
  std::vector<std::string> environment;  // "NAME=value": PATH, HONE_PYTHON, and other variables that Python reads
  int64_t memory_bytes = 0;              // memory limit of the module; 0: three quarters of the machine's
  int threads = 0;                       // threads of PyTorch; 0: one per core
  int gpu = -1;  // ordinal, among the visible GPUs, of the one that the module may use; -1: none
};

// A Python interpreter.
struct Python {
  std::string executable;               // absolute path
  std::vector<std::string> read_paths;  // folders of its standard library and its packages, sorted
};
// Returns the bytes of the machine's memory; 8 GiB where the system does not say.
int64_t MachineMemory();

// Finds Python, HONE_PYTHON or else the first python3 on the PATH, and asks it for its folders. Takes some 50 ms.
// kUnavailable, with the remedy, if there is none.
Result<Python> FindPython(const std::vector<std::string>& environment);

// Returns the version of PyTorch that is installed for the Python, without importing it; empty: there is none. Takes some 100 ms.
Result<std::string> TorchVersion(const Python& python, const std::vector<std::string>& environment);

// How to start a script in the sandbox: for ChildOptions.
struct PythonStart {
  std::vector<std::string> argv, environment;
  SandboxPolicy sandbox;
};
// Writes `script` to the folder `scratch` and returns how to start it there, with `scratch` as its working directory.
// `more_read_paths`: what else the script may read.
Result<PythonStart> StartOf(const Python& python, const std::string& script, const std::string& scratch,
                            const PythonOptions& options, const std::vector<std::string>& more_read_paths = {});

// Changes `start` so that the script may run the installed compilers: nvcc of `cuda_home` (empty: /usr/local/cuda) and
// a host compiler for load_inline, and ptxas for Triton. They run in the script's sandbox.
Status AllowCompilers(const std::string& cuda_home, const Python& python, const std::string& scratch, PythonStart* start);

// Makes a file in memory whose descriptor is closed on exec. `name` is for /proc only.
Result<UniqueFd> MakeMemoryFile(const char* name);

}  // namespace hone
