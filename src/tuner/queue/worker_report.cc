// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/queue/worker_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"
#include "base/text/json_text.h"
#include "tuner/evaluate/judge_statement.h"

namespace hone {
namespace {

nlohmann::json ReportJson(const WorkerReport& r) {
  nlohmann::json json = {{"device", r.device},         {"threads", r.threads},    {"busy", r.busy},
                         {"judged", r.judged},         {"put_back", r.put_back},  {"unreadable", r.unreadable},
                         {"per_minute", r.per_minute}, {"seconds", r.seconds},    {"last_failure", r.last_failure},
                         {"sieve", r.sieve},           {"passed_on", r.passed_on}};
  if (r.tools.stated) {
    json["toolkit"] = r.tools.toolkit;
    json["cutlass"] = r.tools.cutlass;
    if (r.tools.cutlass.empty()) json["no_cutlass"] = r.tools.no_cutlass;
  }
  return json;
}

bool ReportsRecently(const ReportedWorker& worker) { return worker.seconds_ago <= kSilentSeconds; }

}  // namespace

std::string EncodeWorkerReport(const WorkerReport& report) { return DumpJson(ReportJson(report), -1); }

Result<WorkerReport> DecodeWorkerReport(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson(text, "a worker's report"));
  WorkerReport r;
  JsonFields fields(json, "a worker's report");
  if (fields.ok()) {
    fields.Read("device", r.device);
    fields.Read("threads", r.threads);
    fields.Read("busy", r.busy);
    fields.Read("judged", r.judged);
    fields.Read("put_back", r.put_back);
    fields.Read("unreadable", r.unreadable);
    fields.Read("sieve", r.sieve);
    fields.Read("passed_on", r.passed_on);
    fields.Read("per_minute", r.per_minute);
    fields.Read("seconds", r.seconds);
    fields.Read("last_failure", r.last_failure);
    r.tools.stated = json.contains("toolkit");
    fields.Read("toolkit", r.tools.toolkit);
    fields.Read("cutlass", r.tools.cutlass);
    fields.Read("no_cutlass", r.tools.no_cutlass);
  }
  if (!fields.ok()) return fields.status();
  return r;
}

Status CanAllInclude(std::string_view include_set, const std::vector<ReportedWorker>& workers,
                     const JudgeTools& registered) {
  bool stated = false;
  for (const ReportedWorker& worker : workers) {
    const Result<WorkerReport> report = DecodeWorkerReport(worker.report);
    if (!ReportsRecently(worker) || !report.ok() || report->sieve || !report->tools.stated) continue;
    stated = true;
    HONE_RETURN_IF_ERROR(CanIncludeThere(include_set, report->tools, "worker " + worker.worker));
  }
  return stated ? Status::Ok() : CanIncludeThere(include_set, registered, "the worker that last judged here");
}

std::string QueueStateText(const QueueState& state) {
  const QueueCounts& c = state.counts;
  std::string text =
      fmt::format("{}: {} waiting, {} being judged, {} answered\n", state.queue, c.waiting, c.claimed, c.answered);
  if (c.passed_on > 0)
    text += fmt::format("{} let through by sieves, {} of them waiting for a judge\n", c.passed_on, c.waiting_sieved);
  if (c.put_back + c.died + c.dead > 0)
    text += fmt::format(
        "{} put back by machines that failed or stopped, {} taken over from workers that died, {} given up\n",
        c.put_back, c.died, c.dead);
  if (state.workers.empty())
    return text + "No worker has been there in the last day; `hone worker --queue` starts one.\n";
  size_t wide = 6;
  for (const ReportedWorker& w : state.workers) wide = std::max(wide, w.worker.size());
  text += fmt::format("{:<{}}  {:>5}  {:>8}  {:>10}  {:>8}  {}\n", "worker", wide, "busy", "judged", "per minute",
                      "failed", "device");
  for (const ReportedWorker& w : state.workers) {
    const Result<WorkerReport> report = DecodeWorkerReport(w.report);
    if (!report.ok()) {
      text += fmt::format("{:<{}}  {}\n", w.worker, wide, report.status().message());
      continue;
    }
    text += fmt::format("{:<{}}  {:>5}  {:>8}  {:>10.0f}  {:>8}  {}", w.worker, wide,
                        fmt::format("{}/{}", report->busy, report->threads), report->judged,
                        ReportsRecently(w) ? report->per_minute : 0.0, report->put_back + report->unreadable,
                        report->device);
    if (report->tools.stated) {
      text += fmt::format("  {}, {}", report->tools.toolkit,
                          report->tools.cutlass.empty() ? "no CuTe" : "CuTe of CUTLASS " + report->tools.cutlass);
    }
    if (report->sieve) text += fmt::format("  sieve, {} passed on", report->passed_on);
    if (!ReportsRecently(w)) text += fmt::format("  silent for {:.0f} s", w.seconds_ago);
    if (!ReportsRecently(w) && report->busy > 0 && w.seconds_ago < 2 * kLeaseSeconds)
      text += fmt::format(": others take over what it judged {:.0f} s after its last renewal", kLeaseSeconds);
    if (!report->last_failure.empty()) text += fmt::format("  last failure: {}", report->last_failure);
    text += '\n';
  }
  return text;
}

std::string QueueStateToJson(const QueueState& state, int indent) {
  nlohmann::json workers = nlohmann::json::array();
  for (const ReportedWorker& w : state.workers) {
    const Result<WorkerReport> report = DecodeWorkerReport(w.report);
    nlohmann::json one =
        report.ok() ? ReportJson(*report) : nlohmann::json{{"unreadable_report", report.status().message()}};
    one["worker"] = w.worker;
    one["seconds_ago"] = w.seconds_ago;
    one["alive"] = ReportsRecently(w);
    workers.push_back(std::move(one));
  }
  return DumpJson(nlohmann::json{{"queue", state.queue},
                                 {"waiting", state.counts.waiting},
                                 {"waiting_sieved", state.counts.waiting_sieved},
                                 {"claimed", state.counts.claimed},
                                 {"passed_on", state.counts.passed_on},
                                 {"answered", state.counts.answered},
                                 {"put_back", state.counts.put_back},
                                 {"died", state.counts.died},
                                 {"dead", state.counts.dead},
                                 {"workers", std::move(workers)}},
                  indent);
}

}  // namespace hone
