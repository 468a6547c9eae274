// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines model providers, which complete requests: a language model behind an endpoint, a folder in which a person or
// program answers, a recorded run, or plain code. Agents do not know which kind of provider answers.
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
  std::string run;     // id of the run that makes the request
  int64_t number = 0;  // 8, 10, 16, … within the run (RequestNumber): with `run`, the request's identity
  int64_t repair_of = -1;  // number of the request whose reply could not be used; -1: this is a first request
  std::string role;        // the agent's role: coder, planner, debugger, …
  std::vector<ModelMessage> messages;
  double temperature = 0.7;
  int64_t max_tokens = 32768;
  double limit_seconds = 600;  // limit after which the provider gives up with kTimedOut
  bool suspends = false;  // true: a mailbox does not wait for an answer that is not there, and returns kPending
  // The prompt's contents in machine form, for providers that are programs: "parent" (source text), "tried" (idea keys,
  // one per line), "task" (task.toml), "facts" (JSON of the device's facts). For the role `agent` also "oracle" (the
  // reference), "seed", "attempt" and "attempts" (which of how many this is).
  std::map<std::string, std::string> attachments;
};

struct TokenUsage {
  int64_t input = 0;
  int64_t output = 0;
  bool estimated = false;  // counted by Hone (4 bytes per token), not by the provider
};

enum class FinishReason {
  kStop,       // the answer is complete
  kLength,     // cut off at max_tokens
  kRefused,    // the model declined
  kExhausted,  // the provider has nothing more to propose, now or later (builtin, or a replay at its end)
};
std::string_view FinishReasonName(FinishReason reason);
std::optional<FinishReason> FinishReasonFromName(std::string_view name);

struct ModelReply {
  std::string text;
  FinishReason finish = FinishReason::kStop;
  TokenUsage usage;      // all tokens spent on this request, discarded answers included
  double cost_usd = 0;   // cost of `usage`; meaningful when cost_known
  std::string provider;  // "builtin", "mailbox", "openai", …
  std::string model;     // the model that answered, as far as is known
  double seconds = 0;    // from the request to the answer
  bool cost_known = true;          // false: the price is unknown, and no cost is shown (rather than "$0.00")
  TokenUsage discarded;            // the part of `usage` spent on answers that broke off
  std::vector<std::string> notes;  // a sentence for each failed attempt before this answer
};

struct ModelProgress {
  double waited_seconds = 0;
  int64_t output_tokens = 0;  // 0: not known
  std::string message;        // "waiting for /tmp/m/replies/0003.md"
};
using ModelProgressSink = std::function<void(const ModelProgress&)>;

// Thread-safe: several requests may be in flight. A Status means that no answer could be had (kTimedOut, kUnavailable,
// kCancelled when `stop` was requested); a useless answer is not an error.
class ModelProvider {
 public:
  virtual ~ModelProvider() = default;
  virtual std::string Name() const = 0;
  virtual Result<ModelReply> Complete(const ModelRequest& request, const ModelProgressSink& progress,
                                      std::stop_token stop) = 0;
  // Tells the provider that this run makes no more requests until it is resumed, so that processes kept for the run can
  // end now. `last_word` describes the outcome of the run's last reply.
  virtual void Leave(const std::string& run, const std::string& last_word) {
    (void)run;
    (void)last_word;
  }
  // Returns a sentence saying why costs of replies may be unknown; empty when they are always known. A limit in dollars
  // cannot be guaranteed if this is not empty.
  virtual std::string CostCaveat() const { return ""; }
  // Returns whether replies may have a known cost at all; false: a limit in dollars makes no sense.
  virtual bool PricesReplies() const { return true; }
};

// Settings and objects that the program passes to model providers. Providers read nothing from the process's own
// environment.
struct ProviderOptions {
  RunStore* store = nullptr;   // store in which `replay:RUN` finds its run; not owned
  double poll_seconds = 0.25;  // mailbox: seconds between two looks at the folder

  // Options of openai:, anthropic: and exec: (docs/models.md).
  std::vector<std::string> environment;  // "NAME=value": keys and proxies, and the environment of exec: commands
  std::string base_url;                  // endpoint of models without their own (NAME@URL); empty: the service's
                                         // default
  std::string key_variable;              // name of the variable with the key; empty: OPENAI_API_KEY, ANTHROPIC_API_KEY
  std::string prices_file;               // TOML with prices that replace the built-in ones; empty: none
  double connect_seconds = 15;           // limit on connecting to the endpoint
  double first_byte_seconds = 300;       // limit from sending a request to the first byte of the answer: some models
                                         // think long
  double stall_seconds = 120;            // limit between two bytes of an answer
  double request_seconds = 0;            // limit on a request with all its retries; 0: ModelRequest::limit_seconds
                                         // alone
  int max_retries = 6;                   // after the first attempt
  // Options of agent: (docs/models.md).
  std::string agents_folder;  // folder with a subfolder for each run's agent
  std::string program;        // path of `hone`, which the agent starts as its MCP server
  // Roles that `ROLE=MODEL` may name.
  std::vector<std::string> roles = {"planner", "coder", "debugger", "tester", "analyst"};
};

// Makes the provider that `specification` describes. It is one model:
//   builtin | replay:RUN | replay:FILE.jsonl | mailbox:DIR | exec:COMMAND
//   openai:NAME[@URL[#VARIABLE]] | anthropic:NAME[@URL[#VARIABLE]] | agent:COMMAND
// or several, one per line, all but at most one with "ROLE=" in front: each role then asks its own model, and the model
// without a role answers for the other roles.
// kInvalidArgument lists the known forms, and the nearest name; for a missing key, the error names its variable.
Result<std::unique_ptr<ModelProvider>> MakeProvider(std::string_view specification, const ProviderOptions& options);

// Estimates tokens at 4 bytes each, rounded up: used when a provider does not count them.
int64_t EstimateTokens(std::string_view text);

}  // namespace hone
