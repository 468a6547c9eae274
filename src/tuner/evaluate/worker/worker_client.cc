// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/worker/worker_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/process/frames.h"
#include "base/text/json_text.h"
#include "tuner/evaluate/worker/worker_main.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr int kSocketInChild = 3;          // descriptor of the socket in the worker
constexpr double kFirstPhaseSeconds = 60;  // limit until the first report of a job
// Seconds to wait for the end of a worker that has closed its socket. The limit is long, because the way in which the
// worker ended says whether the candidate is to blame, and a process that holds a GPU's memory, or runs on a busy
// machine, takes time to end.
constexpr double kEndSeconds = 5;

// Returns an evaluation for a worker that failed: a verdict without results.
Evaluation FailedEvaluation(const JudgeJob& job, Verdict verdict, std::string detail) {
  Evaluation evaluation;
  evaluation.task = job.task.name;
  evaluation.verdict = verdict;
  evaluation.detail = std::move(detail);
  evaluation.binding = job.candidate.binding;
  evaluation.seed = job.options.seed;
  return evaluation;
}

// The header of a worker's frame. A field that is missing or of another type keeps its default.
struct Word {
  std::string op, phase, detail, message;
  double limit = kFirstPhaseSeconds;
  int code = static_cast<int>(StatusCode::kInternal);
  bool lost = false;

  Status status() const {
    constexpr int kLast = static_cast<int>(StatusCode::kInternal);
    const bool is_status_code = code > static_cast<int>(StatusCode::kOk) && code <= kLast;
    return Status(is_status_code ? static_cast<StatusCode>(code) : StatusCode::kInternal, message);
  }
};

Word ParseWord(const std::string& header) {
  Word word;
  const json j = ReadJsonText(header);
  if (!j.is_object()) return word;
  const auto text = [&](const char* name, std::string& field) {
    if (const auto found = j.find(name); found != j.end() && found->is_string()) field = found->get<std::string>();
  };
  text("op", word.op);
  text("phase", word.phase);
  text("detail", word.detail);
  text("message", word.message);
  if (const auto found = j.find("limit"); found != j.end() && found->is_number()) word.limit = found->get<double>();
  if (const auto found = j.find("code"); found != j.end() && found->is_number_integer()) word.code = found->get<int>();
  if (const auto found = j.find("lost"); found != j.end() && found->is_boolean()) word.lost = found->get<bool>();
  return word;
}

}  // namespace

WorkerClient::~WorkerClient() { Stop(); }

void WorkerClient::Stop() {
  socket_.Reset();  // the worker ends when its socket is closed
  if (child_ && !child_->Wait(0.2)) child_->Kill();
  child_.reset();
}

// Kills the worker at once, because it hangs or sends nonsense.
void WorkerClient::Kill() {
  if (child_) child_->Kill();
  socket_.Reset();
  child_.reset();
}

Status WorkerClient::Start() {
  if (child_ && !child_->Wait(0)) return Status::Ok();
  Stop();
  HONE_ASSIGN_OR_RETURN(SocketPair pair, MakeSocketPair());
  ChildOptions child;
  child.argv = options_.argv;
  child.environment = options_.environment;
  child.sandbox = options_.sandbox;
  child.descriptors = {{pair.theirs.get(), kSocketInChild}, {2, 2}};
  HONE_ASSIGN_OR_RETURN(child_, ChildProcess::Start(child));
  if (options_.sandbox) sandbox_report_ = child_->sandbox();
  socket_ = std::move(pair.ours);
  ++starts_;
  return Status::Ok();
}

Result<Frame> WorkerClient::Receive(double timeout_seconds) { return ReceiveFrame(socket_.get(), timeout_seconds); }

Result<DeviceFacts> WorkerClient::Facts() {
  HONE_RETURN_IF_ERROR(Start());
  HONE_RETURN_IF_ERROR(SendFrame(socket_.get(), DumpJson(json{{"op", "facts"}}), {}, {}, options_.start_limit_seconds));
  Result<Frame> frame = Receive(options_.start_limit_seconds);
  if (!frame.ok()) {
    Stop();
    return frame.status().WithContext("the worker gave no facts about its device");
  }
  const Word word = ParseWord(frame->header);
  if (word.op == "error") {
    Stop();
    return word.status();
  }
  if (frame->blobs.size() != 1) return Status::Internal("the worker answered without facts");
  return DecodeFacts(frame->blobs[0]);
}

Result<Evaluation> WorkerClient::Judge(const JudgeJob& job, const EvaluationProgress& progress) {
  const std::string bytes = EncodeJob(job);
  // A worker that stayed for the second job of one candidate judges no other candidate.
  if (options_.one_job && !job.vast_alone) Stop();
  const int starts_before = starts_;
  bool begun = false;
  Result<Evaluation> evaluation = Converse(job, bytes, progress, &begun);
  // A worker that was started before this job may have been killed from outside between two jobs. Try once more with a
  // new worker.
  if (!evaluation.ok() && !begun && starts_ == starts_before) {
    Kill();
    evaluation = Converse(job, bytes, progress, &begun);
  }
  const bool stays = job.vast_follows && evaluation.ok() && evaluation->verdict == Verdict::kOk;
  if (options_.one_job && !stays) Stop();
  return evaluation;
}

Result<Evaluation> WorkerClient::Converse(const JudgeJob& job, const std::string& bytes, const EvaluationProgress& progress,
                                          bool* begun) {
  HONE_RETURN_IF_ERROR(Start());
  const Status sent = SendFrame(socket_.get(), DumpJson(json{{"op", "judge"}}), {bytes}, {}, options_.start_limit_seconds);
  // If the worker has closed its socket, it may have sent the reason before, so go on reading.
  if (!sent.ok() && sent.code() != StatusCode::kUnavailable) return sent;
  const Stopwatch watch;
  std::string phase = "start", detail;
  bool paused = false;  // a worker waits once before it times
  double limit = options_.start_limit_seconds + kFirstPhaseSeconds;
  for (;;) {
    double patience = limit + options_.grace_seconds;
    const bool job_limited = options_.job_limit_seconds > 0;
    if (job_limited) patience = std::min(patience, std::max(0.0, options_.job_limit_seconds - watch.Seconds()));
    Result<Frame> frame = Receive(patience);
    const Word word = frame.ok() ? ParseWord(frame->header) : Word();
    *begun |= frame.ok();
    if (word.op == "progress") {
      phase = word.phase;
      detail = word.detail;
      // The comparison is written so that a NaN becomes the upper bound.
      limit = word.limit > 0 && word.limit < options_.longest_phase_seconds ? word.limit : options_.longest_phase_seconds;
      if (progress) progress(phase, detail);
      continue;
    }
    if (word.op == "pause" && job.before_timing && !paused) {
      paused = true;
      job.before_timing();
      const Status went_on = SendFrame(socket_.get(), DumpJson(json{{"op", "go"}}), {}, {}, options_.start_limit_seconds);
      if (!went_on.ok() && went_on.code() != StatusCode::kUnavailable) return went_on;
      continue;
    }
    if (word.op == "error") {
      if (word.lost) Stop();
      return word.status();
    }
    if (word.op == "result" && frame->blobs.size() == 1) {
      Result<Evaluation> evaluation = EvaluationFromJson(frame->blobs[0]);
      // A worker with a lost context is replaced at once, so that the next job does not wait for the start.
      if (word.lost) {
        Stop();
        if (!options_.one_job) HONE_RETURN_IF_ERROR(Start());
      }
      if (evaluation.ok()) return evaluation;
      frame = evaluation.status();
    }

    // The worker was silent too long, has ended, or has sent nonsense.
    const bool hung = frame.status().code() == StatusCode::kTimedOut;
    const bool has_ended = frame.status().code() == StatusCode::kUnavailable;
    std::optional<ExitState> end;
    if (has_ended && child_) end = child_->Wait(kEndSeconds);
    const std::string heard = frame.ok() ? "sent a frame nobody knows: " + frame->header.substr(0, 80)
                                         : "was not understood: " + frame.status().message();
    Kill();
    const std::string where = fmt::format("in phase {}{}", phase, detail.empty() ? "" : " (" + detail + ")");
    const std::string ended = end ? end->Describe() : has_ended ? "it closed its connection" : "";
    if (phase == "start") {
      return Status::Unavailable(fmt::format("the worker {} before it began", hung        ? "did not answer"
                                                                              : has_ended ? "ended (" + ended + ")"
                                                                                          : heard));
    }
    if (hung) {
      if (job_limited && watch.Seconds() >= options_.job_limit_seconds) {
        return FailedEvaluation(
            job, Verdict::kTimedOut,
            fmt::format("not judged within {:.0f} s, {}; the worker was ended", options_.job_limit_seconds, where));
      }
      return FailedEvaluation(job, Verdict::kTimedOut,
                              fmt::format("nothing was heard for {:.3g} s {}; the worker was ended", patience, where));
    }
    if (!has_ended) return FailedEvaluation(job, Verdict::kCrashed, fmt::format("the worker {}, {}", heard, where));
    if (end && end->signal == 9) {
      return FailedEvaluation(job, Verdict::kDeviceLost,
                     fmt::format("the worker was killed from outside {}; the candidate can be judged again", where));
    }
    return FailedEvaluation(job, Verdict::kCrashed, fmt::format("the worker ended ({}) {}", ended, where));
  }
}

}  // namespace hone
