// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests cover baseline.toml and its libraries: cuBLASLt as a host-mode candidate, PyTorch in a child process (a
// script stands in for Python), and the numbers in the evaluation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "hone/tuner/candidate.h"
#include "hone/tuner/library_text.h"
#include "tuner/evaluate/baseline/candidate_launches.h"
#include "tuner/evaluate/baseline/library_timing.h"
#include "tuner/evaluate/baseline/torch_child.h"

namespace hone {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Task TaskNamed(const std::string& name) {
  Result<Task> task = LoadTask(std::string(HONE_SOURCE_DIR) + "/tasks/" + name);
  EXPECT_TRUE(task.ok()) << task.status().message();
  return *task;
}

std::string RefusalOf(const std::string& toml) {
  const auto specs = ParseBaselines(toml, "baseline.toml", TaskNamed("matmul_bf16"));
  EXPECT_EQ(specs.status().code(), StatusCode::kInvalidArgument);
  return specs.status().message();
}

TEST(BaselineFile, EveryTasksFileIsUnderstood) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(HONE_SOURCE_DIR) + "/tasks")) {
    if (!std::filesystem::exists(entry.path() / "baseline.toml")) continue;
    const auto specs = LoadBaselines(TaskNamed(entry.path().filename().string()));
    ASSERT_TRUE(specs.ok()) << specs.status().message();
    EXPECT_FALSE(specs->empty()) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 12);
}

TEST(BaselineFile, MistakesAreNamedWithTheirLineAndARemedy) {
  EXPECT_THAT(RefusalOf("[[library]]\nkind = \"torhc\"\n"), HasSubstr("baseline.toml:2"));
  EXPECT_THAT(RefusalOf("[[library]]\nkind = \"torch\"\n"), HasSubstr("'expression'"));
  EXPECT_THAT(RefusalOf("[[library]]\nkind = \"torch\"\nexpression = \"a @ b\"\nbogus = 1\n"), HasSubstr("bogus"));
  const std::string expression = "[[library]]\nkind = \"torch\"\nexpression = \"a @ b\"\n";
  EXPECT_THAT(RefusalOf(expression + "name = \"of one's own\"\n"), HasSubstr("rename it"));
  EXPECT_THAT(RefusalOf(expression + "prepare.a = \"b\"\n"), HasSubstr("that the task does not have"));
  EXPECT_THAT(RefusalOf(expression + "prepare.packed = 3\n"), HasSubstr("'packed'"));
  const std::string product =
      "[[library]]\nkind = \"cublaslt\"\na = \"a\"\nb = \"b\"\nc = \"c\"\nm = \"m\"\nn = \"n\"\n";
  EXPECT_THAT(RefusalOf(product + "k = \"kk\"\n"), HasSubstr("no dimension of the task"));
  EXPECT_THAT(RefusalOf(product + "k = \"k\"\nalgorithms = 0\n"), HasSubstr("1 to 64"));
}

TEST(BaselineFile, ATaskWithoutOneHasNoLibraries) {
  EXPECT_THAT(*LoadBaselines(TaskNamed("sample_mean")), IsEmpty());
  // A task that came through a spool has its text and no folder.
  Task task = TaskNamed("relu");
  task.directory.clear();
  EXPECT_EQ(LoadBaselines(task)->size(), 1u);
}

TEST(CublasLt, IsAHostModeCandidateOfTheTask) {
  for (const char* name : {"matmul_bf16", "matmul_f32"}) {
    const Task task = TaskNamed(name);
    const auto specs = LoadBaselines(task);
    ASSERT_TRUE(specs.ok());
    const std::string source = CublasLtSource((*specs)[0], task, true);
    const Result<Candidate> candidate = ParseCandidate(source, "cublaslt", task);
    ASSERT_TRUE(candidate.ok()) << candidate.status().message();
    EXPECT_TRUE(candidate->plan.host_mode);
    EXPECT_THAT(source, HasSubstr("#define HONE_ALGORITHMS 16"));
    EXPECT_THAT(CublasLtSource((*specs)[0], task, false), HasSubstr("#define HONE_ALGORITHMS 1\n"));
    EXPECT_THAT(source, HasSubstr(task.name == "matmul_f32" ? "CUDA_R_32F" : "CUDA_R_16BF"));
  }
}

constexpr char kModuleTask[] = R"(
name = "scaled"
summary = "a scaled tanh"
class = "elementwise"
[dims]
rows = "rows"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "8"]
[[tensor]]
name = "scale"
role = "in"
dtype = "float32"
shape = ["8"]
[[tensor]]
name = "mask"
role = "in"
dtype = "uint8"
shape = ["rows", "8"]
values = { distribution = "index", bound = 2 }
[[tensor]]
name = "y"
role = "out"
dtype = "float32"
shape = ["rows", "8"]
[reference]
kind = "torch"
class = "Scaled"
inputs = ["x", "mask", 2]
outputs = ["y"]
booleans = ["mask"]
[reference.state]
scale = "inner.scale"
[reference.sizes]
rows = "batch"
[tolerance.y]
c_max = 1e-5
c_rms = 1e-6
[[case]]
role = "time"
dims = { rows = 64 }
[[case]]
role = "check"
dims = { rows = 3 }
)";

TEST(BaselineFile, ATaskOfAPyTorchModuleHasTheModuleAsALibrary) {
  const Result<Task> task = ParseTask(kModuleTask, "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  const auto specs = LoadBaselines(*task);
  ASSERT_TRUE(specs.ok()) << specs.status().message();
  ASSERT_THAT(*specs, SizeIs(1));
  EXPECT_TRUE(specs->front().module);
  // A baseline.toml that names PyTorch says how it is to be called.
  Task renamed_task = *task;
  renamed_task.baseline_toml = "[[library]]\nkind = \"torch\"\nexpression = \"torch.tanh(x)\"\n";
  ASSERT_THAT(*LoadBaselines(renamed_task), SizeIs(1));
  EXPECT_FALSE(LoadBaselines(renamed_task)->front().module);
}

class Libraries : public testing::Test {
 protected:
  Libraries() : directory_(*MakeTemporaryDirectory({}, "hone-python-")), task_(TaskNamed("matmul_bf16")) {
    for (const Case& c : task_.cases) {
      if (c.role != CaseRole::kTime) continue;
      CaseResult& result = evaluation_.cases.emplace_back();
      result.dims = c.dims;
      result.role = CaseRole::kTime;
      result.time_us = Interval{10, 9, 11};
      break;
    }
    torch_.python_directories = {directory_.path()};
    torch_.environment = {"PATH=/usr/bin:/bin"};
  }
  void InstallPython(const std::string& body) {
    ASSERT_TRUE(
        WriteFileAtomically(directory_ / "python3", "#!/bin/sh\ncat > " + (directory_ / "job") + "\n" + body, 0755)
            .ok());
  }
  std::vector<LibraryResult> Torch() {
    LibrarySpec spec;
    spec.expression = "a @ b";
    evaluation_.cases[0].libraries.clear();
    TimeTorch(spec, task_, {&evaluation_.cases[0]}, torch_);
    return evaluation_.cases[0].libraries;
  }
  TemporaryDirectory directory_;
  Task task_;
  Evaluation evaluation_;
  TorchOptions torch_;
};

TEST_F(Libraries, AModulesProcessIsToldTheModuleAndIsConfined) {
  Result<Task> task = ParseTask(kModuleTask, "task.toml");
  ASSERT_TRUE(task.ok()) << task.status().message();
  task->oracle_source = "class Scaled: pass\n";
  evaluation_.cases[0].dims = {{"rows", 64}};
  // The script stands in for Python: it reports its packages' folders, checks its job and its sandbox, and prints
  // times.
  ASSERT_TRUE(WriteFileAtomically(directory_ / "python3",
                                  R"(#!/bin/sh
case "$2" in *sysconfig*) echo 'hone: {"executable": ")" +
                                      (directory_ / "python3") + R"(", "paths": []}'; exit 0;; esac
cat > job
grep -q '"class":"Scaled"' job && grep -q '"state":{"scale":"inner.scale"}' job && grep -q '"booleans":\["mask"\]' job || exit 3
grep -q 'class Problem' hone_script.py && grep -q 'Times a PyTorch expression' hone_script.py || exit 4
(echo x > )" + (directory_ / "outside") +
                                      R"() 2> /dev/null && exit 5
echo 'hone: {"torch": "2.9", "cuda": "13.0"}'
echo 'hone: {"case": 0, "times": {"eager": {"median": 20, "low": 18, "high": 22}, "compiled": {"median": 15, "low": 14, "high": 16}}}'
)",
                                  0755)
                  .ok());
  LibrarySpec spec;
  spec.module = true;
  torch_.environment = {"PATH=" + directory_.path() + ":/usr/bin:/bin"};
  TimeTorch(spec, *task, {&evaluation_.cases[0]}, torch_);
  const std::vector<LibraryResult>& results = evaluation_.cases[0].libraries;
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].time_us, 20) << results[0].detail;
  EXPECT_EQ(results[1].name, "torch_compiled");
  EXPECT_EQ(results[1].time_us, 15) << results[1].detail;
}

TEST_F(Libraries, PyTorchsTimesComeBackWithTheirQuotients) {
  InstallPython(R"(echo "a library says hello"
echo 'hone: {"torch": "2.9", "cuda": "13.0"}'
echo 'hone: {"case": 0, "times": {"eager": {"median": 20, "low": 18, "high": 22, "calls": 7}, "compiled": {"error": "no Triton"}}}'
)");
  const std::vector<LibraryResult> results = Torch();
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].name, "torch_eager");
  EXPECT_EQ(results[0].time_us, 20);
  EXPECT_DOUBLE_EQ(results[0].speedup->median, 2);
  EXPECT_DOUBLE_EQ(results[0].speedup->low, 18.0 / 11);
  EXPECT_DOUBLE_EQ(results[0].speedup->high, 22.0 / 9);
  EXPECT_THAT(results[0].detail, HasSubstr("7 calls to a sample"));
  EXPECT_FALSE(results[1].time_us.has_value());
  EXPECT_THAT(results[1].detail, HasSubstr("no Triton"));
  const Result<std::string> job = ReadFile(directory_ / "job");
  ASSERT_TRUE(job.ok());
  EXPECT_THAT(*job, HasSubstr("\"expression\":\"a @ b\""));
  EXPECT_THAT(*job, HasSubstr("\"dtype\":\"bfloat16\""));
}

TEST_F(Libraries, WhatAnExpressionPreparesAndItsNameReachTheChildAndTheResults) {
  InstallPython(R"(echo 'hone: {"torch": "2.9", "cuda": "13.0"}'
echo 'hone: {"case": 0, "times": {"eager": {"median": 20, "low": 18, "high": 22}, "compiled": {"error": "no Triton"}}}'
)");
  const auto specs = ParseBaselines(
      "[[library]]\nkind = \"torch\"\nname = \"packed\"\nexpression = \"a @ p\"\nprepare.p = "
      "\"b.t().contiguous().t()\"\n",
      "baseline.toml", task_);
  ASSERT_TRUE(specs.ok()) << specs.status().message();
  TimeTorch(specs->front(), task_, {&evaluation_.cases[0]}, torch_);
  ASSERT_THAT(evaluation_.cases[0].libraries, SizeIs(2));
  EXPECT_EQ(evaluation_.cases[0].libraries[0].name, "packed_eager");
  EXPECT_EQ(evaluation_.cases[0].libraries[1].name, "packed_compiled");
  const Result<std::string> job = ReadFile(directory_ / "job");
  ASSERT_TRUE(job.ok());
  EXPECT_THAT(*job, HasSubstr(R"_("prepare":[["p","b.t().contiguous().t()"]])_"));
}

// Times that were reported for a case stay, even if the process dies afterwards.
TEST_F(Libraries, ProcessThatDiesLosesOnlyTheCasesItHadNotTold) {
  InstallPython(R"(echo 'hone: {"torch": "2.9", "cuda": "13.0"}'
echo 'hone: {"case": 0, "times": {"eager": {"median": 20, "low": 18, "high": 22}, "compiled": {"median": 10, "low": 9, "high": 11}}}'
echo 'hone: {"case": 1, "error": "out of memory"}'
exit 3
)");
  CaseResult second = evaluation_.cases[0], third = evaluation_.cases[0];
  LibrarySpec spec;
  spec.expression = "a @ b";
  TimeTorch(spec, task_, {&evaluation_.cases[0], &second, &third}, torch_);
  EXPECT_EQ(evaluation_.cases[0].libraries.at(1).time_us, 10);
  EXPECT_THAT(second.libraries.at(0).detail, HasSubstr("out of memory"));
  EXPECT_THAT(third.libraries.at(1).detail, HasSubstr("exit status 3"));
  EXPECT_FALSE(third.libraries.at(1).time_us.has_value());
}

// Returns a program that looks as if a compiler had compiled `source`.
CompiledProgram Compiled(const Task& task, const std::string& source) {
  CompiledProgram program;
  Result<Candidate> candidate = ParseCandidate(source, "candidate.cu", task);
  EXPECT_TRUE(candidate.ok()) << candidate.status().message();
  program.candidate = *candidate;
  program.binding = DefaultBinding(program.candidate.plan);
  for (const CompileUnit& unit : CompileUnits(program.candidate, program.binding)) {
    CompiledModule& module = program.modules[BindingKey(unit.binding)];
    module.image = std::string("\x7f\0A", 3);
    for (const std::string& kernel : unit.kernels) module.lowered[kernel] = "_Z" + kernel;
  }
  return program;
}

DeviceFacts H200() {
  DeviceFacts facts;
  facts.cc_major = 9;
  facts.sm_count = 132;
  facts.smem_optin = 232448;
  facts.smem_per_sm = 233472;
  return facts;
}

TEST(CandidateLaunches, AreNumbersSymbolsAndNamesOfTensors) {
  const Task task = TaskNamed("relu");
  const CompiledProgram program = Compiled(task, R"CU(/*hone
[[launch]]
kernel = "relu"
grid   = ["ceil_div(rows * d, 128)"]
block  = ["128"]
shared = "sm_count * 16"
args   = ["x", "out + d", "rows * d:i32"]
*/
__global__ void relu(const float* x, float* out, int count) {})CU");
  const Result<nlohmann::json> launches = LaunchesJson(program, task, {{"rows", 3}, {"d", 100}}, H200());
  ASSERT_TRUE(launches.ok()) << launches.status().message();
  EXPECT_EQ((*launches)["outputs"].dump(), R"([{"dtype":"float32","name":"out","shape":[3,100]}])");
  ASSERT_EQ((*launches)["steps"].size(), 1u);
  const nlohmann::json& step = (*launches)["steps"][0];
  EXPECT_EQ(step["symbol"], "_Zrelu");
  EXPECT_EQ(step["grid"].dump(), "[3,1,1]");
  EXPECT_EQ(step["shared"], 132 * 16);
  EXPECT_EQ(step["args"].dump(), R"([{"offset":0,"tensor":"x"},{"offset":400,"tensor":"out"},{"bytes":"2c010000"}])");
  const nlohmann::json modules = ModulesJson(program);
  ASSERT_TRUE(modules.contains(step["module"].get<std::string>()));
  EXPECT_EQ(modules[step["module"].get<std::string>()], "7f0041");
}

TEST(CandidateLaunches, WhatCannotBeLaunchedFromThereIsSaid) {
  const Task task = TaskNamed("relu");
  const CompiledProgram program = Compiled(task, R"CU(/*hone
[[launch]]
kernel = "relu"
grid   = ["sm_count * occupancy(relu)"]
block  = ["128"]
args   = ["x", "out"]
*/
__global__ void relu(const float* x, float* out) {})CU");
  const Result<nlohmann::json> launches = LaunchesJson(program, task, {{"rows", 3}, {"d", 100}}, H200());
  EXPECT_THAT(launches.status().message(), HasSubstr("occupancy"));
}

TEST_F(Libraries, ACandidateThatPyTorchsProcessCanLaunchIsTimedInPairs) {
  task_ = TaskNamed("relu");
  evaluation_.cases[0].dims = {{"rows", 3}, {"d", 100}};
  const CompiledProgram program = Compiled(task_, task_.seed_source);
  torch_.candidate = &program;
  torch_.facts = H200();
  InstallPython(R"(echo 'hone: {"torch": "2.9", "cuda": "13.0"}'
echo 'hone: {"case": 0, "times": {
"eager": {"median": 20, "low": 18, "high": 22, "calls": 7, "paired": {"median": 1.5, "low": 1.4, "high": 1.6, "apart": 0.5}},
"compiled": {"median": 20, "low": 18, "high": 22, "paired": {"error": "cuModuleLoadData gave error 209"}}}}' | tr -d '\n'
)");
  const std::vector<LibraryResult> results = Torch();
  EXPECT_DOUBLE_EQ(results[0].speedup->median, 1.5);
  EXPECT_DOUBLE_EQ(results[0].speedup->low, 1.4);
  EXPECT_THAT(results[0].detail, HasSubstr("in interleaved pairs, 7 calls to a sample"));
  EXPECT_THAT(results[0].detail, HasSubstr("its result is 5.0e-01 of its size away"));
  EXPECT_DOUBLE_EQ(results[1].speedup->median, 2);
  EXPECT_THAT(results[1].detail, HasSubstr("timed by itself (cuModuleLoadData gave error 209)"));
  const Result<std::string> job = ReadFile(directory_ / "job");
  ASSERT_TRUE(job.ok());
  EXPECT_THAT(*job, HasSubstr("\"launches\""));
  EXPECT_THAT(*job, HasSubstr("7f0041"));
}

TEST_F(Libraries, WithoutPyTorchOneSentenceSaysSo) {
  EXPECT_THAT(Torch()[0].detail, HasSubstr("python3 is not on the PATH"));
  InstallPython("echo 'hone: {\"error\": \"PyTorch does not load\"}'\n");
  EXPECT_EQ(Torch()[1].detail, "PyTorch does not load");
  InstallPython("exit 3\n");
  EXPECT_THAT(Torch()[0].detail, HasSubstr("exit status 3"));
  InstallPython("echo nonsense\n");
  EXPECT_THAT(Torch()[0].detail, HasSubstr("without an answer"));
  InstallPython("echo 'hone: {\"case\": 0, \"times\": {\"eager\": {\"median\": \"x\"}}}'\n");
  EXPECT_FALSE(Torch()[0].time_us.has_value());
  EXPECT_THAT(Torch()[0].detail, HasSubstr("median"));
  InstallPython("echo 'hone: {\"case\": 7, \"times\": {\"eager\": {\"median\": 1, \"low\": 1, \"high\": 1}}}'\n");
  EXPECT_FALSE(Torch()[0].time_us.has_value());
}

// This test runs the real script in a Python where PyTorch does not load.
TEST_F(Libraries, TheChildSaysWhyPyTorchDoesNotLoad) {
  const Result<std::string> python = FindExecutable("python3", {"/usr/bin", "/usr/local/bin"});
  if (!python.ok()) GTEST_SKIP() << python.status().message();
  ASSERT_TRUE(WriteFileAtomically(directory_ / "torch.py", "raise ImportError('made not to load')\n").ok());
  torch_.python_directories = {std::filesystem::path(*python).parent_path().string()};
  torch_.environment.push_back("PYTHONPATH=" + directory_.path());
  EXPECT_THAT(Torch()[0].detail, HasSubstr("PyTorch does not load in this python3 (made not to load)"));
}

// A stand-in for a PyTorch that sees the GPU and has no code for it; the test cannot rely on such an installation.
TEST_F(Libraries, TheChildSaysWhenPyTorchCannotUseTheGpu) {
  const Result<std::string> python = FindExecutable("python3", {"/usr/bin", "/usr/local/bin"});
  if (!python.ok()) GTEST_SKIP() << python.status().message();
  ASSERT_TRUE(WriteFileAtomically(directory_ / "torch.py", R"(
__version__ = "1.11.0+cu102"
class version: cuda = "10.2"
class cuda:
    is_available = staticmethod(lambda: True)
    set_device = staticmethod(lambda device: None)
def device(*arguments): return 0
def manual_seed(seed): pass
def zeros(*arguments, **more): raise RuntimeError("no kernel image is available\nmore")
)")
                  .ok());
  torch_.python_directories = {std::filesystem::path(*python).parent_path().string()};
  torch_.environment.push_back("PYTHONPATH=" + directory_.path());
  EXPECT_THAT(
      Torch()[0].detail,
      HasSubstr("PyTorch 1.11.0+cu102 (CUDA 10.2) cannot use this GPU (no kernel image is available): install"));
}

TEST(DescribeLibraries, WhatIsMissingAtEveryShapeIsSaidOnce) {
  Evaluation evaluation;
  for (const int64_t n : {1, 2}) {
    CaseResult timed;
    timed.dims = {{"n", n}};
    timed.libraries = {{"torch_eager", std::nullopt, std::nullopt, "PyTorch is not there: pip install torch"},
                       {"torch_compiled", std::nullopt, std::nullopt, "PyTorch is not there: pip install torch"}};
    evaluation.cases.push_back(timed);
  }
  evaluation.cases.emplace_back();  // a check case, which has no libraries
  EXPECT_EQ(DescribeLibraries(evaluation, " "),
            " torch_eager, torch_compiled: PyTorch is not there: pip install torch\n");
  evaluation.cases[1].libraries = {{"torch_eager", 5.0, Interval{1, 1, 1}, "PyTorch 2"},
                                   {"torch_compiled", std::nullopt, std::nullopt, "no compiler"}};
  const std::string description = DescribeLibraries(evaluation, "");
  EXPECT_THAT(description, HasSubstr("n=1                                torch_eager"));
  EXPECT_THAT(
      description,
      HasSubstr(
          "n=2                                torch_compiled              -                      -  no compiler\n"));
}

TEST_F(Libraries, ALibraryIsHeldAgainstTheCandidateAndAMissingOneIsTold) {
  const auto specs = LoadBaselines(task_);
  ASSERT_TRUE(specs.ok());
  const TimeAgainst against = [&](const std::string& source, const std::string& name) -> Result<Evaluation> {
    EXPECT_THAT(source, HasSubstr("cublasLtMatmul"));
    if (name == "cublaslt_first") return Status::Unavailable("a host-mode candidate needs nvcc");
    Evaluation held;
    held.verdict = Verdict::kOk;
    held.cases = evaluation_.cases;
    held.cases[0].baseline_us = 12;
    held.cases[0].speedup = Interval{1.2, 1.1, 1.3};
    return held;
  };
  TimeLibraries({(*specs)[0]}, task_, against, torch_, &evaluation_);
  const std::vector<LibraryResult>& libraries = evaluation_.cases[0].libraries;
  ASSERT_THAT(libraries, SizeIs(2));
  EXPECT_THAT(libraries[0].detail, HasSubstr("was not timed: a host-mode candidate needs nvcc"));
  EXPECT_EQ(libraries[1].name, "cublaslt_best");
  EXPECT_EQ(libraries[1].time_us, 12);
  const std::string description = DescribeLibraries(evaluation_, "");
  EXPECT_THAT(description, HasSubstr("1.200x [1.100, 1.300]"));
  EXPECT_THAT(description, HasSubstr("slower than it at 0 of 1 shapes"));
  const Result<Evaluation> back = EvaluationFromJson(EvaluationToJson([&] {
    Evaluation ok = evaluation_;
    ok.verdict = Verdict::kOk;
    return ok;
  }()));
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(DescribeLibraries(*back, ""), description);
}

}  // namespace
}  // namespace hone
