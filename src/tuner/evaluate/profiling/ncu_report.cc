// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/evaluate/profiling/ncu_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace hone {
namespace {

// Returns the fields of one line of CSV. A field may be in double quotes, and quotes in it are doubled.
std::vector<std::string> SplitCsv(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

// Parses a number such as "1,234.5"; nullopt: it is none.
std::optional<double> ParseNumber(std::string text) {
  std::erase(text, ',');
  if (text.empty()) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (*end != '\0') return std::nullopt;
  return value;
}

// Calls `visit` for each line, without its end.
template <typename Visit>
void EachLine(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    visit(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::vector<std::string> NcuCommand(const std::string& ncu, const std::vector<std::string>& metrics, const std::string& log_file) {
  return {ncu, "--csv", "--print-units", "base", "--profile-from-start", "off", "--cache-control", "all", "--clock-control", "none",
          "--target-processes", "application-only", "--log-file", log_file, "--metrics", fmt::format("{}", fmt::join(metrics, ","))};
}

Result<std::vector<std::map<std::string, double>>> ParseNcuCsv(std::string_view text) {
  if (text.find("ERR_NVGPUCTRPERM") != std::string_view::npos) {
    return Status::Unavailable(
        "the driver lets only administrators read performance counters (ERR_NVGPUCTRPERM): load the nvidia module with "
        "NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN (in a container: --cap-add SYS_ADMIN)");
  }
  std::optional<size_t> id_at, name_at, value_at;
  std::vector<std::string> order;  // kernels by their ID in ncu's table
  std::vector<std::map<std::string, double>> kernels;
  EachLine(text, [&](std::string_view line) {
    if (line.empty() || line.starts_with("==")) return;
    const std::vector<std::string> fields = SplitCsv(line);
    if (!value_at) {
      const auto column = [&](const char* name) -> std::optional<size_t> {
        const auto found = std::find(fields.begin(), fields.end(), name);
        if (found == fields.end()) return std::nullopt;
        return static_cast<size_t>(found - fields.begin());
      };
      id_at = column("ID");
      name_at = column("Metric Name");
      value_at = column("Metric Value");
      if (!id_at || !name_at) value_at.reset();
      return;
    }
    if (fields.size() <= std::max({*id_at, *name_at, *value_at})) return;
    const std::string& id = fields[*id_at];
    auto known = std::find(order.begin(), order.end(), id);
    if (known == order.end()) {
      order.push_back(id);
      kernels.emplace_back();
      known = order.end() - 1;
    }
    if (const std::optional<double> value = ParseNumber(fields[*value_at])) {
      kernels[static_cast<size_t>(known - order.begin())][fields[*name_at]] = *value;
    }
  });
  if (!value_at) {
    std::string message;
    EachLine(text, [&](std::string_view line) {
      if (message.empty() && line.starts_with("==ERROR==")) message = line;
    });
    return Status::InvalidArgument(message.empty() ? "ncu wrote no table" : "ncu wrote no table: " + message);
  }
  return kernels;
}

std::vector<std::string> UnknownMetrics(std::string_view text) {
  std::vector<std::string> unknown;
  EachLine(text, [&](std::string_view line) {
    if (line.find("metric") == std::string_view::npos || line.find("ail") == std::string_view::npos) return;
    // The line is "==ERROR== Failed to find metric NAME"; some versions list several names, separated by commas.
    size_t at = line.find("metric");
    std::string word;
    for (; at <= line.size(); ++at) {
      const char c = at < line.size() ? line[at] : ' ';
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
        word += c;
        continue;
      }
      while (word.ends_with('.')) word.pop_back();
      if (word.find("__") != std::string::npos) unknown.push_back(word);
      word.clear();
    }
  });
  return unknown;
}

}  // namespace hone
