// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Builds the sandbox's seccomp filter, which refuses system calls to a confined process. Only sandbox.cc uses it; a
// separate file lets the list be read and tested by itself.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <vector>

namespace hone {

struct SandboxFilterOptions {
  bool network = false;        // true: sockets of any kind; false: connected Unix pairs only
  bool unix_listeners = false; // without network: Unix sockets that may listen, but neither connect nor accept
  bool new_processes = false;  // true: fork and its variants are allowed; false: threads only
  bool exec = true;            // true: other programs may be executed
  bool truncate = true;  // truncate(path) is allowed; false where Landlock does not yet control it
};

struct SandboxFilter {
  std::vector<sock_filter> instructions;
  // Instructions whose constant must be set to the confined process's own id before use, so that it can send signals
  // only to itself (abort, raise).
  std::vector<size_t> own_pid_slots;
};

inline constexpr size_t kMaxSandboxFilterInstructions = 512;

// Builds a filter of at most kMaxSandboxFilterInstructions. Refused calls return EPERM; calls newer than this list,
// clone3 (whose flags a filter cannot see) and io_uring (which would bypass the filter) return ENOSYS, so that
// libraries fall back to older calls.
SandboxFilter BuildSandboxFilter(const SandboxFilterOptions& options);

}  // namespace hone
