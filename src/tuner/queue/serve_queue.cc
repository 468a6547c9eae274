// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/serve_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/process/stoppable_sleep.h"
#include "tuner/evaluate/join_verdicts.h"
#include "tuner/evaluate/judge_statement.h"
#include "tuner/queue/patience.h"
#include "tuner/queue/sieve.h"
#include "tuner/queue/worker_report.h"

namespace hone {
namespace {

constexpr double kClaimSeconds = 1;    // time for which one Claim waits for a job
constexpr double kAheadSeconds = 0.2;  // pause of a sieve while enough sieved jobs wait for judges

// A Lease renews a job's lease in a thread while the judgement makes progress. It uses a connection of its own, because
// a command on the worker's connection may be waiting.
class Lease {
 public:
  Lease(const RedisAddress& address, const ServeQueueOptions& options, const ClaimedJob& job)
      : heard_(SteadySeconds()), thread_([this, &address, &options, &job](std::stop_token stop) {
          std::unique_ptr<JobQueue> queue;
          while (StoppableSleep(options.lease_seconds / 3, stop)) {
            if (SteadySeconds() - heard_ > options.stalled_seconds) return;
            if (queue == nullptr) {
              Result<std::unique_ptr<JobQueue>> opened = JobQueue::Open(address, options.lease_seconds);
              if (!opened.ok()) continue;  // the server may come back before the lease ends
              queue = std::move(*opened);
            }
            const Result<bool> held = queue->Renew(options.worker, job);
            if (held.ok() && !*held) return;  // another worker has the job; the first answer stays
          }
        }) {}
  void Heard() { heard_ = SteadySeconds(); }

 private:
  std::atomic<double> heard_;
  std::jthread thread_;
};

class Worker {
 public:
  Worker(Evaluator& evaluator, const RedisAddress& address, const ServeQueueOptions& options)
      : evaluator_(evaluator), address_(address), options_(options), tools_(evaluator.Tools()) {}

  Result<Served> Run() {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<JobQueue> queue, JobQueue::Open(address_, options_.lease_seconds));
    // A sieve's judgements are not compared, so its device is not registered as the queue's.
    if (!options_.sieve)
      HONE_RETURN_IF_ERROR(queue->Register(evaluator_.facts().name, EncodeStatement({evaluator_.facts(), tools_})));
    if (options_.on_begun) options_.on_begun();
    last_job_ = began_ = SteadySeconds();
    std::jthread reporter([this](std::stop_token stop) { Report(std::move(stop)); });
    std::vector<std::thread> pool;
    for (int i = 0; i < std::max(options_.judging.threads, 1); ++i) {
      pool.emplace_back([this, i] {
        // Each thread is a separate worker in the queue, because a lease belongs to one worker.
        ServeQueueOptions own = options_;
        own.worker = fmt::format("{}-{}", options_.worker, i);
        const Status status = Work(own);
        const std::lock_guard lock(mutex_);
        if (!status.ok() && first_error_.ok()) first_error_ = status;
      });
    }
    for (std::thread& thread : pool) thread.join();
    reporter.request_stop();
    reporter.join();
    HONE_RETURN_IF_ERROR(first_error_);
    return served_;
  }

 private:
  bool IsOver() {
    const std::lock_guard lock(mutex_);
    const bool idle =
        options_.until_idle_seconds > 0 && busy_ == 0 && SteadySeconds() - last_job_ > options_.until_idle_seconds;
    return idle || !first_error_.ok() || options_.judging.stop.stop_requested();
  }

  // Reports on this process at intervals, for `hone workers`, until a stop is requested. A report that cannot be sent
  // is dropped.
  void Report(std::stop_token stop) {
    std::unique_ptr<JobQueue> queue;
    do {
      if (queue == nullptr) {
        Result<std::unique_ptr<JobQueue>> opened = JobQueue::Open(address_, options_.lease_seconds);
        if (opened.ok()) queue = std::move(*opened);
      }
      if (queue != nullptr && !queue->StoreReport(options_.worker, EncodeWorkerReport(ReportNow())).ok()) queue.reset();
    } while (StoppableSleep(kSaySeconds, stop));
    if (queue != nullptr) (void)queue->StoreReport(options_.worker, "");
  }

  // Returns what this worker reports of itself now. Its rate counts the answers of the last minute.
  WorkerReport ReportNow() {
    const std::lock_guard lock(mutex_);
    const double now = SteadySeconds();
    while (!answered_.empty() && now - answered_.front() > 60) answered_.pop_front();
    WorkerReport report;
    report.device = evaluator_.facts().name;
    report.tools = tools_;
    report.sieve = options_.sieve;
    report.passed_on = passed_on_;
    report.threads = std::max(options_.judging.threads, 1);
    report.busy = busy_;
    report.judged = served_.judged;
    report.put_back = served_.put_back;
    report.unreadable = served_.unreadable;
    report.seconds = now - began_;
    report.per_minute = static_cast<double>(answered_.size()) * 60 / std::clamp(report.seconds, 1.0, 60.0);
    report.last_failure = last_failure_;
    return report;
  }

  // Takes and judges one job after another on this thread, over a connection of its own. A lost connection is opened
  // again for as long as patience lasts.
  Status Work(const ServeQueueOptions& own) {
    std::unique_ptr<JobQueue> queue;
    Patience patience;
    int failures = 0;
    while (!IsOver()) {
      const Status done = Next(own, queue, failures);
      if (done.ok()) {
        patience.ResetPause();
        NoteTrouble("");
        if (failures >= options_.most_failures) {
          return Status::Unavailable(
              fmt::format("{} jobs in a row could not be judged on this machine: {}", failures, last_failure_));
        }
        continue;
      }
      // User and password were accepted before, but a restarted server may not have its users yet.
      if (done.code() != StatusCode::kUnavailable && !IsLoginRefused(done.message())) return done;
      NoteTrouble(done.message());
      queue.reset();
      if (!patience.Wait(options_.judging.stop)) return options_.judging.stop.stop_requested() ? Status::Ok() : done;
    }
    return Status::Ok();
  }

  // Claims a job and completes it; kUnavailable: the server went away.
  Status Next(const ServeQueueOptions& own, std::unique_ptr<JobQueue>& queue, int& failures) {
    if (queue == nullptr) {
      HONE_ASSIGN_OR_RETURN(queue, JobQueue::Open(address_, own.lease_seconds));
    }
    if (own.sieve) {
      HONE_ASSIGN_OR_RETURN(const int64_t ahead, queue->WaitingSieved());
      if (ahead >= own.ahead) {
        StoppableSleep(kAheadSeconds, own.judging.stop);
        return Status::Ok();
      }
    }
    HONE_ASSIGN_OR_RETURN(const std::optional<ClaimedJob> job, queue->Claim(own.worker, kClaimSeconds, own.sieve));
    if (!job) return Status::Ok();
    const Busy busy(*this);
    if (options_.judging.stop.stop_requested()) return queue->PutBack(own.worker, *job);
    Result<SpoolBundle> bundle = DecodeBundle(job->bundle, job->id);
    if (bundle.ok()) bundle->request.seed = 0;  // a submitter must not choose a verdict's secrets
    if (own.sieve && bundle.ok()) {
      Result<Sieved> sieved = SieveUnderLease(own, *job, *bundle);
      if (sieved.ok() && !sieved->refused) {
        failures = 0;
        PassedOn();
        return queue->PassOn(own.worker, *job, sieved->evaluation ? EvaluationToJson(*sieved->evaluation, -1) : "");
      }
      return Conclude(
          own, queue, *job,
          sieved.ok() ? Result<Evaluation>(std::move(*sieved->evaluation)) : Result<Evaluation>(sieved.status()),
          /*unreadable=*/false, failures);
    }
    Result<Evaluation> evaluation =
        bundle.ok() ? JudgeUnderLease(own, *job, *bundle) : Result<Evaluation>(bundle.status());
    // A bundle that this program cannot read is answered with the error, because no worker of this version can read it.
    // Every other failure is this machine's.
    return Conclude(own, queue, *job, evaluation, !bundle.ok(), failures);
  }

  // Answers the job, or puts it back if this machine failed.
  Status Conclude(const ServeQueueOptions& own, std::unique_ptr<JobQueue>& queue, const ClaimedJob& job,
                  const Result<Evaluation>& evaluation, bool unreadable, int& failures) {
    const bool answer = evaluation.ok() || unreadable;
    SendAnswer(job.id, evaluation, unreadable);
    failures = answer ? 0 : failures + 1;
    return answer ? Deliver(own, queue, job, EncodeAnswer(job.id, evaluation)) : queue->PutBack(own.worker, job);
  }

  // Judges a job while another thread renews its lease, so that the queue does not give it to somebody else.
  Result<Evaluation> JudgeUnderLease(const ServeQueueOptions& own, const ClaimedJob& job, SpoolBundle& bundle) {
    Lease lease(address_, own, job);
    // If a sieve has simulated the candidate, do not simulate it again.
    const Result<Evaluation> simulated =
        job.simulated.empty() ? Result<Evaluation>(Status::NotFound("")) : EvaluationFromJson(job.simulated);
    if (simulated.ok()) bundle.request.simulate = false;
    Result<Evaluation> judged = JudgeBundle(evaluator_, bundle, options_.judging,
                                            [&](const std::string&, const std::string&) { lease.Heard(); });
    if (judged.ok() && simulated.ok() && !judged->modelled) judged = JoinEarlierVerdict(std::move(*judged), *simulated);
    return judged;
  }

  Result<Sieved> SieveUnderLease(const ServeQueueOptions& own, const ClaimedJob& job, const SpoolBundle& bundle) {
    Lease lease(address_, own, job);
    Result<Sieved> sieved = SieveBundle(evaluator_, bundle, [&](const std::string&, const std::string&) { lease.Heard(); });
    if (sieved.ok() && sieved->evaluation) HONE_RETURN_IF_ERROR(CheckNotSignalled(*sieved->evaluation, options_.judging.stop));
    return sieved;
  }

  void PassedOn() {
    const std::lock_guard lock(mutex_);
    ++passed_on_;
    answered_.push_back(SteadySeconds());
  }

  // Delivers an answer, and retries while the server cannot be reached, so that a restart of the server does not cost a
  // judgement.
  Status Deliver(const ServeQueueOptions& own, std::unique_ptr<JobQueue>& queue, const ClaimedJob& job,
                 const std::string& answer) {
    Patience patience(own.lease_seconds);
    while (true) {
      Status status;
      if (queue == nullptr) {
        Result<std::unique_ptr<JobQueue>> opened = JobQueue::Open(address_, own.lease_seconds);
        if (opened.ok())
          queue = std::move(*opened);
        else
          status = opened.status();
      }
      if (queue != nullptr) {
        status = queue->Finish(job, answer);
        if (status.ok()) return status;
        queue.reset();
      }
      if (status.code() != StatusCode::kUnavailable && !IsLoginRefused(status.message())) return status;
      NoteTrouble(status.message());
      if (!patience.Wait()) return status;
    }
  }

  // Calls on_trouble with the reason why the server cannot be used, once for the same words. Empty: it can be used
  // again.
  void NoteTrouble(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (why.empty()) {
      troubles_.clear();
    } else if (troubles_.insert(why).second && options_.on_trouble) {
      options_.on_trouble(why);
    }
  }

  void SendAnswer(const std::string& id, const Result<Evaluation>& evaluation, bool unreadable) {
    const std::lock_guard lock(mutex_);
    ++(evaluation.ok() ? served_.judged : unreadable ? served_.unreadable : served_.put_back);
    if (evaluation.ok() || unreadable) answered_.push_back(SteadySeconds());
    if (!evaluation.ok() && !unreadable) last_failure_ = evaluation.status().message();
    if (options_.judging.on_bundle) options_.judging.on_bundle(id, evaluation);
  }

  struct Busy {
    explicit Busy(Worker& owner) : worker(owner) {
      const std::lock_guard lock(owner.mutex_);
      ++owner.busy_;
    }
    ~Busy() {
      const std::lock_guard lock(worker.mutex_);
      --worker.busy_;
      worker.last_job_ = SteadySeconds();
    }
    Worker& worker;
  };

  Evaluator& evaluator_;
  const RedisAddress& address_;
  const ServeQueueOptions& options_;
  const JudgeTools tools_;  // of this machine
  std::mutex mutex_;
  int busy_ = 0;  // jobs that are being judged
  double last_job_ = 0, began_ = 0;  // SteadySeconds of the last job, and of the begin
  std::deque<double> answered_;  // times of the answers in the last minute
  Served served_;
  int64_t passed_on_ = 0;
  std::string last_failure_;
  std::set<std::string> troubles_;  // reasons that were reported since the server could last be used
  Status first_error_;
};

}  // namespace

Result<Served> ServeQueue(Evaluator& evaluator, const RedisAddress& address, const ServeQueueOptions& options) {
  return Worker(evaluator, address, options).Run();
}

}  // namespace hone
