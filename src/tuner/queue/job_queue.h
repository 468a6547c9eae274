// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A JobQueue holds jobs in Redis that wait for workers on other machines, and their answers.
//
// The keys of a queue NAME have these names; the braces are part of them. ID is USER:HASH, where USER submitted the
// job:
//   hone:{NAME}:jobs       a stream, an entry for each job that waits or is being judged; its group is "workers"
//   hone:{NAME}:sieved     a stream of the same form: jobs that a sieve has passed on, and that wait for a judge
//   hone:{NAME}:job:ID     the bundle, kept until a submitter has the answer, and for at most kAnswerSeconds
//   hone:{NAME}:state:ID   a hash: state (waiting, claimed, judging), deaths, entry (the job's entry in its stream),
//                          and simulated (a sieve's evaluation of it)
//   hone:{NAME}:answer:ID  the answer, kept for kAnswerSeconds
//   hone:{NAME}:said:ID    a list on which submitters wait; it gets one element when the answer is there
//   hone:{NAME}:dead       a stream of jobs that were given up: id, reason
//   hone:{NAME}:device     facts of the device on which this queue's workers judge
//   hone:{NAME}:workers    a hash, one field per worker process: its last report (worker_report.h)
//   hone:{NAME}:counts     a hash: answered, put_back, died, sieved
//
// The server's access rules can tell the parties apart by these names (docs/queue.md): a submitter may only read its
// own answers, and a worker may not write bundles. So each script gets its keys as ordinary arguments (ARGV): for keys
// that a script declares (KEYS), the server requires full rights.
//
// Two kinds of workers claim jobs. A sieve (sieve.h) needs no GPU: it takes jobs that no sieve has seen, answers those
// that it can refuse, and passes the rest on to the judges; these are called sieved. A judge takes sieved jobs first,
// and others if there are none. So a queue works without a sieve, and no judge waits for one.
//
// Submitting, claiming, answering, passing on, putting back and taking over are one Lua script each, so
// that a client cannot crash between two commands. (A claim that had to wait for a job takes two scripts; if a worker
// crashes between them, another takes the job over when its lease ends.) A worker holds a job by a lease of
// kLeaseSeconds, which it renews while its judgement makes progress; when the lease runs out, another worker takes the
// job over. Only deaths of workers during its judgement count against a job; after kMostDeaths it is answered with an
// error. The first answer stays: a job is never answered twice. docs/queue.md describes the whole.
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

inline constexpr double kLeaseSeconds = 30;  // a worker that does not renew its claim for this long loses the job
inline constexpr int kMostDeaths = 3;                 // deaths of workers after which a job is given up
inline constexpr int kAnswerSeconds = 7 * 24 * 3600;  // time for which answers are kept

struct ClaimedJob {
  std::string id;
  std::string entry;      // ID of the job's entry in its stream
  std::string bundle;     // the job as JSON (docs/formats/spool.md)
  bool sieved = false;    // the job came from the stream of sieved jobs
  std::string simulated;  // a sieve's evaluation (docs/evaluation-json.md); empty: none
};

struct QueueCounts {
  int64_t waiting = 0;         // unclaimed jobs, sieved ones included
  int64_t waiting_sieved = 0;  // unclaimed jobs that a sieve has passed on
  int64_t claimed = 0;
  int64_t dead = 0;  // jobs that were given up
  // Counts since the queue began:
  int64_t answered = 0, put_back = 0;
  int64_t passed_on = 0;  // jobs that sieves passed on to judges
  int64_t died = 0;  // leases that ran out during a judgement
};

// The last report of a worker process.
struct ReportedWorker {
  std::string worker;
  double seconds_ago = 0;  // by the server's clock
  std::string report;      // worker_report.h
};

// Returns the text with which all keys of a queue begin.
std::string QueueKeyPrefix(const std::string& queue);

// A JobQueue is one connection to the server; one thread may use it at a time.
class JobQueue {
 public:
  // Connects. Returns kInvalidArgument if the server would discard jobs when its memory is full (maxmemory-policy). A
  // submitter's rights suffice; what needs a worker's rights is done by Claim.
  static Result<std::unique_ptr<JobQueue>> Open(const RedisAddress& address, double lease_seconds = kLeaseSeconds);

  // Submits a job. Submitting a job that is present already, or answered, changes nothing.
  Status Submit(const std::string& id, const std::string& bundle);
  // Waits at most `seconds` for the answer's text; nullopt: not there yet. When it returns the answer, the bundle has
  // been deleted; the answer stays in the queue.
  Result<std::optional<std::string>> WaitForAnswer(const std::string& id, double seconds);
  // Returns whether the job waits, is being judged or is answered. Returns false if the server has lost it, or its
  // entry in the stream (which can be trimmed by hand); the job must then be submitted again.
  Result<bool> Knows(const std::string& id);

  // Claims a job for a worker, which must judge it at once: from now on, the worker's death counts against the job.
  // Returns nullopt if no job came within `seconds`. A judge takes sieved jobs first; a sieve takes no sieved job.
  Result<std::optional<ClaimedJob>> Claim(const std::string& worker, double seconds, bool as_sieve = false);
  // Renews a claimed job's lease. Returns false if the lease was lost, so that another worker may have the job.
  Result<bool> Renew(const std::string& worker, const ClaimedJob& job);
  // Answers the job once: if it is answered already, the first answer stays.
  Status Finish(const ClaimedJob& job, const std::string& answer);
  // For sieves: moves the job to the sieved jobs, where it waits for a judge, which gets `simulated`. Has no effect if
  // the lease was lost.
  Status PassOn(const std::string& worker, const ClaimedJob& job, const std::string& simulated);
  // Returns the number of sieved, unclaimed jobs.
  Result<int64_t> WaitingSieved();
  // Moves the job to the end of its stream without counting a death, because the worker ends or its machine failed.
  Status PutBack(const std::string& worker, const ClaimedJob& job);

  // Registers the device of the queue's workers. Returns kInvalidArgument for another kind of device than that of
  // earlier workers: a queue compares kernels, and times on two kinds of devices are not comparable.
  Status Register(const std::string& device_name, const std::string& facts);
  Result<std::string> Facts();  // returns the registered device's facts; empty: no worker has registered yet
  Result<QueueCounts> Counts();

  // Stores a worker process's report, for `hone workers`; an empty report removes the worker from the list.
  Status StoreReport(const std::string& worker, const std::string& report);
  // Lists workers by name. Workers silent for a day are removed, if the caller has the right.
  Result<std::vector<ReportedWorker>> Workers();

 private:
  JobQueue(std::unique_ptr<RedisConnection> connection, const RedisAddress& address, double lease_seconds);
  // Returns the queue's key for `what`, such as "answer", of the job `id`.
  std::string Key(std::string_view what, std::string_view id = {}) const;
  // Runs a Lua script.
  Result<RedisReply> RunScript(std::string_view script, const std::vector<std::string>& arguments);
  // Returns the key of the stream of sieved jobs, or of the others.
  std::string StreamKey(bool sieved) const { return Key(sieved ? "sieved" : "jobs"); }
  Status MakeGroups();
  // Claims a job, if there is one within `seconds`. `as_sieve`: only jobs that no sieve has seen.
  Result<std::optional<ClaimedJob>> TryClaim(const std::string& worker, double seconds, bool as_sieve);
  // Runs a script that hands out a job; `script_arguments` are its further arguments.
  Result<std::optional<ClaimedJob>> HandOut(std::string_view script, const std::string& worker,
                                            const std::vector<std::string>& script_arguments);
  // Claims a job for `worker` whose lease does not end because the server's clock was set back; returns the job's
  // entry, or an empty reply. Leases end by the server's clock. If it is set back, a lease that began before seems to
  // begin in the future, and a dead worker's lease would last until the clock is there again. A living worker renews
  // its lease, which corrects the time. So a job is claimed if its lease has seemed to begin in the future at every
  // look for the length of a lease, by this machine's steady clock.
  Result<RedisReply> SeizeAfterAClockJump(const std::string& worker, bool sieved);
  // Returns the numbers of jobs that wait in the stream, and that workers hold.
  Result<std::pair<int64_t, int64_t>> WaitingAndClaimed(bool sieved);

  std::unique_ptr<RedisConnection> connection_;
  const std::string prefix_;
  const int64_t lease_milliseconds_;
  // The claimed jobs of a stream whose leases seemed to begin in the future at the last look.
  struct Watch {
    struct Held {
      std::string owner;
      double since = 0;  // SteadySeconds of the first of the consecutive looks with this owner
    };
    double looked = 0;                 // SteadySeconds of the last look
    std::map<std::string, Held> held;  // keyed by entry
  };
  std::array<Watch, 2> watches_;  // 0: of jobs that no sieve has seen; 1: of sieved jobs
};

}  // namespace hone
