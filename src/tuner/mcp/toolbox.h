// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Shared state of the tools: available tasks, evaluators by device, the run store, kept evaluations, and the single
// folder that requests may read from and write to.
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
  std::string root;                     // an absolute path: requests read and write only below it, and read tasks'
                                        // folders
  std::vector<std::string> task_roots;  // folders that hold tasks, the nearest first
  EvaluatorOptions evaluator;           // its device is the default of calls
  std::string search_path;              // PATH, for programs that devices need
  std::string state_directory;          // evaluations and logs of runs are kept below it
  std::string store;                    // the run store's file
  std::string tuning_database;          // path; empty: sweeps' measurements are not kept
  std::string build;                    // this program's version and commit, as in SweepRequest
  std::vector<std::string> run_environment;  // environment of background runs, "NAME=value", with keys of models
};

// Thread-safe.
class Toolbox {
 public:
  explicit Toolbox(ToolboxOptions options) : options_(std::move(options)) {}

  const ToolboxOptions& options() const { return options_; }

  // Returns folders of tasks by name: those below the root first, then those that come with Hone.
  std::map<std::string, std::string> TaskDirectories() const;
  // Finds a task by name, or by a folder below the root.
  Result<Task> FindTask(const std::string& name) const;

  // Makes `path` absolute, relative to the root. kInvalidArgument if it leads out of the root, including by a symbolic
  // link.
  Result<std::string> BelowRoot(const std::string& path) const;

  // A candidate, given in a call as text in `source_field` or by name in `path_field`; `what` names it in messages.
  struct Source {
    std::string text, name;
  };
  Result<Source> SourceOf(const Json& arguments, const std::string& source_field, const std::string& path_field,
                          const std::string& what) const;

  // Returns the evaluator of a device, opened once and kept. Empty: the server's own device.
  Result<std::shared_ptr<Evaluator>> EvaluatorFor(const std::string& device);
  // Returns the facts of the server's device, without opening it.
  DeviceFacts Facts() const;

  // Stores an evaluation's JSON so that any later call finds it; returns its address.
  std::string KeepEvaluation(const std::string& json) const;
  Result<std::string> KeptEvaluation(const std::string& id) const;

 private:
  ToolboxOptions options_;
  std::mutex evaluators_mutex_;
  std::map<std::string, std::shared_ptr<Evaluator>> evaluators_;  // by the requested device name
};

inline constexpr size_t kMostSourceBytes = 1 << 20;  // largest candidate in a request

}  // namespace hone::mcp
