// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Holds jobs in Redis that wait for workers on other machines, and their answers.
//
// Names of the keys for a queue NAME; the braces are part of them. ID is USER:HASH, where USER submitted the job:
//   hone:{NAME}:jobs       a stream, an entry for each job that waits or is being judged; its group is "workers"
//   hone:{NAME}:sieved     a stream of the same form: jobs that a sieve has passed on, and that wait for a judge
//   hone:{NAME}:job:ID     the bundle, kept until its submitter has the answer, and for kAnswerSeconds at most
//   hone:{NAME}:state:ID   a hash: state (waiting, claimed, judging), deaths, entry (the job's entry in its stream),
//                          and simulated (a sieve's evaluation of it)
//   hone:{NAME}:answer:ID  the answer, kept for kAnswerSeconds
//   hone:{NAME}:said:ID    a list with one element once the answer is there, for waiting submitters
//   hone:{NAME}:dead       a stream of jobs that were given up: id, reason
//   hone:{NAME}:device     facts of the device on which this queue's workers judge
//   hone:{NAME}:workers    a hash, one field per worker process: its last report (worker_report.h)
//   hone:{NAME}:counts     a hash: answered, put_back, died, sieved
//
// The server's access rules can tell the parties apart by these names (docs/queue.md): a submitter may only read its
// own answers, and a worker may not write bundles. So each script names its keys among its arguments: for keys that a
// script declares, the server requires full rights.
//
// Two kinds of workers claim jobs. Judges take sieved jobs first, and unsieved ones if there are none. Sieves, which
// need no GPU, take unsieved jobs, answer those they can refuse, and pass the rest on. So a queue works without a
// sieve, and no judge waits for one.
//
// Submitting, claiming, answering, passing on, putting back and taking over are one Lua script each, so
// that a client cannot crash between two commands; a claim that had to wait for a job takes two, and one that stops
// halfway is taken over when its lease ends. A worker holds a job by a lease of kLeaseSeconds, which it renews while
// its judgement makes progress; when the lease runs out, another worker takes over. Only deaths during a judgement
// count against a job; after kMostDeaths it is answered with an error. The first answer stays: a job is never answered
// twice. docs/queue.md describes the whole.
#pragma once

#include <array>
#include <map>
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
  std::string entry;   // id in the stream
  std::string bundle;  // docs/formats/spool.md
  bool sieved = false;    // the job came from the stream of sieved jobs
  std::string simulated;  // a sieve's evaluation (docs/evaluation-json.md); empty: none
};

struct QueueCounts {
  int64_t waiting = 0;  // not claimed, sieved ones included
  int64_t waiting_sieved = 0;
  int64_t claimed = 0;
  int64_t dead = 0;  // abandoned jobs
  // Counts since the queue began:
  int64_t answered = 0, put_back = 0;
  int64_t passed_on = 0;  // jobs that sieves passed on to judges
  int64_t died = 0;  // leases that ran out during a judgement
};

// The last report of a worker process.
struct SaidByWorker {
  std::string worker;
  double seconds_ago = 0;  // by the server's clock
  std::string report;      // worker_report.h
};

// Returns what the keys of a queue begin with.
std::string QueueKeyPrefix(const std::string& queue);

// One connection; used by one thread at a time.
class JobQueue {
 public:
  // Connects. kInvalidArgument: the server would discard jobs when its memory is full (maxmemory-policy). Whatever
  // needs a worker's rights is left to Claim, so that a submitter's rights suffice.
  static Result<std::unique_ptr<JobQueue>> Open(const RedisAddress& address, double lease_seconds = kLeaseSeconds);

  // Submits a job. Submitting a job that is present already, or answered, changes nothing.
  Status Submit(const std::string& id, const std::string& bundle);
  // Waits at most `seconds` for the answer's text. nullopt: not there yet. Once it is there, the bundle is deleted; the
  // answer stays.
  Result<std::optional<std::string>> WaitForAnswer(const std::string& id, double seconds);
  // Returns whether the job waits, is being judged or is answered. false: the server lost it, or its entry in the
  // stream (which can be trimmed by hand), and it has to be submitted again.
  Result<bool> Knows(const std::string& id);

  // Claims a job for a worker, which judges it at once: from now on a death counts against it. nullopt: no job came
  // within `seconds`. A judge takes sieved jobs first, a sieve takes none of them.
  Result<std::optional<ClaimedJob>> Claim(const std::string& worker, double seconds, bool as_sieve = false);
  // Renews a claimed job's lease. false: the lease was lost, and another worker has the job.
  Result<bool> Renew(const std::string& worker, const ClaimedJob& job);
  // Answers the job once: if it is answered already, the first answer stays.
  Status Finish(const ClaimedJob& job, const std::string& answer);
  // For sieves: makes the job wait for a judge, which gets `simulated`. No effect if the lease was lost.
  Status PassOn(const std::string& worker, const ClaimedJob& job, const std::string& simulated);
  // Returns the number of sieved, unclaimed jobs.
  Result<int64_t> WaitingSieved();
  // Returns the job to the queue's end without counting a death: the worker ends, or its machine failed.
  Status PutBack(const std::string& worker, const ClaimedJob& job);

  // Registers the device of the queue's workers. Refuses a worker with another kind of device (kInvalidArgument): a
  // queue compares kernels, and times of two kinds are not comparable.
  Status Register(const std::string& device_name, const std::string& facts);
  Result<std::string> Facts();  // empty: no worker has registered yet
  Result<QueueCounts> Counts();

  // Stores a worker process's report, for `hone workers`; an empty report removes the worker from the list.
  Status Say(const std::string& worker, const std::string& report);
  // Lists workers by name. Workers silent for a day are removed, if the caller has the right.
  Result<std::vector<SaidByWorker>> Workers();

 private:
  JobQueue(std::unique_ptr<RedisConnection> connection, const RedisAddress& address, double lease_seconds);
  std::string Key(std::string_view what, std::string_view id = {}) const;
  Result<RedisReply> Run(std::string_view script, const std::vector<std::string>& arguments);
  std::string Stream(bool sieved) const { return Key(sieved ? "sieved" : "jobs"); }
  Status MakeGroups();
  Result<std::optional<ClaimedJob>> TryClaim(const std::string& worker, double seconds, bool as_sieve);
  // Runs a script that hands out a job; `more` are its further arguments.
  Result<std::optional<ClaimedJob>> HandOut(std::string_view script, const std::string& worker,
                                            const std::vector<std::string>& more);
  // Leases end by the server's clock. If that clock was set back, a lease that began before seems to begin in the
  // future, and a dead worker's would last until the clock is there again. A living worker renews its lease, and with it
  // the time. So an entry that seemed new in every look during a whole lease, by this machine's steady clock, is claimed
  // for `worker`; returns it, or an empty reply.
  Result<RedisReply> SeizeAfterAClockJump(const std::string& worker, bool sieved);
  Result<std::pair<int64_t, int64_t>> WaitingAndClaimed(bool sieved);

  std::unique_ptr<RedisConnection> connection_;
  const std::string prefix_;
  const int64_t lease_milliseconds_;
  // The claimed jobs of a stream that seemed new in the last look, by their entries.
  struct Watch {
    struct Held {
      std::string owner;
      double since = 0;  // steady seconds of the first look of this row
    };
    double looked = 0;
    std::map<std::string, Held> held;
  };
  std::array<Watch, 2> watches_;  // of submitted and of sieved jobs
};

}  // namespace hone
