// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the mailbox with real files, replays, and the making of providers. run/run_loop_test.cc tests whole runs.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/files/file.h"
#include "base/numbers/hash.h"
#include "hone/tuner/model_provider.h"

namespace hone {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

ModelRequest Request(int64_t number, const std::string& run = "r1") {
  ModelRequest request;
  request.run = run;
  request.number = number;
  request.role = "coder";
  request.messages = {{"user", "make it fast, größer"}};
  request.attachments = {{"parent", "// source"}};
  request.limit_seconds = 300;
  return request;
}

// A mailbox in a temporary folder, polled every 10 ms.
struct Mailbox {
  TemporaryDirectory directory = MakeTemporaryDirectory().value();
  std::unique_ptr<ModelProvider> provider = MakeProvider("mailbox:" + directory.path(), {nullptr, 0.01}).value();
  std::string request(const std::string& name) { return directory / ("requests/" + name); }
  std::string reply(const std::string& name) { return directory / ("replies/" + name); }
};

// Waits until the file exists, at most a hundred seconds.
void WaitFor(const std::string& path) {
  for (int i = 0; i < 20000 && !FileExists(path); ++i) usleep(5000);
}

TEST(Mailbox, AsksInFilesAndTakesTheAnswer) {
  Mailbox box;
  std::jthread answerer([&] {
    WaitFor(box.request("0000.md"));
    ASSERT_TRUE(WriteFileAtomically(box.reply("0000.md"), "IDEA: x").ok());
  });
  std::string waiting;
  const ModelReply reply =
      box.provider->Complete(Request(0), [&](const ModelProgress& p) { waiting = p.message; }, {}).value();
  EXPECT_EQ(reply.text, "IDEA: x");
  EXPECT_EQ(reply.provider, "mailbox");
  EXPECT_TRUE(reply.usage.estimated);
  EXPECT_THAT(waiting, HasSubstr("0000.md"));
  const nlohmann::json json = nlohmann::json::parse(ReadFile(box.request("0000.json")).value());
  EXPECT_EQ(json["messages"][0]["text"], "make it fast, größer");
  EXPECT_EQ(json["attachments"]["parent"], "// source");
  EXPECT_THAT(ReadFile(box.request("0000.md")).value(), HasSubstr("make it fast, größer"));
  // No temporary file is left.
  for (const auto& entry : fs::recursive_directory_iterator(box.directory.path()))
    EXPECT_NE(entry.path().extension(), ".tmp");
}

TEST(Mailbox, AnAnswerMayNameTheModelInItsFirstLine) {
  const std::vector<std::array<std::string, 3>> answers = {
      {"<!-- model: some-model 4 -->\nIDEA: x\n", "some-model 4", "IDEA: x\n"},
      {"\n<!-- model:m-->\r\nIDEA: x", "m", "IDEA: x"},
      {"<!-- model: m -->", "m", ""},
      // A line that names no model is part of the answer.
      {"<!-- model: -->\nIDEA: x", "", "<!-- model: -->\nIDEA: x"},
      {"<!-- model: m\nIDEA: x -->", "", "<!-- model: m\nIDEA: x -->"},
      {"IDEA: x\n<!-- model: m -->\n", "", "IDEA: x\n<!-- model: m -->\n"}};
  for (const auto& [reply_text, model, text] : answers) {
    Mailbox box;
    ASSERT_TRUE(MakeDirectories(box.directory / "replies").ok());
    ASSERT_TRUE(WriteFileAtomically(box.reply("0000.md"), reply_text).ok());
    const ModelReply reply = box.provider->Complete(Request(0), {}, {}).value();
    EXPECT_EQ(reply.model, model) << reply_text;
    EXPECT_EQ(reply.text, text) << reply_text;
  }
}

TEST(Mailbox, AnAnswerThatGrowsIsTakenWhole) {
  Mailbox box;
  // The provider calls this on its own thread between two polls. Each call adds a line, so that however busy the
  // machine is, no two polls find the same size before the last line.
  int lines = 0;
  const auto grow = [&](const ModelProgress&) {
    if (lines == 30) return;
    std::ofstream(box.reply("0000.md"), std::ios::app) << "line " << lines++ << "\n";
  };
  EXPECT_THAT(box.provider->Complete(Request(0), grow, {}).value().text, HasSubstr("line 29"));
}

TEST(Mailbox, ASuspendedRunTakesAnAnswerThatIsThereAndWaitsForNoOther) {
  Mailbox box;
  ModelRequest request = Request(0);
  request.suspends = true;
  EXPECT_EQ(box.provider->Complete(request, {}, {}).status().code(), StatusCode::kPending);
  ASSERT_TRUE(WriteFileAtomically(box.reply("0000.md"), "there").ok());
  EXPECT_EQ(box.provider->Complete(request, {}, {}).value().text, "there");
  // An old answer is taken at the first look: the next one would come after the test's limit.
  const timespec old[2] = {{.tv_sec = 1, .tv_nsec = 0}, {.tv_sec = 1, .tv_nsec = 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, box.reply("0000.md").c_str(), old, 0), 0);
  std::unique_ptr<ModelProvider> slow = MakeProvider("mailbox:" + box.directory.path(), {nullptr, 1e6}).value();
  EXPECT_EQ(slow->Complete(request, {}, {}).value().text, "there");
}

TEST(Mailbox, AResumedRunFindsItsQuestionAndTheAnswerThatCameMeanwhile) {
  Mailbox box;
  ModelRequest request = Request(3);
  request.limit_seconds = 0.05;
  const Status silent = box.provider->Complete(request, {}, {}).status();
  EXPECT_EQ(silent.code(), StatusCode::kTimedOut);
  EXPECT_THAT(silent.message(), HasSubstr("replies/0003.md"));
  ASSERT_TRUE(WriteFileAtomically(box.reply("0003.md"), "late").ok());
  // The process was killed before it wrote the readable file: it is written when the run resumes.
  fs::remove(box.request("0003.md"));
  std::unique_ptr<ModelProvider> again = MakeProvider("mailbox:" + box.directory.path(), {nullptr, 0.01}).value();
  EXPECT_EQ(again->Complete(Request(3), {}, {}).value().text, "late");
  EXPECT_TRUE(FileExists(box.request("0003.md")));
  EXPECT_FALSE(FileExists(box.request("0003-r1.json"))) << "it is posted once";
}

TEST(Mailbox, TwoRunsInOneFolderKeepTheirOwnQuestions) {
  Mailbox box;
  ASSERT_TRUE(WriteFileAtomically(box.reply("0000.md"), "for a").ok());
  ASSERT_TRUE(WriteFileAtomically(box.reply("0000-b.md"), "for b").ok());
  EXPECT_EQ(box.provider->Complete(Request(0, "a"), {}, {}).value().text, "for a");
  EXPECT_EQ(box.provider->Complete(Request(0, "b"), {}, {}).value().text, "for b");
  EXPECT_EQ(box.provider->Complete(Request(0, "a"), {}, {}).value().text, "for a");
}

TEST(Mailbox, AFileIsNamedByItsRequestAndARepairSaysWhatItRepairs) {
  Mailbox box;
  ModelRequest first = Request(8, "20261121-064512-3fa9"), repair = Request(9, "20261121-064512-3fa9");
  repair.repair_of = 8;
  for (const auto& [request, name] : {std::pair(&first, "0008"), {&repair, "0009"}}) {
    ASSERT_TRUE(WriteFileAtomically(box.reply(std::string(name) + ".md"), "x").ok());
    ASSERT_TRUE(box.provider->Complete(*request, {}, {}).ok());
    EXPECT_THAT(ReadFile(box.request(std::string(name) + ".md")).value(),
                HasSubstr(std::string("Request ") + name + " of run"));
    const nlohmann::json json = nlohmann::json::parse(ReadFile(box.request(std::string(name) + ".json")).value());
    EXPECT_EQ(json["number"], request->number);
    EXPECT_EQ(json.value("repair_of", -1), request->repair_of);
  }
  EXPECT_THAT(ReadFile(box.request("0009.md")).value(), HasSubstr("repair of 0008"));
  ModelRequest other = Request(8, "20261121-070000-77b0");
  ASSERT_TRUE(WriteFileAtomically(box.reply("0008-77b0.md"), "for the other").ok());
  EXPECT_EQ(box.provider->Complete(other, {}, {}).value().text, "for the other");
}

TEST(Mailbox, AQuestionThatAnOlderHoneCountedIsFound) {
  Mailbox box;
  ASSERT_TRUE(WriteFileAtomically(box.request("0000.json"), R"({"run":"r1","number":8})").ok());
  ASSERT_TRUE(WriteFileAtomically(box.reply("0000.md"), "as counted").ok());
  EXPECT_EQ(box.provider->Complete(Request(8), {}, {}).value().text, "as counted");
  EXPECT_FALSE(FileExists(box.request("0008.json")));
}

TEST(Mailbox, AStopEndsTheWait) {
  Mailbox box;
  std::stop_source stop;
  std::jthread stopper([&] {
    WaitFor(box.request("0000.md"));
    stop.request_stop();
  });
  EXPECT_EQ(box.provider->Complete(Request(0), {}, stop.get_token()).status().code(), StatusCode::kCancelled);
}

TEST(Mailbox, AFolderThatCannotBeMadeIsAStatus) {
  TemporaryDirectory directory = MakeTemporaryDirectory().value();
  ASSERT_TRUE(WriteFileAtomically(directory / "file", "x").ok());
  EXPECT_FALSE(MakeProvider("mailbox:" + directory / "file" + "/box", {}).ok());
}

TEST(Replay, AnswersByNumberAndThenIsExhausted) {
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  RunInfo info;
  info.id = "r1";
  ASSERT_TRUE(store->CreateRun(info).ok());
  const auto add = [&](int number, const std::string& text) {
    EventDraft draft;
    draft.kind = EventKind::kReply;
    draft.sources = {text};
    draft.payload =
        nlohmann::json{{"number", number}, {"text", Sha256Hex(text)}, {"finish", "length"}, {"output_tokens", 7}}
            .dump();
    ASSERT_TRUE(store->Append("r1", draft).ok());
  };
  EXPECT_FALSE(MakeProvider("replay:r1", {store.get(), 0.1}).ok()) << "nothing to replay";
  add(0, "zero");
  add(2, "two");
  EventDraft failed;
  failed.kind = EventKind::kReply;
  failed.payload = R"({"number":1,"error":{"code":"timed_out","message":"late"}})";
  ASSERT_TRUE(store->Append("r1", failed).ok());
  std::unique_ptr<ModelProvider> replay = MakeProvider("replay:last", {store.get(), 0.1}).value();
  const ModelReply two = replay->Complete(Request(2), {}, {}).value();
  EXPECT_EQ(two.text, "two");
  EXPECT_EQ(two.finish, FinishReason::kLength);
  EXPECT_EQ(two.usage.output, 7);
  EXPECT_EQ(replay->Complete(Request(1), {}, {}).value().finish, FinishReason::kExhausted);
}

TEST(MakeProvider, ListsWhatThereIs) {
  for (const char* wrong : {"oracle", "", "builtin:x", "mailbox:", "replay"}) {
    const Status status = MakeProvider(wrong, {}).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << wrong;
    const bool known = std::string(wrong) == "mailbox:" || std::string(wrong) == "builtin:x";
    EXPECT_THAT(status.message(), HasSubstr(known ? "argument" : "replay"));
  }
  EXPECT_FALSE(MakeProvider("replay:/no/such/file.jsonl", {}).ok());
  EXPECT_TRUE(MakeProvider("builtin", {}).ok());
}

}  // namespace
}  // namespace hone
