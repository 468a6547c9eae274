// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A zygote is a process that has loaded NVRTC and made a precompiled header. For every compile it forks a confined
// child. The child shares the zygote's address layout, so that NVRTC accepts the header (a compile takes 0.03 s instead
// of 0.06 s for the base set, 0.2 s instead of 1.2 s for libcu++). Whatever a source does to the compiler, it does to
// that child alone.
//
// Frames on the zygote's socket (base/process/frames.h):
//   1. to the zygote, once: a ZygoteSetup. Answer: {"ok": true, "pch": bool} or {"error": text}.
//   2. to the zygote, per compile: {"limit_seconds": s} with two sockets, `job` and `status`.
// On the socket `job`, an NvrtcJob goes to the child and an NvrtcReply comes back. On the socket `status`, the zygote
// reports the child's end: {"signal": n, "exit": n, "timed_out": bool, "out_of_memory": bool}, which gives the reason
// if `job` closes without a reply. The zygote and its children end when the zygote's socket closes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/process/frames.h"
#include "hone/base/status.h"
#include "tuner/evaluate/compile/nvrtc_session.h"

namespace hone {

struct ZygoteSetup {
  NvrtcSetup nvrtc;
  std::vector<std::string> read_paths;  // all paths that a compiling child may read, besides the precompiled header
  std::string scratch_directory;        // folder in which each child gets a folder of its own for temporary files
  int64_t memory_bytes = 0;  // limit on a child's resident memory, checked every tenth of a second; 0: no limit
  int64_t temporary_bytes = 0;  // limit on the size of a child's temporary file
  int64_t cpu_seconds = 0;      // limit on a child's processor time
};

// Is the zygote's main function: serves the socket `fd` until it closes, and returns the exit status. Call it first in
// a fresh process with a single thread, as `hone __nvrtc-zygote --fd N` does.
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
// ChildEnd::exit_status when no process, or no folder for it, could be made.
inline constexpr int kNoProcess = 125;
// A ChildEnd says how a compiling child ended.
struct ChildEnd {
  int signal = 0, exit_status = 0;  // how the process ended; signal 0: it exited with exit_status
  bool timed_out = false;
  bool out_of_memory = false;
};
Result<ZygoteGreeting> DecodeGreeting(const Frame& frame);
Result<ChildEnd> DecodeChildEnd(const Frame& frame);

}  // namespace hone
