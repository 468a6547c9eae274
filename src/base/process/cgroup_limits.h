// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the limits on memory and processors that control groups (cgroups) set for this process. Containers and batch
// systems set limits that /proc/meminfo and /proc/cpuinfo do not show, and a process that exceeds the memory limit is
// killed, while its allocations still succeed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone {

// Paths of the kernel's cgroup files; tests use other paths. Both versions of the hierarchy are known, also mounted
// together.
struct CgroupPlaces {
  std::string self = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};

// Returns the bytes left until the tightest visible memory limit, of the process's own group or of a group around it.
// Cached pages of files count as free, since the kernel can drop them. nullopt: no limit is set, or none can be read.
std::optional<int64_t> CgroupRoomBytes(const CgroupPlaces& places = {});

// Returns the bytes available without swapping (MemAvailable) and within the limits of the process's control groups; 0:
// unknown.
int64_t AvailableMemoryBytes();

// Returns the tightest limit on processor time of these groups, in processors: 2.5. nullopt: no limit is set, or none
// can be read.
std::optional<double> CgroupProcessors(const CgroupPlaces& places = {});

}  // namespace hone
