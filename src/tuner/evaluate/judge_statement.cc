// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/judge_statement.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"
#include "base/text/json_text.h"
#include "tuner/evaluate/worker/worker_main.h"

namespace hone {

using Json = nlohmann::json;

std::string EncodeStatement(const JudgeStatement& statement) {
  Json object = ReadJsonText(EncodeFacts(statement.facts));
  if (statement.tools.stated) {
    object["tools"] = {{"toolkit", statement.tools.toolkit}, {"cutlass", statement.tools.cutlass}};
    if (statement.tools.cutlass.empty()) object["tools"]["no_cutlass"] = statement.tools.no_cutlass;
  }
  return DumpJson(object);
}

Result<JudgeStatement> DecodeStatement(const std::string& text) {
  JudgeStatement statement;
  HONE_ASSIGN_OR_RETURN(statement.facts, DecodeFacts(text));
  const Json object = ReadJsonText(text);
  const auto found = object.find("tools");
  if (found == object.end()) return statement;
  JsonFields fields(*found, "device facts.tools");
  if (fields.ok()) {
    fields.Read("toolkit", statement.tools.toolkit);
    fields.Read("cutlass", statement.tools.cutlass);
    fields.Read("no_cutlass", statement.tools.no_cutlass);
  }
  if (!fields.ok()) return fields.status();
  statement.tools.stated = true;
  return statement;
}

Status CanIncludeThere(std::string_view include_set, const JudgeTools& tools, std::string_view judge) {
  if (include_set != "cute" || !tools.stated || !tools.cutlass.empty()) return Status::Ok();
  return Status::Unavailable(fmt::format("{} has no headers for CuTe: {}", judge,
                                         tools.no_cutlass.empty() ? "it gives no reason" : tools.no_cutlass));
}

std::string AssumedText(const JudgeTools& tools, bool worker_seen, std::string_view place) {
  if (tools.stated) return "";
  return worker_seen ? fmt::format(
                           "{}: the worker that last judged there did not state its tools; CuTe's headers are assumed "
                           "to be there until a newer `hone worker` has judged",
                           place)
                     : fmt::format(
                           "{}: no worker has judged there yet; a current data-centre GPU with CuTe's headers is "
                           "assumed until one has",
                           place);
}

}  // namespace hone
