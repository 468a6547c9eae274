// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Commands as models: real ones, well behaved and not.
#include "tuner/model/exec_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kEnvironment = {"PATH=/usr/bin:/bin", "SERVICE_API_KEY=sk-very-secret-0123456789"};

ModelRequest Request(double limit_seconds = 300) {
  ModelRequest request;
  request.run = "r1";
  request.number = 4;
  request.role = "coder";
  request.messages = {{"user", "größer"}};
  request.attachments = {{"parent", "// source"}};
  request.limit_seconds = limit_seconds;
  return request;
}

Result<ModelReply> Ask(const std::string& command, double limit_seconds = 300, std::stop_token stop = {}) {
  return MakeExecProvider(command, kEnvironment)->Complete(Request(limit_seconds), {}, stop);
}

// Waits until `done`; false after a hundred seconds.
bool Eventually(const std::function<bool()>& done) {
  for (int i = 0; i < 20000; ++i) {
    if (done()) return true;
    usleep(5000);
  }
  return false;
}

// Dead, and perhaps not yet buried by whoever inherited it.
bool Ended(const std::string& pid) {
  const Result<std::string> stat = ReadFile("/proc/" + pid + "/stat");
  return !stat.ok() || stat->find(") Z ") != std::string::npos;
}

TEST(Exec, TheRequestIsOnStandardInputAndTheReplyOnStandardOutput) {
  const ModelReply reply = Ask("cat").value();
  const nlohmann::json json = nlohmann::json::parse(reply.text);
  EXPECT_EQ(json["messages"][0]["text"], "größer");
  EXPECT_EQ(json["attachments"]["parent"], "// source");
  EXPECT_EQ(json["number"], 4);
  EXPECT_EQ(reply.provider, "exec");
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_FALSE(reply.cost_known);
}

TEST(Exec, AJsonReplyMaySayMore) {
  const ModelReply reply =
      Ask(R"(echo '{"text":"hi","finish":"length","model":"m","input_tokens":5,"output_tokens":6,"cost_usd":0.25}')")
          .value();
  EXPECT_EQ(reply.text, "hi");
  EXPECT_EQ(reply.finish, FinishReason::kLength);
  EXPECT_EQ(reply.model, "m");
  EXPECT_EQ(reply.usage.input, 5);
  EXPECT_EQ(reply.usage.output, 6);
  EXPECT_FALSE(reply.usage.estimated);
  EXPECT_TRUE(reply.cost_known);
  EXPECT_EQ(reply.cost_usd, 0.25);
  EXPECT_EQ(Ask("echo '{ int x; }'").value().text, "{ int x; }\n") << "a brace alone makes no JSON";
}

TEST(Exec, NothingBrokenUtf8AndMegabytesAreReplies) {
  EXPECT_EQ(Ask("true").value().text, "");
  EXPECT_EQ(Ask(R"(printf 'a\377b')").value().text, "a\uFFFDb");
  EXPECT_EQ(Ask("head -c 5000000 /dev/zero | tr '\\0' x").value().text.size(), 5'000'000u);
}

TEST(Exec, AFailureShowsTheEndOfStandardErrorWithoutSecrets) {
  const Status status = Ask("echo half an answer; echo \"no route; key was $SERVICE_API_KEY\" >&2; exit 3").status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("exit status 3"), HasSubstr("no route; key was [redacted]"),
                                      Not(HasSubstr("sk-very-secret"))));
  EXPECT_THAT(Ask("exit 1").status().message(), HasSubstr("nothing on standard error"));
  EXPECT_THAT(Ask("no-such-command-here").status().message(), AllOf(HasSubstr("127"), HasSubstr("not found")));
  EXPECT_THAT(Ask("kill -SEGV $$").status().message(), HasSubstr("signal 11"));
  EXPECT_THAT(Ask("echo \"$SERVICE_API_KEY\"").value().text, Not(HasSubstr("sk-very-secret")));
}

TEST(Exec, ItsLimitEndsTheCommand) {
  const Status status = Ask("sleep 1000", 0.1).status();
  EXPECT_EQ(status.code(), StatusCode::kTimedOut);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("within 0.1 s"), HasSubstr("'sleep 1000'")));
}

TEST(Exec, AStopEndsTheCommandAndAllItHasStarted) {
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  const std::string started = directory / "started";
  std::stop_source stop;
  std::string pid;
  std::jthread stopper([&] {
    EXPECT_TRUE(Eventually([&] {
      pid = ReadFile(started).ok() ? ReadFile(started).value() : "";
      return pid.ends_with('\n');
    }));
    stop.request_stop();
  });
  const Status status = Ask("sleep 1000 & echo $! > " + started + "; sleep 1000", 1000, stop.get_token()).status();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  stopper.join();
  pid.pop_back();
  EXPECT_TRUE(Eventually([&] { return Ended(pid); })) << "the sleep in the background lives on as " << pid;
}

TEST(Exec, ACommandThatLeavesSomethingRunningIsNotWaitedFor) {
  EXPECT_EQ(Ask("sleep 1000 & echo done").value().text, "done\n");
}

}  // namespace
}  // namespace hone
