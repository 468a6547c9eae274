// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the control groups of this process leave it of the host's memory. Containers and batch systems set limits that
// /proc/meminfo does not tell, and whoever passes one is killed instead of being refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hone::gnn {

// Where the kernel tells; tests have others. Both versions of the hierarchy are known, also mounted together.
struct CgroupPlaces {
  std::string self = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};

// Bytes until the tightest limit of the process's own group and of those around it, as far as they are visible. Pages of
// files count as free, for they give way. None: no limit, or nobody who tells.
std::optional<int64_t> CgroupRoomBytes(const CgroupPlaces& places = {});

}  // namespace hone::gnn
