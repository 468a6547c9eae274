// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests parsers with damaged texts: every parser of core gets thousands of damaged versions of a good text, and must
// return a value or a Status that names the file for each. A crash fails the program; run under the sanitizers this
// finds reads past the end as well.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "base/numbers/random.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/evaluation.h"
#include "hone/tuner/task.h"
#include "tuner/core/plan/plan_test_support.h"

namespace hone {
namespace {

using namespace testing_support;  // NOLINT: a test's own vocabulary

std::string FileText(const std::string& path) {
  std::ifstream stream(std::string(HONE_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(stream.good()) << path;
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// Returns the text after one to four random edits: a byte replaced, or a range cut, doubled or moved.
std::string DamageText(std::string text, Rng& rng) {
  static const std::string kBytes = "\"[]{}()=,.:+-*/%<>?!&|#\n\t 0129axzd_'\\\xff";
  const uint64_t edits = 1 + rng.Below(4);
  for (uint64_t i = 0; i < edits && text.size() > 2; ++i) {
    const size_t at = rng.Below(text.size());
    const size_t length = 1 + rng.Below(std::min<size_t>(40, text.size() - at));
    switch (rng.Below(5)) {
      case 0:
        text[at] = kBytes[rng.Below(kBytes.size())];
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text.insert(at, 1, kBytes[rng.Below(kBytes.size())]);
        break;
      default: {
        const std::string piece = text.substr(at, length);
        text.erase(at, length);
        text.insert(rng.Below(text.size() + 1), piece);
      }
    }
  }
  return text;
}

// Counts the damaged texts that were accepted and refused. There must be some of each, or the test proves nothing.
struct Tally {
  int accepted = 0, refused = 0;
};

TEST(HostileInput, DamagedTasks) {
  const std::string good = FileText("tasks/silu_and_mul/task.toml");
  Rng rng(1);
  Tally tally;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = DamageText(good, rng);
    Result<Task> task = ParseTask(text, "hostile.toml");
    if (!task.ok()) {
      ++tally.refused;
      ASSERT_EQ(task.status().code(), StatusCode::kInvalidArgument);
      ASSERT_EQ(task.status().message().rfind("hostile.toml:", 0), 0u) << task.status().message();
      continue;
    }
    ++tally.accepted;
    for (const Case& task_case : task->cases) ASSERT_TRUE(CompulsoryBytes(*task, task_case.dims).ok()) << text;
    for (const Case& task_case : DrawHiddenCases(*task, rng.Next())) (void)CompulsoryBytes(*task, task_case.dims);
  }
  EXPECT_GT(tally.accepted, 100);
  EXPECT_GT(tally.refused, 1000);
}

TEST(HostileInput, DamagedCandidates) {
  const std::string good = Source(
      "options = [\"-lineinfo\"]\n[tune]\nVEC = [4, 8]\n[[workspace]]\nname = \"w\"\nbytes = \"tokens * 4\"\n"
      "[[memset]]\ntarget = \"w\"\nstep = -1\n"
      "[[launch]]\nkernel = \"k<VEC>\"\ngrid = [\"ceil_div(tokens * d, VEC * 32)\"]\nblock = [\"32\"]\nwith = { VEC = "
      "8 }\n"
      "args = [\"x + 4\", \"out\", \"tokens > 2 ? d : 1:i32\", \"eps:f32\", \"struct:P{d:i64, w}\"]\nwhen = \"d % VEC "
      "== 0\"\n"
      "[[launch]]\nkernel = \"k<1>\"\ngrid = \"tokens\"\nblock = 1\nargs = [\"out\"]\n");
  Rng rng(2);
  Tally tally;
  for (int i = 0; i < 10000; ++i) {
    Result<Candidate> candidate = ParseCandidate(DamageText(good, rng), "hostile.cu", PlanTask());
    if (!candidate.ok()) {
      ++tally.refused;
      ASSERT_EQ(candidate.status().message().rfind("hostile.cu:", 0), 0u) << candidate.status().message();
      continue;
    }
    ++tally.accepted;
    for (const int64_t d : {0, 1, 8}) {
      Result<ResolvedPlan> plan = ResolvePlan(*candidate, PlanTask(), {{"tokens", 3}, {"d", d}, {"ld", 8}}, {}, H200());
      if (!plan.ok()) {
        ASSERT_NE(plan.status().message().find("hostile.cu"), std::string::npos) << plan.status().message();
      }
    }
    (void)CompileUnits(*candidate, {});
    (void)AllBindings(candidate->plan);
  }
  EXPECT_GT(tally.accepted, 100);
  EXPECT_GT(tally.refused, 1000);
}

TEST(HostileInput, DamagedEvaluations) {
  const std::string page = FileText("docs/evaluation-json.md");
  const size_t begin = page.find("```json\n") + 8;
  const std::string good = page.substr(begin, page.find("```", begin) - begin);
  ASSERT_TRUE(EvaluationFromJson(good).ok());
  Rng rng(3);
  Tally tally;
  for (int i = 0; i < 10000; ++i) {
    Result<Evaluation> evaluation = EvaluationFromJson(DamageText(good, rng));
    if (evaluation.ok()) {
      ++tally.accepted;
      (void)EvaluationToJson(*evaluation, -1);
    } else {
      ++tally.refused;
    }
  }
  EXPECT_GT(tally.accepted, 100);
  EXPECT_GT(tally.refused, 1000);
}

}  // namespace
}  // namespace hone
