// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone workers redis://HOST/QUEUE lists the workers that judge a queue's jobs, their speed, and the waiting jobs.
#include <fmt/format.h>

#include <memory>

#include "base/process/stoppable_sleep.h"
#include "common/command_line.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "hone/signal_stop.h"
#include "tuner/queue/worker_report.h"

namespace hone {
namespace {

struct WorkersFlags {
  std::string queue;
  bool json = false, watch = false;
};

Result<QueueState> ReadQueueState(JobQueue& queue, const std::string& name) {
  QueueState state;
  state.queue = name;
  HONE_ASSIGN_OR_RETURN(state.counts, queue.Counts());
  HONE_ASSIGN_OR_RETURN(state.workers, queue.Workers());
  return state;
}

Status Run(const CommandContext& context, const WorkersFlags& flags) {
  HONE_ASSIGN_OR_RETURN(const RedisAddress address, ParseRedisAddress(flags.queue));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<JobQueue> queue, JobQueue::Open(address));
  const SignalStop stop;
  do {
    HONE_ASSIGN_OR_RETURN(const QueueState state, ReadQueueState(*queue, address.queue));
    // On a terminal, each update replaces the one before it.
    if (flags.watch && context.stdout_is_terminal) WriteAsIs(stdout, "\x1b[H\x1b[2J");
    if (flags.json)
      Print("{}\n", QueueStateToJson(state, flags.watch ? -1 : 2));
    else
      Print("{}", QueueStateText(state));
    std::fflush(stdout);
  } while (flags.watch && StoppableSleep(2, stop.token()));
  return Status::Ok();
}

}  // namespace

void RegisterWorkersCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<WorkersFlags>();
  CLI::App* command =
      app.add_subcommand("workers", "show a queue's workers, their jobs per minute, and the jobs that wait or failed");
  command
      ->add_option("queue", flags->queue, "the queue's address: redis://[USER@]HOST[:PORT]/QUEUE[?password_file=FILE]")
      ->required();
  command->add_flag("--watch", flags->watch, "show it again every two seconds, until Ctrl-C");
  command->add_flag("--json", flags->json, "write JSON; with --watch a line each time");
  command->callback([flags, &context] {
    if (Status status = Run(context, *flags); !status.ok()) context.Fail(status);
  });
}

}  // namespace hone
