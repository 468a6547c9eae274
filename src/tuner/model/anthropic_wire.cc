// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements Anthropic's messages format (POST …/v1/messages), version 2023-06-01. The system text is apart from the
// messages. The reply streams as named server-sent events: the first has the count of input tokens, the last the count
// of output tokens. Unknown events and blocks are ignored, as the service requires.
#include <algorithm>
#include <utility>

#include "tuner/model/chat_wire.h"
#include "tuner/model/wire_json.h"

namespace hone {
namespace {

using Json = nlohmann::json;

FinishReason FinishOf(const std::string& reason) {
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return FinishReason::kLength;
  if (reason == "refusal") return FinishReason::kRefused;
  return FinishReason::kStop;  // end_turn, stop_sequence, tool_use, pause_turn
}

// Adds the token counts of an event to `reply`.
void ReadUsage(const Json& usage, StreamedReply& reply) {
  if (!usage.is_object()) return;
  if (const auto fresh = CountOf(usage, "input_tokens")) {
    const int64_t cache_tokens_written = CountOf(usage, "cache_creation_input_tokens").value_or(0);
    reply.cached_input_tokens = CountOf(usage, "cache_read_input_tokens").value_or(reply.cached_input_tokens);
    // Compatible servers send 0 in the first or the last event, and the count in the other.
    reply.input_tokens =
        std::max(reply.input_tokens.value_or(0), *fresh + cache_tokens_written + reply.cached_input_tokens);
  }
  if (const auto count = CountOf(usage, "output_tokens")) reply.output_tokens = count;
}

void ReadStop(const Json& holder, StreamedReply& reply) {
  if (const std::string reason = TextOf(holder, "stop_reason"); !reason.empty()) reply.finish = FinishOf(reason);
}

void ReadBlock(const Json& block, StreamedReply& reply) {
  reply.text += TextOf(block, "text");
  reply.thought_bytes += static_cast<int64_t>(TextOf(block, "thinking").size());
}

class AnthropicWire : public ChatWire {
 public:
  std::string Provider() const override { return "anthropic"; }
  std::string DefaultBaseUrl() const override { return "https://api.anthropic.com"; }
  std::string DefaultKeyVariable() const override { return "ANTHROPIC_API_KEY"; }
  std::string Url(const std::string& base_url) const override {
    return base_url + (base_url.ends_with("/v1") ? "/messages" : "/v1/messages");
  }

  std::vector<std::string> Headers(const std::string& key) const override {
    std::vector<std::string> headers = {"Content-Type: application/json", "Accept: text/event-stream",
                                        "anthropic-version: 2023-06-01"};
    if (!key.empty()) headers.push_back("x-api-key: " + key);
    return headers;
  }

  std::string Body(const ModelRequest& request, const std::string& model,
                   const WireAllowances& allowances) const override {
    std::string system;
    std::vector<ModelMessage> turns;
    for (const ModelMessage& m : TidyMessages(request.messages)) {
      // Only a system message before all others becomes the system text; later ones stay in their place, as the user's.
      if (m.role == "system" && turns.empty()) {
        system = m.text;
      } else {
        turns.push_back({m.role == "assistant" ? "assistant" : "user", m.text});
      }
    }
    if (turns.empty()) turns.push_back({"user", std::exchange(system, "")});
    if (turns.front().role == "assistant") turns.insert(turns.begin(), {"user", "(The conversation so far:)"});
    // The service refuses a last assistant turn that ends in white space.
    std::string& last = turns.back().text;
    if (turns.back().role == "assistant") last.erase(last.find_last_not_of(" \t\r\n") + 1);
    Json messages = Json::array();
    for (const ModelMessage& m : TidyMessages(turns)) messages.push_back({{"role", m.role}, {"content", m.text}});
    const int64_t limit = allowances.max_tokens > 0 ? allowances.max_tokens : request.max_tokens;
    Json body = {{"model", model}, {"messages", std::move(messages)}, {"stream", true}};
    body["max_tokens"] = limit > 0 ? limit : 32768;  // required: the format has no value for "no limit"
    if (!system.empty()) body["system"] = system;
    if (allowances.temperature) body["temperature"] = std::clamp(request.temperature, 0.0, 1.0);
    return DumpWireJson(body);
  }

  void ReadEvent(const SseEvent& event, StreamedReply& reply) const override {
    const Json json = ParseWireJson(event.data);
    if (!json.is_object()) {
      reply.malformed = event.data.substr(0, 200);
      return;
    }
    // The data repeats the event's name; some servers omit one of the two.
    std::string type = TextOf(json, "type");
    if (type.empty()) type = event.event;
    if (type == "message_start") {
      const Json& message = MemberOrNull(json, "message");
      reply.model = TextOf(message, "model");
      ReadUsage(MemberOrNull(message, "usage"), reply);
    } else if (type == "content_block_start") {
      ReadBlock(MemberOrNull(json, "content_block"), reply);
    } else if (type == "content_block_delta") {
      ReadBlock(MemberOrNull(json, "delta"), reply);
    } else if (type == "message_delta") {
      ReadStop(MemberOrNull(json, "delta"), reply);
      ReadUsage(MemberOrNull(json, "usage"), reply);
    } else if (type == "message_stop") {
      reply.ended = true;
    } else if (type == "error") {
      reply.error = ReadWireError(event.data);
    }
  }

  void ReadWhole(std::string_view body, StreamedReply& reply) const override {
    const Json json = ParseWireJson(body);
    if (TextOf(json, "type") == "error" || MemberOrNull(json, "error").is_object()) {
      reply.error = ReadWireError(body);
      return;
    }
    const Json& content = MemberOrNull(json, "content");
    if (!content.is_array()) {
      reply.malformed = body.substr(0, 200);
      return;
    }
    reply.model = TextOf(json, "model");
    for (const Json& block : content) ReadBlock(block, reply);
    ReadStop(json, reply);
    ReadUsage(MemberOrNull(json, "usage"), reply);
    reply.ended = true;
  }
};

}  // namespace

std::unique_ptr<ChatWire> MakeAnthropicWire() { return std::make_unique<AnthropicWire>(); }

}  // namespace hone
