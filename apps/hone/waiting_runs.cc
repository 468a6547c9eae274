// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "hone/waiting_runs.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone {
namespace {

std::string Count(size_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

std::string WaitsText(const RunWaits& waits) {
  std::string text;
  if (waits.answers > 0) text = Count(waits.answers, "answer");
  if (waits.evaluations > 0) text += (text.empty() ? "" : " and ") + Count(waits.evaluations, "evaluation");
  return text;
}

}  // namespace

std::string WhereQuestionsLie(const ModelFlags& models) {
  std::string text;
  for (const std::string& listed : models.models) {
    for (size_t start = 0; start <= listed.size();) {  // a stored run's models are one text with a line for each
      const size_t end = std::min(listed.find('\n', start), listed.size());
      const std::string model = listed.substr(start, end - start);
      start = end + 1;
      const size_t at = model.find("mailbox:");
      if (at == std::string::npos) continue;
      const std::string folder = model.substr(at + 8);
      text += fmt::format(
          "hone: questions lie in {0}/requests/*.md; each answer goes to {0}/replies under the same name\n", folder);
    }
  }
  return text;
}

Status WaitingStatus(const std::vector<WaitingRun>& waiting, size_t runs, const ModelFlags& models) {
  if (waiting.empty()) return Status::Ok();
  std::string text = waiting.size() == 1 ? fmt::format("1 of {} runs waits:", runs)
                                         : fmt::format("{} of {} runs wait:", waiting.size(), runs);
  bool answers = false;
  std::string evaluator;
  for (const WaitingRun& one : waiting) {
    text += fmt::format("\nhone:   {} for {}", one.run, WaitsText(one.waits));
    answers = answers || one.waits.answers > 0;
    if (!one.waits.evaluator.empty()) evaluator = one.waits.evaluator;
  }
  if (answers) {
    std::string where = WhereQuestionsLie(models);
    while (!where.empty() && where.back() == '\n') where.pop_back();
    if (!where.empty()) text += "\n" + where;
  }
  if (!evaluator.empty()) text += "\nhone: " + evaluator;
  return Status::Pending(text + "\nhone: then give the same command again: every run goes on from where it is");
}

}  // namespace hone
