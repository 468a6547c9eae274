// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a sitting's sweeps of tunables. Every evaluated binding is in the log before its sweep continues.
#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "tuner/run/sitting.h"
#include "tuner/sweep/tune.h"

namespace hone {

// Sweeps the tunables of node `id`'s parent, unless that is in progress.
void Sitting::StartSweep(int64_t id) {
  const std::string key = fmt::format("sweep {}", id);
  if (work_.IsRunning(key) || pending_evaluations_.contains(key)) return;
  const int64_t swept = view().node(id).parent, incumbent = view().node(id).incumbent;
  Result<std::string> source = SourceOf(swept), incumbent_source = SourceOf(incumbent);
  Result<Candidate> candidate =
      source.ok() ? ParseCandidate(*source, NodeFileName(view(), swept), *d_.task) : Result<Candidate>(source.status());
  if (!candidate.ok() || !incumbent_source.ok()) {
    // The error is reported as any work's result, on the loop's thread.
    work_.Start(key, [status = candidate.ok() ? incumbent_source.status() : candidate.status()]() -> BackgroundWork::Step {
      return [status] { return status; };
    });
    return;
  }
  TuneOptions options;
  options.incumbent_source = *incumbent_source;
  options.incumbent_name = NodeFileName(view(), incumbent);
  options.max_points = view().options.max_sweep_points;
  options.parallel = std::max<int>(d_.parallel_evaluations, d_.suspend ? 1 : 0);
  options.stop = cancel_.get_token();
  // The node was evaluated with the first choices of its tunables. The sweep uses that evaluation if both were timed
  // against the same version. The seed was timed against itself; its evaluation is used if the decision to sweep knew it,
  // so that a replay evaluates the same bindings.
  const bool seed_against_itself =
      view().options.sweep_seed && swept == 0 && incumbent == 0 && view().node(id).known > 0;
  const bool same_incumbent = view().node(swept).incumbent == incumbent || seed_against_itself;
  if (const RunNode& node = view().node(swept); node.evaluation && same_incumbent) {
    options.known[BindingKey(DefaultBinding(candidate->plan))] = *node.evaluation;
  }
  for (const SweepPoint& point : view().sweep) {
    if (point.node == swept && point.incumbent == incumbent)
      options.known[BindingKey(point.binding)] = point.evaluation;
  }
  const auto task = std::make_shared<const Task>(FrozenTask());
  work_.Start(key,
              [this, id, key, swept, incumbent, task, candidate = std::move(*candidate),
               options]() mutable -> BackgroundWork::Step {
                options.on_point = [this, swept, incumbent](const Binding& binding, const Evaluation& evaluation) {
                  ReportActivity(fmt::format("sweeping {}", BindingKey(binding)));
                  // The loop's thread stores the point; the sweep waits until it has.
                  auto write_done = std::make_shared<std::promise<Status>>();
                  work_.QueueStep([this, swept, incumbent, binding, evaluation, write_done] {
                    const Status status = Append(SweepPointJudged{{swept, binding, evaluation, incumbent}});
                    write_done->set_value(status);
                    return status;
                  });
                  return write_done->get_future().get();
                };
                Result<TuneResult> result = TuneCandidate(*d_.evaluator, *task, candidate, options);
                const auto bindings = AllBindings(candidate.plan).size();
                return [this, id, key, swept, bindings, result = std::move(result)] {
                  return HandleSweepResult(id, key, swept, bindings, result);
                };
              });
}

// Records the outcome of a sweep as node `id`: a version with the winners, or that nothing is better.
Status Sitting::HandleSweepResult(int64_t id, const std::string& key, int64_t swept, size_t bindings,
                                  const Result<TuneResult>& result) {
  if (result.status().code() == StatusCode::kPending) {
    pending_evaluations_.insert(key);
    ++waiting_evaluations_;
    waiting_text_ = result.status().message();
    return Status::Ok();
  }
  if (cancel_.stop_requested() && (!result.ok() || result->left_out > 0)) return Status::Ok();
  HONE_RETURN_IF_ERROR(result.status());
  NodeProposed proposed;
  proposed.node = id;
  proposed.parent = swept;
  proposed.origin = "sweep";
  proposed.idea = fmt::format("sweep of {}'s tunables", NodeFileName(view(), swept));
  proposed.idea_key = fmt::format("sweep-{}", swept);
  proposed.reasoning = result->summary;
  const SourceHash hash = SourceHash::Of(result->source);
  const bool is_known = std::any_of(view().nodes.begin(), view().nodes.end(),
                                 [&](const RunNode& n) { return n.id < id && n.source_hash == hash; });
  if (result->source.empty() || is_known) {
    proposed.problem = "nothing_better";
    proposed.detail = result->summary;
    return Append(proposed);
  }
  proposed.source = hash;
  proposed.bindings = static_cast<int64_t>(bindings);
  return Append(proposed, {result->source});
}

}  // namespace hone
