// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/model_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/nearest_word.h"
#include "base/text/toml_document.h"

namespace hone {
namespace {

Status WrongUrl(std::string_view url, std::string_view why) {
  return Status::InvalidArgument(fmt::format("base URL '{}' {}; write it as http://HOST:PORT/v1", url, why));
}

}  // namespace

// Returns the kinds of providers, with how each is written and whether an argument follows the colon.
const std::vector<ProviderKind>& ProviderKinds() {
  static const std::vector<ProviderKind> kinds = {
      {"builtin", "builtin", false},         {"openai", "openai:NAME", true},
      {"anthropic", "anthropic:NAME", true}, {"exec", "exec:COMMAND", true},
      {"agent", "agent:COMMAND", true},
      {"mailbox", "mailbox:DIR", true},      {"replay", "replay:RUN or replay:FILE.jsonl", true},
  };
  return kinds;
}

std::string ProviderList() {
  std::string list;
  for (const ProviderKind& kind : ProviderKinds()) list += (list.empty() ? "" : ", ") + std::string(kind.usage);
  return list;
}

Result<ModelSpec> ParseModelSpec(std::string_view text, const std::vector<std::string>& roles) {
  ModelSpec spec;
  std::string_view provider_and_model = text;
  const size_t equals = text.find('='), colon = text.find(':');
  if (equals != std::string_view::npos && equals < colon) {  // otherwise the '=' is part of the argument
    spec.role = text.substr(0, equals);
    provider_and_model = text.substr(equals + 1);
    if (std::find(roles.begin(), roles.end(), spec.role) == roles.end()) {
      return Status::InvalidArgument(
          fmt::format("model '{}': there is no role '{}'{}", text, spec.role, Suggestion(spec.role, roles)));
    }
  }
  const size_t separator = provider_and_model.find(':');
  spec.kind = provider_and_model.substr(0, separator);
  spec.argument = separator == std::string_view::npos ? "" : provider_and_model.substr(separator + 1);
  std::vector<std::string> names;
  for (const ProviderKind& kind : ProviderKinds()) {
    names.emplace_back(kind.name);
    if (kind.name != spec.kind) continue;
    if (kind.takes_argument && spec.argument.empty()) {
      return Status::InvalidArgument(fmt::format("model '{}' needs an argument: {}", text, kind.usage));
    }
    if (!kind.takes_argument && separator != std::string_view::npos) {
      return Status::InvalidArgument(fmt::format("model '{}' takes no argument: write {}", text, kind.usage));
    }
    return spec;
  }
  return Status::InvalidArgument(fmt::format("there is no model provider '{}'{}; there are {}", spec.kind,
                                             DidYouMean(spec.kind, names), ProviderList()));
}

Result<ServiceModel> ParseServiceModel(std::string_view kind, std::string_view argument) {
  ServiceModel model;
  // A model's name may contain an '@': only one before a URL separates.
  const size_t at = std::min(argument.find("@http://"), argument.find("@https://"));
  model.name = argument.substr(0, at);
  if (model.name.empty()) {
    return Status::InvalidArgument(fmt::format("{}:{} names no model: write {}:NAME@URL", kind, argument, kind));
  }
  if (at == std::string_view::npos) return model;
  std::string_view url = argument.substr(at + 1);
  if (const size_t hash = url.find('#'); hash != std::string_view::npos) {
    model.key_variable = url.substr(hash + 1);
    url = url.substr(0, hash);
    if (!IsIdentifier(model.key_variable)) {
      return Status::InvalidArgument(fmt::format(
          "what follows the '#' of a model's URL is the name of the environment variable with the key, as in "
          "{}:{}@{}#MY_API_KEY",
          kind, model.name, url));
    }
  }
  HONE_ASSIGN_OR_RETURN(model.base_url, NormalizeBaseUrl(url, kind));
  return model;
}

Result<std::string> NormalizeBaseUrl(std::string_view url, std::string_view kind) {
  const size_t scheme = url.find("://");
  const bool is_http = url.starts_with("http://") || url.starts_with("https://");
  if (!is_http)
    return WrongUrl(url, scheme == std::string_view::npos ? "has no http:// or https://" : "is neither http nor https");
  std::string_view host_and_path = url.substr(scheme + 3);
  const std::string_view authority = host_and_path.substr(0, host_and_path.find('/'));
  if (authority.find('@') != std::string_view::npos) {
    // The message does not contain the URL, which has a password.
    return Status::InvalidArgument(
        "the base URL holds a user name or a password; put the key into an environment variable and name it with "
        "--key-env");
  }
  if (HostOf(url).empty()) return WrongUrl(url, "names no host");
  if (url.find_first_of(" \t\r\n?#") != std::string_view::npos) return WrongUrl(url, "holds a blank, a '?' or a '#'");
  while (url.ends_with('/')) url.remove_suffix(1);
  for (const std::string_view ending : {"/chat/completions", "/messages"}) {
    if (url.ends_with(ending)) url.remove_suffix(ending.size());
  }
  while (url.ends_with('/')) url.remove_suffix(1);
  std::string base(url);
  // Compatible servers have the interface below /v1, which users often leave out: "http://host:8000".
  if (kind == "openai" && base.find('/', scheme + 3) == std::string::npos) base += "/v1";
  return base;
}

std::string HostOf(std::string_view url) {
  const size_t scheme = url.find("://");
  std::string_view host_and_path = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  host_and_path = host_and_path.substr(0, host_and_path.find_first_of("/?#"));
  if (const size_t at = host_and_path.rfind('@'); at != std::string_view::npos) host_and_path.remove_prefix(at + 1);
  if (host_and_path.starts_with('[')) return std::string(host_and_path.substr(0, host_and_path.find(']') + 1));
  return std::string(host_and_path.substr(0, host_and_path.find(':')));
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || host == "[::1]";
}

}  // namespace hone
