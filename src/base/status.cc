// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/base/status.h"

#include <cstdio>

namespace hone {

std::string_view StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid_argument";
    case StatusCode::kNotFound: return "not_found";
    case StatusCode::kUnavailable: return "unavailable";
    case StatusCode::kIo: return "io";
    case StatusCode::kDevice: return "device";
    case StatusCode::kResourceExhausted: return "resource_exhausted";
    case StatusCode::kTimedOut: return "timed_out";
    case StatusCode::kCancelled: return "cancelled";
    case StatusCode::kPending: return "pending";
    case StatusCode::kInternal: return "internal";
  }
  return "unknown";
}

void CheckFailed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "hone: broken invariant at %s:%d: %s (%s)\n", file, line, message.c_str(), condition);
  std::abort();
}

}  // namespace hone
