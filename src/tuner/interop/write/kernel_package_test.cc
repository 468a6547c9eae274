// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests the package of a run: it has the winner and the rule for when the seed runs, and it is refused for a kernel
// that was not judged right.
#include "tuner/interop/write/kernel_package.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "tuner/interop/write/cuda_header.h"
#include "tuner/interop/write/torch_extension.h"
#include "tuner/report/synthetic_run.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A synthetic run in a store in memory.
struct Written {
  std::unique_ptr<RunStore> store = MakeMemoryRunStore();
  RunView view;
};
Written Write(const SyntheticRun& run) {
  const std::string task = std::string(HONE_SOURCE_DIR) + "/tasks/rmsnorm/";
  Written w;
  const Status status =
      WriteSyntheticRun(*w.store, run, ReadFile(task + "task.toml").value(), ReadFile(task + "seed.cu").value());
  EXPECT_TRUE(status.ok()) << status.message();
  w.view = LoadRun(*w.store, run.id).value();
  return w;
}

TEST(KernelPackage, HoldsTheWinnerTheSeedAndTheShapesThatDecided) {
  const Written w = Write({});
  const KernelPackage package = MakeKernelPackage(*w.store, w.view).value();
  EXPECT_EQ(package.node, w.view.best);
  EXPECT_TRUE(package.paired);
  EXPECT_THAT(package.shapes, SizeIs(4));
  EXPECT_THAT(package.winner.source, HasSubstr("// attempt"));
  EXPECT_THAT(package.seed.source, Not(HasSubstr("// attempt")));
  // The seed handles the shape whose interval reaches below 1, and all shapes beyond it.
  int wins = 0;
  for (const PackagedShape& s : package.shapes) {
    wins += s.wins;
    EXPECT_EQ(s.wins, s.speedup.low > 1);
  }
  ASSERT_EQ(wins, 3);
  ASSERT_THAT(package.seed_shapes, SizeIs(1));
  const Expression rule = Expression::Parse(package.seed_shapes[0]).value();
  for (const PackagedShape& s : package.shapes) EXPECT_EQ(rule.Evaluate(s.dims).value() != 0, !s.wins) << rule.text();
  // Both generators accept the package.
  const std::string header = CudaHeader(package).value();
  EXPECT_THAT(header,
              AllOf(HasSubstr("namespace winner_0"), HasSubstr("namespace seed_0"), HasSubstr("cudaError_t rmsnorm(")));
  EXPECT_THAT(TorchExtension(package).value(), SizeIs(3));
}

TEST(KernelPackage, AWinnerThatWinsEverywhereNeedsNoRule) {
  SyntheticRun run;
  run.nodes = 120;
  const Written w = Write(run);
  const KernelPackage package = MakeKernelPackage(*w.store, w.view).value();
  EXPECT_THAT(package.seed_shapes, IsEmpty());
  EXPECT_THAT(CudaHeader(package).value(), HasSubstr("return false;"));
}

TEST(KernelPackage, AnUnprovenBestIsRefusedUnlessItIsNamed) {
  SyntheticRun run;
  run.end = false;
  run.step = 0.2;
  const Written w = Write(run);
  ASSERT_NE(w.view.best, 0);
  const std::string message = MakeKernelPackage(*w.store, w.view).status().message();
  EXPECT_THAT(message, AllOf(HasSubstr("--resume " + run.id), HasSubstr("--node")));
  int64_t later = 0;  // a node that was timed against a node other than the seed
  for (const RunNode& n : w.view.nodes) {
    if (n.kept && n.incumbent != 0) later = n.id;
  }
  ASSERT_NE(later, 0);
  const Result<KernelPackage> package = MakeKernelPackage(*w.store, w.view, later);
  ASSERT_TRUE(package.ok()) << package.status().message();
  EXPECT_FALSE(package->paired);
  EXPECT_THAT(CudaHeader(*package).value(), HasSubstr("NOT paired"));
}

TEST(KernelPackage, WhatWasNotRightIsNeverPackaged) {
  Written w = Write({});
  int64_t wrong = -1, unusable = -1;
  for (const RunNode& n : w.view.nodes) {
    if (n.evaluation && n.evaluation->verdict == Verdict::kWrongOutput) wrong = n.id;
    if (n.state == NodeState::kUnusable) unusable = n.id;
  }
  ASSERT_GT(wrong, 0);
  ASSERT_GT(unusable, 0);
  EXPECT_THAT(MakeKernelPackage(*w.store, w.view, wrong).status().message(), HasSubstr("wrong_output"));
  EXPECT_THAT(MakeKernelPackage(*w.store, w.view, unusable).status().message(), HasSubstr("not evaluated"));
  EXPECT_THAT(MakeKernelPackage(*w.store, w.view, 0).status().message(), AllOf(HasSubstr("nothing to apply"), HasSubstr("`hone apply rmsnorm FILE.cu`")));
  EXPECT_THAT(MakeKernelPackage(*w.store, w.view, 999).status().message(), HasSubstr("nodes 0 to 24"));
  w.view.final_result->evaluation.verdict = Verdict::kWrongOutput;
  EXPECT_THAT(MakeKernelPackage(*w.store, w.view).status().message(), HasSubstr("must not be used"));
  w.view.final_result->evaluation.verdict = Verdict::kOk;
  for (CaseResult& c : w.view.final_result->evaluation.cases) c.speedup = Interval{1.0, 0.98, 1.02};
  EXPECT_THAT(MakeKernelPackage(*w.store, w.view).status().message(), HasSubstr("in no timed shape"));
}

TEST(KernelPackage, ACandidatesFileIsTakenAsItStands) {
  const Task task = LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/rmsnorm").value();
  const KernelPackage package = MakeFilePackage(task, task.seed_source, "work/rmsnorm.tuned.cu").value();
  EXPECT_EQ(package.file, "rmsnorm.tuned.cu");
  EXPECT_THAT(package.seed_shapes, IsEmpty());
  const std::string header = CudaHeader(package).value();
  EXPECT_THAT(header, AllOf(HasSubstr("from rmsnorm.tuned.cu"), HasSubstr("hone eval rmsnorm rmsnorm.tuned.cu"),
                            Not(HasSubstr("of run")), Not(HasSubstr("paired"))));
  EXPECT_THAT(TorchExtension(package).value()[1].text, HasSubstr("from rmsnorm.tuned.cu"));
  EXPECT_THAT(MakeFilePackage(task, "__global__ void k() {}\n", "k.cu").status().message(), HasSubstr("k.cu"));
  // MakeFilePackage does not compile the kernel, but refuses a bracket without a partner.
  EXPECT_THAT(MakeFilePackage(task, task.seed_source + "}\n", "k.cu").status().message(), HasSubstr("this '}' has no partner: mend the file"));
}

}  // namespace
}  // namespace hone
