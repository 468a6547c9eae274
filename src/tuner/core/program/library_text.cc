// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/tuner/library_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tuner/core/plan/dims_text.h"

namespace hone {
namespace {

// Returns the reasons why libraries were timed in no case, each once: what a machine lacks is missing at every shape.
std::vector<std::string> ReasonsWithoutTimes(const Evaluation& evaluation) {
  std::vector<std::string> reasons;
  for (const CaseResult& first : evaluation.cases) {
    for (const LibraryResult& library : first.libraries) {
      const bool everywhere = std::all_of(evaluation.cases.begin(), evaluation.cases.end(), [&](const CaseResult& c) {
        return c.libraries.empty() || std::any_of(c.libraries.begin(), c.libraries.end(), [&](const LibraryResult& other) {
                 return !other.time_us && other.detail == library.detail;
               });
      });
      if (!library.time_us && everywhere && std::find(reasons.begin(), reasons.end(), library.detail) == reasons.end()) {
        reasons.push_back(library.detail);
      }
    }
  }
  return reasons;
}

}  // namespace

std::string DescribeLibraries(const Evaluation& evaluation, std::string_view indent) {
  std::string text;
  struct Sum {
    std::string name;
    double logs = 0;
    int cases = 0, slower = 0;
  };
  std::vector<Sum> sums;
  const std::vector<std::string> absent = ReasonsWithoutTimes(evaluation);
  for (const CaseResult& c : evaluation.cases) {
    const std::string dims = DimsText(c.dims);
    for (const LibraryResult& library : c.libraries) {
      if (!library.time_us && std::find(absent.begin(), absent.end(), library.detail) != absent.end()) continue;
      text += fmt::format("{}{:<34} {:<16} {:>12} {:>22}  {}\n", indent, dims, library.name,
                          library.time_us ? fmt::format("{:.2f} us", *library.time_us) : "-",
                          library.speedup ? fmt::format("{:.3f}x [{:.3f}, {:.3f}]", library.speedup->median, library.speedup->low,
                                                        library.speedup->high)
                                          : "-",
                          library.detail);
      if (!library.speedup || !(library.speedup->median > 0)) continue;
      auto sum = std::find_if(sums.begin(), sums.end(), [&](const Sum& s) { return s.name == library.name; });
      if (sum == sums.end()) sum = sums.insert(sums.end(), Sum{library.name});
      sum->logs += std::log(library.speedup->median);
      ++sum->cases;
      sum->slower += library.speedup->median < 1;
    }
  }
  if (!text.empty()) text = fmt::format("{}libraries: time, and the candidate's speedup over it (95 %)\n", indent) + text;
  for (const Sum& sum : sums) {
    text += fmt::format("{}geometric mean over {}: {:.3f}x; slower than it at {} of {} shapes\n", indent, sum.name,
                        std::exp(sum.logs / sum.cases), sum.slower, sum.cases);
  }
  for (const std::string& why : absent) {
    std::vector<std::string> names;
    for (const CaseResult& c : evaluation.cases) {
      for (const LibraryResult& library : c.libraries) {
        if (library.detail == why && std::find(names.begin(), names.end(), library.name) == names.end()) names.push_back(library.name);
      }
    }
    text += fmt::format("{}{}: {}\n", indent, fmt::join(names, ", "), why);
  }
  return text;
}

}  // namespace hone
