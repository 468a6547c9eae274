// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/bundle.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"
#include "base/text/json_text.h"
#include "tuner/evaluate/check_request.h"
#include "tuner/evaluate/worker/job.h"

namespace hone {
using nlohmann::json;
namespace {

json BundleJson(const Task& task, const EvaluationRequest& request) {
  json bundle = {{"protocol", kSpoolProtocol},
                 {"task",
                  {{"toml", task.toml},
                   {"oracle", task.oracle_source},
                   {"seed", task.seed_source},
                   {"name", task.name}}},
                 {"source", request.source},
                 {"incumbent_source", request.incumbent_source},
                 {"options", ReadJsonText(EncodeRequestOptions(request))}};
  // The field is there only on request, so that the bundles of other requests keep their hash when a library is added.
  if (request.libraries) bundle["task"]["baseline"] = task.baseline_toml;
  return bundle;
}

// Returns the text of a failure, which is {"error": {"message": …, "code": …}}; empty where the file reports none.
std::string ErrorText(const json& j) {
  if (!j.is_object() || !j.contains("error") || !j["error"].is_object()) return "";
  const json& error = j["error"];
  const bool has_message = error.contains("message") && error["message"].is_string() && !error["message"].empty();
  return has_message ? error["message"].get<std::string>() : "(it gave no reason)";
}

// Returns the status code of a failure; kInternal if it is missing or unknown.
StatusCode ErrorCode(const json& j) {
  const json& error = j["error"];
  const int64_t code = error.contains("code") && error["code"].is_number_integer() ? error["code"].get<int64_t>() : 0;
  const bool is_status_code =
      code > static_cast<int64_t>(StatusCode::kOk) && code <= static_cast<int64_t>(StatusCode::kInternal);
  return is_status_code ? static_cast<StatusCode>(code) : StatusCode::kInternal;
}

}  // namespace

std::string EncodeBundle(const Task& task, const EvaluationRequest& request, int indent) {
  return DumpJson(BundleJson(task, request), indent);
}

Result<SpoolBundle> DecodeBundle(const std::string& text, const std::string& id) {
  try {
    HONE_ASSIGN_OR_RETURN(const json j, ParseJson(text, fmt::format("bundle {}", id)));
    if (const json& protocol = j.at("protocol"); !protocol.is_number_integer() || protocol != kSpoolProtocol) {
      return Status::InvalidArgument(
          fmt::format("bundle {} has protocol {}; this hone speaks {}: use the same version on both sides", id,
                      DumpJson(protocol), kSpoolProtocol));
    }
    SpoolBundle bundle;
    const json& task = j.at("task");
    HONE_ASSIGN_OR_RETURN(bundle.task, ParseTask(task.at("toml").get<std::string>(),
                                                 task.at("name").get<std::string>() + "/task.toml"));
    bundle.task.oracle_source = task.at("oracle");
    bundle.task.seed_source = task.at("seed");
    bundle.task.baseline_toml = task.value("baseline", "");
    HONE_ASSIGN_OR_RETURN(bundle.request, DecodeRequestOptions(DumpJson(j.at("options"))));
    if (const Status sense = CheckRequest(bundle.task, bundle.request); !sense.ok()) {
      return Status::InvalidArgument(fmt::format("bundle {}: {}", id, sense.message()));
    }
    bundle.request.source = j.at("source");
    bundle.request.incumbent_source = j.at("incumbent_source");
    return bundle;
  } catch (const json::exception& error) {
    return Status::InvalidArgument(fmt::format("bundle {}: {}", id, error.what()));
  }
}

std::string EncodeAnswer(const std::string& id, const Result<Evaluation>& evaluation, int indent) {
  json j = {{"protocol", kSpoolProtocol}, {"id", id}};
  if (evaluation.ok()) {
    j["evaluation"] = ReadJsonText(EvaluationToJson(*evaluation, -1));
  } else {
    j["error"] = {{"code", static_cast<int>(evaluation.status().code())}, {"message", evaluation.status().message()}};
  }
  return DumpJson(j, indent);
}

Result<Evaluation> DecodeAnswer(const std::string& text, const std::string& remedy) {
  const json j = ReadJsonText(text);
  if (j.is_object() && j.contains("evaluation")) return EvaluationFromJson(DumpJson(j["evaluation"], -1));
  if (const std::string error = ErrorText(j); !error.empty()) {
    return Status(ErrorCode(j), fmt::format("the worker could not judge it: {} ({})", error, remedy));
  }
  return Status::Internal(fmt::format("what came back is no answer of a worker ({})", remedy));
}

std::string ErrorOfAnswer(const std::string& text) { return ErrorText(ReadJsonText(text)); }

}  // namespace hone
