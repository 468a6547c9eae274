// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone-gnn/ranks.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/files/file.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "gnn/dist/launcher.h"
#include "gnn/graph/parallel.h"
#include "hone-gnn/commands.h"
#include "hone-gnn/device.h"

namespace hone::gnn {
namespace {

// Returns whether the lost rank is rank 0, which otherwise prints for all; then every other rank prints.
bool LosesRank0(const Status& status) {
  return status.message().starts_with("rank 0 on host") && status.message().find("was lost") != std::string::npos;
}

// Ends the process of a rank whose training thread does not return after a loss.
void GiveUp(int rank, const Status& why) {
  if (rank == 0 || LosesRank0(why)) hone::PrintError("hone-gnn: {}\n", why.message());
  _exit(3);
}

}  // namespace

void AddRankFlags(CLI::App& command, RankFlags& flags) {
  command
      .add_option(
          "--ranks", flags.ranks,
          "train with so many processes (ranks) on this host, which divide the shards of each step among them; on "
          "the CPU, unless --device says otherwise")
      ->check(kAboveZero);
  command
      .add_option("--gpus", flags.gpus,
                  "the same as --ranks with a GPU for each process: the first takes the first GPU, and so on")
      ->check(kAboveZero);
  command
      .add_option("--exchange", flags.exchange,
                  "how gradients travel between GPUs: through the GPUs' own memory (peers, on one host only), through "
                  "NCCL (nccl), or whichever works (auto)")
      ->group(kOfGpu)
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "peers", "nccl"}));
  command
      .add_option("--rank-timeout", flags.timeout,
                  "take a rank for lost after so many seconds without a sign of life from it")
      ->check(CLI::Range(1.0, 3600.0))
      ->capture_default_str();
}

Result<RankPlace> ThisRank(const RankFlags& flags) {
  HONE_ASSIGN_OR_RETURN(RankPlace place,
                        FindRankPlace([](const char* name) -> const char* { return std::getenv(name); }));
  const bool started_by_hone = std::getenv("HONE_RANK") != nullptr;
  if (flags.ranks > 0 && flags.gpus > 0) return Status::InvalidArgument("give --ranks or --gpus, not both");
  // One epoch of a graph of 2000 nodes, on 2 cores of an x86-64 server, takes 2 s as 64 ranks, 4 s as 128, 12 s as 256,
  // and is not over in 40 s as 1000: the time for starting and connecting grows with the square of their number.
  const int cores = ThreadCount(0), most = std::max(64, 4 * cores);
  if (flags.ranks > most && !started_by_hone) {
    return Status::InvalidArgument(
        fmt::format("--ranks {}: at most {} on this machine with its {} core{}; more would only wait for each other",
                    flags.ranks, most, cores, cores == 1 ? "" : "s"));
  }
  if ((flags.ranks > 0 || flags.gpus > 0) && !started_by_hone && place.size > 1) {
    return Status::InvalidArgument(
        fmt::format("this is rank {} of {} already (from {}): leave out --{}, which starts processes of its own",
                    place.rank, place.size, place.launcher, flags.ranks > 0 ? "ranks" : "gpus"));
  }
  return place;
}

bool StartsRanks(const RankFlags& flags, const RankPlace& place) {
  return std::max(flags.ranks, flags.gpus) > 1 && place.launcher != "--ranks";
}

Result<int> StartRanks(const RankFlags& flags) {
  LaunchOptions options;
  options.ranks = std::max(flags.ranks, flags.gpus);
  options.grace_seconds = flags.timeout + 2;  // a rank that learns of the loss ends by itself within the timeout
  char program[4096];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
  if (length <= 0) return Status::Io(ErrnoMessage("read", "/proc/self/exe", errno));
  HONE_ASSIGN_OR_RETURN(const std::string line, ReadFile("/proc/self/cmdline"));
  for (size_t at = 0; at < line.size();) {
    const size_t end = std::min(line.find('\0', at), line.size());
    options.argv.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  options.argv[0] = std::string(program, static_cast<size_t>(length));
  for (char** entry = environ; *entry != nullptr; ++entry) options.environment.emplace_back(*entry);
  options.line = [](int rank, std::string_view text) { hone::PrintError("rank {}: {}\n", rank, text); };
  HONE_ASSIGN_OR_RETURN(const LaunchResult result, LaunchRanks(options));
  if (!result.failure.empty()) hone::PrintError("hone-gnn: {}\n", result.failure);
  return result.exit_status;
}

Status RankSession::Join(const RankPlace& place, const RankFlags& flags) {
  place_ = place;
  setenv("NCCL_NVLS_ENABLE", "0", 0);  // NVLink multicast stays off unless asked for; read when NCCL is loaded
  GroupOptions options;
  options.place = place;
  options.heartbeat_timeout = flags.timeout;
  options.grace_seconds = flags.timeout;
  options.operation_seconds = 3600;  // one rank may take long to open its graph; a hung one is found by its silence
  options.give_up = [rank = place.rank](const Status& why) { GiveUp(rank, why); };
  HONE_ASSIGN_OR_RETURN(group_, ProcessGroup::Join(std::move(options)));
  return Status::Ok();
}

int RankSession::hosts() const {
  if (!group_ || group_->store() == nullptr) return 1;
  const std::vector<std::string>& host_of_rank = group_->store()->hosts();
  return static_cast<int>(std::set<std::string>(host_of_rank.begin(), host_of_rank.end()).size());
}

int RankSession::Threads(int wanted_threads) const {
  if (wanted_threads > 0 || group_->ranks_on_this_host() == 1) return wanted_threads;
  const int threads_of_rank = ThreadCount(0);
  // A launcher that has bound each rank to cores of its own has already divided them.
  if (threads_of_rank < static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) && place_.launcher != "--ranks")
    return threads_of_rank;
  return std::max(1, threads_of_rank / group_->ranks_on_this_host());
}

int RankSession::End(const Status& status, int exit_status) {
  if (status.ok()) {
    // All work is done: a rank lost from here on costs nothing.
    if (group_) (void)group_->Leave();
    return exit_status;
  }
  if (group_ && group_->size() > 1) {
    if (group_->loss().ok()) group_->Fail(status.WithContext(group_->communicator().Name(group_->rank())));
    if (group_->rank() != 0 && !LosesRank0(status)) {
      return status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kNotFound ? 2 : 3;
    }
  }
  return ReportStatus(status);
}

}  // namespace hone::gnn
