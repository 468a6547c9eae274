// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes requests to chat services and decodes their replies: one class per wire format. There is no network here:
// http_provider.cc passes the bytes, or a test does.
//
// Bodies are stable: the same request gives the same bytes, keys sorted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/tuner/model_provider.h"
#include "tuner/model/sse.h"

namespace hone {

// An error as a service reports it. A field that the service does not give is empty.
struct WireError {
  int status = 0;    // an HTTP status named inside the error; 0: none
  std::string type;  // "overloaded_error", "invalid_request_error", …
  std::string code;  // "rate_limit_exceeded", "model_not_found", …
  std::string message;
};
// Reads an error body of any service: {"error":{…}}, {"error":"…"}, {"message":…}, {"detail":…}; other text, shortened,
// is the message itself.
WireError ReadWireError(std::string_view body);

// StreamedReply holds what has been read of a reply so far.
struct StreamedReply {
  std::string text;                                    // the reply's text so far
  int64_t thought_bytes = 0;                           // bytes of streamed reasoning, which is not kept
  std::string model;                                   // the model's name as the service gives it
  std::optional<FinishReason> finish;                  // why the text ended; empty: it has not
  bool ended = false;                                  // the stream's end mark has come
  std::optional<int64_t> input_tokens, output_tokens;  // as counted by the service; input includes cached tokens
  int64_t cached_input_tokens = 0;                     // read from the service's cache, at a lower price
  std::optional<WireError> error;                      // an error event inside the stream
  std::string malformed;                               // not empty: text of an event that could not be parsed

  // Returns whether the text is complete.
  bool whole() const { return finish.has_value() || ended; }
  // Returns the number of output tokens so far: the service's count or an estimate from the bytes, whichever is larger.
  int64_t TokensSoFar() const;
};

// Which optional features of the format a service accepts, as learnt from its refusals. The defaults assume a current
// service.
struct WireAllowances {
  bool temperature = true;             // a request may set the temperature
  bool stream_options = true;          // openai: a request may ask for token counts in the stream
  bool max_completion_tokens = false;  // openai: call the limit max_completion_tokens, not max_tokens
  int64_t max_tokens = 0;              // limit on the reply's tokens; 0: the request's own
};

// A wire format. Stateless and thread-safe.
class ChatWire {
 public:
  virtual ~ChatWire() = default;
  virtual std::string Provider() const = 0;  // "openai"
  virtual std::string DefaultBaseUrl() const = 0;
  virtual std::string DefaultKeyVariable() const = 0;  // "OPENAI_API_KEY"
  // Returns the URL for requests. `base_url` has no slash at its end.
  virtual std::string Url(const std::string& base_url) const = 0;
  // Returns the HTTP headers, "Name: value". `key` empty: no key.
  virtual std::vector<std::string> Headers(const std::string& key) const = 0;
  virtual std::string Body(const ModelRequest& request, const std::string& model,
                           const WireAllowances& allowances) const = 0;
  // Adds what one event of the stream says to `reply`.
  virtual void ReadEvent(const SseEvent& event, StreamedReply& reply) const = 0;
  // Reads a body that is no event stream, since some services always answer in one piece.
  virtual void ReadWhole(std::string_view body, StreamedReply& reply) const = 0;
};

std::unique_ptr<ChatWire> MakeOpenAiWire();
std::unique_ptr<ChatWire> MakeAnthropicWire();

// Returns the messages in the form that services accept: empty messages are dropped, consecutive messages of one role
// are joined with a blank line between them, and unknown roles become "user".
std::vector<ModelMessage> TidyMessages(const std::vector<ModelMessage>& messages);

}  // namespace hone
