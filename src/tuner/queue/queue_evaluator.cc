// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/queue_evaluator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/numbers/hash.h"
#include "tuner/evaluate/bundle.h"
#include "tuner/evaluate/check_request.h"
#include "tuner/evaluate/judge_statement.h"
#include "tuner/queue/job_queue.h"
#include "tuner/queue/patience.h"
#include "tuner/queue/worker_report.h"

namespace hone {
namespace {

constexpr double kReportSeconds = 60;  // interval at which a waiting call repeats the reason for which it waits
constexpr double kLookSeconds = 5;  // interval at which a waiting call checks that the job still exists

class QueueEvaluator final : public Evaluator {
 public:
  QueueEvaluator(RedisAddress address, JudgeStatement statement, std::vector<ReportedWorker> workers,
                 std::function<void(const std::string&)> report)
      : address_(std::move(address)),
        facts_(std::move(statement.facts)),
        tools_(std::move(statement.tools)),
        workers_(std::move(workers)),
        report_(std::move(report)) {
    assumed_ = AssumedText(tools_, !facts_.name.empty(), facts_.id);
    if (facts_.name.empty()) facts_.name = "a device not seen yet";
    std::random_device random;
    submitter_ = fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
  }
  const DeviceFacts& facts() const override { return facts_; }
  JudgeTools Tools() const override { return tools_; }
  Status CanInclude(std::string_view include_set) const override {
    return CanAllInclude(include_set, workers_, tools_).WithContext(address_.queue);
  }
  std::string Assumed() const override { return assumed_; }

  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& given_request,
                              const EvaluationProgress& progress) override {
    HONE_RETURN_IF_ERROR(CheckRequest(task, given_request));
    EvaluationRequest request = given_request;
    request.seed = 0;
    const std::string bundle = EncodeBundle(task, request);
    const std::string id = IdOf(bundle);
    if (progress) progress("queue", id);
    Patience patience;
    bool submitted = false;
    while (true) {
      Result<std::optional<std::string>> answer = Step(id, bundle, submitted);
      if (answer.ok() && *answer) return DecodeAnswer(**answer, address_.reuse.empty() ? "submit it again" : "submit it under another name than reuse=" + address_.reuse);
      if (answer.ok()) {
        patience.ResetPause();
        continue;
      }
      // User and password were accepted when this evaluator was made, but a restarted server may not have its users
      // yet.
      if (answer.status().code() != StatusCode::kUnavailable && !IsLoginRefused(answer.status().message()))
        return answer.status();
      if (progress) progress("queue", answer.status().message());
      Report(answer.status().message(), answer.status().message() + "; trying again for ten minutes");
      if (!patience.Wait()) return answer.status();
    }
  }

 private:
  // Returns the ID of a new job. It depends on user, submitter and request, so that nobody gets the answer to another
  // user's job, and on a number, so that asking again is another job. The number counts all requests of this evaluator,
  // which makes the ID unique. With `reuse` it counts equal requests, so that a later process with the same name finds
  // the answers.
  std::string IdOf(const std::string& bundle) {
    std::string submitter = submitter_;
    uint64_t number;
    {
      const std::lock_guard lock(mutex_);
      if (address_.reuse.empty()) {
        number = next_++;
      } else {
        submitter = "reuse " + address_.reuse;
        number = asked_[Sha256Hex(bundle)]++;
      }
    }
    return fmt::format("{}:{}", address_.user.empty() ? "default" : address_.user,
                       Sha256Hex(fmt::format("{}/{}/{}", submitter, number, bundle)).substr(0, 32));
  }

  // Submits the job if necessary, then waits a while for the answer.
  Result<std::optional<std::string>> Step(const std::string& id, const std::string& bundle, bool& submitted) {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<JobQueue> queue, Take());
    if (submitted) {
      HONE_ASSIGN_OR_RETURN(submitted, queue->Knows(id));
    }
    if (!submitted) HONE_RETURN_IF_ERROR(queue->Submit(id, bundle));
    submitted = true;
    Result<std::optional<std::string>> answer = queue->WaitForAnswer(id, kLookSeconds);
    if (answer.ok() && !*answer && report_) TellWhatIsAhead(*queue);
    if (answer.ok()) GiveBack(std::move(queue));
    return answer;
  }

  // Reports what the queue is busy with. Does nothing if that cannot be found out, because the next step fails
  // too.
  void TellWhatIsAhead(JobQueue& queue) {
    const Result<QueueCounts> counts = queue.Counts();
    const Result<std::vector<ReportedWorker>> workers = queue.Workers();
    if (!counts.ok() || !workers.ok()) return;
    const auto alive = std::count_if(workers->begin(), workers->end(),
                                     [](const ReportedWorker& w) { return w.seconds_ago <= kSilentSeconds; });
    if (alive == 0) {
      Report("no worker",
             fmt::format("{}: this waits for an answer, and no worker is there: `hone worker --queue` starts one",
                         address_.queue));
      return;
    }
    Report("workers", fmt::format("{}: this waits for an answer; {} job{} there, {} being judged by {} worker{}",
                                  address_.queue, counts->waiting, counts->waiting == 1 ? " waits" : "s wait",
                                  counts->claimed, alive, alive == 1 ? "" : "s"));
  }

  // Reports `why`, if its `kind` is new or a minute has passed. `kind` identifies the reason, because the
  // words of `why` may contain numbers that change.
  void Report(const std::string& kind, const std::string& why) {
    if (!report_) return;
    {
      const std::lock_guard lock(mutex_);
      const double now = SteadySeconds();
      if (kind == reported_kind_ && now - reported_at_ < kReportSeconds) return;
      reported_kind_ = kind;
      reported_at_ = now;
    }
    report_(why);
  }

  // Returns a free connection to the queue, or opens another one.
  Result<std::unique_ptr<JobQueue>> Take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<JobQueue> queue = std::move(free_.back());
        free_.pop_back();
        return queue;
      }
    }
    return JobQueue::Open(address_);
  }
  void GiveBack(std::unique_ptr<JobQueue> queue) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(queue));
  }

  const RedisAddress address_;
  DeviceFacts facts_;
  const JudgeTools tools_;                   // of the worker that last began to judge
  const std::vector<ReportedWorker> workers_;  // as they were when this evaluator was made
  std::string assumed_;
  const std::function<void(const std::string&)> report_;
  std::string reported_kind_;  // `kind` of the last Report
  double reported_at_ = 0;
  std::string submitter_;
  std::mutex mutex_;
  uint64_t next_ = 0;
  std::map<std::string, uint64_t> asked_;  // how often each bundle was asked for, by its hash
  std::vector<std::unique_ptr<JobQueue>> free_;  // connections that no evaluation uses
};

}  // namespace

Result<std::unique_ptr<Evaluator>> MakeQueueEvaluator(const std::string& text,
                                                      std::function<void(const std::string&)> report) {
  HONE_ASSIGN_OR_RETURN(const RedisAddress address, ParseRedisAddress(text));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<JobQueue> queue, JobQueue::Open(address));
  HONE_ASSIGN_OR_RETURN(const std::string device_facts, queue->Facts());
  JudgeStatement statement;
  if (!device_facts.empty()) {
    if (Result<JudgeStatement> decoded = DecodeStatement(device_facts); decoded.ok()) statement = *std::move(decoded);
  }
  statement.facts.id = text;
  // A submitter whose rights do not cover the workers' reports goes by the registered statement.
  Result<std::vector<ReportedWorker>> workers = queue->Workers();
  return std::unique_ptr<Evaluator>(
      new QueueEvaluator(address, std::move(statement),
                         workers.ok() ? *std::move(workers) : std::vector<ReportedWorker>(), std::move(report)));
}

}  // namespace hone
