// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes a model at an address, and classifies failures of requests to it: whether a retry may help, and the message
// that says what happened and what to do. There is no network here.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hone/base/status.h"
#include "tuner/model/chat_wire.h"
#include "tuner/model/http_client.h"
#include "tuner/model/redact.h"

namespace hone {

struct Endpoint {
  std::string provider;      // "openai"
  std::string model;         // "gpt-5"
  std::string base_url;      // "https://api.openai.com/v1"
  std::string url;           // URL for POST requests
  std::string key_variable;  // environment variable in which the key was looked for; empty: none
  std::string key;           // empty: none
  bool own_service = true;   // the provider's own service, not a compatible one
  Redactor redactor;         // removes the key from messages

  std::string Name() const { return provider + ":" + model; }
};

// The reason why an attempt brought no reply.
struct AttemptFailure {
  Status status;                       // redacted, for the user, without the number of attempts
  bool retry = false;                  // a retry may help
  std::optional<double> wait_seconds;  // delay that the service asked for
};

// Returns the failure for an answer with an HTTP error status. `retry_after`: seconds, from ParseRetryAfter.
AttemptFailure FailureOfStatus(const Endpoint& endpoint, int status, const WireError& error,
                               std::optional<double> retry_after);
// Returns the failure for an error event inside a stream that began well.
AttemptFailure FailureOfEvent(const Endpoint& endpoint, const WireError& error);
// Returns the failure for an incomplete transfer. `reached_before`: this endpoint has answered in this process, so that
// failing to reach it now is temporary and not a wrong address. `tokens`: the reply's tokens so far, for the message.
AttemptFailure FailureOfTransfer(const Endpoint& endpoint, const HttpRequest& request, const HttpResponse& response,
                                 int64_t tokens, bool reached_before);

// Returns what to omit or lower so that the service accepts the request; nullopt when its refusal (HTTP 400 or 422)
// names nothing of the kind. `asked_tokens`: the limit on the reply that was sent.
std::optional<WireAllowances> AllowancesAfterRefusal(const WireAllowances& sent, int64_t asked_tokens,
                                                     const WireError& error);

}  // namespace hone
