// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/device/sim/model/findings.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

namespace hone::sim {

namespace {

constexpr double kWorthTelling = 0.1;  // least share of the launch's sectors, or of its bank cycles, that gives a
                                       // finding
constexpr size_t kMaxAdvice = 4;

std::string LineOrUnknown(const std::string& line) { return line.empty() ? "an unknown line" : line; }

std::string FillPlaces(std::string text, const std::vector<std::string>& places) {
  for (size_t i = 0; i < places.size(); ++i) {
    const std::string mark = fmt::format("{{{}}}", i);
    for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at)) {
      text.replace(at, mark.size(), LineOrUnknown(places[i]));
      at += LineOrUnknown(places[i]).size();
    }
  }
  return text;
}

// Returns the 32-byte sectors that a warp-wide access would need if its lanes' bytes were adjacent.
double IdealSectors(const SiteReport& site) {
  return site.groups > 0 ? std::max(1.0, site.accesses / site.groups * site.bytes / 32) : 1;
}

// Adds advice about the memory instructions that cost most: accesses that are not coalesced, and bank conflicts.
void AddAdvice(const LaunchReport& report, SourceLines& lines, std::vector<Finding>* findings) {
  double sectors = 0, cycles = 0;
  for (const SiteReport& site : report.sites) {
    sectors += site.sectors;
    cycles += site.cycles;
  }
  std::vector<const SiteReport*> dear;
  std::vector<uint64_t> pcs;
  for (const SiteReport& site : report.sites) {
    if (site.groups <= 0 || dear.size() >= kMaxAdvice) continue;
    const bool conflict = site.shared && !site.atomic && site.cycles > 1.5 * site.ideal_cycles &&
                          site.cycles > kWorthTelling * cycles;
    const bool scattered = !site.shared && !site.atomic && site.sectors / site.groups > 1.5 * IdealSectors(site) + 1 &&
                           site.sectors > kWorthTelling * sectors;
    if (!conflict && !scattered) continue;
    dear.push_back(&site);
    pcs.push_back(site.pc);
  }
  const std::vector<std::string> places = lines.Find(pcs);
  for (size_t i = 0; i < dear.size(); ++i) {
    const SiteReport& site = *dear[i];
    const char* what = site.writes ? "store" : "load";
    Finding finding;
    finding.location = places[i];
    if (site.shared) {
      finding.kind = "bank_conflict";
      finding.message = fmt::format("the shared-memory {} of {} bytes takes {:.1f} passes a warp, {:.1f} without conflicts",
                                    what, site.bytes, site.cycles / site.groups, site.ideal_cycles / site.groups);
    } else {
      finding.kind = "uncoalesced";
      finding.message = fmt::format("the {} of {} bytes touches {:.1f} sectors a warp, {:.1f} if lanes were side by side",
                                    what, site.bytes, site.sectors / site.groups, IdealSectors(site));
    }
    findings->push_back(std::move(finding));
  }
}

}  // namespace

LaunchOutcome JudgeReport(const std::string& kernel, const LaunchReport& report, SourceLines& lines) {
  LaunchOutcome outcome;
  std::vector<uint64_t> pcs;
  for (const RawFinding& f : report.findings) pcs.insert(pcs.end(), f.pcs.begin(), f.pcs.end());
  const std::vector<std::string> all = lines.Find(pcs);
  size_t at = 0;
  for (const RawFinding& f : report.findings) {
    const std::vector<std::string> places(all.begin() + static_cast<ptrdiff_t>(at),
                                          all.begin() + static_cast<ptrdiff_t>(at + f.pcs.size()));
    at += f.pcs.size();
    if (f.only_if_lines_differ && places.size() == 2 && places[0] == places[1]) continue;
    Finding finding;
    finding.kind = f.kind;
    finding.message = FillPlaces(f.message, places);
    finding.location = places.empty() ? "" : places[0];
    const auto is_same_finding = [&](const Finding& other) {
      return other.kind == finding.kind && other.location == finding.location && !finding.location.empty();
    };
    const bool already_reported = std::any_of(outcome.findings.begin(), outcome.findings.end(), is_same_finding);
    if (!already_reported) outcome.findings.push_back(std::move(finding));
  }
  switch (report.end) {
    case LaunchEnd::kCrashed:
    case LaunchEnd::kUnsupported:
      outcome.status = report.end == LaunchEnd::kCrashed ? LaunchStatus::kCrashed : LaunchStatus::kUnsupported;
      outcome.detail = fmt::format("{}: {}", kernel, outcome.findings.empty() ? report.detail : outcome.findings.back().message);
      return outcome;
    case LaunchEnd::kStuck:
      outcome.status = LaunchStatus::kUnsupported;
      outcome.detail = fmt::format("{}: {}", kernel, report.detail);
      return outcome;
    case LaunchEnd::kWaiting:
      outcome.status = LaunchStatus::kTimedOut;
      outcome.detail = fmt::format("{}: {}", kernel, report.detail);
      return outcome;
    case LaunchEnd::kForbidden:
    case LaunchEnd::kOk:
      break;
  }
  if (!outcome.findings.empty()) {
    outcome.status = LaunchStatus::kRuleViolation;
    outcome.detail = fmt::format("{}: {}: {}", kernel, outcome.findings[0].kind, outcome.findings[0].message);
    if (outcome.findings.size() > 1) outcome.detail += fmt::format(" (and {} more findings)", outcome.findings.size() - 1);
    return outcome;
  }
  AddAdvice(report, lines, &outcome.findings);
  return outcome;
}

Finding SignalFinding(int signal, const std::string& where, const std::string& place) {
  Finding finding;
  finding.kind = "crash";
  finding.location = place;
  const char* what = "crashes the host's processor";
  switch (signal) {
    case SIGFPE: what = "divides an integer by zero"; break;
    case SIGSEGV:
    case SIGBUS: what = "uses memory that is not there"; break;
    case SIGILL:
    case SIGTRAP: what = "runs into undefined behaviour that the compiler turned into a trap"; break;
    case SIGABRT: what = "aborts"; break;
    default: break;
  }
  finding.message = fmt::format("{} {}, at {}", where.empty() ? "the kernel" : where, what, LineOrUnknown(place));
  return finding;
}

}  // namespace hone::sim
