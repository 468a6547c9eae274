// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/live/page_server.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/util.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "base/numbers/random.h"
#include "base/text/markup.h"
#include "tuner/report/page.h"

namespace hone {
namespace {

template <class T, void (*Free)(T*)>
struct Deleter {
  void operator()(T* p) const { Free(p); }
};
using EventBase = std::unique_ptr<event_base, Deleter<event_base, event_base_free>>;
using Http = std::unique_ptr<evhttp, Deleter<evhttp, evhttp_free>>;
using Timer = std::unique_ptr<event, Deleter<event, event_free>>;
using Buffer = std::unique_ptr<evbuffer, Deleter<evbuffer, evbuffer_free>>;
using Uri = std::unique_ptr<evhttp_uri, Deleter<evhttp_uri, evhttp_uri_free>>;

// Compares in constant time, so that a token cannot be guessed byte by byte.
bool SameSecret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

// Returns the value of `name` in "a=1; b=2"; empty: it is not there.
std::string_view CookieValue(std::string_view cookies, std::string_view name) {
  while (!cookies.empty()) {
    const size_t end = std::min(cookies.find(';'), cookies.size());
    std::string_view one = cookies.substr(0, end);
    cookies.remove_prefix(std::min(end + 1, cookies.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (one.size() > name.size() && one.starts_with(name) && one[name.size()] == '=')
      return one.substr(name.size() + 1);
  }
  return {};
}

PageAnswer Refusal(int status, std::string_view sentence) {
  return {status, "text/html; charset=utf-8",
          HtmlPage("Hone", fmt::format("<h1>{}</h1>\n<p>{}</p>\n", status, EscapeMarkup(sentence)))};
}

// Blocks SIGPIPE for the calling thread: libevent writes to a connection that the client may have closed, and the signal
// would end the program. A signal that came meanwhile is taken before the old mask returns.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) != 0;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

class LoopbackServer final : public PageServer {
 public:
  // Listens on the port of the loopback interface; 0: on a free one.
  explicit LoopbackServer(Handler handler)
      : handler_(std::move(handler)), token_(fmt::format("{:016x}{:016x}", SystemSeed(), SystemSeed())) {}

  Status Open(uint16_t port) {
    base_.reset(event_base_new());
    http_.reset(base_ ? evhttp_new(base_.get()) : nullptr);
    if (!http_)
      return Status::Unavailable("the page's server could not be started: no memory or no descriptors are left");
    evhttp_set_allowed_methods(http_.get(), EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
    evhttp_set_max_headers_size(http_.get(), 32 * 1024);
    evhttp_set_max_body_size(http_.get(), 1024);
    evhttp_set_timeout(http_.get(), 30);
    evhttp_set_gencb(
        http_.get(), [](evhttp_request* request, void* self) { static_cast<LoopbackServer*>(self)->Answer(request); },
        this);
    evhttp_bound_socket* bound = evhttp_bind_socket_with_handle(http_.get(), "127.0.0.1", port);
    if (bound == nullptr) {
      return Status::Unavailable(fmt::format(
          "port {} of 127.0.0.1 cannot be listened on: {}; --port 0 takes a free one", port, std::strerror(errno)));
    }
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (getsockname(evhttp_bound_socket_get_fd(bound), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      return Status::Unavailable(fmt::format("the page's port is not known: {}", std::strerror(errno)));
    }
    port_ = ntohs(address.sin_port);
    cookie_ = fmt::format("hone_report_{}", port_);
    return Status::Ok();
  }

  uint16_t port() const override { return port_; }
  std::string url() const override { return fmt::format("http://127.0.0.1:{}/?token={}", port_, token_); }

  Status Serve(std::stop_token stop) override {
    const NoPipeSignal no_pipe_signal;
    struct Watch {
      event_base* base;
      std::stop_token stop;
    } watch{base_.get(), std::move(stop)};
    const Timer timer(event_new(
        base_.get(), -1, EV_PERSIST,
        [](evutil_socket_t, short, void* data) {
          const auto* w = static_cast<const Watch*>(data);
          if (w->stop.stop_requested()) event_base_loopbreak(w->base);
        },
        &watch));
    const timeval tenth{0, 100'000};
    if (!timer || event_add(timer.get(), &tenth) != 0)
      return Status::Unavailable("the page's server could not start its clock");
    if (event_base_dispatch(base_.get()) < 0)
      return Status::Unavailable("the page's server stopped: its event loop failed");
    return Status::Ok();
  }

 private:
  bool IsOurs(std::string_view host) const {
    return host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_);
  }

  // Answers a request, after checking its token and the page that it comes from.
  void Answer(evhttp_request* request) {
    evkeyvalq* in = evhttp_request_get_input_headers(request);
    const auto header = [in](const char* name) {
      const char* value = evhttp_find_header(in, name);
      return std::string_view(value == nullptr ? "" : value);
    };
    std::string_view origin = header("Origin");
    if (!IsOurs(header("Host")) || (!origin.empty() && !(origin.starts_with("http://") && IsOurs(origin.substr(7))))) {
      return Send(
          request,
          Refusal(403, "This page answers requests for 127.0.0.1 or localhost only, and to no other site's pages."));
    }
    const Uri uri(evhttp_uri_parse(evhttp_request_get_uri(request)));
    if (!uri) return Send(request, Refusal(400, "The address cannot be read."));
    std::map<std::string, std::string> query;
    if (const char* text = evhttp_uri_get_query(uri.get()); text != nullptr) {
      evkeyvalq pairs{};
      if (evhttp_parse_query_str(text, &pairs) == 0) {
        for (const evkeyval* p = pairs.tqh_first; p != nullptr; p = p->next.tqe_next) query[p->key] = p->value;
      }
      evhttp_clear_headers(&pairs);
    }
    const char* raw = evhttp_uri_get_path(uri.get());
    const std::string path = raw == nullptr || *raw == 0 ? "/" : raw;
    if (const auto token = query.find("token"); token != query.end() && SameSecret(token->second, token_)) {
      // Redirects to the address without the token, so that the browser's address bar and history do not contain it.
      evkeyvalq* out = evhttp_request_get_output_headers(request);
      evhttp_add_header(out, "Set-Cookie",
                        fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_, token_).c_str());
      evhttp_add_header(out, "Location", path.starts_with("//") ? "/" : path.c_str());
      return Send(request, {303, "text/plain; charset=utf-8", ""});
    }
    if (!SameSecret(CookieValue(header("Cookie"), cookie_), token_)) {
      return Send(
          request,
          Refusal(403, "The address lacks its token. Open the address that `hone report --serve` printed, whole."));
    }
    Send(request, handler_(path, query));
  }

  // Sends an answer with the headers that keep the page from loading anything else.
  static void Send(evhttp_request* request, const PageAnswer& answer) {
    evkeyvalq* out = evhttp_request_get_output_headers(request);
    evhttp_add_header(out, "Content-Type", answer.type.c_str());
    evhttp_add_header(out, "Cache-Control", "no-store");
    evhttp_add_header(out, "X-Content-Type-Options", "nosniff");
    evhttp_add_header(out, "Referrer-Policy", "no-referrer");
    evhttp_add_header(
        out, "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; form-action "
        "'self'; base-uri 'none'; frame-ancestors 'none'");
    const Buffer body(evbuffer_new());
    if (body) evbuffer_add(body.get(), answer.body.data(), answer.body.size());
    const char* reason = answer.status == 200   ? "OK"
                         : answer.status == 303 ? "See Other"
                         : answer.status == 400 ? "Bad Request"
                         : answer.status == 403 ? "Forbidden"
                         : answer.status == 404 ? "Not Found"
                                                : "Internal Server Error";
    evhttp_send_reply(request, answer.status, reason, body.get());
  }

  Handler handler_;
  std::string token_, cookie_;
  uint16_t port_ = 0;
  EventBase base_;
  Http http_;  // declared after the base it belongs to, so that it is destroyed first
};

}  // namespace

Result<std::unique_ptr<PageServer>> PageServer::Listen(uint16_t port, Handler handler) {
  auto server = std::make_unique<LoopbackServer>(std::move(handler));
  HONE_RETURN_IF_ERROR(server->Open(port));
  return std::unique_ptr<PageServer>(std::move(server));
}

}  // namespace hone
