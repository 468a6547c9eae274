// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles device code for the simulated GPU with the system's C++ compiler.
//
// The translation unit follows Hone's CUDA subset (sim/cuda, precompiled), its inline PTX is rewritten, and the
// compiler adds ThreadSanitizer's hooks without its runtime: every load and store becomes a call to the simulator.
// Optimiser passes that would make memory accesses differ from those of a GPU's compiler are off: scalar replacement
// would split a float4 load in four, vectorisation would join four loads in one. `__shared__` is thread-local data; the
// extern arrays of all kernels are names for one buffer, made by a few lines of assembly for each image. An image is a
// shared library that exports one entry per kernel and imports the simulator's functions, mathematics, and nothing
// else.
//
// The compiler runs confined (base/process/sandbox.h): it can read its own files and the headers, and write a scratch folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/process/sandbox.h"
#include "hone/base/status.h"
#include "tuner/device/compiler.h"
#include "tuner/device/sim/image/child_shortage.h"

namespace hone {

// Locations of CuTe's headers, for candidates that use it.
struct SimCuteHeaders {
  std::string cutlass;  // the folder with cute/ and cutlass/; empty: there is none
  std::string cccl;     // the folder with cuda/std/
  std::string version;  // "4.2.0"
  std::string absent;   // if cutlass is empty: a sentence that says how to get the headers
};

struct SimCompilerOptions {
  std::string cxx;                // path or name of g++; empty: g++ in /usr/bin and /usr/local/bin
  std::string cache_directory;    // headers and precompiled headers, shared by processes; empty: in scratch
  std::string scratch_directory;  // temporary files of each compile; empty: /tmp
  std::string header_directory;   // CUDA subset to use; empty: the embedded one, written to cache_directory
  SimCuteHeaders cute;
  double limit_seconds = 60;      // limit on processor time per compiler process; ten times as much wall time
  int64_t memory_bytes = int64_t{8} << 30;
  sim::ChildShortageRetry shortage;  // retries when the compiler cannot start its own processes
  // false: the text is not searched for what would hide accesses (source_guard.h). Only a program that measures what
  // this search catches sets this.
  bool guard_text = true;
  // Starts the compiler; empty: RunSubprocess.
  std::function<Result<SubprocessResult>(const SubprocessOptions&)> run;
};

// Makes a compiler. kUnavailable when there is no g++, with the remedy. Writes the headers; precompiles them at the
// first Compile. Thread-safe, as any Compiler.
Result<std::unique_ptr<Compiler>> MakeSimCompiler(const SimCompilerOptions& options);

}  // namespace hone
