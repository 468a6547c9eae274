// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/replay_run.h"

#include <fmt/format.h>

#include "tuner/run/log/events.h"
#include "tuner/run/recorded_evaluator.h"
#include "tuner/run/run_loop.h"
#include "tuner/run/run_task.h"
#include "tuner/run/start_run.h"

namespace hone {
namespace {

// Returns a text that must be the same for a node of the recorded run and for its counterpart in the replay.
std::string ComparedText(const RunNode& n) {
  return fmt::format("from node {}, {}, '{}', source {}, {}{}", n.parent, n.purpose, n.idea, n.source_hash.hex().substr(0, 12),
                     n.evaluation ? std::string(VerdictName(n.evaluation->verdict)) : n.problem, n.kept ? ", kept" : "");
}

}  // namespace

Result<ReplayedRun> ReplayRun(RunStore& store, const std::string& run) {
  ReplayedRun out;
  HONE_ASSIGN_OR_RETURN(out.recorded, LoadRun(store, run));
  const std::string& id = out.recorded.info.id;
  if (out.recorded.version < kOldestContinuedVersion) {
    return Status::InvalidArgument(
        fmt::format("run {} has log version {}: it can be shown, but not repeated", id, out.recorded.version));
  }
  HONE_ASSIGN_OR_RETURN(Task task, LoadRunTask(store, out.recorded));
  HONE_ASSIGN_OR_RETURN(PromptLibrary prompts, PromptLibrary::OfRun(store, out.recorded));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> evaluator, MakeRecordedEvaluator(store, id));
  ProviderOptions provider_options;
  provider_options.store = &store;
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<ModelProvider> provider, MakeProvider("replay:" + id, provider_options));
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<Strategy> strategy, MakeStrategy(out.recorded.options.strategy));
  RunOptions options = out.recorded.options;
  // The replay has no time limit, because it runs at another speed. If a time limit ended the recorded run, the replay
  // ends with the last recorded reply.
  options.max_seconds = 0;
  out.store = MakeMemoryRunStore();
  std::string broken_start;
  if (!out.recorded.broken_start.empty()) {
    HONE_ASSIGN_OR_RETURN(broken_start, store.Source(out.recorded.broken_start));
  }
  // The replay follows the rules of the log's version: under later rules another node may become the best, and
  // evaluations would be needed that were not recorded.
  HONE_RETURN_IF_ERROR(
      StartRun(*out.store, task, evaluator->facts(), options, id, 0, &prompts, out.recorded.version, out.recorded.memory, broken_start).status());
  if (out.recorded.no_cute_from >= 0) {
    RunResumed resumed;
    resumed.no_cute_from = out.recorded.no_cute_from;
    HONE_RETURN_IF_ERROR(out.store->Append(id, EncodeEvent(resumed)).status());
  }
  RunDependencies d;
  d.task = &task;
  d.evaluator = evaluator.get();
  d.store = out.store.get();
  d.provider = provider.get();
  d.strategy = strategy.get();
  double clock = 0;  // a made-up time that grows by a millisecond at each reading: events need ascending times
  d.now = [&clock] { return clock += 1e-3; };
  Result<RunView> replayed = ContinueRun(d, id);
  if (replayed.ok()) {
    out.replayed = std::move(*replayed);
  } else {
    // A reply or an evaluation was not recorded. What was replayed until then is compared.
    HONE_ASSIGN_OR_RETURN(out.replayed, LoadRun(*out.store, id));
    out.difference = replayed.status().message();
  }
  for (const RunNode& node : out.recorded.nodes) {
    if (!node.done()) break;
    const bool is_replayed = node.id < static_cast<int64_t>(out.replayed.nodes.size());
    const std::string repeated = is_replayed ? ComparedText(out.replayed.node(node.id)) : "not there";
    if (repeated != ComparedText(node)) {
      out.difference = fmt::format("node {} was recorded as {}; repeated it is {}{}{}", node.id, ComparedText(node),
                                   repeated, out.difference.empty() ? "" : "; ", out.difference);
      break;
    }
    ++out.compared;
  }
  return out;
}

}  // namespace hone
