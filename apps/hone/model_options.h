// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file holds the options of every command that uses a model, and makes the provider that they describe.
// docs/models.md explains them to users; model_options_test.cc compares the page with this file.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/model_provider.h"

namespace CLI {
class App;
class Option;
}

namespace hone {

struct ModelFlags {
  std::vector<std::string> models;  // values of --model, [ROLE=]MODEL, one for each use of the option; none: builtin
  std::string base_url, key_env, prices;
  double request_seconds = 0;  // 0: no limit besides the run's own --request-limit
  double stall_seconds = 120;
  int max_retries = 6;
  // The roles that --model may name; empty: those of ProviderOptions. A command may narrow them to its strategy's.
  std::vector<std::string> roles;
};

void AddModelFlags(CLI::App& app, ModelFlags& options);

// Returns the models as one specification, one per line. A run stores it, and MakeProvider reads it. When the run is
// resumed it becomes the one element of ModelFlags::models: an element with line breaks means the same as several.
std::string ModelSpecification(const ModelFlags& options);

// The folder and the programs that a model agent:COMMAND uses. Commands that start no runs leave the fields empty.
struct AgentPlace {
  std::string folder;   // each run's agent has a folder of its own below it
  std::string program;  // path of this program
};

// Makes the provider. Keys and proxies come from this process's environment; replay:RUN looks in `store`, which may be
// null and is not owned. kInvalidArgument, with a remedy, for an unknown provider, a missing key or a price file with a
// typo.
Result<std::unique_ptr<ModelProvider>> MakeModelProvider(const ModelFlags& options, RunStore* store,
                                                         AgentPlace agents = {});

}  // namespace hone
