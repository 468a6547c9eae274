// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures what each step of a job costs a queue: its submission, claim, beginning, answer, and the submitter's reading
// of it. All jobs take one step before any takes the next, so that the server's processor time can be assigned to
// steps. The program starts a Redis server of its own on the loopback interface, and prints one JSON document.
#include <fmt/format.h>

#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/clock.h"
#include "base/files/file.h"
#include "benchmarks/arguments.h"
#include "hone/tuner/task.h"
#include "tuner/evaluate/bundle.h"
#include "tuner/queue/job_queue.h"
#include "tuner/queue/redis_server.h"

namespace {

using hone::Result;
using hone::Status;

struct Options {
  int64_t jobs = 2000;
  std::string task = "relu";
  bool everysec = false;
};

// Returns the processor seconds that the server has used so far.
double ServerSeconds(hone::RedisConnection& connection) {
  const Result<hone::RedisReply> info = connection.Command({"INFO", "cpu"});
  double sum = 0;
  for (const char* name : {"used_cpu_sys:", "used_cpu_user:"}) {
    const size_t at = info.ok() ? info->text.find(name) : std::string::npos;
    if (at != std::string::npos) sum += std::strtod(info->text.c_str() + at + std::string_view(name).size(), nullptr);
  }
  return sum;
}

int Run(const Options& options) {
  const std::string folder = std::string(HONE_SOURCE_DIR) + "/tasks/" + options.task;
  const Result<hone::Task> task = hone::LoadTask(folder);
  const Result<std::string> seed = hone::ReadFile(folder + "/seed.cu");
  if (!task.ok() || !seed.ok()) return std::cerr << "the task " << options.task << " cannot be read\n", 1;
  std::vector<std::string> words;
  if (options.everysec) words = {"--appendfsync", "everysec"};
  hone::RedisServer server(words);
  if (!server.is_installed()) return std::cerr << "redis-server is not here (apt install redis-tools)\n", 3;
  if (const Status up = server.TryStart(); !up.ok()) return std::cerr << up.message() << "\n", 3;
  const hone::RedisAddress address = hone::ParseRedisAddress(server.address()).value();
  const auto queue = hone::JobQueue::Open(address).value();
  const auto connection = hone::ConnectRedis(address).value();
  hone::Evaluation evaluation;
  evaluation.task = task->name;
  evaluation.verdict = hone::Verdict::kOk;
  evaluation.cases.resize(task->cases.size());
  std::vector<std::string> ids;
  for (int64_t i = 0; i < options.jobs; ++i) ids.push_back(fmt::format("default:{:032x}", i));
  hone::EvaluationRequest request;
  request.source = *seed;
  const std::string bundle = hone::EncodeBundle(*task, request);
  const std::string answer = hone::EncodeAnswer(ids[0], Result<hone::Evaluation>(evaluation));
  std::vector<hone::ClaimedJob> jobs;
  (void)queue->Claim("w", 0.01);  // creates the consumer groups

  nlohmann::json steps = nlohmann::json::array();
  bool failed = false;
  double server_us = 0;
  const auto step = [&](const char* name, const std::function<bool(size_t)>& each) {
    const double before = ServerSeconds(*connection);
    const hone::Stopwatch watch;
    for (size_t i = 0; i < ids.size(); ++i) failed = !each(i) || failed;
    const double count = static_cast<double>(ids.size()), wall = 1e6 * watch.Seconds() / count,
                 processor = 1e6 * (ServerSeconds(*connection) - before) / count;
    server_us += processor;
    steps.push_back({{"step", name}, {"round_trip_us", wall}, {"server_us", processor}});
  };
  step("submit", [&](size_t i) { return queue->Submit(ids[i], bundle).ok(); });
  step("claim", [&](size_t) {
    const auto job = queue->Claim("w", 1);
    if (job.ok() && *job) jobs.push_back(**job);
    return job.ok() && *job;
  });
  if (jobs.size() != ids.size()) return std::cerr << "not every job was claimed\n", 1;
  step("answer", [&](size_t i) { return queue->Finish(jobs[i], answer).ok(); });
  step("collect the answer", [&](size_t i) {
    const auto got = queue->WaitForAnswer(ids[i], 1);
    return got.ok() && *got == answer;
  });
  std::cout << nlohmann::json{{"benchmark", "queue_stages"},
                              {"task", options.task},
                              {"jobs", options.jobs},
                              {"synced", options.everysec ? "every second" : "every write"},
                              {"bundle_bytes", bundle.size()},
                              {"answer_bytes", answer.size()},
                              {"steps", steps},
                              {"server_us_a_job", server_us}}
                   .dump(2)
            << "\n";
  return failed ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  hone::Arguments arguments("Measures what each step of a job costs a queue and its server.");
  arguments.Add("--jobs", options.jobs, "jobs, all of which take each step", {.least = 1});
  arguments.Add("--task", options.task, "the task whose seed is submitted");
  arguments.Add("--everysec", options.everysec, "the server syncs its disk every second, not at every write");
  if (const std::optional<int> exit = arguments.Parse(argc, argv)) return *exit;
  return Run(options);
}
