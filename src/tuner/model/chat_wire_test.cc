// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the wire formats with bytes that services and compatible servers are known to send, and checks the request
// bodies.
#include "tuner/model/chat_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/model/endpoint.h"
#include "tuner/model/sse.h"
#include "base/text/utf8.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns what is read from events with these data.
StreamedReply Read(const ChatWire& wire, const std::vector<std::string>& datas) {
  StreamedReply reply;
  for (const std::string& data : datas) wire.ReadEvent({"", data}, reply);
  return reply;
}

// Returns an event of the chat completions format.
std::string Chunk(const std::string& delta, const std::string& finish = "null") {
  return R"({"choices":[{"index":0,"delta":)" + delta + R"(,"finish_reason":)" + finish + "}]}";
}

ModelRequest MakeRequest(std::vector<ModelMessage> messages) {
  ModelRequest request;
  request.messages = std::move(messages);
  request.temperature = 1.5;
  request.max_tokens = 7;
  return request;
}

TEST(Sse, ReadsFieldsCommentsAndEveryLineEnd) {
  for (const std::string eol : {"\n", "\r\n", "\r"}) {
    const std::string text = "\xEF\xBB\xBF: comment" + eol + "event: a" + eol + "data: one" + eol + "data:two" + eol +
                             "id: 7" + eol + eol + eol + "data" + eol + eol + "data: last";
    for (size_t piece = 1; piece <= text.size(); ++piece) {
      std::vector<std::string> events;
      const SseSink sink = [&](const SseEvent& e) { events.push_back(e.event + "|" + e.data); };
      SseParser parser;
      for (size_t at = 0; at < text.size(); at += piece) ASSERT_TRUE(parser.Feed(text.substr(at, piece), sink));
      EXPECT_THAT(events, testing::ElementsAre("a|one\ntwo", "|"));
      parser.Finish(sink);
      EXPECT_THAT(events, testing::ElementsAre("a|one\ntwo", "|", "|last"));
    }
  }
}

TEST(Sse, ALineWithoutEndHasABound) {
  SseParser parser(100);
  const SseSink none = [](const SseEvent&) {};
  EXPECT_TRUE(parser.Feed(std::string(90, 'x'), none));
  EXPECT_FALSE(parser.Feed(std::string(90, 'x'), none));
}

TEST(Utf8, OnlyWhatIsBrokenIsReplaced) {
  EXPECT_EQ(RepairUtf8("größer 🚀 ok"), "größer 🚀 ok");
  EXPECT_EQ(RepairUtf8("a\x80z"), "a\uFFFDz");
  EXPECT_EQ(RepairUtf8("\xF0\x9F\x9A"), "\uFFFD") << "a cut character is one mark";
  EXPECT_EQ(RepairUtf8("\xC0\xAF"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(RepairUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(RepairUtf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond the last character";
}

TEST(Utf8, HalvedSurrogateEscapesAreReplaced) {
  EXPECT_EQ(RepairSurrogateEscapes(R"("\ud83d\ude80")"), R"("\ud83d\ude80")");
  EXPECT_EQ(RepairSurrogateEscapes(R"("\ud83d" "\ude80" "\u00e4")"), R"("\ufffd" "\ufffd" "\u00e4")");
  EXPECT_EQ(RepairSurrogateEscapes(R"("\\ud83d")"), R"("\\ud83d")") << "an escaped backslash, then plain letters";
  EXPECT_EQ(RepairSurrogateEscapes(R"("\ud83d\)"), R"("\ufffd\)");
}

TEST(OpenAiWire, ReasoningIsCountedAndNotKept) {
  const auto wire = MakeOpenAiWire();
  const StreamedReply reply =
      Read(*wire, {Chunk(R"({"reasoning_content":"12345678"})"), Chunk(R"({"reasoning":"1234","content":null})"),
                   Chunk(R"({"content":"answer!!"})"), "[DONE]"});
  EXPECT_EQ(reply.text, "answer!!");
  EXPECT_EQ(reply.thought_bytes, 12);
  EXPECT_EQ(reply.TokensSoFar(), 5);
  EXPECT_FALSE(reply.output_tokens.has_value()) << "no usage was sent";
  EXPECT_TRUE(reply.whole()) << "[DONE] without a finish_reason";
}

TEST(OpenAiWire, UsageMayComeInEveryChunk) {
  const auto wire = MakeOpenAiWire();
  const StreamedReply reply = Read(
      *wire, {R"({"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}})",
              R"({"choices":[{"delta":{"content":"b"}}],"usage":null})",
              R"({"choices":[{"delta":{},"finish_reason":"eos"}],"usage":{"prompt_tokens":9,"completion_tokens":2}})"});
  EXPECT_EQ(reply.text, "ab");
  EXPECT_EQ(reply.input_tokens, 9);
  EXPECT_EQ(reply.output_tokens, 2);
  EXPECT_EQ(reply.finish, FinishReason::kStop);
}

TEST(OpenAiWire, FinishReasonsOfManyServers) {
  const auto wire = MakeOpenAiWire();
  for (const char* cut : {"\"length\"", "\"max_tokens\"", "\"model_length\""})
    EXPECT_EQ(Read(*wire, {Chunk("{}", cut)}).finish, FinishReason::kLength) << cut;
  for (const char* no : {"\"content_filter\"", "\"refusal\"", "\"SAFETY\""})
    EXPECT_EQ(Read(*wire, {Chunk("{}", no)}).finish, FinishReason::kRefused) << no;
  EXPECT_EQ(Read(*wire, {Chunk("{}", "\"tool_calls\"")}).finish, FinishReason::kStop);
  EXPECT_FALSE(Read(*wire, {Chunk("{}")}).whole());
  EXPECT_TRUE(Read(*wire, {Chunk("{}", "\"error\"")}).error.has_value());
  const StreamedReply refused = Read(*wire, {Chunk(R"({"refusal":"I will not."})"), Chunk("{}", "\"stop\"")});
  EXPECT_EQ(refused.text, "I will not.");
  EXPECT_EQ(refused.finish, FinishReason::kRefused);
}

TEST(OpenAiWire, FieldsOfTheWrongTypeAreAsGoodAsMissing) {
  const auto wire = MakeOpenAiWire();
  for (const char* odd :
       {R"({})", R"({"choices":{}})", R"({"choices":[]})", R"({"choices":[7]})", R"({"choices":[{"delta":[]}]})",
        R"({"choices":[{"delta":{"content":7}}],"usage":[],"model":3})", R"({"error":null})", R"({"error":{}})"}) {
    const StreamedReply reply = Read(*wire, {odd});
    EXPECT_EQ(reply.text, "") << odd;
    EXPECT_FALSE(reply.error) << odd;
    EXPECT_EQ(reply.malformed, "") << odd;
  }
  EXPECT_EQ(Read(*wire, {"[1]"}).malformed, "[1]");
  EXPECT_EQ(Read(*wire, {Chunk(R"({"content":[{"type":"text","text":"in "},{"text":"parts"}]})")}).text, "in parts");
}

TEST(AnthropicWire, UnknownEventsAndBlocksArePassedOver) {
  const auto wire = MakeAnthropicWire();
  const StreamedReply reply = Read(
      *wire,
      {R"({"type":"ping"})", R"({"type":"new_invention","text":"x"})",
       R"({"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"1234"}})",
       R"({"type":"content_block_delta","delta":{"type":"signature_delta","signature":"abc"}})",
       R"({"type":"content_block_delta","delta":{"type":"input_json_delta","partial_json":"{"}})",
       R"({"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}})",
       R"({"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"input_tokens":5,"output_tokens":3}})"});
  EXPECT_EQ(reply.text, "hi");
  EXPECT_EQ(reply.thought_bytes, 4);
  EXPECT_EQ(reply.finish, FinishReason::kLength);
  EXPECT_EQ(reply.input_tokens, 5) << "compatible servers count the input at the end";
  EXPECT_EQ(reply.output_tokens, 3);
}

TEST(AnthropicWire, TurnsAreMadeToAlternateAndTheSystemTextStandsApart) {
  const auto wire = MakeAnthropicWire();
  const auto body = [&](std::vector<ModelMessage> messages) {
    return wire->Body(MakeRequest(std::move(messages)), "m", {});
  };
  EXPECT_EQ(body({{"system", "S"}, {"user", "a"}, {"user", "b"}, {"assistant", "c \n"}}),
            R"({"max_tokens":7,"messages":[{"content":"a\n\nb","role":"user"},{"content":"c","role":"assistant"}],)"
            R"("model":"m","stream":true,"system":"S","temperature":1.0})");
  EXPECT_THAT(body({{"system", "only this"}}), HasSubstr(R"("messages":[{"content":"only this","role":"user"}])"));
  EXPECT_THAT(body({{"user", "a"}, {"system", "later"}}), HasSubstr(R"({"content":"a\n\nlater","role":"user"})"));
  EXPECT_THAT(body({{"user", " "}, {"assistant", "x"}, {"user", "y"}}), HasSubstr("(The conversation so far:)"));
}

TEST(OpenAiWire, BodiesCarryWhatIsAllowed) {
  const auto wire = MakeOpenAiWire();
  WireAllowances none;
  none.temperature = none.stream_options = false;
  none.max_completion_tokens = true;
  none.max_tokens = 3;
  EXPECT_EQ(wire->Body(MakeRequest({{"user", "broken \xFF byte"}}), "m", none),
            "{\"max_completion_tokens\":3,\"messages\":[{\"content\":\"broken \uFFFD byte\",\"role\":\"user\"}],"
            "\"model\":\"m\",\"stream\":true}");
}

TEST(WireErrors, AreReadInEveryShape) {
  EXPECT_EQ(ReadWireError(R"({"error":{"message":"a","type":"t","code":"c"}})").code, "c");
  EXPECT_EQ(ReadWireError(R"({"error":{"message":"a","code":503}})").status, 503);
  EXPECT_EQ(ReadWireError(R"({"error":"model 'x' not found"})").message, "model 'x' not found");
  EXPECT_EQ(ReadWireError(R"({"object":"error","message":"b","code":404})").message, "b");
  EXPECT_EQ(ReadWireError(R"({"detail":"Not Found"})").message, "Not Found");
  EXPECT_THAT(ReadWireError(R"({"detail":[{"msg":"field required"}]})").message, HasSubstr("field required"));
  EXPECT_EQ(ReadWireError("plain\n\n  text \xFF").message, "plain text \uFFFD");
  EXPECT_LE(ReadWireError(std::string(100000, 'x')).message.size(), 700u);
  EXPECT_EQ(ReadWireError("").message, "");
}

TEST(Concede, GivesWayOnlyWhereTheRefusalPoints) {
  const auto concede = [](const std::string& message, WireAllowances sent = {}, int64_t asked = 4096) {
    return AllowancesAfterRefusal(sent, asked, {0, "", "", message});
  };
  EXPECT_FALSE(concede("your prompt is offensive").has_value());
  EXPECT_FALSE(concede("temperature is wrong")->temperature);
  WireAllowances cold;
  cold.temperature = false;
  EXPECT_FALSE(concede("temperature is wrong", cold).has_value()) << "never twice";
  EXPECT_EQ(concede("This model's maximum context length is 8192 tokens")->max_tokens, 2048);
  EXPECT_FALSE(concede("This model's maximum context length is 512 tokens", {}, 1024).has_value());
  WireAllowances renamed;
  renamed.max_completion_tokens = true;
  EXPECT_FALSE(concede("Unknown field: max_completion_tokens", renamed)->max_completion_tokens);
}

}  // namespace
}  // namespace hone
