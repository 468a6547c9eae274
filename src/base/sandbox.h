// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Confines a process that handles a stranger's code: a compiler reading a candidate, a host-mode candidate,
// the simulator's worker.
//
// Layers, each on its own: no_new_privs and dropped capabilities (always); resource limits (always);
// Landlock for files, TCP, and signals to processes outside (Linux 5.13 and newer; 6.7 for TCP, 6.12 for
// signals); a seccomp filter for sockets, process creation, other processes' memory, mounts, keys, kernel
// interfaces, and changing the mode, owner or times of files. A SandboxReport says which of them this
// kernel gives, so that an application can warn where one is missing. What is left open: a confined process
// can learn whether a path exists (Landlock does not hide names), and use CPU and memory up to its limits.
//
//   HONE_ASSIGN_OR_RETURN(const Sandbox sandbox, Sandbox::Prepare(policy));   // in the parent
//   if (fork() == 0) { if (sandbox.Enter().step != nullptr) _exit(125); … }    // in the child
//
// Linux on x86-64 and AArch64.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "hone/base/status.h"

namespace hone {

struct SandboxPolicy {
  // Files, or directories with everything below. A path that does not exist grants nothing and is no error.
  std::vector<std::string> read_paths;
  std::vector<std::string> write_paths;  // also readable; files may be made and removed below
  std::vector<std::string> exec_paths;   // also readable; a program's ELF interpreter needs to be listed too.
                                         // None: the confined process cannot exec at all
  std::vector<std::string> device_paths; // read, written and controlled (ioctl): a GPU's device files
  bool network = false;                  // true: sockets of any kind
  // Without `network`: Unix sockets of the kind SOCK_SEQPACKET may be made, bound and listened on, but neither connected
  // nor accepted, so nothing is said through them. CUDA's driver makes one at start (an abstract name for peers that
  // ask for memory handles) and gives up with CUDA_ERROR_OPERATING_SYSTEM where it may not.
  bool unix_listeners = false;
  // Its own /proc/self: read, and names given to its threads. Not of other processes, children included. CUDA's driver
  // (570 and newer) names its threads through /proc/self/task and gives up with CUDA_ERROR_OPERATING_SYSTEM where it may not.
  bool own_process_files = false;

  // 0: no limit.
  int64_t cpu_seconds = 0;    // processor time of each process
  int64_t memory_bytes = 0;   // address space of each process; not set in builds with AddressSanitizer or
                              // ThreadSanitizer, which reserve terabytes of it
  int64_t file_bytes = 0;     // of any file written
  int64_t open_files = 0;
  // Processes it may create beyond itself: 0 none (threads are allowed), -1 no limit, N about N tasks at a
  // time. The kernel does not enforce N for root: see SandboxReport::process_limit.
  int processes = 0;
};

struct SandboxReport {
  int landlock_abi = 0;         // 0: files are not confined
  bool landlock_network = false;
  bool landlock_signals = false;
  bool seccomp = false;
  bool process_limit = false;   // the policy's `processes` is enforced

  // One sentence per missing protection, naming what it leaves open; empty when all layers hold.
  std::vector<std::string> Warnings() const;
};

// What this kernel offers, for a policy with `processes` 0. Costs three system calls.
SandboxReport ProbeSandbox();

// Shared libraries, their cache, the loader's files, /dev/null, /dev/zero, /dev/urandom: what a dynamically linked
// program must be able to read to start.
std::vector<std::string> SystemReadPaths();
// The ELF interpreters: what must be among exec_paths for a dynamically linked program to be executed.
std::vector<std::string> SystemExecPaths();

// A prepared sandbox: Landlock rules opened and the filter assembled, so that Enter needs no memory.
// Can be entered by any number of child processes. Movable.
class Sandbox {
 public:
  // kUnavailable when a layer that the kernel claims to have cannot be prepared; kInvalidArgument for a path
  // that exists and cannot be opened.
  static Result<Sandbox> Prepare(const SandboxPolicy& policy);

  const SandboxReport& report() const { return report_; }

  // Confines the calling process for ever. Async-signal-safe: for use between fork and exec, or in a
  // single-threaded process. `step` is null when all is well, else names what failed with `error` (an errno);
  // the process is then half confined and must exit.
  struct Failure {
    const char* step = nullptr;
    int error = 0;
  };
  Failure Enter() const;

 private:
  struct Limit {
    int resource;
    uint64_t soft, hard;
  };
  Failure AllowOwnProcessFiles() const;

  UniqueFd ruleset_;
  uint64_t handled_rights_ = 0;
  bool own_process_files_ = false;
  std::vector<sock_filter> filter_;
  std::vector<size_t> own_pid_slots_;  // instructions of filter_ whose constant is the process's own id
  std::vector<Limit> limits_;
  SandboxReport report_;
};

}  // namespace hone
