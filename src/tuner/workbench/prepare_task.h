// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Makes a task's folder from a stand-alone kernel: drafts it, writes it, and tries it on the simulated GPU.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "tuner/interop/new_task.h"

namespace hone {

// The user's statements about a kernel, as options of `hone new`; docs/interop.md has the form of each text.
struct TaskAnswers {
  NewTaskOptions options;  // name, workload, slice, summary, shared, template_args and no_stress, as they are
  std::string file;        // the kernel's, for messages
  std::optional<std::string> oracle;
  std::string oracle_file;
  std::string dims, grid, block;  // "rows,d"
  // "x=rows,2*d"; "k=1..8,d=8..1024:8"; "rows=128,d=4096"
  std::vector<std::string> kernels, shapes, dtypes, roles, scalars, values, cases, checks, multiples, lets, hidden,
      work;
};

struct PreparedTask {
  NewTaskOptions options;
  TaskDraft draft;
  std::string directory;
  std::vector<OpenQuestion> unanswered;
  bool complete = false;                       // nothing is left to be answered, and there is an oracle
  std::string oracle;                          // derived | given | missing
  std::vector<std::string> inferred_late;      // the last of draft.inferred: what the trial on the simulated GPU added
  std::vector<std::string> problems;           // what is wrong with it, as it is read or run on the simulated GPU
  std::string unchecked = "it was not tried";  // why it was not tried there; empty: it was
  bool ready() const { return complete && problems.empty() && unchecked.empty(); }
};

// The folder that a task is written to.
struct TaskPlace {
  std::string directory;
  bool overwrite = false;  // a task that lies there
  std::string remedy;      // what its user can do where one does, for the message
};

// Drafts the task and writes its files. kInvalidArgument: an answer or the kernel cannot be used, or the place is
// taken; then nothing is written.
Result<PreparedTask> PrepareTask(const TaskAnswers& answers, const std::string& source, const TaskPlace& place);
// Reads what was written and notes what cannot be read; compiles and runs nothing. Does nothing where the task is not complete.
void ReadPrepared(PreparedTask& prepared);
// Reads what was written, compiles oracle and seed for the simulated GPU and runs both on the check cases. Where an output
// cancels and a check case has few elements, an `abs` is added to the written task.toml. Does nothing where the task is not complete. Takes seconds.
void CheckPrepared(const EvaluatorOptions& evaluator, PreparedTask& prepared);
// Returns the fields of `hone new --json` (docs/interop.md).
nlohmann::json PreparedJson(const PreparedTask& prepared);

}  // namespace hone
