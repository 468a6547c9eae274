// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/start_run.h"

#include "tuner/core/task/torch_module.h"
#include "tuner/run/log/events.h"
#include "tuner/run/oracle_reference.h"

namespace hone {

Result<std::string> StartRun(RunStore& store, const Task& task, const DeviceFacts& facts, const RunOptions& options,
                             const std::string& id, double now, const PromptLibrary* prompts, int version,
                             std::vector<RememberedIdea> memory, const std::string& broken_start) {
  const bool from_oracle = task.seed_source.empty();
  const bool from_module = from_oracle && HasTorchModule(task);
  std::string start = task.seed_source;
  int64_t bindings = 1;
  bool uses_cute = false;
  if (from_module) {
    start = task.oracle_source;  // PyTorch runs it: the evaluator knows the task's own module (IsOwnModule)
  } else {
    if (from_oracle) {
      HONE_ASSIGN_OR_RETURN(start, ReferenceFromOracle(task));
    }
    HONE_ASSIGN_OR_RETURN(const Candidate seed, ParseCandidate(start, from_oracle ? "reference.cu" : "seed.cu", task));
    bindings = static_cast<int64_t>(AllBindings(seed.plan).size());
    uses_cute = UsesCute(seed);
  }
  RunInfo info;
  info.id = id;
  info.task = task.name;
  info.device = facts.id;
  info.modelled = facts.modelled;
  info.strategy = options.strategy;
  info.model = options.model;
  info.started = now;
  HONE_RETURN_IF_ERROR(store.CreateRun(info));
  RunStarted started;
  started.version = version;
  started.options = options;
  started.task = task.name;
  started.workload = WorkloadClassName(task.workload);
  started.task_toml = SourceHash::Of(task.toml);
  started.oracle = SourceHash::Of(task.oracle_source);
  started.seed = SourceHash::Of(start);
  started.from_oracle = from_oracle;
  started.from_module = from_module;
  started.start_uses_cute = uses_cute;
  started.device = facts.id;
  started.device_name = facts.name;
  started.modelled = facts.modelled;
  started.bindings = bindings;
  started.facts = facts;
  started.memory = std::move(memory);
  if (!broken_start.empty()) started.broken_start = SourceHash::Of(broken_start);
  std::vector<std::string> texts{task.toml, task.oracle_source, start};
  for (const auto& [name, text] : (prompts == nullptr ? PromptLibrary::Embedded() : *prompts).texts()) {
    started.prompts[name] = SourceHash::Of(text);
    texts.push_back(text);
  }
  if (!broken_start.empty()) texts.push_back(broken_start);
  if (options.libraries && !task.baseline_toml.empty()) {
    started.baseline = SourceHash::Of(task.baseline_toml);
    texts.push_back(task.baseline_toml);
  }
  EventDraft draft = EncodeEvent(started);
  draft.time = now;
  draft.sources = std::move(texts);
  HONE_RETURN_IF_ERROR(store.Append(id, draft).status());
  return id;
}

}  // namespace hone
