// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/sanitizing/sanitizer_report.h"

#include <algorithm>
#include <charconv>
#include <cctype>

namespace hone {
namespace {

constexpr size_t kMostFaults = 16;
constexpr size_t kMostWords = 160;  // bytes that are kept of a line or a name

// Returns the first part of a text with everything that is not printable ASCII replaced.
std::string Clean(std::string_view text) {
  std::string clean(text.substr(0, kMostWords));
  for (char& c : clean) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return clean;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// Returns the integer at the beginning of `text`, whose thousands may be separated by commas; nullopt if there is none.
std::optional<int64_t> Integer(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c == ',' && !digits.empty()) continue;
    if (std::isdigit(static_cast<unsigned char>(c)) == 0 || digits.size() > 18) break;
    digits += c;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && !digits.empty() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

std::optional<uint64_t> Hexadecimal(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return error == std::errc() && end != text.data() ? std::optional(value) : std::nullopt;
}

// Returns the text behind `begin`; nullopt if `text` does not contain it.
std::optional<std::string_view> After(std::string_view text, std::string_view begin) {
  const size_t at = text.find(begin);
  return at == std::string_view::npos ? std::nullopt : std::optional(text.substr(at + begin.size()));
}

// Returns the kernel in "NAME+0x90 in file.cu:3" or in "NAME:0x90 in …", the form of older versions.
std::string KernelIn(std::string_view place) {
  size_t end = place.rfind("+0x");
  if (end == std::string_view::npos) end = place.rfind(":0x");
  if (end == std::string_view::npos) {
    // "0x90 in file.cu:3:NAME" and "0x90 in NAME" are older still.
    const std::optional<std::string_view> name = After(place, " in ");
    return name ? Clean(name->substr(name->rfind(':') == std::string_view::npos ? 0 : name->rfind(':') + 1)) : "";
  }
  return Clean(place.substr(0, end));
}

// Returns the fault that begins with this line; nullopt if none does.
std::optional<SanitizerFault> BeginningWith(std::string_view line) {
  SanitizerFault fault;
  fault.words = Clean(line);
  fault.shared = line.find("__shared__") != std::string_view::npos;
  if (line.starts_with("Invalid __") || line.starts_with("Potential invalid __")) {
    fault.kind = "out_of_bounds";
    fault.writes = line.find(" write ") != std::string_view::npos || line.find(" atomic ") != std::string_view::npos;
    // Blocks of a cluster may access each other's shared memory only while both exist.
    if (line.starts_with("Potential")) fault.kind = "shared_race";
  } else if (line.starts_with("Uninitialized __") && line.find(" read") != std::string_view::npos) {
    fault.kind = "uninitialised_read";
  } else if (line.find("Race reported between ") != std::string_view::npos) {
    fault.kind = "shared_race";
    fault.shared = true;
    std::string severity(line.substr(0, 4));
    std::transform(severity.begin(), severity.end(), severity.begin(), [](unsigned char c) { return std::toupper(c); });
    fault.certain = severity == "ERRO";
    const std::optional<std::string_view> access = After(line, "Race reported between ");
    fault.writes = access->starts_with("Write");
    if (const std::optional<std::string_view> place = After(*access, " access at ")) fault.kernel = KernelIn(*place);
  } else {
    return std::nullopt;
  }
  if (const std::optional<std::string_view> size = After(line, " of size ")) fault.bytes = Integer(*size).value_or(0);
  return fault;
}

// Adds what a later line of the same fault says.
void AddLine(std::string_view line, SanitizerFault& fault) {
  if (line.starts_with("at ") && fault.kernel.empty()) {
    fault.kernel = KernelIn(line.substr(3));
  } else if (line.starts_with("by thread ") && fault.thread.empty()) {
    fault.thread = Clean(line.substr(3));
  } else if ((line.starts_with("Access to ") || line.starts_with("Address ")) && !fault.address) {
    fault.address = Hexadecimal(line.substr(line.starts_with("Access to ") ? 10 : 8));
    if (line.find("misaligned") != std::string_view::npos && fault.kind == "out_of_bounds") fault.kind = "misaligned";
  }
}

}  // namespace

std::string_view SanitizerToolName(SanitizerTool tool) {
  switch (tool) {
    case SanitizerTool::kMemcheck: return "memcheck";
    case SanitizerTool::kInitcheck: return "initcheck";
    case SanitizerTool::kRacecheck: break;
  }
  return "racecheck";
}

std::string_view SanitizerToolSubject(SanitizerTool tool) {
  switch (tool) {
    case SanitizerTool::kMemcheck: return "accesses outside of a tensor";
    case SanitizerTool::kInitcheck: return "reads of memory that nothing has written";
    case SanitizerTool::kRacecheck: break;
  }
  return "races in shared memory";
}

SanitizerFeatures ReadSanitizerFeatures(std::string_view help) {
  return {.shared_initcheck = help.find("--initcheck-address-space") != std::string_view::npos};
}

bool DependsOnFeatures(SanitizerTool tool) { return tool == SanitizerTool::kInitcheck; }

std::vector<std::string> SanitizerCommand(const std::string& program, SanitizerTool tool, const SanitizerFeatures& features,
                                          const std::string& log_file) {
  // One fault is enough to refuse a candidate; a few show whether there are several of them.
  std::vector<std::string> command = {program, "--tool", std::string(SanitizerToolName(tool)), "--log-file", log_file,
                                      "--print-limit", "5", "--show-backtrace", "no", "--demangle", "no",
                                      "--target-processes", "application-only"};
  if (tool == SanitizerTool::kMemcheck) {
    // Without padding a read past the end of one tensor may lie in the next one. Errors of the driver's functions are
    // the process's own affair.
    command.insert(command.end(), {"--padding", "4096", "--report-api-errors", "no"});
  }
  if (tool == SanitizerTool::kInitcheck) {
    command.insert(command.end(), {"--check-api-memory-access", "no"});
    if (features.shared_initcheck) command.insert(command.end(), {"--initcheck-address-space", "all"});
  }
  return command;
}

SanitizerLog ReadSanitizerLog(std::string_view text) {
  SanitizerLog log;
  bool in_fault = false;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t marks = 0;
    while (marks < line.size() && line[marks] == '=') ++marks;
    if (marks < 5) continue;
    line = Trim(line.substr(marks));
    if (line.empty()) {
      in_fault = false;
      continue;
    }
    if (std::optional<SanitizerFault> begun = BeginningWith(line)) {
      in_fault = log.faults.size() < kMostFaults;
      if (in_fault) log.faults.push_back(*std::move(begun));
      continue;
    }
    for (const std::string_view summary : {"ERROR SUMMARY: ", "RACECHECK SUMMARY: "}) {
      if (!line.starts_with(summary)) continue;
      log.finished = true;
      log.errors = std::max(log.errors, Integer(line.substr(summary.size())).value_or(0));
    }
    if (in_fault) AddLine(line, log.faults.back());
    const bool own = line.starts_with("Error: ") || line.starts_with("Internal Sanitizer Error");
    if (own && log.trouble.empty()) log.trouble = Clean(line);
  }
  return log;
}

}  // namespace hone
