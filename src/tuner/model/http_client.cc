// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/http_client.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>

#include "base/clock.h"
#include "tuner/model/curl_library.h"

namespace hone {
namespace {

// The state that the callbacks of one transfer share.
struct Transfer {
  const HttpEvents* events = nullptr;
  HttpResponse response;
  std::optional<double> last_byte;  // SteadySeconds() when the latest piece of the body came
  bool enough = false;
};

// Receives one line of the answer's header from libcurl.
size_t OnHeader(char* bytes, size_t size, size_t count, void* context) {
  HttpResponse& response = static_cast<Transfer*>(context)->response;
  std::string_view line(bytes, size * count);
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) {  // another answer begins, after "100 Continue" or a proxy's
    response.headers.clear();
    const size_t space = line.find(' ');
    response.status = space == std::string_view::npos ? 0 : std::atoi(std::string(line.substr(space + 1, 3)).c_str());
  } else if (const size_t colon = line.find(':'); colon != std::string_view::npos) {
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    response.headers[name] = value;
  }
  return size * count;
}

// Receives a piece of the answer's body from libcurl.
size_t OnBody(char* bytes, size_t size, size_t count, void* context) {
  Transfer& transfer = *static_cast<Transfer*>(context);
  if (size * count == 0) return 0;
  transfer.last_byte = SteadySeconds();
  if (transfer.events->on_bytes && !transfer.events->on_bytes(transfer.response, {bytes, size * count})) {
    transfer.enough = true;
    return 0;  // makes libcurl end the transfer
  }
  return size * count;
}

// Returns why a transfer ended, from the code that libcurl gives.
HttpEnd EndOf(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpEnd::kWhole;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_OPERATION_TIMEDOUT:  // only CURLOPT_CONNECTTIMEOUT is set; other limits are checked here
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PROXY:
      return HttpEnd::kNotReached;
    default:
      return HttpEnd::kDropped;
  }
}

// The next time limit to expire, and how the transfer then ends.
struct Deadline {
  double at;
  HttpEnd end;
};
Deadline NextDeadline(const HttpRequest& request, const Transfer& transfer, double start) {
  Deadline next_deadline{start + request.total_seconds, HttpEnd::kOutOfTime};
  const Deadline silence = transfer.last_byte ? Deadline{*transfer.last_byte + request.stall_seconds, HttpEnd::kStalled}
                                              : Deadline{start + request.first_byte_seconds, HttpEnd::kSilent};
  return silence.at < next_deadline.at ? silence : next_deadline;
}

// Owns the handles of one transfer.
class Handles {
 public:
  explicit Handles(const CurlLibrary& curl) : curl_(curl), easy(curl.easy_init()), multi(curl.multi_init()) {}
  ~Handles() {
    if (multi != nullptr && added) curl_.multi_remove_handle(multi, easy);
    if (easy != nullptr) curl_.easy_cleanup(easy);
    if (multi != nullptr) curl_.multi_cleanup(multi);
    curl_.slist_free_all(headers);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

 private:
  const CurlLibrary& curl_;

 public:
  CURL* const easy;
  CURLM* const multi;
  curl_slist* headers = nullptr;
  bool added = false;
};

}  // namespace

Result<HttpResponse> HttpPost(const HttpRequest& request, const HttpEvents& events, std::stop_token stop) {
  HONE_ASSIGN_OR_RETURN(const CurlLibrary* curl, LoadCurl());
  Handles handles(*curl);
  if (handles.easy == nullptr || handles.multi == nullptr) return Status::Unavailable("libcurl made no handle");
  Transfer transfer;
  transfer.events = &events;
  char error[CURL_ERROR_SIZE] = "";

  for (const std::string& header : request.headers) {
    handles.headers = curl->slist_append(handles.headers, header.c_str());
  }
  // Without this, a large request waits a second for a "100 Continue" that many servers never send.
  handles.headers = curl->slist_append(handles.headers, "Expect:");
  const auto set_option = [&](CURLoption option, auto value) { (void)curl->easy_setopt(handles.easy, option, value); };
  set_option(CURLOPT_URL, request.url.c_str());
  set_option(CURLOPT_POST, 1L);
  set_option(CURLOPT_POSTFIELDS, request.body.data());
  set_option(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  set_option(CURLOPT_HTTPHEADER, handles.headers);
  set_option(CURLOPT_USERAGENT, "hone");
  set_option(CURLOPT_PROXY,
             request.proxy.c_str());  // set even if empty, since libcurl would otherwise read environment variables
  set_option(CURLOPT_NOPROXY, request.no_proxy.c_str());
  set_option(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set_option(CURLOPT_FOLLOWLOCATION, 0L);
  set_option(CURLOPT_NOSIGNAL, 1L);
  set_option(CURLOPT_TCP_KEEPALIVE, 1L);
  set_option(CURLOPT_CONNECTTIMEOUT_MS, std::max(1L, static_cast<long>(request.connect_seconds * 1e3)));
  set_option(CURLOPT_ERRORBUFFER, error);
  set_option(CURLOPT_HEADERFUNCTION, &OnHeader);
  set_option(CURLOPT_HEADERDATA, &transfer);
  set_option(CURLOPT_WRITEFUNCTION, &OnBody);
  set_option(CURLOPT_WRITEDATA, &transfer);
  // CURLOPT_QUICK_EXIT: a cancelled request does not wait for a slow name server (libcurl 7.87 and newer; older
  // versions refuse the option).
  set_option(static_cast<CURLoption>(CURLOPTTYPE_LONG + 322), 1L);
  if (curl->multi_add_handle(handles.multi, handles.easy) != CURLM_OK) {
    return Status::Unavailable("libcurl took no transfer");
  }
  handles.added = true;

  HttpResponse& response = transfer.response;
  const std::stop_callback wake(stop, [&] { curl->multi_wakeup(handles.multi); });
  const double start = SteadySeconds();
  while (true) {
    if (stop.stop_requested()) {
      response.end = HttpEnd::kCancelled;
      return response;
    }
    int running = 0;
    if (const CURLMcode code = curl->multi_perform(handles.multi, &running); code != CURLM_OK) {
      response.end = HttpEnd::kDropped;
      response.detail = curl->multi_strerror(code);
      return response;
    }
    int messages_left = 0;
    for (CURLMsg* message; (message = curl->multi_info_read(handles.multi, &messages_left)) != nullptr;) {
      if (message->msg != CURLMSG_DONE) continue;
      const CURLcode code = message->data.result;
      response.end = transfer.enough ? HttpEnd::kStopped : EndOf(code);
      if (code != CURLE_OK) response.detail = error[0] != '\0' ? error : curl->easy_strerror(code);
      response.certificate = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
      return response;
    }
    const Deadline deadline = NextDeadline(request, transfer, start);
    const double now = SteadySeconds();
    if (now >= deadline.at) {
      response.end = deadline.end;
      return response;
    }
    if (events.on_tick && !events.on_tick()) {
      response.end = HttpEnd::kStopped;
      return response;
    }
    const int wait_ms = std::clamp(static_cast<int>((deadline.at - now) * 1e3) + 1, 1, 100);
    curl->multi_poll(handles.multi, nullptr, 0, wait_ms, nullptr);
  }
}

}  // namespace hone
