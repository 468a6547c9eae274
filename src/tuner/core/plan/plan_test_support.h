// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Provides a small task that the tests of plans share: an input and an output of rows, one in-place row of weights, a
// strided input, a scalar.
#pragma once

#include <string>

#include "hone/tuner/candidate.h"
#include "hone/tuner/task.h"

namespace hone::testing_support {

inline const Task& PlanTask() {
  static const Task task = [] {
    Result<Task> parsed = ParseTask(R"(
name = "plans"
summary = "for tests"
class = "other"
slice = "tokens"
dims = { tokens = "rows", d = "columns", ld = "leading dimension" }
tensor = [
  { name = "x", role = "in", dtype = "float16", shape = ["tokens", "d"] },
  { name = "s", role = "in", dtype = "float32", shape = ["tokens", "d"], strides = ["ld", 1], align = 8 },
  { name = "out", role = "out", dtype = "float16", shape = ["tokens", "d"] },
]
scalar = [ { name = "eps", dtype = "float32", value = 0.1 } ]
tolerance.out = { c_max = 1e-3, c_rms = 1e-3 }
case = [ { role = "check", dims = { tokens = 3, d = 8, ld = 16 } } ]
)",
                                    "task.toml");
    HONE_CHECK(parsed.ok(), parsed.status().message());
    return std::move(parsed).value();
  }();
  return task;
}

// Returns a candidate whose plan is `plan`; its code does not matter here.
inline std::string Source(const std::string& plan) {
  return "// a comment above\n/*hone\n" + plan + "*/\n__global__ void k();\n";
}

// Returns a plan of one launch, with the lines `above` before it and the lines `extra` inside it, from line 6 on.
inline std::string OneLaunch(const std::string& extra = "", const std::string& args = R"(["x", "out"])",
                             const std::string& above = "") {
  return above + "[[launch]]\nkernel = \"k\"\ngrid = [\"tokens\"]\nblock = [\"256\"]\nargs = " + args + "\n" + extra +
         "\n";
}

inline DeviceFacts H200() {
  DeviceFacts facts;
  facts.id = "cuda:0";
  facts.cc_major = 9;
  facts.sm_count = 132;
  facts.l2_bytes = 50 << 20;
  facts.smem_optin = 227 * 1024;
  facts.smem_per_sm = 228 * 1024;
  return facts;
}

}  // namespace hone::testing_support
