// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Encodes requests to chat services and decodes their replies: one class per wire format, no network. http_provider.cc
// drives the classes; the tests feed them bytes.
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

// An error as a service reports it. Empty fields were not given.
struct WireError {
  int status = 0;    // an HTTP status named inside the error, if any
  std::string type;  // "overloaded_error", "invalid_request_error", …
  std::string code;  // "rate_limit_exceeded", "model_not_found", …
  std::string message;
};
// Reads an error body of any service: {"error":{…}}, {"error":"…"}, {"message":…}, {"detail":…}; other text, shortened,
// is the message itself.
WireError ReadWireError(std::string_view body);

// The part of a reply that has been read.
struct StreamedReply {
  std::string text;
  int64_t thought_bytes = 0;  // streamed reasoning; counted, not kept
  std::string model;
  std::optional<FinishReason> finish;
  bool ended = false;                                  // the service has marked the end
  std::optional<int64_t> input_tokens, output_tokens;  // as counted by the service; input includes cached tokens
  int64_t cached_input_tokens = 0;                     // read from the service's cache, at a lower price
  std::optional<WireError> error;                      // an error event inside the stream
  std::string malformed;                               // not empty: what could not be read

  bool whole() const { return finish.has_value() || ended; }
  // Returns the tokens so far: the service's count, or an estimate from the bytes.
  int64_t TokensSoFar() const;
};

// Features that a service has been found not to support; learnt from its refusals.
struct WireAllowances {
  bool temperature = true;
  bool stream_options = true;
  bool max_completion_tokens = false;  // openai: use this name instead of max_tokens
  int64_t max_tokens = 0;              // 0: as in the request
};

class ChatWire {
 public:
  virtual ~ChatWire() = default;
  virtual std::string Provider() const = 0;  // "openai"
  virtual std::string DefaultBaseUrl() const = 0;
  virtual std::string DefaultKeyVariable() const = 0;
  // `base_url` has no slash at its end.
  virtual std::string Url(const std::string& base_url) const = 0;
  virtual std::vector<std::string> Headers(const std::string& key) const = 0;  // key may be empty
  virtual std::string Body(const ModelRequest& request, const std::string& model,
                           const WireAllowances& allowances) const = 0;
  virtual void ReadEvent(const SseEvent& event, StreamedReply& reply) const = 0;
  // Reads a body that is no event stream: some services always answer in one piece.
  virtual void ReadWhole(std::string_view body, StreamedReply& reply) const = 0;
};

std::unique_ptr<ChatWire> MakeOpenAiWire();
std::unique_ptr<ChatWire> MakeAnthropicWire();

// Adapts messages to services: no message is empty, neighbours of one role are joined by a blank line, and unknown
// roles become "user".
std::vector<ModelMessage> TidyMessages(const std::vector<ModelMessage>& messages);

}  // namespace hone
