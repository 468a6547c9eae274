// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the run store in memory: for tests, and for reading exported runs.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>

#include "base/numbers/hash.h"
#include "base/text/json_text.h"
#include "hone/tuner/run_store.h"
#include "tuner/store/run_names.h"

namespace hone {
namespace {

class MemoryRunStore : public RunStore {
 public:
  std::string Location() const override { return "memory"; }

  Status CreateRun(const RunInfo& info) override {
    std::lock_guard lock(mutex_);
    if (runs_.contains(info.id)) return Status::Io(fmt::format("run {} is there already", info.id));
    runs_[info.id].info = info;
    return Status::Ok();
  }

  Result<std::vector<RunInfo>> Runs() override {
    std::lock_guard lock(mutex_);
    std::vector<RunInfo> runs;
    for (const auto& [id, run] : runs_) {
      RunInfo info = run.info;
      info.events = static_cast<int64_t>(run.events.size());
      info.state = "open";
      if (!run.events.empty() && run.events.back().kind == EventKind::kEnded) {
        const nlohmann::json payload = ReadJsonText(run.events.back().payload);
        const auto reason = payload.is_object() ? payload.find("reason") : payload.end();
        info.state = reason != payload.end() && reason->is_string() ? reason->get<std::string>() : "ended";
      }
      runs.push_back(std::move(info));
    }
    std::stable_sort(runs.begin(), runs.end(), [](const RunInfo& a, const RunInfo& b) {
      return a.started != b.started ? a.started > b.started : a.id > b.id;
    });
    return runs;
  }

  Result<RunInfo> FindRun(std::string_view name) override {
    HONE_ASSIGN_OR_RETURN(std::vector<RunInfo> runs, Runs());
    return MatchRun(runs, name, Location());
  }

  Result<std::unique_ptr<RunClaim>> Claim(const std::string& run) override {
    std::lock_guard lock(claimed_->mutex);
    if (!claimed_->runs.insert(run).second) {
      return Status::Unavailable(fmt::format("run {} is being continued by another process", run));
    }
    return std::unique_ptr<RunClaim>(std::make_unique<MemoryClaim>(claimed_, run));
  }

  Result<int64_t> Append(const std::string& run, const EventDraft& draft) override {
    std::lock_guard lock(mutex_);
    auto found = runs_.find(run);
    if (found == runs_.end()) return Status::Io(fmt::format("no run {} to append to", run));
    for (const std::string& source : draft.sources) sources_[Sha256Hex(source)] = source;
    Event event;
    event.sequence = static_cast<int64_t>(found->second.events.size());
    event.time = draft.time;
    event.kind = draft.kind;
    event.node = draft.node;
    event.payload = draft.payload;
    event.evaluation = draft.evaluation;
    found->second.events.push_back(std::move(event));
    return found->second.events.back().sequence;
  }

  Result<std::vector<Event>> Events(const std::string& run, int64_t from) override {
    std::lock_guard lock(mutex_);
    auto found = runs_.find(run);
    if (found == runs_.end()) return std::vector<Event>();
    const auto& events = found->second.events;
    const size_t first = std::min(static_cast<size_t>(std::max<int64_t>(from, 0)), events.size());
    return std::vector<Event>(events.begin() + static_cast<std::ptrdiff_t>(first), events.end());
  }

  Result<SourceHash> PutSource(std::string_view text) override {
    std::lock_guard lock(mutex_);
    SourceHash hash = SourceHash::Of(text);
    sources_[hash.hex()] = std::string(text);
    return hash;
  }

  Result<std::string> Source(const SourceHash& hash) override {
    std::lock_guard lock(mutex_);
    auto found = sources_.find(hash.hex());
    if (found == sources_.end()) return Status::NotFound(fmt::format("no source with SHA-256 {}", hash.hex()));
    return found->second;
  }

 private:
  struct ClaimSet {
    std::mutex mutex;
    std::set<std::string> runs;
  };
  // A claim shares the set of claimed runs, so that it may outlive the store.
  class MemoryClaim : public RunClaim {
   public:
    MemoryClaim(std::shared_ptr<ClaimSet> set, std::string run) : set_(std::move(set)), run_(std::move(run)) {}
    ~MemoryClaim() override {
      std::lock_guard lock(set_->mutex);
      set_->runs.erase(run_);
    }

   private:
    std::shared_ptr<ClaimSet> set_;
    std::string run_;
  };
  struct Run {
    RunInfo info;
    std::vector<Event> events;
  };

  std::mutex mutex_;
  std::map<std::string, Run> runs_;
  std::map<std::string, std::string> sources_;
  std::shared_ptr<ClaimSet> claimed_ = std::make_shared<ClaimSet>();
};

}  // namespace

std::unique_ptr<RunStore> MakeMemoryRunStore() { return std::make_unique<MemoryRunStore>(); }

}  // namespace hone
