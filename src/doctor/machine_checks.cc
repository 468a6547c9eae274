// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/machine_checks.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include "base/files/file.h"
#include "base/process/sandbox.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr double kGib = 1 << 30;
// Compiled modules take megabytes each and a precompiled header up to 400 MB: below this a run may stop for want of room.
constexpr double kLittleDiskBytes = 1.0 * (1 << 30);

// Returns the value of the first line "KEY: value" or "KEY\t: value".
std::string ValueOf(const std::string& text, const std::string& key) {
  const size_t at = ("\n" + text).find("\n" + key);
  if (at == std::string::npos) return "";
  const size_t end = std::min(text.find('\n', at), text.size());
  const std::string line = text.substr(at, end - at);
  const size_t colon = line.find(':');
  if (colon == std::string::npos) return "";
  const size_t begin = line.find_first_not_of(" \t", colon + 1);
  return begin == std::string::npos ? "" : line.substr(begin);
}

std::optional<double> MemoryBytes(const std::string& text, const std::string& key) {
  const std::string value = ValueOf(text, key);
  int64_t kib = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), kib);
  if (error != std::errc()) return std::nullopt;
  return 1024.0 * static_cast<double>(kib);
}

std::string TextOf(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  return text.ok() ? *text : std::string();
}

}  // namespace

Check ProcessorsCheck(const MachinePlaces& places) {
  Check check{.name = "processors", .title = "processors"};
  cpu_set_t set;
  const int bound = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  const std::string model = ValueOf(TextOf(places.processors), "model name");
  check.found = fmt::format("{} for this process{}", bound, model.empty() ? "" : " (" + model + ")");
  if (const std::optional<double> quota = CgroupProcessors(places.cgroup); quota && *quota < bound) {
    check.found += fmt::format("; its control group allows the time of {:.3g}", *quota);
  }
  return check;
}

Check MemoryCheck(const MachinePlaces& places) {
  Check check{.name = "memory", .title = "memory"};
  const std::string text = TextOf(places.memory);
  const std::optional<double> total = MemoryBytes(text, "MemTotal"), available = MemoryBytes(text, "MemAvailable");
  if (!total || !available) {
    check.found = places.memory + " does not say how much there is";
    return check;
  }
  check.found = fmt::format("{:.1f} of {:.1f} GiB are available", *available / kGib, *total / kGib);
  if (const std::optional<int64_t> room = CgroupRoomBytes(places.cgroup)) {
    check.found += fmt::format("; the process's control group leaves {:.1f} GiB", static_cast<double>(*room) / kGib);
  }
  return check;
}

Check HugePagesCheck(const MachinePlaces& places) {
  Check check{.name = "huge_pages", .title = "huge pages"};
  check.brings = "lets the graph's arrays lie in pages of 2 MiB, which random reads of large graphs gain from";
  const std::string text = TextOf(places.huge_pages);  // "always [madvise] never"
  const size_t begin = text.find('['), end = text.find(']');
  const std::string mode = begin == std::string::npos || end == std::string::npos ? "" : text.substr(begin + 1, end - begin - 1);
  if (mode == "always" || mode == "madvise") {
    check.found = fmt::format("the kernel gives them to programs that ask ({})", mode);
    return check;
  }
  check.standing = Standing::kMissing;
  check.found = mode.empty() ? "the kernel does not say whether it gives them" : "the kernel gives none";
  if (!mode.empty()) check.remedy = fmt::format("as root, echo madvise > {}", places.huge_pages);
  return check;
}

Check FolderCheck(const std::string& name, const std::string& title, const std::string& folder, const std::string& brings,
                  const std::string& remedy, bool needed) {
  Check check{.name = name, .title = title, .brings = brings};
  const Standing not_here = needed ? Standing::kNeeded : Standing::kMissing;
  std::error_code error;
  fs::path there = fs::absolute(folder, error);
  while (there.has_relative_path() && !fs::exists(there, error)) there = there.parent_path();
  if (!fs::is_directory(there, error)) {
    check.standing = not_here;
    check.found = fmt::format("{} cannot be made: {} is no folder", folder, there.string());
    check.remedy = remedy;
    return check;
  }
  if (access(there.c_str(), W_OK | X_OK) != 0) {
    check.standing = not_here;
    check.found = fmt::format("{} cannot be written ({})", folder, std::generic_category().message(errno));
    check.remedy = remedy;
    return check;
  }
  struct statvfs disk {};
  if (statvfs(there.c_str(), &disk) != 0) {
    check.found = fmt::format("{}; how much is free there cannot be read ({})", folder, std::generic_category().message(errno));
    return check;
  }
  const double free = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  check.found = fmt::format("{}, {:.1f} GiB free", folder, free / kGib);
  if (free < kLittleDiskBytes) {
    check.standing = Standing::kMissing;
    check.found += ", which is little";
    check.remedy = "make room, or " + remedy;
  }
  return check;
}

CheckGroup SandboxChecks() {
  const SandboxReport report = ProbeSandbox();
  CheckGroup group{"Protection against what candidates do", {}};
  const auto add = [&](const char* name, const char* title, bool is_here, std::string found, const char* brings,
                       const char* remedy) {
    group.checks.push_back(
        {name, title, is_here ? Standing::kHere : Standing::kMissing, std::move(found), brings, is_here ? "" : remedy});
  };
  add("landlock", "Landlock", report.landlock_abi > 0,
      report.landlock_abi > 0 ? fmt::format("version {} of the kernel's interface", report.landlock_abi) : "this kernel does not have it",
      "keeps a compiler or a candidate from files that are not its own",
      "Linux 5.13 or newer with Landlock among its security modules (lsm=landlock,… on the kernel's command line)");
  if (report.landlock_abi > 0) {
    add("landlock_network", "Landlock, TCP", report.landlock_network, report.landlock_network ? "yes" : "this kernel does not have it",
        "is a second lock on the network, behind the system call filter", "Linux 6.7 or newer");
    add("landlock_signals", "Landlock, signals", report.landlock_signals, report.landlock_signals ? "yes" : "this kernel does not have it",
        "keeps a confined process from signalling others of the same user", "Linux 6.12 or newer");
  }
  add("seccomp", "system call filter", report.seccomp, report.seccomp ? "yes" : "this kernel or container refuses it",
      "keeps a confined process from sockets, from other processes and from starting any",
      "a kernel with seccomp filters, and a container that allows them");
  return group;
}

}  // namespace hone
