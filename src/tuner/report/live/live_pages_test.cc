// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the pages of a followed run: what each path returns, and that a page changes with the run.
#include "tuner/report/live/live_pages.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "hone/tuner/strategy.h"
#include "tuner/report/side_by_side.h"
#include "tuner/report/synthetic_run.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string TaskFile(const char* name) {
  return ReadFile(std::string(HONE_SOURCE_DIR) + "/tasks/rmsnorm/" + name).value();
}

// The pages of a run in a store in memory, to which tests append events.
struct Followed {
  RunStore* store;
  LivePages pages;
  RunView view;
};
// Writes a synthetic run and opens its pages.
Followed Follow(const SyntheticRun& run) {
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  const Status status = WriteSyntheticRun(*store, run, TaskFile("task.toml"), TaskFile("seed.cu"));
  EXPECT_TRUE(status.ok()) << status.message();
  RunView view = LoadRun(*store, run.id).value();
  RunStore* store_pointer = store.get();
  return {store_pointer, LivePages(std::move(store), run.id), std::move(view)};
}

TEST(LivePages, TheReportFollowsAndLinksEachNode) {
  Followed f = Follow({.nodes = 12});
  const PageAnswer page = f.pages.Get("/", {});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(HasSubstr("<script src=/live.js defer></script>"), HasSubstr("href='/node/12'"),
                               HasSubstr(fmt::format("data-events={}", f.view.events)), HasSubstr("Every shape"),
                               HasSubstr("href='/compare?a=")));
  EXPECT_THAT(f.pages.Get("/live.js", {}).type, HasSubstr("javascript"));
}

TEST(LivePages, TheVersionGrowsWithTheRunAndThePageWithIt) {
  Followed f = Follow({.nodes = 3, .end = false});
  const auto version = [&] { return nlohmann::json::parse(f.pages.Get("/version", {}).body); };
  const int64_t before = version().at("events");
  EXPECT_EQ(before, f.view.events);
  EXPECT_FALSE(version().at("ended").get<bool>());
  EXPECT_THAT(f.pages.Get("/", {}).body, HasSubstr("data-ended=false"));
  EventDraft choice;
  choice.kind = EventKind::kChoice;
  choice.node = 4;
  choice.time = 1'790'000'500;
  choice.payload = R"({"action":"attempt","parent":0,"purpose":"optimise","known":4,"incumbent":0,"turns":[]})";
  ASSERT_TRUE(f.store->Append(f.view.info.id, choice).ok());
  EXPECT_EQ(version().at("events"), before + 1);
  EXPECT_THAT(f.pages.Get("/", {}).body, HasSubstr(fmt::format("data-events={}", before + 1)));
  EventDraft ended;
  ended.kind = EventKind::kEnded;
  ended.time = 1'790'000'501;
  ended.payload = R"({"reason":"stopped"})";
  ASSERT_TRUE(f.store->Append(f.view.info.id, ended).ok());
  EXPECT_TRUE(version().at("ended").get<bool>());
  EXPECT_THAT(f.pages.Get("/", {}).body, HasSubstr("data-ended=true"));
}

TEST(LivePages, ARunWithoutEventsIsFollowedAllTheSame) {
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  RunInfo info;
  info.id = "20260921-101500-0abc";
  info.task = "rmsnorm";
  ASSERT_TRUE(store->CreateRun(info).ok());
  LivePages pages(std::move(store), info.id);
  const PageAnswer page = pages.Get("/", {});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(HasSubstr("no events yet"), HasSubstr("data-events=0 data-ended=false")));
}

TEST(LivePages, ANodeHasItsConversationDifferenceAndSource) {
  Followed f = Follow({.nodes = 12});
  int64_t changed = 0;
  for (const RunNode& n : f.view.nodes) {
    if (n.parent >= 0 && !n.source_hash.empty() && n.source_hash != f.view.node(n.parent).source_hash) changed = n.id;
  }
  ASSERT_GT(changed, 0);
  const PageAnswer page = f.pages.Get(fmt::format("/node/{}", changed), {});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(HasSubstr("Conversation"), HasSubstr("reply of "), HasSubstr("Difference to node"),
                               HasSubstr("<h2 id=source>")));
}

TEST(LivePages, TwoVersionsStandSideBySide) {
  Followed f = Follow({.nodes = 12});
  ASSERT_GT(f.view.best, 0);
  const PageAnswer page = f.pages.Get("/compare", {{"a", "0"}, {"b", std::to_string(f.view.best)}});
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(HasSubstr("class=sides"), HasSubstr("class=add"), HasSubstr("selected")));
  EXPECT_THAT(f.pages.Get("/compare", {{"a", "0"}, {"b", "0"}}).body, HasSubstr("The two sources are equal."));
}

TEST(LivePages, WhatIsNotThereIsSaid) {
  Followed f = Follow({.nodes = 3});
  for (const char* path :
       {"/node/4", "/node/-1", "/node/", "/node/1x", "/node/99999999999999999999", "/elsewhere", "/../etc/passwd"}) {
    EXPECT_EQ(f.pages.Get(path, {}).status, 404) << path;
  }
  const PageAnswer page = f.pages.Get("/compare", {{"a", "<script>"}});
  EXPECT_EQ(page.status, 404);
  EXPECT_THAT(page.body, AllOf(HasSubstr("&lt;script&gt;"), Not(HasSubstr("'<script>"))));
}

TEST(SideBySide, ReplacedLinesShareARowAndLongEqualPartsAreLeftOut) {
  std::string same;
  for (int i = 0; i < 40; ++i) same += fmt::format("int a{};\n", i);
  const std::string html = SideBySide(same + "old();\nless();\n" + same, same + "fresh();\n" + same, "A & B", "C", 2);
  EXPECT_THAT(
      html,
      AllOf(HasSubstr("A &amp; B"),
            HasSubstr("<td class=n data-n='41'></td><td class=del>old();</td><td class=n "
                      "data-n='41'></td><td class=add>fresh();</td>"),
            HasSubstr("<td class=n data-n='42'></td><td class=del>less();</td><td class=n></td><td class=none></td>"),
            HasSubstr("⋯"), Not(HasSubstr("a20;"))));
  EXPECT_THAT(SideBySide(same, same + "x;\n", "A", "C"), HasSubstr("a20"));
}

}  // namespace
}  // namespace hone
