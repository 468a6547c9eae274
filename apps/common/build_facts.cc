// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "common/build_facts.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"

namespace hone {

std::string BuildText(const std::string& program, const BuildFacts& facts) {
  return fmt::format(
      "{} {}\n"
      "commit    {}{}\n"
      "compiler  {}{}\n"
      "CUDA      {}",
      program, facts.version, facts.commit.empty() ? "unknown: it was built from files without a git repository" : facts.commit,
      facts.uncommitted_changes ? ", with changes that were not committed" : "", facts.compiler,
      facts.build_type.empty() ? "" : ", build type " + facts.build_type,
      facts.cuda_toolkit.empty() ? "none: it was built without CUDA"
                                 : fmt::format("toolkit {}, kernels for sm_{}{}", facts.cuda_toolkit, facts.cuda_architectures,
                                               facts.slow_kernels ? ", which are slow: HONE_CUDA_FAST_COMPILE was on" : ""));
}

std::string BuildJson(const std::string& program, const BuildFacts& facts) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(text);
  };
  nlohmann::ordered_json json = {{"program", program},
                                 {"version", facts.version},
                                 {"commit", text_or_null(facts.commit)},
                                 {"uncommitted_changes", facts.uncommitted_changes},
                                 {"compiler", facts.compiler},
                                 {"build_type", text_or_null(facts.build_type)},
                                 {"cuda_toolkit", text_or_null(facts.cuda_toolkit)},
                                 {"cuda_architectures", text_or_null(facts.cuda_architectures)},
                                 {"slow_kernels", facts.slow_kernels}};
  return DumpJson(json, 2);
}

void AddVersionOption(CLI::App& app) {
  auto as_json = std::make_shared<bool>(false);
  // This option comes before --version, which ends the program as soon as its turn comes.
  CLI::Option* json = app.add_flag("--json", *as_json, "write the answer to --version as JSON");
  CLI::Option* version = app.add_flag_callback(
      "--version",
      [&app, as_json] {
        throw CLI::CallForVersion(*as_json ? BuildJson(app.get_name(), ThisBuild()) : BuildText(app.get_name(), ThisBuild()), 0);
      },
      "print the version, the commit and how this program was built");
  json->needs(version);
}

}  // namespace hone
