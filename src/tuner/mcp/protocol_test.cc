// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the server as a client sees it: lines through pipes, with tools that the test defines.
#include "tuner/mcp/protocol.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <thread>

#include "base/clock.h"
#include "tuner/mcp/schema.h"
#include "tuner/mcp/server.h"

namespace hone::mcp {
namespace {

using testing::HasSubstr;

class TwoTexts : public Resources {
 public:
  std::vector<ResourceEntry> List() override { return {{"test://a", "a", "the letter", "text/plain"}}; }
  std::vector<ResourceTemplate> Templates() override { return {{"test://{name}", "letter", "a letter", "text/plain"}}; }
  Result<ResourceText> Read(const std::string& uri) override {
    if (uri == "test://a") return ResourceText{"text/plain", "a"};
    return Status::NotFound("there is only test://a");
  }
};

// A Served is a server on a thread, and the client's ends of its pipes.
class Served {
 public:
  explicit Served(ServerOptions options = {}) {
    int in[2], out[2];
    EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    server_in_.Reset(in[0]);
    to_.Reset(in[1]);
    from_.Reset(out[0]);
    server_out_.Reset(out[1]);
    options.name = "test";
    options.version = "1";
    options.instructions = "Call echo.";
    options.resources = &resources_;
    options.tools = {{.name = "echo",
                      .title = "Echo",
                      .description = "Gives back.",
                      .input_schema = ObjectSchema({{"text", TextSchema("")}}, {"text"}),
                      .output_schema = ObjectSchema({{"text", TextSchema("")}}, {"text"}),
                      .call = [](const Json& arguments, const CallContext&) -> Result<ToolAnswer> {
                        if (arguments.at("text") == "fail") return Status::Unavailable("there is nothing to echo with");
                        return ToolAnswer{arguments.at("text"),
                                          {{"text", arguments.at("text")}},
                                          {{"test://a", "a", "the letter", "text/plain"}}};
                      }},
                     {.name = "count",
                      .title = "Count",
                      .description = "Counts until told to stop.",
                      .input_schema = ObjectSchema({}, {}),
                      .output_schema = ObjectSchema({}, {}, /*open=*/true),
                      .call = [counts = counts_](const Json&, const CallContext& context) -> Result<ToolAnswer> {
                        ++counts->running;
                        for (int i = 1; i < 2000 && !context.stop.stop_requested() && !counts->release; ++i) {
                          context.progress(i, 2000, "step\n" + std::to_string(i) + std::string(300, 'x'));
                          context.progress(i, 2000, "the same step again");
                          std::this_thread::sleep_for(std::chrono::milliseconds(5));
                        }
                        counts->stopped = context.stop.stop_requested();
                        --counts->running;
                        return ToolAnswer{"counted", Json::object(), {}};
                      }},
                     {.name = "flood",
                      .title = "Flood",
                      .description = "Answers at length.",
                      .input_schema = ObjectSchema({}, {}),
                      .output_schema = ObjectSchema({}, {}, /*open=*/true),
                      .call = [](const Json&, const CallContext&) -> Result<ToolAnswer> {
                        return ToolAnswer{std::string(1 << 20, 'x'), Json::object(), {}};
                      }}};
    end_ = std::async(std::launch::async, [this, options] {
      const ServerEnd end = Serve(options, server_in_.get(), server_out_.get());
      server_out_.Reset();
      return end;
    });
  }
  ~Served() {
    release = true;
    to_.Reset();
    from_.Reset();
    if (end_.valid()) end_.wait();
    while (counting > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  void Send(const std::string& line) {
    const std::string text = line + "\n";
    for (size_t sent = 0; sent < text.size();) {
      const ssize_t put = write(to_.get(), text.data() + sent, text.size() - sent);
      ASSERT_GT(put, 0);
      sent += static_cast<size_t>(put);
    }
  }
  void Send(const Json& message) { Send(message.dump()); }
  // Returns the next message; null if none comes within `seconds`, or the stream has ended.
  Json Next(double seconds = 20) {
    const double until = SteadySeconds() + seconds;
    while (buffer_.find('\n') == std::string::npos) {
      pollfd source{from_.get(), POLLIN, 0};
      const double left = until - SteadySeconds();
      if (left <= 0 || poll(&source, 1, static_cast<int>(1000 * left) + 1) <= 0) return nullptr;
      char block[65536];
      const ssize_t got = read(from_.get(), block, sizeof block);
      if (got <= 0) return nullptr;
      buffer_.append(block, static_cast<size_t>(got));
    }
    const size_t end = buffer_.find('\n');
    const Json message = Json::parse(buffer_.substr(0, end), nullptr, false);
    buffer_.erase(0, end + 1);
    EXPECT_EQ(message.value("jsonrpc", ""), "2.0");
    return message;
  }
  Json AskWhole(const Json& message) {
    Send(message);
    return Next();
  }
  Json Ask(const std::string& method, Json params = Json::object()) {
    return AskWhole(Json{{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", std::move(params)}});
  }
  void CloseInput() { to_.Reset(); }
  void CloseOutput() { from_.Reset(); }
  ServerEnd End() { return end_.get(); }
  bool Ends(double seconds) {
    return end_.wait_for(std::chrono::duration<double>(seconds)) == std::future_status::ready;
  }

  // State that calls of the tool `count` share with the test, by a shared_ptr. A server whose client is gone abandons
  // its calls, so these may run, or even begin, after the test's server is destroyed.
  struct Counts {
    std::atomic<int> running{0};
    std::atomic<bool> stopped{false}, release{false};
  };

 private:
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();

 public:
  std::atomic<int>& counting = counts_->running;
  std::atomic<bool>&stopped = counts_->stopped, &release = counts_->release;

 private:
  TwoTexts resources_;
  UniqueFd server_in_, server_out_, to_, from_;
  std::string buffer_;
  int id_ = 0;
  std::future<ServerEnd> end_;
};

Json Stateless(Json params = Json::object(), const std::string& version = "2026-07-28") {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = version;
  params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = Json::object();
  return params;
}

TEST(Protocol, SessionsAreOpenedInTheRevisionThatIsAskedForOrTheNewest) {
  for (const auto& [asked, given] : {std::pair{"2025-11-25", "2025-11-25"},
                                     {"2025-06-18", "2025-06-18"},
                                     {"2024-11-05", "2025-11-25"},
                                     {"2026-07-28", "2025-11-25"},
                                     {"2099-01-01", "2025-11-25"}}) {
    Served served;
    const Json answer = served.Ask("initialize", {{"protocolVersion", asked},
                                                  {"capabilities", Json::object()},
                                                  {"clientInfo", {{"name", "t"}, {"version", "1"}}}});
    EXPECT_EQ(answer.at("result").at("protocolVersion"), given) << asked;
    EXPECT_EQ(answer.at("result").at("serverInfo").at("name"), "test");
    EXPECT_EQ(answer.at("result").at("instructions"), "Call echo.");
    EXPECT_TRUE(answer.at("result").at("capabilities").contains("tools"));
    EXPECT_FALSE(answer.at("result").contains("resultType"));
    served.Send(Json{{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}});
    EXPECT_EQ(served.Ask("ping").at("result"), Json::object());
    EXPECT_FALSE(served.Ask("tools/list").at("result").contains("ttlMs"));
  }
}

TEST(Protocol, StatelessRequestsSayTheirRevisionAndResultsTheirType) {
  Served served;
  const Json discovered = served.Ask("server/discover", Stateless()).at("result");
  EXPECT_EQ(discovered.at("supportedVersions"), Json({"2026-07-28", "2025-11-25", "2025-06-18"}));
  EXPECT_EQ(discovered.at("resultType"), "complete");
  EXPECT_EQ(discovered.at("_meta").at("io.modelcontextprotocol/serverInfo").at("version"), "1");
  EXPECT_GT(discovered.at("ttlMs"), 0);
  for (const char* list : {"tools/list", "resources/list", "resources/templates/list"}) {
    const Json result = served.Ask(list, Stateless()).at("result");
    EXPECT_EQ(result.at("resultType"), "complete") << list;
    EXPECT_TRUE(result.at("ttlMs").is_number_integer()) << list;
    EXPECT_EQ(result.at("cacheScope"), "private") << list;
  }
  const Json called =
      served.Ask("tools/call", Stateless({{"name", "echo"}, {"arguments", {{"text", "hi"}}}})).at("result");
  EXPECT_EQ(called.at("resultType"), "complete");
  EXPECT_EQ(called.at("structuredContent"), Json({{"text", "hi"}}));
  EXPECT_EQ(served.Ask("ping", Stateless()).at("error").at("code"), -32601) << "there is no ping in this era";
  // Requests of both eras come through one pipe.
  EXPECT_EQ(served.Ask("initialize", {{"protocolVersion", "2025-06-18"}}).at("result").at("protocolVersion"),
            "2025-06-18");
  EXPECT_EQ(served.Ask("tools/list", Stateless()).at("result").at("resultType"), "complete");
}

TEST(Protocol, RefusesRevisionsItDoesNotSpeakAndRequestsWithoutOne) {
  Served served;
  const Json unknown = served.Ask("tools/list", Stateless({}, "2031-01-01")).at("error");
  EXPECT_EQ(unknown.at("code"), -32022);
  EXPECT_EQ(unknown.at("data").at("requested"), "2031-01-01");
  EXPECT_THAT(unknown.at("data").at("supported").dump(), HasSubstr("2026-07-28"));
  EXPECT_EQ(served.Ask("server/discover").at("error").at("code"), -32602);
  Json without = Stateless();
  without["_meta"].erase("io.modelcontextprotocol/clientCapabilities");
  EXPECT_EQ(served.Ask("tools/list", without).at("error").at("code"), -32602);
}

TEST(Protocol, WhatIsNoRequestGetsTheErrorThatSaysSo) {
  Served served;
  const struct {
    std::string line;
    int code;
    Json id;
  } lines[] = {
      {"this is no JSON", -32700, nullptr},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", -32700, nullptr},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xff\"}", -32700, nullptr},
      {std::string(100000, '['), -32700, nullptr},
      {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, nullptr},
      {"42", -32600, nullptr},
      {"{\"id\":7,\"method\":\"ping\"}", -32600, 7},
      {"{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}", -32600, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":7}", -32600, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":3}", -32600, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, nullptr},
      {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600, nullptr},
      {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\",\"params\":[1]}", -32602, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/lst\"}", -32601, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{}}", -32602, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"ecko\"}}", -32602, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":{\"uri\":\"test://b\"}}", -32602, 7},
      {"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":{}}", -32602, 7},
  };
  for (const auto& one : lines) {
    served.Send(one.line);
    const Json answer = served.Next();
    ASSERT_TRUE(answer.is_object()) << one.line.substr(0, 80);
    EXPECT_EQ(answer.at("error").at("code"), one.code) << one.line.substr(0, 80);
    EXPECT_EQ(answer.at("id"), one.id) << one.line.substr(0, 80);
    EXPECT_FALSE(answer.at("error").at("message").get<std::string>().empty());
  }
  // Notifications, responses and blank lines get no answer; the request after them does.
  served.Send(std::string(
      "\n  "
      "\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/strange\"}\n{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}"));
  EXPECT_EQ(served.Ask("ping").at("result"), Json::object());
}

TEST(Protocol, ALineBeyondTheBoundIsThrownAwayAndTheNextOneIsRead) {
  ServerOptions options;
  options.longest_line = 1000;
  Served served(options);
  served.Send(std::string(300000, 'x'));
  EXPECT_EQ(served.Next().at("error").at("code"), -32600);
  EXPECT_EQ(served.Ask("ping").at("result"), Json::object());
}

TEST(Protocol, WrongArgumentsAndFailuresAreAnswersThatAreErrors) {
  Served served;
  const Json wrong = served.Ask("tools/call", {{"name", "echo"}, {"arguments", {{"txet", "hi"}}}}).at("result");
  EXPECT_EQ(wrong.at("isError"), true);
  EXPECT_THAT(wrong.at("content").at(0).at("text"), HasSubstr("'text' is missing"));
  EXPECT_FALSE(wrong.contains("structuredContent"));
  const Json failed = served.Ask("tools/call", {{"name", "echo"}, {"arguments", {{"text", "fail"}}}}).at("result");
  EXPECT_EQ(failed.at("isError"), true);
  EXPECT_THAT(failed.at("_meta").at("hone/cause"), testing::AnyOf("call", "machine"));
  EXPECT_EQ(failed.at("content").at(0).at("text"), "there is nothing to echo with");
  const Json right = served.Ask("tools/call", {{"name", "echo"}, {"arguments", {{"text", "hi"}}}}).at("result");
  EXPECT_EQ(right.at("isError"), false);
  EXPECT_EQ(right.at("content").at(1).at("type"), "resource_link");
  const Json resource = served.Ask("resources/read", {{"uri", "test://a"}}).at("result").at("contents").at(0);
  EXPECT_EQ(resource.at("text"), "a");
}

TEST(Protocol, ProgressRisesOnlyWhereItIsAskedForAndEndsWithTheAnswer) {
  Served served;
  served.Send(Json{{"jsonrpc", "2.0"},
                   {"id", "c"},
                   {"method", "tools/call"},
                   {"params", {{"name", "count"}, {"_meta", {{"progressToken", "p"}}}}}});
  double last = 0;
  for (int i = 0; i < 4; ++i) {
    const Json notification = served.Next();
    ASSERT_EQ(notification.value("method", ""), "notifications/progress");
    EXPECT_EQ(notification.at("params").at("progressToken"), "p");
    EXPECT_GT(notification.at("params").at("progress").get<double>(), last);
    EXPECT_EQ(notification.at("params").at("total"), 2000);
    const std::string message = notification.at("params").at("message");
    EXPECT_LE(message.size(), 200u);
    EXPECT_EQ(message.find('\n'), std::string::npos);
    last = notification.at("params").at("progress");
  }
  served.release = true;
  Json answer = served.Next();
  while (answer.contains("method")) answer = served.Next();
  EXPECT_EQ(answer.at("id"), "c");
  EXPECT_TRUE(served.Next(0.2).is_null());
  // Without a progress token, no progress is reported.
  served.release = false;
  served.Send(Json{{"jsonrpc", "2.0"}, {"id", "d"}, {"method", "tools/call"}, {"params", {{"name", "count"}}}});
  EXPECT_TRUE(served.Next(0.3).is_null());
}

TEST(Protocol, ACancelledCallStopsAndIsNotAnswered) {
  Served served;
  served.Send(Json{{"jsonrpc", "2.0"}, {"id", 77}, {"method", "tools/call"}, {"params", {{"name", "count"}}}});
  while (served.counting == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  // While the call runs, other requests are answered, and a request with the call's ID is refused.
  EXPECT_EQ(served.Ask("ping").at("result"), Json::object());
  EXPECT_EQ(
      served.AskWhole(Json{{"jsonrpc", "2.0"}, {"id", 77}, {"method", "tools/call"}, {"params", {{"name", "count"}}}})
          .at("error")
          .at("code"),
      -32600);
  served.Send(Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 78}}}});
  served.Send(Json{
      {"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", 77}, {"reason", "no"}}}});
  while (served.counting > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(served.stopped);
  EXPECT_TRUE(served.Next(0.2).is_null());
  EXPECT_EQ(served.Ask("ping").at("result"), Json::object());
}

TEST(Protocol, MoreCallsThanThereIsRoomForAreRefused) {
  ServerOptions options;
  options.most_calls = 2;
  Served served(options);
  for (int id = 1; id <= 2; ++id)
    served.Send(Json{{"jsonrpc", "2.0"}, {"id", 100 + id}, {"method", "tools/call"}, {"params", {{"name", "count"}}}});
  EXPECT_EQ(served.Ask("tools/call", {{"name", "echo"}, {"arguments", {{"text", "hi"}}}}).at("error").at("code"),
            -32000);
}

TEST(Protocol, WhatIsUnderWayWhenTheInputEndsIsAnswered) {
  Served served;
  served.Send(Json{{"jsonrpc", "2.0"}, {"id", 5}, {"method", "tools/call"}, {"params", {{"name", "count"}}}});
  while (served.counting == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  served.CloseInput();
  EXPECT_FALSE(served.Ends(0.2));
  served.release = true;
  EXPECT_EQ(served.Next().at("id"), 5);
  const ServerEnd end = served.End();
  EXPECT_EQ(end.abandoned_calls, 0);
  EXPECT_FALSE(end.client_lost);
}

TEST(Protocol, AClientThatDisappearsEndsTheServerAndItsCalls) {
  Served served;
  served.Send(Json{{"jsonrpc", "2.0"},
                   {"id", 5},
                   {"method", "tools/call"},
                   {"params", {{"name", "count"}, {"_meta", {{"progressToken", 1}}}}}});
  while (served.counting == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  served.CloseInput();
  served.CloseOutput();
  ASSERT_TRUE(served.Ends(20));
  EXPECT_TRUE(served.End().client_lost);
  while (served.counting > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(served.stopped);
}

TEST(Protocol, AReaderThatGoesAwayIsNoticedWhileTheInputStaysOpen) {
  Served served;
  EXPECT_EQ(served.Ask("ping").at("result"), Json::object());
  served.CloseOutput();
  EXPECT_TRUE(served.Ends(20));
}

TEST(Protocol, AClientThatNeverReadsIsGivenUpWithABoundedQueue) {
  ServerOptions options;
  options.writer.queue_bytes = 1 << 20;
  options.writer.stall_seconds = 0.3;
  options.finish_seconds = 0.1;
  Served served(options);
  for (int id = 1; id <= 12; ++id)
    served.Send(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "tools/call"}, {"params", {{"name", "flood"}}}});
  ASSERT_TRUE(served.Ends(20));
  EXPECT_TRUE(served.End().client_lost);
}

TEST(Protocol, LongAnswersArriveWhole) {
  Served served;
  for (int i = 0; i < 3; ++i) {
    const Json answer = served.Ask("tools/call", {{"name", "flood"}});
    EXPECT_EQ(answer.at("result").at("content").at(0).at("text").get<std::string>().size(), size_t{1} << 20);
  }
}

}  // namespace
}  // namespace hone::mcp
