// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The zygote: a process that has loaded NVRTC and made a precompiled header, and forks itself, confined, for every
// compile. A fork shares the address layout, so the header is accepted (0.03 s instead of 0.06 s for the base set,
// 0.2 s instead of 1.2 s for libcu++); and whatever a source does to the compiler, it does to that child alone.
//
// Frames on the zygote's socket (base/frames.h):
//   1. to the zygote, once: a ZygoteSetup. Answer: {"ok": true, "pch": bool} or {"error": text}.
//   2. to the zygote, per compile: {"limit_seconds": s} with two sockets, `job` and `status`.
// On `job`: an NvrtcJob to the child, an NvrtcReply back. On `status`, from the zygote when the child has ended or was
// ended: {"signal": n, "exit": n, "timed_out": bool, "out_of_memory": bool}, which gives the reason where `job` ends
// without a reply. The zygote ends when its socket closes, and its children with it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/frames.h"
#include "hone/base/status.h"
#include "tuner/evaluate/compile/nvrtc_session.h"

namespace hone {

struct ZygoteSetup {
  NvrtcSetup nvrtc;
  std::vector<std::string> read_paths;  // all that a compiling child may read, the precompiled header apart
  std::string scratch_directory;        // where each child gets a folder of its own for temporary files
  int64_t memory_bytes = 0;  // limit on a child's resident memory, checked every tenth of a second; 0: no limit
  int64_t temporary_bytes = 0;          // the largest temporary file a child may write
  int64_t cpu_seconds = 0;
};

// The zygote's main function: serves the socket `fd` until it closes. Call it first in a fresh process with a single
// thread; `hone __nvrtc-zygote --fd N` does. Returns the exit status.
int NvrtcZygoteMain(int fd);

// These functions encode the messages as frames. Decoding checks everything: a child's reply may come from a compiler
// that is under control of the source it read.
struct WireMessage {
  std::string header;
  std::vector<std::string> blobs;
};
WireMessage EncodeSetup(const ZygoteSetup& setup);
Result<ZygoteSetup> DecodeSetup(const Frame& frame);
WireMessage EncodeJob(const NvrtcJob& job);
Result<NvrtcJob> DecodeJob(const Frame& frame);
WireMessage EncodeReply(const NvrtcReply& reply);
Result<NvrtcReply> DecodeReply(const Frame& frame);

struct ZygoteGreeting {
  bool pch = false;
  std::string error;  // empty: ready
};
// The exit status in a ChildEnd when no process, or no folder for it, could be made.
inline constexpr int kNoProcess = 125;
struct ChildEnd {
  int signal = 0, exit_status = 0;
  bool timed_out = false;
  bool out_of_memory = false;
};
Result<ZygoteGreeting> DecodeGreeting(const Frame& frame);
Result<ChildEnd> DecodeChildEnd(const Frame& frame);

}  // namespace hone
