// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/serve_spool.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "base/process/stoppable_sleep.h"

namespace hone {
namespace {

// Seconds to wait for this process's own signal. A batch system that ends a job (Slurm's preemption, say) signals all
// its processes, among them the compiler's and the simulated GPU's, whose deaths look like a candidate's fault. This
// process may get its signal a moment later than they do.
constexpr double kSignalSeconds = 0.1;
// Seconds to wait if a child is known to have been signalled from outside; a busy machine may take that long.
constexpr double kSignalledSeconds = 2;

// Returns whether a signal to a child process can cause this verdict.
bool MayComeOfASignal(Verdict verdict) {
  switch (verdict) {
    case Verdict::kCompileError:
    case Verdict::kResourceLimit:
    case Verdict::kLaunchError:
    case Verdict::kCrashed:
    case Verdict::kTimedOut:
    case Verdict::kUnsupported:
    case Verdict::kInvalidTask:
    case Verdict::kDeviceLost:
      return true;
    default:
      return false;
  }
}

}  // namespace

Status CheckNotSignalled(const Evaluation& evaluation, const std::stop_token& stop) {
  if (!MayComeOfASignal(evaluation.verdict)) return Status::Ok();
  const bool known = evaluation.detail.find("by a signal from outside") != std::string::npos;
  if (StoppableSleep(known ? kSignalledSeconds : kSignalSeconds, stop)) return Status::Ok();
  return Status::Unavailable(fmt::format(
      "the worker was told to end while it judged, and '{}' may have come of that: another worker judges anew",
      VerdictName(evaluation.verdict)));
}

Result<Evaluation> JudgeBundle(Evaluator& evaluator, const SpoolBundle& bundle, const ServeOptions& options,
                               const EvaluationProgress& progress) {
  double pause = options.pause_seconds;
  EvaluationRequest request = bundle.request;
  request.profile = request.profile && options.profiles != ServeOptions::Profiles::kNone;
  request.profile_gains = request.profile && options.profiles == ServeOptions::Profiles::kGains;
  for (int attempt = 1;; ++attempt) {
    Result<Evaluation> evaluation = evaluator.Evaluate(bundle.task, request, progress);
    if (evaluation.ok()) HONE_RETURN_IF_ERROR(CheckNotSignalled(*evaluation, options.stop));
    if (evaluation.ok() && evaluation->verdict == Verdict::kDeviceLost) {
      evaluation = Status::Unavailable("the device was lost: " + evaluation->detail);
    }
    if (evaluation.ok() || attempt >= options.tries) return evaluation;
    if (!StoppableSleep(pause, options.stop)) return evaluation;
    pause *= 2;
  }
}

Result<Served> SpoolServer::JudgeClaimable() {
  std::set<std::string> left_alone;
  for (const auto& [id, looks] : failed_looks_) {
    if (looks >= options_.max_looks) left_alone.insert(id);
  }
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> pending, spool_.Pending(left_alone));
  Served served;
  Status first_error;
  std::mutex mutex;
  std::atomic<size_t> next_bundle{0};  // index of the next bundle that no thread has taken
  const auto work = [&] {
    while (!options_.stop.stop_requested()) {
      const size_t i = next_bundle++;
      if (i >= pending.size()) break;
      const std::string& id = pending[i];
      const Result<bool> claimed = spool_.Claim(id);
      if (!claimed.ok()) {
        const std::lock_guard lock(mutex);
        if (first_error.ok()) first_error = claimed.status();
        break;
      }
      if (!*claimed) continue;
      const Result<SpoolBundle> bundle = spool_.Load(id);
      const Result<Evaluation> evaluation =
          bundle.ok() ? JudgeBundle(evaluator_, *bundle, options_) : Result<Evaluation>(bundle.status());
      // A bundle that this program cannot read stays unreadable, so it is answered with the error and not put back.
      const bool unreadable = !bundle.ok() && bundle.status().code() == StatusCode::kInvalidArgument;
      const bool answer = evaluation.ok() || unreadable;
      const Status store_status = answer ? spool_.Finish(id, evaluation) : spool_.PutBack(id, evaluation.status());
      std::lock_guard lock(mutex);
      ++(evaluation.ok() ? served.judged : unreadable ? served.unreadable : served.put_back);
      if (!answer) ++failed_looks_[id];
      if (!store_status.ok() && first_error.ok()) first_error = store_status;
      if (options_.on_bundle) options_.on_bundle(id, evaluation);
    }
  };
  std::vector<std::thread> pool;
  for (size_t i = 0; i < std::min(static_cast<size_t>(std::max(options_.threads, 1)), pending.size()); ++i) {
    pool.emplace_back(work);
  }
  for (std::thread& thread : pool) thread.join();
  HONE_RETURN_IF_ERROR(first_error);
  return served;
}

}  // namespace hone
