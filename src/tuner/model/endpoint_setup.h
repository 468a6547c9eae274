// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// From what a user said (a model's name, options, environment variables) to an endpoint that can be asked: address,
// key, proxy, time limits, price.
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
  HttpRequest request;         // all but the body and the total time
  std::optional<Price> price;  // empty: not known
};

// kInvalidArgument for a missing key of the provider's own service, for a key that no header can carry, for a wrong
// URL, and for what is wrong in `options.prices_file`.
Result<EndpointSetup> SetUpEndpoint(const ChatWire& wire, const ServiceModel& model, const ProviderOptions& options);

}  // namespace hone
