// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Exchanges frames with the child, under time limits.
#include "tuner/device/sim/sim_process.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/text/json_text.h"

namespace hone::sim {

using nlohmann::json;

namespace {

constexpr int kChildFd = 3;
constexpr int64_t kMaxAnswerBytes = 8 << 20;  // limit on one answer of the child

// A child that gets no processor is waited for at most so many times a launch's time limit.
constexpr double kMostWaits = 30;
// Time limit for the rest of an answer that has begun to arrive.
constexpr double kAnswerSeconds = 30;

// Returns the processor time of all threads of a process, in seconds; 0 when the process is gone.
double ProcessorSeconds(pid_t process) {
  clockid_t clock;
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Returns a sealed memory file that holds the image.
Result<UniqueFd> ImageFile(const std::string& image) {
  UniqueFd fd(memfd_create("hone-sim-image", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return Status::Io(ErrnoMessage("memfd_create", "image", errno));
  size_t done = 0;
  while (done < image.size()) {
    const ssize_t n = write(fd.get(), image.data() + done, image.size() - done);
    if (n <= 0) return Status::Io(ErrnoMessage("write", "image", errno));
    done += static_cast<size_t>(n);
  }
  return fd;
}

std::string ReadLink(const std::string& program) {
  char path[4096];
  const ssize_t n = readlink(program.c_str(), path, sizeof path);
  return n > 0 && n < static_cast<ssize_t>(sizeof path) && path[0] == '/' ? std::string(path, static_cast<size_t>(n))
                                                                          : program;
}

}  // namespace

Result<std::unique_ptr<SimProcess>> SimProcess::Start(const Options& options, const std::string& image,
                                                      const ImageSymbols& symbols, double limit_seconds,
                                                      std::string* refused) {
  HONE_CHECK(!options.command.empty(), "a simulator session needs a command for its child");
  HONE_ASSIGN_OR_RETURN(SocketPair sockets, MakeSocketPair());
  ChildOptions child;
  child.argv = options.command;
  child.argv[0] = ReadLink(child.argv[0]);
  child.argv.push_back("--fd");
  child.argv.push_back(std::to_string(kChildFd));
  child.environment = {"LC_ALL=C"};
  child.working_directory = "/";
  child.descriptors = {{sockets.theirs.get(), kChildFd}, {2, 2}};
  if (options.sandbox) {
    SandboxPolicy policy;
    policy.read_paths = SystemReadPaths();
    policy.read_paths.push_back(child.argv[0]);
    policy.exec_paths = SystemExecPaths();
    policy.exec_paths.push_back(child.argv[0]);
    policy.open_files = 64;
    policy.file_bytes = 1 << 20;
    child.sandbox = policy;
  }
  HONE_ASSIGN_OR_RETURN(ChildProcess started, ChildProcess::Start(child));
  auto process = std::unique_ptr<SimProcess>(new SimProcess(std::move(started)));
  process->socket_ = std::move(sockets.ours);
  sockets.theirs.Reset();

  HONE_ASSIGN_OR_RETURN(const UniqueFd file, ImageFile(image));
  const json load{{"op", "load"},
                  {"static_shared", symbols.static_shared},
                  {"dynamic_offset", symbols.dynamic_offset},
                  {"has_dynamic", symbols.has_dynamic},
                  {"guards", symbols.guards},
                  {"constants", symbols.constants},
                  {"workers", options.workers}};
  HONE_RETURN_IF_ERROR(SendFrame(process->socket_.get(), DumpJson(load), {}, {file.get()}, limit_seconds));
  Result<Frame> frame = ReceiveFrame(process->socket_.get(), limit_seconds, kMaxAnswerBytes);
  if (!frame.ok()) {
    if (frame.status().code() == StatusCode::kTimedOut) {
      *refused = "loading the image did not end in time";
      return std::unique_ptr<SimProcess>();
    }
    process->child_.Kill();
    const std::optional<ExitState> exit = process->child_.Wait(2);
    // A crash of a static initialiser is the candidate's fault; a child that cannot start is Hone's.
    if (exit && exit->signal != 0 && !exit->killed_by_us) {
      *refused = "loading the image ended with " + exit->Describe();
      return std::unique_ptr<SimProcess>();
    }
    return Status::Unavailable(fmt::format("the simulator's child '{}' did not answer ({}): {}", child.argv[0],
                                           exit ? exit->Describe() : "still running", frame.status().message()));
  }
  HONE_ASSIGN_OR_RETURN(LoadAnswer answer, DecodeLoadAnswer(frame->header));
  if (!answer.refused.empty()) {
    *refused = std::move(answer.refused);
    return std::unique_ptr<SimProcess>();
  }
  process->writable_bytes_ = answer.writable_bytes;
  return process;
}

Status SimProcess::Show(const std::vector<ShownBlock>& blocks) {
  json away{{"op", "unmap"}, {"ranges", json::array()}};
  for (auto shown = shown_.begin(); shown != shown_.end();) {
    const auto shown_block = std::find_if(blocks.begin(), blocks.end(),
                                          [&](const ShownBlock& b) { return b.block->map_begin == shown->first; });
    // The same address may meanwhile belong to another arena, whose files differ.
    const bool is_unchanged = shown_block != blocks.end() && [&] {
      const std::vector<Mapping> current = shown_block->arena->MappingsOf(*shown_block->block);
      return shown_block->writable == shown->second[0].writable && current.size() == shown->second.size() &&
             current[0].fd == shown->second[0].fd && current[0].bytes == shown->second[0].bytes &&
             current[0].offset == shown->second[0].offset && current[0].pieces_key == shown->second[0].pieces_key &&
             shown_block->arena->id() == shown->second[0].arena;
    }();
    if (is_unchanged) {
      ++shown;
      continue;
    }
    for (const Mapping& m : shown->second) away["ranges"].push_back({m.address, m.bytes});
    shown = shown_.erase(shown);
  }
  if (!away["ranges"].empty()) HONE_RETURN_IF_ERROR(SendFrame(socket_.get(), DumpJson(away), {}, {}, 10));
  json maps{{"op", "map"}, {"maps", json::array()}};
  std::vector<int> fds;
  const auto flush = [&]() -> Status {
    if (fds.empty()) return Status::Ok();
    HONE_RETURN_IF_ERROR(SendFrame(socket_.get(), DumpJson(maps), {}, fds, 10));
    maps["maps"] = json::array();
    fds.clear();
    return Status::Ok();
  };
  for (const auto& [arena, block, writable] : blocks) {
    if (shown_.count(block->map_begin) != 0) continue;
    std::vector<Mapping> mappings = arena->MappingsOf(*block);
    for (Mapping& m : mappings) m.writable = writable;
    if (fds.size() + mappings.size() > kMaxFrameFds) HONE_RETURN_IF_ERROR(flush());
    for (const Mapping& m : mappings) {
      maps["maps"].push_back({{"fd", fds.size()},
                              {"address", m.address},
                              {"bytes", m.bytes},
                              {"offset", m.offset},
                              {"piece", m.piece},
                              {"pieces_key", m.pieces_key},
                              {"writable", m.writable}});
      fds.push_back(m.fd);
    }
    shown_[block->map_begin] = mappings;
  }
  return flush();
}

Result<SimProcess::Exchange> SimProcess::Launch(const LaunchMessage& message, double limit_seconds) {
  Exchange exchange;
  const auto ended = [&](const Status& status) -> Result<Exchange> {
    if (status.code() == StatusCode::kTimedOut) {
      child_.Kill();
      (void)child_.Wait(2);
      exchange.timed_out = true;
      return std::move(exchange);
    }
    if (status.code() != StatusCode::kUnavailable) {
      child_.Kill();
      return status;
    }
    std::optional<ExitState> exit = child_.Wait(2);
    if (!exit) {
      child_.Kill();
      exit = child_.Wait(2);
    }
    exchange.died = exit ? exit->Describe() : "an unknown end";
    return std::move(exchange);
  };
  Status sent = SendFrame(socket_.get(), EncodeLaunch(message), {EncodeArguments(message)}, {}, 10);
  if (!sent.ok()) return ended(sent);
  // On a busy host a launch takes more wall time, so the limit applies to its processor time.
  const double processor_before = ProcessorSeconds(child_.pid()), began = SteadySeconds();
  for (double wait = limit_seconds;;) {
    HONE_ASSIGN_OR_RETURN(const bool readable, WaitReadable(socket_.get(), wait));
    if (readable) break;
    const double processor_seconds = ProcessorSeconds(child_.pid()) - processor_before;
    if (processor_seconds >= 0.95 * limit_seconds || SteadySeconds() - began >= kMostWaits * limit_seconds) {
      return ended(Status(StatusCode::kTimedOut, "the launch did not end"));
    }
    wait = std::max(0.02, limit_seconds - processor_seconds);
  }
  Result<Frame> frame = ReceiveFrame(socket_.get(), kAnswerSeconds, kMaxAnswerBytes);
  if (!frame.ok()) return ended(frame.status());
  Result<LaunchAnswer> answer = DecodeAnswer(frame->header);
  if (!answer.ok()) {
    child_.Kill();
    return answer.status();
  }
  exchange.answer = std::move(*answer);
  return exchange;
}

}  // namespace hone::sim
