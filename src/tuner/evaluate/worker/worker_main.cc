// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/worker/worker_main.h"

#include <nlohmann/json.hpp>

#include "base/process/frames.h"
#include "base/text/json_fields.h"
#include "tuner/core/evaluation/device_facts_fields.h"
#include "tuner/core/task/torch_module.h"
#include "tuner/evaluate/device_list.h"
#include "tuner/evaluate/judge/judge.h"
#include "tuner/evaluate/worker/job.h"
#include "tuner/torch/python_process.h"
#include "tuner/torch/torch_reference.h"

namespace hone {
namespace {

using nlohmann::json;

Status SendError(int fd, const Status& status, bool lost) {
  return SendFrame(fd, DumpJson(json{{"op", "error"}, {"code", static_cast<int>(status.code())}, {"message", status.message()}, {"lost", lost}}));
}

}  // namespace

std::string EncodeFacts(const DeviceFacts& facts) {
  json object = json::object();
  VisitFields(facts, [&](const char* name, const auto& value) { object[name] = value; });
  return DumpJson(object);
}

Result<DeviceFacts> DecodeFacts(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const json object, ParseJson(text, "the text of the device's facts"));
  JsonFields fields(object, "device facts");
  DeviceFacts facts;
  fields.Require("id", facts.id);
  VisitFields(facts, [&](const char* name, auto& value) { fields.Read(name, value); });
  if (!fields.ok()) return fields.status();
  return facts;
}

int WorkerMain(int fd, Result<std::unique_ptr<DeviceSession>> session) {
  FloorCache floors;
  const int64_t gpu_bytes = session.ok() ? (*session)->facts().memory_bytes : 0;
  TorchReferences references(ReferencesKept(MachineMemory(), gpu_bytes));
  for (;;) {
    Result<Frame> frame = ReceiveFrame(fd);
    if (!frame.ok()) return 0;  // the owner has closed the socket
    if (!session.ok()) {
      (void)SendError(fd, session.status(), /*lost=*/true);
      return 3;
    }
    DeviceSession& device = **session;
    const json header = ReadJsonText(frame->header);
    const std::string op = header.is_object() ? header.value("op", "") : "";
    if (op == "facts") {
      if (!SendFrame(fd, DumpJson(json{{"op", "facts"}}), {EncodeFacts(device.facts())}).ok()) return 0;
      continue;
    }
    if (op != "judge" || frame->blobs.size() != 1) {
      (void)SendError(fd,
                      Status::Internal("the worker was sent a frame it does not know: " + frame->header.substr(0, 80)),
                      /*lost=*/false);
      continue;
    }
    Result<JudgeJob> job = DecodeJob(frame->blobs[0]);
    if (!job.ok()) {
      if (!SendError(fd, job.status(), /*lost=*/false).ok()) return 0;
      continue;
    }
    const JudgeProgress tell = [fd](const std::string& phase, const std::string& detail, double limit) {
      (void)SendFrame(fd, DumpJson(json{{"op", "progress"}, {"phase", phase}, {"detail", detail}, {"limit", limit}}));
    };
    if (HasTorchModule(job->task)) {
      tell("reference", job->task.name, kTorchStartSeconds);
      Result<std::shared_ptr<HostReference>> reference = references.Get(job->task, {.environment = job->python_environment, .gpu = GpuOrdinal(device.facts().id)});
      if (!reference.ok()) {
        if (!SendError(fd, reference.status(), /*lost=*/false).ok()) return 0;
        continue;
      }
      job->reference = *std::move(reference);
    }
    device.ExpectProcesses(references.on_gpu() + job->processes_beside);
    JudgeRequest request{.task = &job->task, .candidate = &job->candidate, .oracle = &job->oracle, .reference = job->reference.get(),
                         .incumbent = job->incumbent ? &*job->incumbent : nullptr,
                         .incumbent_is_library = job->incumbent_is_library,
                         .fallback = job->fallback ? &*job->fallback : nullptr, .options = job->options,
                         .launch_limit_seconds = job->launch_limit_seconds, .floors = &floors,
                         .vast_alone = job->vast_alone};
    // An owner that has gone is noticed at the next frame.
    if (job->pauses_before_timing) {
      request.before_timing = [fd] {
        if (SendFrame(fd, DumpJson(json{{"op", "pause"}})).ok()) (void)ReceiveFrame(fd);
      };
    }
    request.gates.read_only_inputs = job->fault_search != FaultSearch::kInputsWritable;
    request.gates.mapped_neighbors = job->fault_search == FaultSearch::kNeighborsMapped;
    Result<Evaluation> evaluation = Judge(device, request, tell);
    const bool lost = device.lost();
    const Status sent = evaluation.ok()
        ? SendFrame(fd, DumpJson(json{{"op", "result"}, {"lost", lost}}), {EvaluationToJson(*evaluation, -1)})
        : SendError(fd, evaluation.status(), lost);
    if (!sent.ok()) return 0;
    // The context is unusable. End at once, without unloading anything.
    if (lost) _Exit(0);
  }
}

}  // namespace hone
