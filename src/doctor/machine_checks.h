// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Checks that both programs make of the machine itself: processors, memory, sandbox, folders. Each looks at files of the
// kernel or asks it, changes nothing, and takes well under a millisecond.
#pragma once

#include <string>

#include "base/process/cgroup_limits.h"
#include "doctor/check.h"

namespace hone {

// The kernel describes the machine in these files; tests name other places.
struct MachinePlaces {
  std::string memory = "/proc/meminfo";
  std::string processors = "/proc/cpuinfo";
  std::string huge_pages = "/sys/kernel/mm/transparent_hugepage/enabled";
  CgroupPlaces cgroup;
};

// The processor's name, and how many the process may use: those it is bound to, less what a control group leaves of them.
Check ProcessorsCheck(const MachinePlaces& places = {});
// Free memory, and the limit of a control group where there is one.
Check MemoryCheck(const MachinePlaces& places = {});
// Checks whether the kernel gives huge pages to programs that ask for them.
Check HugePagesCheck(const MachinePlaces& places = {});

// Checks whether `folder`, or the nearest existing folder above it, can be written, and how much is free there. A
// folder that cannot be written is kNeeded if `needed`; little room is kMissing. `remedy` says how to name another
// folder.
Check FolderCheck(const std::string& name, const std::string& title, const std::string& folder, const std::string& brings,
                  const std::string& remedy, bool needed);

// Checks what the kernel offers to confine untrusted code (base/process/sandbox.h): files, network, system calls, processes.
CheckGroup SandboxChecks();

}  // namespace hone
