// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Describes a profile in words, for a terminal and for a prompt.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "hone/tuner/profile.h"
#include "tuner/core/plan/dims_text.h"

namespace hone {
namespace {

constexpr size_t kStallsShown = 4;  // reasons for which warps wait, the most frequent
constexpr size_t kSitesShown = 8;  // memory instructions, the most expensive
constexpr size_t kOpcodesShown = 6;  // opcodes of a source line

// Returns a number with three or four digits and a decimal prefix: "12.3 k", "4.56 M".
std::string ShortNumber(double value) {
  if (value >= 1e9) return fmt::format("{:.2f} G", value / 1e9);
  if (value >= 1e6) return fmt::format("{:.2f} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:.1f} k", value / 1e3);
  return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

// Returns a number of bytes as text, such as "8192 B" or "12.3 kB".
std::string BytesText(double value) { return ShortNumber(value) + (value >= 1e4 ? "B" : " B"); }

// Returns the fields that were counted, with their labels: "DRAM 93 %, L2 40 %".
std::string CountedPercents(const KernelProfile& kernel,
                            std::initializer_list<std::pair<const char*, const char*>> fields) {
  std::string text;
  for (const auto& [label, field] : fields) {
    if (!kernel.Has(field)) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", label, kernel.Value(field));
  }
  return text;
}

// Returns a text on the sectors per request of one kind of access (`what`); empty if there were no requests.
// `requests`, `sectors` and `used_counter` name the fields.
std::string PerRequest(const KernelProfile& kernel, const char* what, const char* requests, const char* sectors,
                       const char* used_counter) {
  if (kernel.Value(requests) <= 0) return "";
  std::string text = fmt::format("{} {:.1f} sectors a request", what, kernel.Value(sectors) / kernel.Value(requests));
  // The average of loads leaves out cp.async, by which most loads may be done.
  const bool partial = std::string_view(what) == "loads" && kernel.Value("async_copies") > 0.05 * kernel.Value(requests);
  if (kernel.Value(used_counter) > 0 && !partial)
    text += fmt::format(" ({:.0f} of 32 bytes of each used)", kernel.Value(used_counter));
  return text;
}

// Appends a line with the parts that are not empty, separated by semicolons, after a label; nothing if all are empty.
void AppendLine(std::string* text, std::string_view indent, const std::string& label,
                const std::vector<std::string>& parts) {
  std::string joined;
  for (const std::string& part : parts) {
    if (!part.empty()) joined += (joined.empty() ? "" : "; ") + part;
  }
  if (!joined.empty()) *text += fmt::format("{}    {}: {}\n", indent, label, joined);
}

// Returns the most frequent reasons for stalls, each with its share of all stalls.
std::string StallsText(const KernelProfile& kernel) {
  std::vector<std::pair<double, const ProfileField*>> stalls;
  double total = 0;
  for (const ProfileField& field : ProfileFields()) {
    if (!field.name.starts_with("stall_") || kernel.Value(field.name) <= 0) continue;
    stalls.emplace_back(kernel.Value(field.name), &field);
    total += kernel.Value(field.name);
  }
  std::stable_sort(stalls.begin(), stalls.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  if (stalls.size() > kStallsShown) stalls.resize(kStallsShown);
  std::string text;
  for (const auto& [value, field] : stalls) {
    text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ", 100 * value / total, field->meaning);
  }
  return text;
}

// Returns the number of instructions, and the share of each kind.
std::string InstructionMix(const KernelProfile& kernel) {
  const double instructions = kernel.Value("instructions");
  if (instructions <= 0) return "";
  std::string text = ShortNumber(instructions);
  for (const auto& [label, field] : {std::pair{"multiply-add", "fma_instructions"}, {"integer", "alu_instructions"},
                                     {"memory", "memory_instructions"}, {"special", "special_instructions"},
                                     {"tensor", "tensor_instructions"}, {"double", "fp64_instructions"},
                                     {"branch", "branch_instructions"}}) {
    // Constants are moved through the tensor cores' pipe without computing a product.
    if (std::string_view(field) == "tensor_instructions" && kernel.Value("tensor_active", 100) < 5) continue;
    if (const double part = kernel.Value(field); part > 0.005 * instructions)
      text += fmt::format(", {:.0f} % {}", 100 * part / instructions, label);
  }
  if (kernel.Has("active_threads")) text += fmt::format(", {:.1f} of 32 threads active", kernel.Value("active_threads"));
  return text;
}

// Returns whether an opcode interests a reader more than moves and address arithmetic do: memory accesses, products.
bool TellsMost(std::string_view opcode) {
  for (const char* prefix : {"LDG", "LDS", "LDL", "LD.", "LDGSTS", "LDSM", "STG", "STS", "STL", "ST.", "STSM", "ATOM", "RED.", "REDG", "UTMA", "UBLK",
                             "HMMA", "HGMMA", "IMMA", "QGMMA", "DMMA", "MUFU", "DFMA", "DADD", "DMUL", "SHFL", "BAR", "MEMBAR", "SYNCS"}) {
    if (opcode.starts_with(prefix)) return true;
  }
  return false;
}

std::string SharedMemoryText(const KernelProfile& kernel) {
  const double passes = kernel.Value("shared_passes");
  if (passes <= 0) return "";
  return fmt::format("{} passes, {:.0f} % of them bank conflicts", ShortNumber(passes),
                     100 * kernel.Value("bank_conflicts") / passes);
}

// Appends the lines about one kernel: what was busy, what it moved, and what its warps waited for.
void AddKernel(std::string* text, std::string_view indent, const KernelProfile& kernel) {
  *text += fmt::format("{}  {}: {:.2f} us, {} blocks of {} threads, {} bytes of shared memory\n", indent, kernel.kernel,
                       kernel.duration_us, kernel.blocks, kernel.threads_per_block, kernel.shared_bytes);
  AppendLine(text, indent, "busy",
             {CountedPercents(kernel, {{"memory", "memory_throughput"},
                                       {"DRAM", "dram_throughput"},
                                       {"L2", "l2_throughput"},
                                       {"L1 and shared", "l1_throughput"},
                                       {"SM", "sm_throughput"},
                                       {"issue", "issue_active"},
                                       {"tensor cores", "tensor_active"}})});
  AppendLine(
      text, indent, "warps",
      {CountedPercents(kernel, {{"occupancy", "occupancy"}}),
       kernel.Has("waves") ? fmt::format("{:.2f} waves of blocks", kernel.Value("waves")) : "",
       kernel.Has("eligible_warps") ? fmt::format("{:.2f} ready of each scheduler", kernel.Value("eligible_warps"))
                                    : "",
       kernel.Has("load_bytes_in_flight")
           ? fmt::format("{} of loads in flight an SM", BytesText(kernel.Value("load_bytes_in_flight")))
           : ""});
  AppendLine(
      text, indent, "memory",
      {PerRequest(kernel, "loads", "load_requests", "load_sectors", "load_bytes_per_sector"),
       PerRequest(kernel, "stores", "store_requests", "store_sectors", "store_bytes_per_sector"),
       kernel.Value("atomic_requests") > 0 ? ShortNumber(kernel.Value("atomic_requests")) + " atomics of a warp" : "",
       CountedPercents(kernel, {{"L1 hits", "l1_hit_rate"}, {"L2 hits", "l2_hit_rate"}}),
       kernel.Has("dram_bytes") ? BytesText(kernel.Value("dram_bytes")) + " of device memory" : ""});
  AppendLine(text, indent, "shared memory", {SharedMemoryText(kernel)});
  AppendLine(text, indent, "warps wait for", {StallsText(kernel)});
  AppendLine(text, indent, "instructions", {InstructionMix(kernel)});
  AppendLine(text, indent, "each limit alone, of the time",
             {CountedPercents(kernel, {{"DRAM", "limit_dram"},
                                       {"L2", "limit_l2"},
                                       {"load-store", "limit_lsu"},
                                       {"issue", "limit_issue"},
                                       {"tensor", "limit_tensor"},
                                       {"latency", "limit_latency"},
                                       {"starting blocks", "limit_dispatch"},
                                       {"atomics", "limit_atomics"}})});
  size_t shown = 0;
  for (const MemorySite& site : kernel.sites) {
    if (site.location.empty() || ++shown > kSitesShown) continue;
    *text += fmt::format("{}    {}: {} {} of {} bytes a thread, {:.1f} {} a request ({:.1f} suffice), {:.0f} % of the kernel's\n",
                         indent, site.location, site.space, site.operation, site.bytes, site.transfers_per_request,
                         site.space == "shared" ? "passes" : "sectors", site.ideal_transfers, 100 * site.share);
  }
}

}  // namespace

std::string DescribeProfile(const Profile& profile, std::string_view indent) {
  std::string text;
  if (!profile.source.empty()) {
    text += fmt::format("{}profile: counted by {}{}\n", indent,
                        profile.source == "simulator" ? "the simulator" : profile.source == "cupti" ? "CUPTI" : profile.source,
                        profile.modelled ? "; times and shares of them are modelled" : "");
  }
  if (!profile.note.empty()) text += fmt::format("{}profile: {}\n", indent, profile.note);
  for (const CaseProfile& c : profile.cases) {
    text += fmt::format("{}{}\n", indent, DimsText(c.dims));
    for (const KernelProfile& kernel : c.kernels) AddKernel(&text, indent, kernel);
  }
  if (!profile.findings.empty()) {
    text += fmt::format("{}what stands in the way, by what it may be worth:\n", indent);
    int number = 0;
    for (const ProfileFinding& f : profile.findings) {
      text += fmt::format("{}  {}. {}{}{}: {}\n", indent, ++number, f.kind, f.location.empty() ? "" : " at " + f.location,
                          f.gain > 0 ? fmt::format(" (up to {:.0f} % of the time)", 100 * f.gain) : "", f.message);
      if (!f.evidence.empty()) {
        text += fmt::format("{}     evidence: {}{}\n", indent, f.evidence, f.dims.empty() ? "" : ", at " + DimsText(f.dims));
      }
    }
  } else if (!profile.cases.empty()) {
    text += fmt::format("{}no rule finds anything in the way\n", indent);
  }
  std::string kernel;
  for (const SassLine& line : profile.sass) {
    if (line.kernel != kernel) {
      kernel = line.kernel;
      text += fmt::format("{}machine code of {}, instructions by source line:\n", indent, kernel);
    }
    std::vector<std::tuple<bool, int64_t, std::string>> order;
    for (const auto& [opcode, count] : line.opcodes) order.emplace_back(!TellsMost(opcode), -count, opcode);
    std::sort(order.begin(), order.end());
    std::string opcodes;
    for (size_t i = 0; i < order.size() && i < kOpcodesShown; ++i) {
      opcodes += fmt::format("{}{} {}", opcodes.empty() ? "" : ", ", -std::get<1>(order[i]), std::get<2>(order[i]));
    }
    if (order.size() > kOpcodesShown) opcodes += ", …";
    if (!line.source.empty()) {
      text += fmt::format("{}  {}  {}\n", indent, line.location, line.source);
      text += fmt::format("{}    {:>6}  {}\n", indent, line.instructions, opcodes);
    } else {
      text += fmt::format("{}  {}\n{}    {:>6}  {}\n", indent, line.location.empty() ? "(no line)" : line.location, indent,
                          line.instructions, opcodes);
    }
  }
  return text;
}

}  // namespace hone
