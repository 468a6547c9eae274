// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Formats are described in the kernel's Documentation/: admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst for memory,
// scheduler/sched-bwc.rst for processors.
#include "base/process/cgroup_limits.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "base/files/file.h"

namespace hone {
namespace {

constexpr int64_t kUnlimited = int64_t{1} << 60;  // version 1 writes "no limit" as a number near 2^63

// Returns the number at the start of a text.
std::optional<int64_t> LeadingNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}
// Returns a file's text; empty if it cannot be read.
std::string TextOf(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  return text.ok() ? *text : std::string();
}
std::optional<int64_t> NumberIn(const std::string& path) { return LeadingNumber(TextOf(path)); }

// Returns the value of the line "key value" of memory.stat; 0 if there is none.
int64_t MemoryStatistic(const std::string& text, const std::string& key) {
  const std::string line = "\n" + key + " ";
  const size_t at = ("\n" + text).find(line);
  return at == std::string::npos ? 0 : LeadingNumber(std::string_view(text).substr(at + line.size() - 1)).value_or(0);
}

// Names of the files that hold a group's memory figures in one version of the hierarchy.
struct Files {
  std::string limit, usage, inactive, active;
};

// Returns the bytes left until the memory limit of one group; nullopt: it has none.
std::optional<int64_t> RoomIn(const std::string& group, const Files& files) {
  const std::optional<int64_t> limit = NumberIn(group + files.limit), usage = NumberIn(group + files.usage);
  if (!limit || !usage || *limit >= kUnlimited) return std::nullopt;
  const std::string statistics = TextOf(group + "/memory.stat");
  const int64_t of_files = MemoryStatistic(statistics, files.inactive) + MemoryStatistic(statistics, files.active);
  return std::max<int64_t>(0, *limit - *usage + std::min(of_files, *usage));
}

// Returns the number of processors that a group may use: its quota of time in each period.
std::optional<double> ProcessorsIn(const std::string& group, bool unified) {
  std::optional<int64_t> quota, period;
  if (unified) {
    const std::string text = TextOf(group + "/cpu.max");  // "max 100000" or "250000 100000"
    quota = LeadingNumber(text);
    if (const size_t space = text.find(' '); space != std::string::npos)
      period = LeadingNumber(std::string_view(text).substr(space + 1));
  } else {
    quota = NumberIn(group + "/cpu.cfs_quota_us");  // -1: no limit
    period = NumberIn(group + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// Calls `visit` with the folder of each group that holds this process under `controller`, from its own to the root.
void ForEachGroup(const CgroupPlaces& places, const std::string& controller,
                  const std::function<void(const std::string& folder, bool unified)>& visit) {
  const std::string lines = TextOf(places.self);
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string line = lines.substr(begin, end - begin);  // number:controllers:/path
    begin = end + 1;
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool unified = controllers == ",,";
    if (!unified && controllers.find("," + controller + ",") == std::string::npos) continue;
    // Inside a container the process may see its own group as the root. The path is then the host's, and does not exist
    // below the mount.
    const std::string root = places.mount + (unified ? "" : "/" + controller);
    for (std::string path = line.substr(second + 1);;) {
      while (path.ends_with('/')) path.pop_back();
      visit(root + path, unified);
      if (path.empty()) break;
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
  }
}

}  // namespace

std::optional<int64_t> CgroupRoomBytes(const CgroupPlaces& places) {
  const Files version1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file", "total_active_file"};
  const Files version2{"/memory.max", "/memory.current", "inactive_file", "active_file"};
  std::optional<int64_t> least;
  ForEachGroup(places, "memory", [&](const std::string& folder, bool unified) {
    const std::optional<int64_t> room = RoomIn(folder, unified ? version2 : version1);
    if (room) least = std::min(least.value_or(*room), *room);
  });
  return least;
}

int64_t AvailableMemoryBytes() {
  const Result<std::string> text = ReadFile("/proc/meminfo");
  const size_t at = text.ok() ? text.value().find("MemAvailable:") : std::string::npos;
  const int64_t free = at == std::string::npos ? 0 : std::strtoll(text.value().c_str() + at + 13, nullptr, 10) * 1024;
  // At least one byte, because 0 means "unknown".
  const std::optional<int64_t> group = CgroupRoomBytes();
  if (!group) return free;
  return std::max<int64_t>(1, free > 0 ? std::min(free, *group) : *group);
}

std::optional<double> CgroupProcessors(const CgroupPlaces& places) {
  std::optional<double> least;
  ForEachGroup(places, "cpu", [&](const std::string& folder, bool unified) {
    const std::optional<double> processors = ProcessorsIn(folder, unified);
    if (processors) least = std::min(least.value_or(*processors), *processors);
  });
  return least;
}

}  // namespace hone
