// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes the models openai: and anthropic:, which are behind an HTTP endpoint. ChatWire defines the bytes, endpoint.h
// classifies failures; this file has the loop of attempts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "hone/tuner/model_provider.h"
#include "tuner/model/chat_wire.h"
#include "tuner/model/model_spec.h"
#include "tuner/model/retry.h"

namespace hone {

// Time and randomness, replaceable for tests.
struct HttpProviderHooks {
  std::function<double()> unix_now;  // seconds since 1970
  // Waits; returns false when `stop` was requested meanwhile.
  std::function<bool(double seconds, std::stop_token stop)> sleep;
  uint64_t seed = 0;  // for the delays' jitter
  BackoffOptions backoff;
  // Limit for waiting, once a reply's text is complete, for its token counts and the stream's end: some servers send
  // neither and keep the connection open.
  double trailer_seconds = 5;
};
// Returns hooks with the real clock, and a seed that differs from process to process.
HttpProviderHooks SystemHooks();

// Makes the provider. Errors as from SetUpEndpoint (endpoint_setup.h).
Result<std::unique_ptr<ModelProvider>> MakeHttpProvider(std::unique_ptr<ChatWire> wire, const ServiceModel& model,
                                                        const ProviderOptions& options, HttpProviderHooks hooks);

}  // namespace hone
