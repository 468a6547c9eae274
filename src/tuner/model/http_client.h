// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Sends one HTTP POST and reads the answer as it arrives, with strict time limits and immediate cancellation.
//
// libcurl implements the protocol; the time limits are implemented here, because libcurl's do not cover a stream that
// goes silent.
// Redirects are not followed: a key must not be sent to an address that the user did not name. No environment variable
// is read.
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
  std::string proxy;     // the proxy's URL; empty: none
  std::string no_proxy;  // hosts that are reached without the proxy, comma-separated
  double connect_seconds = 15;      // longest time to connect
  double first_byte_seconds = 300;  // longest time from the start to the first byte of the answer's body
  double stall_seconds = 120;       // longest time between two bytes of the body
  double total_seconds = 600;       // longest time in all
};

// Why a transfer ended.
enum class HttpEnd {
  kWhole,       // the answer is complete
  kStopped,     // on_bytes returned false
  kNotReached,  // no connection: unknown name, no route, refused, TLS failed
  kDropped,     // the connection broke before the end
  kSilent,      // nothing came within first_byte_seconds
  kStalled,     // bytes came, then none for stall_seconds
  kOutOfTime,   // total_seconds have passed
  kCancelled,   // `stop` was requested
};

struct HttpResponse {
  int status = 0;                              // 0: no answer line came
  std::map<std::string, std::string> headers;  // names in lower case; of the server's answer, not of a proxy's
  HttpEnd end = HttpEnd::kWhole;               // why the transfer ended
  std::string detail;        // libcurl's text when the end is kNotReached or kDropped
  bool certificate = false;  // kNotReached because the server's certificate was not accepted
};

struct HttpEvents {
  // Called with each piece of the body as it arrives; the response's status and headers are set. Returns false to stop
  // reading.
  std::function<bool(const HttpResponse&, std::string_view)> on_bytes;
  std::function<bool()> on_tick;  // called about ten times a second; returns false to stop reading
};

// Sends the request and blocks until its end. Thread-safe; callbacks run on the caller's thread. Every outcome is a
// value; a Status (kUnavailable) means that libcurl is missing.
Result<HttpResponse> HttpPost(const HttpRequest& request, const HttpEvents& events, std::stop_token stop);

}  // namespace hone
