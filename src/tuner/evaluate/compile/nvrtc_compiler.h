// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// NvrtcCompiler compiles candidates for a real GPU. NVRTC runs in confined processes, which are forked from zygotes
// that hold precompiled headers (nvrtc_zygote.h). A source that crashes the compiler, makes it loop, fills its memory
// or has it read files gets a verdict, and the next source is compiled undisturbed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/process/sandbox.h"
#include "hone/base/status.h"
#include "tuner/device/compiler.h"

namespace hone {

struct NvrtcCompilerOptions {
  std::string cuda_home;           // toolkit to prefer; empty: /usr/local/cuda, then the loader's directories
  // The folder of CUTLASS, as FindCutlassHeaders (cutlass_headers.h) takes it; empty: the usual places. If CUTLASS is
  // missing or too old, candidates of the include set "cute" are `unsupported`, with the reason; others still compile.
  std::string cutlass_include;
  // true: CuTe is compiled with its own headers alone, without Hone's faster forms of its layout algebra
  // (cute_fast_tuple.cuh). A test compares the two.
  bool plain_cute = false;
  std::string architecture;        // "sm_90a"; see NvrtcArchitecture
  std::string scratch_directory;   // for precompiled headers (9 MB to 400 MB each); empty: /tmp
  double limit_seconds = 60;       // wall-clock time for one module
  // Limit on the resident memory of a compiling process, which the zygote enforces. Address space has no limit: NVRTC
  // reserves address space in proportion to the machine's memory, and on a machine of 128 GiB a limit of 8 GiB made
  // every use of a precompiled header fail ("unable to obtain mapped memory").
  int64_t memory_bytes = int64_t{8} << 30;
  // Limit on the size of a temporary file. The compiler's front end keeps its memory in such a file: 0.6 GB for a
  // matrix product by TiledMMA and TiledCopy, 1.7 GB with plain_cute.
  int64_t temporary_bytes = int64_t{4} << 30;
  int64_t pch_heap_bytes = int64_t{640} << 20;  // NVRTC's heap for a precompiled header; CuTe's needs about 310 MB.
                                                // 0: no precompiled headers
  int max_zygotes = 6;                          // idle zygotes beyond this number are ended, least recently used first
  // The command that starts a process that calls NvrtcZygoteMain; "--fd" and the number are appended.
  std::vector<std::string> zygote_argv = {"/proc/self/exe", "__nvrtc-zygote"};
};

struct NvrtcCounters {
  int64_t compiles = 0;
  int64_t pch_misses = 0;  // compiles that did not use the precompiled header although their zygote had made one
  int64_t zygotes_started = 0;
  int64_t zygotes_lost = 0;        // ended by themselves or by a foreign signal
  int64_t compiler_crashes = 0;    // children ended by a signal
};

// Returns "sm_90a" for 9.0, with the architecture-specific suffix where kernels need it (wgmma, tcgen05), and "sm_86"
// for 8.6.
std::string NvrtcArchitecture(int cc_major, int cc_minor);

class NvrtcCompiler : public Compiler {
 public:
  // Returns which means of confining compilers this Linux kernel offers. The application prints its Warnings().
  virtual const SandboxReport& sandbox() const = 0;
  virtual NvrtcCounters counters() const = 0;
  // Starts the zygote of an include set and these options ahead of the first compile. Blocks until it is ready.
  virtual Status Prewarm(const std::string& include_set, const std::vector<std::string>& options = {}) = 0;
};

// Returns kUnavailable, with the remedy, when NVRTC or its headers are missing. Starts no process.
Result<std::unique_ptr<NvrtcCompiler>> MakeNvrtcCompiler(const NvrtcCompilerOptions& options);

}  // namespace hone
