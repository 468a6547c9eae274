// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Implements the chat completions format (POST …/chat/completions) of OpenAI, which vLLM, SGLang, Ollama, llama.cpp's
// server and routers have too. All their variants are accepted: usage missing, or in every chunk; reasoning in
// `reasoning_content` or `reasoning`; an error object inside a stream that began with 200; a stream without "[DONE]"; a
// whole completion instead of a stream.
#include "tuner/model/chat_wire.h"
#include "tuner/model/wire_json.h"

namespace hone {
namespace {

using Json = nlohmann::json;

FinishReason OpenAiFinish(const std::string& reason) {
  if (reason == "length" || reason == "max_tokens" || reason == "model_length") return FinishReason::kLength;
  if (reason == "content_filter" || reason == "refusal" || reason == "safety" || reason == "SAFETY") {
    return FinishReason::kRefused;
  }
  return FinishReason::kStop;  // stop, eos, tool_calls, function_call, and unknown ones
}

// Returns the text of `content`, which is a string or, from some services, an array of parts.
std::string ContentText(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (content.is_array()) {
    for (const Json& part : content) text += TextOf(part, "text");
  }
  return text;
}

// Takes the counts of tokens from the field `usage`.
void ReadOpenAiUsage(const Json& usage, StreamedReply& reply) {
  if (!usage.is_object()) return;
  if (const auto count = CountOf(usage, "prompt_tokens")) reply.input_tokens = count;
  if (const auto count = CountOf(usage, "completion_tokens")) reply.output_tokens = count;
  if (const auto count = CountOf(MemberOrNull(usage, "prompt_tokens_details"), "cached_tokens")) {
    reply.cached_input_tokens = *count;
  }
}

// Reads an object of the stream, whose `part` is "delta", or a whole completion, whose `part` is "message".
void ReadObject(const Json& json, const char* part, StreamedReply& reply) {
  const Json& error = MemberOrNull(json, "error");
  if (!error.is_null() && !(error.is_object() && error.empty())) {
    reply.error = ReadWireError(DumpWireJson(json));
    return;
  }
  if (TextOf(json, "object") == "error") {
    reply.error = ReadWireError(DumpWireJson(json));
    return;
  }
  if (const std::string model = TextOf(json, "model"); !model.empty()) reply.model = model;
  ReadOpenAiUsage(MemberOrNull(json, "usage"), reply);
  const Json& choices = MemberOrNull(json, "choices");
  if (!choices.is_array() || choices.empty()) return;  // the chunk has only token counts
  const Json& choice = choices[0];
  const Json& message = MemberOrNull(choice, part);
  reply.text += ContentText(MemberOrNull(message, "content"));
  reply.thought_bytes += static_cast<int64_t>(TextOf(message, "reasoning_content").size());
  reply.thought_bytes += static_cast<int64_t>(TextOf(message, "reasoning").size());
  if (const std::string refusal = TextOf(message, "refusal"); !refusal.empty()) {
    reply.text += refusal;
    reply.finish = FinishReason::kRefused;
  }
  const std::string reason = TextOf(choice, "finish_reason");
  if (reason == "error") {
    reply.error = WireError{0, "server_error", "", "the service ended the reply with finish_reason \"error\""};
  } else if (!reason.empty() && reply.finish != FinishReason::kRefused) {
    reply.finish = OpenAiFinish(reason);
  }
}

class OpenAiWire : public ChatWire {
 public:
  std::string Provider() const override { return "openai"; }
  std::string DefaultBaseUrl() const override { return "https://api.openai.com/v1"; }
  std::string DefaultKeyVariable() const override { return "OPENAI_API_KEY"; }
  std::string Url(const std::string& base_url) const override { return base_url + "/chat/completions"; }

  std::vector<std::string> Headers(const std::string& key) const override {
    std::vector<std::string> headers = {"Content-Type: application/json", "Accept: text/event-stream"};
    if (!key.empty()) headers.push_back("Authorization: Bearer " + key);
    return headers;
  }

  std::string Body(const ModelRequest& request, const std::string& model,
                   const WireAllowances& allowances) const override {
    Json messages = Json::array();
    for (const ModelMessage& m : TidyMessages(request.messages)) {
      messages.push_back({{"role", m.role}, {"content", m.text}});
    }
    Json body = {{"model", model}, {"messages", std::move(messages)}, {"stream", true}};
    if (allowances.temperature) body["temperature"] = request.temperature;
    if (allowances.stream_options) body["stream_options"] = {{"include_usage", true}};
    const int64_t limit = allowances.max_tokens > 0 ? allowances.max_tokens : request.max_tokens;
    if (limit > 0) body[allowances.max_completion_tokens ? "max_completion_tokens" : "max_tokens"] = limit;
    return DumpWireJson(body);
  }

  void ReadEvent(const SseEvent& event, StreamedReply& reply) const override {
    if (event.data == "[DONE]") {
      reply.ended = true;
      return;
    }
    if (event.data.find_first_not_of(" \t\r\n") == std::string::npos) return;
    const Json json = ParseWireJson(event.data);
    if (!json.is_object()) {
      reply.malformed = event.data.substr(0, 200);
      return;
    }
    ReadObject(json, "delta", reply);
  }

  void ReadWhole(std::string_view body, StreamedReply& reply) const override {
    const Json json = ParseWireJson(body);
    if (!json.is_object()) {
      reply.malformed = body.substr(0, 200);
      return;
    }
    ReadObject(json, "message", reply);
    if (!reply.error && !MemberOrNull(json, "choices").is_array()) reply.malformed = body.substr(0, 200);
    reply.ended = reply.malformed.empty();
  }
};

}  // namespace

std::unique_ptr<ChatWire> MakeOpenAiWire() { return std::make_unique<OpenAiWire>(); }

}  // namespace hone
