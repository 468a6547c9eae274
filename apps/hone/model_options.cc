// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/model_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/files/file.h"
#include "common/command_line.h"
#include "tuner/model/prices.h"

namespace hone {

void AddModelFlags(CLI::App& app, ModelFlags& options) {
  app.add_option(
         "--model", options.models,
         "who proposes kernels (docs/models.md): builtin (the default: mechanical rewrites, no language model), "
         "openai:NAME, anthropic:NAME, exec:COMMAND, agent:COMMAND, mailbox:DIR, replay:RUN or "
         "replay:FILE.jsonl; planner=MODEL gives one role of a strategy a model of its own (docs/models.md "
         "lists the roles); may be repeated")
      ->allow_extra_args(false);
  app.add_option("--base-url", options.base_url,
                 "the service's address, for openai: and anthropic: models that name none with @URL");
  app.add_option("--key-env", options.key_env,
                 "the environment variable that holds the key; by default OPENAI_API_KEY or ANTHROPIC_API_KEY");
  app.add_option("--prices", options.prices, "a TOML file of prices, which come before the built-in ones");
  app.add_option(
         "--request-timeout", options.request_seconds,
         "a shorter --request-limit for this command alone; it is not stored, so that --resume forgets it; 0: none")
      ->check(kZeroOrMore)
      ->capture_default_str();
  app.add_option("--stall-timeout", options.stall_seconds,
                 "longest time between two bytes of an answer, in seconds; after it the answer is given up")
      ->check(kAboveZero)
      ->capture_default_str();
  app.add_option("--max-retries", options.max_retries, "how often to try again after a failure that may be temporary")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
}

std::string ModelSpecification(const ModelFlags& options) {
  if (options.models.empty()) return "builtin";
  std::string text;
  for (const std::string& model : options.models) text += (text.empty() ? "" : "\n") + model;
  return text;
}

Result<std::unique_ptr<ModelProvider>> MakeModelProvider(const ModelFlags& options, RunStore* store,
                                                         AgentPlace agents) {
  if (!options.prices.empty()) {  // errors in the price file are reported even if no model needs a price
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.prices, 1 << 20));
    HONE_RETURN_IF_ERROR(PriceTable::Parse(text, options.prices).status());
  }
  ProviderOptions provider;
  provider.store = store;
  provider.agents_folder = std::move(agents.folder);
  provider.program = std::move(agents.program);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) provider.environment.push_back(*entry);
  provider.base_url = options.base_url;
  provider.key_variable = options.key_env;
  provider.prices_file = options.prices;
  provider.request_seconds = options.request_seconds;
  provider.stall_seconds = options.stall_seconds;
  provider.max_retries = options.max_retries;
  if (!options.roles.empty()) provider.roles = options.roles;
  return MakeProvider(ModelSpecification(options), provider);
}

}  // namespace hone
