// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// This file handles the two eras of the Model Context Protocol, both of which a server supports at the same time.
//
// Until revision 2025-11-25 a client opens a session by `initialize`. From 2026-07-28 on there are no sessions: each
// request states its revision and the client's capabilities in `params._meta`, each result states its type, and lists
// state how long they are valid. The era is decided request by request.
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
// Revisions that a server with both eras supports, newest first.
const std::vector<std::string>& SupportedVersions();

// An EraOutcome is a request's era, or the error for a request that states its era wrongly.
struct EraOutcome {
  Era era = Era::kSession;
  int code = 0;         // not 0: the request is refused with this error code
  std::string problem;  // message of that error
  Json data;            // data of that error; null: none
};
EraOutcome EraOf(const Message& request);

// Returns the revision for the answer to `initialize`: the requested one if it has sessions and is supported, otherwise
// the newest with sessions.
std::string NegotiatedVersion(const Json& params);

// Whether a result may be cached; lists and resources state for how long.
enum class Cacheable { kNo, kYes };
// Returns `result` with the fields that the era requires in every result.
Json CompleteResult(Json result, Era era, Cacheable cacheable = Cacheable::kNo);

}  // namespace hone::mcp
