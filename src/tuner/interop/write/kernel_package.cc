// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/interop/write/kernel_package.h"

#include <fmt/format.h>

#include "tuner/agents/regions.h"
#include "tuner/run/run_task.h"
#include "tuner/sweep/dispatch.h"

namespace hone {
namespace {

std::string DimsByName(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

// Returns the evaluation whose times decide between `node` and the seed. `*paired`: it timed the node and the seed in
// turn.
Result<const Evaluation*> DecidingEvaluation(const RunView& view, int64_t node, bool* paired) {
  *paired = true;
  if (view.final_result && view.final_result->node == node) {
    const Evaluation& e = view.final_result->evaluation;
    if (e.verdict == Verdict::kOk) return &e;
    return Status::InvalidArgument(
        fmt::format("node {} of run {} failed its final check with fresh hidden cases ({}: {}); it must not be used",
                    node, view.info.id, VerdictName(e.verdict), e.detail));
  }
  const RunNode& n = view.node(node);
  if (!n.evaluation || n.evaluation->verdict != Verdict::kOk) {
    return Status::InvalidArgument(
        fmt::format("node {} of run {} was not judged right ({}); choose another node with --node", node, view.info.id,
                    n.evaluation ? std::string(VerdictName(n.evaluation->verdict)) : "not evaluated"));
  }
  if (n.incumbent == 0) return &*n.evaluation;
  *paired = false;
  return &*n.evaluation;
}

// Returns an error for a candidate that is machine code or in host mode. `where` says how to get its text.
Status DeviceCodeOnly(const Candidate& candidate, const std::string& where) {
  if (!candidate.plan.machine_code.empty()) {
    return Status::InvalidArgument(fmt::format(
        "{} is machine code of another compiler: what leaves is made of source, so use the compiler's own launcher ({})", candidate.name, where));
  }
  if (!candidate.plan.host_mode) return Status::Ok();
  return Status::InvalidArgument(fmt::format(
      "{} is in host mode: it launches its kernels itself and is used as it stands ({})", candidate.name, where));
}

}  // namespace

Result<KernelPackage> MakeFilePackage(const Task& task, std::string_view source, const std::string& file) {
  KernelPackage package;
  package.task = task;
  package.file = file.substr(file.rfind('/') + 1);
  HONE_ASSIGN_OR_RETURN(package.winner, ParseCandidate(source, file, task));
  HONE_RETURN_IF_ERROR(DeviceCodeOnly(package.winner, file));
  // The file is not compiled here, but one whose brackets do not match is refused.
  if (const StructureFault fault = CheckStructure(source, package.winner.plan); !fault.problem.empty()) {
    return Status::InvalidArgument(fmt::format("{}: {}: mend the file, and judge it with `hone eval` before it leaves", file, fault.detail));
  }
  package.seed = package.winner;
  if (!task.seed_source.empty()) {
    HONE_ASSIGN_OR_RETURN(package.seed, ParseCandidate(task.seed_source, "seed.cu", task));
    if (package.seed.plan.host_mode) package.seed = package.winner;
  }
  package.winner.name = package.file;
  package.winner_binding = DefaultBinding(package.winner.plan);
  return package;
}

Result<KernelPackage> MakeKernelPackage(RunStore& store, const RunView& view, int64_t node) {
  const bool best = node < 0;
  if (best) node = view.best;
  if (view.nodes.empty() || node >= static_cast<int64_t>(view.nodes.size())) {
    return Status::InvalidArgument(fmt::format("there is no node {}: {}", node, NodesText(view)));
  }
  if (node == 0) {
    return Status::InvalidArgument(fmt::format(
        "run {0} kept nothing that is surely faster than its seed: there is nothing to apply; `hone apply {1} FILE.cu` "
        "applies the kernel it started from, as any candidate's file, and `hone show {0} 0 --source` prints that",
        view.info.id, view.info.task));
  }
  if (best && (!view.final_result || view.final_result->node != node)) {
    return Status::InvalidArgument(
        fmt::format("run {} has not paired its best (node {}) with {} on fresh hidden cases yet; let it end with "
                    "`hone optimize --resume {}`, or take the node unproven with --node {}",
                    view.info.id, node, StartName(view), view.info.id, node));
  }
  KernelPackage package;
  HONE_ASSIGN_OR_RETURN(package.task, LoadRunTask(store, view));
  HONE_ASSIGN_OR_RETURN(const Evaluation* evaluation, DecidingEvaluation(view, node, &package.paired));
  HONE_ASSIGN_OR_RETURN(std::string winner, store.Source(view.node(node).source_hash));
  HONE_ASSIGN_OR_RETURN(std::string seed, store.Source(view.seed_hash));
  HONE_ASSIGN_OR_RETURN(package.winner, ParseCandidate(winner, fmt::format("node-{}.cu", node), package.task));
  if (view.from_module) {
    package.seed = package.winner;  // the run began with a PyTorch module: there is no other kernel
  } else {
    HONE_ASSIGN_OR_RETURN(package.seed, ParseCandidate(seed, "seed.cu", package.task));
    package.other_seed = seed != package.task.seed_source;
  }
  HONE_RETURN_IF_ERROR(DeviceCodeOnly(package.winner, fmt::format("`hone show {} --source`", view.info.id)));
  HONE_RETURN_IF_ERROR(DeviceCodeOnly(package.seed, fmt::format("`hone show {} --source`", view.info.id)));
  package.run = view.info.id;
  package.start = StartName(view);
  package.node = node;
  package.device = view.info.device;
  package.modelled = view.info.modelled;
  package.guarantee = evaluation->guarantee;
  package.winner_binding = DefaultBinding(package.winner.plan);
  for (const auto& [name, value] : evaluation->binding) package.winner_binding[name] = value;

  const auto& seed_evaluation = view.node(0).evaluation;
  std::vector<ShapeChoice> choices;
  for (const CaseResult& c : evaluation->cases) {
    if (!c.time_us) continue;
    PackagedShape shape;
    shape.dims = c.dims;
    shape.winner_us = c.time_us->median;
    if (package.paired && c.speedup && c.baseline_us) {
      shape.seed_us = *c.baseline_us;
      shape.speedup = *c.speedup;
      shape.wins = c.speedup->low > 1;
    } else {
      // The two were timed in separate evaluations: the winner is faster only if the intervals of their times do not
      // overlap.
      const CaseResult* other = nullptr;
      if (seed_evaluation) {
        for (const CaseResult& s : seed_evaluation->cases) {
          if (s.time_us && s.dims == c.dims) other = &s;
        }
      }
      if (other == nullptr) {
        return Status::InvalidArgument(
            fmt::format("run {} has no time of the seed for {}: the shapes where node {} wins cannot be told",
                        view.info.id, DimsByName(c.dims), node));
      }
      const Interval& a = *other->time_us;
      shape.seed_us = a.median;
      shape.speedup = {a.median / c.time_us->median, a.low / c.time_us->high, a.high / c.time_us->low};
      shape.wins = shape.speedup.low > 1;
    }
    package.shapes.push_back(shape);
    choices.push_back({shape.dims, shape.wins ? Binding{} : Binding{{"seed", 1}}});
  }
  if (choices.empty()) {
    return Status::InvalidArgument(
        fmt::format("node {} of run {} has no timed shape: nothing says where it is faster", node, view.info.id));
  }
  bool any = false;
  for (const PackagedShape& shape : package.shapes) any = any || shape.wins;
  if (!any) {
    return Status::InvalidArgument(
        fmt::format("node {} of run {} is surely faster than {} in no timed shape: there is nothing to apply",
                    node, view.info.id, StartName(view)));
  }
  for (const DispatchRule& rule : MakeDispatchRules(choices, Binding{})) package.seed_shapes.push_back(rule.when);
  return package;
}

}  // namespace hone
