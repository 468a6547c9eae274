// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives plans to plain .cu files, as a user writes them after the first version of a kernel.
#include "tuner/interop/read/plain_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hone/tuner/candidate.h"
#include "tuner/interop/draft/new_task.h"

namespace hone {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

// The first version of a kernel, with its test program.
constexpr char kFirst[] = R"cu(#include <vector>
__global__ void shift(float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] + 1;
}
int main() {
  int n = 1 << 20;
  std::vector<float> h(n);
  float *x, *out;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  shift<<<(n + 255) / 256, 256>>>(x, out, n);
}
)cu";

// Returns the task that `hone new` makes of the first version.
Task ShiftTask() {
  NewTaskOptions options;
  options.name = "shift";
  options.file = "v1.cu";
  const TaskDraft draft = DraftTask(kFirst, options).value();
  Task task = ParseTask(draft.task_toml, "task.toml").value();
  task.seed_source = draft.seed;
  task.directory = "tasks/shift";
  return task;
}

PlannedKernel Planned(const std::string& source) { return PlanPlainKernel(ShiftTask(), source, "v2.cu").value(); }
std::string Refusal(const std::string& source) {
  return PlanPlainKernel(ShiftTask(), source, "v2.cu").status().message();
}
// Returns the plan's only launch. The candidate must be valid.
PlanEntry Launch(const PlannedKernel& planned) {
  return ParseCandidate(planned.text, "v2.cu", ShiftTask()).value().plan.entries.at(0);
}

TEST(PlainKernel, AFileWithAPlanOrWithoutAKernelIsTakenAsItIs) {
  for (const std::string source :
       {"/*hone\n[[launch]]\n*/\n__global__ void k() {}\n", "int x;\n", "__global__ void k( {"}) {
    EXPECT_EQ(Planned(source).text, source);
    EXPECT_EQ(Planned(source).note, "");
  }
}

TEST(PlainKernel, ItsOwnLaunchIsThePlanAndHostCodeBecomesEmptyLines) {
  std::string second = kFirst;
  second.replace(second.find("(n + 255) / 256, 256"), 20, "(n + 511) / 512, 512");
  const PlannedKernel planned = Planned(second);
  EXPECT_THAT(planned.note,
              AllOf(HasSubstr("v2.cu has no launch plan: it is judged with this one, made from its own launch "
                              "in line 12; host code ('main') is left out."),
                    HasSubstr("block  = [\"512\"]")));
  EXPECT_EQ(Launch(planned).block.at(0).text(), "512");
  EXPECT_THAT(planned.text, Not(AnyOf(HasSubstr("main"), HasSubstr("<vector>"))));
  // The kernel stands in its own lines, and takes its input by a pointer to const.
  EXPECT_TRUE(planned.text.starts_with("\n__global__ void shift(const float* x, float* out, int n) {\n  int i = "))
      << planned.text;
}

// A task of rows with one block each: the launch says how many rows there are, and the kernel is not told.
Task RowsTask() {
  return ParseTask(R"(
name = "row_means"
summary = "rows divided by their means"
class = "reduction"
[dims]
rows = "rows"
width = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "width"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows", "width"]
[tolerance.out]
c_max = 1e-4
c_rms = 1e-5
[[case]]
role = "time"
dims = { rows = 1024, width = 512 }
[[case]]
role = "check"
dims = { rows = 3, width = 5 }
)",
                   "task.toml")
      .value();
}

std::string RowsFile(const std::string& parameter, const std::string& host) {
  return "__global__ void means(const float* x, float* out" + parameter + ") {}\n" + host;
}

TEST(PlainKernel, ASizeOfTheTaskThatTheFileSetsToANumberVaries) {
  const Task task = RowsTask();
  const auto grid = [&](const std::string& source, PlannedKernel* planned) {
    *planned = PlanPlainKernel(task, source, "v2.cu").value();
    const PlanEntry entry = ParseCandidate(planned->text, "v2.cu", task).value().plan.entries.at(0);
    return entry.grid.at(0).text() + " " + (entry.args.size() > 2 ? entry.args[2].value->text() : "");
  };
  PlannedKernel planned;
  const std::string by_name = "int main() { const int rows = 1024, width = 512; means<<<rows, 256>>>(x, out, width); }\n";
  EXPECT_EQ(grid(RowsFile(", int width", by_name), &planned), "rows width");
  const std::string by_number = "void run(const float* x, float* out) { means<<<1024, 256>>>(x, out, 512); }\n";
  EXPECT_EQ(grid(RowsFile(", int width", by_number), &planned), "rows width");
  EXPECT_THAT(planned.note, HasSubstr("1024 stands for rows and 512 stands for width, for that is their size where it is timed"));
  EXPECT_THAT(planned.note, Not(HasSubstr("does not name")));
  const std::string without = "void run(const float* x, float* out) { means<<<1024, 256>>>(x, out); }\n";
  EXPECT_EQ(grid(RowsFile("", without), &planned), "rows ");
  EXPECT_THAT(planned.note, HasSubstr("the launch does not name width, so a kernel that has it as a number in its code is right at that "
                                      "size only: pass it as an argument"));
}

TEST(PlainKernel, WithoutALaunchTheSeedsPlanIsTaken) {
  const PlannedKernel planned = Planned("__global__ void shift(const float* x, float* out, int n) {}");
  EXPECT_THAT(planned.note,
              AllOf(HasSubstr("it is judged with the plan of the task's seed, which launches 'shift' in a grid of ["),
                    HasSubstr("with blocks of [256]. If the kernel needs another launch, copy the comment /*hone … */ "
                              "of tasks/shift/seed.cu above the code")));
  EXPECT_EQ(Launch(planned).kernel, "shift");
  EXPECT_TRUE(planned.text.starts_with("__global__ void shift(const float* x, float* out, int n) {}\n/*hone"))
      << planned.text;
}

TEST(PlainKernel, TheOnlyKernelMayHaveAnotherNameAndALaunchThatIsNotFollowedIsNamed) {
  const PlannedKernel renamed = Planned("namespace fast { __global__ void shift4(float* x, float* out, int n) {} }\n");
  EXPECT_EQ(Launch(renamed).kernel, "fast::shift4");
  const PlannedKernel planned = Planned(
      "__global__ void shift4(const float* a, float* b, int m) {}\n"
      "void run(const float* a, float* b, int m) { shift4<<<m, 64>>>(a, b, m); }\n");
  EXPECT_EQ(Launch(planned).block.at(0).text(), "256");
  EXPECT_THAT(planned.note, HasSubstr("Its own launch in line 2 could not be taken: the plan:"));
}

TEST(PlainKernel, ATimingLoopIsLaunchedOnceAndTheNoteSaysSo) {
  std::string second = kFirst;
  second.insert(second.rfind('}'), "  for (int i = 0; i < 20; ++i) shift<<<(n + 255) / 256, 256>>>(x, out, n);\n");
  const PlannedKernel planned = Planned(second);
  EXPECT_THAT(planned.note, HasSubstr("line 13 repeats line 12 (a timing loop?): launched once"));
  EXPECT_EQ(ParseCandidate(planned.text, "v2.cu", ShiftTask()).value().plan.entries.size(), 1u);
}

TEST(PlainKernel, ALaunchWithAnUnknownSizeIsSaidInOneSentence) {
  const PlannedKernel planned = Planned(
      "__global__ void shift(const float* x, float* out, int n) {}\n"
      "int main(int argc, char** argv) { shift<<<blocks_of(argv), 64>>>(x, out, 12); }\n");
  EXPECT_THAT(planned.note, AllOf(HasSubstr("v2.cu has no launch plan: the seed's plan is used ("),
                                  HasSubstr("because line 2 launches with 'argv', which is not known"), Not(HasSubstr("FILL_IN"))));
}

TEST(PlainKernel, WhereNoPlanFitsTheMessageSaysWhyAndWhatToWrite) {
  EXPECT_THAT(
      Refusal("__global__ void shift(const float* x, float* out, int n, float* sums) {}\n"),
      AllOf(HasSubstr(
                "v2.cu has no launch plan, and that of the task's seed does not fit: kernel 'shift' takes (*x, *out, "
                "n, *sums), and the plan passes (x, out, n)."),
            HasSubstr("Begin the file with a comment /*hone … */ that says how its kernel is launched: copy that of "
                      "tasks/shift/seed.cu, and change it")));
  EXPECT_THAT(Refusal("__global__ void shift(float* out, const float* x, int n) {}\n"),
              HasSubstr("kernel 'shift' takes (out, x, n), and the seed's takes them in another order, (x, out, n)"));
  EXPECT_THAT(Refusal("__global__ void a(float* x) {}\n__global__ void b(float* x) {}\n"),
              HasSubstr("the plan launches 'shift', and the file has a, b"));
  EXPECT_THAT(Refusal("template <int N> __global__ void shift(const float* x, float* out, int n) {}\n"),
              HasSubstr("kernel 'shift' is a template, and the plan gives no template arguments"));
  Task bare = ShiftTask();
  bare.seed_source.clear();
  EXPECT_THAT(
      PlanPlainKernel(bare, "__global__ void k(float* x) {}\n", "v2.cu").status().message(),
      HasSubstr(
          "does not fit: the task has no seed. Begin the file with a comment /*hone … */ that says how its kernel is "
          "launched (candidate-format.md"));
}

}  // namespace
}  // namespace hone
