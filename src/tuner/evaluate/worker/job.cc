// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/worker/job.h"

#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"
#include "tuner/core/evaluation/evaluation_fields.h"
#include "tuner/core/evaluation/request_fields.h"
#include "tuner/core/fields/field_json.h"
#include "tuner/core/task/torch_module.h"

namespace hone {
namespace {

using nlohmann::json;

json OptionsToJson(const EvaluationRequest& request) {
  json object = json::object();
  VisitFields(request, [&](const char* name, const auto& value) { object[name] = value; });
  return object;
}

// Returns the options in `object`. Options that a bundle of an older version lacks keep their defaults.
Result<EvaluationRequest> OptionsFromJson(const json& object) {
  JsonFields fields(object, "evaluation options");
  EvaluationRequest request;
  VisitFields(request, [&](const char* name, auto& value) { fields.Read(name, value); });
  if (!fields.ok()) return fields.status();
  return request;
}

json ProgramToJson(const CompiledProgram& p) {
  json modules = json::object();
  for (const auto& [key, m] : p.modules) {
    json resources = json::array(), globals = json::array();
    for (const KernelResources& k : m.resources) resources.push_back(json(FieldsToJson(k, true)));
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
      JsonFields fields(k, "resources");
      VisitFields(module.resources.emplace_back(), FieldReader(fields));
      if (!fields.ok()) return Status::Internal(fields.status().message());
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

std::string EncodeRequestOptions(const EvaluationRequest& request) { return DumpJson(OptionsToJson(request)); }

Result<EvaluationRequest> DecodeRequestOptions(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const json object, ParseJson(text, "the text of the evaluation options"));
  return OptionsFromJson(object);
}

std::string EncodeJob(const JudgeJob& job) {
  json j = {{"toml", job.task.toml},
            {"task_file", job.task.directory + "/task.toml"},
            {"candidate", ProgramToJson(job.candidate)},
            {"options", OptionsToJson(job.options)},
            {"incumbent_is_library", job.incumbent_is_library},
            {"launch_limit_seconds", job.launch_limit_seconds},
            {"fault_search", static_cast<int>(job.fault_search)},
            {"vast_alone", job.vast_alone},
            {"processes_beside", job.processes_beside},
            {"pauses_before_timing", job.before_timing != nullptr}};
  if (HasTorchModule(job.task)) {
    j["reference"] = job.task.oracle_source;
    j["python_environment"] = job.python_environment;
  } else {
    j["oracle"] = ProgramToJson(job.oracle);
  }
  if (job.incumbent) j["incumbent"] = ProgramToJson(*job.incumbent);
  if (job.fallback) j["fallback"] = ProgramToJson(*job.fallback);
  return JsonToCbor(j);
}

Result<JudgeJob> DecodeJob(const std::string& bytes) {
  HONE_ASSIGN_OR_RETURN(const json j, JsonFromCbor(bytes, "a worker's job"));
  try {
    JudgeJob job;
    HONE_ASSIGN_OR_RETURN(job.task, ParseTask(j.at("toml").get<std::string>(), j.at("task_file").get<std::string>()));
    if (HasTorchModule(job.task)) {
      job.task.oracle_source = j.at("reference").get<std::string>();
      job.python_environment = j.at("python_environment").get<std::vector<std::string>>();
    } else {
      HONE_ASSIGN_OR_RETURN(job.oracle, ProgramFromJson(j.at("oracle"), job.task, /*is_oracle=*/true));
    }
    HONE_ASSIGN_OR_RETURN(job.candidate, ProgramFromJson(j.at("candidate"), job.task, false));
    if (j.contains("incumbent")) {
      HONE_ASSIGN_OR_RETURN(job.incumbent, ProgramFromJson(j.at("incumbent"), job.task, false));
    }
    if (j.contains("fallback")) {
      HONE_ASSIGN_OR_RETURN(job.fallback, ProgramFromJson(j.at("fallback"), job.task, false));
    }
    job.incumbent_is_library = j.at("incumbent_is_library");
    HONE_ASSIGN_OR_RETURN(job.options, OptionsFromJson(j.at("options")));
    job.launch_limit_seconds = j.at("launch_limit_seconds");
    job.fault_search = static_cast<FaultSearch>(j.at("fault_search").get<int>());
    job.vast_alone = j.at("vast_alone");
    job.processes_beside = j.at("processes_beside");
    job.pauses_before_timing = j.at("pauses_before_timing");
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
