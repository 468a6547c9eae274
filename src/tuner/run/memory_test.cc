// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tuner/agents/direction.h"
#include "tuner/run/replay_run.h"
#include "tuner/run/scripted_run.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::Not;

// Returns the task `copy` under another name, with another reference and seed.
Task RenamedTask(const std::string& name, const std::string& oracle, const std::string& seed_mark) {
  Task task = ScriptedTask();
  std::string toml = kScriptedTaskToml;
  toml.replace(toml.find("\"copy\""), 6, "\"" + name + "\"");
  task = ParseTask(toml, "task.toml").value();
  task.oracle_source = oracle;
  task.seed_source = SourceWithMark(seed_mark);
  return task;
}

// A store with a run on the task `copy`, in which idea 1 gave a speedup of 1.25 and idea 2 was slower.
struct Earlier {
  Earlier()
      : run("sample", [](const ModelRequest& r) -> Result<std::string> {
          return r.number == RequestNumber(1, 0, /*repair=*/false) ? FileReply("two loads a thread", "SPEED 80")
                                                                   : FileReply("wait a while", "SPEED 300");
        }) {
    run.task.oracle_source = "// the oracle of copy\n";
    run.options.max_attempts = 2;
    run.RunToTheEnd();
  }
  std::vector<RememberedIdea> For(const Task& task) {
    return Remember(*run.store, task, run.evaluator.facts()).value();
  }
  ScriptedRun run;
};

TEST(Memory, WhatWasProvenOnAnotherTaskOfTheClassIsRemembered) {
  Earlier earlier;
  const std::vector<RememberedIdea> ideas = earlier.For(RenamedTask("scale", "// another oracle\n", "another seed"));
  ASSERT_EQ(ideas.size(), 1u);
  EXPECT_EQ(ideas[0].idea, "two loads a thread");
  EXPECT_EQ(ideas[0].task, "copy");
  EXPECT_NEAR(ideas[0].gain, 1.25, 1e-9);
  EXPECT_GT(ideas[0].low, 1);
  EXPECT_DOUBLE_EQ(ideas[0].bytes, 2.0 * 4 * 4096 * 1024);
  EXPECT_THAT(ideas[0].diff, HasSubstr("+// SPEED 80"));
}

TEST(Memory, NothingComesFromTheSameTaskByNameReferenceOrLineage) {
  Earlier earlier;
  EXPECT_TRUE(earlier.For(RenamedTask("copy", "// another oracle\n", "another seed")).empty()) << "its name";
  EXPECT_TRUE(earlier.For(RenamedTask("scale", "// the oracle of copy\n", "another seed")).empty()) << "its reference";
  // The task's seed equals the earlier run's last version.
  EXPECT_TRUE(earlier.For(RenamedTask("scale", "// another oracle\n", "SPEED 80")).empty()) << "its lineage";
}

TEST(Memory, AnotherDeviceOrClassIsLeftOut) {
  Earlier earlier;
  const Task task = RenamedTask("scale", "// another oracle\n", "another seed");
  DeviceFacts other = earlier.run.evaluator.facts();
  other.name = "another device";
  EXPECT_TRUE(Remember(*earlier.run.store, task, other).value().empty());
  other = earlier.run.evaluator.facts();
  other.modelled = false;
  EXPECT_TRUE(Remember(*earlier.run.store, task, other).value().empty());
  Task reduction = task;
  reduction.workload = WorkloadClass::kReduction;
  EXPECT_TRUE(earlier.For(reduction).empty());
}

TEST(Memory, ARunShowsItsMemoryAndRepeatsWithoutTheStore) {
  Earlier earlier;
  ScriptedRun run("funnel", [](const ModelRequest& r) -> Result<std::string> {
    return FileReply(fmt::format("idea {}", r.number), fmt::format("n{} SPEED 90", r.number));
  });
  run.task = RenamedTask("scale", "// another oracle\n", "another seed");
  run.options.max_attempts = 2;
  const auto begin = [&](const std::string& id, std::vector<RememberedIdea> memory) {
    ASSERT_TRUE(StartRun(*run.store, run.task, run.evaluator.facts(), run.options, id, 1, nullptr, kRunVersion,
                         std::move(memory))
                    .ok());
  };
  run.options.settings["funnel.memory"] = 0;
  EXPECT_TRUE(MemoryFor(*earlier.run.store, run.task, run.evaluator.facts(), run.options).value().empty());
  run.options.settings.clear();
  begin("r1", MemoryFor(*earlier.run.store, run.task, run.evaluator.facts(), run.options).value());
  const RunView view = run.Continue().value();
  ASSERT_EQ(view.memory.size(), 1u);
  const std::string first_message = run.mind.requests.at(RequestNumber(1, 0, /*repair=*/false)).messages[0].text;
  EXPECT_THAT(first_message, HasSubstr("What paid for other elementwise kernels"));
  EXPECT_THAT(first_message, HasSubstr("- copy, 1.25x (1.25 to 1.25)"));
  const ReplayedRun again = ReplayRun(*run.store, "r1").value();
  EXPECT_EQ(again.difference, "");
  EXPECT_EQ(again.replayed.memory.size(), 1u);
  begin("r2", {});
  EXPECT_TRUE(run.Continue("r2").ok());
  EXPECT_THAT(run.mind.requests.at(RequestNumber(1, 0, /*repair=*/false)).messages[0].text,
              Not(HasSubstr("What paid for other")));
}

TEST(Memory, TheSameLimitComesFirstThenTheNearestSize) {
  RunView view;
  view.memory = {{"r", "far", "elementwise", "d", "far", "memory", 2, 1.9, 2.1, 1e9, ""},
                 {"r", "other", "elementwise", "d", "other", "latency", 3, 2.9, 3.1, 1e6, ""},
                 {"r", "near", "elementwise", "d", "near", "memory", 1.1, 1.05, 1.2, 2e6, "-a\n+b\n"}};
  const std::string text = MemoryText(view, "memory", 1e6);
  EXPECT_LT(text.find("- near"), text.find("- far"));
  EXPECT_LT(text.find("- far"), text.find("- other"));
  EXPECT_THAT(text, HasSubstr("```diff\n-a\n+b\n```"));
}

}  // namespace
}  // namespace hone
