// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests commands as models, with real commands, of which some misbehave.
#include "tuner/model/exec_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files/file.h"

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

// Returns options whose waits take no time; `waits` (may be null) receives their lengths.
ExecOptions OptionsWithRetries(int max_retries, std::vector<double>* waits = nullptr) {
  ExecOptions options;
  options.max_retries = max_retries;
  options.sleep = [waits](double seconds, std::stop_token stop) {
    if (waits != nullptr) waits->push_back(seconds);
    return !stop.stop_requested();
  };
  return options;
}

// Sends a request to the command.
Result<ModelReply> Ask(const std::string& command, double limit_seconds = 300, std::stop_token stop = {}) {
  return MakeExecProvider(command, kEnvironment, OptionsWithRetries(0))->Complete(Request(limit_seconds), {}, stop);
}

// Waits until `done`; returns false after a hundred seconds.
bool Eventually(const std::function<bool()>& done) {
  for (int i = 0; i < 20000; ++i) {
    if (done()) return true;
    usleep(5000);
  }
  return false;
}

// Returns whether the process is dead, even if its parent has not reaped it yet.
bool HasEnded(const std::string& pid) {
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

// Returns a command that counts its runs in a file, and fails the first `times` times.
std::string FailsTimes(const std::string& file, int times, const std::string& how = "exit 1") {
  return "echo run >> " + file + "; [ $(wc -l < " + file + ") -gt " + std::to_string(times) +
         " ] || { echo \"failed at run $(wc -l < " + file + ")\" >&2; " + how + "; }; echo answer";
}

TEST(Exec, ACommandThatFailsByChanceIsRunAgainWithTheSameRequest) {
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  for (const char* how : {"exit 1", "kill -KILL $$"}) {
    const std::string count = directory / (std::string("runs") + how[0]);
    std::vector<double> waits;
    std::vector<std::string> shown;
    const auto provider = MakeExecProvider(FailsTimes(count, 2, how), kEnvironment, OptionsWithRetries(6, &waits));
    const ModelReply reply =
        provider->Complete(Request(), [&](const ModelProgress& p) { shown.push_back(p.message); }, {}).value();
    EXPECT_EQ(reply.text, "answer\n");
    ASSERT_EQ(reply.notes.size(), 2u) << "the log says what went wrong on the way";
    EXPECT_THAT(reply.notes[0], HasSubstr("failed at run 1"));
    EXPECT_THAT(reply.notes[1], HasSubstr("failed at run 2"));
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_LE(waits[0], 1) << "at most the first bound of the backoff";
    EXPECT_LE(waits[1], 2);
    EXPECT_TRUE(std::any_of(shown.begin(), shown.end(), [](const std::string& s) {
      return s.find("asking again in") != std::string::npos && s.find("(2 of 6)") != std::string::npos;
    }));
  }
  const auto echo = MakeExecProvider(
      "[ -e " + (directory / "once") + " ] || { touch " + (directory / "once") + "; cat; exit 1; }; cat", kEnvironment,
      OptionsWithRetries(1));
  EXPECT_EQ(nlohmann::json::parse(echo->Complete(Request(), {}, {}).value().text)["messages"][0]["text"], "größer");
}

TEST(Exec, WhenAllAttemptsFailTheLastOneSaysSo) {
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  const std::string count = directory / "runs";
  const Status status = MakeExecProvider(FailsTimes(count, 100), kEnvironment, OptionsWithRetries(3))
                            ->Complete(Request(), {}, {})
                            .status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("failed at run 4"), HasSubstr("given up after 4 attempts")));
  EXPECT_EQ(ReadFile(count).value(), "run\nrun\nrun\nrun\n");
}

TEST(Exec, ACommandThatTheShellCannotRunIsNotTriedAgain) {
  std::vector<double> waits;
  const Status status = MakeExecProvider("no-such-command-here", kEnvironment, OptionsWithRetries(6, &waits))
                            ->Complete(Request(), {}, {})
                            .status();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("not found"), Not(HasSubstr("given up"))));
  EXPECT_TRUE(waits.empty());
}

TEST(Exec, AllAttemptsShareTheRequestsLimitAndAStopEndsAWait) {
  const Status late = MakeExecProvider("sleep 0.2; exit 1", kEnvironment, OptionsWithRetries(1000))
                          ->Complete(Request(0.5), {}, {})
                          .status();
  EXPECT_THAT(late.message(), testing::AnyOf(HasSubstr("before it failed"), HasSubstr("are left of this request's")));
  std::stop_source stop;
  ExecOptions options = OptionsWithRetries(6);
  options.sleep = [&](double, std::stop_token token) {
    stop.request_stop();
    return !token.stop_requested();
  };
  EXPECT_EQ(
      MakeExecProvider("exit 1", kEnvironment, options)->Complete(Request(), {}, stop.get_token()).status().code(),
      StatusCode::kCancelled);
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
  EXPECT_TRUE(Eventually([&] { return HasEnded(pid); })) << "the sleep in the background lives on as " << pid;
}

TEST(Exec, ACommandThatLeavesSomethingRunningIsNotWaitedFor) {
  EXPECT_EQ(Ask("sleep 1000 & echo done").value().text, "done\n");
}

}  // namespace
}  // namespace hone
