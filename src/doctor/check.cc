// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "doctor/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/json_fields.h"

namespace hone {

const char* StandingName(Standing standing) {
  switch (standing) {
    case Standing::kHere: return "here";
    case Standing::kMissing: return "missing";
    case Standing::kNeeded: return "needed";
  }
  return "";
}

void Conclude(Diagnosis& diagnosis) {
  diagnosis.able = true;
  for (const CheckGroup& group : diagnosis.groups) {
    for (const Check& check : group.checks) diagnosis.able &= check.standing != Standing::kNeeded;
  }
}

std::string DiagnosisText(const Diagnosis& diagnosis) {
  size_t width = 0;
  for (const CheckGroup& group : diagnosis.groups) {
    for (const Check& check : group.checks) width = std::max(width, check.title.size());
  }
  std::string text;
  for (const CheckGroup& group : diagnosis.groups) {
    if (group.checks.empty()) continue;
    text += group.title + "\n";
    for (const Check& check : group.checks) {
      const char* mark = check.standing == Standing::kHere ? "ok" : check.standing == Standing::kMissing ? "--" : "!!";
      text += fmt::format("  {}  {:<{}}  {}\n", mark, check.title, width, check.found);
      if (check.standing == Standing::kHere) continue;
      if (!check.brings.empty()) text += fmt::format("      {:<{}}  It {}.\n", "", width, check.brings);
      if (!check.remedy.empty()) text += fmt::format("      {:<{}}  To get it: {}.\n", "", width, check.remedy);
    }
    text += "\n";
  }
  return text + diagnosis.summary + "\n";
}

std::string DiagnosisJson(const Diagnosis& diagnosis) {
  nlohmann::json checks = nlohmann::json::array();
  for (const CheckGroup& group : diagnosis.groups) {
    for (const Check& check : group.checks) {
      checks.push_back({{"group", group.title}, {"name", check.name}, {"title", check.title}, {"standing", StandingName(check.standing)},
                        {"found", check.found}, {"brings", check.brings}, {"remedy", check.remedy}});
    }
  }
  return DumpJson(nlohmann::json{{"able", diagnosis.able}, {"summary", diagnosis.summary}, {"checks", checks}}, 2);
}

}  // namespace hone
