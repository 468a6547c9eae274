// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/worker/worker_main.h"

#include <nlohmann/json.hpp>

#include "base/frames.h"
#include "tuner/evaluate/judge/judge.h"
#include "tuner/evaluate/worker/job.h"

namespace hone {
namespace {

using nlohmann::json;

Status SendError(int fd, const Status& status, bool lost) {
  return SendFrame(fd, json{{"op", "error"}, {"code", static_cast<int>(status.code())}, {"message", status.message()}, {"lost", lost}}.dump());
}

}  // namespace

std::string EncodeFacts(const DeviceFacts& f) {
  return json{{"id", f.id}, {"name", f.name}, {"modelled", f.modelled}, {"cc_major", f.cc_major}, {"cc_minor", f.cc_minor},
              {"sm_count", f.sm_count}, {"l2_bytes", f.l2_bytes}, {"memory_bytes", f.memory_bytes},
              {"smem_per_block", f.smem_per_block}, {"smem_optin", f.smem_optin}, {"smem_per_sm", f.smem_per_sm},
              {"max_threads_per_block", f.max_threads_per_block}, {"max_threads_per_sm", f.max_threads_per_sm},
              {"max_blocks_per_sm", f.max_blocks_per_sm}, {"registers_per_sm", f.registers_per_sm},
              {"memory_bandwidth", f.memory_bandwidth}, {"l2_bandwidth", f.l2_bandwidth}, {"fp32_flops", f.fp32_flops},
              {"tensor_bf16_flops", f.tensor_bf16_flops}, {"driver", f.driver}}
      .dump();
}

Result<DeviceFacts> DecodeFacts(const std::string& text) {
  try {
    const json j = json::parse(text);
    DeviceFacts f;
    f.id = j.at("id");
    f.name = j.at("name");
    f.modelled = j.at("modelled");
    f.cc_major = j.at("cc_major");
    f.cc_minor = j.at("cc_minor");
    f.sm_count = j.at("sm_count");
    f.l2_bytes = j.at("l2_bytes");
    f.memory_bytes = j.at("memory_bytes");
    f.smem_per_block = j.at("smem_per_block");
    f.smem_optin = j.at("smem_optin");
    f.smem_per_sm = j.at("smem_per_sm");
    f.max_threads_per_block = j.at("max_threads_per_block");
    f.max_threads_per_sm = j.at("max_threads_per_sm");
    f.max_blocks_per_sm = j.at("max_blocks_per_sm");
    f.registers_per_sm = j.at("registers_per_sm");
    f.memory_bandwidth = j.at("memory_bandwidth");
    f.l2_bandwidth = j.at("l2_bandwidth");
    f.fp32_flops = j.at("fp32_flops");
    f.tensor_bf16_flops = j.at("tensor_bf16_flops");
    f.driver = j.at("driver");
    return f;
  } catch (const json::exception& error) {
    return Status::Internal(std::string("device facts: ") + error.what());
  }
}

int WorkerMain(int fd, Result<std::unique_ptr<DeviceSession>> session) {
  FloorCache floors;
  for (;;) {
    Result<Frame> frame = ReceiveFrame(fd);
    if (!frame.ok()) return 0;  // the owner has gone: nothing left to do
    if (!session.ok()) {
      (void)SendError(fd, session.status(), true);
      return 3;
    }
    DeviceSession& device = **session;
    const json header = json::parse(frame->header, nullptr, false);
    const std::string op = header.is_object() ? header.value("op", "") : "";
    if (op == "facts") {
      if (!SendFrame(fd, json{{"op", "facts"}}.dump(), {EncodeFacts(device.facts())}).ok()) return 0;
      continue;
    }
    if (op != "judge" || frame->blobs.size() != 1) {
      (void)SendError(fd, Status::Internal("the worker was sent a frame it does not know: " + frame->header.substr(0, 80)), false);
      continue;
    }
    Result<JudgeJob> job = DecodeJob(frame->blobs[0]);
    if (!job.ok()) {
      if (!SendError(fd, job.status(), false).ok()) return 0;
      continue;
    }
    JudgeRequest request{.task = &job->task, .candidate = &job->candidate, .oracle = &job->oracle,
                         .incumbent = job->incumbent ? &*job->incumbent : nullptr,
                         .incumbent_is_library = job->incumbent_is_library,
                         .fallback = job->fallback ? &*job->fallback : nullptr, .options = job->options,
                         .launch_limit_seconds = job->launch_limit_seconds, .floors = &floors};
    Result<Evaluation> evaluation = Judge(device, request, [fd](const std::string& phase, const std::string& detail, double limit) {
      (void)SendFrame(fd, json{{"op", "progress"}, {"phase", phase}, {"detail", detail}, {"limit", limit}}.dump(-1, ' ', false, json::error_handler_t::replace));
    });
    const bool lost = device.lost();
    const Status sent = evaluation.ok()
        ? SendFrame(fd, json{{"op", "result"}, {"lost", lost}}.dump(), {EvaluationToJson(*evaluation, -1)})
        : SendError(fd, evaluation.status(), lost);
    if (!sent.ok()) return 0;
    // The context is beyond use; ending without unloading anything is the fastest way out of it.
    if (lost) _Exit(0);
  }
}

}  // namespace hone
