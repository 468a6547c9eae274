// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests openai: and anthropic: with a local server that sends both formats and fails in every known way. Waits between
// attempts are only recorded.
#include "tuner/model/http_provider.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "base/files/file.h"
#include "tests/fakes/fake_model_server.h"

namespace hone {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kKey[] = "sk-test-0123456789abcdefghijklmnopqrstuvwxyz";

ModelRequest Request() {
  ModelRequest request;
  request.run = "r1";
  request.role = "coder";
  request.messages = {{"system", "You write kernels."}, {"user", "Make it fast, größer."}};
  request.temperature = 0.5;
  request.max_tokens = 4096;
  request.limit_seconds = 300;  // more than the recorded waits together
  return request;
}

// A provider of one service in front of the server.
struct Rig {
  explicit Rig(const std::string& service) : kind(service) {
    options.environment = {std::string("TEST_KEY=") + kKey};
    options.key_variable = "TEST_KEY";
    options.base_url = server.Url();
    hooks.unix_now = [] { return 1792652400.0; };  // 2026-10-22 07:00:00 GMT
    hooks.sleep = [this](double seconds, std::stop_token stop) {
      waits.push_back(seconds);
      return !stop.stop_requested();
    };
    hooks.seed = 7;
  }

  std::string Says(const std::vector<std::string>& pieces) const {
    return kind == "openai" ? OpenAiSays(pieces) : AnthropicSays(pieces);
  }
  ModelProvider& provider() {
    if (!made_provider) {
      made_provider =
          MakeHttpProvider(kind == "openai" ? MakeOpenAiWire() : MakeAnthropicWire(), {"m-1", "", ""}, options, hooks)
              .value();
    }
    return *made_provider;
  }
  Result<ModelReply> Ask(std::stop_token stop = {}) {
    return provider().Complete(
        Request(), [this](const ModelProgress& p) { shown.push_back(p); }, stop);
  }

  std::string kind;
  FakeModelServer server;
  ProviderOptions options;
  HttpProviderHooks hooks;
  std::vector<double> waits;
  std::vector<ModelProgress> shown;
  std::unique_ptr<ModelProvider> made_provider;
};

class BothServices : public testing::TestWithParam<const char*> {
 protected:
  Rig rig{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(, BothServices, testing::Values("openai", "anthropic"),
                         [](const auto& service) { return std::string(service.param); });

// --- answers ---

TEST_P(BothServices, AnAnswerIsReadWithItsCounts) {
  rig.server.Answer(Stream(rig.Says({"IDEA: ", "wider ", "loads"})));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "IDEA: wider loads");
  EXPECT_EQ(reply.finish, FinishReason::kStop);
  EXPECT_EQ(reply.usage.input, 1000);
  EXPECT_EQ(reply.usage.output, 200);
  EXPECT_FALSE(reply.usage.estimated);
  EXPECT_EQ(reply.provider, rig.kind);
  EXPECT_THAT(reply.model, HasSubstr("-test-1"));
  EXPECT_FALSE(reply.cost_known) << "no price is known for a model at another address";
  EXPECT_THAT(rig.provider().CostCaveat(), AllOf(HasSubstr(rig.server.Url()), HasSubstr("--prices")));
  EXPECT_TRUE(reply.notes.empty());
}

TEST_P(BothServices, PiecesMayEndInsideALineACharacterOrALineEnd) {
  const std::vector<std::string> pieces = {"größer ", "🚀", "\\n", "done"};
  for (const char* eol : {"\n", "\r\n", "\r"}) {
    const std::string body =
        rig.kind == "openai" ? OpenAiSays(pieces, "stop", eol) : AnthropicSays(pieces, "end_turn", eol);
    for (const size_t piece : {1, 2, 7}) {
      rig.server.Answer(Stream(body, piece));
      EXPECT_EQ(rig.Ask().value().text, "größer 🚀\ndone") << piece;
    }
  }
}

TEST_P(BothServices, AnAnswerOfFiveMegabytesIsTaken) {
  const std::string word(50000, 'x');
  rig.server.Answer(Stream(rig.Says(std::vector<std::string>(100, word)), /*piece=*/16384));
  EXPECT_EQ(rig.Ask().value().text.size(), 5'000'000u);
}

TEST_P(BothServices, AnAnswerOfNothingIsAnAnswer) {
  rig.server.Answer(Stream(rig.Says({})));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "");
  EXPECT_EQ(reply.finish, FinishReason::kStop);
}

TEST_P(BothServices, BrokenUtf8IsReplaced) {
  rig.server.Answer(Stream(rig.Says({"a\xFF\xC3", "b", "\\ud83d", "c"})));
  EXPECT_EQ(rig.Ask().value().text, "a\uFFFD\uFFFDb\uFFFDc");
}

TEST_P(BothServices, ACutOffAndARefusalAreToldApart) {
  rig.server.Answer(
      Stream(rig.kind == "openai" ? OpenAiSays({"half"}, "length") : AnthropicSays({"half"}, "max_tokens")));
  EXPECT_EQ(rig.Ask().value().finish, FinishReason::kLength);
  rig.server.Answer(
      Stream(rig.kind == "openai" ? OpenAiSays({"no"}, "content_filter") : AnthropicSays({"no"}, "refusal")));
  EXPECT_EQ(rig.Ask().value().finish, FinishReason::kRefused);
}

TEST_P(BothServices, AWholeReplyWhereAStreamWasAskedForIsTaken) {
  rig.server.Answer(
      Plain(200, rig.kind == "openai"
                     ? R"({"model":"m","choices":[{"message":{"content":"all at once"},"finish_reason":"stop"}],
                                        "usage":{"prompt_tokens":3,"completion_tokens":4}})"
                     : R"({"type":"message","model":"m","content":[{"type":"text","text":"all at once"}],
                                        "stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":4}})"));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "all at once");
  EXPECT_EQ(reply.usage.output, 4);
}

TEST_P(BothServices, AServerThatKeepsTheConnectionAfterTheLastWordIsNotWaitedFor) {
  rig.options.stall_seconds = 1000;
  rig.options.first_byte_seconds = 1000;
  rig.hooks.trailer_seconds = 0.05;
  const std::string whole_reply = rig.Says({"all of it"});
  // The part behind the reply's text: openai's token counts and end mark, anthropic's end mark.
  const size_t rest = rig.kind == "openai" ? whole_reply.rfind("data:", whole_reply.find("\"choices\":[],"))
                                           : whole_reply.find("event: message_stop");
  rig.server.Answer(ThenHang(Stream(whole_reply.substr(0, rest), /*piece=*/0, /*finished=*/false)));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "all of it");
  if (rig.kind == "openai") {
    EXPECT_TRUE(reply.usage.estimated) << "the counts come after the last word";
  }
}

TEST_P(BothServices, AConnectionThatBreaksAfterTheLastWordTakesNothingBack) {
  const std::string whole_reply = rig.Says({"all of it"});
  const size_t rest = rig.kind == "openai" ? whole_reply.find("prompt_tokens") : whole_reply.rfind("message_stop");
  rig.server.Answer(Stream(whole_reply.substr(0, rest), /*piece=*/0, /*finished=*/false));
  EXPECT_EQ(rig.Ask().value().text, "all of it");
  EXPECT_EQ(rig.server.Requests().size(), 1u);
}

TEST_P(BothServices, TheTypeThatABodyIsSaidToHaveDoesNotMatter) {
  rig.server.Answer(Stream(rig.Says({"a stream"}), /*piece=*/3, /*finished=*/true, "application/json"));
  EXPECT_EQ(rig.Ask().value().text, "a stream");
  rig.server.Answer(Plain(200, R"( {"error":{"type":"invalid_request_error","message":"said as a stream"}})", {},
                          "text/event-stream"));
  EXPECT_THAT(rig.Ask().status().message(), HasSubstr("said as a stream"));
}

TEST_P(BothServices, TokensAreCountedWhileTheyCome) {
  const std::string whole_reply = rig.Says({std::string(400, 'x'), "end"});
  rig.server.Answer(ThenHang(Stream(whole_reply.substr(0, whole_reply.find("end")), /*piece=*/0, /*finished=*/false)));
  std::stop_source stop;
  int64_t tokens = 0;
  std::string said;
  const Status status = rig.provider()
                            .Complete(
                                Request(),
                                [&](const ModelProgress& p) {
                                  tokens = std::max(tokens, p.output_tokens);
                                  said = p.message;
                                  if (tokens > 0) stop.request_stop();
                                },
                                stop.get_token())
                            .status();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(tokens, 100);
  EXPECT_THAT(said, HasSubstr("m-1 is answering: about 100 tokens"));
}

// --- requests ---

TEST_P(BothServices, RequestsAreTheSameBytesEveryTime) {
  for (int i = 0; i < 2; ++i) {
    rig.server.Answer(Stream(rig.Says({"x"})));
    ASSERT_TRUE(rig.Ask().ok());
  }
  const std::vector<ReceivedRequest> requests = rig.server.Requests();
  EXPECT_EQ(requests[0].body, requests[1].body);
  EXPECT_EQ(requests[0].method, "POST");
  if (rig.kind == "openai") {
    EXPECT_EQ(requests[0].path, "/v1/chat/completions");
    EXPECT_EQ(requests[0].headers.at("authorization"), std::string("Bearer ") + kKey);
    EXPECT_EQ(requests[0].body, R"({"max_tokens":4096,"messages":[{"content":"You write kernels.","role":"system"},)"
                                R"({"content":"Make it fast, größer.","role":"user"}],"model":"m-1","stream":true,)"
                                R"("stream_options":{"include_usage":true},"temperature":0.5})");
  } else {
    EXPECT_EQ(requests[0].path, "/v1/messages");
    EXPECT_EQ(requests[0].headers.at("x-api-key"), kKey);
    EXPECT_EQ(requests[0].headers.at("anthropic-version"), "2023-06-01");
    EXPECT_EQ(requests[0].body, R"({"max_tokens":4096,"messages":[{"content":"Make it fast, größer.","role":"user"}],)"
                                R"("model":"m-1","stream":true,"system":"You write kernels.","temperature":0.5})");
  }
}

TEST_P(BothServices, ATemperatureThatIsRefusedIsLeftOutFromThenOn) {
  rig.server.Answer(Plain(400, R"({"type":"error","error":{"type":"invalid_request_error",
      "message":"temperature: this model takes no value but 1"}})"));
  rig.server.Answer(Stream(rig.Says({"one"})));
  rig.server.Answer(Stream(rig.Says({"two"})));
  EXPECT_EQ(rig.Ask().value().text, "one");
  EXPECT_EQ(rig.Ask().value().text, "two");
  const std::vector<ReceivedRequest> requests = rig.server.Requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_THAT(requests[0].body, HasSubstr("temperature"));
  EXPECT_THAT(requests[1].body, Not(HasSubstr("temperature")));
  EXPECT_THAT(requests[2].body, Not(HasSubstr("temperature")));
  EXPECT_TRUE(rig.waits.empty()) << "the service is not busy: there is nothing to wait for";
}

TEST_P(BothServices, ABoundOnTheReplyThatIsTooHighIsHalvedUntilItFits) {
  rig.server.Answer(Plain(400, R"({"error":{"message":"max_tokens is too large: 4096"}})"));
  rig.server.Answer(Plain(400, R"({"error":{"message":"max_tokens is too large: 2048"}})"));
  rig.server.Answer(Stream(rig.Says({"fits"})));
  EXPECT_EQ(rig.Ask().value().text, "fits");
  EXPECT_THAT(rig.server.Requests()[2].body, HasSubstr("\"max_tokens\":1024"));
}

TEST(OpenAi, TheNameOfTheBoundIsLearntFromTheRefusal) {
  Rig rig("openai");
  rig.server.Answer(Plain(400, R"({"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this
      model. Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}})"));
  rig.server.Answer(
      Plain(422, R"({"detail":[{"msg":"Extra inputs are not permitted","loc":["body","stream_options"]}]})"));
  rig.server.Answer(Stream(OpenAiSays({"yes"})));
  EXPECT_EQ(rig.Ask().value().text, "yes");
  const std::string body = rig.server.Requests()[2].body;
  EXPECT_THAT(body, AllOf(HasSubstr("\"max_completion_tokens\":4096"), Not(HasSubstr("stream_options")),
                          HasSubstr("temperature")));
}

// --- temporary failures ---

TEST_P(BothServices, RetryAfterIsHonouredInSecondsAndAsADate) {
  rig.server.Answer(
      Plain(429, R"({"error":{"type":"rate_limit_error","message":"slow down"}})", {{"Retry-After", "7"}}));
  rig.server.Answer(Plain(529, R"({"error":{"type":"overloaded_error","message":"Overloaded"}})",
                          {{"retry-after", "Thu, 22 Oct 2026 07:00:09 GMT"}}));
  rig.server.Answer(Stream(rig.Says({"at last"})));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "at last");
  EXPECT_THAT(rig.waits, testing::ElementsAre(7.0, 9.0));
  ASSERT_EQ(reply.notes.size(), 2u);
  EXPECT_THAT(reply.notes[0], AllOf(HasSubstr("429"), HasSubstr("slow down")));
  bool progress_reported = false;
  for (const ModelProgress& p : rig.shown)
    progress_reported = progress_reported || p.message.find("asking again in 7.0 s (1 of 6)") != std::string::npos;
  EXPECT_TRUE(progress_reported);
}

TEST_P(BothServices, AWaitLongerThanTheRequestMayTakeIsNotBegun) {
  rig.server.Answer(Plain(429, R"({"error":{"message":"come tomorrow"}})", {{"Retry-After", "86400"}}));
  const Status status = rig.Ask().status();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("come tomorrow"), HasSubstr("86400 s at the earliest")));
  EXPECT_TRUE(rig.waits.empty());
}

TEST_P(BothServices, ServerErrorsAreRetriedAfterGrowingRandomWaits) {
  for (const int status : {500, 502, 503, 504, 529, 408})
    rig.server.Answer(Plain(status, "<h1>sorry</h1>", {}, "text/html"));
  rig.server.Answer(Stream(rig.Says({"well"})));
  EXPECT_EQ(rig.Ask().value().text, "well");
  ASSERT_EQ(rig.waits.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_GE(rig.waits[i], 0.0);
    EXPECT_LT(rig.waits[i], std::min(30.0, std::pow(2.0, i)));
  }
}

TEST_P(BothServices, AfterTheLastRetryTheReasonIsTold) {
  rig.options.max_retries = 2;
  for (int i = 0; i < 3; ++i) rig.server.Answer(Plain(500, R"({"error":{"message":"out of luck"}})"));
  const Status status = rig.Ask().status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("out of luck"), HasSubstr("after 3 attempts"), HasSubstr("m-1")));
  EXPECT_EQ(rig.server.Requests().size(), 3u);
}

// Returns the beginning of a reply's stream, up to the end of the event with the text "first".
std::string BeginningOfStream(const Rig& rig) {
  const std::string whole_reply = rig.Says({"first", "second"});
  return whole_reply.substr(0, whole_reply.find("second"));
}

TEST_P(BothServices, ABrokenOffReplyIsThrownAwayAndItsTokensAreCounted) {
  const std::string begin = BeginningOfStream(rig);
  rig.server.Answer(Stream(begin, /*piece=*/0, /*finished=*/false));  // the connection closes within the chunked body
  rig.server.Answer(ThenReset(Stream(begin, /*piece=*/0, /*finished=*/false)));  // or is torn down
  rig.server.Answer(Stream(begin, /*piece=*/0, /*finished=*/true));  // or the body ends properly, inside a line
  rig.server.Answer(Stream(rig.Says({"whole"})));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "whole");
  EXPECT_EQ(reply.notes.size(), 3u) << testing::PrintToString(reply.notes);
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_EQ(reply.usage.input, 1000 + reply.discarded.input);
  EXPECT_EQ(reply.usage.output, 200 + reply.discarded.output);
  // "first" is estimated as two tokens. The input is counted by anthropic at the stream's start, and by openai only at
  // its end, where it is estimated from its 18 and 23 bytes.
  EXPECT_GE(reply.discarded.output, 2 * 2);
  if (rig.kind == "anthropic") {
    EXPECT_EQ(reply.discarded.input % 1000, 0);
  }
}

TEST_P(BothServices, WhatAFailedRequestSpentIsCarriedByTheNextReply) {
  rig.options.max_retries = 0;
  rig.server.Answer(Stream(BeginningOfStream(rig), /*piece=*/0, /*finished=*/false));
  const Status status = rig.Ask().status();
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("after 1 attempt;"), HasSubstr("2 out were spent on broken-off answers")));
  for (const int64_t discarded : {2, 0}) {
    rig.server.Answer(Stream(rig.Says({"whole"})));
    const ModelReply reply = rig.Ask().value();
    EXPECT_EQ(reply.discarded.output, discarded);
    EXPECT_EQ(reply.usage.output, 200 + discarded);
  }
}

TEST_P(BothServices, AStreamThatFallsSilentIsGivenUp) {
  rig.options.stall_seconds = 0.15;
  rig.server.Answer(ThenHang(Stream(BeginningOfStream(rig), /*piece=*/0, /*finished=*/false)));
  rig.server.Answer(Stream(rig.Says({"whole"})));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "whole");
  ASSERT_EQ(reply.notes.size(), 1u);
  EXPECT_THAT(reply.notes[0], AllOf(HasSubstr("silent for 0.15 s after about 2 tokens"), HasSubstr("--stall-timeout")));
}

TEST_P(BothServices, AServiceThatNeverAnswersIsGivenUp) {
  rig.options.first_byte_seconds = 0.1;
  rig.options.max_retries = 1;
  for (int i = 0; i < 2; ++i) rig.server.Answer(ThenHang({}));
  const Status status = rig.Ask().status();
  EXPECT_EQ(status.code(), StatusCode::kTimedOut);
  EXPECT_THAT(status.message(), HasSubstr("sent nothing for 0.1 s"));
}

TEST_P(BothServices, TheWholeRequestHasItsLimit) {
  rig.options.request_seconds = 0.2;
  rig.server.Answer(ThenHang(Stream(BeginningOfStream(rig), /*piece=*/0, /*finished=*/false)));
  const Status status = rig.Ask().status();
  EXPECT_EQ(status.code(), StatusCode::kTimedOut);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("within 0.2 s"), HasSubstr("--request-timeout")));
}

TEST_P(BothServices, AnErrorEventInsideAStreamIsRetriedOrNotByItsKind) {
  const auto error = [&](const char* type) {
    const std::string data =
        std::string(R"({"type":"error","error":{"type":")") + type + R"(","message":"told in the stream"}})";
    return Stream(BeginningOfStream(rig).substr(0, BeginningOfStream(rig).rfind("data:")) + Events({{"error", data}}));
  };
  rig.server.Answer(error("overloaded_error"));
  rig.server.Answer(error("api_error"));
  rig.server.Answer(Stream(rig.Says({"whole"})));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "whole");
  EXPECT_EQ(reply.notes.size(), 2u);
  rig.server.Answer(error("invalid_request_error"));
  EXPECT_THAT(rig.Ask().status().message(), AllOf(HasSubstr("told in the stream"), HasSubstr("would not help")));
}

TEST_P(BothServices, NoBodyAtAllAndInvalidJsonAreRetried) {
  rig.server.Answer(Stream(""));
  rig.server.Answer(Stream(BeginningOfStream(rig) + "\"}}]}\n\ndata: {not json}\n\n"));
  rig.server.Answer(Stream(rig.Says({"whole"})));
  const ModelReply reply = rig.Ask().value();
  EXPECT_EQ(reply.text, "whole");
  EXPECT_EQ(reply.notes.size(), 2u);
}

// --- permanent failures ---

TEST_P(BothServices, AWrongModelIsNotAskedAgain) {
  rig.server.Answer(Plain(404, R"({"error":{"message":"The model `m-1` does not exist","code":"model_not_found"}})"));
  const Status status = rig.Ask().status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("404"), HasSubstr("does not exist"), HasSubstr("'m-1'"), HasSubstr("--base-url")));
  EXPECT_EQ(rig.server.Requests().size(), 1u);
}

TEST_P(BothServices, ARefusedKeyNamesItsVariable) {
  for (const int code : {401, 403}) {
    rig.server.Answer(Plain(code, R"({"error":{"message":"invalid x-api-key"}})"));
    EXPECT_THAT(rig.Ask().status().message(),
                AllOf(HasSubstr("TEST_KEY"), HasSubstr("--key-env"), HasSubstr("invalid x-api-key")));
  }
  EXPECT_EQ(rig.server.Requests().size(), 2u);
}

TEST_P(BothServices, AnEndpointThatWantsAKeyAndGotNoneSaysHowToNameOne) {
  rig.options.key_variable = "";
  rig.server.Answer(Plain(401, R"({"error":"unauthorized"})"));
  EXPECT_THAT(rig.Ask().status().message(),
              AllOf(HasSubstr("unauthorized"), HasSubstr("--key-env"), HasSubstr("NAME@URL#VARIABLE")));
}

TEST_P(BothServices, AnEmptyAccountIsNotWaitedFor) {
  rig.server.Answer(
      Plain(429, R"({"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}})"));
  EXPECT_THAT(rig.Ask().status().message(), HasSubstr("no credit"));
  EXPECT_EQ(rig.server.Requests().size(), 1u);
}

TEST_P(BothServices, ARedirectIsNotFollowed) {
  rig.server.Answer(Plain(307, "", {{"Location", "http://elsewhere.example/"}}));
  EXPECT_THAT(rig.Ask().status().message(), AllOf(HasSubstr("redirect"), HasSubstr("--base-url")));
}

TEST_P(BothServices, AWebPageIsNoAnswer) {
  rig.server.Answer(Plain(200, "<html><body>Welcome to the proxy</body></html>", {}, "text/html"));
  EXPECT_THAT(rig.Ask().status().message(), AllOf(HasSubstr("Welcome to the proxy"), HasSubstr("base URL")));
  rig.server.Answer(Plain(200, "hello there", {}, "text/plain"));
  EXPECT_THAT(rig.Ask().status().message(), HasSubstr("hello there"));
  EXPECT_EQ(rig.server.Requests().size(), 2u);
}

TEST_P(BothServices, AnEndpointThatIsDownIsToldAtOnceAndWaitedForOnceItHasAnswered) {
  FakeModelServer gone;
  gone.GoDown();
  rig.options.base_url = gone.Url();
  EXPECT_THAT(rig.Ask().status().message(), AllOf(HasSubstr("could not reach " + gone.Url()), HasSubstr("--base-url")));
  EXPECT_TRUE(rig.waits.empty());

  FakeModelServer server;
  rig.options.base_url = server.Url();
  rig.options.max_retries = 2;
  rig.made_provider = nullptr;
  server.Answer(Stream(rig.Says({"up"})));
  ASSERT_TRUE(rig.Ask().ok());
  server.GoDown();
  EXPECT_THAT(rig.Ask().status().message(), HasSubstr("given up after 3 attempts"));
}

// --- stopping, many at once ---

TEST_P(BothServices, AStopEndsAStreamAndAWait) {
  for (const bool waiting : {false, true}) {
    Rig fresh(GetParam());
    fresh.hooks.sleep = SystemHooks().sleep;
    fresh.hooks.backoff = {3600, 3600};
    fresh.server.Answer(waiting ? Plain(429, "{}", {{"Retry-After", "250"}})
                                : ThenHang(Stream(BeginningOfStream(fresh), /*piece=*/0, /*finished=*/false)));
    std::stop_source stop;
    std::jthread stopper([&] {
      fresh.server.WaitForRequests(1);
      usleep(20000);
      stop.request_stop();
    });
    // Without the stop, neither the stream nor the wait would end within the test's limit.
    EXPECT_EQ(fresh.Ask(stop.get_token()).status().code(), StatusCode::kCancelled);
  }
}

TEST_P(BothServices, ManyRequestsMayBeInFlight) {
  constexpr int kMany = 16;
  for (int i = 0; i < kMany; ++i) rig.server.Answer(Stream(rig.Says({"a", "b", "c"}), /*piece=*/5));
  ModelProvider& provider = rig.provider();
  std::vector<std::jthread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < kMany; ++i) {
    threads.emplace_back([&] {
      const Result<ModelReply> reply = provider.Complete(Request(), {}, {});
      right += reply.ok() && reply->text == "abc";
    });
  }
  threads.clear();
  EXPECT_EQ(right, kMany);
}

// --- keys ---

TEST_P(BothServices, AKeyAppearsNowhere) {
  const std::string key = kKey;
  const std::vector<ServerScript> leaks = {
      Plain(401, R"({"error":{"message":"Incorrect API key provided: )" + key + R"("}})"),
      Plain(400, "bad header: Authorization: Bearer " + key, {}, "text/plain"),
      Plain(404, R"({"detail":"no model for )" + key.substr(0, 20) + R"(..."}})"),
      Plain(200, "<html>" + key + "</html>", {}, "text/html"),
      Stream(Events(
          {{"error", R"({"type":"error","error":{"type":"invalid_request_error","message":")" + key + R"("}})"}})),
      Stream(rig.Says({"your key is ", key, "!"})),
  };
  std::string everything;
  for (const ServerScript& leak : leaks) {
    rig.server.Answer(Plain(503, R"({"error":{"message":"first )" + key + R"("}})"));
    rig.server.Answer(leak);
    const Result<ModelReply> reply = rig.Ask();
    everything += reply.status().message() + "\n";
    if (reply.ok()) {
      everything += reply->text + reply->model + "\n";
      for (const std::string& note : reply->notes) everything += note + "\n";
    }
  }
  for (const ModelProgress& p : rig.shown) everything += p.message + "\n";
  for (const ReceivedRequest& request : rig.server.Requests()) everything += request.body + "\n";
  for (size_t i = 0; i + 8 <= key.size(); ++i) {
    EXPECT_THAT(everything, Not(HasSubstr(key.substr(i, 8)))) << everything;
  }
  EXPECT_THAT(everything, AllOf(HasSubstr("your key is [redacted]!"), HasSubstr("Incorrect API key provided")));
}

TEST_P(BothServices, AKeyGoesOnlyToTheServiceItBelongsTo) {
  const std::string standard = rig.kind == "openai" ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY";
  rig.options.environment = {standard + "=" + kKey};
  rig.options.key_variable = "";
  rig.server.Answer(Stream(rig.Says({"x"})));
  ASSERT_TRUE(rig.Ask().ok());
  EXPECT_EQ(rig.server.Requests()[0].headers.count("authorization"), 0u);
  EXPECT_EQ(rig.server.Requests()[0].headers.count("x-api-key"), 0u);

  // The service's own host over plain http is not taken for the service. The request goes to the proxy, where the test
  // sees it.
  Rig plain(GetParam());
  plain.options.environment = {standard + "=" + kKey, "http_proxy=" + plain.server.Url()};
  plain.options.key_variable = "";
  plain.options.base_url = rig.kind == "openai" ? "http://api.openai.com/v1" : "http://api.anthropic.com";
  plain.server.Answer(Stream(rig.Says({"x"})));
  ASSERT_TRUE(plain.Ask().ok());
  EXPECT_EQ(plain.server.Requests()[0].headers.count(rig.kind == "openai" ? "authorization" : "x-api-key"), 0u);

  rig.options.base_url = "";
  rig.options.environment = {};
  const auto make = [&] {
    return MakeHttpProvider(rig.kind == "openai" ? MakeOpenAiWire() : MakeAnthropicWire(), {"m", "", ""}, rig.options,
                            rig.hooks);
  };
  const Status missing = make().status();
  EXPECT_EQ(missing.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(missing.message(),
              AllOf(HasSubstr(standard + " is not set"), HasSubstr("--key-env"), HasSubstr("--base-url")));
  rig.options.environment = {standard + "=two\nlines-of-a-key"};
  EXPECT_THAT(make().status().message(), AllOf(HasSubstr("line break"), Not(HasSubstr("lines-of"))));
  rig.options.environment = {standard + "=" + kKey + "\n"};
  EXPECT_TRUE(make().ok()) << "a line break at the end comes from reading a file, and is no part of the key";
}

// --- money ---

TEST_P(BothServices, CostIsComputedFromTheTableOrSaidToBeUnknown) {
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  rig.options.prices_file = directory / "prices.toml";
  const auto write = [&](const std::string& rest) {
    ASSERT_TRUE(
        WriteFileAtomically(rig.options.prices_file, "as_of = \"2026-01-02\"\n[[price]]\nmodel = \"" + rig.kind +
                                                         ":m-1\"\ninput = 2\ncached_input = 0.5\noutput = 10\n" + rest)
            .ok());
    rig.made_provider = nullptr;
  };
  write("");
  rig.server.Answer(Stream(rig.Says({"x"})));
  ModelReply reply = rig.Ask().value();
  EXPECT_TRUE(reply.cost_known);
  // 600 input tokens, 400 cached and 200 output tokens cost 600 * 2 + 400 * 0.5 + 200 * 10 = 3400 millionths of a
  // dollar.
  EXPECT_DOUBLE_EQ(reply.cost_usd, 3400e-6);
  EXPECT_EQ(rig.provider().CostCaveat(), "");
  write("up_to_input = 999\n");
  EXPECT_THAT(rig.provider().CostCaveat(), HasSubstr("at most 999 tokens"));
  rig.server.Answer(Stream(rig.Says({"x"})));
  reply = rig.Ask().value();
  EXPECT_FALSE(reply.cost_known);
  EXPECT_EQ(reply.cost_usd, 0);
}

TEST_P(BothServices, ATypoInThePriceFileIsTold) {
  const TemporaryDirectory directory = MakeTemporaryDirectory().value();
  rig.options.prices_file = directory / "prices.toml";
  ASSERT_TRUE(
      WriteFileAtomically(rig.options.prices_file, "as_of = \"2026-01-02\"\n[[price]]\nmodle = \"openai:m\"\n").ok());
  const Status status = MakeHttpProvider(MakeOpenAiWire(), {"m", "", ""}, rig.options, rig.hooks).status();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("prices.toml:"), HasSubstr("model")));
  rig.options.prices_file = directory / "absent.toml";
  EXPECT_EQ(MakeHttpProvider(MakeOpenAiWire(), {"m", "", ""}, rig.options, rig.hooks).status().code(),
            StatusCode::kNotFound);
}

// --- proxies ---

TEST(Proxy, IsUsedForOtherMachinesAndNotForThisOne) {
  Rig rig("openai");
  rig.options.environment.push_back("http_proxy=http://127.0.0.1:9");  // nobody listens there
  rig.server.Answer(Stream(OpenAiSays({"direct"})));
  EXPECT_EQ(rig.Ask().value().text, "direct");

  Rig far("openai");
  far.options.environment.push_back("http_proxy=" + far.server.Url());
  far.options.base_url = "http://models.example:8000";
  far.server.Answer(Stream(OpenAiSays({"by proxy"})));
  EXPECT_EQ(far.Ask().value().text, "by proxy");
  EXPECT_EQ(far.server.Requests()[0].path, "http://models.example:8000/v1/chat/completions");
}

}  // namespace
}  // namespace hone
