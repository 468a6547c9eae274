// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the control groups of this process leave it of the host's memory and processors. Containers and batch systems set
// limits that /proc/meminfo and /proc/cpuinfo do not show, and a process that passes the memory limit is killed instead of
// being refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone {

// Where the kernel describes them; tests name other places. Both versions of the hierarchy are known, also mounted together.
struct CgroupPlaces {
  std::string self = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};

// Bytes until the tightest limit of the process's own group and of those around it, as far as they are visible. Pages of
// files count as free, for they give way. None: no limit is set, or none can be read.
std::optional<int64_t> CgroupRoomBytes(const CgroupPlaces& places = {});

// The processor time per second that the tightest of those groups allows, in processors: 2.5. None: no limit is set, or
// none can be read.
std::optional<double> CgroupProcessors(const CgroupPlaces& places = {});

}  // namespace hone
