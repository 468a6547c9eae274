// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The user's own Python, and the sandbox in which it runs a user's module.
//
// A problem file is code. It runs with the rights of a candidate, not of its user: installed software may be read, a folder
// of its own written, and nothing else; no network, no other programs, no more memory and time than it is given. Layers that
// this machine's kernel lacks are named by SandboxReport::Warnings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "hone/base/status.h"

namespace hone {

struct PythonOptions {
  std::vector<std::string> environment;  // "NAME=value": PATH, HONE_PYTHON, and what else Python looks at
  int64_t memory_bytes = 0;              // memory limit of the module; 0: three quarters of the machine's
  int threads = 0;                       // threads of PyTorch; 0: one per core
  int gpu = -1;                          // the ordinal of the GPU that it may use, among the visible ones; -1: none
};

// An interpreter, asked where its packages lie.
struct Python {
  std::string executable;
  std::vector<std::string> read_paths;
};
// Finds Python: HONE_PYTHON, else the first python3 on the PATH. Takes some 50 ms. kUnavailable, with the remedy, if
// there is none.
Result<Python> FindPython(const std::vector<std::string>& environment);

// PythonStart describes how to start `script`, confined, with `scratch` as its working directory, where the script is
// written. `more_read_paths` names what else the script may read.
struct PythonStart {
  std::vector<std::string> argv, environment;
  SandboxPolicy sandbox;
};
Result<PythonStart> StartOf(const Python& python, const std::string& script, const std::string& scratch,
                            const PythonOptions& options, const std::vector<std::string>& more_read_paths = {});

// Lets what is started run the compilers that are installed: nvcc of `cuda_home` (empty: /usr/local/cuda) and a host compiler
// for load_inline, ptxas for Triton. They run confined as it is.
Status AllowCompilers(const std::string& cuda_home, const Python& python, const std::string& scratch, PythonStart* start);

// Makes a file in memory that is closed on exec.
Result<UniqueFd> MakeMemoryFile(const char* name);

}  // namespace hone
