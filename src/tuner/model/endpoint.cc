// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace hone {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// Returns what an error says: its message, else its code or type.
std::string ErrorWords(const WireError& error) {
  if (!error.message.empty()) return error.message;
  if (!error.code.empty()) return error.code;
  return error.type.empty() ? "no reason given" : error.type;
}

// Returns whether the account has no credit. Its status is 429, as for too many requests, but waiting does not help.
bool OutOfMoney(const WireError& error) {
  const std::string error_text = Lower(error.type + " " + error.code + " " + error.message);
  return Contains(error_text, "insufficient_quota") || Contains(error_text, "credit balance") ||
         Contains(error_text, "billing");
}

// Returns what the user can do about a key that is missing or not accepted.
std::string KeyRemedy(const Endpoint& e) {
  if (e.key_variable.empty()) {
    return "name the environment variable that holds its key with --key-env, or in the model: NAME@URL#VARIABLE";
  }
  if (e.key.empty()) return fmt::format("set {} to a key, or name another variable with --key-env", e.key_variable);
  return fmt::format("the key in {} was not accepted; set it to a valid one, or name another variable with --key-env",
                     e.key_variable);
}

AttemptFailure Fail(const Endpoint& e, StatusCode code, bool retry, const std::string& message) {
  return {Status(code, e.redactor.Message(message)), retry, std::nullopt};
}

}  // namespace

AttemptFailure FailureOfStatus(const Endpoint& e, int status, const WireError& error,
                               std::optional<double> retry_after) {
  const std::string answer = fmt::format("{} at {} answered {}: {}", e.Name(), e.base_url, status, ErrorWords(error));
  const auto give_up = [&](StatusCode code, const std::string& remedy) {
    return Fail(e, code, /*retry=*/false, answer + "; " + remedy);
  };
  if (OutOfMoney(error) || status == 402) {
    return give_up(StatusCode::kUnavailable, "the account has no credit left, or none for this model");
  }
  switch (status) {
    case 401:
    case 403:
      return give_up(StatusCode::kUnavailable, KeyRemedy(e));
    case 404:
    case 405:
      return give_up(StatusCode::kUnavailable,
                     fmt::format("check the model's name ('{}') and the address; --base-url sets another ({})", e.model,
                                 e.provider == "openai" ? "it usually ends in /v1" : "without /v1/messages"));
    case 413:
      return give_up(StatusCode::kUnavailable, "the request is too long for this service; use a model that takes more");
    default:
      break;
  }
  if (status >= 300 && status < 400) {
    return give_up(StatusCode::kUnavailable, "redirects are not followed; give the new address as --base-url");
  }
  if (status == 408 || status == 409 || status == 425 || status == 429 || status >= 500) {
    AttemptFailure failure = Fail(e, StatusCode::kUnavailable, /*retry=*/true, answer);
    failure.wait_seconds = retry_after;
    return failure;
  }
  return give_up(StatusCode::kUnavailable, "asking again would not help");
}

AttemptFailure FailureOfEvent(const Endpoint& e, const WireError& error) {
  // Inside a stream there is no HTTP status; services put similar text into the type or the code.
  const std::string kind = Lower(error.type + " " + error.code);
  int status = error.status;
  if (status == 0 && Contains(kind, "overloaded")) status = 529;
  if (status == 0 && Contains(kind, "rate_limit")) status = 429;
  if (status == 0 && Contains(kind, "authentication")) status = 401;
  if (status == 0 && Contains(kind, "permission")) status = 403;
  if (status == 0 && Contains(kind, "not_found")) status = 404;
  if (status == 0 && (Contains(kind, "invalid") || Contains(kind, "context_length"))) status = 400;
  if (status != 0) return FailureOfStatus(e, status, error, std::nullopt);
  AttemptFailure failure =
      Fail(e, StatusCode::kUnavailable, !OutOfMoney(error),
           fmt::format("{} at {} broke off with an error: {}", e.Name(), e.base_url, ErrorWords(error)));
  return failure;
}

AttemptFailure FailureOfTransfer(const Endpoint& e, const HttpRequest& request, const HttpResponse& response,
                                 int64_t tokens, bool reached_before) {
  const std::string after = tokens > 0 ? fmt::format(" after about {} tokens", tokens) : "";
  switch (response.end) {
    case HttpEnd::kNotReached: {
      std::string message = fmt::format("could not reach {} for {}: {}", e.url, e.Name(), response.detail);
      if (response.certificate) {
        message += "; its certificate was not accepted (is the package ca-certificates installed?)";
      } else if (e.own_service) {
        message += "; is the network up? A proxy is taken from https_proxy; --base-url names another endpoint";
      } else {
        message += fmt::format("; is the server up? --base-url sets its address, now {}", e.base_url);
      }
      return Fail(e, StatusCode::kUnavailable, reached_before && !response.certificate, message);
    }
    case HttpEnd::kSilent:
      return Fail(e, StatusCode::kTimedOut, /*retry=*/true,
                  fmt::format("{} at {} sent nothing for {:.4g} s", e.Name(), e.base_url, request.first_byte_seconds));
    case HttpEnd::kStalled:
      return Fail(e, StatusCode::kTimedOut, /*retry=*/true,
                  fmt::format("{} at {} fell silent for {:.4g} s{} (--stall-timeout)", e.Name(), e.base_url,
                              request.stall_seconds, after));
    case HttpEnd::kDropped:
      return Fail(e, StatusCode::kUnavailable, /*retry=*/true,
                  fmt::format("the connection to {} for {} broke{}: {}", e.base_url, e.Name(), after, response.detail));
    default:
      return Fail(e, StatusCode::kUnavailable, /*retry=*/true,
                  fmt::format("{} at {} ended its answer{} without finishing it", e.Name(), e.base_url, after));
  }
}

std::optional<WireAllowances> AllowancesAfterRefusal(const WireAllowances& sent, int64_t asked_tokens,
                                                     const WireError& error) {
  const std::string message = Lower(error.message);
  WireAllowances allowances = sent;
  const bool unknown = Contains(message, "unsupported") || Contains(message, "not supported") ||
                       Contains(message, "unrecognized") || Contains(message, "unknown") ||
                       Contains(message, "extra") || Contains(message, "not permitted") ||
                       Contains(message, "unexpected");
  if (sent.stream_options && Contains(message, "stream_options")) {
    allowances.stream_options = false;
  } else if (unknown && !sent.max_completion_tokens && Contains(message, "max_completion_tokens")) {
    allowances.max_completion_tokens = true;  // "'max_tokens' is not supported … use 'max_completion_tokens'"
  } else if (unknown && sent.max_completion_tokens && Contains(message, "max_completion_tokens")) {
    allowances.max_completion_tokens = false;
  } else if (sent.temperature && Contains(message, "temperature")) {
    allowances.temperature = false;
  } else if (asked_tokens > 1024 && (Contains(message, "max_tokens") || Contains(message, "max_completion_tokens") ||
                                     Contains(message, "output tokens") || Contains(message, "completion tokens") ||
                                     Contains(message, "context length") || Contains(message, "context window"))) {
    // The limit is halved at each refusal: the largest accepted one depends on the prompt, and its wording differs
    // between services.
    allowances.max_tokens = std::max<int64_t>(1024, asked_tokens / 2);
  } else {
    return std::nullopt;
  }
  return allowances;
}

}  // namespace hone
