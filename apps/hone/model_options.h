// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The options of every command that asks a model, and the provider they amount to. docs/models.md explains them to
// users; model_options_test.cc holds the page against this file.
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

struct ModelOptions {
  std::vector<std::string> models;  // --model, as often as it was given: [ROLE=]MODEL; none: builtin
  std::string base_url, key_env, prices;
  double request_seconds = 0;  // 0: no bound beside the run's own --request-limit
  double stall_seconds = 120;
  int max_retries = 6;
  // Roles that --model may name; empty: those of ProviderOptions. A command may narrow them to its strategy's.
  std::vector<std::string> roles;
};

void AddModelOptions(CLI::App& app, ModelOptions& options);

// The models as one specification, one a line: what a run records, and what MakeProvider and `models` of a resumed
// run take again (a single element with line breaks is as good as several elements).
std::string ModelSpecification(const ModelOptions& options);

// For agent:COMMAND; commands that start no runs leave it empty.
struct AgentPlace {
  std::string folder;   // below it each run's agent has a folder of its own
  std::string program;  // path of this program
};

// Keys and proxies come from this process's environment; `store` is where replay:RUN looks, may be null, not owned.
// kInvalidArgument with a remedy for what cannot work: an unknown provider, a missing key, a price file with a typo.
Result<std::unique_ptr<ModelProvider>> MakeModelProvider(const ModelOptions& options, RunStore* store, AgentPlace agents = {});

}  // namespace hone
