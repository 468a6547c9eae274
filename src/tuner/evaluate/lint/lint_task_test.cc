// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// These tests run the linter over a fake device: a sound task passes, and each fault of a task is reported. The shipped
// tasks are linted on the simulated GPU in tests/tasks.
#include "tuner/evaluate/lint/lint_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tuner/device/fake/fake_session.h"
#include "tuner/evaluate/lint/precision_variants.h"

namespace hone {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// This task computes out = x * weight + eps, along rows.
constexpr std::string_view kToml = R"(
name = "scale"
summary = "out = x * weight + eps"
class = "elementwise"
slice = "rows"
[dims]
rows = "rows"
d = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "d"]
values = { distribution = "normal", scale = 2.0 }
[[tensor]]
name = "weight"
role = "in"
dtype = "float32"
shape = ["d"]
stress = false
values = { distribution = "normal", scale = 0.3, offset = 1.0 }
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows", "d"]
[[scalar]]
name = "eps"
dtype = "float32"
value = 0.25
[tolerance.out]
c_max = 1e-5
c_rms = 5e-6
[[case]]
role = "time"
dims = { rows = 100, d = 100 }
[[case]]
role = "check"
dims = { rows = 20, d = 32 }
[[case]]
role = "check"
dims = { rows = 3, d = 7 }
[[case]]
role = "check"
dims = { rows = 0, d = 7 }
[[hidden]]
count = 2
rows = { low = 1, high = 30 }
d = { low = 1, high = 30 }
[[hand]]
dims = { rows = 1, d = 2 }
inputs.x = [1.0, 3.0]
inputs.weight = [2.0, 0.5]
outputs.out = [2.25, 1.75]
)";
constexpr std::string_view kOracle = R"(/*hone
[[launch]]
kernel = "scale_oracle"
grid = ["rows * d"]
block = ["1"]
args = ["x", "weight", "ref:out", "d:i64", "eps:f32"]
*/
out[i] = HONE_ORACLE_MID(HONE_ORACLE_IN(x[i]) * HONE_ORACLE_IN(weight[i % d])) + eps;
)";
constexpr std::string_view kSeed = R"(/*hone
[[launch]]
kernel = "scale"
grid = ["rows * d"]
block = ["1"]
args = ["x", "weight", "out", "d:i64", "eps:f32"]
*/
)";

Task MakeTask(std::string toml = std::string(kToml)) {
  Result<Task> task = ParseTask(toml, "task.toml");
  EXPECT_TRUE(task.ok()) << task.status().message();
  task->oracle_source = kOracle;
  task->seed_source = kSeed;
  return std::move(*task);
}

std::string With(std::string_view from, std::string_view to) {
  std::string toml(kToml);
  const size_t at = toml.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return toml.replace(at, from.size(), to);
}

double RoundTo(const NumberFormat& format, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  std::frexp(value, &exponent);
  const double ulp = std::ldexp(1.0, std::max(exponent - 1, format.lowest_exponent) - format.mantissa_bits);
  const double rounded = std::nearbyint(value / ulp) * ulp;
  return std::fabs(rounded) <= format.largest ? rounded : std::copysign(HUGE_VAL, value);
}

// This compiler accepts everything but the texts that it is set to refuse.
class FakeCompiler : public Compiler {
 public:
  Result<CompiledModule> Compile(const TranslationUnit& unit) override {
    CompiledModule module;
    if (!refuse.empty() && unit.file.find(refuse) != std::string::npos) {
      module.verdict = Verdict::kCompileError;
      module.digest = "expected a semicolon";
    }
    return module;
  }
  std::string Fingerprint() const override { return "fake"; }
  std::string refuse;
};

// On the fake device, kernels are lambdas, which cannot see the macros of their source. This session records which
// program is running, so that a lambda can compute in the variant's precision.
class LintSession : public FakeSession {
 public:
  explicit LintSession(FakeDevice device, std::string* source) : FakeSession(std::move(device)), source_(source) {}
  Result<LoadOutcome> Load(const CompiledProgram& program) override {
    Result<LoadOutcome> loaded = FakeSession::Load(program);
    if (loaded.ok() && loaded->program) sources_[loaded->program.get()] = program.candidate.source;
    return loaded;
  }
  Result<LaunchOutcome> Launch(LoadedProgram& program, const LaunchRequest& request) override {
    *source_ = sources_.at(&program);
    return FakeSession::Launch(program, request);
  }

 private:
  std::string* source_;
  std::map<LoadedProgram*, std::string> sources_;
};

class LintTaskTest : public testing::Test {
 protected:
  LintTaskTest() {
    device_.kernels["scale_oracle"].run = [this](FakeLaunch& launch) {
      const int64_t d = launch.Integer(3);
      const double eps = launch.Scalar(4);
      for (int64_t i = 0; i < launch.Elements("x"); ++i) {
        const double product = Mid(In(launch.Read("x", i)) * In(launch.Read("weight", i % d)));
        launch.Write("ref:out", i, product + eps);
      }
    };
    device_.kernels["scale"].run = [](FakeLaunch& launch) {
      const int64_t d = launch.Integer(3);
      for (int64_t i = 0; i < launch.Elements("x"); ++i) {
        const double product = static_cast<float>(launch.Read("x", i) * launch.Read("weight", i % d));
        launch.Write("out", i, product + launch.Scalar(4));
      }
    };
  }

  // Returns the variant whose prelude the running source begins with, or null.
  const PrecisionVariant* Running() const {
    for (const PrecisionVariant& variant : PrecisionVariants()) {
      if (source_.find("precision variant: " + variant.name + "\n") != std::string::npos) return &variant;
    }
    return nullptr;
  }
  double Emulate(PrecisionPart part, double value) const {
    const PrecisionVariant* variant = Running();
    if (variant == nullptr || (variant->part != part && variant->part != PrecisionPart::kAll)) return value;
    return RoundTo(variant->format, value);
  }
  double In(double value) const { return Emulate(PrecisionPart::kInputs, value); }
  double Mid(double value) const { return Emulate(PrecisionPart::kIntermediates, value); }

  TaskReport Lint(const Task& task) {
    LintSession session(device_, &source_);
    Result<TaskReport> report = LintTask(task, session, compiler_, {});
    EXPECT_TRUE(report.ok()) << report.status().message();
    EXPECT_EQ(session.allocated_bytes(), 0) << "the linter left memory behind";
    return report.ok() ? *report : TaskReport{};
  }

  FakeDevice device_;
  FakeCompiler compiler_;
  std::string source_;  // source of the program running now
};

TEST_F(LintTaskTest, ASoundTaskPasses) {
  const TaskReport report = Lint(MakeTask());
  EXPECT_THAT(report.problems, IsEmpty());
  EXPECT_THAT(report.warnings, IsEmpty());
  ASSERT_EQ(report.hand.size(), 1u);
  EXPECT_TRUE(report.hand[0].oracle_ok && report.hand[0].seed_ok);
  ASSERT_EQ(report.inputs.size(), 3u);
  for (const InputInfluence& input : report.inputs) EXPECT_TRUE(input.matters) << input.input;
  ASSERT_EQ(report.precision.size(), 1u);
  EXPECT_EQ(report.precision[0].least_dishonest, "float16_intermediates");
  EXPECT_GT(report.precision[0].gap, 1000);
  EXPECT_GT(report.precision[0].proposed_c_rms, report.precision[0].honest_rms);
  EXPECT_LT(report.precision[0].proposed_c_rms, report.precision[0].dishonest_rms);
  EXPECT_GE(report.seed_runs, 10);
}

TEST_F(LintTaskTest, TheSameSeedGivesTheSameReport) {
  TaskReport one = Lint(MakeTask()), two = Lint(MakeTask());
  one.seconds = two.seconds = 0;
  EXPECT_EQ(TaskReportToJson(one), TaskReportToJson(two));
}

TEST_F(LintTaskTest, AnOracleThatMissesAHandWorkedCaseIsWrong) {
  const TaskReport report = Lint(MakeTask(With("outputs.out = [2.25, 1.75]", "outputs.out = [2.25, 1.76]")));
  EXPECT_THAT(report.problems, Contains(HasSubstr("the oracle gives out[1] = 1.75, worked out by hand it is 1.76")));
  EXPECT_TRUE(report.precision.empty()) << "nothing else was tried over a wrong oracle";
}

TEST_F(LintTaskTest, AnInputNobodyReadsIsNamed) {
  device_.kernels["scale_oracle"].run = [](FakeLaunch& launch) {
    for (int64_t i = 0; i < launch.Elements("x"); ++i) launch.Write("ref:out", i, launch.Read("x", i));
  };
  Task task = MakeTask();
  task.hand_worked_cases.clear();
  task.seed_source.clear();
  const TaskReport report = Lint(task);
  EXPECT_THAT(report.problems, Contains(HasSubstr("does not depend on weight")));
  EXPECT_THAT(report.problems, Contains(HasSubstr("does not depend on the scalar eps")));
  EXPECT_THAT(report.problems, Contains(HasSubstr("copy of x passes as out")));
  EXPECT_THAT(report.warnings, Contains(HasSubstr("no [[hand]] case")));
}

TEST_F(LintTaskTest, ATooLooseToleranceLetsImprecisionAndZerosPass) {
  Task task = MakeTask();
  task.tolerance["out"] = {.c_max = 1e-2, .c_rms = 1e-3};
  EXPECT_THAT(Lint(task).problems, Contains(HasSubstr("tf32_inputs passes")));
  task.tolerance["out"] = {.c_max = 2, .c_rms = 2};
  EXPECT_THAT(Lint(task).problems, Contains(HasSubstr("zeros passes as out")));
}

TEST_F(LintTaskTest, ATooTightToleranceRefusesHonestKernels) {
  Task task = MakeTask();
  task.tolerance["out"] = {.c_max = 1e-9, .c_rms = 1e-9};
  const TaskReport report = Lint(task);
  EXPECT_THAT(report.problems, Contains(HasSubstr("an honest float32 kernel is refused")));
  EXPECT_THAT(report.problems, Contains(HasSubstr("the seed's out is wrong")));
}

TEST_F(LintTaskTest, AGapTooNarrowForAnyToleranceIsNamed) {
  // With results in float16, bfloat16 intermediates have eight times the error; the seed's own noise closes that gap.
  device_.kernels["scale"].run = [](FakeLaunch& launch) {
    const int64_t d = launch.Integer(3);
    for (int64_t i = 0; i < launch.Elements("x"); ++i) {
      const double exact = launch.Read("x", i) * launch.Read("weight", i % d) + launch.Scalar(4);
      launch.Write("out", i, exact * (1 + (i % 2 == 0 ? 1e-3 : -1e-3)));
    }
  };
  Task task = MakeTask(With("dtype = \"float32\"\nshape = [\"rows\", \"d\"]\n[[scalar]]", "dtype = \"float16\"\nshape = [\"rows\", \"d\"]\n[[scalar]]"));
  task.tolerance["out"] = {.c_max = 4e-3, .c_rms = 1.4e-3};
  EXPECT_THAT(Lint(task).problems, Contains(HasSubstr("times less precise than honest kernels")));
}

TEST_F(LintTaskTest, ASeedThatFailsOnOddWidthsOnlyIsFound) {
  const auto right = device_.kernels["scale"].run;
  device_.kernels["scale"].run = [right](FakeLaunch& launch) {
    right(launch);
    const int64_t n = launch.Elements("out");
    if (launch.Integer(3) % 2 == 1 && n > 0) launch.Write("out", n - 1, 1e6);
  };
  EXPECT_THAT(Lint(MakeTask()).problems, Contains(HasSubstr("the seed's out is wrong for d=7 rows=3")));
}

TEST_F(LintTaskTest, ResultsThatCancelAreWarnedAboutAndSubnormalOnesAreNot) {
  const auto oracle = device_.kernels["scale_oracle"].run, seed = device_.kernels["scale"].run;
  const auto cancelling = [&](double right, double got) {
    device_.kernels["scale_oracle"].run = [=](FakeLaunch& launch) {
      oracle(launch);
      if (launch.Elements("x") > 2) launch.Write("ref:out", 2, right);
    };
    device_.kernels["scale"].run = [=](FakeLaunch& launch) {
      seed(launch);
      if (launch.Elements("x") > 2) launch.Write("out", 2, got);
    };
    return Lint(MakeTask()).cancelling.size();
  };
  EXPECT_EQ(cancelling(1e-9, 3e-9), 1u);
  EXPECT_EQ(cancelling(1e-40, 3e-40), 0u);
}

TEST_F(LintTaskTest, AnElementTheOracleForgetsShows) {
  const auto right = device_.kernels["scale_oracle"].run;
  device_.kernels["scale_oracle"].run = [right](FakeLaunch& launch) {
    right(launch);
    if (launch.Elements("x") > 2) launch.Write("ref:out", 2, std::nan(""));
  };
  EXPECT_THAT(Lint(MakeTask()).problems, Contains(HasSubstr("the oracle's out[2] is NaN")));
}

TEST_F(LintTaskTest, AnOracleThatDoesNotCompileOrRunIsTheTasksFault) {
  compiler_.refuse = "oracle.cu";
  EXPECT_THAT(Lint(MakeTask()).problems, Contains(HasSubstr("does not compile (compile_error): expected a semicolon")));
  compiler_.refuse.clear();
  device_.kernels["scale_oracle"].run = [](FakeLaunch& launch) { launch.Crash("read out of bounds"); };
  EXPECT_THAT(Lint(MakeTask()).problems, Contains(HasSubstr("read out of bounds")));
  Task task = MakeTask();
  task.oracle_source = "no plan at all";
  EXPECT_THAT(Lint(task).problems, Contains(HasSubstr("does not parse")));
}

TEST_F(LintTaskTest, AnOracleWithoutItsMacrosIsWarnedAbout) {
  Task task = MakeTask();
  const size_t formula = task.oracle_source.find("out[i]");
  task.oracle_source = task.oracle_source.substr(0, formula) + "out[i] = x[i] * weight[i % d] + eps;\n";
  const TaskReport report = Lint(task);
  EXPECT_TRUE(report.valid());
  EXPECT_THAT(report.warnings, Contains(HasSubstr("no lower precision could be tried")));
}

// This task computes a loss: one number for a whole tensor. The mean of one number is that number.
constexpr std::string_view kLoss = R"toml(
name = "loss"
summary = "out = mean(x^2)"
class = "reduction"
[dims]
n = "elements"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["n"]
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["1"]
[tolerance.out]
c_max = 2e-4
c_rms = 2e-4
[[case]]
role = "check"
dims = { n = 400 }
[[case]]
role = "check"
dims = { n = 7 }
[[hidden]]
n = { low = 1, high = 300 }
)toml";

TEST_F(LintTaskTest, ALossOfOneElementPassesAndAConstantDoesNot) {
  const auto loss = [](const char* to, double (*in)(double)) {
    return [to, in](FakeLaunch& launch) {
      double sum = 0;
      for (int64_t i = 0; i < launch.Elements("x"); ++i) sum += in(launch.Read("x", i)) * in(launch.Read("x", i));
      launch.Write(to, 0, sum / static_cast<double>(launch.Elements("x")));
    };
  };
  device_.kernels["loss_oracle"].run = loss("ref:out", [](double x) { return x; });
  device_.kernels["loss"].run = loss("out", [](double x) { return x; });
  const auto task_of = [](const std::string& toml) {
    Result<Task> task = ParseTask(toml, "task.toml");
    EXPECT_TRUE(task.ok()) << task.status().message();
    task->oracle_source =
        "/*hone\n[[launch]]\nkernel = \"loss_oracle\"\ngrid = 1\nblock = 1\nargs = [\"x\", \"ref:out\", "
        "\"n:i64\"]\n*/\n";
    task->seed_source =
        "/*hone\n[[launch]]\nkernel = \"loss\"\ngrid = 1\nblock = 1\nargs = [\"x\", \"out\", \"n:i64\"]\n*/\n";
    return std::move(*task);
  };
  std::string toml(kLoss);
  const TaskReport report = Lint(task_of(toml));
  EXPECT_THAT(report.problems, IsEmpty());
  ASSERT_EQ(report.trivial.size(), 2u) << "zeros, and the answer to another sample; not the mean";
  EXPECT_EQ(report.trivial[1].answer, "another sample's answer");
  EXPECT_FALSE(report.trivial[1].accepted);
  EXPECT_GT(report.trivial[1].max_scaled, 0.02);

  // With this tolerance, the answers to all samples are equal, so a constant would pass. The remedy is to make the
  // samples differ.
  toml.replace(toml.find("c_max = 2e-4"), 12, "c_max = 0.40");
  toml.replace(toml.find("c_rms = 2e-4"), 12, "c_rms = 0.40");
  EXPECT_THAT(Lint(task_of(toml)).problems, Contains(HasSubstr("a constant passes as out")));
  EXPECT_THAT(Lint(task_of(toml)).problems, Contains(HasSubstr("Add vary = 4")));
  const std::string shape = "shape = [\"n\"]\n";
  toml.replace(toml.find(shape), shape.size(), shape + "values = { distribution = \"normal\", vary = 4 }\n");
  EXPECT_THAT(Lint(task_of(toml)).problems, testing::Not(Contains(HasSubstr("a constant passes"))));
}

TEST_F(LintTaskTest, AFloorAboveTheSeedsTimeIsWrong) {
  // The fake device runs the seed in almost no time, and moves bytes at its bandwidth.
  Task task =
      MakeTask(With("[[case]]\nrole = \"time\"", "[work]\nbytes = \"1000000000 * rows\"\n[[case]]\nrole = \"time\""));
  const TaskReport report = Lint(task);
  ASSERT_TRUE(report.floor);
  EXPECT_GT(report.floor->floor_us, report.floor->seed_us);
  EXPECT_THAT(report.problems, Contains(testing::AllOf(HasSubstr("the floor is wrong: the seed takes"),
                                                       HasSubstr("count fewer bytes under [work]"))));
}

TEST_F(LintTaskTest, BytesThatCannotBeDerivedAndScattersAreWarnedAbout) {
  std::string toml = With("role = \"out\"", "role = \"inout\"");
  toml.replace(toml.find("outputs.out"), 0, "inputs.out = [0.0, 0.0]\n");
  Task task = MakeTask(toml);
  EXPECT_THAT(Lint(task).warnings,
              Contains(testing::AllOf(HasSubstr("cannot be derived: out is written in place"),
                                      HasSubstr("bytes = \"4 * rows * d + 4 * d + 8 * rows * d\""))));
  task.bytes = *Expression::Parse("8 * rows * d + 4 * d");
  EXPECT_THAT(Lint(task).warnings, IsEmpty());
  TensorSpec index = *task.FindTensor("weight");
  index.name = "index";
  index.dtype = DType::kInt32;
  index.values.distribution = Distribution::kIndex;
  index.values.index_bound = *Expression::Parse("rows");
  task.tensors.push_back(index);
  task.hand_worked_cases[0].inputs["index"] = {0, 0};
  EXPECT_THAT(Lint(task).warnings, Contains(HasSubstr("values of index repeat, and they point into out")));
  task.tensors.back().values.index_order = IndexOrder::kDistinct;
  EXPECT_THAT(Lint(task).warnings, testing::Not(Contains(HasSubstr("values of index repeat"))));
}

// A kernel that is wrong below the width of its filter passes where no shape is that small.
TEST_F(LintTaskTest, SizesThatBeginHighAreWarnedAbout) {
  Task task = MakeTask();
  task.hand_worked_cases.clear();
  const auto begin_at = [&](int64_t size, int64_t multiple) {
    for (Case& one : task.cases) one.dims["d"] = size + 3 * multiple * (one.dims["d"] > 7 ? 1 : 0);
    task.hidden[0].ranges[1].low = size;
    task.hidden[0].ranges[1].multiple = multiple;
  };
  begin_at(8, 1);
  EXPECT_THAT(Lint(task).warnings, Contains(HasSubstr("the smallest d tested is 8")));
  begin_at(8, 8);
  EXPECT_THAT(Lint(task).warnings, testing::Not(Contains(HasSubstr("the smallest d"))));
  begin_at(2, 1);
  EXPECT_THAT(Lint(task).warnings, testing::Not(Contains(HasSubstr("the smallest d"))));
}

TEST_F(LintTaskTest, AnInputThatHardlyMattersSaysByHowMuch) {
  const TaskReport report = Lint(MakeTask(With("scale = 0.3, offset = 1.0", "scale = 1e-7, offset = 1.0")));
  EXPECT_THAT(report.problems,
              Contains(testing::AllOf(HasSubstr("weight hardly matters"), HasSubstr("Raise the scale"))));
}

TEST_F(LintTaskTest, ALostDeviceIsNotTheTasksFault) {
  device_.lost_after_launches = 3;
  LintSession session(device_, &source_);
  Result<TaskReport> report = LintTask(MakeTask(), session, compiler_, {});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace hone
