// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Compiles candidates for a real GPU: NVRTC in confined processes forked from zygotes that hold precompiled headers
// (nvrtc_zygote.h). A source that crashes the compiler, makes it loop, fills its memory or has it read files gets a
// verdict; the next source is compiled as if nothing had been.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/sandbox.h"
#include "hone/base/status.h"
#include "tuner/device/compiler.h"

namespace hone {

struct NvrtcCompilerOptions {
  std::string cuda_home;           // toolkit to prefer; empty: /usr/local/cuda, then the loader's directories
  // Where CUTLASS lies, as FindCutlassHeaders (cutlass_headers.h) takes it; empty: the usual places. Where it is missing
  // or too old, the include set "cute" is unsupported, with the reason, and all else goes on.
  std::string cutlass_include;
  // Compiles CuTe with nothing but its own headers, without Hone's faster forms of its layout algebra
  // (cute_fast_tuple.cuh). A test compares the two.
  bool plain_cute = false;
  std::string architecture;        // "sm_90a"; see NvrtcArchitecture
  std::string scratch_directory;   // for precompiled headers (9 MB to 400 MB each); empty: /tmp
  double limit_seconds = 60;       // wall, per module
  // Resident memory of a compiling process, watched by the zygote. No limit is set on address space: NVRTC reserves
  // that in proportion to the machine's memory, and with 128 GiB a limit of 8 GiB made every use of a precompiled
  // header fail ("unable to obtain mapped memory").
  int64_t memory_bytes = int64_t{8} << 30;
  // The largest temporary file. The front end keeps its memory in one: 0.6 GB for a product of TiledMMA and TiledCopy,
  // 1.7 GB with plain_cute.
  int64_t temporary_bytes = int64_t{4} << 30;
  int64_t pch_heap_bytes = int64_t{640} << 20;  // CuTe needs about 310 MB of it; 0: no precompiled headers
  int max_zygotes = 6;             // idle ones beyond this are ended, least recently used first
  // The command that starts a process that calls NvrtcZygoteMain; "--fd" and the number are appended.
  std::vector<std::string> zygote_argv = {"/proc/self/exe", "__nvrtc-zygote"};
};

struct NvrtcCounters {
  int64_t compiles = 0;
  int64_t pch_misses = 0;  // compiled without the precompiled header although there should have been one
  int64_t zygotes_started = 0;
  int64_t zygotes_lost = 0;        // ended by themselves or by a foreign signal
  int64_t compiler_crashes = 0;    // children ended by a signal
};

// Returns "sm_90a" for 9.0, with the architecture-specific suffix where kernels need it (wgmma, tcgen05), and "sm_86"
// for 8.6.
std::string NvrtcArchitecture(int cc_major, int cc_minor);

class NvrtcCompiler : public Compiler {
 public:
  // Reports with what this Linux kernel lets Hone confine compilers; its Warnings() are for the application to print.
  virtual const SandboxReport& sandbox() const = 0;
  virtual NvrtcCounters counters() const = 0;
  // Starts the zygote of an include set and these options ahead of the first compile. Blocks until it is ready.
  virtual Status Prewarm(const std::string& include_set, const std::vector<std::string>& options = {}) = 0;
};

// Returns kUnavailable, with the remedy, when NVRTC or its headers are missing. Starts no process.
Result<std::unique_ptr<NvrtcCompiler>> MakeNvrtcCompiler(const NvrtcCompilerOptions& options);

}  // namespace hone
