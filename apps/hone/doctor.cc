// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// hone doctor lists what is here and what is missing, what each missing thing would bring and how to get it.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string_view>

#include "common/build_facts.h"
#include "common/standard_output.h"
#include "hone/commands.h"
#include "tuner/doctor/tuner_diagnosis.h"

namespace hone {
namespace {

// Returns the names of the variables that are set and not empty.
std::vector<std::string> SetVariables() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos && equals + 1 < text.size()) names.emplace_back(text.substr(0, equals));
  }
  return names;
}

}  // namespace

void RegisterDoctorCommand(CLI::App& app, CommandContext& context) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("doctor", "list what this machine has, what it lacks, and how to get that");
  command->add_flag("--json", *as_json, "write JSON instead of a table");
  command->callback([as_json, &context] {
    TunerSurroundings surroundings;
    surroundings.tools = {context.cuda_home, context.cutlass_home, context.search_path};
    surroundings.cache_directory = context.cache_directory;
    surroundings.state_directory = context.state_directory;
    surroundings.variables = SetVariables();
    surroundings.environment = context.environment;
    surroundings.cuda_toolkit = ThisBuild().cuda_toolkit;
    const Diagnosis diagnosis = DiagnoseTuner(surroundings);
    Print("{}", *as_json ? DiagnosisJson(diagnosis) + "\n" : DiagnosisText(diagnosis));
    context.exit_status = diagnosis.able ? 0 : 3;
  });
}

}  // namespace hone
