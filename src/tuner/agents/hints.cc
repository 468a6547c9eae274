// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/numbers/random.h"

namespace hone {
namespace {

// An entry of a menu names the findings that it answers in such a comment.
constexpr std::string_view kOpen = "<!-- answers:", kClose = "-->";

// Takes the comment out of an entry's text and returns the kinds that it names.
std::vector<std::string> TakeAnswers(std::string& text) {
  std::vector<std::string> kinds;
  const size_t open = text.find(kOpen);
  const size_t close = open == std::string::npos ? open : text.find(kClose, open);
  if (close == std::string::npos) return kinds;
  std::istringstream word_stream(text.substr(open + kOpen.size(), close - open - kOpen.size()));
  for (std::string kind; word_stream >> kind;) kinds.push_back(kind);
  size_t end = close + kClose.size();
  if (end < text.size() && text[end] == ' ') ++end;
  text.erase(open, end - open);
  return kinds;
}

// Returns the reason for a hint, for the prompt.
std::string WhyText(const ProfileFinding& f) {
  return fmt::format("because of the profile's finding `{}`{}: {}{}; up to {:.0f} % of a launch's time could go",
                     f.kind, f.location.empty() ? "" : " at " + f.location, f.message,
                     f.evidence.empty() ? "" : " (" + f.evidence + ")", 100 * f.gain);
}

// Returns the hint `name` as an answer to the finding.
Hint HintFor(const ProfileFinding& f, std::string name) {
  return {{std::move(name), f.kind, f.kernel, f.location, f.gain}, WhyText(f)};
}

}  // namespace

std::vector<MenuEntry> MenuEntries(std::string_view menu) {
  std::vector<MenuEntry> entries;
  // An entry begins with "- **NAME**" and ends where the next begins.
  for (size_t at = menu.find("- **"); at != std::string_view::npos;) {
    const size_t end = menu.find("**", at + 4), next = menu.find("- **", at + 4);
    if (end == std::string_view::npos) break;
    MenuEntry entry;
    entry.name = std::string(menu.substr(at + 4, end - at - 4));
    while (!entry.name.empty() && (entry.name.back() == '.' || entry.name.back() == ':')) entry.name.pop_back();
    entry.text = std::string(menu.substr(at + 2, (next == std::string_view::npos ? menu.size() : next) - at - 2));
    while (!entry.text.empty() && entry.text.back() == '\n') entry.text.pop_back();
    entry.answers = TakeAnswers(entry.text);
    entries.push_back(std::move(entry));
    at = next;
  }
  return entries;
}

std::string ShownMenu(std::string_view menu) {
  std::string shown(menu);
  for (size_t before = std::string::npos; shown.size() != before;) {
    before = shown.size();
    TakeAnswers(shown);
  }
  return shown;
}

std::vector<ProfileFinding> DistinctFindings(const Evaluation* judged) {
  std::vector<ProfileFinding> findings;
  if (judged == nullptr || !judged->profile) return findings;
  std::set<std::string> kinds;
  for (const ProfileFinding& f : judged->profile->findings) {
    if (f.gain > 0) findings.push_back(f);
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const ProfileFinding& a, const ProfileFinding& b) { return a.gain > b.gain; });
  std::erase_if(findings, [&](const ProfileFinding& f) { return !kinds.insert(f.kind).second; });
  return findings;
}

std::vector<Hint> OrderedHints(const Evaluation* judged, std::string_view menu, uint64_t shuffle) {
  const std::vector<MenuEntry> entries = MenuEntries(menu);
  const std::vector<ProfileFinding> findings = DistinctFindings(judged);
  std::vector<Hint> hints;
  std::set<std::string> given_entries;
  bool has_more = true;  // some finding has an answer that was not given out yet
  for (size_t round = 0; has_more; ++round) {
    has_more = false;
    for (const ProfileFinding& f : findings) {
      std::vector<const MenuEntry*> answers;
      for (const MenuEntry& entry : entries) {
        if (std::find(entry.answers.begin(), entry.answers.end(), f.kind) != entry.answers.end())
          answers.push_back(&entry);
      }
      if (answers.empty() && round == 0) hints.push_back(HintFor(f, f.kind));
      if (round >= answers.size()) continue;
      has_more = true;
      if (given_entries.insert(answers[round]->name).second) hints.push_back(HintFor(f, answers[round]->name));
    }
  }
  std::vector<std::string> other_entries;  // entries that answer no finding
  for (const MenuEntry& entry : entries) {
    if (given_entries.insert(entry.name).second) other_entries.push_back(entry.name);
  }
  Rng rng(shuffle);
  for (size_t i = other_entries.size(); i > 1; --i) std::swap(other_entries[i - 1], other_entries[rng.Below(i)]);
  for (std::string& name : other_entries) hints.push_back({{std::move(name), "", "", "", 0}, ""});
  return hints;
}

std::optional<Hint> HintOfAttempt(const RunView& view, const RunNode& node, const Evaluation* judged, bool profile,
                            std::string_view menu) {
  if (view.options.parallel <= 1 || node.purpose == "debug") return std::nullopt;
  // One order for all attempts of a parent, so that neighbours get different hints.
  const uint64_t shuffle = Rng(view.options.seed).Split(static_cast<uint64_t>(node.parent)).Split(0x5a).Next();  // 0x5a: sets these draws apart
  std::vector<Hint> hints = OrderedHints(profile ? judged : nullptr, menu, shuffle);
  if (hints.empty()) return std::nullopt;
  size_t earlier = 0;  // attempts of the same kind from the same parent before this one
  for (int64_t id = 1; id < node.id; ++id) {
    earlier += view.node(id).parent == node.parent && view.node(id).purpose == node.purpose;
  }
  return hints[earlier % hints.size()];
}

}  // namespace hone
