// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The queue over a real Redis server, which is killed and started again, with workers that die.
#include "tuner/queue/job_queue.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/file.h"
#include "tuner/evaluate/bundle.h"
#include "tuner/queue/queue_evaluator.h"
#include "tuner/queue/serve_queue.h"

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

int FreePort() {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0) return 0;
  if (getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.sin_port);
}

// A server on this machine's loopback that writes every change to disk before it answers.
class RedisServer {
 public:
  explicit RedisServer(std::vector<std::string> options = {}) : options_(std::move(options)) {
    folder_ = MakeTemporaryDirectory().value();
    port_ = FreePort();
    // One program under several names, of which a package without the service leaves this one out.
    program_ = folder_ / "redis-server";
    for (const char* found : {"/usr/bin/redis-server", "/usr/bin/redis-check-rdb", "/usr/bin/valkey-check-rdb"}) {
      if (FileExists(found)) {
        std::filesystem::create_symlink(found, program_);
        there_ = true;
        break;
      }
    }
  }
  ~RedisServer() { Kill(); }
  bool there() const { return there_; }
  std::string address(const std::string& queue = "q") const { return "redis://127.0.0.1:" + std::to_string(port_) + "/" + queue; }

  void Start() {
    std::vector<std::string> words{program_, "--port", std::to_string(port_), "--bind", "127.0.0.1", "--dir", folder_.path(),
                                   "--appendonly", "yes", "--appendfsync", "always", "--save", "", "--daemonize", "no",
                                   "--logfile", folder_ / "log"};
    words.insert(words.end(), options_.begin(), options_.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      execv(argv[0], argv.data());
      _exit(127);
    }
    const RedisAddress address = ParseRedisAddress(this->address()).value();
    for (int i = 0; i < 500; ++i) {
      Result<std::unique_ptr<RedisConnection>> connection = ConnectRedis(address);
      if (connection.ok() && (*connection)->Command({"PING"}).ok()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const Result<std::string> log = ReadFile(folder_ / "log", 1 << 20);
    ADD_FAILURE() << "the server did not start: " << (log.ok() ? *log : log.status().message());
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  const std::vector<std::string> options_;
  TemporaryDirectory folder_;
  std::string program_;
  int port_ = 0;
  pid_t pid_ = 0;
  bool there_ = false;
};

class Queue : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.there()) GTEST_SKIP() << "redis-server is not here (apt install redis-tools)";
    server_.Start();
    task_ = ParseTask(kTask, "task.toml").value();
  }
  std::unique_ptr<JobQueue> Open(const std::string& queue = "q", double lease = kShortLease) {
    return JobQueue::Open(ParseRedisAddress(server_.address(queue)).value(), lease).value();
  }
  // The next job for a worker that waits for as long as a lease may take.
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
  const RedisAddress address = ParseRedisAddress("redis://anna@gpu.example:7000/h200?password_file=/etc/hone/redis").value();
  EXPECT_EQ(address.host, "gpu.example");
  EXPECT_EQ(address.port, 7000);
  EXPECT_EQ(address.user, "anna");
  EXPECT_EQ(address.queue, "h200");
  EXPECT_EQ(address.password_file, "/etc/hone/redis");
  EXPECT_EQ(ParseRedisAddress("redis://h/q").value().port, 6379);
  for (const auto& [text, said] : std::map<std::string, std::string>{{"redis://h", "queue's name"},
                                                                     {"redis://h/a b", "queue's name"},
                                                                     {"redis://h:x/q", "'x' is no port"},
                                                                     {"redis://h:70000/q", "no port"},
                                                                     {"redis:///q", "host is missing"},
                                                                     {"redis://a:secret@h/q", "password does not belong"},
                                                                     {"redis://h/q?db=1", "'db=1' is not known"},
                                                                     {"rediss://h/q", "without TLS"}}) {
    EXPECT_THAT(ParseRedisAddress(text).status().message(), HasSubstr(said)) << text;
  }
}

TEST(RedisAddress, AServerThatIsNotThereIsUnavailable) {
  const Result<std::unique_ptr<Evaluator>> made = MakeQueueEvaluator("redis://127.0.0.1:" + std::to_string(FreePort()) + "/q");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(made.status().message(), HasSubstr("cannot be reached"));
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
  EXPECT_TRUE(queue->Begin("w1", job).value());
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
  const ClaimedJob taken = ClaimOne(*queue, "w2");
  EXPECT_EQ(taken.id, "a");
  EXPECT_FALSE(queue->Renew("w1", job).value());
  EXPECT_FALSE(queue->Begin("w1", job).value());
  ASSERT_TRUE(queue->Finish(job, "late, and first all the same").ok());
  ASSERT_TRUE(queue->Finish(taken, "second").ok());
  EXPECT_THAT(queue->WaitForAnswer("a", 1).value().value(), HasSubstr("late"));
}

TEST_F(Queue, OnlyDeathsWhileAJobIsJudgedCountAgainstIt) {
  const auto queue = Open();
  ASSERT_TRUE(queue->Submit("poison", "x").ok());
  for (int i = 0; i < 4; ++i) (void)ClaimOne(*queue, "preempted" + std::to_string(i));  // died before they began
  for (int i = 0; i < kMostDeaths; ++i) {
    const std::string worker = "w" + std::to_string(i);
    const ClaimedJob job = ClaimOne(*queue, worker);
    ASSERT_EQ(job.id, "poison");
    ASSERT_TRUE(queue->Begin(worker, job).value());  // and died
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
    ASSERT_TRUE(queue->Begin("w1", job).value());
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
  EXPECT_THAT(queue->Register("NVIDIA L4", "{}").message(), HasSubstr("judge on NVIDIA H200, and this machine has NVIDIA L4"));
  EXPECT_TRUE(Open("other")->Register("NVIDIA L4", "{}").ok());
}

TEST(QueueServer, ThatThrowsKeysAwayIsRefused) {
  RedisServer server({"--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"});
  if (!server.there()) GTEST_SKIP() << "redis-server is not here (apt install redis-tools)";
  server.Start();
  EXPECT_THAT(MakeQueueEvaluator(server.address()).status().message(), HasSubstr("set maxmemory-policy to noeviction"));
}

// Judges in no time; a candidate says what happens to it.
class ScriptedJudge : public Evaluator {
 public:
  const DeviceFacts& facts() const override { return facts_; }
  Result<Evaluation> Evaluate(const Task&, const EvaluationRequest& request, const EvaluationProgress& progress) override {
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

ServeQueueOptions Quick(const std::string& worker, std::stop_token stop = {}) {
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
      ServeQueueOptions options = Quick("w" + std::to_string(number) + "-" + std::to_string(getpid()));
      options.lease_seconds = 2;  // a busy machine may hold a process up for a while, which is no death
      (void)ServeQueue(judge, address, options);
      _exit(0);
    }
    return child;
  };
  for (int i = 0; i < kWorkers; ++i) workers.push_back(start(i));
  const std::unique_ptr<Evaluator> evaluator = MakeQueueEvaluator(server_.address()).value();
  std::atomic<int> next{0};
  std::mutex mutex;
  std::map<std::string, std::string> answers;
  std::vector<std::thread> submitters;
  for (int t = 0; t < kThreads; ++t) {
    submitters.emplace_back([&] {
      for (int i; (i = next++) < kCandidates;) {
        EvaluationRequest request;
        request.source = (i % 3 == 0 ? "slow " : "quick ") + std::to_string(i);
        request.seed = 7;
        const Result<Evaluation> evaluation = evaluator->Evaluate(task_, request);
        const std::lock_guard lock(mutex);
        answers[request.source] = evaluation.ok() ? evaluation->candidate : evaluation.status().message();
      }
      over = next >= kCandidates + kThreads - 1 || over;
    });
  }
  for (int i = 0; i < 6 && !over; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    if (i % 3 == 2) {
      server_.Kill();
      server_.Start();
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

TEST_F(Queue, AWorkerEndsWhenNothingComesAndWhenItsMachineFails) {
  const RedisAddress address = ParseRedisAddress(server_.address()).value();
  ScriptedJudge judge;
  ServeQueueOptions options = Quick("w");
  options.until_idle_seconds = 0.3;
  const std::string bundle = [&] {
    EvaluationRequest request;
    request.source = "quick";
    request.seed = 7;  // as a submitter may write who is no client of ours
    return EncodeBundle(task_, request);
  }();
  const auto queue = Open();
  ASSERT_TRUE(queue->Submit("a", bundle).ok());
  ASSERT_TRUE(queue->Submit("b", "{}").ok());
  const Served served = ServeQueue(judge, address, options).value();
  EXPECT_EQ(served.judged, 1);
  EXPECT_EQ(served.unreadable, 1);
  EXPECT_THAT(DecodeAnswer(queue->WaitForAnswer("b", 1).value().value(), "ask again").status().message(), HasSubstr("bundle b"));

  EvaluationRequest broken;
  broken.source = "broken machine";
  ASSERT_TRUE(queue->Submit("c", EncodeBundle(task_, broken)).ok());
  const Result<Served> failed = ServeQueue(judge, address, options);
  ASSERT_FALSE(failed.ok());
  EXPECT_THAT(failed.status().message(), HasSubstr("could not be judged on this machine: no driver"));
  EXPECT_EQ(ClaimOne(*queue, "another").id, "c") << "nothing is lost";
}

}  // namespace
}  // namespace hone
