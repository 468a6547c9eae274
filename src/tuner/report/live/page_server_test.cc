// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests over a real socket which requests get a page and which are refused.
#include "tuner/report/live/page_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Sends the bytes of `request` and returns everything received until the server closes the connection.
std::string SendAndReceive(uint16_t port, const std::string& request) {
  const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(s, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return close(s), "no connection";
  EXPECT_EQ(write(s, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string answer;
  char part[4096];
  for (ssize_t n; (n = read(s, part, sizeof part)) > 0;) answer.append(part, static_cast<size_t>(n));
  close(s);
  return answer;
}

class PageServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = PageServer::Listen(0, [](const std::string& path, const std::map<std::string, std::string>& query) {
      std::string body = "page " + path;
      for (const auto& [name, value] : query) body += " " + name + "=" + value;
      if (path == "/slow") std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return PageAnswer{200, "text/plain", body};
    });
    ASSERT_TRUE(server.ok()) << server.status().message();
    server_ = std::move(*server);
    thread_ = std::jthread([this](std::stop_token stop) { EXPECT_TRUE(server_->Serve(stop).ok()); });
    const std::string url = server_->url();
    token_ = url.substr(url.find("token=") + 6);
  }
  std::string Get(const std::string& target, const std::string& headers, const std::string& host = "") {
    return SendAndReceive(server_->port(),
                    fmt::format("GET {} HTTP/1.1\r\nHost: {}\r\n{}Connection: close\r\n\r\n", target,
                                host.empty() ? fmt::format("127.0.0.1:{}", server_->port()) : host, headers));
  }
  std::string Cookie() const { return fmt::format("Cookie: other=1; hone_report_{}={}\r\n", server_->port(), token_); }

  std::unique_ptr<PageServer> server_;
  std::string token_;
  std::jthread thread_;  // last member: destroyed before the server
};

TEST_F(PageServerTest, TheTokenBecomesACookieAndTheCookieOpensThePages) {
  EXPECT_EQ(token_.size(), 32u);
  const std::string first = Get("/?token=" + token_, "");
  EXPECT_THAT(first, AllOf(StartsWith("HTTP/1.1 303"), HasSubstr("Location: /\r\n"),
                           HasSubstr("HttpOnly; SameSite=Strict"), HasSubstr(token_)));
  const std::string page = Get("/compare?a=0&b=3%20x", Cookie());
  EXPECT_THAT(page,
              AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("page /compare a=0 b=3 x"),
                    HasSubstr("Content-Security-Policy: default-src 'none'"), HasSubstr("Cache-Control: no-store")));
}

TEST_F(PageServerTest, WithoutTheTokenThereIsNoPage) {
  for (const std::string& cookie :
       {std::string(), fmt::format("Cookie: hone_report_{}={}\r\n", server_->port(), std::string(32, '0')),
        "Cookie: hone_report_1=" + token_ + "\r\n", "Cookie: " + token_ + "\r\n"}) {
    EXPECT_THAT(Get("/", cookie), AllOf(StartsWith("HTTP/1.1 403"), Not(HasSubstr("page /")), Not(HasSubstr(token_))))
        << cookie;
  }
  EXPECT_THAT(Get("/?token=" + token_.substr(1), ""), StartsWith("HTTP/1.1 403"));
}

TEST_F(PageServerTest, ForeignHostsAndOriginsAreRefusedEvenWithTheCookie) {
  EXPECT_THAT(Get("/", Cookie(), "evil.example"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Get("/", Cookie(), fmt::format("evil.example:{}", server_->port())), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Get("/", Cookie() + "Origin: http://evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Get("/", Cookie() + "Origin: null\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(Get("/", Cookie() + fmt::format("Origin: http://localhost:{}\r\n", server_->port()),
                  fmt::format("localhost:{}", server_->port())),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(PageServerTest, OnlyReadingIsAnsweredAndNonsenseEndsNothing) {
  EXPECT_THAT(SendAndReceive(server_->port(),
                       fmt::format("POST / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}Content-Length: 1\r\nConnection: "
                                   "close\r\n\r\nx",
                                   server_->port(), Cookie())),
              Not(HasSubstr("page /")));
  EXPECT_THAT(SendAndReceive(server_->port(), "nonsense\r\n\r\n"), Not(HasSubstr("page /")));
  EXPECT_THAT(Get("/" + std::string(100'000, 'a'), Cookie()), Not(HasSubstr("page /a")));
  EXPECT_THAT(Get("//elsewhere.example/?token=" + token_, ""), Not(HasSubstr("Location: //")));
  EXPECT_THAT(Get("/after", Cookie()), HasSubstr("page /after"));
}

// A client asks for a page, says that it will ask no more, and resets the connection before the page is made. Writing to
// such a connection raises SIGPIPE, which ends a program.
TEST_F(PageServerTest, AClientThatLeavesBeforeItsPageComesEndsNothing) {
  std::signal(SIGPIPE, SIG_DFL);  // whoever started the test may ignore it
  const std::string request = fmt::format("GET /slow HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n{}\r\n", server_->port(), Cookie());
  for (int i = 0; i < 3; ++i) {
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(s, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(write(s, request.data(), request.size()), static_cast<ssize_t>(request.size()));
    shutdown(s, SHUT_WR);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const linger reset{1, 0};
    setsockopt(s, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(s);
  }
  EXPECT_THAT(Get("/after", Cookie()), HasSubstr("page /after"));
}

TEST_F(PageServerTest, APortThatIsTakenIsNamed) {
  const auto second = PageServer::Listen(server_->port(), [](const auto&, const auto&) { return PageAnswer{}; });
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), AllOf(HasSubstr(std::to_string(server_->port())), HasSubstr("--port 0")));
}

}  // namespace
}  // namespace hone
