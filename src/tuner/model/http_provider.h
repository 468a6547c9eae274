// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A model behind an HTTP endpoint: openai: and anthropic:. The wire format says what the bytes mean, endpoint.h what
// a failure means; here is the loop of attempts between them.
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

// Time and chance, so that tests need not wait for the one and know the other.
struct HttpProviderHooks {
  std::function<double()> unix_now;  // seconds since 1970
  // False when `stop` was asked for meanwhile.
  std::function<bool(double seconds, std::stop_token stop)> sleep;
  uint64_t seed = 0;  // of the jitter
  BackoffOptions backoff;
  // How long after a reply's last word its token counts and its end are waited for: some servers send neither and
  // keep the connection.
  double trailer_seconds = 5;
};
HttpProviderHooks SystemHooks();

// Errors as SetUpEndpoint (endpoint_setup.h).
Result<std::unique_ptr<ModelProvider>> MakeHttpProvider(std::unique_ptr<ChatWire> wire, const ServiceModel& model,
                                                        const ProviderOptions& options, HttpProviderHooks hooks);

}  // namespace hone
