// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// One HTTP POST whose answer is read as it comes, under time limits that hold, and that ends at once when asked to.
//
// libcurl does the protocol; the clocks are ours, because its own limits know nothing of a stream that goes silent.
// Redirects are not followed: a key must not travel to a place nobody named. No environment variable is read.
#pragma once

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"

namespace hone {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  std::string proxy;     // empty: none
  std::string no_proxy;  // hosts that are reached without it, comma-separated
  double connect_seconds = 15;
  double first_byte_seconds = 300;  // from the start to the first byte of the answer's body
  double stall_seconds = 120;       // between two bytes of the body
  double total_seconds = 600;
};

enum class HttpEnd {
  kWhole,       // the answer came to its end
  kStopped,     // on_bytes had enough
  kNotReached,  // no connection: name, route, refusal, TLS
  kDropped,     // the connection broke before the end
  kSilent,      // nothing came within first_byte_seconds
  kStalled,     // bytes came, then none for stall_seconds
  kOutOfTime,   // total_seconds
  kCancelled,   // `stop`
};

struct HttpResponse {
  int status = 0;                              // 0: no answer line came
  std::map<std::string, std::string> headers;  // names in lower case; of the last answer, not of a proxy's
  HttpEnd end = HttpEnd::kWhole;
  std::string detail;        // libcurl's own words when the end is kNotReached or kDropped
  bool certificate = false;  // kNotReached because the server's certificate was not accepted
};

struct HttpEvents {
  // A piece of the body, as it came; status and headers are known. False: read no further.
  std::function<bool(const HttpResponse&, std::string_view)> on_bytes;
  std::function<bool()> on_tick;  // ten times a second or so. False: read no further
};

// Blocks. Any number of threads may post at once; the callbacks run on the caller's. Every end is a value; a Status
// (kUnavailable) means that there is no libcurl.
Result<HttpResponse> HttpPost(const HttpRequest& request, const HttpEvents& events, std::stop_token stop);

}  // namespace hone
