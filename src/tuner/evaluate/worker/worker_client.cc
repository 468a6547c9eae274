// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/worker/worker_client.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/frames.h"
#include "tuner/evaluate/worker/worker_main.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr int kSocketInChild = 3;
constexpr double kFirstPhaseSeconds = 60;

Evaluation Outcome(const JudgeJob& job, Verdict verdict, std::string detail) {
  Evaluation evaluation;
  evaluation.task = job.task.name;
  evaluation.verdict = verdict;
  evaluation.detail = std::move(detail);
  evaluation.binding = job.candidate.binding;
  evaluation.seed = job.options.seed;
  return evaluation;
}

}  // namespace

WorkerClient::~WorkerClient() { Stop(); }

void WorkerClient::Stop() {
  socket_.Reset();  // the worker ends when its peer goes
  if (child_ && !child_->Wait(0.2)) child_->Kill();
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
  socket_ = std::move(pair.ours);
  ++starts_;
  return Status::Ok();
}

Result<Frame> WorkerClient::Receive(double timeout_seconds) { return ReceiveFrame(socket_.get(), timeout_seconds); }

Result<DeviceFacts> WorkerClient::Facts() {
  HONE_RETURN_IF_ERROR(Start());
  HONE_RETURN_IF_ERROR(SendFrame(socket_.get(), json{{"op", "facts"}}.dump(), {}, {}, options_.start_limit_seconds));
  HONE_ASSIGN_OR_RETURN(Frame frame, Receive(options_.start_limit_seconds));
  const json header = json::parse(frame.header, nullptr, false);
  if (header.is_object() && header.value("op", "") == "error") {
    Stop();
    return Status(static_cast<StatusCode>(header.value("code", 0)), header.value("message", ""));
  }
  if (frame.blobs.size() != 1) return Status::Internal("the worker answered without facts");
  return DecodeFacts(frame.blobs[0]);
}

Result<Evaluation> WorkerClient::Judge(const JudgeJob& job, const EvaluationProgress& progress) {
  HONE_RETURN_IF_ERROR(Start());
  const std::string bytes = EncodeJob(job);
  if (Status sent = SendFrame(socket_.get(), json{{"op", "judge"}}.dump(), {bytes}, {}, options_.start_limit_seconds); !sent.ok()) {
    // The worker may have died between evaluations (killed from outside): once more with a new one.
    Stop();
    HONE_RETURN_IF_ERROR(Start());
    HONE_RETURN_IF_ERROR(SendFrame(socket_.get(), json{{"op", "judge"}}.dump(), {bytes}, {}, options_.start_limit_seconds));
  }
  std::string phase = "start", detail;
  double limit = options_.start_limit_seconds + kFirstPhaseSeconds;
  for (;;) {
    Result<Frame> frame = Receive(limit + options_.grace_seconds);
    if (!frame.ok()) {
      const bool hung = frame.status().code() == StatusCode::kTimedOut;
      if (hung) child_->Kill();
      const std::optional<ExitState> end = child_->Wait(5);
      Stop();
      const std::string where = fmt::format("in phase {} ({})", phase, detail);
      if (phase == "start") {
        return Status::Unavailable(fmt::format("the worker {} before it began: {}", hung ? "did not answer" : "ended",
                                               end ? end->Describe() : "unknown end"));
      }
      if (hung) {
        return Outcome(job, Verdict::kTimedOut, fmt::format("nothing was heard for {:.0f} s {}; the worker was ended", limit, where));
      }
      if (end && end->signal == 9) {
        return Outcome(job, Verdict::kDeviceLost,
                       fmt::format("the worker was killed from outside {}; the candidate can be judged again", where));
      }
      return Outcome(job, Verdict::kCrashed, fmt::format("the worker ended ({}) {}", end ? end->Describe() : "unknown end", where));
    }
    const json header = json::parse(frame->header, nullptr, false);
    const std::string op = header.is_object() ? header.value("op", "") : "";
    if (op == "progress") {
      phase = header.value("phase", "");
      detail = header.value("detail", "");
      limit = header.value("limit", kFirstPhaseSeconds);
      if (progress) progress(phase, detail);
      continue;
    }
    const bool lost = header.is_object() && header.value("lost", false);
    if (op == "error") {
      const Status status(static_cast<StatusCode>(header.value("code", 0)), header.value("message", ""));
      if (lost) Stop();
      return status.ok() ? Status::Internal("the worker reported an error without a code") : status;
    }
    if (op == "result" && frame->blobs.size() == 1) {
      // A lost context is replaced at once, so that the next candidate does not wait for it.
      if (lost) {
        Stop();
        if (Status restarted = Start(); !restarted.ok()) return restarted;
      }
      return EvaluationFromJson(frame->blobs[0]);
    }
    return Status::Internal("the worker sent a frame nobody knows: " + frame->header.substr(0, 80));
  }
}

}  // namespace hone
