// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Confines a process that handles untrusted code: a compiler reading a candidate, a host-mode candidate, the
// simulator's worker.
//
// The sandbox's layers are independent: no_new_privs and dropped capabilities (always); resource limits (always);
// Landlock for files, TCP, and signals to processes outside (Linux 5.13 and newer; 6.7 for TCP, 6.12 for signals); a
// seccomp filter for sockets, process creation, other processes' memory, mounts, keys, kernel interfaces, and changing
// the mode, owner or times of files. A SandboxReport says which layers this kernel supports, so that an application can
// warn about missing ones. Two things stay possible: a confined process can learn whether a path exists (Landlock does
// not hide names), and use CPU and memory up to its limits.
//
//   HONE_ASSIGN_OR_RETURN(const Sandbox sandbox, Sandbox::Prepare(policy));   // in the parent
//   if (fork() == 0) { if (sandbox.Enter().step != nullptr) _exit(125); … }    // in the child
//
// The sandbox works on Linux on x86-64 and AArch64.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/files/file.h"
#include "hone/base/status.h"

namespace hone {

struct SandboxPolicy {
  // Paths of files, or of directories with everything below. A path that does not exist grants nothing, without an
  // error.
  std::vector<std::string> read_paths;
  std::vector<std::string> write_paths;  // also readable; files may be made and removed below
  std::vector<std::string> exec_paths;   // also readable; list a program's ELF interpreter too. Empty: the confined
                                         // process cannot exec at all
  std::vector<std::string> device_paths; // read, written and controlled (ioctl): a GPU's device files
  bool network = false;                  // true: sockets of any kind
  // Without `network`: Unix sockets of the kind SOCK_SEQPACKET may be made, bound and listened on, but neither
  // connected nor accepted, so that no data passes through them. CUDA's driver makes one at start (an abstract name for
  // peers that ask for memory handles) and fails with CUDA_ERROR_OPERATING_SYSTEM if it cannot.
  bool unix_listeners = false;
  // If true, the process may read its own /proc/self and name its threads there, but no other process's /proc, not even
  // its children's. CUDA's driver (570 and newer) names its threads through /proc/self/task, and fails with
  // CUDA_ERROR_OPERATING_SYSTEM if it cannot.
  bool own_process_files = false;

  // Resource limits; 0: no limit.
  int64_t cpu_seconds = 0;    // processor time of each process
  int64_t memory_bytes = 0;   // address space of each process; not set in builds with AddressSanitizer or
                              // ThreadSanitizer, which reserve terabytes of it
  int64_t file_bytes = 0;     // size of any file written
  int64_t open_files = 0;
  // Processes that it may create besides itself. 0: none (threads are allowed); -1: no limit; N: about N tasks at a
  // time. The kernel does not enforce N for root (SandboxReport::process_limit).
  int processes = 0;
};

struct SandboxReport {
  int landlock_abi = 0;         // 0: files are not confined
  bool landlock_network = false;  // true: TCP is confined
  bool landlock_signals = false;  // true: signals to processes outside are refused
  bool seccomp = false;           // true: the filter of system calls is active
  bool process_limit = false;   // the policy's `processes` is enforced

  // Returns one sentence per missing protection, which says what is still possible; empty when all layers are active.
  std::vector<std::string> Warnings() const;
};

// Returns the layers that this kernel offers, for a policy with `processes` 0. Costs three system calls.
SandboxReport ProbeSandbox();

// Returns shared libraries, their cache, the loader's files, /dev/null, /dev/zero, /dev/urandom: all that a dynamically
// linked program must be able to read to start.
std::vector<std::string> SystemReadPaths();
// Returns the ELF interpreters, which exec_paths must contain for a dynamically linked program to be executed.
std::vector<std::string> SystemExecPaths();

// A prepared sandbox. The Landlock ruleset's descriptor is open and the seccomp filter is assembled, so Enter allocates
// no memory. Any number of child processes can enter it. Movable.
class Sandbox {
 public:
  // Prepares a sandbox. kUnavailable when a layer that the kernel claims to have cannot be prepared; kInvalidArgument
  // for a path that exists and cannot be opened.
  static Result<Sandbox> Prepare(const SandboxPolicy& policy);

  const SandboxReport& report() const { return report_; }

  // Confines the calling process until it ends. Async-signal-safe: for use between fork and exec, or in a
  // single-threaded process. `step` is null on success; otherwise it names the step that failed with `error` (an
  // errno), and the process, only partly confined, must exit.
  struct Failure {
    const char* step = nullptr;
    int error = 0;
  };
  // Applies the rules to this process, a forked child, and allocates nothing. A failure names the step.
  Failure Enter() const;

 private:
  struct Limit {
    int resource;
    uint64_t soft, hard;
  };
  // Allows the child's own folder of /proc. Runs in the child, since only there /proc/self is the child's.
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
