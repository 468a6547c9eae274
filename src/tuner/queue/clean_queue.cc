// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/clean_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tuner/queue/job_queue.h"
#include "tuner/queue/worker_report.h"

namespace hone {
namespace {

constexpr const char* kPage = "1000";  // keys or entries of one reply
constexpr size_t kKeysOfACommand = 500;  // keys that one command removes

// Withdraws a job, unless a worker has claimed it meanwhile. ARGV: stream, group, entry, job, state.
constexpr std::string_view kWithdraw = R"(
local groups = redis.call('EXISTS', ARGV[1]) == 1 and #redis.call('XINFO', 'GROUPS', ARGV[1]) or 0
if groups > 0 and #redis.call('XPENDING', ARGV[1], ARGV[2], ARGV[3], ARGV[3], 1) > 0 then return 0 end
if redis.call('XDEL', ARGV[1], ARGV[3]) == 0 then return 0 end
redis.call('UNLINK', ARGV[4], ARGV[5])
return 1)";

struct Entry {
  std::string stream, entry;
  double age = 0;  // seconds
  bool claimed = false;
};

class Cleaner {
 public:
  Cleaner(std::unique_ptr<RedisConnection> connection, std::string prefix, const CleanOptions& options)
      : connection_(std::move(connection)), prefix_(std::move(prefix)), options_(options) {}

  Result<CleanReport> Run() {
    HONE_ASSIGN_OR_RETURN(const RedisReply time, connection_->Command({"TIME"}));
    if (time.list.size() == 2)
      now_ = std::strtod(time.list[0].text.c_str(), nullptr) + std::strtod(time.list[1].text.c_str(), nullptr) / 1e6;
    // Keys are listed before entries, so that a job whose keys are seen has an entry when these are listed, unless it
    // has been answered since.
    HONE_RETURN_IF_ERROR(ListKeys());
    for (const char* stream : {"jobs", "sieved"}) HONE_RETURN_IF_ERROR(ListEntries(prefix_ + stream));
    HONE_RETURN_IF_ERROR(CleanAnswers());
    HONE_RETURN_IF_ERROR(CleanWaiting());
    HONE_RETURN_IF_ERROR(CleanDead());
    if (options_.all) {
      report_.meant = report_.there;
      if (options_.really) HONE_RETURN_IF_ERROR(Remove(keys_));
    }
    return report_;
  }

 private:
  // Lists all keys of the queue.
  Status ListKeys() {
    std::set<std::string> known_keys;  // SCAN may give a key twice
    std::string cursor = "0";
    do {
      HONE_ASSIGN_OR_RETURN(const RedisReply page,
                            connection_->Command({"SCAN", cursor, "MATCH", prefix_ + "*", "COUNT", kPage}));
      if (page.list.size() != 2) break;
      cursor = page.list[0].text;
      for (const RedisReply& key : page.list[1].list) known_keys.insert(key.text);
    } while (cursor != "0");
    keys_.assign(known_keys.begin(), known_keys.end());
    return Status::Ok();
  }

  // Lists the jobs of a stream, and which of them a worker has claimed.
  Status ListEntries(const std::string& stream) {
    std::set<std::string> claimed;
    const Result<RedisReply> pending = connection_->Command({"XPENDING", stream, "workers", "-", "+", "1000000"});
    // Without a worker there is no group.
    if (!pending.ok() && pending.status().message().find("NOGROUP") == std::string::npos) return pending.status();
    for (size_t i = 0; pending.ok() && i < pending->list.size(); ++i) {
      if (!pending->list[i].list.empty()) claimed.insert(pending->list[i].list[0].text);
    }
    return ForEachEntry(stream, [&](const std::string& entry, const std::string& id, double age) {
      entries_[id] = {.stream = stream, .entry = entry, .age = age, .claimed = claimed.contains(entry)};
    });
  }

  // Calls `each` for every entry of a stream, page by page.
  template <typename F>
  Status ForEachEntry(const std::string& stream, const F& each) {
    std::string from = "-";
    while (true) {
      HONE_ASSIGN_OR_RETURN(const RedisReply page, connection_->Command({"XRANGE", stream, from, "+", "COUNT", kPage}));
      for (const RedisReply& one : page.list) {
        if (one.list.size() != 2) continue;
        std::string id;
        for (size_t i = 0; i + 1 < one.list[1].list.size(); i += 2) {
          if (one.list[1].list[i].text == "id") id = one.list[1].list[i + 1].text;
        }
        // An entry's id begins with the milliseconds of its creation.
        each(one.list[0].text, id, std::max(0.0, now_ - std::strtod(one.list[0].text.c_str(), nullptr) / 1000));
      }
      if (page.list.empty()) return Status::Ok();
      from = "(" + page.list.back().list[0].text;
    }
  }

  // Handles answers and bundles of jobs that are neither waiting nor in progress.
  Status CleanAnswers() {
    std::set<std::string> answered;
    const std::string answer = prefix_ + "answer:";
    for (const std::string& key : keys_) {
      if (key.rfind(answer, 0) == 0) answered.insert(key.substr(answer.size()));
    }
    std::vector<std::string> meant;
    for (const std::string& key : keys_) {
      for (const char* kind : {"job:", "state:", "answer:", "said:"}) {
        const std::string begin = prefix_ + kind;
        if (key.rfind(begin, 0) != 0) continue;
        const std::string id = key.substr(begin.size());
        if (entries_.contains(id)) continue;
        const bool is_answer = begin == answer, is_lost = begin == prefix_ + "job:" && !answered.contains(id);
        HONE_ASSIGN_OR_RETURN(const RedisReply ttl_reply, connection_->Command({"TTL", key}));
        if (ttl_reply.integer == -2) continue;  // the key has expired since it was listed
        int64_t bytes = 0;
        if (is_answer) {
          HONE_ASSIGN_OR_RETURN(const RedisReply length, connection_->Command({"STRLEN", key}));
          bytes = length.integer;
        }
        const bool old = static_cast<double>(kAnswerSeconds - ttl_reply.integer) >= options_.older_seconds;
        for (QueueContents* contents : {&report_.there, &report_.meant}) {
          if (contents == &report_.meant && !(options_.answers && old)) continue;
          contents->answers += is_answer;
          contents->answer_bytes += bytes;
          contents->lost += is_lost;
        }
        if (options_.answers && old) meant.push_back(key);
      }
    }
    return options_.really && !options_.all ? Remove(meant) : Status::Ok();
  }

  // Counts the waiting jobs, and removes those that the options mean.
  Status CleanWaiting() {
    for (const auto& [id, entry] : entries_) {
      (entry.claimed ? report_.claimed : report_.there.waiting) += 1;
      if (entry.claimed || !options_.waiting || entry.age < options_.older_seconds) continue;
      if (options_.really && !options_.all) {
        HONE_ASSIGN_OR_RETURN(const RedisReply done,
                              connection_->Command({"EVAL", std::string(kWithdraw), "0", entry.stream, "workers",
                                                    entry.entry, prefix_ + "job:" + id, prefix_ + "state:" + id}));
        if (done.integer == 0) continue;  // a worker has claimed the job since it was listed
      }
      ++report_.meant.waiting;
    }
    return Status::Ok();
  }

  // Counts the dead jobs, and removes those that the options mean.
  Status CleanDead() {
    std::vector<std::string> meant;
    HONE_RETURN_IF_ERROR(ForEachEntry(prefix_ + "dead", [&](const std::string& entry, const std::string&, double age) {
      ++report_.there.dead;
      if (options_.dead && age >= options_.older_seconds) meant.push_back(entry);
    }));
    report_.meant.dead = static_cast<int64_t>(meant.size());
    for (size_t i = 0; options_.really && !options_.all && i < meant.size(); i += kKeysOfACommand) {
      std::vector<std::string> command = {"XDEL", prefix_ + "dead"};
      command.insert(command.end(), meant.begin() + static_cast<ptrdiff_t>(i),
                     meant.begin() + static_cast<ptrdiff_t>(std::min(i + kKeysOfACommand, meant.size())));
      HONE_RETURN_IF_ERROR(connection_->Command(command).status());
    }
    return Status::Ok();
  }

  // Removes keys, some hundreds with one command.
  Status Remove(const std::vector<std::string>& keys) {
    for (size_t i = 0; i < keys.size(); i += kKeysOfACommand) {
      std::vector<std::string> command = {"UNLINK"};
      command.insert(command.end(), keys.begin() + static_cast<ptrdiff_t>(i),
                     keys.begin() + static_cast<ptrdiff_t>(std::min(i + kKeysOfACommand, keys.size())));
      HONE_RETURN_IF_ERROR(connection_->Command(command).status());
    }
    return Status::Ok();
  }

  const std::unique_ptr<RedisConnection> connection_;
  const std::string prefix_;
  const CleanOptions& options_;
  double now_ = 0;                        // Unix seconds by the server's clock
  std::vector<std::string> keys_;         // all keys of the queue
  std::map<std::string, Entry> entries_;  // keyed by job ID
  CleanReport report_;
};

}  // namespace

Result<CleanReport> CleanQueue(const RedisAddress& address, const CleanOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<JobQueue> queue, JobQueue::Open(address));
  HONE_ASSIGN_OR_RETURN(const std::vector<ReportedWorker> workers, queue->Workers());
  const auto alive = std::count_if(workers.begin(), workers.end(),
                                   [](const ReportedWorker& w) { return w.seconds_ago <= kSilentSeconds; });
  if (options.all && options.really && alive > 0) {
    return Status::InvalidArgument(fmt::format(
        "{} worker{} still there ({} among them): stop them before the whole queue is removed", alive,
        alive == 1 ? " is" : "s are", std::find_if(workers.begin(), workers.end(), [](const ReportedWorker& w) {
                                        return w.seconds_ago <= kSilentSeconds;
                                      })->worker));
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<RedisConnection> connection, ConnectRedis(address));
  HONE_ASSIGN_OR_RETURN(CleanReport report,
                        Cleaner(std::move(connection), QueueKeyPrefix(address.queue), options).Run());
  report.workers = alive;
  return report;
}

}  // namespace hone
