// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone worker --spool DIR | --queue redis://… judges on this machine's device the jobs that wait in a spool or in a
// queue.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/process/stoppable_sleep.h"
#include "base/text/json_fields.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/signal_stop.h"
#include "tuner/evaluate/serve_spool.h"
#include "tuner/evaluate/spool.h"
#include "tuner/queue/serve_queue.h"

namespace hone {
namespace {

struct WorkerFlags {
  DeviceFlags device;
  std::string spool, queue;
  bool once = false, sieve = false;
  int64_t ahead = ServeQueueOptions().ahead;
  std::string until_idle;
  std::string profiles = "all";
  int parallel = 0;
  double poll_seconds = 1.0;
};

// Parses "90", "90s", "10m" or "2h" as seconds; empty: 0.
Result<double> SecondsOf(const std::string& text) {
  if (text.empty()) return 0.0;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string unit(end, text.data() + text.size());
  const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (error != std::errc() || scale == 0 || !(number > 0)) {
    return Status::InvalidArgument(fmt::format("--until-idle {}: write a time such as 90s, 10m or 2h", text));
  }
  return number * scale;
}

ServeOptions JudgingOptions(const WorkerFlags& flags) {
  ServeOptions options;
  options.threads =
      flags.parallel > 0 ? flags.parallel : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.profiles = flags.profiles == "none"    ? ServeOptions::Profiles::kNone
                     : flags.profiles == "gains" ? ServeOptions::Profiles::kGains
                                                 : ServeOptions::Profiles::kAll;
  options.on_bundle = [](const std::string& id, const Result<Evaluation>& evaluation) {
    PrintError("{} {}\n", id,
               evaluation.ok() ? std::string(VerdictName(evaluation->verdict)) : evaluation.status().message());
  };
  return options;
}

Status RunForQueue(CommandContext& context, const WorkerFlags& flags) {
  if (flags.once)
    return Status::InvalidArgument("--once belongs to --spool; a queue's worker ends with --until-idle 10s");
  HONE_ASSIGN_OR_RETURN(const RedisAddress address, ParseRedisAddress(flags.queue));
  if (!address.reuse.empty())
    return Status::InvalidArgument(
        "--queue: reuse= belongs into the address of those who submit (--device), not of workers");
  ServeQueueOptions options;
  HONE_ASSIGN_OR_RETURN(options.until_idle_seconds, SecondsOf(flags.until_idle));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));
  if (flags.sieve && !evaluator->facts().modelled) {
    return Status::InvalidArgument(
        "--sieve runs candidates on the simulated GPU, before a worker with a GPU judges them: add --device sim");
  }
  options.sieve = flags.sieve;
  options.ahead = flags.ahead;
  const SignalStop signals([] {});
  options.judging = JudgingOptions(flags);
  options.judging.stop = signals.token();
  char host[256] = "host";
  gethostname(host, sizeof(host) - 1);
  options.worker = fmt::format("{}-{}", host, getpid());
  options.on_begun = [&] {
    PrintError("{} {} jobs of {} on {} {}\n", options.worker, flags.sieve ? "sieves" : "judges", flags.queue,
               evaluator->facts().id, evaluator->facts().name);
  };
  options.on_trouble = [](const std::string& why) { PrintError("hone: {}; trying again for ten minutes\n", why); };
  HONE_ASSIGN_OR_RETURN(const Served served, ServeQueue(*evaluator, address, options));
  const int failed = served.unreadable + served.put_back;
  if (flags.device.json) {
    Print("{}\n", DumpJson(nlohmann::json{{"judged", served.judged},
                                          {"failed", failed},
                                          {"put_back", served.put_back},
                                          {"queue", flags.queue},
                                          {"sandbox_warnings", evaluator->SandboxWarnings()}},
                           -1));
  } else {
    Print("judged {} job{} of {} on {} {}; {} could not be judged\n", served.judged, served.judged == 1 ? "" : "s",
          flags.queue, evaluator->facts().id, evaluator->facts().name, failed);
  }
  return Status::Ok();
}

Status Run(CommandContext& context, const WorkerFlags& flags) {
  if (flags.device.device.rfind("spool:", 0) == 0 || IsRedisAddress(flags.device.device)) {
    return Status::InvalidArgument("hone worker judges on a real or simulated device: --device cuda:N, sim or auto");
  }
  if (flags.spool.empty() == flags.queue.empty()) {
    return Status::InvalidArgument("name either --spool DIR or --queue redis://HOST/QUEUE, where evaluations wait");
  }
  if (!flags.queue.empty()) return RunForQueue(context, flags);
  if (flags.sieve) return Status::InvalidArgument("--sieve belongs to --queue: a spool has one kind of worker");
  if (!flags.until_idle.empty())
    return Status::InvalidArgument("--until-idle belongs to --queue; a spool's worker ends with --once");
  if (std::error_code none;
      std::filesystem::exists(flags.spool, none) && !std::filesystem::is_directory(flags.spool, none)) {
    return Status::InvalidArgument(
        fmt::format("--spool {}: this is a file; name the folder that evaluations are put in", flags.spool));
  }
  // A worker that keeps running may be started before its spool exists. With --once, a missing folder is an error.
  if (std::error_code none; flags.once && !std::filesystem::is_directory(flags.spool, none)) {
    return Status::NotFound(fmt::format(
        "--spool {}: there is no such folder, so nothing waits in it; `hone eval … --device spool:{}` makes it",
        flags.spool, flags.spool));
  }
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, OpenEvaluator(context, flags.device));
  if (std::error_code none; !flags.once && !std::filesystem::exists(flags.spool, none)) {
    PrintError("{}: there was no such folder; it is made, and evaluations are waited for in it\n", flags.spool);
  }
  Spool spool(flags.spool);
  HONE_RETURN_IF_ERROR(spool.Release(flags.once ? 0 : 3600));
  HONE_RETURN_IF_ERROR(spool.WriteStatement({evaluator->facts(), evaluator->Tools()}));
  const SignalStop signals([&spool] { spool.GiveUp(); });

  ServeOptions options = JudgingOptions(flags);
  options.stop = signals.token();
  SpoolServer server(*evaluator, spool, std::move(options));
  int judged = 0, unreadable = 0, put_back = 0;
  while (!signals.token().stop_requested()) {
    HONE_ASSIGN_OR_RETURN(const Served served, server.JudgeClaimable());
    judged += served.judged;
    unreadable += served.unreadable;
    put_back += served.put_back;
    if (flags.once) break;
    if (served.judged + served.unreadable == 0) StoppableSleep(flags.poll_seconds, signals.token());
  }
  const int failed = unreadable + put_back;
  if (flags.device.json) {
    Print("{}\n", DumpJson(nlohmann::json{{"judged", judged},
                                          {"failed", failed},
                                          {"put_back", put_back},
                                          {"spool", flags.spool},
                                          {"sandbox_warnings", evaluator->SandboxWarnings()}},
                           -1));
  } else {
    Print("judged {} bundle{} from {} on {} {}; {} could not be judged{}\n", judged, judged == 1 ? "" : "s",
          flags.spool, evaluator->facts().id, evaluator->facts().name, failed,
          put_back > 0 ? fmt::format(", {} of them for a failure of this machine: put back, the reasons in {}/failed",
                                     put_back, flags.spool)
                       : "");
  }
  context.exit_status = failed > 0 ? 3 : 0;
  return Status::Ok();
}

}  // namespace

void RegisterWorkerCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<WorkerFlags>();
  CLI::App* command =
      app.add_subcommand("worker", "judge the kernels that wait in a spool (a shared folder) or a queue (in Redis)");
  command->add_option("--spool", flags->spool,
                      "the spool's folder, to which `--device spool:DIR` of other commands writes");
  command->add_option("--queue", flags->queue,
                      "the queue's address in Redis: redis://[USER@]HOST[:PORT]/QUEUE[?password_file=FILE]");
  command->add_option("--until-idle", flags->until_idle,
                      "with --queue: end after so long without a job, such as 90s, 10m or 2h");
  command->add_flag("--sieve", flags->sieve,
                    "needs --queue and --device sim: check small cases on the simulated GPU, refuse kernels that fail "
                    "them, and pass the rest on to workers with a GPU");
  command
      ->add_option("--ahead", flags->ahead,
                   "with --sieve: pass no more jobs on while so many wait for a worker with a GPU")
      ->check(kAboveZero)
      ->capture_default_str();
  command->add_flag("--once", flags->once, "judge what waits now, then end");
  command
      ->add_option(
          "--parallel", flags->parallel,
          "how many kernels are prepared for judging at a time, each by up to --jobs compilers; 0: one per core")
      ->check(kZeroOrMore)
      ->capture_default_str();
  command
      ->add_option("--profiles", flags->profiles,
                   "which of the profiles that jobs ask for are taken: all, gains (only of kernels faster than their "
                   "baseline) or none; a profile takes about as long as a judgement")
      ->check(CLI::IsMember({"all", "gains", "none"}))
      ->capture_default_str();
  command->add_flag_callback(
      "--no-profile", [flags] { flags->profiles = "none"; }, "the same as --profiles none");
  command->add_option("--poll", flags->poll_seconds, "with --spool: seconds between two looks at an empty spool")
      ->check(kAboveZero)
      ->capture_default_str();
  AddDeviceFlags(*command, flags->device);
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
