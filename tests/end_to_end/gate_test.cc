// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests `hone gate` on real git repositories, made here, with commits that are slow, fast, wrong, and that loosen a
// task. The device is the simulated GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/process/subprocess.h"

namespace hone {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
const std::string kSource = HONE_SOURCE_DIR;

std::string Text(const std::string& path) { return ReadFile(path).value(); }

struct Outcome {
  int status = -1;
  std::string out, err;
};

class Gate : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryDirectory> made = MakeTemporaryDirectory();
    ASSERT_TRUE(made.ok());
    scratch_ = std::move(*made);
    repository_ = scratch_ / "repository";
    std::filesystem::create_directories(repository_);
    Git({"init", "-q", "-b", "main"});
    // The repository's task is relu without its large shapes.
    std::string toml = Text(kSource + "/tasks/relu/task.toml");
    const size_t begin = toml.find("[[case]]\nrole = \"time\"\ndims = { rows = 4096, d = 8192 }"),
                 end = toml.find("[[case]]\nrole = \"check\"");
    ASSERT_LT(begin, end);
    toml.erase(begin, end - begin);
    Write("tasks/relu/task.toml", toml);
    Write("tasks/relu/oracle.cu", Text(kSource + "/tasks/relu/oracle.cu"));
    Write("tasks/relu/seed.cu", Text(kSource + "/tasks/relu/seed.cu"));
    Write("README.md", "Kernels.\n");
    Commit("the base");
  }
  Outcome Run(std::vector<std::string> argv, const std::string& folder) {
    SubprocessOptions options;
    options.argv = std::move(argv);
    options.environment = {"PATH=/usr/local/cuda/bin:/usr/bin:/bin",
                           "HONE_CACHE=" HONE_BINARY_DIR "/tests/cache",
                           "HONE_STATE=" + scratch_.path(),
                           "HOME=" + scratch_.path(),
                           "GIT_AUTHOR_NAME=a",
                           "GIT_AUTHOR_EMAIL=a@b",
                           "GIT_COMMITTER_NAME=a",
                           "GIT_COMMITTER_EMAIL=a@b"};
    options.working_directory = folder;
    options.limit_seconds = 300;
    const Result<SubprocessResult> result = RunSubprocess(options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    EXPECT_EQ(result->exit.signal, 0) << result->exit.Describe();
    return {result->exit.exit_status, result->out, result->err};
  }
  void Git(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "/usr/bin/git");
    const Outcome outcome = Run(arguments, repository_);
    ASSERT_EQ(outcome.status, 0) << outcome.err;
  }
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path whole = std::filesystem::path(repository_) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
  }
  void Commit(const std::string& message) {
    Git({"add", "-A"});
    Git({"commit", "-q", "-m", message});
  }
  // Makes a branch from main; the test adds one commit.
  void Branch(const std::string& name) { Git({"checkout", "-q", "-b", name, "main"}); }
  Outcome Judge(std::vector<std::string> more = {}) {
    std::vector<std::string> argv = {HONE_BINARY_DIR "/bin/hone", "gate", "--device", "sim"};
    argv.insert(argv.end(), more.begin(), more.end());
    return Run(argv, repository_);
  }
  static std::string Kernel(const std::string& name) { return Text(kSource + "/tests/" + name); }

  TemporaryDirectory scratch_;
  std::string repository_;
};

TEST_F(Gate, PassesAChangeThatTouchesNoKernel) {
  Branch("words");
  Write("README.md", "Other words.\n");
  Write("examples/loose.cu", "/*hone\n*/\n");  // in no task's folder
  Commit("words");
  const Outcome outcome = Judge({"--base", "main", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("kernels"), json::array());
  EXPECT_THAT(json::parse(outcome.out).at("summary").get<std::string>(), HasSubstr("No kernel with a task differs"));
}

TEST_F(Gate, SaysThatWhatIsNotCommittedWasNotJudged) {
  Branch("dirty");
  Write("README.md", "Other words.\n");
  Commit("words");
  EXPECT_EQ(json::parse(Judge({"--base", "main", "--json"}).out).at("warnings"), json::array());
  Write("tasks/relu/seed.cu", Text(kSource + "/tasks/relu/seed.cu") + "// changed\n");
  const Outcome outcome = Judge({"--base", "main"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 file is changed and not committed (tasks/relu/seed.cu)"));
}

TEST_F(Gate, FailsASlowChangeAndSaysThatTimesAreModelled) {
  Branch("slow");
  Write("tasks/relu/seed.cu", Kernel("honest/relu_two_steps.cu"));
  Commit("two kernels in place of one");
  const Outcome outcome = Judge({"--base", "main", "--json", "--junit", "junit.xml", "--markdown", "comment.md"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report.at("kernels").at(0).at("status"), "slower");
  EXPECT_LT(report.at("kernels").at(0).at("cases").at(0).at("speedup").at("median"), 0.9);
  EXPECT_TRUE(report.at("modelled"));
  const std::string junit = Text(repository_ + "/junit.xml"), comment = Text(repository_ + "/comment.md");
  EXPECT_THAT(junit, HasSubstr("failures=\"1\""));
  EXPECT_THAT(junit, HasSubstr("<failure type=\"slower\""));
  EXPECT_THAT(comment, HasSubstr("tasks/relu/seed.cu"));
  EXPECT_THAT(comment, HasSubstr("**slower**"));
  for (const std::string& text : {junit, comment, Judge({"--base", "main"}).out})
    EXPECT_THAT(text, HasSubstr("modelled"));
  // The same kernel passes if so much slower is allowed, and if nothing is timed.
  EXPECT_EQ(Judge({"--base", "main", "--slower", "900%"}).status, 0);
  EXPECT_EQ(Judge({"--base", "main", "--no-time"}).status, 0);
}

TEST_F(Gate, PassesAFastChange) {
  Write("tasks/relu/seed.cu", Kernel("honest/relu_two_steps.cu"));
  Commit("a slow base");
  Branch("fast");
  Write("tasks/relu/seed.cu", Text(kSource + "/tasks/relu/seed.cu"));
  Commit("one kernel in place of two");
  const Outcome outcome = Judge({"--base", "main", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json kernel = json::parse(outcome.out).at("kernels").at(0);
  EXPECT_EQ(kernel.at("status"), "passed");
  EXPECT_GT(kernel.at("cases").at(0).at("speedup").at("median"), 1.1);
}

TEST_F(Gate, FailsAWrongChangeBeforeAnyTime) {
  Branch("wrong");
  Write("tasks/relu/seed.cu", Kernel("cheats/partial_last_block.cu"));
  Commit("forgets the remainder");
  const Outcome outcome = Judge({"--base", "main", "--json", "--junit", "junit.xml"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const json kernel = json::parse(outcome.out).at("kernels").at(0);
  EXPECT_EQ(kernel.at("status"), "wrong");
  EXPECT_THAT(kernel.at("detail").get<std::string>(), HasSubstr("wrong_output"));
  EXPECT_EQ(kernel.at("cases"), json::array());
  EXPECT_THAT(Text(repository_ + "/junit.xml"), HasSubstr("<failure type=\"wrong\""));
}

TEST_F(Gate, OnlyCompilesForAGpuThatIsNotHere) {
  Branch("compiles");
  // The simulated GPU cannot run this kernel: it does not simulate barriers of clusters.
  std::string source = Text(kSource + "/tasks/relu/seed.cu");
  const size_t brace = source.find("{", source.find("__global__"));
  ASSERT_NE(brace, std::string::npos);
  source.insert(brace + 1, "\n  asm volatile(\"barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;\" ::: \"memory\");\n");
  Write("tasks/relu/seed.cu", source);
  Commit("a cluster's barrier");
  const Outcome compiled = Judge({"--base", "main", "--compile-only", "sm_90a", "--json", "--markdown", "comment.md", "--junit", "junit.xml"});
  if (compiled.status == 3 && compiled.err.find("CUDA") != std::string::npos) GTEST_SKIP() << compiled.err;
  EXPECT_EQ(compiled.status, 0) << compiled.err;
  const json report = json::parse(compiled.out);
  EXPECT_TRUE(report.at("compiled_only"));
  EXPECT_EQ(report.at("kernels").at(0).at("status"), "passed");
  EXPECT_THAT(report.at("summary").get<std::string>(), HasSubstr("each compiles"));
  EXPECT_THAT(Text(repository_ + "/comment.md"), HasSubstr("whether they are right was not looked at"));
  EXPECT_THAT(Text(repository_ + "/junit.xml"), HasSubstr("the compiler for sm_90a"));
  // An older GPU lacks the instruction, which is the kernel's fault; an unknown architecture is the caller's.
  const Outcome older = Judge({"--base", "main", "--compile-only", "sm_80"});
  EXPECT_EQ(older.status, 1) << older.err;
  EXPECT_THAT(older.out, HasSubstr("does not compile"));
  for (const char* none : {"sm_12345", "h100", "sm_91z", "sm_999"}) {
    const Outcome unknown = Judge({"--base", "main", "--compile-only", none});
    EXPECT_EQ(unknown.status, 2) << none << unknown.err;
    EXPECT_THAT(unknown.err, HasSubstr(none)) << none;
  }
}

TEST_F(Gate, ShowsWhatAPullRequestWithAFastAndASlowChangeGets) {
  const std::string made_folder = scratch_ / "made";
  const Outcome outcome =
      Run({"/bin/bash", kSource + "/examples/ci/try-gate", HONE_BINARY_DIR "/bin/hone", made_folder}, scratch_.path());
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  // The output equals the stored files, except for durations and for numbers that a newer model of the GPU changes.
  const auto without_numbers = [](std::string text) {
    // A revision's hash depends on the tasks' texts.
    for (size_t at = 0; (at = text.find('(', at)) != std::string::npos; ++at) {
      if (at + 13 < text.size() && text.substr(at + 1, 12).find_first_not_of("0123456789abcdef") == std::string::npos && text[at + 13] == ')') text.erase(at + 1, 12);
    }
    std::string out;
    for (const char c : text) {
      const bool digit = (c >= '0' && c <= '9') || c == '.';
      if (!digit || out.empty() || out.back() != '#') out += digit ? '#' : c;
    }
    return out;
  };
  for (const char* file : {"faster.md", "faster.xml", "both.md", "both.xml"}) {
    EXPECT_EQ(without_numbers(Text(made_folder + "/" + file)),
              without_numbers(Text(kSource + "/examples/ci/shown/" + file)))
        << "examples/ci/try-gate build/bin/hone writes examples/ci/shown anew";
  }
}

TEST_F(Gate, JudgesByTheBasesToleranceWhereTheChangeLoosensIt) {
  Branch("loose");
  std::string toml = Text(repository_ + "/tasks/relu/task.toml");
  for (size_t at = 0; (at = toml.find("= 6e-8", at)) != std::string::npos;) toml.replace(at, 6, "= 1e-2");
  Write("tasks/relu/task.toml", toml);
  Write("tasks/relu/seed.cu", Kernel("cheats/rounded_to_bfloat16.cu"));
  Commit("half the bits will do");
  const Outcome outcome = Judge({"--base", "main", "--json", "--markdown", "comment.md"});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report.at("kernels").at(0).at("status"), "wrong");
  EXPECT_THAT(report.at("changed_tasks").dump(), HasSubstr("c_max: 6e-08 becomes 0.01"));
  EXPECT_THAT(Text(repository_ + "/comment.md"), HasSubstr("touches what kernels are judged by"));
}

TEST_F(Gate, TellsEveryFieldAndFileOfATaskThatAChangeTouches) {
  Branch("fields");
  std::string toml = Text(repository_ + "/tasks/relu/task.toml");
  const std::string strict = "c_small = 6e-8";
  ASSERT_NE(toml.find(strict), std::string::npos);
  toml.replace(toml.find(strict), strict.size(), "c_small = 0.5");
  toml += "\n[[case]]\nrole = \"check\"\ndims = { rows = 2, d = 77 }\n";
  Write("tasks/relu/task.toml", toml);
  Write("tasks/relu/baseline.toml", "");
  Write("tasks/relu/oracle.cu", Text(kSource + "/tasks/relu/oracle.cu") + "\n// other words\n");
  Commit("a field, a case, two files");
  const Outcome outcome = Judge({"--base", "main", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const std::string changed_task = json::parse(outcome.out).at("changed_tasks").at(0);
  for (const char* part :
       {"task.toml (", "tolerance.out.c_small: 6e-08 becomes 0.5",
        "[[case]] {dims = {d = 77, rows = 2}, role = \"check\"} is new", "oracle.cu", "baseline.toml (which is new)"})
    EXPECT_THAT(changed_task, HasSubstr(part));
}

TEST_F(Gate, TimesARenamedKernelAgainstWhatItWas) {
  Branch("renamed");
  // A moved task keeps the base's tolerance. A renamed kernel is timed against the kernel under its old name.
  Git({"mv", "tasks/relu", "tasks/rectifier"});
  std::string toml = Text(repository_ + "/tasks/rectifier/task.toml");
  for (size_t at = 0; (at = toml.find("= 6e-8", at)) != std::string::npos;) toml.replace(at, 6, "= 1e-2");
  Write("tasks/rectifier/task.toml", toml);
  Git({"mv", "tasks/rectifier/seed.cu", "tasks/rectifier/rectify.cu"});
  Write("tasks/rectifier/rectify.cu", Text(kSource + "/tasks/relu/seed.cu") + "\n// renamed\n");
  Commit("other names");
  const Outcome outcome = Judge({"--base", "main", "--json", "--junit", "junit.xml", "--markdown", "comment.md"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const json report = json::parse(outcome.out);
  ASSERT_EQ(report.at("kernels").size(), 1u) << outcome.out;
  const json& kernel = report.at("kernels").at(0);
  EXPECT_EQ(kernel.at("path"), "tasks/rectifier/rectify.cu");
  EXPECT_EQ(kernel.at("was"), "tasks/relu/seed.cu");
  EXPECT_FALSE(kernel.at("added"));
  EXPECT_EQ(kernel.at("cases").size(), 1u);
  EXPECT_THAT(report.at("changed_tasks").dump(),
              testing::AllOf(HasSubstr("the task was tasks/relu before"), HasSubstr("c_max: 6e-08 becomes 0.01")));
  EXPECT_THAT(Text(repository_ + "/junit.xml"), HasSubstr("tasks/rectifier/rectify.cu (was tasks/relu/seed.cu)"));
  EXPECT_THAT(Text(repository_ + "/comment.md"), HasSubstr("(was tasks/relu/seed.cu)"));
  // A kernel that only moved is not judged. One that was rewritten under a new name is a new kernel.
  Git({"checkout", "-q", "-b", "moved", "main"});
  Git({"mv", "tasks/relu/seed.cu", "tasks/relu/first.cu"});
  Commit("moved");
  const json moved = json::parse(Judge({"--base", "main", "--json"}).out).at("kernels");
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(moved.at(0).at("was"), "tasks/relu/seed.cu");
  EXPECT_FALSE(moved.at(0).contains("evaluation"));
  EXPECT_THAT(Judge({"--base", "main"}).out, HasSubstr("moved, unchanged"));
  Write("tasks/relu/first.cu", Kernel("honest/relu_two_steps.cu"));
  Commit("and written anew");
  const json anew = json::parse(Judge({"--base", "main", "--json", "--no-time"}).out).at("kernels");
  ASSERT_EQ(anew.size(), 2u);
  EXPECT_TRUE(anew.at(0).at("added"));
  EXPECT_EQ(anew.at(1).at("status"), "removed");
}

TEST_F(Gate, SaysInItsReportsWhyThereIsNoVerdict) {
  const Outcome outcome = Judge({"--base", "no|where", "--json", "--junit", "junit.xml", "--markdown", "comment.md"});
  EXPECT_EQ(outcome.status, 2) << outcome.err;
  const json report = json::parse(outcome.out);
  EXPECT_FALSE(report.at("passed"));
  EXPECT_EQ(report.at("error").at("exit_status"), 2);
  EXPECT_THAT(report.at("error").at("message").get<std::string>(), HasSubstr("neither a revision"));
  EXPECT_THAT(Text(repository_ + "/junit.xml"),
              testing::AllOf(HasSubstr("errors=\"1\""), HasSubstr("<error type=\"usage\" message=\"--base no|where")));
  EXPECT_THAT(Text(repository_ + "/comment.md"),
              testing::AllOf(HasSubstr("### Kernels: no verdict"), HasSubstr("neither a revision")));
}

TEST_F(Gate, HoldsAChangeAgainstWhereItBranchedOff) {
  Branch("side");
  Write("README.md", "A side.\n");
  Commit("side");
  // main has become faster since the branch began. The branch lacks that change, but did not undo it.
  Git({"checkout", "-q", "main"});
  Write("tasks/relu/seed.cu", Kernel("honest/relu_two_steps.cu"));
  Commit("main moves on");
  EXPECT_EQ(json::parse(Judge({"--base", "main", "--head", "side", "--json"}).out).at("kernels"), json::array());
  EXPECT_EQ(json::parse(Judge({"--base", "main", "--head", "side", "--json", "--exact-base", "--no-time"}).out)
                .at("kernels")
                .size(),
            1u);
}

TEST_F(Gate, TakesFoldersNewKernelsAndKernelsOutsideTheirTasks) {
  const std::string other = scratch_ / "other";
  std::filesystem::copy(repository_, other, std::filesystem::copy_options::recursive);
  std::ofstream(other + "/tasks/relu/fast.cu") << Kernel("honest/relu_scalar.cu");
  std::filesystem::create_directories(other + "/src");
  std::ofstream(other + "/src/relu.cu") << Kernel("cheats/partial_last_block.cu");
  const json report =
      json::parse(Judge({"--base", repository_, "--head", other, "--kernel", "relu=src/relu.cu", "--json"}).out);
  ASSERT_EQ(report.at("kernels").size(), 2u);
  EXPECT_EQ(report.at("kernels").at(0).at("path"), "src/relu.cu");
  EXPECT_EQ(report.at("kernels").at(0).at("status"), "wrong");
  EXPECT_EQ(report.at("kernels").at(1).at("path"), "tasks/relu/fast.cu");
  EXPECT_EQ(report.at("kernels").at(1).at("status"), "passed");
  EXPECT_TRUE(report.at("kernels").at(1).at("added"));
}

// A .cu file as its author writes it, with the launch in host code and no plan. `value` is what a thread writes.
std::string PlainRelu(const std::string& value) {
  return R"(#include <cuda_runtime.h>
#include <cstdio>
__global__ void relu(const float* __restrict__ x, float* __restrict__ out, long long elements) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < elements) out[i] = )" +
         value + R"(;
}
void Relu(const float* x, float* out, long long rows, long long d, cudaStream_t stream) {
  const long long elements = rows * d;
  relu<<<(elements + 255) / 256, 256, 0, stream>>>(x, out, elements);
}
int main() { printf("a test program\n"); }
)";
}

TEST_F(Gate, NamesAChangedFileWithKernelsThatBelongsToNoTask) {
  Write("kernels/relu.cu", PlainRelu("fmaxf(x[i], 0.0f)"));
  Write("kernels/same.cu", PlainRelu("x[i]"));
  Commit("plain files");
  Branch("breaks");
  Write("kernels/relu.cu", PlainRelu("x[i]"));
  Write("kernels/host.cu", "int main() {}\n");
  Write("tasks/relu/wide.cu", PlainRelu("fmaxf(x[i], 0.0f)"));
  Commit("breaks");
  const Outcome told = Judge({"--base", "main", "--markdown", "comment.md"});
  EXPECT_EQ(told.status, 0) << told.err;
  EXPECT_THAT(told.out, HasSubstr("; 2 changed files with kernels were not judged."));
  EXPECT_THAT(
      told.out,
      HasSubstr(
          "  kernels/relu.cu changed and belongs to no task: --kernel TASK=kernels/relu.cu judges it\n"
          "  tasks/relu/wide.cu is new and has no launch plan: --kernel tasks/relu=tasks/relu/wide.cu judges it\n"));
  EXPECT_THAT(told.out, Not(testing::AnyOf(HasSubstr("host.cu"), HasSubstr("same.cu"))));
  EXPECT_THAT(Text(repository_ + "/comment.md"),
              HasSubstr("* kernels/relu.cu changed and belongs to no task: --kernel TASK=kernels/relu.cu"));
  const json files = json::parse(Judge({"--base", "main", "--json"}).out).at("unjudged_files");
  EXPECT_EQ(files, json::parse(R"([{"path": "kernels/relu.cu", "task_folder": null, "added": false},
                                   {"path": "tasks/relu/wide.cu", "task_folder": "tasks/relu", "added": true}])"));
}

TEST_F(Gate, TakesAPlainFileAsEvalDoes) {
  Write("kernels/relu.cu", PlainRelu("fmaxf(x[i], 0.0f)"));
  Commit("a plain file");
  Branch("breaks");
  Write("kernels/relu.cu", PlainRelu("x[i]"));
  Commit("breaks");
  const std::vector<std::string> options = {"--base", "main", "--kernel", "relu=kernels/relu.cu", "--json"};
  const Outcome broken = Judge(options);
  EXPECT_EQ(broken.status, 1) << broken.err;
  EXPECT_THAT(broken.err,
              HasSubstr("kernels/relu.cu has no launch plan: it is judged with this one, made from its own launch"));
  const json report = json::parse(broken.out), wrong = report.at("kernels").at(0);
  EXPECT_EQ(wrong.at("status"), "wrong");
  EXPECT_FALSE(wrong.at("as_base"));
  EXPECT_THAT(wrong.at("detail").get<std::string>(), HasSubstr("wrong_output"));
  EXPECT_EQ(report.at("unjudged_files"), json::array());
  Write("kernels/relu.cu", PlainRelu("fmaxf(0.0f, x[i])"));
  Commit("right");
  const Outcome right = Judge(options);
  EXPECT_EQ(right.status, 0) << right.err;
  const json passed = json::parse(right.out).at("kernels").at(0);
  EXPECT_EQ(passed.at("status"), "passed");
  EXPECT_EQ(passed.at("cases").size(), 1u);
}

TEST_F(Gate, BlamesNoChangeForWhatTheBaseFailsInToo) {
  Write("kernels/relu.cu", PlainRelu("fmaxg(x[i], 0.0f)"));
  Write("kernels/more.cu", "__global__ void relu(const float* x, float* out, int n, int* sums) {}\n");
  Write("tasks/relu/wrong.cu", Kernel("cheats/partial_last_block.cu"));
  Commit("what does not compile, what no plan fits, and what is wrong");
  Branch("touches");
  Write("kernels/relu.cu", PlainRelu("fmaxg(0.0f, x[i])"));
  Write("kernels/more.cu", "__global__ void relu(const float* x, float* out, int n, float* sums) {}\n");
  Commit("other words");
  const std::vector<std::string> options = {
      "--base", "main", "--kernel", "relu=kernels/relu.cu", "--kernel", "relu=kernels/more.cu"};
  const Outcome neither = Judge(options);
  EXPECT_EQ(neither.status, 0) << neither.out << neither.err;
  EXPECT_THAT(neither.out,
              HasSubstr("kernels/more.cu  not judged (relu)\n  neither the base's kernel nor head's can be judged; "
                        "kernels/more.cu has no launch plan, and that of the task's seed does not fit"));
  EXPECT_THAT(neither.out,
              HasSubstr("kernels/relu.cu  not judged (relu)\n  the base's kernel fails in the same way, so that this "
                        "change did not break it; compile_error"));
  // What was wrong and still is wrong fails, and the outcome says since when.
  Write("tasks/relu/wrong.cu", Kernel("cheats/partial_last_block.cu") + "// still\n");
  Commit("still wrong");
  const Outcome still = Judge({"--base", "main"});
  EXPECT_EQ(still.status, 1) << still.err;
  EXPECT_THAT(still.out, HasSubstr("tasks/relu/wrong.cu  wrong, as in the base (relu)"));
}

TEST_F(Gate, SaysWhatIsWrongWithItsOptions) {
  const struct {
    std::vector<std::string> arguments;
    std::string said;
  } wrong[] = {
      {{"--base", "nowhere"}, "neither a revision of the git repository"},
      {{"--base", "--help-me"}, "base"},
      {{"--base", "main", "--slower", "much"}, "--slower much"},
      {{"--base", "main", "--slower", "2"}, "write a share with a percent sign, such as 2%"},
      {{"--base", "main", "--rate", "0"}, "--rate 0"},
      {{"--base", "main", "--junit", "typo/gate.xml"}, "--junit typo/gate.xml: there is no folder typo"},
      {{"--base", "main", "--kernel", "relu"}, "write TASK=FILE.cu"},
      {{"--base", "main", "--kernel", "relu=none.cu"}, "neither side has this file"},
      {{"--base", "main", "--kernel", "rellu=tasks/relu/seed.cu"}, "0 folders"},
  };
  for (const auto& one : wrong) {
    const Outcome outcome = Judge(one.arguments);
    EXPECT_EQ(outcome.status, 2) << one.arguments.back() << ": " << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr(one.said));
  }
}

TEST_F(Gate, WhatACandidateSaysIsNoMarkup) {
  Branch("markup");
  std::string source = Text(repository_ + "/tasks/relu/seed.cu");
  const std::string last = "\"rows * d:i64\"";
  source.replace(source.find(last), last.size(), "\"<b>```|]]>&\"");
  Write("tasks/relu/seed.cu", source);
  Commit("an argument that there is none of");
  EXPECT_EQ(Judge({"--base", "main", "--junit", "junit.xml", "--markdown", "comment.md"}).status, 1);
  EXPECT_THAT(Text(repository_ + "/junit.xml"), Not(HasSubstr("<b>")));
  const std::string comment = Text(repository_ + "/comment.md");
  EXPECT_THAT(comment, HasSubstr("<b>```|]]>&")) << "the message names the argument";
  EXPECT_THAT(comment, HasSubstr("````text"));
}

}  // namespace
}  // namespace hone
