// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a task (task.toml, seed.cu and oracle.cu) from a user's stand-alone .cu file.
//
// Facts stated in the file are used; inferred facts are listed as such; unknown facts become the placeholder FILL_IN,
// which `hone tasks check` refuses at its line, and a question that names the option for the answer. Nothing is
// compiled or run. docs/interop.md describes it for users.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/task.h"
#include "tuner/interop/draft/open_questions.h"

namespace hone {

struct NewTaskOptions {
  std::string name;                           // the task's name
  std::string file;                           // name of the .cu file in messages
  std::vector<std::string> kernels;           // kernels to use; empty: all that are launched (or the only one)
  std::vector<std::string> dims;              // dimensions in order; empty: inferred
  std::map<std::string, std::string> shapes;  // tensor -> "rows, d"
  std::map<std::string, std::string> dtypes;  // tensor -> "float16"
  std::map<std::string, std::string> roles;   // tensor -> in | out | inout
  // Scalar -> value. An integer parameter named here is always this number and no dimension.
  std::map<std::string, double> scalars;
  std::map<std::string, std::string> values;  // tensor -> distribution ("index:rows", "uniform")
  std::map<std::string, std::string> lets;    // size in the code -> expression ("group * num_kv_heads")
  std::map<std::string, std::string> work;    // "bytes", "flops" -> expression
  std::optional<std::string> special;         // the special values that kernels must answer, "inf, subnormal", or "none"; nullopt: the default
  std::vector<std::string> no_stress;         // tensors that stress tests do not fill with extreme values
  struct HiddenRange {
    int64_t low = 0, high = 0, multiple = 1;  // sizes from low to high, both included
  };
  std::map<std::string, HiddenRange> hidden;  // dimension -> range of hidden cases
  std::vector<Dims> time_cases;
  std::vector<Dims> check_cases;
  std::map<std::string, int64_t> multiples;  // dimension -> sizes are multiples of this
  std::string workload;                      // the task's class; empty: inferred
  std::string slice;                         // the dimension along which outputs are independent; empty: none
  std::string summary;                       // the task's summary, one line
  std::vector<std::string> grid, block;      // expressions; empty: from the launch
  std::string shared;                    // empty: from the launch
  std::string template_args;             // template arguments of the kernel, if no launch gives them: "float, 256"
  std::optional<std::string> oracle;     // text of the user's oracle: with a plan, or a kernel
  std::string oracle_file;               // the oracle file's name, for messages
};

struct TaskQuestion {
  std::string what;    // "shape of tensor 'x'"
  std::string answer;  // the option that answers it: "--shape x=rows,d"
};

struct TaskDraft {
  std::string task_toml, seed;              // texts of task.toml and seed.cu
  std::string oracle;                       // text of oracle.cu; empty: none could be derived
  std::vector<std::string> inferred;        // facts for the user to check: "x: in, float16 [rows, d]"
  std::vector<std::string> guessed;         // those that the file does not state, each with its option
  std::vector<TaskQuestion> questions;      // the user must answer these before the task can be used
  std::vector<std::string> oracle_reasons;  // why no oracle could be derived
  std::vector<std::string> left_out;        // "k.cu:7: #include \"helpers.cuh\": …": what the seed may miss
};

// Drafts a task. kInvalidArgument when the file cannot be used at all, or an option names something that does not
// exist.
Result<TaskDraft> DraftTask(std::string_view source, const NewTaskOptions& options);

}  // namespace hone
