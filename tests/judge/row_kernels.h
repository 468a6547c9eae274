// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Defines tasks over rows whose honest kernels branch on values (softmax, rmsnorm, gelu), and these kernels as lambdas
// in single precision, for the tests of values.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "tests/judge/judge_fixture.h"

namespace hone {

// Returns a task with one float32 input [rows, cols] and an output of the same shape; rows are the slices. `more` is
// added to the input's table, `tolerance` to the output's.
inline std::string TaskOfRows(const std::string& more, const std::string& tolerance, const std::string& end = "") {
  return R"(
name = "rows"
summary = "a function of every row"
class = "reduction"
slice = "rows"
[dims]
rows = "rows"
cols = "columns"
[[tensor]]
name = "x"
role = "in"
dtype = "float32"
shape = ["rows", "cols"]
)" + more + R"(
[[tensor]]
name = "out"
role = "out"
dtype = "float32"
shape = ["rows", "cols"]
[tolerance.out]
)" + tolerance + R"(
[work]
flops = "5 * rows * cols"
[[case]]
role = "time"
dims = { rows = 96, cols = 32 }
[[case]]
role = "check"
dims = { rows = 12, cols = 20 }
[[case]]
role = "check"
dims = { rows = 40, cols = 33 }
[[hidden]]
count = 2
rows = { low = 8, high = 60 }
cols = { low = 20, high = 40 }
)" + end;
}

using RowFunction = std::function<void(FakeLaunch& launch, int64_t row, int64_t begin, int64_t end, const std::string& out)>;

// Returns a kernel that applies `row` to every row, whose elements are [begin, end).
inline std::function<void(FakeLaunch&)> ByRows(RowFunction row, const std::string& out = "out") {
  return [row = std::move(row), out](FakeLaunch& launch) {
    const int64_t cols = launch.Extent("x", 1);
    for (int64_t r = 0; r < launch.Extent("x", 0); ++r) row(launch, r, r * cols, (r + 1) * cols, out);
  };
}

// Writes the softmax of one row. Real is double in oracles and float in candidates.
template <typename Real>
void SoftmaxRow(FakeLaunch& launch, int64_t begin, int64_t end, const std::string& out, bool subtract_maximum = true) {
  Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
  for (int64_t i = begin; i < end; ++i) largest = std::max(largest, static_cast<Real>(launch.Read("x", i)));
  if (!subtract_maximum) largest = 0;
  for (int64_t i = begin; i < end; ++i) sum += std::exp(static_cast<Real>(launch.Read("x", i)) - largest);
  for (int64_t i = begin; i < end; ++i) {
    launch.Write(out, i, std::exp(static_cast<Real>(launch.Read("x", i)) - largest) / sum);
  }
}

template <typename Real>
void RmsNormRow(FakeLaunch& launch, int64_t begin, int64_t end, const std::string& out, double eps = 1e-5) {
  Real sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    const Real x = static_cast<Real>(launch.Read("x", i));
    sum += x * x;
  }
  const Real scale = 1 / std::sqrt(sum / static_cast<Real>(end - begin) + static_cast<Real>(eps));
  for (int64_t i = begin; i < end; ++i) launch.Write(out, i, static_cast<Real>(launch.Read("x", i)) * scale);
}

template <typename Real>
Real Gelu(double at) {
  const Real x = static_cast<Real>(at);
  const Real u = static_cast<Real>(0.79788456080286535588) * (x + static_cast<Real>(0.044715) * x * x * x);
  return x / (1 + std::exp(-2 * u));
}

inline const std::string kSoftmaxTask =
    TaskOfRows("values = { distribution = \"normal\", scale = 3.0 }\nspecial = [\"-inf\", \"subnormal\"]",
            "c_max = 3e-5\nc_rms = 1e-5\nc_small = 1e-3");
inline const std::string kRmsNormTask =
    TaskOfRows("values = { distribution = \"normal\", scale = 2.0, offset = 1.0 }", "c_max = 5e-4\nc_rms = 2e-5\nc_small = 5e-4");
inline const std::string kGeluTask =
    TaskOfRows("values = { distribution = \"normal\", scale = 1.0, offset = 1.0 }\nspecial = [\"inf\", \"subnormal\"]",
            "c_max = 1e-4\nc_rms = 5e-6\nc_small = 0.5");

// A bench for such a task. The seed and the incumbent run `honest`, the candidate `cheat`, or `honest` without one.
struct RowBench : JudgeBench {
  RowBench(const std::string& toml, std::function<void(FakeLaunch&)> oracle_run, std::function<void(FakeLaunch&)> honest,
           std::function<void(FakeLaunch&)> cheat = {})
      : JudgeBench(toml) {
    oracle() = {.run = std::move(oracle_run)};
    incumbent() = device.kernels["seed"] = {.run = honest};
    candidate() = {.run = cheat ? std::move(cheat) : std::move(honest)};
    args = R"("x", "out")";
    oracle_args = R"("x", "ref:out")";
  }
};

inline RowBench SoftmaxBench(std::function<void(FakeLaunch&)> cheat = {}) {
  return RowBench(kSoftmaxTask, ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) { SoftmaxRow<double>(l, b, e, out); }, "ref:out"),
                  ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) { SoftmaxRow<float>(l, b, e, out); }),
                  std::move(cheat));
}
inline RowBench RmsNormBench(std::function<void(FakeLaunch&)> cheat = {}) {
  return RowBench(kRmsNormTask, ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) { RmsNormRow<double>(l, b, e, out); }, "ref:out"),
                  ByRows([](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& out) { RmsNormRow<float>(l, b, e, out); }),
                  std::move(cheat));
}
// Returns a bench for gelu whose candidate applies `cheat` to each element.
inline RowBench GeluBench(const std::function<float(double)>& cheat = {}) {
  const auto each = [](std::function<double(double)> f, const std::string& out) {
    return ByRows([f = std::move(f)](FakeLaunch& l, int64_t, int64_t b, int64_t e, const std::string& to) {
      for (int64_t i = b; i < e; ++i) l.Write(to, i, f(l.Read("x", i)));
    }, out);
  };
  return RowBench(kGeluTask, each([](double x) { return Gelu<double>(x); }, "ref:out"),
                  each([](double x) { return static_cast<double>(Gelu<float>(x)); }, "out"),
                  cheat ? each([cheat](double x) { return static_cast<double>(cheat(x)); }, "out") : std::function<void(FakeLaunch&)>{});
}

}  // namespace hone
