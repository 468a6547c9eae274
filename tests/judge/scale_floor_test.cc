// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Tests results that cancel to nothing or are subnormal: an honest float16 kernel passes, and one that is less precise
// than it should be still fails.
#include "tuner/evaluate/correctness/scale_floor.h"

#include <cmath>

#include "tests/judge/judge_fixture.h"
#include "tuner/values/float_bits.h"

namespace hone {
namespace {

// Returns a task whose float16 output out[r][c] is a function of row r of the float16 input x.
std::string RowTask(const std::string& values) {
  return R"(
name = "rows"
summary = "a function of each row"
class = "reduction"
slice = "rows"
[dims]
rows = "rows"
cols = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "float16"
shape = ["rows", "cols"]
values = { )" + values + R"( }
[[tensor]]
name = "out"
role = "out"
dtype = "float16"
shape = ["rows", "cols"]
[tolerance.out]
c_max = 2e-3
c_rms = 6e-4
[[case]]
role = "check"
dims = { rows = 40, cols = 33 }
[[case]]
role = "check"
dims = { rows = 7, cols = 100 }
[[hand]]
candidates = false  # it is of Centred alone
dims = { rows = 1, cols = 1 }
inputs.x = [1.0]
outputs.out = [0.0]
)";
}

float ToHalf(float value) { return static_cast<float>(HalfValue(HalfBits(value))); }

// Returns a kernel that writes element(launch, row, column, columns) for every element.
template <typename Element>
FakeKernel RowKernel(const std::string& target, Element element) {
  return {.run = [=](FakeLaunch& launch) {
    const int64_t rows = launch.Extent("x", 0), cols = launch.Extent("x", 1);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) launch.Write(target, r * cols + c, element(launch, r, c, cols));
    }
  }};
}

template <typename Oracle, typename Candidate>
Evaluation JudgedRows(const std::string& values, Oracle oracle, Candidate candidate) {
  JudgeBench bench(RowTask(values));
  bench.options.time = false;
  bench.args = bench.oracle_args = R"("x", "out")";
  bench.oracle_args = R"("x", "ref:out")";
  bench.oracle() = RowKernel("ref:out", oracle);
  bench.candidate() = bench.incumbent() = bench.device.kernels["seed"] = RowKernel("out", candidate);
  return bench.Run();
}

double Centred(FakeLaunch& launch, int64_t r, int64_t c, int64_t cols) {
  double sum = 0;
  for (int64_t i = 0; i < cols; ++i) sum += launch.Read("x", r * cols + i);
  return launch.Read("x", r * cols + c) - sum / static_cast<double>(cols);
}
// Computes as a float32 kernel would: its product with 1 / n makes rows of equal numbers miss 0 by a rounding error.
double CentredInFloat(FakeLaunch& launch, int64_t r, int64_t c, int64_t cols) {
  float sum = 0;
  for (int64_t i = 0; i < cols; ++i) sum += static_cast<float>(launch.Read("x", r * cols + i));
  return static_cast<float>(launch.Read("x", r * cols + c)) - sum * (1.0f / static_cast<float>(cols));
}
double CentredInHalf(FakeLaunch& launch, int64_t r, int64_t c, int64_t cols) {
  float sum = 0;
  for (int64_t i = 0; i < cols; ++i) sum = ToHalf(sum + static_cast<float>(launch.Read("x", r * cols + i)));
  return static_cast<float>(launch.Read("x", r * cols + c)) - ToHalf(sum * (1.0f / static_cast<float>(cols)));
}
// Computes right results, except in rows that cancel: there the error is that of a sum in float16.
double CarelessWhereItCancels(FakeLaunch& launch, int64_t r, int64_t c, int64_t cols) {
  const double exact = Centred(launch, r, c, cols);
  return exact == 0 ? CentredInHalf(launch, r, c, cols) : exact;
}

double Square(FakeLaunch& launch, int64_t r, int64_t c, int64_t cols) {
  const double x = launch.Read("x", r * cols + c);
  return x * x;
}
double SquareFlushed(FakeLaunch& launch, int64_t r, int64_t c, int64_t cols) {
  const double square = Square(launch, r, c, cols);
  return square < 0x1p-14 ? 0.0 : square;
}

constexpr const char* kOnes = "distribution = \"normal\", scale = 1.0, offset = 1.0";
// The squares of such numbers are about 9e-6, of which float16 keeps seven bits or fewer.
constexpr const char* kTiny = "distribution = \"normal\", scale = 0.003";

TEST(ScaleFloor, AnHonestSumPassesWhereItsResultCancels) {
  const Evaluation evaluation = JudgedRows(kOnes, Centred, CentredInFloat);
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
}

TEST(ScaleFloor, ASumInHalfFailsThereAndEverywhere) {
  EXPECT_EQ(JudgedRows(kOnes, Centred, CentredInHalf).verdict, Verdict::kWrongOutput);
  const Evaluation careless = JudgedRows(kOnes, Centred, CarelessWhereItCancels);
  EXPECT_EQ(careless.verdict, Verdict::kWrongOutput);
  // Rows of equal elements also occur among the special values.
  const std::string& distribution = careless.mismatch->distribution;
  EXPECT_TRUE(distribution == "constant" || distribution == "special") << careless.detail;
}

TEST(ScaleFloor, AnHonestKernelPassesAmongSubnormalResults) {
  const Evaluation evaluation = JudgedRows(kTiny, Square, Square);
  EXPECT_EQ(evaluation.verdict, Verdict::kOk) << evaluation.detail;
}

TEST(ScaleFloor, ZeroIsNotASubnormalResult) {
  EXPECT_EQ(JudgedRows(kTiny, Square, SquareFlushed).verdict, Verdict::kWrongOutput);
}

TEST(ScaleFloor, FollowsTheValuesOfTheInputs) {
  const Task task = ParseTask(RowTask(kOnes), "task.toml").value();
  const TensorSpec& x = task.tensors[0];
  const TensorSpec& out = task.tensors[1];
  EXPECT_EQ(TypicalMagnitude(x, {}), 2.0);
  EXPECT_EQ(ScaleFloor(task, out, {}), 0x1p-10);
  EXPECT_EQ(ScaleFloor(task, out, {.stress = Distribution::kZero, .use_stress = true}), 0.0);
  EXPECT_EQ(ScaleFloor(task, out, {.stress = Distribution::kCancelling, .use_stress = true}), 0x1p-8);
}

}  // namespace
}  // namespace hone
