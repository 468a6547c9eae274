// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/endpoint_setup.h"

#include <fmt/format.h>

#include <initializer_list>

#include "base/files/file.h"

namespace hone {
namespace {

// Returns the value of an environment variable.
std::optional<std::string> EnvironmentVariable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

std::string FirstVariable(const std::vector<std::string>& environment, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto value = EnvironmentVariable(environment, name); value && !value->empty()) return *value;
  }
  return "";
}

// Sets the endpoint's key and its variable. kInvalidArgument: the key is missing, or no header can carry it.
Status FindKey(const ChatWire& wire, const ServiceModel& model, const ProviderOptions& options, Endpoint& endpoint) {
  // A key belongs to one service. Another address gets only a key whose variable the user has named for it.
  endpoint.key_variable = !model.key_variable.empty()     ? model.key_variable
                          : !options.key_variable.empty() ? options.key_variable
                          : endpoint.own_service          ? wire.DefaultKeyVariable()
                                                          : "";
  if (endpoint.key_variable.empty()) return Status::Ok();
  endpoint.key = EnvironmentVariable(options.environment, endpoint.key_variable).value_or("");
  const size_t first = endpoint.key.find_first_not_of(" \t\r\n");
  endpoint.key = first == std::string::npos
                     ? ""
                     : endpoint.key.substr(first, endpoint.key.find_last_not_of(" \t\r\n") - first + 1);
  if (endpoint.key.empty()) {
    return Status::InvalidArgument(fmt::format(
        "{} needs a key, and the environment variable {} is {}; set it, name another variable with --key-env, or "
        "another endpoint with --base-url",
        endpoint.Name(), endpoint.key_variable,
        EnvironmentVariable(options.environment, endpoint.key_variable) ? "empty" : "not set"));
  }
  for (const char c : endpoint.key) {
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 127) {
      return Status::InvalidArgument(
          fmt::format("the key in {} holds a blank, a line break or another character that no key has; set it again",
                      endpoint.key_variable));
    }
  }
  return Status::Ok();
}

// Returns the model's price from the user's table, else from the built-in one; nullopt: unknown.
Result<std::optional<Price>> FindPrice(const Endpoint& endpoint, const ProviderOptions& options) {
  if (!options.prices_file.empty()) {
    HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(options.prices_file, 1 << 20));
    HONE_ASSIGN_OR_RETURN(PriceTable table, PriceTable::Parse(text, options.prices_file));
    if (const Price* price = table.Find(endpoint.Name())) return std::optional(*price);
  }
  // The built-in prices hold for the services' own endpoints. A model of the same name elsewhere has another price.
  const Price* price = endpoint.own_service ? PriceTable::BuiltIn().Find(endpoint.Name()) : nullptr;
  return price == nullptr ? std::optional<Price>() : std::optional(*price);
}

}  // namespace

Result<EndpointSetup> SetUpEndpoint(const ChatWire& wire, const ServiceModel& model, const ProviderOptions& options) {
  EndpointSetup setup;
  Endpoint& endpoint = setup.endpoint;
  endpoint.provider = wire.Provider();
  endpoint.model = model.name;
  endpoint.base_url = model.base_url;
  if (endpoint.base_url.empty() && !options.base_url.empty()) {
    HONE_ASSIGN_OR_RETURN(endpoint.base_url, NormalizeBaseUrl(options.base_url, endpoint.provider));
  }
  if (endpoint.base_url.empty()) endpoint.base_url = wire.DefaultBaseUrl();
  // Over plain http nothing proves the server's identity, so that it is not taken for the provider's own service.
  endpoint.own_service =
      HostOf(endpoint.base_url) == HostOf(wire.DefaultBaseUrl()) && endpoint.base_url.starts_with("https://");
  endpoint.url = wire.Url(endpoint.base_url);
  HONE_RETURN_IF_ERROR(FindKey(wire, model, options, endpoint));
  endpoint.redactor = Redactor({endpoint.key});
  HONE_ASSIGN_OR_RETURN(setup.price, FindPrice(endpoint, options));

  HttpRequest& base = setup.request;
  base.url = endpoint.url;
  base.headers = wire.Headers(endpoint.key);
  base.connect_seconds = options.connect_seconds;
  base.first_byte_seconds = options.first_byte_seconds;
  base.stall_seconds = options.stall_seconds;
  if (!IsLoopback(HostOf(endpoint.url))) {
    base.proxy = endpoint.url.starts_with("https://")
                     ? FirstVariable(options.environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                     : FirstVariable(options.environment, {"http_proxy", "all_proxy", "ALL_PROXY"});
    base.no_proxy = FirstVariable(options.environment, {"no_proxy", "NO_PROXY"});
  }
  return setup;
}

}  // namespace hone
