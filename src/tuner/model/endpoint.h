// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model at an address, and what its failures mean: whether asking again may help, and the sentence that tells a
// user what happened and what to do. No network here.
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
  std::string url;           // what is posted to
  std::string key_variable;  // where the key was looked for; empty: nowhere
  std::string key;           // empty: none
  bool own_service = true;   // the provider's own, not a compatible one
  Redactor redactor;

  std::string Name() const { return provider + ":" + model; }
};

// Why an attempt brought no reply.
struct AttemptFailure {
  Status status;                       // redacted, for the user, without the attempts' number
  bool retry = false;                  // asking again may help
  std::optional<double> wait_seconds;  // what the service asked for
};

// For an answer with an HTTP error status. `retry_after` as ParseRetryAfter gave it.
AttemptFailure FailureOfStatus(const Endpoint& endpoint, int status, const WireError& error,
                               std::optional<double> retry_after);
// For an error event inside a stream that began well.
AttemptFailure FailureOfEvent(const Endpoint& endpoint, const WireError& error);
// For a transfer that did not come to its end. `reached_before`: this endpoint has answered in this process, so that
// not reaching it now is bad luck and not a wrong address.
AttemptFailure FailureOfTransfer(const Endpoint& endpoint, const HttpRequest& request, const HttpResponse& response,
                                 int64_t tokens, bool reached_before);

// What may be left out or lowered so that the service takes the request; nullopt when its refusal (HTTP 400 or 422)
// names nothing of the kind. `asked_tokens`: the bound on the reply that was sent.
std::optional<WireAllowances> Concede(const WireAllowances& sent, int64_t asked_tokens, const WireError& error);

}  // namespace hone
