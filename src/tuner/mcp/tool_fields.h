// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines the schemas of arguments that several tools take, and reads these arguments from a call.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tuner/mcp/schema.h"
#include "tuner/mcp/toolbox.h"

namespace hone::mcp {

// Returns the schema of a .cu file's text: not empty, and within the size limit of a candidate.
inline Json SourceField(std::string_view meaning) {
  Json schema = TextSchema(meaning);
  schema["minLength"] = 1;
  schema["maxLength"] = kMostSourceBytes;
  return schema;
}
inline Json TaskField() {
  return TextSchema("A task's name, as the tool `tasks` lists it, or a folder below the server's root that contains a task.toml.");
}
inline Json CandidateField() {
  return SourceField("The candidate's whole .cu file, launch plan included. Give this or path.");
}
inline Json PathField() { return TextSchema("The candidate's .cu file below the server's root, in place of source."); }
inline Json DeviceField() {
  return TextSchema(
      "Where to judge: auto (a GPU, else the simulated one), cuda:N, sim (a modelled H200) or sim:NAME. By default the "
      "server's own.");
}
inline Json RunField(std::string_view description_end) {
  return TextSchema(std::string("A run: the id that run_start gave, a part of one, or last. ") +
                    std::string(description_end));
}
inline Json TrialsField(std::string_view meaning) { return IntegerSchema(meaning, 1, kMostTrials); }
inline Json BindField() {
  return MapSchema("Values of tunables, by name; by default each has its first choice.", {{"type", "integer"}});
}
inline Json CasesField() {
  Json schema = ListSchema("Time only these timed cases, counted from 0 in the task's order. Checks are made on all.",
                           IntegerSchema("A timed case.", 0, 100000));
  schema["maxItems"] = 1000;
  return schema;
}
inline Json LibrariesField() {
  return BooleanSchema("true: time the libraries of the task's baseline.toml too (on a GPU).");
}

// Returns the schema of a tool that judges a task's candidates: the task, the device, and `own`.
inline Json JudgingSchema(std::initializer_list<std::pair<std::string, Json>> own) {
  Json schema = ObjectSchema(own, {"task"});
  schema["properties"]["task"] = TaskField();
  schema["properties"]["device"] = DeviceField();
  return schema;
}
// Returns that schema for a tool that judges one candidate, which the call gives as text or by its path.
inline Json CandidateSchema(std::initializer_list<std::pair<std::string, Json>> own) {
  Json schema = JudgingSchema(own);
  schema["properties"]["source"] = CandidateField();
  schema["properties"]["path"] = PathField();
  return schema;
}
// Returns that schema for a tool that times a candidate, possibly against a kernel of the caller's choice.
inline Json CandidateAndBaselineSchema(std::initializer_list<std::pair<std::string, Json>> own) {
  Json schema = CandidateSchema(own);
  schema["properties"]["baseline"] = SourceField("Time against this .cu text in place of the task's seed.");
  schema["properties"]["baseline_path"] = TextSchema("Time against this .cu file below the server's root.");
  return schema;
}
inline Result<Toolbox::Source> CandidateOf(const Toolbox& toolbox, const Json& arguments) {
  return toolbox.SourceOf(arguments, "source", "path", "the candidate");
}
// Returns the kernel to time against; nullopt if the call names none, so that the task's seed is the baseline.
inline Result<std::optional<Toolbox::Source>> BaselineOf(const Toolbox& toolbox, const Json& arguments) {
  if (!arguments.contains("baseline") && !arguments.contains("baseline_path")) return std::optional<Toolbox::Source>();
  HONE_ASSIGN_OR_RETURN(Toolbox::Source baseline,
                        toolbox.SourceOf(arguments, "baseline", "baseline_path", "the baseline"));
  return std::optional<Toolbox::Source>(std::move(baseline));
}

inline Json LeftOutField() {
  return ListSchema("What was cut to keep the answer short; resources hold it whole.",
                    TextSchema("A place in this answer."));
}

}  // namespace hone::mcp
