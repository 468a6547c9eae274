// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// A Toolbox is the shared state of the tools: available tasks, evaluators by device, the run store, kept evaluations,
// and the only folder that requests may read from and write to.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/status.h"
#include "hone/tuner/evaluator.h"
#include "hone/tuner/run_store.h"
#include "hone/tuner/task.h"
#include "tuner/mcp/tool.h"

namespace hone::mcp {

struct ToolboxOptions {
  std::string root;                     // absolute path of the folder below which requests read and write; they also
                                        // read tasks' folders
  std::vector<std::string> task_roots;  // folders in which tasks are looked for, in this order
  EvaluatorOptions evaluator;           // evaluator.device is the default device of calls
  std::string search_path;              // PATH, for programs that devices need
  std::string state_directory;          // folder below which evaluations and logs of runs are kept
  std::string store;                    // path of the run store's file
  std::string tuning_database;          // path of the database of sweeps' measurements; empty: they are not kept
  std::string build;                    // this program's version and commit, as in SweepRequest
  std::vector<std::string> run_environment;  // environment of background runs, "NAME=value", models' keys included
};

// Thread-safe.
class Toolbox {
 public:
  explicit Toolbox(ToolboxOptions options) : options_(std::move(options)) {}

  const ToolboxOptions& options() const { return options_; }

  // Returns the folder of each task, keyed by the task's name. If two tasks have the same name, the folder of
  // the task in the earlier folder of task_roots is returned.
  std::map<std::string, std::string> TaskDirectories() const;
  // Finds a task by name, or by a folder below the root.
  Result<Task> FindTask(const std::string& name) const;

  // Returns the absolute path for `path`, which is relative to the root. Returns kInvalidArgument if it leads out of
  // the root, even by a symbolic link.
  Result<std::string> BelowRoot(const std::string& path) const;

  struct Source {
    std::string text, name;
  };
  // Returns a candidate that a call gives as text in the argument `source_field`, or as a file's path in `path_field`.
  // `what` names it in messages.
  Result<Source> SourceOf(const Json& arguments, const std::string& source_field, const std::string& path_field,
                          const std::string& what) const;

  // Returns the evaluator of a device, which is opened once and kept. `device` empty: the server's default device.
  Result<std::shared_ptr<Evaluator>> EvaluatorFor(const std::string& device);
  // Returns the facts of the server's device, without opening it.
  DeviceFacts Facts() const;

  // Stores an evaluation's JSON, so that any later call can read it, and returns its address.
  std::string KeepEvaluation(const std::string& json) const;
  // Returns the JSON of a stored evaluation.
  Result<std::string> KeptEvaluation(const std::string& id) const;

 private:
  ToolboxOptions options_;
  std::mutex evaluators_mutex_;
  std::map<std::string, std::shared_ptr<Evaluator>> evaluators_;  // keyed by the requested device name
};

inline constexpr size_t kMostSourceBytes = 1 << 20;  // largest candidate in a request

}  // namespace hone::mcp
