// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a provider from its specification, "kind" or "kind:argument".
#include "hone/tuner/model_provider.h"

#include <fmt/format.h>

#include <utility>

#include "base/file.h"
#include "tuner/model/builtin/builtin_provider.h"
#include "tuner/model/mailbox_provider.h"
#include "tuner/model/replay_provider.h"

namespace hone {
namespace {

Result<std::unique_ptr<ModelProvider>> MakeReplay(const std::string& argument, const ProviderOptions& options) {
  const bool is_file = argument.ends_with(".jsonl") || argument.find('/') != std::string::npos;
  if (is_file) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(argument));
    std::unique_ptr<RunStore> store = MakeMemoryRunStore();
    Result<std::string> run = ImportRun(*store, text);
    if (!run.ok()) return run.status().WithContext(argument);
    return MakeReplayProvider(*store, *run);
  }
  if (options.store == nullptr) return Status::InvalidArgument("replay:RUN needs a run store");
  return MakeReplayProvider(*options.store, argument);
}

}  // namespace

int64_t EstimateTokens(std::string_view text) { return (static_cast<int64_t>(text.size()) + 3) / 4; }

Result<std::unique_ptr<ModelProvider>> MakeProvider(std::string_view specification, const ProviderOptions& options) {
  const size_t colon = specification.find(':');
  const std::string kind(specification.substr(0, colon));
  const std::string argument(colon == std::string_view::npos ? "" : specification.substr(colon + 1));
  if (kind == "builtin" && argument.empty()) return MakeBuiltinProvider();
  if (kind == "replay" && !argument.empty()) return MakeReplay(argument, options);
  if (kind == "mailbox" && !argument.empty()) return MakeMailboxProvider(argument, options.poll_seconds);
  if (kind == "replay" || kind == "mailbox") {
    return Status::InvalidArgument(fmt::format("model '{}' needs an argument: {}", specification,
                                               kind == "replay" ? "replay:RUN or replay:FILE.jsonl" : "mailbox:DIR"));
  }
  return Status::InvalidArgument(
      fmt::format("there is no model provider '{}'; there are builtin, mailbox:DIR, "
                  "replay:RUN and replay:FILE.jsonl",
                  specification));
}

}  // namespace hone
