// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the conversion of events to JSON and back: nothing of a recorded run is lost, and damage is reported.
#include "tuner/run/log/events.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/files/file.h"

namespace hone {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;

// Returns the exported runs in examples/runs.
std::vector<std::string> RecordedRuns() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HONE_SOURCE_DIR "/examples/runs")) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  }
  return files;
}

Event EventOf(EventKind kind, const std::string& payload, const std::string& evaluation = "") {
  Event event;
  event.kind = kind;
  event.node = 1;
  event.payload = payload;
  event.evaluation = evaluation;
  return event;
}

// Returns the fields of `before` that differ in `after`; `after` may lack empty texts and lists.
std::string FieldsThatDiffer(const Json& before, const Json& after) {
  std::string lost;
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key) && (value == "" || value == Json::array())) continue;
    if (key == "options" || key == "facts") {
      lost += after.contains(key) ? FieldsThatDiffer(value, after[key]) : key + " ";
    } else if (!after.contains(key) || after[key] != value) {
      lost += fmt::format("{}: {} became {}; ", key, value.dump(), after.contains(key) ? after[key].dump() : "nothing");
    }
  }
  return lost;
}

TEST(Events, WhatARecordedRunHoldsIsWrittenAgainAsItWasRead) {
  std::set<EventKind> kinds;
  const std::vector<std::string> files = RecordedRuns();
  ASSERT_GE(files.size(), 18u);
  for (const std::string& file : files) {
    const std::unique_ptr<RunStore> store = MakeMemoryRunStore();
    const std::string id = ImportRun(*store, ReadFile(file).value()).value();
    const std::vector<Event> events = store->Events(id).value();
    for (const Event& event : events) {
      const Result<RunEvent> decoded = DecodeEvent(event);
      ASSERT_TRUE(decoded.ok()) << file << ", event " << event.sequence << ": " << decoded.status().message();
      const EventDraft encoded = EncodeEvent(*decoded);
      EXPECT_EQ(encoded.kind, event.kind);
      EXPECT_EQ(FieldsThatDiffer(Json::parse(event.payload), Json::parse(encoded.payload)), "")
          << file << ", event " << event.sequence;
      EXPECT_EQ(encoded.evaluation.empty(), event.evaluation.empty()) << file << ", event " << event.sequence;
      if (event.kind != EventKind::kStarted && event.kind != EventKind::kResumed && event.kind != EventKind::kEnded) {
        EXPECT_EQ(encoded.node, event.node) << file << ", event " << event.sequence;
      }
      kinds.insert(event.kind);
    }
  }
  EXPECT_EQ(kinds.size(), 13u) << "every kind but notes";
}

TEST(Events, ANoteAndAFailedRequestComeBackAsWritten) {
  for (const RunEvent& original : {RunEvent(NoteTaken{{3, 24, "the command ended with status 1"}}),
                                   RunEvent(RequestFailed{24, "unavailable", "no answer"})}) {
    const EventDraft draft = EncodeEvent(original);
    Event event = EventOf(draft.kind, draft.payload);
    event.node = draft.node;
    const Result<RunEvent> decoded = DecodeEvent(event);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->index(), original.index());
    EXPECT_EQ(EncodeEvent(*decoded).payload, draft.payload);
    EXPECT_EQ(EncodeEvent(*decoded).node, draft.node);
  }
}

TEST(Events, DamageIsToldAndNeverGuessedAt) {
  const auto message = [](EventKind kind, const std::string& payload) {
    return DecodeEvent(EventOf(kind, payload)).status().message();
  };
  EXPECT_THAT(message(EventKind::kReply, "[1]"), HasSubstr("no JSON object"));
  EXPECT_THAT(message(EventKind::kReply, "{}"), HasSubstr("number"));
  EXPECT_THAT(message(EventKind::kReply, R"({"number":1})"), HasSubstr("text"));
  EXPECT_THAT(message(EventKind::kEvaluation, R"({"incumbent":0})"), HasSubstr("carries no evaluation"));
  EXPECT_THAT(message(EventKind::kProposal, R"({"idea":"x"})"), HasSubstr("source"));
  EXPECT_EQ(DecodeEvent(EventOf(EventKind::kStarted, R"({"version":99})")).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(Events, AChoiceOfTheOldestLogsOpensNoNode) {
  const Event event = EventOf(EventKind::kChoice, R"({"action":"attempt","parent":0})");
  EXPECT_TRUE(std::holds_alternative<OtherChoice>(DecodeEvent(event, 1).value()));
  EXPECT_FALSE(DecodeEvent(event, 2).ok()) << "later ones name the incumbent and the turns";
}

}  // namespace
}  // namespace hone
