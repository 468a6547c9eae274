// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The sandbox's seccomp filter, assembled by hand: which system calls a confined process does without.
// Used by sandbox.cc only; apart so that the list can be read, and tested, by itself.
#pragma once

#include <linux/filter.h>

#include <cstddef>
#include <vector>

namespace hone {

struct SandboxFilterOptions {
  bool network = false;        // sockets of any kind, else connected Unix pairs only
  bool unix_listeners = false; // without network: Unix sockets that can be listened on, and neither connected nor accepted
  bool new_processes = false;  // fork and its kin, else threads only
  bool exec = true;
  bool truncate = true;        // truncate(path): false where Landlock does not yet judge it
};

struct SandboxFilter {
  std::vector<sock_filter> instructions;
  // Instructions whose constant must be set to the confined process's own id before use: it may send signals
  // to itself (abort, raise) and to nobody else.
  std::vector<size_t> own_pid_slots;
};

inline constexpr size_t kMaxSandboxFilterInstructions = 512;

// At most kMaxSandboxFilterInstructions long. Refused calls give EPERM; calls newer than this list, clone3
// (whose flags a filter cannot see) and io_uring (which would go around the filter) give ENOSYS, so that
// libraries fall back to what they did before those existed.
SandboxFilter BuildSandboxFilter(const SandboxFilterOptions& options);

}  // namespace hone
