// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/worker/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.h"

namespace hone {
namespace {

using nlohmann::json;

json OptionsToJson(const EvaluationRequest& r) {
  return {{"name", r.name},           {"binding", r.binding},
          {"incumbent_name", r.incumbent_name}, {"incumbent_binding", r.incumbent_binding},
          {"seed", r.seed},           {"time", r.time},
          {"warm", r.warm},           {"correctness_trials", r.correctness_trials},
          {"max_quads", r.max_quads}, {"check_cases", r.check_cases}, {"only_time_cases", r.only_time_cases},
          {"profile", r.profile}, {"profile_gains", r.profile_gains}, {"sass", r.sass}, {"libraries", r.libraries}};
}

EvaluationRequest OptionsFromJson(const json& j) {
  EvaluationRequest r;
  r.name = j.at("name");
  r.binding = j.at("binding").get<Binding>();
  r.incumbent_name = j.at("incumbent_name");
  r.incumbent_binding = j.at("incumbent_binding").get<Binding>();
  r.seed = j.at("seed");
  r.time = j.at("time");
  r.warm = j.at("warm");
  r.correctness_trials = j.at("correctness_trials");
  r.max_quads = j.at("max_quads");
  r.check_cases = j.at("check_cases");
  r.only_time_cases = j.at("only_time_cases").get<std::vector<size_t>>();
  // A bundle of an older version asks for none of these.
  r.profile = j.value("profile", false);
  r.profile_gains = j.value("profile_gains", false);
  r.sass = j.value("sass", false);
  r.libraries = j.value("libraries", false);
  return r;
}

json ProgramToJson(const CompiledProgram& p) {
  json modules = json::object();
  for (const auto& [key, m] : p.modules) {
    json resources = json::array(), globals = json::array();
    for (const KernelResources& k : m.resources) {
      resources.push_back({k.kernel, k.registers, k.spill_bytes, k.static_shared_bytes, k.dynamic_shared_bytes, k.occupancy});
    }
    for (const DeviceGlobal& g : m.globals) globals.push_back({g.symbol, g.bytes, g.writable, g.reachable});
    modules[key] = {{"image", json::binary(std::vector<uint8_t>(m.image.begin(), m.image.end()))},
                    {"lowered", m.lowered}, {"resources", resources}, {"globals", globals}, {"labels", m.labels}};
  }
  return {{"name", p.candidate.name}, {"source", p.candidate.source}, {"binding", p.binding}, {"modules", modules}};
}

Result<CompiledProgram> ProgramFromJson(const json& j, const Task& task, bool is_oracle) {
  CompiledProgram p;
  HONE_ASSIGN_OR_RETURN(p.candidate, ParseCandidate(j.at("source").get<std::string>(), j.at("name").get<std::string>(), task, is_oracle));
  p.binding = j.at("binding").get<Binding>();
  for (const auto& [key, m] : j.at("modules").items()) {
    CompiledModule module;
    const auto& image = m.at("image").get_binary();
    module.image.assign(image.begin(), image.end());
    module.lowered = m.at("lowered").get<std::map<std::string, std::string>>();
    for (const json& k : m.at("resources")) {
      module.resources.push_back({k[0].get<std::string>(), k[1].get<int>(), k[2].get<int64_t>(), k[3].get<int64_t>(),
                                  k[4].get<int64_t>(), k[5].get<double>()});
    }
    for (const json& g : m.at("globals")) {
      module.globals.push_back({g[0].get<std::string>(), g[1].get<int64_t>(), g[2].get<bool>(), g[3].get<bool>()});
    }
    module.labels = m.at("labels").get<std::vector<std::string>>();
    p.modules[key] = std::move(module);
  }
  return p;
}

}  // namespace

std::string EncodeRequestOptions(const EvaluationRequest& request) { return OptionsToJson(request).dump(); }

Result<EvaluationRequest> DecodeRequestOptions(const std::string& text) {
  try {
    return OptionsFromJson(json::parse(text));
  } catch (const json::exception& error) {
    return Status::InvalidArgument(std::string("evaluation options: ") + error.what());
  }
}

Status CheckRequest(const Task& task, const EvaluationRequest& request) {
  // All of it goes into JSON: to a worker, into a spool, into an evaluation.
  const std::string folder = task.directory.empty() ? task.name : task.directory;
  for (const std::string* name : {&request.name, &request.incumbent_name, &folder}) {
    if (!CheckUtf8(*name, "").ok()) {
      return Status::InvalidArgument(fmt::format("the name '{}' is no UTF-8: rename the file or the folder", RepairUtf8(*name)));
    }
  }
  HONE_RETURN_IF_ERROR(CheckUtf8(request.source, request.name));
  HONE_RETURN_IF_ERROR(CheckUtf8(request.incumbent_source, request.incumbent_name));
  HONE_RETURN_IF_ERROR(CheckUtf8(task.toml, folder + "/task.toml"));
  HONE_RETURN_IF_ERROR(CheckUtf8(task.oracle_source, folder + "/oracle.cu"));
  HONE_RETURN_IF_ERROR(CheckUtf8(task.seed_source, folder + "/seed.cu"));
  HONE_RETURN_IF_ERROR(CheckUtf8(task.baseline_toml, folder + "/baseline.toml"));
  if (request.max_quads != 0 && (request.max_quads < kLeastQuads || request.max_quads > kMostQuads)) {
    return Status::InvalidArgument(fmt::format("max_quads = {}: use 0 (the protocol's own) or {} to {}, for an interval needs as many",
                                               request.max_quads, kLeastQuads, kMostQuads));
  }
  if (request.correctness_trials < 1 || request.correctness_trials > kMostTrials) {
    return Status::InvalidArgument(fmt::format("correctness_trials = {}: use 1 to {}", request.correctness_trials, kMostTrials));
  }
  if (request.libraries && !request.time) {
    return Status::InvalidArgument("libraries are timed beside the candidate: ask for times too (no --no-time), or leave out --libraries");
  }
  const auto cases = std::count_if(task.cases.begin(), task.cases.end(), [](const Case& c) { return c.role == CaseRole::kTime; });
  for (const size_t asked : request.only_time_cases) {
    if (asked < static_cast<size_t>(cases)) continue;
    return Status::InvalidArgument(
        cases == 0 ? fmt::format("time case {} is asked for, and {} has no [[case]] with role = \"time\"", asked, task.name)
                   : fmt::format("time case {} is asked for, and {} has {}, counted from 0", asked, task.name, cases));
  }
  return Status::Ok();
}

std::string EncodeJob(const JudgeJob& job) {
  json j = {{"toml", job.task.toml},
            {"task_file", job.task.directory + "/task.toml"},
            {"oracle", ProgramToJson(job.oracle)},
            {"candidate", ProgramToJson(job.candidate)},
            {"options", OptionsToJson(job.options)},
            {"incumbent_is_library", job.incumbent_is_library},
            {"launch_limit_seconds", job.launch_limit_seconds}};
  if (job.incumbent) j["incumbent"] = ProgramToJson(*job.incumbent);
  if (job.fallback) j["fallback"] = ProgramToJson(*job.fallback);
  const std::vector<uint8_t> bytes = json::to_cbor(j);
  return {bytes.begin(), bytes.end()};
}

Result<JudgeJob> DecodeJob(const std::string& bytes) {
  try {
    const json j = json::from_cbor(bytes);
    JudgeJob job;
    HONE_ASSIGN_OR_RETURN(job.task, ParseTask(j.at("toml").get<std::string>(), j.at("task_file").get<std::string>()));
    HONE_ASSIGN_OR_RETURN(job.oracle, ProgramFromJson(j.at("oracle"), job.task, true));
    HONE_ASSIGN_OR_RETURN(job.candidate, ProgramFromJson(j.at("candidate"), job.task, false));
    if (j.contains("incumbent")) {
      HONE_ASSIGN_OR_RETURN(job.incumbent, ProgramFromJson(j.at("incumbent"), job.task, false));
    }
    if (j.contains("fallback")) {
      HONE_ASSIGN_OR_RETURN(job.fallback, ProgramFromJson(j.at("fallback"), job.task, false));
    }
    job.incumbent_is_library = j.at("incumbent_is_library");
    job.options = OptionsFromJson(j.at("options"));
    job.launch_limit_seconds = j.at("launch_limit_seconds");
    return job;
  } catch (const json::exception& error) {
    return Status::Internal(std::string("a worker's job could not be read: ") + error.what());
  }
}

bool WantsProfile(const JudgeJob& job, const Evaluation& evaluation) {
  if (!job.options.profile || evaluation.verdict != Verdict::kOk) return false;
  if (!job.options.profile_gains || !evaluation.geomean_speedup || !job.incumbent) return true;
  return job.incumbent->candidate.source == job.candidate.candidate.source || *evaluation.geomean_speedup > 1;
}

}  // namespace hone
