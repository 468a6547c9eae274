// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a queue under load and faults: workers, submitters and the server are killed at random moments while jobs are
// judged, and every job must come back with its own answer. The program starts a Redis server of its own on the
// loopback interface. Without kills it measures what the queue costs: with a judge that does nothing, all of a job's
// time is the queue's. Prints one JSON document.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/clock.h"
#include "base/files/file.h"
#include "base/numbers/random.h"
#include "benchmarks/arguments.h"
#include "hone/tuner/task.h"
#include "tuner/queue/job_queue.h"
#include "tuner/queue/queue_evaluator.h"
#include "tuner/queue/redis_server.h"
#include "tuner/queue/serve_queue.h"

namespace {

using hone::Evaluation;
using hone::Result;
using hone::Status;

struct Options {
  int64_t jobs = 1000;
  int workers = 8, submitters = 4, threads = 4, kills = 0, server_kills = 0;
  std::string hone, judge = "nothing";
  bool remembered = false;
  double lease = 2;
  double judge_ms = 0;
  bool everysec = false;
  uint64_t seed = 1;
};

// A judge that answers at once, or after a pause that stands for a GPU's work and takes no processor time.
class NoJudge final : public hone::Evaluator {
 public:
  explicit NoJudge(double milliseconds) : pause_(milliseconds) {}
  const hone::DeviceFacts& facts() const override { return facts_; }
  Result<Evaluation> Evaluate(const hone::Task& task, const hone::EvaluationRequest& request,
                              const hone::EvaluationProgress&) override {
    if (pause_.count() > 0) {
      const std::lock_guard device(mutex_);  // a GPU judges one candidate at a time
      std::this_thread::sleep_for(pause_);
    }
    Evaluation evaluation;
    evaluation.task = task.name;
    evaluation.candidate = request.name;
    evaluation.verdict = hone::Verdict::kOk;
    return evaluation;
  }

 private:
  const std::chrono::duration<double, std::milli> pause_;
  std::mutex mutex_;
  hone::DeviceFacts facts_;
};

// Returns whether the job's candidate is wrong: every third is, so that an answer that belongs to another job is
// noticed.
bool IsWrong(int64_t job) { return job % 3 == 2; }
std::string SourceOf(const Options& options, const std::string& right, int64_t job) {
  // Workers remember compiled modules, never verdicts. If all jobs have one source, only the first is compiled.
  if (options.remembered) return IsWrong(job) ? right.substr(right.find("*/")) : right;
  std::string source = fmt::format("{}\n// job {}\n", right, job);
  if (IsWrong(job)) source += "#error on purpose\n";
  return source;
}

// Returns the task relu with a few small shapes, which the simulated GPU runs in milliseconds.
hone::Result<hone::Task> SmallTask(const std::string& folder) {
  HONE_ASSIGN_OR_RETURN(hone::Task task, hone::LoadTask(folder));
  std::string toml = task.toml.substr(0, task.toml.find("[[case]]"));
  for (const char* shape : {"rows = 4, d = 32", "rows = 13, d = 121", "rows = 3, d = 5", "rows = 0, d = 64"})
    toml += fmt::format("[[case]]\nrole = \"{}\"\ndims = {{ {} }}\n\n",
                        toml.find("[[case]]") == std::string::npos ? "time" : "check", shape);
  toml += "[[hidden]]\ncount = 1\nrows = { low = 1, high = 30 }\nd = { low = 1, high = 200 }\n";
  HONE_ASSIGN_OR_RETURN(hone::Task small, hone::ParseTask(toml, folder + "/task.toml"));
  small.oracle_source = task.oracle_source;
  small.seed_source = task.seed_source;
  return small;
}

[[noreturn]] void RunWorker(const Options& options, const std::string& address, int number) {
  if (options.judge == "nothing") {
    NoJudge judge(options.judge_ms);
    hone::ServeQueueOptions serve;
    // With two threads, the next job is claimed while one is on the device.
    serve.judging.threads = options.judge_ms > 0 ? 2 : 1;
    serve.worker = fmt::format("w{}-{}", number, getpid());
    serve.lease_seconds = options.lease;
    (void)hone::ServeQueue(judge, hone::ParseRedisAddress(address).value(), serve);
    _exit(0);
  }
  const std::string words[] = {options.hone, "worker", "--queue", address, "--device", "sim", "--parallel", "1"};
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, 1);
  dup2(null, 2);
  execv(argv[0], argv.data());
  _exit(127);
}

// Submits this submitter's share of the jobs, and appends each answer to `path`, one per line. A submitter that was
// killed continues where its file ends.
[[noreturn]] void RunSubmitter(const Options& options, const std::string& address, int number, const std::string& path,
                               const hone::Task& task, const std::string& right) {
  std::set<int64_t> done;
  {
    std::ifstream file(path);
    int64_t job;
    std::string verdict;
    double seconds;
    while (file >> job >> verdict >> seconds) done.insert(job);
  }
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  Result<std::unique_ptr<hone::Evaluator>> evaluator = hone::MakeQueueEvaluator(address);
  if (!evaluator.ok() || file < 0) _exit(1);
  std::atomic<int64_t> next{number};
  std::atomic<bool> failed{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < options.threads; ++t) {
    threads.emplace_back([&] {
      for (int64_t job; (job = next.fetch_add(options.submitters)) < options.jobs;) {
        if (done.contains(job)) continue;
        hone::EvaluationRequest request;
        request.source = SourceOf(options, right, job);
        request.name = fmt::format("job-{}.cu", job);
        request.time = false;
        request.correctness_trials = 1;
        const hone::Stopwatch watch;
        const Result<Evaluation> evaluation = (*evaluator)->Evaluate(task, request);
        if (!evaluation.ok() || evaluation->candidate != request.name) {
          std::cerr << fmt::format(
              "job {}: {}\n", job,
              evaluation.ok() ? "the answer of " + evaluation->candidate : evaluation.status().message());
          failed = true;
          continue;
        }
        const std::string line =
            fmt::format("{} {} {:.6f}\n", job, hone::VerdictName(evaluation->verdict), watch.Seconds());
        if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) failed = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  _exit(failed ? 1 : 0);
}

int Run(const Options& options) {
  const std::string folder = std::string(HONE_SOURCE_DIR) + "/tasks/relu";
  const Result<hone::Task> task = options.remembered ? SmallTask(folder) : hone::LoadTask(folder);
  const Result<std::string> right = hone::ReadFile(folder + "/seed.cu");
  Result<hone::TemporaryDirectory> scratch = hone::MakeTemporaryDirectory();
  if (!task.ok() || !right.ok() || !scratch.ok())
    return std::cerr << "the task relu cannot be read: " << task.status().message() << "\n", 1;
  std::vector<std::string> words;
  if (options.everysec) words = {"--appendfsync", "everysec"};
  hone::RedisServer server(words);
  if (!server.is_installed()) return std::cerr << "redis-server is not here (apt install redis-tools)\n", 3;
  if (const Status up = server.TryStart(); !up.ok()) return std::cerr << up.message() << "\n", 3;
  const std::string address = server.address();
  const auto path = [&](int number) { return *scratch / fmt::format("answers-{}", number); };
  const auto start_worker = [&](int number) {
    const pid_t child = fork();
    if (child == 0) RunWorker(options, address, number);
    return child;
  };
  const auto start_submitter = [&](int number) {
    const pid_t child = fork();
    if (child == 0) RunSubmitter(options, address, number, path(number), *task, *right);
    return child;
  };
  const hone::Stopwatch watch;
  std::vector<pid_t> workers, submitters;
  for (int i = 0; i < options.workers; ++i) workers.push_back(start_worker(i));
  for (int i = 0; i < options.submitters; ++i) submitters.push_back(start_submitter(i));

  const auto answered = [&] {
    int64_t count = 0;
    for (int i = 0; i < options.submitters; ++i) {
      const Result<std::string> text = hone::ReadFile(path(i));
      if (text.ok()) count += std::count(text->begin(), text->end(), '\n');
    }
    return count;
  };
  // Kills are spread over the work and not over the time: one after each so many answers.
  hone::Rng rng(options.seed);
  const int kills = options.kills + options.server_kills;
  std::map<std::string, int> killed{{"worker", 0}, {"submitter", 0}, {"server", 0}};
  bool failed = false;
  size_t running = submitters.size();
  while (running > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + rng.Below(40)));
    for (size_t i = 0; i < submitters.size(); ++i) {
      int status = 0;
      if (submitters[i] > 0 && waitpid(submitters[i], &status, WNOHANG) == submitters[i]) {
        submitters[i] = 0;
        --running;
        failed = failed || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
      }
    }
    // Restarts workers that ended by themselves, because the server was away for too long.
    for (int i = 0; i < options.workers; ++i) {
      if (waitpid(workers[static_cast<size_t>(i)], nullptr, WNOHANG) == workers[static_cast<size_t>(i)])
        workers[static_cast<size_t>(i)] = start_worker(i);
    }
    const int so_far = killed["worker"] + killed["submitter"] + killed["server"];
    if (running == 0 || so_far >= kills || answered() * (kills + 1) < options.jobs * (so_far + 1)) continue;
    const auto pick = static_cast<size_t>(rng.Below(static_cast<uint64_t>(kills)));
    if (killed["server"] < options.server_kills && pick < static_cast<size_t>(options.server_kills)) {
      server.Kill();
      if (const Status up = server.TryStart(); !up.ok()) return std::cerr << up.message() << "\n", 3;
      ++killed["server"];
    } else if (rng.Below(4) == 0) {
      const auto i = static_cast<size_t>(rng.Below(submitters.size()));
      if (submitters[i] == 0) continue;
      kill(submitters[i], SIGKILL);
      waitpid(submitters[i], nullptr, 0);
      submitters[i] = start_submitter(static_cast<int>(i));
      ++killed["submitter"];
    } else {
      const auto i = static_cast<size_t>(rng.Below(workers.size()));
      kill(workers[i], SIGKILL);
      waitpid(workers[i], nullptr, 0);
      workers[i] = start_worker(static_cast<int>(i));
      ++killed["worker"];
    }
  }
  const double seconds = watch.Seconds();
  for (const pid_t worker : workers) {
    kill(worker, SIGTERM);
    waitpid(worker, nullptr, 0);
  }
  std::map<int64_t, int> times;
  int64_t wrong = 0;
  std::vector<double> waits;
  for (int i = 0; i < options.submitters; ++i) {
    std::ifstream file(path(i));
    int64_t job;
    std::string verdict;
    double wait;
    while (file >> job >> verdict >> wait) {
      ++times[job];
      waits.push_back(wait);
      const bool expected_wrong = options.judge != "nothing" && IsWrong(job);
      if (verdict != (!expected_wrong ? "ok" : options.remembered ? "parse_error" : "compile_error")) ++wrong;
    }
  }
  std::sort(waits.begin(), waits.end());
  const auto quantile = [&](double q) {
    return waits.empty() ? 0 : waits[static_cast<size_t>(q * static_cast<double>(waits.size() - 1))];
  };
  const Result<std::unique_ptr<hone::JobQueue>> queue = hone::JobQueue::Open(hone::ParseRedisAddress(address).value());
  const Result<hone::QueueCounts> counts = queue.ok() ? (*queue)->Counts() : Result<hone::QueueCounts>(queue.status());
  const auto lost = options.jobs - static_cast<int64_t>(times.size());
  const auto repeated = std::count_if(times.begin(), times.end(), [](const auto& one) { return one.second > 1; });
  std::cout << nlohmann::json{{"benchmark", "queue_faults"},
                              {"jobs", options.jobs},
                              {"judge", options.judge},
                              {"judge_ms", options.judge_ms},
                              {"remembered", options.remembered},
                              {"synced", options.everysec ? "every second" : "every write"},
                              {"workers", options.workers},
                              {"submitters", options.submitters},
                              {"in_flight", options.submitters * options.threads},
                              {"killed", killed},
                              {"seconds", seconds},
                              {"ms_per_job", 1e3 * seconds / static_cast<double>(options.jobs)},
                              {"wait_ms", {{"median", 1e3 * quantile(0.5)}, {"p99", 1e3 * quantile(0.99)}}},
                              {"lost", lost},
                              {"wrong_answers", wrong},
                              {"answered_twice", repeated},
                              {"left_in_queue", counts.ok() ? counts->waiting + counts->claimed : -1},
                              {"workers_lost_in_a_judgement", counts.ok() ? counts->died : -1}}
                   .dump(2)
            << "\n";
  return failed || lost != 0 || wrong != 0 || repeated != 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  hone::Arguments arguments(
      "Judges jobs through a queue while its parts are killed, and says what was lost and what it took.");
  arguments.Add("--jobs", options.jobs, "jobs in all", {.least = 1});
  arguments.Add("--workers", options.workers, "worker processes", {.least = 1});
  arguments.Add("--submitters", options.submitters, "processes that submit", {.least = 1});
  arguments.Add("--threads", options.threads, "jobs in flight of each submitter", {.least = 1});
  arguments.Add("--kills", options.kills, "kills of workers and submitters, spread over the work", {.least = 0});
  arguments.Add("--server-kills", options.server_kills, "kills of the server", {.least = 0});
  arguments.Add("--judge", options.judge,
                "nothing: each job is answered at once; sim: workers are `hone worker --device sim`",
                {.one_of = {"nothing", "sim"}});
  arguments.Add("--remembered", options.remembered,
                "small jobs: candidates share a source, so that compiles are remembered, and shapes are few and small");
  arguments.Add("--judge-ms", options.judge_ms, "with --judge nothing: the pause before each answer, for a GPU's work",
                {.least = 0});
  arguments.Add("--everysec", options.everysec, "the server syncs its disk every second, not at every write");
  arguments.Add("--hone", options.hone, "the program hone, for --judge sim");
  arguments.Add("--seed", options.seed, "of the moments and victims");
  if (const std::optional<int> exit = arguments.Parse(argc, argv)) return *exit;
  return Run(options);
}
