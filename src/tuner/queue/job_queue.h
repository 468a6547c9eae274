// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Jobs that wait in Redis for workers on other machines, and their answers.
//
// The names of keys, for a queue NAME; the braces are part of them, and ID is USER:HASH, whose user submitted the job:
//   hone:{NAME}:jobs       a stream, an entry for each job that waits or is being judged; its group is "workers"
//   hone:{NAME}:sieved     a stream of the same form: jobs that a sieve has let through, and that wait for a judge
//   hone:{NAME}:job:ID     the bundle, kept until its submitter has the answer, and for kAnswerSeconds at most
//   hone:{NAME}:state:ID   a hash: state (waiting, claimed, judging), deaths, entry (the job's place in its stream), and
//                          simulated (what a sieve said of it)
//   hone:{NAME}:answer:ID  the answer, kept for kAnswerSeconds
//   hone:{NAME}:said:ID    a list with one element once the answer is there, for whoever waits
//   hone:{NAME}:dead       a stream of jobs that were given up: id, reason
//   hone:{NAME}:device     facts of the device that the workers of this queue judge on
//   hone:{NAME}:workers    a hash, a field for each worker's process: what it said of itself last (worker_report.h)
//   hone:{NAME}:counts     a hash: answered, put_back, died, sieved
//
// The server's access rules can tell the parties apart by these names (docs/queue.md): a submitter reads no answer but
// its own, and a worker writes no bundle. So each script names its keys among its arguments: what a script declares as
// its keys, the server wants full rights for.
//
// Two kinds of workers claim jobs. Judges take what is sieved first, and what was submitted where nothing is. Sieves, which
// need no GPU, take what was submitted, answer what they can refuse, and pass the rest on; so a queue works with no sieve,
// and no judge waits for one.
//
// Submitting, beginning, answering, passing on, putting back and taking over are one Lua script each, so that no crash of a client
// falls between two commands; a claim that stops halfway is taken over when its lease ends. A worker holds a job by a
// lease of kLeaseSeconds, which it renews while its judgement makes progress; when the lease runs out, another worker
// takes the job over. Only deaths while a job was being judged count against it; after kMostDeaths the job is answered
// with an error. The first answer stays: a job is never answered twice. docs/queue.md describes the whole.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "tuner/queue/redis_connection.h"

namespace hone {

inline constexpr double kLeaseSeconds = 30;
inline constexpr int kMostDeaths = 3;
inline constexpr int kAnswerSeconds = 7 * 24 * 3600;

struct ClaimedJob {
  std::string id;
  std::string entry;   // its place in the stream
  std::string bundle;  // docs/formats/spool.md
  bool sieved = false;    // it waited in the stream of sieved jobs
  std::string simulated;  // the evaluation by which a sieve let it through (docs/evaluation-json.md); empty: none
};

struct QueueCounts {
  int64_t waiting = 0;  // not claimed, sieved ones among them
  int64_t waiting_sieved = 0;
  int64_t claimed = 0;
  int64_t dead = 0;  // given up
  // Since the queue began:
  int64_t answered = 0, put_back = 0;
  int64_t passed_on = 0;  // by sieves
  int64_t died = 0;  // leases that ran out during a judgement
};

// What a worker's process said of itself.
struct SaidByWorker {
  std::string worker;
  double seconds_ago = 0;  // by the server's clock
  std::string report;      // worker_report.h
};

// One connection; used by one thread at a time.
class JobQueue {
 public:
  // kInvalidArgument: the server would throw jobs away when its memory is full (maxmemory-policy). What a worker alone
  // may do is left to Claim, so that a submitter's rights suffice.
  static Result<std::unique_ptr<JobQueue>> Open(const RedisAddress& address, double lease_seconds = kLeaseSeconds);

  // For submitters. Submitting a job that is there already, or is answered, changes nothing.
  Status Submit(const std::string& id, const std::string& bundle);
  // Waits at most so long for the answer's text. Nothing: it is not there yet.
  Result<std::optional<std::string>> WaitForAnswer(const std::string& id, double seconds);
  // Whether the job waits, is being judged or is answered; false: the server lost it, or its place in the stream (a
  // stream can be trimmed by hand), and it has to be submitted again.
  Result<bool> Knows(const std::string& id);
  // The submitter has the answer: the bundle need not be kept. The answer is.
  Status Forget(const std::string& id);

  // For workers. Nothing: no job came within `seconds`. A judge takes sieved jobs first, a sieve takes none of them.
  Result<std::optional<ClaimedJob>> Claim(const std::string& worker, double seconds, bool as_sieve = false);
  // From now on a death counts against the job. False: the lease was lost, and another worker has the job.
  Result<bool> Begin(const std::string& worker, const ClaimedJob& job);
  Result<bool> Renew(const std::string& worker, const ClaimedJob& job);
  // Answers the job, once: where it is answered already, the first answer stays.
  Status Finish(const ClaimedJob& job, const std::string& answer);
  // For sieves: from now on the job waits for a judge, who gets `simulated`. Nothing happens where the lease was lost.
  Status PassOn(const std::string& worker, const ClaimedJob& job, const std::string& simulated);
  // How many jobs are sieved and not claimed.
  Result<int64_t> WaitingSieved();
  // Back to the queue's end, without a death counted: the worker ends, or its machine failed.
  Status PutBack(const std::string& worker, const ClaimedJob& job);

  // The device of the queue's workers. A worker with another kind of device is refused (kInvalidArgument): a queue
  // compares kernels, and times of two kinds are not to be compared.
  Status Register(const std::string& device_name, const std::string& facts);
  Result<std::string> Facts();  // empty: no worker was there yet
  Result<QueueCounts> Counts();

  // What a worker's process says of itself, for `hone workers`; an empty report takes it off the list.
  Status Say(const std::string& worker, const std::string& report);
  // By name. Those who have not said anything for a day are taken off the list, where the caller may.
  Result<std::vector<SaidByWorker>> Workers();

 private:
  JobQueue(std::unique_ptr<RedisConnection> connection, const RedisAddress& address, double lease_seconds);
  std::string Key(std::string_view what, std::string_view id = {}) const;
  Result<RedisReply> Run(std::string_view script, const std::vector<std::string>& arguments);
  std::string Stream(bool sieved) const { return Key(sieved ? "sieved" : "jobs"); }
  Status MakeGroups();
  Result<std::optional<ClaimedJob>> TryClaim(const std::string& worker, double seconds, bool as_sieve);
  Result<std::optional<ClaimedJob>> TakeOver(const std::string& worker, bool sieved);
  // `seconds` 0: what is there now.
  Result<std::optional<ClaimedJob>> TakeNext(const std::string& worker, bool sieved, double seconds);
  Result<std::optional<ClaimedJob>> Read(const RedisReply& entry, bool sieved);
  Result<std::pair<int64_t, int64_t>> WaitingAndClaimed(bool sieved);

  std::unique_ptr<RedisConnection> connection_;
  const std::string prefix_;
  const int64_t lease_milliseconds_;
};

}  // namespace hone
