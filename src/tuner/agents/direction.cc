// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tuner/strategies/funnel.h"

namespace hone {
namespace {

constexpr size_t kMostFindings = 3;
constexpr size_t kMostRemembered = 4;

struct Direction {
  std::string name, text;
};

// An entry is "- **Name.** description", up to the next entry.
std::vector<Direction> MenuDirections(std::string_view menu) {
  std::vector<Direction> directions;
  for (size_t at = menu.find("- **"); at != std::string_view::npos;) {
    const size_t end = menu.find("**", at + 4), next = menu.find("- **", at + 4);
    if (end == std::string_view::npos) break;
    std::string name(menu.substr(at + 4, end - at - 4));
    while (!name.empty() && (name.back() == '.' || name.back() == ':')) name.pop_back();
    std::string text(menu.substr(at + 2, (next == std::string_view::npos ? menu.size() : next) - at - 2));
    while (!text.empty() && text.back() == '\n') text.pop_back();
    directions.push_back({std::move(name), std::move(text)});
    at = next;
  }
  return directions;
}

std::vector<Direction> FindingDirections(const Evaluation* judged) {
  std::vector<Direction> directions;
  if (judged == nullptr || !judged->profile) return directions;
  std::set<std::string> kinds;
  for (const ProfileFinding& f : judged->profile->findings) {
    if (!(f.gain > 0) || directions.size() >= kMostFindings || !kinds.insert(f.kind).second) continue;
    directions.push_back(
        {f.kind, fmt::format("The profile's finding `{}`: {}{}{}; up to {:.0f} % of a launch's time could go.", f.kind,
                             f.message, f.evidence.empty() ? "" : ", " + f.evidence,
                             f.location.empty() ? "" : " at " + f.location, 100 * f.gain)});
  }
  return directions;
}

}  // namespace

std::string DirectionText(const RunView& view, const RunNode& node, const Evaluation* judged, std::string_view menu) {
  std::vector<Direction> all = FindingDirections(judged);
  for (Direction& d : MenuDirections(menu)) all.push_back(std::move(d));
  if (all.empty()) return "";
  size_t mine = 0;
  for (int64_t id = 1; id < node.id; ++id) {
    const std::vector<Turn>& turns = view.node(id).turns;
    mine += !turns.empty() && turns.front().prompt == kWidePrompt;
  }
  mine %= all.size();
  std::string others;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i != mine) others += (others.empty() ? "" : "; ") + all[i].name;
  }
  return all[mine].text + (others.empty() ? "" : fmt::format("\n\n(The other directions: {}.)", others));
}

std::string MemoryText(const RunView& view, std::string_view limiter, double bytes) {
  std::vector<const RememberedIdea*> order;
  for (const RememberedIdea& idea : view.memory) order.push_back(&idea);
  const auto distance = [&](const RememberedIdea* m) {
    return bytes > 0 && m->bytes > 0 ? std::abs(std::log(m->bytes / bytes)) : 100.0;
  };
  std::stable_sort(order.begin(), order.end(), [&](const RememberedIdea* a, const RememberedIdea* b) {
    const bool same_a = a->limiter == limiter, same_b = b->limiter == limiter;
    if (same_a != same_b) return same_a;
    if (distance(a) != distance(b)) return distance(a) < distance(b);
    return a->low > b->low;
  });
  if (order.size() > kMostRemembered) order.resize(kMostRemembered);
  std::string text;
  for (const RememberedIdea* m : order) {
    text += fmt::format("- {}, {:.2f}x ({:.2f} to {:.2f}){}: {}\n", m->task, m->gain, m->low, m->high,
                        m->limiter.empty() ? "" : fmt::format(", where {} was the limit", m->limiter), m->idea);
    if (!m->diff.empty()) text += fmt::format("\n```diff\n{}{}```\n\n", m->diff, m->diff.ends_with('\n') ? "" : "\n");
  }
  return text;
}

}  // namespace hone
