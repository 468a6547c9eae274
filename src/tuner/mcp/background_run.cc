// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/background_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <regex>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "base/files/file.h"

namespace hone::mcp {
namespace {

constexpr int64_t kMostLogBytes = 64 << 20;  // how much of the run's log file is read

void SleepFor(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

// Returns the null-terminated array of pointers that execve takes; it borrows the texts.
std::vector<char*> ExecPointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

Result<pid_t> StartInBackground(const BackgroundProgram& program) {
  HONE_RETURN_IF_ERROR(MakeDirectories(std::filesystem::path(program.log).parent_path()));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, program.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawn_file_actions_addchdir_np(&actions, program.folder.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The program starts with no signal blocked or ignored.
  sigset_t none, usual;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) sigaddset(&usual, number);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, program.argv[0].c_str(), &actions, &attributes, ExecPointers(program.argv).data(),
                                ExecPointers(program.environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return Status::Unavailable(fmt::format("start {}: {}", program.argv[0], std::strerror(error)));
  return pid;
}

std::optional<int> EndOfBackground(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

Result<std::string> WaitForRunId(pid_t pid, const std::string& log, double seconds) {
  const std::regex run_line(R"((?:^|\n)Run ([0-9]{8}-[0-9]{6}-[0-9a-f]{4}): )");
  const Stopwatch watch;
  while (true) {
    const std::optional<int> end = EndOfBackground(pid);
    const std::string text = ReadFile(log, kMostLogBytes).ok() ? ReadFile(log, kMostLogBytes).value() : "";
    std::smatch run_match;
    if (std::regex_search(text, run_match, run_line)) return run_match[1].str();
    if (end) {
      const std::string complaints = ComplaintsIn(log);
      return Status(
          *end == 2 ? StatusCode::kInvalidArgument : StatusCode::kUnavailable,
          complaints.empty() ? fmt::format("the run ended with status {} before it began", *end) : complaints);
    }
    if (watch.Seconds() > seconds)
      return Status::TimedOut(fmt::format("the run has not begun within {:.0f} s; its output is in {}", seconds, log));
    SleepFor(0.02);
  }
}

std::string ComplaintsIn(const std::string& log) {
  const Result<std::string> text = ReadFile(log, kMostLogBytes);
  std::string complaints;
  if (!text.ok()) return complaints;
  std::istringstream lines(*text);
  constexpr std::string_view kProgram = "hone: ";  // prefix of each message, of no use to a model
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kProgram)) complaints += (complaints.empty() ? "" : "\n") + line.substr(kProgram.size());
  }
  return complaints;
}

std::optional<pid_t> HolderOfRun(const std::string& store, const std::string& run) {
  // The store's lock file (docs/formats/run-store.md).
  struct stat lock {};
  if (stat(fmt::format("{}-{}.lock", store, run).c_str(), &lock) != 0) return std::nullopt;
  const Result<std::string> table = ReadFile("/proc/locks");
  if (!table.ok()) return std::nullopt;
  std::istringstream lines(*table);
  // A line looks like "1: FLOCK  ADVISORY  WRITE 15767 fe:00:5325463 0 EOF"; a waiting lock has "->" before its kind.
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string number, kind, advisory, mode, place;
    pid_t pid = 0;
    if (!(fields >> number >> kind >> advisory >> mode >> pid >> place) || kind != "FLOCK" || pid <= 0) continue;
    if (place.ends_with(fmt::format(":{}", lock.st_ino))) return pid;
  }
  return std::nullopt;
}

bool StopRun(const std::string& store, const std::string& run, double seconds) {
  const Stopwatch watch;
  std::optional<pid_t> asked_pid;
  while (const std::optional<pid_t> holder = HolderOfRun(store, run)) {
    // Signal a process only once, because a second signal would interrupt its evaluation.
    if (asked_pid != holder) {
      kill(*holder, SIGTERM);
      asked_pid = holder;
    }
    (void)EndOfBackground(*holder);
    if (watch.Seconds() > seconds) return false;
    SleepFor(0.05);
  }
  return true;
}

}  // namespace hone::mcp
