// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Asks a model behind an HTTP endpoint, openai: or anthropic:. The wire format defines the bytes, endpoint.h classifies
// failures; this file has the loop of attempts.
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
  // Returns false when `stop` was requested meanwhile.
  std::function<bool(double seconds, std::stop_token stop)> sleep;
  uint64_t seed = 0;  // for the jitter
  BackoffOptions backoff;
  // Time to wait after a reply's last word for its token counts and its end: some servers send neither and keep the
  // connection open.
  double trailer_seconds = 5;
};
HttpProviderHooks SystemHooks();

// Makes the provider. Errors as from SetUpEndpoint (endpoint_setup.h).
Result<std::unique_ptr<ModelProvider>> MakeHttpProvider(std::unique_ptr<ChatWire> wire, const ServiceModel& model,
                                                        const ProviderOptions& options, HttpProviderHooks hooks);

}  // namespace hone
