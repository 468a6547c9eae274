// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/tuner/library_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace hone {

std::string DescribeLibraries(const Evaluation& evaluation, std::string_view indent) {
  std::string text;
  struct Sum {
    std::string name;
    double logs = 0;
    int cases = 0, slower = 0;
  };
  std::vector<Sum> sums;
  for (const CaseResult& c : evaluation.cases) {
    std::string dims;
    for (const auto& [name, value] : c.dims) dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, value);
    for (const LibraryResult& library : c.libraries) {
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
  if (text.empty()) return text;
  text = fmt::format("{}libraries: time, and the candidate's speedup over it (95 %)\n", indent) + text;
  for (const Sum& sum : sums) {
    text += fmt::format("{}geometric mean over {}: {:.3f}x; slower than it at {} of {} shapes\n", indent, sum.name,
                        std::exp(sum.logs / sum.cases), sum.slower, sum.cases);
  }
  return text;
}

}  // namespace hone
