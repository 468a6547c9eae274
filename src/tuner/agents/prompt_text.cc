// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/prompt_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/text/utf8.h"
#include "hone/tuner/model_provider.h"
#include "tuner/agents/cause.h"
#include "tuner/agents/diff.h"
#include "tuner/agents/regions.h"
#include "tuner/agents/reply.h"
#include "tuner/core/evaluation/finding_text.h"

namespace hone {
namespace {

// Latency of a load that misses every cache, rounded: enough to say how much must be in flight.
constexpr double kMemoryLatencySeconds = 700e-9;
constexpr size_t kMaxFailureBytes = 10000;  // of compiler or checker text (CuTeGen's bound)
constexpr size_t kMaxFindings = 12;      // findings listed; the others are only counted
constexpr size_t kMaxLedgerShapes = 12;  // shapes whose gains a line of the ledger gives
constexpr size_t kMaxProfiledCases = 3;  // cases whose counts are shown; findings cover all

std::string Kilobytes(double bytes) { return fmt::format("{:.0f} KiB", bytes / 1024); }

// Lists the findings, equal ones once with all their places.
std::string FindingsText(const std::vector<Finding>& findings) {
  std::vector<std::pair<const Finding*, std::vector<std::string>>> merged;
  for (const Finding& f : findings) {
    auto same_kernel = std::find_if(merged.begin(), merged.end(), [&](const auto& m) {
      return m.first->kind == f.kind && m.first->message == f.message;
    });
    if (same_kernel == merged.end()) same_kernel = merged.insert(merged.end(), {&f, {}});
    std::vector<std::string>& places = same_kernel->second;
    if (!f.location.empty() && std::find(places.begin(), places.end(), f.location) == places.end())
      places.push_back(f.location);
  }
  std::string text;
  size_t shown = 0;
  for (const auto& [f, places] : merged) {
    if (++shown > kMaxFindings) {
      text += fmt::format("- and {} more\n", merged.size() - kMaxFindings);
      break;
    }
    text += fmt::format("- {}: {}{}{}\n", f->kind, f->message,
                        places.empty() ? "" : fmt::format(" at {}", fmt::join(places, ", ")), FindingShapes(*f));
  }
  return text;
}

// Shows the counts of the cases on which the findings rest, most expensive first, then of others, as space allows; and
// all findings.
std::string CountsText(const Profile& profile) {
  Profile shown = profile;
  shown.cases.clear();
  shown.sass.clear();
  const auto add = [&](const CaseProfile& c) {
    const bool is_shown = std::any_of(shown.cases.begin(), shown.cases.end(), [&](const CaseProfile& s) { return s.dims == c.dims; });
    if (!is_shown && shown.cases.size() < kMaxProfiledCases) shown.cases.push_back(c);
  };
  for (const ProfileFinding& finding : profile.findings) {
    for (const CaseProfile& c : profile.cases) {
      if (c.dims == finding.dims) add(c);
    }
  }
  for (const CaseProfile& c : profile.cases) add(c);
  // A fault that several shapes show at one place is listed once. Findings come in order of potential gain, so the most
  // expensive is the one that stays.
  shown.findings.clear();
  for (const ProfileFinding& f : profile.findings) {
    const bool is_shown = std::any_of(shown.findings.begin(), shown.findings.end(), [&](const ProfileFinding& s) {
      return s.kind == f.kind && s.message == f.message && s.kernel == f.kernel && s.location == f.location;
    });
    if (!is_shown) shown.findings.push_back(f);
  }
  std::string text = DescribeProfile(shown, "");
  if (profile.cases.size() > shown.cases.size()) {
    text += fmt::format("(counts of {} more shapes are left out)\n", profile.cases.size() - shown.cases.size());
  }
  return text;
}

// Formats gains by timed shape, in the order of the times, and the tunables: "; by shape 1.02 0.98; VEC=8 BLOCK=256".
std::string ShapesText(const RunNode& node) {
  if (!node.evaluation || node.evaluation->verdict != Verdict::kOk) return "";
  std::string gains, tuned;
  size_t shapes = 0;
  for (const CaseResult& c : node.evaluation->cases) {
    if (!c.time_us || !c.speedup || ++shapes > kMaxLedgerShapes) continue;
    gains += fmt::format(" {:.2f}", c.speedup->median);
  }
  for (const auto& [name, value] : node.evaluation->binding) tuned += fmt::format(" {}={}", name, value);
  return (shapes < 2 ? "" : "; by shape" + gains) + (tuned.empty() ? "" : ";" + tuned);
}

bool IsRight(const RunNode& node) { return node.evaluation && node.evaluation->verdict == Verdict::kOk; }

// A node that is shown next to the parent.
struct Relative {
  const RunNode* node = nullptr;
  std::string head;  // what the node is, and its outcome
  std::string code;  // its source or difference, as CodeOf returns it; empty: not shown
};

// Returns the shapes that were timed, as "rows=4 d=64; rows=8 d=64"; empty: no case was timed.
std::string TimedShapes(const RunNode& node) {
  std::string text;
  if (!node.evaluation) return text;
  for (const CaseResult& c : node.evaluation->cases) {
    if (c.time_us) text += (text.empty() ? "" : "; ") + DimsLine(c.dims);
  }
  return text;
}

// Returns a heading for the node, and its outcome.
std::string HeadOf(const RunView& view, const RunNode& node) {
  std::string text = node.id > 0 ? fmt::format("### Node {}, from node {}: {}\n\n", node.id, node.parent, node.idea)
                     : view.from_module ? "### Node 0, the module in PyTorch, eager\n\n"
                     : view.from_oracle ? "### Node 0, the oracle as a kernel\n\n"
                                        : "### Node 0, the seed\n\n";
  if (node.state == NodeState::kUnusable) {
    return text + fmt::format("Could not be used: {} ({})\n\n", node.problem, ClipText(node.detail, 300));
  }
  if (!node.evaluation) return text;
  if (!IsRight(node)) {
    return text + fmt::format("`{}`: {}\n\n", VerdictName(node.evaluation->verdict), ClipText(node.evaluation->detail, 600));
  }
  if (!node.speedup) return text;
  text += node.id == 0 ? "Right" : fmt::format("Right; {:.3f}x of the seed", *node.speedup);
  std::string times;
  for (const CaseResult& c : node.evaluation->cases) {
    if (c.time_us) times += fmt::format(" {:.2f}", c.time_us->median);
  }
  if (!times.empty()) text += fmt::format("; by shape{} us", times);
  return text + (node.evaluation->modelled ? " (modelled).\n\n" : ".\n\n");
}

// Returns Markdown: a line that introduces the code, and the code.
std::string CodeBlock(std::string_view introduction, std::string_view language, const std::string& code) {
  return fmt::format("{}:\n\n```{}\n{}{}```\n\n", introduction, language, code, code.ends_with('\n') ? "" : "\n");
}

// Returns the code that ShownText shows for a node; empty: none. `leads`: the node is the fastest of those shown, and
// faster than the parent.
std::string CodeOf(const RunNode& node, int64_t parent_id, bool leads, const SourceOfNode& source) {
  if (node.source_hash.empty()) return "";
  const Result<std::string> stored = source(node.id);
  if (!stored.ok()) return "";
  const std::string prompt_text = WithoutLicence(*stored);
  if (leads) {
    const Result<std::string> base = source(parent_id);
    if (base.ok()) {
      const std::string diff = UnifiedDiff(WithoutLicence(*base), prompt_text, fmt::format("node-{}.cu", parent_id),
                                           fmt::format("node-{}.cu", node.id));
      // Where nearly everything differs the whole source is easier to read.
      if (!diff.empty() && diff.size() < prompt_text.size()) {
        return CodeBlock("It is the fastest here; what it has that the version to start from has not", "diff", diff);
      }
      return CodeBlock("It is the fastest here; its source", "cuda", prompt_text);
    }
  }
  if (node.id == 0) return CodeBlock("Its source", "cuda", prompt_text);
  std::map<std::string, std::string> in_parent;  // the regions of the node's own parent, by name
  if (const Result<std::string> base = source(node.parent); base.ok()) {
    for (const Region& r : SplitRegions(*base)) in_parent[r.name] = base->substr(r.begin, r.end - r.begin);
  }
  std::string changed;
  for (const Region& r : SplitRegions(*stored)) {
    const std::string body = stored->substr(r.begin, r.end - r.begin);
    if (const auto old = in_parent.find(r.name); old == in_parent.end() || old->second != body) changed += body;
  }
  return changed.empty() ? "" : CodeBlock("The regions it changed", "cuda", WithoutLicence(changed));
}

}  // namespace

std::string DimsLine(const Dims& dims) {
  std::string text;
  for (const auto& [name, value] : dims) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

std::string DeviceText(const DeviceFacts& f) {
  if (f.sm_count <= 0 || f.memory_bandwidth <= 0) {
    return fmt::format("{}{}: its figures are not known yet. Write for a current data-centre GPU and let the launch plan "
                       "ask for what differs (`sm_count`, `occupancy(kernel)`, `smem_optin`).\n",
                       f.name, f.modelled ? " (simulated: its times are modelled, never measured)" : "");
  }
  std::string text = fmt::format("- {}, compute capability {}.{}", f.name, f.cc_major, f.cc_minor);
  text += f.modelled ? " (simulated: its times are modelled, never measured)\n" : "\n";
  text += fmt::format("- {} multiprocessors (SMs), each with {} threads and {} blocks at most, {} registers, {} of "
                      "shared memory; one block may use up to {} of shared memory when it asks for it dynamically\n",
                      f.sm_count, f.max_threads_per_sm, f.max_blocks_per_sm, f.registers_per_sm,
                      Kilobytes(static_cast<double>(f.smem_per_sm)), Kilobytes(static_cast<double>(f.smem_optin)));
  text += fmt::format("- L2 cache {:.0f} MiB; memory {:.2f} TB/s by the datasheet\n",
                      static_cast<double>(f.l2_bytes) / 1048576, f.memory_bandwidth / 1e12);
  const double in_flight = f.memory_bandwidth * kMemoryLatencySeconds / f.sm_count;
  text += fmt::format("- to keep memory busy, every SM needs about {} of loads in flight at any moment (bandwidth times "
                      "latency): {:.0f} bytes a thread at full occupancy, more when fewer threads are resident\n",
                      Kilobytes(in_flight), in_flight / std::max(1, f.max_threads_per_sm));
  if (f.fp32_flops > 0) {
    text += fmt::format("- {:.0f} TFLOP/s in float32 outside the tensor cores", f.fp32_flops / 1e12);
    if (f.tensor_bf16_flops > 0) text += fmt::format(", {:.0f} in bfloat16 on them", f.tensor_bf16_flops / 1e12);
    text += fmt::format("; below {:.0f} float32 operations a byte, memory is the limit", f.fp32_flops / f.memory_bandwidth);
    if (f.tensor_bf16_flops > 0) {
      text += fmt::format(" ({:.0f} on the tensor cores)", f.tensor_bf16_flops / f.memory_bandwidth);
    }
    text += "\n";
  }
  return text;
}

std::string WithoutLicence(std::string_view source) {
  std::string text;
  bool in_head = true;  // only comments and blank lines came so far: the licence is among them
  while (!source.empty()) {
    const size_t end = source.find('\n');
    const std::string_view line = source.substr(0, end == std::string_view::npos ? source.size() : end + 1);
    source.remove_prefix(line.size());
    const size_t begin = line.find_first_not_of(" \t\r\n");
    const bool comment =
        begin != std::string_view::npos && (line.substr(begin).starts_with("//") || line[begin] == '#');
    in_head = in_head && (begin == std::string_view::npos || comment);
    if (in_head && line.find("SPDX-") != std::string_view::npos) continue;
    // The empty comment line after the licence is removed too.
    if (in_head && text.empty() && comment && line.find_first_not_of("/# \t\r\n") == std::string_view::npos) continue;
    text += line;
  }
  return text;
}

std::string ShownTask(std::string_view toml) {
  const std::string task_text = WithoutLicence(toml);
  std::string text, comments;  // comments belong to the section below them
  bool in_hand_worked = false;  // inside a [[hand]] section, which is left out
  for (std::string_view unread_text = task_text; !unread_text.empty();) {
    const size_t end = unread_text.find('\n');
    const std::string_view line = unread_text.substr(0, end == std::string_view::npos ? unread_text.size() : end + 1);
    unread_text.remove_prefix(line.size());
    const size_t begin = line.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos || line[begin] == '#') {
      comments += line;
      continue;
    }
    // A list that goes on in the next line may begin with a bracket as well, but no name follows it.
    const size_t name = line.find_first_not_of('[');
    if (name > 0 && name != std::string_view::npos && std::isalpha(static_cast<unsigned char>(line[name])) != 0) {
      in_hand_worked = line.starts_with("[[hand]]");
    }
    if (!in_hand_worked) text += comments + std::string(line);
    comments.clear();
  }
  return in_hand_worked ? text : text + comments;
}

std::string TimesText(const Evaluation& evaluation, bool is_start) {
  std::string text;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us) continue;
    text += fmt::format("- {}: {:.2f} us", DimsLine(c.dims), c.time_us->median);
    if (c.floor_us) text += fmt::format("; a plain copy of its bytes took {:.2f} us beside it", *c.floor_us);
    if (c.floor_fraction) text += fmt::format(" ({:.0f} % of that speed)", 100 * *c.floor_fraction);
    if (c.speedup && !is_start) text += fmt::format("; {:.3f}x of {}", c.speedup->median, evaluation.baseline);
    if (c.calls_us && c.time_us->median > 0) {
      const double share = std::min(1.0, *c.calls_us / c.time_us->median);
      text += fmt::format("; library calls take {:.0f} % of it, the plan's own kernels {:.0f} %", 100 * share, 100 * (1 - share));
    }
    text += "\n";
  }
  return text;
}

std::string ProfileText(const Task& task, const DeviceFacts& facts, const Evaluation& evaluation) {
  std::string text;
  // What holds for the timed cases: some or all run at nearly the floor's speed, any exists, some are bound by latency.
  bool near_floor = false, all_near_floor = true, any = false, latency_bound = false;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.time_us || !(c.time_us->median > 0)) continue;
    any = true;
    const double seconds = c.time_us->median * 1e-6;
    const Result<double> bytes = CompulsoryBytes(task, c.dims), flops = Flops(task, c.dims);
    std::string line = fmt::format("- {}:", DimsLine(c.dims));
    if (bytes.ok() && *bytes > 0) {
      line += fmt::format(" {:.0f} GB/s of the bytes that must move", *bytes / seconds / 1e9);
      if (facts.memory_bandwidth > 0) {
        line += fmt::format(" ({:.0f} % of peak)", 100 * *bytes / seconds / facts.memory_bandwidth);
      }
    }
    if (flops.ok() && *flops > 0) {
      line += fmt::format(", {:.2f} TFLOP/s", *flops / seconds / 1e12);
      if (bytes.ok() && *bytes > 0 && facts.memory_bandwidth > 0 && facts.fp32_flops > 0) {
        const double intensity = *flops / *bytes, ridge = facts.fp32_flops / facts.memory_bandwidth;
        line += fmt::format(" ({:.0f} % of float32 peak); {:.1f} operations a byte, so {} is the limit for float32",
                            100 * *flops / seconds / facts.fp32_flops, intensity, intensity < ridge ? "memory" : "arithmetic");
      }
    }
    // Bound by latency: the bytes alone would take less than 3 us, and the launch takes longer (as LimiterOf says).
    if (bytes.ok() && facts.memory_bandwidth > 0 && *bytes / facts.memory_bandwidth < 3e-6 && seconds > 3e-6) {
      latency_bound = true;
    }
    if (c.floor_fraction && *c.floor_fraction > 0.9) {
      near_floor = true;
    } else {
      all_near_floor = false;
    }
    text += line + "\n";
  }
  // Rules of thumb that apply to the kernels' resources and to the times.
  std::string rules;
  for (const KernelResources& r : evaluation.resources) {
    if (r.registers < 0) continue;
    text += fmt::format("- kernel {}: {} registers a thread, {} bytes spilled, {} + {} bytes of static + dynamic shared "
                        "memory, occupancy {}\n",
                        r.kernel, r.registers, r.spill_bytes, r.static_shared_bytes, r.dynamic_shared_bytes,
                        r.occupancy > 0 ? fmt::format("{:.0f} %", 100 * r.occupancy) : "not known");
    if (r.spill_bytes > 0) {
      rules += fmt::format("- {} spills registers to local memory: that traffic is pure loss\n", r.kernel);
    }
    if (r.registers >= 96 && r.occupancy > 0 && r.occupancy <= 0.4) {
      rules += fmt::format("- {}: few threads are resident because of its registers. That is fine with enough independent "
                           "work in each thread, and a fault without\n", r.kernel);
    }
    if (r.occupancy > 0 && r.occupancy < 0.25 && r.registers < 64) {
      rules += fmt::format("- {}: occupancy is low and registers are not the reason: look at the block size and at "
                           "shared memory\n", r.kernel);
    }
  }
  if (any && all_near_floor) {
    rules += "- every shape runs at more than nine tenths of the speed of a plain copy of its bytes: what is left to win is "
             "small, by moving fewer bytes or in a better order than such a copy's\n";
  } else if (near_floor) {
    rules += "- some shapes are near their floor and others are not: what is left to win lies in the others\n";
  }
  if (latency_bound) {
    rules += "- some shapes move so few bytes that launch and latency are most of their time: fewer kernels and steps, "
             "shorter dependent chains, and more blocks matter there, bandwidth does not\n";
  }
  std::vector<Finding> other_findings = evaluation.findings;
  if (!rules.empty()) text += "\nWhat these figures say:\n\n" + rules;
  if (evaluation.profile && !evaluation.profile->cases.empty()) {
    text += "\nCounted while each kernel ran once:\n\n```\n" + CountsText(*evaluation.profile) + "```\n";
    // The profile contains its own findings in more detail.
    std::erase_if(other_findings, [&](const Finding& f) {
      return std::any_of(evaluation.profile->findings.begin(), evaluation.profile->findings.end(),
                         [&](const ProfileFinding& p) { return p.kind == f.kind && p.location == f.location; });
    });
  }
  const std::string findings = FindingsText(other_findings);
  if (!findings.empty()) text += "\nFound while it ran:\n\n" + findings;
  return text;
}

std::string FailureText(const Evaluation& e) {
  if (e.verdict == Verdict::kOk) return "";
  std::string text = fmt::format("Verdict: `{}`\n\n", VerdictName(e.verdict));
  const std::string& detail = e.detail.empty() ? e.log : e.detail;
  if (!detail.empty()) text += "```\n" + ClipText(detail, kMaxFailureBytes) + "\n```\n";
  if (e.mismatch) {
    const Mismatch& m = *e.mismatch;
    text += fmt::format("\nFirst wrong element: `{}`[{}] is {:.9g} and should be {:.9g}, at {} with {} inputs; {} of {} "
                        "elements are wrong there.\n",
                        m.tensor, fmt::join(m.index, ", "), m.actual, m.expected, DimsLine(m.dims), m.distribution,
                        m.wrong_elements, m.total_elements);
  }
  if (const std::string findings = FindingsText(e.findings); !findings.empty()) text += "\n" + findings;
  return text;
}

namespace {

// Returns "; reckoned 850 us, took 1200 us" with a time for each timed case; empty if no time was predicted or measured.
std::string PredictionText(const RunNode& node) {
  if (node.predicted_us.empty() || !node.evaluation) return "";
  std::string reckoned, took;
  size_t timed = 0;
  for (const CaseResult& c : node.evaluation->cases) {
    if (!c.time_us) continue;
    if (timed == node.predicted_us.size()) return "";
    reckoned += fmt::format("{}{:.4g}", timed == 0 ? "" : ", ", node.predicted_us[timed]);
    took += fmt::format("{}{:.4g}", timed == 0 ? "" : ", ", c.time_us->median);
    ++timed;
  }
  return timed == node.predicted_us.size() ? fmt::format("; reckoned {} us, took {} us", reckoned, took) : "";
}

// Returns the ledger's line about one node: its idea, outcome, gains by shape, the time that was reckoned for it, the cause
// of its speed, and its fault.
std::string LedgerLine(const RunView& view, const LedgerEntry& entry) {
  const RunNode& node = view.node(entry.node);
  const RunNode& incumbent = view.node(std::max<int64_t>(node.incumbent, 0));
  std::string cause;
  if (node.evaluation && incumbent.evaluation && node.gain) cause = CauseText(*incumbent.evaluation, *node.evaluation);
  std::string text = fmt::format("- node {} (from node {}): {}: {}{}{}{}\n", entry.node, node.parent, entry.idea,
                                 entry.outcome, ShapesText(node), PredictionText(node), cause.empty() ? "" : "; " + cause);
  if (!node.detail.empty()) {
    text += fmt::format("  ({})\n", ClipText(node.detail, 300));
  } else if (node.evaluation && node.evaluation->verdict != Verdict::kOk) {
    text += fmt::format("  ({})\n", ClipText(node.evaluation->detail, 400));
  }
  return text;
}

}  // namespace

std::string LedgerText(const RunView& view, int64_t known_nodes) {
  std::string text;
  for (const LedgerEntry& entry : view.ledger) {
    if (entry.node < known_nodes) text += LedgerLine(view, entry);
  }
  return text;
}

std::string LastOutcomeText(const RunView& view, int64_t known_nodes) {
  std::string text;
  for (const LedgerEntry& entry : view.ledger) {
    if (entry.node >= known_nodes) continue;
    // A sweep of the last version belongs to it.
    if (view.node(entry.node).origin == "sweep") {
      text += LedgerLine(view, entry);
    } else {
      text = LedgerLine(view, entry);
    }
  }
  return text;
}

std::string ShownText(const RunView& view, const std::vector<int64_t>& nodes, int64_t parent_id, int64_t known_nodes,
                      const SourceOfNode& source, int64_t tokens) {
  std::vector<Relative> relatives;
  const RunNode& parent = view.node(parent_id);
  const Relative* leader = nullptr;  // the fastest of the nodes shown, if it is faster than the parent
  std::string shapes;
  for (const int64_t id : nodes) {
    if (id == parent_id || id < 0 || id >= known_nodes) continue;
    relatives.push_back({&view.node(id), HeadOf(view, view.node(id)), ""});
    if (shapes.empty()) shapes = TimedShapes(view.node(id));
  }
  for (const Relative& r : relatives) {
    if (!IsRight(*r.node) || !r.node->speedup) continue;
    if (leader == nullptr || *r.node->speedup > *leader->node->speedup) leader = &r;
  }
  const double parent_speed = parent_id < known_nodes && IsRight(parent) ? parent.speedup.value_or(0) : 0;
  if (leader != nullptr && *leader->node->speedup <= parent_speed) leader = nullptr;

  std::vector<Relative*> order;
  for (Relative& r : relatives) order.push_back(&r);
  // Code is given in this order as long as there is space: the leader, the start, correct versions, failed ones.
  const auto rank = [&](const Relative* r) { return r == leader ? 0 : r->node->id == 0 ? 1 : IsRight(*r->node) ? 2 : 3; };
  std::stable_sort(order.begin(), order.end(), [&](const Relative* a, const Relative* b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : a->node->id > b->node->id;
  });
  std::string left_out;
  for (Relative* r : order) {
    std::string code = CodeOf(*r->node, parent_id, r == leader, source);
    if (code.empty()) continue;
    const int64_t cost = EstimateTokens(code);
    if (cost > tokens) {
      left_out += fmt::format("{}node {} (about {} tokens)", left_out.empty() ? "" : ", ", r->node->id, cost);
      continue;
    }
    tokens -= cost;
    r->code = std::move(code);
  }
  std::string text;
  if (!shapes.empty()) text += "Times by shape stand in this order: " + shapes + ".\n\n";
  for (const Relative& r : relatives) text += r.head + r.code;
  if (!left_out.empty()) text += "Left out for want of room is the code of " + left_out + ".\n";
  return text;
}

}  // namespace hone
