// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// The two eras of the Model Context Protocol that one server speaks at once.
//
// Until revision 2025-11-25 a client opens a session by `initialize`. From 2026-07-28 on there are no sessions: each
// request says its revision and the client's capabilities in `params._meta`, each result says its type, and lists say
// how long they hold. Which era a request belongs to is decided request by request.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/mcp/message.h"

namespace hone::mcp {

enum class Era { kSession, kStateless };

inline constexpr std::string_view kStatelessVersion = "2026-07-28";
inline constexpr std::string_view kNewestSessionVersion = "2025-11-25";
// What a server with both eras understands, newest first.
const std::vector<std::string>& SupportedVersions();

// The request's era, or what is wrong with what it says about it.
struct EraOutcome {
  Era era = Era::kSession;
  int code = 0;  // other than 0: the request is refused with this code
  std::string problem;
  Json data;
};
EraOutcome EraOf(const Message& request);

// The revision that `initialize` is answered with: the one asked for where it has sessions and is known.
std::string NegotiatedVersion(const Json& params);

// What lists and resources say about how long they hold.
enum class Cacheable { kNo, kYes };
// Adds what the era asks of every result.
Json Finished(Json result, Era era, Cacheable cacheable = Cacheable::kNo);

}  // namespace hone::mcp
