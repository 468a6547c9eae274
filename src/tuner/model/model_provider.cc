// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a provider from its specification, which names one model, or one for each role on a line of its own.
#include "hone/tuner/model_provider.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/files/file.h"
#include "base/numbers/random.h"
#include "tuner/model/agent/agent_provider.h"
#include "tuner/model/builtin/builtin_provider.h"
#include "tuner/model/exec_provider.h"
#include "tuner/model/http_provider.h"
#include "tuner/model/mailbox_provider.h"
#include "tuner/model/model_spec.h"
#include "tuner/model/replay_provider.h"
#include "tuner/model/role_provider.h"
#include "tuner/run/log/open_run.h"

namespace hone {
namespace {

// Makes the provider of replay:RUN or replay:FILE.jsonl.
Result<std::unique_ptr<ModelProvider>> MakeReplay(const std::string& argument, const ProviderOptions& options) {
  if (NamesRunFile(argument)) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(argument));
    std::unique_ptr<RunStore> store = MakeMemoryRunStore();
    Result<std::string> run = ImportRun(*store, text);
    if (!run.ok()) return run.status().WithContext(argument);
    return MakeReplayProvider(*store, *run);
  }
  if (options.store == nullptr) return Status::InvalidArgument("replay:RUN needs a run store");
  return MakeReplayProvider(*options.store, argument);
}

// Makes the provider of agent:COMMAND.
Result<std::unique_ptr<ModelProvider>> MakeAgent(const ModelSpec& spec, const ProviderOptions& options) {
  if (spec.role != "agent" && options.roles != std::vector<std::string>{"agent"}) {
    return Status::InvalidArgument(
        "agent:COMMAND decides by itself what it tries, and answers for no other role: use it with --strategy agent, or, beside "
        "other strategies, as agent=agent:COMMAND");
  }
  if (options.agents_folder.empty() || options.program.empty()) {
    return Status::InvalidArgument("agent:COMMAND needs a folder for its agents and the program that judges for them");
  }
  AgentOptions agent;
  agent.command = spec.argument;
  agent.folder = options.agents_folder;
  agent.program = options.program;
  agent.environment = options.environment;
  agent.max_retries = options.max_retries;
  agent.seed = SystemSeed();
  return MakeAgentProvider(std::move(agent));
}

// Makes the provider of one specification.
Result<std::unique_ptr<ModelProvider>> MakeOne(const ModelSpec& spec, const ProviderOptions& options) {
  if (spec.kind == "builtin") return MakeBuiltinProvider();
  if (spec.kind == "replay") return MakeReplay(spec.argument, options);
  if (spec.kind == "mailbox") return MakeMailboxProvider(spec.argument, options.poll_seconds);
  if (spec.kind == "exec") return MakeExecProvider(spec.argument, options.environment, SystemExecOptions(options));
  if (spec.kind == "agent") return MakeAgent(spec, options);
  HONE_ASSIGN_OR_RETURN(ServiceModel model, ParseServiceModel(spec.kind, spec.argument));
  return MakeHttpProvider(spec.kind == "openai" ? MakeOpenAiWire() : MakeAnthropicWire(), model, options,
                          SystemHooks());
}

// Parses one specification, or several, one per line.
Result<std::vector<ModelSpec>> ParseSpecs(std::string_view specification, const ProviderOptions& options) {
  std::vector<ModelSpec> specs;
  for (size_t begin = 0; begin <= specification.size();) {
    const size_t end = std::min(specification.find('\n', begin), specification.size());
    const std::string_view line = specification.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() && !specification.empty()) continue;
    HONE_ASSIGN_OR_RETURN(ModelSpec spec, ParseModelSpec(line, options.roles));
    for (const ModelSpec& other : specs) {
      if (other.role != spec.role) continue;
      return Status::InvalidArgument(
          spec.role.empty() ? fmt::format("two models for every role; put the role before one of them: coder={}", line)
                            : fmt::format("two models for the role '{}'", spec.role));
    }
    specs.push_back(std::move(spec));
  }
  return specs;
}

// Refuses options that would apply to models of two services.
Status CheckShared(const std::vector<ModelSpec>& specs, const ProviderOptions& options) {
  const auto uses_kind = [&](std::string_view kind) {
    for (const ModelSpec& spec : specs) {
      if (spec.kind == kind && spec.argument.find("@http") == std::string::npos) return true;
    }
    return false;
  };
  if (!uses_kind("openai") || !uses_kind("anthropic")) return Status::Ok();
  for (const auto& [value, flag] : {std::pair(&options.base_url, "--base-url"), {&options.key_variable, "--key-env"}}) {
    if (value->empty()) continue;
    return Status::InvalidArgument(
        fmt::format("{} {} would hold for openai: and anthropic: models alike; name it in the model it is for, "
                    "openai:NAME@URL#VARIABLE",
                    flag, *value));
  }
  return Status::Ok();
}

}  // namespace

int64_t EstimateTokens(std::string_view text) { return (static_cast<int64_t>(text.size()) + 3) / 4; }

Result<std::unique_ptr<ModelProvider>> MakeProvider(std::string_view specification, const ProviderOptions& options) {
  HONE_ASSIGN_OR_RETURN(std::vector<ModelSpec> specs, ParseSpecs(specification, options));
  HONE_RETURN_IF_ERROR(CheckShared(specs, options));
  if (specs.size() == 1 && specs[0].role.empty()) return MakeOne(specs[0], options);
  std::map<std::string, std::unique_ptr<ModelProvider>> by_role;
  std::unique_ptr<ModelProvider> fallback;
  for (const ModelSpec& spec : specs) {
    Result<std::unique_ptr<ModelProvider>> provider = MakeOne(spec, options);
    if (!provider.ok())
      return spec.role.empty() ? provider.status() : provider.status().WithContext("role " + spec.role);
    (spec.role.empty() ? fallback : by_role[spec.role]) = std::move(provider).value();
  }
  // A role without a model is an error now, and not in the middle of a run.
  std::string missing;
  for (const std::string& role : options.roles) {
    if (!by_role.contains(role)) missing += (missing.empty() ? "" : ", ") + role;
  }
  if (!fallback && !missing.empty()) {
    return Status::InvalidArgument(
        fmt::format("no model answers for {}; add --model MODEL without a role for the rest", missing));
  }
  return MakeRoleProvider(std::move(by_role), std::move(fallback));
}

}  // namespace hone
