// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a task's folder from a stand-alone kernel: drafts the task, writes it, and tries it on the simulated GPU.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/interop/draft/new_task.h"

namespace hone {

// The user's statements about a kernel, which are options of `hone new`; docs/interop.md has the form of each text.
struct TaskAnswers {
  NewTaskOptions options;  // name, workload, slice, summary, shared, template_args and no_stress are used as they are
  std::string file;        // path of the kernel's file, for messages
  std::optional<std::string> oracle;  // text of oracle.cu; nullopt: it is derived from the kernel
  std::string oracle_file;            // path of that text's file, for messages
  std::string dims, grid, block;      // such as "rows,d"
  // One text for each use of the option, such as "x=rows,2*d" (shapes), "k=1..8,d=8..1024:8" (hidden) or
  // "rows=128,d=4096" (cases).
  std::vector<std::string> kernels, shapes, dtypes, roles, scalars, values, cases, checks, multiples, lets, hidden,
      work;
};

struct PreparedTask {
  NewTaskOptions options;
  TaskDraft draft;
  std::string directory;
  std::vector<OpenQuestion> unanswered;        // places of the written files that still ask for an answer
  bool complete = false;                       // no question is left, and there is an oracle
  std::string oracle;                          // derived | given | missing
  std::vector<std::string> inferred_late;  // the entries of draft.inferred that the trial on the simulated GPU added
  std::vector<std::string> problems;       // what is wrong with the task, found by reading and by trying it
  std::string unchecked = "it was not tried";  // why it was not tried on the simulated GPU; empty: it was
  bool ready() const { return complete && problems.empty() && unchecked.empty(); }
};

// The folder to which a task is written.
struct TaskPlace {
  std::string directory;
  bool overwrite = false;  // true: a task that is already there is overwritten; false: it is an error
  std::string remedy;      // what the user can do about a task that is already there, for the error's message
};

// Drafts the task and writes its files. Returns kInvalidArgument if an answer or the kernel cannot be used, or if a
// task is already there; then nothing is written.
Result<PreparedTask> PrepareTask(const TaskAnswers& answers, const std::string& source, const TaskPlace& place);
// Reads the written files and adds what cannot be parsed to `problems`; compiles and runs nothing. Does nothing if the
// task is not complete.
void ReadPrepared(PreparedTask& prepared);
// Reads the written files, compiles oracle and seed for the simulated GPU, and runs both on the check cases. If an
// output cancels and a check case has few elements, adds an `abs` to the written task.toml. Does nothing if the task is
// not complete. Takes seconds.
void CheckPrepared(const EvaluatorOptions& evaluator, PreparedTask& prepared);
// Returns the fields of `hone new --json` (docs/interop.md).
nlohmann::json PreparedJson(const PreparedTask& prepared);

}  // namespace hone
