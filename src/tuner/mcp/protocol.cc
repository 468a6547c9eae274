// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/mcp/protocol.h"

#include <fmt/format.h>

#include "base/text/json_text.h"

namespace hone::mcp {
namespace {

constexpr const char* kVersionField = "io.modelcontextprotocol/protocolVersion";
constexpr const char* kCapabilitiesField = "io.modelcontextprotocol/clientCapabilities";
// Time for which a client may keep a list. It is short, because new tasks and runs appear while the server runs.
constexpr int kListHoldsMilliseconds = 5000;

}  // namespace

const std::vector<std::string>& SupportedVersions() {
  static const std::vector<std::string> versions{std::string(kStatelessVersion), std::string(kNewestSessionVersion),
                                                 "2025-06-18"};
  return versions;
}

EraOutcome EraOf(const Message& request) {
  EraOutcome outcome;
  const auto meta = request.params.find("_meta");
  const bool stateless = meta != request.params.end() && meta->is_object() && meta->contains(kVersionField);
  const auto refuse = [&](int code, std::string problem, Json data = nullptr) {
    outcome.era = Era::kStateless;
    outcome.code = code;
    outcome.problem = std::move(problem);
    outcome.data = std::move(data);
    return outcome;
  };
  if (!stateless) {
    // server/discover exists only in the stateless era, in which every request must name its revision.
    if (request.method == "server/discover") {
      return refuse(kInvalidParams, fmt::format("params._meta lacks \"{}\"", kVersionField));
    }
    return outcome;
  }
  const Json& version = meta->at(kVersionField);
  if (!version.is_string())
    return refuse(kInvalidParams, fmt::format("params._meta[\"{}\"] must be a string", kVersionField));
  if (version != kStatelessVersion) {
    return refuse(kUnsupportedVersion,
                  fmt::format("revision {} of the protocol is not spoken here", DumpJson(version).substr(0, 40)),
                  {{"supported", SupportedVersions()}, {"requested", version}});
  }
  if (!meta->contains(kCapabilitiesField) || !meta->at(kCapabilitiesField).is_object()) {
    return refuse(kInvalidParams, fmt::format("params._meta lacks the object \"{}\"", kCapabilitiesField));
  }
  outcome.era = Era::kStateless;
  return outcome;
}

std::string NegotiatedVersion(const Json& params) {
  const auto given_version = params.find("protocolVersion");
  if (given_version != params.end() && given_version->is_string() && *given_version != kStatelessVersion) {
    for (const std::string& version : SupportedVersions()) {
      if (*given_version == version) return version;
    }
  }
  return std::string(kNewestSessionVersion);
}

Json CompleteResult(Json result, Era era, Cacheable cacheable) {
  if (era == Era::kSession) return result;
  result["resultType"] = "complete";
  if (cacheable == Cacheable::kYes) {
    result["ttlMs"] = kListHoldsMilliseconds;
    result["cacheScope"] = "private";
  }
  return result;
}

}  // namespace hone::mcp
