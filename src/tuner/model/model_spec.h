// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Parses `--model`: "[ROLE=]KIND[:ARGUMENT]", where a service's ARGUMENT is "NAME[@URL[#VARIABLE]]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

// Describes one kind of model provider, as help and error messages list it.
struct ProviderKind {
  const char* name;     // "openai"
  const char* usage;    // "openai:NAME"
  bool takes_argument;  // text after a colon is required
};
const std::vector<ProviderKind>& ProviderKinds();
std::string ProviderList();  // "builtin, openai:NAME, …"

struct ModelSpec {
  std::string role;      // empty: for every role without a model of its own
  std::string kind;      // one of ProviderKinds()
  std::string argument;  // text after the first colon; non-empty when the kind takes an argument
};
// Parses one model. kInvalidArgument for an unknown kind, with the nearest kind and a list of all; for a missing
// argument; for a role that is not in `roles`, with the nearest role.
Result<ModelSpec> ParseModelSpec(std::string_view text, const std::vector<std::string>& roles);

// The parsed argument of openai: and anthropic:.
struct ServiceModel {
  std::string name;          // "gpt-5"; never empty
  std::string base_url;      // without a slash at its end; empty: not given
  std::string key_variable;  // environment variable with the key; empty: not given
};
Result<ServiceModel> ParseServiceModel(std::string_view kind, std::string_view argument);

// Converts an endpoint as a user may write it ("http://host:8000", "…/v1/", "…/v1/chat/completions") to a base URL for
// `kind`. kInvalidArgument for a URL that is not http or https, or that contains a password.
Result<std::string> NormalizeBaseUrl(std::string_view url, std::string_view kind);
// Returns "api.openai.com" for "https://api.openai.com:443/v1", "[::1]" for "http://[::1]:80".
std::string HostOf(std::string_view url);
// Returns whether a host is this machine: "localhost", "127.0.0.1", "[::1]".
bool IsLoopback(std::string_view host);

}  // namespace hone
