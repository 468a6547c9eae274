// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone worker --spool DIR [--once]: judges the bundles that wait in a spool on this machine's device.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "hone/commands.h"
#include "tuner/evaluate/spool.h"

namespace hone {
namespace {

struct WorkerFlags {
  DeviceFlags device;
  std::string spool;
  bool once = false;
  int parallel = 0;
  double poll_seconds = 1.0;
};

std::atomic<bool> stop_asked{false};
void AskToStop(int) { stop_asked = true; }

Status Run(CommandContext& context, const WorkerFlags& flags) {
  if (flags.device.device.rfind("spool:", 0) == 0) {
    return Status::InvalidArgument("hone worker judges on a real or simulated device: --device cuda:N, sim or auto");
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, MakeEvaluator(MakeEvaluatorOptions(context, flags.device)));
  Spool spool(flags.spool);
  HONE_RETURN_IF_ERROR(spool.Release(flags.once ? 0 : 3600));
  HONE_RETURN_IF_ERROR(spool.WriteFacts(evaluator->facts()));
  std::signal(SIGINT, AskToStop);
  std::signal(SIGTERM, AskToStop);

  const int threads = flags.parallel > 0 ? flags.parallel : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int judged = 0, failed = 0;
  while (!stop_asked) {
    HONE_ASSIGN_OR_RETURN(std::vector<std::string> claimed, spool.Claim());
    std::atomic<size_t> next{0};
    std::mutex mutex;
    Status first_error;
    const auto work = [&] {
      for (size_t i = next++; i < claimed.size() && !stop_asked; i = next++) {
        const std::string& id = claimed[i];
        Result<SpoolBundle> bundle = spool.Load(id);
        Result<Evaluation> evaluation = bundle.ok() ? evaluator->Evaluate(bundle->task, bundle->request)
                                                    : Result<Evaluation>(bundle.status());
        const Status finished = spool.Finish(id, evaluation);
        std::lock_guard lock(mutex);
        ++judged;
        failed += !evaluation.ok();
        if (!finished.ok() && first_error.ok()) first_error = finished;
        fmt::print(stderr, "{} {}\n", id, evaluation.ok() ? std::string(VerdictName(evaluation->verdict)) : evaluation.status().message());
      }
    };
    std::vector<std::thread> pool;
    for (int i = 0; i < threads && static_cast<size_t>(i) < claimed.size(); ++i) pool.emplace_back(work);
    for (std::thread& thread : pool) thread.join();
    HONE_RETURN_IF_ERROR(first_error);
    if (stop_asked) HONE_RETURN_IF_ERROR(spool.Release(0));
    if (flags.once) break;
    if (claimed.empty()) std::this_thread::sleep_for(std::chrono::duration<double>(flags.poll_seconds));
  }
  if (flags.device.json) {
    fmt::print("{}\n", nlohmann::json{{"judged", judged}, {"failed", failed}, {"spool", flags.spool}}.dump());
  } else {
    fmt::print("judged {} bundles from {} on {} {}; {} could not be judged\n", judged, flags.spool, evaluator->facts().id,
               evaluator->facts().name, failed);
  }
  context.exit_status = failed > 0 ? 3 : 0;
  return Status::Ok();
}

}  // namespace

void RegisterWorkerCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<WorkerFlags>();
  CLI::App* command = app.add_subcommand("worker", "judge the evaluations that wait in a spool");
  command->add_option("--spool", flags->spool, "the spool's folder")->required();
  command->add_flag("--once", flags->once, "judge what is pending, then end");
  command->add_option("--parallel", flags->parallel, "bundles compiled at a time; 0: one per core")->capture_default_str();
  command->add_option("--poll", flags->poll_seconds, "seconds between looks at an empty spool")->capture_default_str();
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
