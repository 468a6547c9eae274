// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/join_seed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "hone/tuner/candidate.h"
#include "tuner/core/plan/bindings.h"
#include "tuner/interop/write/embed_source.h"
#include "tuner/interop/write/served_shapes.h"
#include "tuner/model/builtin/cuda_lexer.h"
#include "tuner/model/builtin/plan_text.h"

namespace hone {
namespace {

// Returns the condition under which a plan handles a shape: in each step, an alternative's condition holds or an
// alternative has none. Empty: the plan handles every shape.
std::string WholePlanHolds(const LaunchPlan& plan) {
  std::map<int, std::string> steps;
  std::set<int> closed;
  for (const PlanEntry& e : plan.entries) {
    if (!e.when) {
      closed.insert(e.step);
      continue;
    }
    std::string& step = steps[e.step];
    step += fmt::format("{}({})", step.empty() ? "" : " || ", e.when->text());
  }
  std::string joined_source;
  for (const auto& [step, text] : steps) {
    if (closed.count(step) == 0) joined_source += fmt::format("{}({})", joined_source.empty() ? "" : " && ", text);
  }
  return joined_source;
}

// Returns the numbers of a plan's steps.
std::set<int> StepsOf(const LaunchPlan& plan) {
  std::set<int> steps;
  for (const PlanEntry& e : plan.entries) steps.insert(e.step);
  return steps;
}

// Returns the text of a plan entry that does nothing: a memset of 0 bytes.
std::string EntryThatDoesNothing(int step, const std::string& output, const std::string& when) {
  return fmt::format("\n[[memset]]\nstep = {}\ntarget = {}\nbytes = \"0\"\n{}", step, Quote(output),
                     when.empty() ? "" : fmt::format("when = {}\n", Quote(when)));
}

// Returns why a seed cannot follow another plan; empty: it can.
std::string WhyNotJoinable(const Candidate& partial, const Candidate& seed) {
  const LaunchPlan &p = partial.plan, &s = seed.plan;
  if (p.host_mode || s.host_mode) return "one of them is in host mode";
  if (!s.workspaces.empty() || !s.tensor_maps.empty()) return "the seed's plan has workspaces or tensor maps";
  if (p.compiler_options != s.compiler_options) return "their compiler options differ";
  if (p.include_set != s.include_set && !s.include_set.empty()) return "the seed asks for other headers";
  for (const PlanEntry& e : s.entries) {
    if (!e.with.empty()) return "an alternative of the seed binds tunables";
    for (const Expression& g : e.grid) {
      if (g.text().find("occupancy(") != std::string::npos) return "the seed's grid asks for an occupancy";
    }
  }
  const bool steps = StepsOf(p).size() > 1 || StepsOf(s).size() > 1;
  for (const PlanEntry& e : p.entries) {
    if (steps && !e.with.empty()) return "an alternative binds tunables, in a plan of several steps";
  }
  return "";
}

// Returns the text with the names of tunables, each behind `prefix`, replaced by their values in `binding`.
std::string WithFirstChoices(std::string text, const Binding& binding, const std::string& prefix) {
  for (const auto& [name, value] : binding) text = ReplaceWord(text, prefix + name, fmt::format("{}", value));
  return text;
}

// Returns the text of the seed's plan entries, with its kernels named in the namespace hone_seed.
Result<std::string> SeedEntries(const Candidate& seed) {
  HONE_ASSIGN_OR_RETURN(const PlanOutline plan, FindPlan(seed.source));
  const Binding binding = DefaultBinding(seed.plan);
  std::string out;
  for (size_t i = 0; i < seed.plan.entries.size(); ++i) {
    const PlanSection* section = plan.Entry(i);
    if (section == nullptr) return Status::Internal("the seed's plan has no text for an entry");
    out += fmt::format("\n[[{}]]\n", section->name);
    for (const PlanKey& key : section->keys) {
      std::string value = seed.source.substr(key.value_begin, key.value_end - key.value_begin);
      if (key.name != "target") value = WithFirstChoices(value, binding, "");
      if (key.name == "kernel") value.insert(1, "hone_seed::");
      out += fmt::format("{} = {}\n", key.name, value);
    }
  }
  return out;
}

}  // namespace

Result<std::string> JoinSeed(const Task& task, const std::string& source, const std::string& file) {
  HONE_ASSIGN_OR_RETURN(const Candidate partial, ParseCandidate(source, file, task));
  const std::vector<std::string> served = ServedWhen(partial.plan);
  if (served.empty()) return source;
  int line = 0;
  for (const PlanEntry& e : partial.plan.entries) line = e.when ? e.line : line;
  const auto refuse = [&](const std::string& why) {
    return Status::InvalidArgument(
        fmt::format("{}:{}: the plan serves only shapes with {}, and the task's seed cannot be put behind it: {}; add "
                    "a last alternative "
                    "without `when` that serves every shape",
                    file, line, fmt::join(served, ", and with "), why));
  };
  if (task.seed_source.empty()) return refuse("the task has none");
  HONE_ASSIGN_OR_RETURN(const Candidate seed, ParseCandidate(task.seed_source, task.name + "/seed.cu", task));
  if (!ServedWhen(seed.plan).empty()) return refuse("the seed does not serve every shape either");
  if (const std::string why = WhyNotJoinable(partial, seed); !why.empty()) return refuse(why);

  HONE_ASSIGN_OR_RETURN(const PlanOutline plan, FindPlan(source));
  const std::set<int> own = StepsOf(partial.plan), others = StepsOf(seed.plan);
  const std::string holds = WholePlanHolds(partial.plan);
  std::string output;
  for (const TensorSpec& t : task.tensors) output = t.role != TensorRole::kIn && output.empty() ? t.name : output;
  // With several steps, one of the two plans must execute all of its steps: steps of the two must not mix.
  std::vector<TextEdit> edits;
  if (own.size() > 1 || others.size() > 1) {
    for (size_t i = 0; i < partial.plan.entries.size(); ++i) {
      const PlanSection* section = plan.Entry(i);
      if (section == nullptr) return refuse("its plan's text is not understood");
      const PlanKey* when = section->Find("when");
      const PlanEntry& entry = partial.plan.entries[i];
      if (when != nullptr) {
        edits.push_back(
            {when->value_begin, when->value_end, Quote(fmt::format("{} && ({})", holds, entry.when->text()))});
      } else if (!section->keys.empty()) {
        const size_t at = section->keys.back().line_end;
        edits.push_back({at, at, fmt::format("when = {}\n", Quote(holds))});
      }
    }
  }
  std::string behind;
  for (const int step : others) {
    if (own.count(step) == 0) behind += EntryThatDoesNothing(step, output, holds);
  }
  HONE_ASSIGN_OR_RETURN(const std::string entries, SeedEntries(seed));
  behind += entries;
  for (const int step : own) {
    if (others.count(step) == 0) behind += EntryThatDoesNothing(step, output, "");
  }
  const bool line_ended = plan.end > 0 && source[plan.end - 1] == '\n';
  edits.push_back(
      {plan.end, plan.end,
       fmt::format("{}\n# The task's seed serves the shapes that are left.\n{}", line_ended ? "" : "\n", behind)});
  std::string joined = ApplyEdits(source, std::move(edits));

  HONE_ASSIGN_OR_RETURN(const PlanOutline seed_plan, FindPlan(seed.source));
  const EmbeddedSource code = EmbedSource(seed.source.substr(seed_plan.end + 2));
  joined += "\n";
  for (const std::string& macro : EmbedSource(source).macros) joined += fmt::format("#undef {}\n", macro);
  for (const std::string& include : code.includes) joined += fmt::format("#include {}\n", include);
  joined += fmt::format("namespace hone_seed {{\n{}\n}}  // namespace hone_seed\n",
                        WithFirstChoices(code.text, DefaultBinding(seed.plan), "HONE_TUNE_"));
  if (const Result<Candidate> parsed = ParseCandidate(joined, file, task); !parsed.ok())
    return refuse(parsed.status().message());
  return joined;
}

}  // namespace hone
