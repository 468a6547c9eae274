// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model provider completes a request: a language model behind an endpoint, a folder in which somebody answers,
// a recorded run, or plain code. What the provider is, the agents do not know.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/run_store.h"

namespace hone {

struct ModelMessage {
  std::string role;  // system | user | assistant
  std::string text;
};

struct ModelRequest {
  std::string run;     // id of the run that asks
  int64_t number = 0;  // 8, 10, 16, … within the run (RequestNumber): with `run`, the request's identity
  int64_t repair_of = -1;  // number of the request whose reply could not be used; -1: this is a first request
  std::string role;        // the agent: coder, planner, debugger, …
  std::vector<ModelMessage> messages;
  double temperature = 0.7;
  int64_t max_tokens = 32768;
  double limit_seconds = 600;  // after which the provider gives up with kTimedOut
  // The same matter in machine form, for providers that are programs: "parent" (source text), "tried" (idea
  // keys, one a line), "task" (task.toml), "facts" (JSON of the device's facts). For the role `agent` also "oracle" (the
  // reference), "seed", "attempt" and "attempts" (which of how many this is).
  std::map<std::string, std::string> attachments;
};

struct TokenUsage {
  int64_t input = 0;
  int64_t output = 0;
  bool estimated = false;  // counted by Hone (4 bytes a token), not by the provider
};

enum class FinishReason {
  kStop,       // the answer is whole
  kLength,     // cut off at max_tokens
  kRefused,    // the model declined
  kExhausted,  // the provider has nothing more to propose, now or later (builtin, a replay at its end)
};
std::string_view FinishReasonName(FinishReason reason);
std::optional<FinishReason> FinishReasonFromName(std::string_view name);

struct ModelReply {
  std::string text;
  FinishReason finish = FinishReason::kStop;
  TokenUsage usage;      // all that was spent on this request, answers thrown away on the way included
  double cost_usd = 0;   // of `usage`; meaningful when cost_known
  std::string provider;  // "builtin", "mailbox", "openai", …
  std::string model;     // what answered, as far as is known
  double seconds = 0;
  bool cost_known = true;          // false: nobody knows the price; whoever shows a cost says so instead of "$0.00"
  TokenUsage discarded;            // the part of `usage` that went into broken-off answers
  std::vector<std::string> notes;  // a sentence for each attempt that failed before this answer came
};

struct ModelProgress {
  double waited_seconds = 0;
  int64_t output_tokens = 0;  // 0: not known
  std::string message;        // "waiting for /tmp/m/replies/0003.md"
};
using ModelProgressSink = std::function<void(const ModelProgress&)>;

// Thread-safe: several requests may be in flight. A Status means that no answer could be had (kTimedOut,
// kUnavailable, kCancelled when `stop` was asked); a useless answer is an answer.
class ModelProvider {
 public:
  virtual ~ModelProvider() = default;
  virtual std::string Name() const = 0;
  virtual Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink& progress,
                                      std::stop_token stop) = 0;
  // The run asks nothing more in this sitting: what the provider keeps running for it ends now. `last_word` says what
  // became of its last reply.
  virtual void Leave(const std::string& run, const std::string& last_word) {
    (void)run;
    (void)last_word;
  }
  // Why costs of its replies may be unknown, a sentence; empty when they never are. A limit in dollars cannot hold
  // where this says something.
  virtual std::string CostCaveat() const { return ""; }
  // Whether replies may have a known cost at all; false: a limit in dollars makes no sense.
  virtual bool PricesReplies() const { return true; }
};

// What the providers need from the program. Nothing here is read from the process's own environment.
struct ProviderOptions {
  RunStore* store = nullptr;   // where `replay:RUN` finds its run; not owned
  double poll_seconds = 0.25;  // mailbox: how often the folder is looked at

  // openai:, anthropic: and exec: (docs/models.md)
  std::vector<std::string> environment;  // "NAME=value": where keys and proxies are found, what exec: commands get
  std::string base_url;                  // endpoint of models that name none (NAME@URL); empty: the service's own
  std::string key_variable;              // variable with the key; empty: OPENAI_API_KEY, ANTHROPIC_API_KEY
  std::string prices_file;               // TOML with prices that replace the built-in ones; empty: none
  double connect_seconds = 15;           // for reaching the endpoint
  double first_byte_seconds = 300;       // from asking to the first byte of the answer: some models think long
  double stall_seconds = 120;            // between two bytes of an answer
  double request_seconds = 0;            // for a request with all its retries; 0: ModelRequest::limit_seconds alone
  int max_retries = 6;                   // after the first attempt
  // agent: (docs/models.md)
  std::string agents_folder;  // below it each run's agent has a folder of its own
  std::string program;        // path of `hone`, which the agent starts as its server of tools
  // The roles that `ROLE=MODEL` may name.
  std::vector<std::string> roles = {"planner", "coder", "debugger", "tester", "analyst"};
};

// `specification` is one model:
//   builtin | replay:RUN | replay:FILE.jsonl | mailbox:DIR | exec:COMMAND
//   openai:NAME[@URL[#VARIABLE]] | anthropic:NAME[@URL[#VARIABLE]] | agent:COMMAND
// or several, one a line, each but at most one with "ROLE=" before it: then each role asks its own model, and the
// one without a role answers for the rest.
// kInvalidArgument lists what there is, and the nearest name; a missing key names its variable.
Result<std::unique_ptr<ModelProvider>> MakeProvider(std::string_view specification, const ProviderOptions& options);

// 4 bytes a token, rounded up: what is shown when a provider does not count.
int64_t EstimateTokens(std::string_view text);

}  // namespace hone
