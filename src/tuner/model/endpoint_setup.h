// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a user's settings (a model's name, options, environment variables) into an endpoint: address, key, proxy, time
// limits, price.
#pragma once

#include <optional>

#include "hone/tuner/model_provider.h"
#include "tuner/model/chat_wire.h"
#include "tuner/model/endpoint.h"
#include "tuner/model/http_client.h"
#include "tuner/model/model_spec.h"
#include "tuner/model/prices.h"

namespace hone {

struct EndpointSetup {
  Endpoint endpoint;
  HttpRequest request;         // everything except the body and the total time
  std::optional<Price> price;  // empty: unknown
};

// Sets up an endpoint. kInvalidArgument for a missing key of the provider's own service, a key that no header can
// carry, a wrong URL, and errors in `options.prices_file`.
Result<EndpointSetup> SetUpEndpoint(const ChatWire& wire, const ServiceModel& model, const ProviderOptions& options);

}  // namespace hone
