// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/rank_environment.h"

#include <fmt/format.h>

#include <charconv>

namespace hone::gnn {
namespace {

constexpr int kDerivedPorts = 4;  // ports tried if the environment names none for the store

class Variables {
 public:
  explicit Variables(const std::function<const char*(const char*)>& variable) : variable_(variable) {}

  bool Has(const char* name) const { return !Text(name).empty(); }
  std::string Text(const char* name) const {
    const char* value = variable_(name);
    return value == nullptr ? std::string() : value;
  }
  // Returns the first of these variables that is set.
  std::string First(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      if (Has(name)) return Text(name);
    }
    return {};
  }
  // Reads a number into `number`, which stays unchanged if the variable is not set. The first value that is not a
  // number is kept as the error.
  void Read(const char* name, int& number) {
    const std::string text = Text(name);
    if (text.empty()) return;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
      if (status_.ok()) status_ = Status::InvalidArgument(fmt::format("{} is '{}', which is no number", name, text));
    }
  }
  const Status& status() const { return status_; }

 private:
  const std::function<const char*(const char*)>& variable_;
  Status status_;
};

// Returns ports derived from the job's name, below the range from which systems assign ports (32768 on Linux).
std::vector<int> PortsOfJob(const std::string& job) {
  uint32_t hash = 2166136261u;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  std::vector<int> ports;
  for (int i = 0; i < kDerivedPorts; ++i)
    ports.push_back(static_cast<int>(20000 + (hash + 2971u * static_cast<uint32_t>(i)) % 12000));
  return ports;
}

}  // namespace

std::string FirstHostOfList(const std::string& list) {
  std::string host;
  for (size_t i = 0; i < list.size() && list[i] != ','; ++i) {
    if (list[i] != '[') {
      host += list[i];
      continue;
    }
    while (++i < list.size() && list[i] != ',' && list[i] != '-' && list[i] != ']') host += list[i];
    i = list.find(']', i);
    if (i == std::string::npos) break;
  }
  return host;
}

Result<RankPlace> FindRankPlace(const std::function<const char*(const char*)>& variable) {
  Variables v(variable);
  RankPlace place;
  int local_size = 0;  // 0: unknown
  if (v.Has("HONE_RANK")) {
    place.launcher = "--ranks";
    v.Read("HONE_RANK", place.rank);
    v.Read("HONE_WORLD_SIZE", place.size);
    v.Read("HONE_LOCAL_RANK", place.local_rank);
    v.Read("HONE_STORE_FD", place.listener);
    place.job = v.Text("HONE_JOB");
    place.master_address = "127.0.0.1";
    place.ports.push_back(0);
    v.Read("HONE_STORE_PORT", place.ports[0]);
    HONE_RETURN_IF_ERROR(v.status());
    return place;
  }
  if (v.Has("RANK") && v.Has("WORLD_SIZE")) {
    place.launcher = "RANK and WORLD_SIZE";
    v.Read("RANK", place.rank);
    v.Read("WORLD_SIZE", place.size);
    v.Read("LOCAL_RANK", place.local_rank);
    v.Read("LOCAL_WORLD_SIZE", local_size);
    place.job = v.First({"TORCHELASTIC_RUN_ID"});
  } else if (v.Has("OMPI_COMM_WORLD_RANK")) {
    place.launcher = "mpirun";
    v.Read("OMPI_COMM_WORLD_RANK", place.rank);
    v.Read("OMPI_COMM_WORLD_SIZE", place.size);
    v.Read("OMPI_COMM_WORLD_LOCAL_RANK", place.local_rank);
    v.Read("OMPI_COMM_WORLD_LOCAL_SIZE", local_size);
    place.job = v.First({"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"});
  } else if (v.Has("PMI_RANK")) {
    place.launcher = "mpirun";
    v.Read("PMI_RANK", place.rank);
    v.Read("PMI_SIZE", place.size);
    v.Read("MPI_LOCALRANKID", place.local_rank);
    v.Read("MPI_LOCALNRANKS", local_size);
    place.job = v.First({"PMI_JOBID", "PMI_KVSNAME"});
  } else if (v.Has("SLURM_PROCID") && v.Has("SLURM_STEP_ID")) {
    // Without a step this is a batch script, which has the variables of a rank 0 but no other ranks.
    place.launcher = "srun";
    v.Read("SLURM_PROCID", place.rank);
    v.Read(v.Has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS", place.size);
    v.Read("SLURM_LOCALID", place.local_rank);
    place.job = v.Text("SLURM_JOB_ID") + "." + v.Text("SLURM_STEP_ID");
    place.master_address = FirstHostOfList(v.First({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}));
  } else {
    return place;
  }
  HONE_RETURN_IF_ERROR(v.status());
  if (place.size < 1 || place.rank < 0 || place.rank >= place.size) {
    return Status::InvalidArgument(
        fmt::format("{} says that this is rank {} of {}, which cannot be", place.launcher, place.rank, place.size));
  }
  if (place.size == 1) return place;
  if (v.Has("MASTER_ADDR")) place.master_address = v.Text("MASTER_ADDR");
  if (place.master_address.empty() && local_size == place.size) place.master_address = "127.0.0.1";
  if (place.master_address.empty()) {
    return Status::InvalidArgument(fmt::format(
        "rank {} of {} (from {}) does not know where rank 0 runs: set MASTER_ADDR to its host on every rank (with Open "
        "MPI: mpirun -x MASTER_ADDR=HOST)",
        place.rank, place.size, place.launcher));
  }
  if (v.Has("MASTER_PORT")) {
    place.ports.push_back(0);
    v.Read("MASTER_PORT", place.ports[0]);
    HONE_RETURN_IF_ERROR(v.status());
    if (place.ports[0] < 1 || place.ports[0] > 65535) {
      return Status::InvalidArgument(fmt::format("MASTER_PORT is {}; use 1 to 65535", place.ports[0]));
    }
  } else if (!place.job.empty()) {
    place.ports = PortsOfJob(place.job);
  } else {
    return Status::InvalidArgument(fmt::format(
        "rank {} of {} (from {}) does not know rank 0's port: set MASTER_PORT to any free one, equal on every rank",
        place.rank, place.size, place.launcher));
  }
  return place;
}

}  // namespace hone::gnn
