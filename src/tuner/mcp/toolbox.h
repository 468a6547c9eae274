// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the tools work with: the tasks there are, evaluators by device, the run store, kept evaluations, and the one
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
  std::string root;                     // an absolute path: requests read and write below it, and read tasks' folders
  std::vector<std::string> task_roots;  // folders that hold tasks, the nearest first
  EvaluatorOptions evaluator;           // its device is what a call uses that names none
  std::string search_path;              // PATH, for programs that devices need
  std::string state_directory;          // evaluations and logs of runs are kept below it
  std::string store;                    // the run store's file
  std::string tuning_database;          // its file; empty: what sweeps measure is not kept
  std::string build;                    // this program's version and commit, as in SweepRequest
  std::vector<std::string> run_environment;  // of background runs, "NAME=value": keys of models among them
};

// Thread-safe.
class Toolbox {
 public:
  explicit Toolbox(ToolboxOptions options) : options_(std::move(options)) {}

  const ToolboxOptions& options() const { return options_; }

  // Folders of tasks by name: those below the root first, then those that come with Hone.
  std::map<std::string, std::string> TaskDirectories() const;
  // By name, or by a folder below the root.
  Result<Task> FindTask(const std::string& name) const;

  // `path` made absolute, a relative one from the root. kInvalidArgument where it leads out of the root, by a symbolic
  // link too.
  Result<std::string> BelowRoot(const std::string& path) const;

  // A candidate, which a call gives as text in `source_field` or by its name in `path_field`; `what` says in messages
  // which one.
  struct Source {
    std::string text, name;
  };
  Result<Source> SourceOf(const Json& arguments, const std::string& source_field, const std::string& path_field,
                          const std::string& what) const;

  // The evaluator of a device, opened once and kept. Empty: the server's own device.
  Result<std::shared_ptr<Evaluator>> EvaluatorFor(const std::string& device);
  // The facts of the server's device, without opening it.
  DeviceFacts Facts() const;

  // Keeps an evaluation's JSON so that any later call finds it; gives its address.
  std::string KeepEvaluation(const std::string& json) const;
  Result<std::string> KeptEvaluation(const std::string& id) const;

 private:
  ToolboxOptions options_;
  std::mutex evaluators_mutex_;
  std::map<std::string, std::shared_ptr<Evaluator>> evaluators_;  // by the device's name as asked for
};

inline constexpr size_t kMostSourceBytes = 1 << 20;  // of a candidate in a request

}  // namespace hone::mcp
