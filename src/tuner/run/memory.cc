// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/memory.h"

#include <algorithm>

#include "base/text/utf8.h"
#include "tuner/agents/diff.h"
#include "tuner/agents/limiter.h"
#include "tuner/agents/prompt_text.h"
#include "tuner/agents/reply.h"
#include "tuner/run/log/events.h"
#include "tuner/run/log/open_run.h"
#include "tuner/run/run_task.h"
#include "tuner/strategies/settings.h"

namespace hone {
namespace {

constexpr size_t kMostRuns = 200;        // the newest runs are searched
constexpr size_t kMostIdeas = 24;        // ideas kept, the surest first
constexpr size_t kMostDiffBytes = 2000;  // of each idea's difference

// Returns whether a run is on this task, perhaps under another name.
bool OfTheSameTask(const RunView& view, const Task& task) {
  if (view.info.task == task.name || view.task_toml_hash == SourceHash::Of(task.toml)) return true;
  if (!task.oracle_source.empty() && view.oracle_hash == SourceHash::Of(task.oracle_source)) return true;
  if (task.seed_source.empty()) return false;
  const SourceHash seed = SourceHash::Of(task.seed_source);
  return std::any_of(view.nodes.begin(), view.nodes.end(), [&](const RunNode& n) { return n.source_hash == seed; });
}

// Returns the difference of a node to its parent, shortened; empty: a source cannot be read.
std::string DiffOf(RunStore& store, const RunView& view, const RunNode& node) {
  const Result<std::string> before = store.Source(view.node(node.parent).source_hash),
                            after = store.Source(node.source_hash);
  if (!before.ok() || !after.ok()) return "";
  return ClipText(UnifiedDiff(WithoutLicence(*before), WithoutLicence(*after), "before.cu", "after.cu", 1),
                  kMostDiffBytes);
}

}  // namespace

Result<std::vector<RememberedIdea>> Remember(RunStore& store, const Task& task, const DeviceFacts& facts) {
  HONE_ASSIGN_OR_RETURN(std::vector<RunInfo> runs, store.Runs());
  std::sort(runs.begin(), runs.end(), [](const RunInfo& a, const RunInfo& b) { return a.started > b.started; });
  if (runs.size() > kMostRuns) runs.resize(kMostRuns);
  std::vector<RememberedIdea> ideas;
  for (const RunInfo& info : runs) {
    if (info.modelled != facts.modelled || info.task == task.name) continue;
    const Result<RunView> loaded = LoadRun(store, info.id);
    if (!loaded.ok()) continue;
    const RunView& view = *loaded;
    if (view.workload != WorkloadClassName(task.workload) || OfTheSameTask(view, task)) continue;
    const Result<std::vector<Event>> events = store.Events(info.id);
    const auto started = events.ok() && !events->empty() ? DecodeAs<RunStarted>(events->front()) : std::nullopt;
    if (!started || started->device_name != facts.name) continue;
    const Result<Task> run_task = LoadRunTask(store, view);
    if (!run_task.ok()) continue;
    for (const RunNode& node : view.nodes) {
      if (node.origin != "reply" || !node.kept || node.rejected || !node.gain || !(node.gain->low > 1) ||
          node.parent < 0)
        continue;
      RememberedIdea idea;
      idea.run = info.id;
      idea.task = info.task;
      idea.workload = view.workload;
      idea.device = facts.name;
      idea.idea = node.idea;
      idea.gain = node.gain->median;
      idea.low = node.gain->low;
      idea.high = node.gain->high;
      // The idea is stored with what limited the version from which it was made.
      if (const RunNode& parent = view.node(node.parent); parent.evaluation) {
        idea.limiter = LimiterOf(*run_task, facts, *parent.evaluation);
        idea.bytes = LargestBytes(*run_task, *parent.evaluation);
      }
      idea.diff = DiffOf(store, view, node);
      ideas.push_back(std::move(idea));
    }
  }
  std::stable_sort(ideas.begin(), ideas.end(),
                   [](const RememberedIdea& a, const RememberedIdea& b) { return a.low > b.low; });
  if (ideas.size() > kMostIdeas) ideas.resize(kMostIdeas);
  return ideas;
}

Result<std::vector<RememberedIdea>> MemoryFor(RunStore& store, const Task& task, const DeviceFacts& facts,
                                              const RunOptions& options) {
  if (options.strategy != "funnel" || WholeSettingOf(options, "funnel.memory") == 0)
    return std::vector<RememberedIdea>();
  return Remember(store, task, facts);
}

}  // namespace hone
