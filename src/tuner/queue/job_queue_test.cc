// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the queue with a real Redis server, which is killed and restarted, and with workers that die.
#include "tuner/queue/job_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/files/file.h"
#include "tuner/evaluate/bundle.h"
#include "tuner/queue/clean_queue.h"
#include "tuner/queue/flaky_proxy.h"
#include "tuner/queue/queue_evaluator.h"
#include "tuner/queue/queue_rights.h"
#include "tuner/queue/redis_server.h"
#include "tuner/queue/serve_queue.h"
#include "tuner/queue/test_certificate.h"
#include "tuner/queue/worker_report.h"

namespace hone {
namespace {

using testing::HasSubstr;

constexpr double kShortLease = 0.4;

constexpr char kTask[] = R"(
name = "copy"
summary = "out = x"
class = "elementwise"
slice = "n"
[dims]
n = "elements"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["n"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["n"]
[tolerance.out]
c_max = 1e-6
c_rms = 1e-6
[[case]]
role = "time"
dims = { n = 4096 }
[[case]]
role = "check"
dims = { n = 5 }
)";

class Queue : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.is_installed()) GTEST_SKIP() << "redis-server is not here (apt install redis-tools)";
    ASSERT_TRUE(server_.TryStart().ok());
    task_ = ParseTask(kTask, "task.toml").value();
  }
  std::unique_ptr<JobQueue> Open(const std::string& queue = "q", double lease = kShortLease) {
    return JobQueue::Open(ParseRedisAddress(server_.address(queue)).value(), lease).value();
  }
  // Claims the next job for a worker. Waits for up to the length of a lease.
  ClaimedJob ClaimOne(JobQueue& queue, const std::string& worker) {
    for (int i = 0; i < 100; ++i) {
      const std::optional<ClaimedJob> job = queue.Claim(worker, 0.1).value();
      if (job) return *job;
    }
    ADD_FAILURE() << worker << " got no job";
    return {};
  }

  RedisServer server_;
  Task task_;
};

TEST(RedisAddress, IsReadOrSaysWhatIsWrong) {
  const RedisAddress address =
      ParseRedisAddress("redis://anna@gpu.example:7000/h200?password_file=/etc/hone/redis").value();
  EXPECT_EQ(address.host, "gpu.example");
  EXPECT_EQ(address.port, 7000);
  EXPECT_EQ(address.user, "anna");
  EXPECT_EQ(address.queue, "h200");
  EXPECT_EQ(address.password_file, "/etc/hone/redis");
  EXPECT_EQ(ParseRedisAddress("redis://h/q").value().port, 6379);
  EXPECT_FALSE(address.tls);
  const RedisAddress secure = ParseRedisAddress("rediss://h/q?password_file=/p&ca_file=/c").value();
  EXPECT_TRUE(secure.tls);
  EXPECT_EQ(secure.password_file, "/p");
  EXPECT_EQ(secure.ca_file, "/c");
  for (const auto& [text, said] :
       std::map<std::string, std::string>{{"redis://h", "queue's name"},
                                          {"redis://h/a b", "queue's name"},
                                          {"redis://h:x/q", "'x' is no port"},
                                          {"redis://h:70000/q", "no port"},
                                          {"redis:///q", "host is missing"},
                                          {"redis://a:secret@h/q", "password does not belong"},
                                          {"redis://h/q?db=1", "'db=1' is not known"},
                                          {"redis://h/q?ca_file=x", "belongs to rediss://"},
                                          {"http://h/q", "no address of Redis"}}) {
    EXPECT_THAT(ParseRedisAddress(text).status().message(), HasSubstr(said)) << text;
  }
}

TEST(RedisAddress, AServerThatIsNotThereIsUnavailable) {
  const Result<std::unique_ptr<Evaluator>> evaluator_or_error =
      MakeQueueEvaluator("redis://127.0.0.1:" + std::to_string(FreePort()) + "/q");
  ASSERT_FALSE(evaluator_or_error.ok());
  EXPECT_EQ(evaluator_or_error.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(evaluator_or_error.status().message(), HasSubstr("cannot be reached"));
}

TEST_F(Queue, AJobIsClaimedOnceAndAnsweredOnce) {
  const auto queue = Open();
  ASSERT_TRUE(queue->Submit("a", "bundle a").ok());
  ASSERT_TRUE(queue->Submit("a", "bundle a").ok());
  const ClaimedJob job = ClaimOne(*queue, "w1");
  EXPECT_EQ(job.id, "a");
  EXPECT_EQ(job.bundle, "bundle a");
  EXPECT_FALSE(queue->Claim("w2", 0.05).value().has_value());
  EXPECT_FALSE(queue->WaitForAnswer("a", 0.05).value().has_value());
  ASSERT_TRUE(queue->Finish(job, "first").ok());
  ASSERT_TRUE(queue->Finish(job, "second").ok());
  EXPECT_EQ(queue->WaitForAnswer("a", 1).value(), "first");
  EXPECT_EQ(Open()->WaitForAnswer("a", 1).value(), "first") << "whoever else waits hears it too";
  ASSERT_TRUE(queue->Submit("a", "bundle a").ok());
  EXPECT_FALSE(queue->Claim("w1", 0.05).value().has_value()) << "an answered job is not judged again";
  const QueueCounts counts = queue->Counts().value();
  EXPECT_EQ(counts.waiting + counts.claimed + counts.dead, 0);
}

TEST_F(Queue, ALeaseThatIsRenewedHoldsAndOneThatIsNotRunsOut) {
  const auto queue = Open("q", 1.5);
  ASSERT_TRUE(queue->Submit("a", "x").ok());
  const ClaimedJob job = ClaimOne(*queue, "w1");
  for (int i = 0; i < 7; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_TRUE(queue->Renew("w1", job).value());
    EXPECT_FALSE(queue->Claim("w2", 0.01).value().has_value());
  }
  const ClaimedJob claimed_job = ClaimOne(*queue, "w2");
  EXPECT_EQ(claimed_job.id, "a");
  EXPECT_FALSE(queue->Renew("w1", job).value());
  ASSERT_TRUE(queue->Finish(job, "late, and first all the same").ok());
  ASSERT_TRUE(queue->Finish(claimed_job, "second").ok());
  EXPECT_THAT(queue->WaitForAnswer("a", 1).value().value(), HasSubstr("late"));
}

TEST_F(Queue, OnlyDeathsWhileAJobIsJudgedCountAgainstIt) {
  const auto queue = Open();
  (void)queue->Claim("w", 0.01);  // makes the groups
  ASSERT_TRUE(queue->Submit("poison", "x").ok());
  // A worker was assigned the entry, and died before its second script took the job.
  const auto by_hand = ConnectRedis(ParseRedisAddress(server_.address()).value()).value();
  ASSERT_TRUE(by_hand
                  ->Command({"XREADGROUP", "GROUP", "workers", "preempted", "COUNT", "1", "STREAMS", "hone:{q}:jobs", ">"})
                  .ok());
  for (int i = 0; i < kMostDeaths; ++i) {
    const std::string worker = "w" + std::to_string(i);
    const ClaimedJob job = ClaimOne(*queue, worker);
    ASSERT_EQ(job.id, "poison");  // the worker dies: it neither answers nor renews its lease
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(kShortLease * 1.5));
  EXPECT_FALSE(queue->Claim("last", 0.05).value().has_value());
  const std::optional<std::string> answer = queue->WaitForAnswer("poison", 1).value();
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(DecodeAnswer(*answer, "ask again").status().message(), HasSubstr("3 workers died while they judged"));
  EXPECT_EQ(queue->Counts().value().dead, 1);
}

TEST_F(Queue, AJobThatIsPutBackIsClaimedAgain) {
  const auto queue = Open();
  ASSERT_TRUE(queue->Submit("a", "x").ok());
  ClaimedJob job = ClaimOne(*queue, "w1");
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(queue->PutBack("w1", job).ok());
    job = ClaimOne(*queue, "w1");
    ASSERT_EQ(job.id, "a");
  }
}

TEST_F(Queue, AQueueHasOneKindOfDevice) {
  const auto queue = Open();
  EXPECT_EQ(queue->Facts().value(), "");
  ASSERT_TRUE(queue->Register("NVIDIA H200", "{}").ok());
  ASSERT_TRUE(queue->Register("NVIDIA H200", "{}").ok());
  EXPECT_THAT(queue->Register("NVIDIA L4", "{}").message(),
              HasSubstr("judge on NVIDIA H200, and this machine has NVIDIA L4"));
  EXPECT_TRUE(Open("other")->Register("NVIDIA L4", "{}").ok());
}

TEST(QueueServer, ThatThrowsKeysAwayIsRefused) {
  RedisServer server({"--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"});
  if (!server.is_installed()) GTEST_SKIP() << "redis-server is not here (apt install redis-tools)";
  ASSERT_TRUE(server.TryStart().ok());
  EXPECT_THAT(MakeQueueEvaluator(server.address()).status().message(), HasSubstr("set maxmemory-policy to noeviction"));
}

TEST(QueueServer, FullOfJobsTakesNoMoreGivesAnswersAwayAndGoesOnWhenThereIsRoom) {
  RedisServer server({"--maxmemory-policy", "noeviction"});
  if (!server.is_installed()) GTEST_SKIP() << "redis-server is not here (apt install redis-tools)";
  ASSERT_TRUE(server.TryStart().ok());
  const RedisAddress address = ParseRedisAddress(server.address()).value();
  const auto queue = JobQueue::Open(address, kShortLease).value();
  const auto by_hand = ConnectRedis(address).value();
  ASSERT_TRUE(queue->Register("NVIDIA H200", "{}").ok());
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(queue->Submit(id, "x").ok());
  std::vector<ClaimedJob> jobs;
  for (int i = 0; i < 20 && jobs.size() < 2; ++i) {
    if (const auto job = queue->Claim("w", 0.1).value()) jobs.push_back(*job);
  }
  ASSERT_EQ(jobs.size(), 2u);
  ASSERT_TRUE(by_hand->Command({"CONFIG", "SET", "maxmemory", "1mb"}).ok());  // less than an empty server takes
  const Status refused = queue->Submit("d", "x");
  EXPECT_EQ(refused.code(), StatusCode::kUnavailable) << refused.message();
  EXPECT_THAT(refused.message(), HasSubstr("memory is full"));
  // Jobs in progress can be finished, and answers reach the submitters that wait for them.
  EXPECT_TRUE(queue->Renew("w", jobs[0]).value());
  ASSERT_TRUE(queue->Finish(jobs[0], "answer").ok());
  EXPECT_EQ(queue->WaitForAnswer(jobs[0].id, 0.1).value(), "answer");
  EXPECT_THAT(queue->WaitForAnswer(jobs[1].id, 0.1).status().message(), HasSubstr("memory is full"));
  ASSERT_TRUE(queue->PutBack("w", jobs[1]).ok());
  // A submitter waits until there is room.
  const std::unique_ptr<Evaluator> evaluator = MakeQueueEvaluator(server.address()).value();
  std::thread submitter([&] {
    EvaluationRequest request;
    request.source = "quick";
    const Result<Evaluation> evaluation = evaluator->Evaluate(ParseTask(kTask, "task.toml").value(), request);
    EXPECT_EQ(evaluation.status().message(), "the worker could not judge it: no (submit it again)");
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  ASSERT_TRUE(by_hand->Command({"CONFIG", "SET", "maxmemory", "0"}).ok());
  for (int left = 3; left > 0;) {
    if (const auto job = queue->Claim("w", 0.1).value()) {
      ASSERT_TRUE(queue->Finish(*job, EncodeAnswer(job->id, Result<Evaluation>(Status::InvalidArgument("no")))).ok());
      --left;
    }
  }
  submitter.join();
}

// Jumps of the server's clock are imitated by XCLAIM, which sets a claimed job's time.
TEST_F(Queue, AJumpOfTheServersClockLosesNothing) {
  const auto queue = Open("q", 1.5);  // long enough for a renewal on a busy machine
  const auto by_hand = ConnectRedis(ParseRedisAddress(server_.address()).value()).value();
  const auto set = [&](const ClaimedJob& job, const std::string& worker, double seconds_from_now) {
    const RedisReply now = by_hand->Command({"TIME"}).value();
    const int64_t at = static_cast<int64_t>((std::stod(now.list[0].text) + seconds_from_now) * 1000);
    ASSERT_TRUE(by_hand->Command({"XCLAIM", "hone:{q}:jobs", "workers", worker, "0", job.entry, "TIME", std::to_string(at), "JUSTID"}).ok());
  };
  // The clock jumps forwards by an hour: the lease is over at once. Both workers judge, and the first answer stays.
  ASSERT_TRUE(queue->Submit("a", "x").ok());
  const ClaimedJob first = ClaimOne(*queue, "w1");
  set(first, "w1", -3600);
  const ClaimedJob second = ClaimOne(*queue, "w2");
  EXPECT_EQ(second.id, "a");
  ASSERT_TRUE(queue->Finish(second, "second").ok());
  ASSERT_TRUE(queue->Finish(first, "first").ok());
  EXPECT_EQ(queue->WaitForAnswer("a", 1).value(), "second");
  EXPECT_EQ(queue->Counts().value().answered, 1);

  // The clock jumps backwards by an hour: a dead worker's lease would last an hour longer. A living worker's renewal
  // corrects the time of its lease.
  for (const char* id : {"b", "c"}) ASSERT_TRUE(queue->Submit(id, "x").ok());
  const ClaimedJob of_dead = ClaimOne(*queue, "dead"), of_living = ClaimOne(*queue, "living");
  for (const auto& [job, worker] : {std::pair{of_dead, "dead"}, std::pair{of_living, "living"}}) {
    set(job, worker, 3600);
  }
  const auto renewing = Open("q", 1.5);
  std::jthread lease([&](std::stop_token stop) {
    while (!stop.stop_requested()) {
      EXPECT_TRUE(renewing->Renew("living", of_living).value());
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }
  });
  const ClaimedJob claimed_job = ClaimOne(*queue, "w2");
  EXPECT_EQ(claimed_job.id, of_dead.id);
  ASSERT_TRUE(queue->Finish(claimed_job, "of another").ok());
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(queue->Claim("w2", 0.1).value().has_value()) << "the living one keeps its job";
}

TEST_F(Queue, AnswersAreReusedWhereThatIsAskedForAndByTheSameUserAlone) {
  const RedisAddress address = ParseRedisAddress(server_.address()).value();
  std::atomic<int> judged{0};
  const auto serve = [&](std::stop_token stop) {
    const auto queue = JobQueue::Open(address, 5).value();
    while (!stop.stop_requested()) {
      const auto job = queue->Claim("w", 0.1).value();
      if (!job) continue;
      Evaluation evaluation;
      evaluation.task = "copy";
      evaluation.verdict = Verdict::kCompileError;
      evaluation.candidate = std::to_string(++judged);
      EXPECT_TRUE(queue->Finish(*job, EncodeAnswer(job->id, Result<Evaluation>(std::move(evaluation)))).ok());
    }
  };
  std::jthread worker(serve);
  const auto ask = [&](const std::string& more, int times) {
    const std::unique_ptr<Evaluator> evaluator = MakeQueueEvaluator(server_.address() + more).value();
    std::string report_text;
    for (int i = 0; i < times; ++i) {
      EvaluationRequest request;
      request.source = "quick";
      report_text += evaluator->Evaluate(task_, request).value().candidate + " ";
    }
    return report_text;
  };
  EXPECT_EQ(ask("", 2), "1 2 ") << "measuring again is another job";
  EXPECT_EQ(ask("", 1), "3 ");
  EXPECT_EQ(ask("?reuse=campaign-1", 2), "4 5 ");
  EXPECT_EQ(ask("?reuse=campaign-1", 3), "4 5 6 ") << "a program that was killed and started again";
  EXPECT_EQ(ask("?reuse=campaign-2", 1), "7 ");
  const auto by_hand = ConnectRedis(address).value();
  ASSERT_TRUE(by_hand->Command({"ACL", "SETUSER", "bob", "on", "nopass", "~*", "+@all"}).ok());
  const std::string file = server_.folder() + "/bob";
  ASSERT_TRUE(WriteFileAtomically(file, "any\n").ok());
  const std::unique_ptr<Evaluator> bob =
      MakeQueueEvaluator(server_.address("q", "bob@") + "?reuse=campaign-1&password_file=" + file).value();
  EvaluationRequest request;
  request.source = "quick";
  EXPECT_EQ(bob->Evaluate(task_, request).value().candidate, "8") << "never another submitter's";
}

// A ScriptedJudge is an evaluator that answers at once. Marks in a candidate's text decide what happens to it.
class ScriptedJudge : public Evaluator {
 public:
  const DeviceFacts& facts() const override { return facts_; }
  Result<Evaluation> Evaluate(const Task&, const EvaluationRequest& request,
                              const EvaluationProgress& progress) override {
    EXPECT_EQ(request.seed, 0u) << "a submitter chose the seed";
    if (progress) progress("check", "");
    if (request.source.find("slow") != std::string::npos) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (request.source.find("broken machine") != std::string::npos) return Status::Unavailable("no driver");
    Evaluation evaluation;
    evaluation.task = "copy";
    evaluation.candidate = request.source;
    evaluation.verdict = Verdict::kCompileError;
    ++judged;
    return evaluation;
  }
  std::atomic<int> judged{0};

 private:
  DeviceFacts facts_;
};

ServeQueueOptions QuickOptions(const std::string& worker, std::stop_token stop = {}) {
  ServeQueueOptions options;
  options.judging.threads = 2;
  options.judging.tries = 1;
  options.judging.stop = stop;
  options.worker = worker;
  options.lease_seconds = kShortLease;
  return options;
}

TEST_F(Queue, EveryCandidateIsAnsweredThoughServerAndWorkersAreKilled) {
  const RedisAddress address = ParseRedisAddress(server_.address()).value();
  constexpr int kCandidates = 60, kThreads = 6, kWorkers = 3;
  std::atomic<bool> over{false};
  std::vector<pid_t> workers;
  const auto start = [&](int number) {
    const pid_t child = fork();
    if (child == 0) {
      ScriptedJudge judge;
      ServeQueueOptions options = QuickOptions("w" + std::to_string(number) + "-" + std::to_string(getpid()));
      options.lease_seconds = 2;  // long enough that a delay on a busy machine does not count as a death
      (void)ServeQueue(judge, address, options);
      _exit(0);
    }
    return child;
  };
  for (int i = 0; i < kWorkers; ++i) workers.push_back(start(i));
  const std::unique_ptr<Evaluator> evaluator = MakeQueueEvaluator(server_.address()).value();
  std::atomic<int> next_job{0};
  std::mutex mutex;
  std::map<std::string, std::string> answers;
  std::vector<std::thread> submitters;
  for (int t = 0; t < kThreads; ++t) {
    submitters.emplace_back([&] {
      for (int i; (i = next_job++) < kCandidates;) {
        EvaluationRequest request;
        request.source = (i % 3 == 0 ? "slow " : "quick ") + std::to_string(i);
        request.seed = 7;
        const Result<Evaluation> evaluation = evaluator->Evaluate(task_, request);
        const std::lock_guard lock(mutex);
        answers[request.source] = evaluation.ok() ? evaluation->candidate : evaluation.status().message();
      }
      over = next_job >= kCandidates + kThreads - 1 || over;
    });
  }
  for (int i = 0; i < 6 && !over; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    if (i % 3 == 2) {
      server_.Kill();
      ASSERT_TRUE(server_.TryStart().ok());
    } else {
      pid_t& victim = workers[static_cast<size_t>(i) % workers.size()];
      kill(victim, SIGKILL);
      waitpid(victim, nullptr, 0);
      victim = start(i);
    }
  }
  for (std::thread& thread : submitters) thread.join();
  for (const pid_t worker : workers) {
    kill(worker, SIGKILL);
    waitpid(worker, nullptr, 0);
  }
  ASSERT_EQ(answers.size(), static_cast<size_t>(kCandidates));
  for (const auto& [source, answer] : answers) EXPECT_EQ(answer, source);
}

TEST_F(Queue, EveryCandidateIsAnsweredOverANetworkThatIsSlowAndCutsConnections) {
  FlakyProxy network(server_.port(), 2'000, 40'000, std::chrono::milliseconds(1), 5);
  ASSERT_NE(network.port(), 0);
  const std::string text = "redis://127.0.0.1:" + std::to_string(network.port()) + "/q";
  std::stop_source stop;
  ScriptedJudge judge;
  std::vector<std::thread> workers;
  for (int w = 0; w < 2; ++w) {
    workers.emplace_back([&, w] {
      while (!stop.stop_requested()) {  // a worker whose first connection is cut ends, and is started again
        ServeQueueOptions options = QuickOptions("w" + std::to_string(w), stop.get_token());
        options.lease_seconds = 2;
        (void)ServeQueue(judge, ParseRedisAddress(text).value(), options);
      }
    });
  }
  constexpr int kCandidates = 40, kThreads = 4;
  Result<std::unique_ptr<Evaluator>> evaluator = MakeQueueEvaluator(text);
  for (int i = 0; i < 20 && !evaluator.ok(); ++i) evaluator = MakeQueueEvaluator(text);
  ASSERT_TRUE(evaluator.ok()) << evaluator.status().message();
  std::atomic<int> next_job{0};
  std::vector<std::thread> submitters;
  for (int t = 0; t < kThreads; ++t) {
    submitters.emplace_back([&] {
      for (int i; (i = next_job++) < kCandidates;) {
        EvaluationRequest request;
        request.source = "quick " + std::to_string(i);
        const Result<Evaluation> evaluation = (*evaluator)->Evaluate(task_, request);
        EXPECT_EQ(evaluation.ok() ? evaluation->candidate : evaluation.status().message(), request.source);
      }
    });
  }
  for (std::thread& thread : submitters) thread.join();
  stop.request_stop();
  for (std::thread& thread : workers) thread.join();
  EXPECT_GT(network.cuts(), 5);
  EXPECT_EQ(Open()->Counts().value().answered, kCandidates) << "answered once, though it may have been judged twice";
}

TEST_F(Queue, AWorkerEndsWhenNothingComesAndWhenItsMachineFails) {
  const RedisAddress address = ParseRedisAddress(server_.address()).value();
  ScriptedJudge judge;
  ServeQueueOptions options = QuickOptions("w");
  options.until_idle_seconds = 0.3;
  const std::string bundle = [&] {
    EvaluationRequest request;
    request.source = "quick";
    request.seed = 7;  // a foreign client may set a seed, which the worker must ignore
    return EncodeBundle(task_, request);
  }();
  const auto queue = Open();
  ASSERT_TRUE(queue->Submit("a", bundle).ok());
  ASSERT_TRUE(queue->Submit("b", "{}").ok());
  const Served served = ServeQueue(judge, address, options).value();
  EXPECT_EQ(served.judged, 1);
  EXPECT_EQ(served.unreadable, 1);
  EXPECT_THAT(DecodeAnswer(queue->WaitForAnswer("b", 1).value().value(), "ask again").status().message(),
              HasSubstr("bundle b"));

  EvaluationRequest broken;
  broken.source = "broken machine";
  ASSERT_TRUE(queue->Submit("c", EncodeBundle(task_, broken)).ok());
  const Result<Served> failed = ServeQueue(judge, address, options);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.status().message(), HasSubstr("could not be judged on this machine: no driver"));
  EXPECT_EQ(ClaimOne(*queue, "another").id, "c") << "nothing is lost";
}

TEST_F(Queue, JudgesTakeSievedJobsFirstAndSievesTakeNone) {
  const auto queue = Open();
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(queue->Submit(id, "bundle").ok());
  ASSERT_TRUE(queue->Claim("sieve", 0.1, /*as_sieve=*/true).ok());  // makes the groups
  ClaimedJob job;
  for (int i = 0; i < 100 && job.id.empty(); ++i)
    job = queue->Claim("sieve", 0.1, /*as_sieve=*/true).value().value_or(ClaimedJob{});
  ASSERT_FALSE(job.id.empty());
  const std::string first = job.id;
  ASSERT_TRUE(queue->PassOn("sieve", job, "what was simulated").ok());
  EXPECT_EQ(queue->WaitingSieved().value(), 1);
  EXPECT_EQ(queue->Counts()->passed_on, 1);
  ASSERT_TRUE(queue->PassOn("sieve", job, "twice").ok());  // the sieve no longer holds the job
  EXPECT_EQ(queue->WaitingSieved().value(), 1);
  EXPECT_TRUE(queue->Knows(first).value());
  ASSERT_TRUE(queue->Submit(first, "bundle").ok());  // the job is present already
  EXPECT_EQ(queue->Counts()->waiting, 3);

  ClaimedJob judged = ClaimOne(*queue, "judge");
  EXPECT_EQ(judged.id, first);
  EXPECT_TRUE(judged.sieved);
  EXPECT_EQ(judged.simulated, "what was simulated");
  // PutBack returns a sieved job to the sieved jobs. If its next judge dies, another judge claims it.
  ASSERT_TRUE(queue->PutBack("judge", judged).ok());
  judged = ClaimOne(*queue, "judge");
  EXPECT_EQ(judged.id, first);
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * kShortLease));
  const ClaimedJob again = ClaimOne(*queue, "another judge");
  EXPECT_EQ(again.id, first);
  EXPECT_EQ(again.simulated, "what was simulated");
  EXPECT_FALSE(queue->Renew("judge", judged).value());
  ASSERT_TRUE(queue->Finish(again, "answer").ok());
  EXPECT_EQ(queue->WaitForAnswer(first, 1).value(), "answer");
  EXPECT_FALSE(ClaimOne(*queue, "judge").sieved);  // no sieved job is left, and a judge does not wait for a sieve
}

// A StageJudge acts as the evaluator of a simulated GPU or of a GPU. Marks in the source decide the verdict.
class StageJudge final : public Evaluator {
 public:
  explicit StageJudge(bool modelled) {
    facts_.name = modelled ? "simulated GPU" : "NVIDIA H200";
    facts_.modelled = modelled;
  }
  const DeviceFacts& facts() const override { return facts_; }
  Result<Evaluation> Evaluate(const Task& task, const EvaluationRequest& request, const EvaluationProgress&) override {
    const auto says = [&](const char* word) { return request.source.find(word) != std::string::npos; };
    Evaluation evaluation;
    evaluation.modelled = facts_.modelled;
    evaluation.verdict = Verdict::kOk;
    const std::lock_guard lock(mutex);
    if (facts_.modelled) {
      EXPECT_FALSE(request.time);
      // One check case runs; timed cases only say which other shapes are fair.
      EXPECT_EQ(std::count_if(task.cases.begin(), task.cases.end(), [](const Case& c) { return c.role == CaseRole::kCheck; }), 1);
      if (says("past the end")) evaluation.verdict = Verdict::kRuleViolation;
      if (says("spins")) evaluation.verdict = Verdict::kTimedOut;
      if (says("odd")) evaluation.verdict = Verdict::kCompileError;
      if (says("rounds")) evaluation.verdict = Verdict::kWrongOutput;
      evaluation.detail = "as simulated";
    } else {
      simulated_here[request.source] = request.simulate;
      if (!request.simulate) evaluation.labels.push_back("not_simulated");
      if (says("wrong on a GPU")) evaluation.verdict = Verdict::kWrongOutput;
    }
    return evaluation;
  }
  std::mutex mutex;
  std::map<std::string, bool> simulated_here;

 private:
  DeviceFacts facts_;
};

TEST_F(Queue, ASieveAnswersWhatItRefusesAndAJudgeSimulatesNothingTwice) {
  const RedisAddress address = ParseRedisAddress(server_.address()).value();
  StageJudge simulated(true), gpu(false);
  const std::vector<std::string> sources = {"right", "past the end", "spins", "odd", "rounds", "wrong on a GPU", "alone"};
  std::map<std::string, std::optional<Evaluation>> answers;
  const auto queue = Open();
  for (const std::string& source : sources) {
    EvaluationRequest request;
    request.source = source;
    request.simulate = source != "alone";
    ASSERT_TRUE(queue->Submit(source, EncodeBundle(task_, request)).ok());
  }
  // Without a judge, the sieve refuses one job, passes six on, and rests while four wait.
  std::stop_source stop;
  ServeQueueOptions sieve = QuickOptions("sieve", stop.get_token());
  sieve.sieve = true;
  sieve.ahead = 4;
  sieve.judging.threads = 1;
  std::thread sieving([&] { EXPECT_TRUE(ServeQueue(simulated, address, sieve).ok()); });
  for (int i = 0; i < 100 && queue->WaitingSieved().value() < 4; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  EXPECT_EQ(queue->WaitingSieved().value(), 4);
  EXPECT_EQ(queue->Facts().value(), "");  // a sieve's device is not the queue's
  ServeQueueOptions judge = QuickOptions("judge", stop.get_token());
  std::thread judging([&] { EXPECT_TRUE(ServeQueue(gpu, address, judge).ok()); });
  for (const std::string& source : sources) {
    for (int i = 0; i < 100 && !answers[source]; ++i) {
      const std::optional<std::string> answer = queue->WaitForAnswer(source, 0.1).value();
      if (answer) answers[source] = DecodeAnswer(*answer, "ask again").value();
    }
    ASSERT_TRUE(answers[source]) << source;
  }
  stop.request_stop();
  sieving.join();
  judging.join();
  EXPECT_EQ(answers["past the end"]->verdict, Verdict::kRuleViolation);
  EXPECT_THAT(answers["past the end"]->detail, HasSubstr("before a GPU judges"));
  EXPECT_FALSE(gpu.simulated_here.contains("past the end"));  // the refused job took no GPU time
  for (const char* source : {"right", "spins", "odd", "rounds"}) EXPECT_EQ(answers[source]->verdict, Verdict::kOk) << source;
  EXPECT_EQ(answers["wrong on a GPU"]->verdict, Verdict::kWrongOutput);
  EXPECT_THAT(answers["right"]->labels, testing::Not(testing::Contains("not_simulated")));
  EXPECT_THAT(answers["spins"]->labels, testing::Contains("not_simulated"));
  EXPECT_THAT(answers["odd"]->labels, testing::Contains("not_simulated"));
  EXPECT_EQ(answers["rounds"]->findings.at(0).kind, "simulated_wrong_output");
  EXPECT_THAT(answers["alone"]->labels, testing::Contains("not_simulated"));
}

TEST_F(Queue, AJobWhoseEntryWasTrimmedByHandIsSubmittedAgain) {
  const auto queue = Open();
  ASSERT_TRUE(queue->Submit("u:a", "x").ok());
  EXPECT_TRUE(queue->Knows("u:a").value());
  const auto by_hand = ConnectRedis(ParseRedisAddress(server_.address()).value()).value();
  ASSERT_TRUE(by_hand->Command({"XTRIM", "hone:{q}:jobs", "MAXLEN", "0"}).ok());
  EXPECT_FALSE(queue->Knows("u:a").value());
  ASSERT_TRUE(queue->Submit("u:a", "x").ok());
  const ClaimedJob job = ClaimOne(*queue, "w1");
  EXPECT_EQ(job.id, "u:a");
  ASSERT_TRUE(queue->Finish(job, "answer").ok());
  EXPECT_EQ(queue->WaitForAnswer("u:a", 1).value(), "answer");
  EXPECT_EQ(queue->WaitForAnswer("u:a", 1).value(), "answer") << "the answer outlives the bundle";
}

TEST_F(Queue, AnEntryThatStandsForNoJobIsDropped) {
  const auto queue = Open();
  const auto by_hand = ConnectRedis(ParseRedisAddress(server_.address()).value()).value();
  ASSERT_TRUE(by_hand->Command({"XADD", "hone:{q}:jobs", "*", "id", "u:none"}).ok());
  ASSERT_TRUE(by_hand->Command({"XADD", "hone:{q}:jobs", "*", "something", "else"}).ok());
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(queue->Claim("w", 0.05).value().has_value());
  const QueueCounts counts = queue->Counts().value();
  EXPECT_EQ(counts.waiting + counts.claimed, 0);
}

// Applies the rules of docs/queue.md, read from the page itself.
TEST_F(Queue, RightsKeepSubmittersAndWorkersApart) {
  const auto root = ConnectRedis(ParseRedisAddress(server_.address()).value()).value();
  TemporaryDirectory folder = MakeTemporaryDirectory().value();
  const auto make = [&](QueueRole role, const std::string& user) {
    // "user NAME reset on …" of an ACL file is "ACL SETUSER NAME reset on …" by hand.
    const std::string rule = "ACL SET" + AclLine(role, "q", user, "secret-of-" + user).value();
    std::vector<std::string> script_words;
    for (size_t at = 0; at < rule.size();) {
      const size_t end = std::min(rule.find(' ', at), rule.size());
      script_words.push_back(rule.substr(at, end - at));
      at = end + 1;
    }
    script_words[1] = "SETUSER";
    const Result<RedisReply> done = root->Command(script_words);
    ASSERT_TRUE(done.ok()) << done.status().message();
    ASSERT_TRUE(WriteFileAtomically(folder / user, "secret-of-" + user + "\n").ok());
  };
  for (const char* user : {"alice", "bob"}) make(QueueRole::kSubmitter, user);
  make(QueueRole::kWorker, "gpu-worker");
  const auto as = [&](const std::string& user) {
    return ParseRedisAddress(server_.address("q", user + "@") + "?password_file=" + (folder / user)).value();
  };
  const auto alice = JobQueue::Open(as("alice"), kShortLease).value(),
             bob = JobQueue::Open(as("bob"), kShortLease).value();
  const auto worker = JobQueue::Open(as("gpu-worker"), kShortLease).value();

  // Operations that each user may perform.
  ASSERT_TRUE(worker->Register("NVIDIA H200", "{}").ok());
  EXPECT_EQ(alice->Facts().value(), "{}");
  ASSERT_TRUE(alice->Submit("alice:1", "of alice").ok());
  EXPECT_TRUE(alice->Knows("alice:1").value());
  ClaimedJob job = ClaimOne(*worker, "w");
  EXPECT_EQ(job.bundle, "of alice");
  EXPECT_TRUE(worker->Renew("w", job).value());
  ASSERT_TRUE(worker->PutBack("w", job).ok());
  job = ClaimOne(*worker, "w");
  EXPECT_THAT(alice->PassOn("w", job, "by herself").message(), HasSubstr("can't"));
  ASSERT_TRUE(worker->PassOn("w", job, "simulated").ok());
  EXPECT_TRUE(alice->Knows("alice:1").value());
  job = ClaimOne(*worker, "w");
  EXPECT_EQ(job.simulated, "simulated");
  ASSERT_TRUE(worker->Finish(job, "for alice").ok());
  ASSERT_TRUE(worker->StoreReport("w", "{}").ok());
  EXPECT_EQ(alice->WaitForAnswer("alice:1", 1).value(), "for alice");
  EXPECT_EQ(alice->Workers().value().size(), 1u);
  EXPECT_EQ(alice->Counts().value().answered, 1);

  // Operations that each user may not perform.
  const auto refused = [](const Status& status) {
    EXPECT_THAT(status.message(),
                testing::AnyOf(HasSubstr("NOPERM"), HasSubstr("The user executing the script can't")));
    EXPECT_THAT(status.message(), HasSubstr("this user lacks the rights"));
  };
  refused(bob->WaitForAnswer("alice:1", 0.1).status());
  refused(bob->Knows("alice:1").status());
  refused(bob->Submit("alice:2", "in the name of alice"));
  refused(alice->Claim("w", 0.1).status());
  refused(alice->Finish(job, "an answer of her own"));
  refused(alice->Register("NVIDIA H200", "facts of her own"));
  refused(worker->Submit("alice:3", "a job of the worker's"));
  refused(worker->Submit("gpu-worker:1", "a job of the worker's"));
  for (const auto& address : {as("alice"), as("gpu-worker")}) {
    const auto connection = ConnectRedis(address).value();
    refused(connection->Command({"FLUSHALL"}).status());
    refused(connection->Command({"CONFIG", "SET", "dir", "/"}).status());
    refused(connection->Command({"GET", "elsewhere"}).status());
    refused(connection->Command({"KEYS", "*"}).status());
  }
}

// Users that were made by `ACL SETUSER` alone are gone when a server restarts. A client that was accepted before waits
// until they are back.
TEST_F(Queue, WhoWasLetInBeforeWaitsForAServerWithoutItsUsers) {
  const auto root = ConnectRedis(ParseRedisAddress(server_.address()).value()).value();
  TemporaryDirectory folder = MakeTemporaryDirectory().value();
  const auto make = [&](const char* user) {
    ASSERT_TRUE(root->Command({"ACL", "SETUSER", user, "on", ">secret", "~*", "+@all"}).ok());
    ASSERT_TRUE(WriteFileAtomically(folder / user, "secret\n").ok());
  };
  for (const char* user : {"alice", "worker"}) make(user);
  std::mutex mutex;
  std::vector<std::string> messages, trouble;
  const std::unique_ptr<Evaluator> alice =
      MakeQueueEvaluator(server_.address("q", "alice@") + "?password_file=" + (folder / "alice"),
                         [&](const std::string& why) {
                           const std::lock_guard lock(mutex);
                           messages.push_back(why);
                         })
          .value();
  std::atomic<bool> begun{false};
  std::stop_source stop;
  ScriptedJudge judge;
  std::thread worker;
  std::thread submitter([&] {
    EvaluationRequest request;
    request.source = "quick";
    const Result<Evaluation> evaluation = alice->Evaluate(task_, request);
    EXPECT_EQ(evaluation.ok() ? evaluation->candidate : evaluation.status().message(), "quick");
  });
  const auto heard = [&](const std::vector<std::string>& where, const std::string& what) {
    for (int i = 0; i < 1000; ++i) {
      {
        const std::lock_guard lock(mutex);
        for (const std::string& one : where) {
          if (one.find(what) != std::string::npos) return true;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  };
  EXPECT_TRUE(heard(messages, "no worker is there")) << "a submitter says what it waits for";
  // The submitter's connection is cut, and its user is gone.
  ASSERT_TRUE(root->Command({"ACL", "DELUSER", "alice"}).ok());
  EXPECT_TRUE(heard(messages, "WRONGPASS"));
  worker = std::thread([&] {
    ServeQueueOptions options = QuickOptions("w", stop.get_token());
    options.on_begun = [&] { begun = true; };
    options.on_trouble = [&](const std::string& why) {
      const std::lock_guard lock(mutex);
      trouble.push_back(why);
    };
    const Result<Served> served = ServeQueue(
        judge, ParseRedisAddress(server_.address("q", "worker@") + "?password_file=" + (folder / "worker")).value(),
        options);
    EXPECT_TRUE(served.ok()) << served.status().message();
  });
  while (!begun) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(root->Command({"ACL", "DELUSER", "worker"}).ok());
  EXPECT_TRUE(heard(trouble, "WRONGPASS"));
  for (const char* user : {"alice", "worker"}) make(user);
  submitter.join();
  stop.request_stop();
  worker.join();
  EXPECT_EQ(Open()->Counts().value().answered, 1);
}

TEST(QueueRights, RefusesNamesThatCouldStandForOtherKeys) {
  for (const char* user : {"", "a*", "a b", "default", "a:b", "a\n"})
    EXPECT_FALSE(AclLine(QueueRole::kSubmitter, "q", user, "p").ok()) << user;
  EXPECT_FALSE(AclLine(QueueRole::kWorker, "q*", "w", "p").ok());
  const std::string line = AclLine(QueueRole::kSubmitter, "q", "alice", "hidden words").value();
  EXPECT_THAT(line, testing::AllOf(HasSubstr("user alice reset on #"), HasSubstr("%R~hone:{q}:answer:alice:*"),
                                   testing::Not(HasSubstr("hidden"))));
}

TEST_F(Queue, AWrongOrMissingPasswordSaysWhatToDo) {
  const auto root = ConnectRedis(ParseRedisAddress(server_.address()).value()).value();
  ASSERT_TRUE(root->Command({"CONFIG", "SET", "requirepass", "right"}).ok());
  TemporaryDirectory folder = MakeTemporaryDirectory().value();
  ASSERT_TRUE(WriteFileAtomically(folder / "right", "right\nof this file only the first line counts\n").ok());
  ASSERT_TRUE(WriteFileAtomically(folder / "wrong", "wrong\n").ok());
  const auto why = [&](const std::string& file) {
    return MakeQueueEvaluator(server_.address() + (file.empty() ? "" : "?password_file=" + (folder / file))).status();
  };
  EXPECT_TRUE(why("right").ok()) << why("right").message();
  EXPECT_EQ(why("wrong").code(), StatusCode::kInvalidArgument) << "trying again does not help";
  EXPECT_THAT(why("wrong").message(), testing::AllOf(HasSubstr(folder / "wrong"), HasSubstr("WRONGPASS"), HasSubstr("first line")));
  EXPECT_THAT(why("").message(), HasSubstr("add ?password_file=FILE"));
  EXPECT_THAT(why("none").message(), HasSubstr(folder / "none"));
}

TEST(QueueServer, SpeaksTlsAndProvesWhoItIs) {
  TemporaryDirectory folder = MakeTemporaryDirectory().value();
  ASSERT_TRUE(WriteTestCertificate(folder.path(), "right", "IP:127.0.0.1"));
  ASSERT_TRUE(WriteTestCertificate(folder.path(), "other", "DNS:gpu.example"));
  const std::string port = std::to_string(FreePort()), other_port = std::to_string(FreePort());
  const auto tls = [&](const std::string& name, const std::string& at) {
    return std::vector<std::string>{"--tls-port",         at,
                                    "--tls-cert-file",    folder / (name + ".crt"),
                                    "--tls-key-file",     folder / (name + ".key"),
                                    "--tls-ca-cert-file", folder / (name + ".crt"),
                                    "--tls-auth-clients", "no"};
  };
  RedisServer server(tls("right", port)), other(tls("other", other_port));
  if (!server.is_installed()) GTEST_SKIP() << "redis-server is not here (apt install redis-tools)";
  ASSERT_TRUE(server.TryStart().ok());
  ASSERT_TRUE(other.TryStart().ok());
  const std::string address = "rediss://127.0.0.1:" + port + "/q?ca_file=" + (folder / "right.crt");
  const auto queue = JobQueue::Open(ParseRedisAddress(address).value(), kShortLease);
  ASSERT_TRUE(queue.ok()) << queue.status().message();
  const std::string large(3'000'000, 'x');
  ASSERT_TRUE((*queue)->Submit("u:a", large).ok());
  std::optional<ClaimedJob> job = (*queue)->Claim("w", 5).value();
  if (!job) job = (*queue)->Claim("w", 5).value();  // the first claim made the group
  ASSERT_TRUE(job.has_value());
  EXPECT_TRUE(job->bundle == large);
  ASSERT_TRUE((*queue)->Finish(*job, "done").ok());
  EXPECT_EQ((*queue)->WaitForAnswer("u:a", 1).value(), "done");
  EXPECT_FALSE((*queue)->Claim("w", 0.05).value().has_value())
      << "a wait without an answer leaves the connection whole";
  server.Kill();
  EXPECT_EQ((*queue)->Submit("u:b", "x").code(), StatusCode::kUnavailable);
  ASSERT_TRUE(server.TryStart().ok());
  EXPECT_TRUE((*queue)->Submit("u:b", "x").ok()) << "a connection that broke is made anew";

  const auto why = [](const std::string& text) { return MakeQueueEvaluator(text).status(); };
  EXPECT_THAT(why("rediss://127.0.0.1:" + port + "/q").message(), HasSubstr("certificate is not accepted"))
      << "nobody vouches for it";
  EXPECT_THAT(why("rediss://127.0.0.1:" + other_port + "/q?ca_file=" + (folder / "other.crt")).message(),
              HasSubstr("IP address mismatch"));
  EXPECT_THAT(why("rediss://127.0.0.1:" + port + "/q?ca_file=/nowhere").message(), HasSubstr("/nowhere"));
  const std::string plain = server.address();
  EXPECT_THAT(why("rediss" + plain.substr(5) + "?ca_file=" + (folder / "right.crt")).message(),
              HasSubstr("does the server speak TLS"))
      << "a server without TLS";
}

TEST_F(Queue, CleaningRemovesWhatIsMeantAndNothingElse) {
  const RedisAddress address = ParseRedisAddress(server_.address()).value();
  const auto queue = Open(), other = Open("q2");
  const auto by_hand = ConnectRedis(address).value();
  EXPECT_EQ(CleanQueue(address, {.all = true}).value().there.answers, 0) << "a queue that nobody has used";
  ASSERT_TRUE(other->Submit("elsewhere", "x").ok());
  ASSERT_TRUE(queue->Register("NVIDIA H200", "{}").ok());
  for (const char* id : {"u:answered", "u:old", "u:claimed", "u:waiting", "u:lost"}) ASSERT_TRUE(queue->Submit(id, "x").ok());
  std::map<std::string, ClaimedJob> jobs;
  for (int i = 0; i < 3; ++i) {
    const ClaimedJob job = ClaimOne(*queue, "w");
    jobs[job.id] = job;
  }
  for (const char* id : {"u:answered", "u:old"}) ASSERT_TRUE(queue->Finish(jobs.at(id), "four").ok());
  for (const char* key : {"answer", "said", "job"})
    ASSERT_TRUE(by_hand->Command({"EXPIRE", "hone:{q}:" + std::string(key) + ":u:old", std::to_string(kAnswerSeconds - 7200)}).ok());
  const std::string entry = by_hand->Command({"HGET", "hone:{q}:state:u:lost", "entry"}).value().text;
  ASSERT_TRUE(by_hand->Command({"XDEL", "hone:{q}:jobs", entry}).ok());
  ASSERT_TRUE(by_hand->Command({"XADD", "hone:{q}:dead", "*", "id", "u:dead", "reason", "r"}).ok());

  const CleanReport counted = CleanQueue(address, {.answers = true, .dead = true, .older_seconds = 3600}).value();
  EXPECT_EQ(counted.there.answers, 2);
  EXPECT_EQ(counted.there.answer_bytes, 8);
  EXPECT_EQ(counted.there.lost, 1);
  EXPECT_EQ(counted.there.waiting, 1);
  EXPECT_EQ(counted.there.dead, 1);
  EXPECT_EQ(counted.claimed, 1);
  EXPECT_EQ(counted.meant.answers, 1);
  EXPECT_EQ(counted.meant.lost + counted.meant.dead + counted.meant.waiting, 0) << "none of these is an hour old";
  EXPECT_TRUE(queue->WaitForAnswer("u:old", 0.1).value().has_value()) << "counting removes nothing";

  EXPECT_EQ(CleanQueue(address, {.answers = true, .older_seconds = 3600, .really = true}).value().meant.answers, 1);
  EXPECT_FALSE(queue->WaitForAnswer("u:old", 0.05).value().has_value());
  EXPECT_EQ(queue->WaitForAnswer("u:answered", 0.1).value(), "four");
  const CleanReport clean_report =
      CleanQueue(address, {.answers = true, .dead = true, .waiting = true, .really = true}).value();
  EXPECT_EQ(clean_report.meant.answers, 1);
  EXPECT_EQ(clean_report.meant.lost, 1);
  EXPECT_EQ(clean_report.meant.waiting, 1);
  EXPECT_EQ(clean_report.meant.dead, 1);
  EXPECT_FALSE(queue->Knows("u:waiting").value()) << "who still waits for it submits it again";
  const ClaimedJob& held = jobs.at("u:claimed");
  EXPECT_TRUE(queue->Renew("w", held).value()) << "what a worker holds is left to it";
  ASSERT_TRUE(queue->Finish(held, "answer").ok());
  EXPECT_EQ(queue->WaitForAnswer("u:claimed", 0.1).value(), "answer");

  ASSERT_TRUE(queue->StoreReport("w", "{}").ok());
  EXPECT_THAT(CleanQueue(address, {.all = true, .really = true}).status().message(), HasSubstr("1 worker is still there (w among them)"));
  ASSERT_TRUE(queue->StoreReport("w", "").ok());
  ASSERT_TRUE(CleanQueue(address, {.all = true, .really = true}).ok());
  EXPECT_TRUE(by_hand->Command({"KEYS", "hone:{q}:*"}).value().list.empty());
  EXPECT_TRUE(queue->Register("NVIDIA L4", "{}").ok()) << "the queue begins anew, with another kind of device";
  EXPECT_TRUE(other->Knows("elsewhere").value());
}

TEST_F(Queue, WorkersSayHowTheyDo) {
  const RedisAddress address = ParseRedisAddress(server_.address()).value();
  ScriptedJudge judge;
  const auto queue = Open();
  for (int i = 0; i < 8; ++i) {
    EvaluationRequest request;
    request.source = "quick " + std::to_string(i);
    ASSERT_TRUE(queue->Submit("u:" + std::to_string(i), EncodeBundle(task_, request)).ok());
  }
  std::stop_source stop;
  std::thread worker([&] { EXPECT_TRUE(ServeQueue(judge, address, QuickOptions("w", stop.get_token())).ok()); });
  for (int i = 0; i < 8; ++i) {
    for (int wait = 0; wait < 100 && !queue->WaitForAnswer("u:" + std::to_string(i), 0.1).value(); ++wait) continue;
  }
  QueueState state{"q", queue->Counts().value(), queue->Workers().value()};
  ASSERT_EQ(state.workers.size(), 1u);
  EXPECT_EQ(state.counts.answered, 8);
  EXPECT_THAT(QueueStateText(state), testing::AllOf(HasSubstr("8 answered"), HasSubstr("/2")));
  EXPECT_THAT(QueueStateToJson(state), HasSubstr("\"alive\": true"));
  state.workers[0].seconds_ago = 90;
  EXPECT_THAT(QueueStateText(state), HasSubstr("silent for 90 s"));
  state.workers[0].report = "[";
  EXPECT_THAT(QueueStateText(state), HasSubstr("a worker's report"));
  stop.request_stop();
  worker.join();
  EXPECT_TRUE(queue->Workers().value().empty()) << "who ends in order is no longer listed";
}

TEST(QueueTools, CuteIsThereIfEveryLivingJudgeThatStatesItsToolsHasIt) {
  const auto report_of = [](const std::string& worker, const std::string& cutlass, double seconds_ago = 1,
                            bool sieve = false) {
    WorkerReport report;
    report.tools = {
        .stated = true, .toolkit = "NVRTC 12.8", .cutlass = cutlass, .no_cutlass = cutlass.empty() ? "unpack it" : ""};
    report.sieve = sieve;
    return ReportedWorker{worker, seconds_ago, EncodeWorkerReport(report)};
  };
  const JudgeTools nobody, without{.stated = true, .toolkit = "NVRTC 12.8", .cutlass = "", .no_cutlass = "unpack it"};
  const ReportedWorker older{"older", 1, EncodeWorkerReport(WorkerReport())};
  EXPECT_TRUE(CanAllInclude("cute", {}, nobody).ok()) << "assumed";
  EXPECT_TRUE(CanAllInclude("cute", {report_of("a", "4.2.1"), report_of("b", "4.0.0"), older}, without).ok());
  EXPECT_EQ(CanAllInclude("cute", {report_of("a", "4.2.1"), report_of("b", "")}, nobody).message(),
            "worker b has no headers for CuTe: unpack it")
      << "any worker may take the job";
  EXPECT_TRUE(CanAllInclude(
                  "cute", {report_of("a", "4.2.1"), report_of("gone", "", 90), report_of("sieve", "", 1, true)}, nobody)
                  .ok());
  EXPECT_THAT(CanAllInclude("cute", {older, report_of("gone", "4.2.1", 90)}, without).message(),
              HasSubstr("the worker that last judged here has no headers"));
  EXPECT_TRUE(CanAllInclude("", {report_of("b", "")}, without).ok());
  QueueState state{"q", {}, {report_of("a", "4.2.1"), report_of("b", "")}};
  EXPECT_THAT(QueueStateText(state),
              testing::AllOf(HasSubstr("NVRTC 12.8, CuTe of CUTLASS 4.2.1"), HasSubstr("NVRTC 12.8, no CuTe")));
  EXPECT_THAT(QueueStateToJson(state), HasSubstr("\"no_cutlass\": \"unpack it\""));
}

}  // namespace
}  // namespace hone
