// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tuner/agents/hints.h"
#include "tuner/strategies/funnel.h"

namespace hone {
namespace {

constexpr size_t kMostFindings = 3;  // findings of the profile that become directions
constexpr size_t kMostRemembered = 4;  // ideas of earlier runs in one prompt

// Returns the directions that the profile's most expensive findings give.
std::vector<AttemptDirection> FindingDirections(const Evaluation* judged) {
  std::vector<AttemptDirection> directions;
  for (const ProfileFinding& f : DistinctFindings(judged)) {
    if (directions.size() >= kMostFindings) break;
    directions.push_back({{f.kind, f.kind, f.kernel, f.location, f.gain},
                          fmt::format("The profile's finding `{}`: {}{}{}; up to {:.0f} % of a launch's time could go.",
                                      f.kind, f.message, f.evidence.empty() ? "" : ", " + f.evidence,
                                      f.location.empty() ? "" : " at " + f.location, 100 * f.gain)});
  }
  return directions;
}

}  // namespace

std::optional<AttemptDirection> DirectionOf(const RunView& view, const RunNode& node, const Evaluation* judged,
                                            std::string_view menu) {
  std::vector<AttemptDirection> directions = FindingDirections(judged);
  for (MenuEntry& entry : MenuEntries(menu)) {
    directions.push_back({{std::move(entry.name), "", "", "", 0}, std::move(entry.text)});
  }
  if (directions.empty()) return std::nullopt;
  // Attempts take the directions in turn: this one's place follows from the number of earlier attempts that had one.
  size_t turn = 0;
  for (int64_t id = 1; id < node.id; ++id) {
    const std::vector<Turn>& turns = view.node(id).turns;
    turn += !turns.empty() && turns.front().prompt == kWidePrompt;
  }
  turn %= directions.size();
  std::string others;
  for (size_t i = 0; i < directions.size(); ++i) {
    if (i != turn) others += (others.empty() ? "" : "; ") + directions[i].given.hint;
  }
  AttemptDirection direction = std::move(directions[turn]);
  if (!others.empty()) direction.text += fmt::format("\n\n(The other directions: {}.)", others);
  return direction;
}

std::string MemoryText(const RunView& view, std::string_view limiter, double bytes) {
  std::vector<const RememberedIdea*> order;
  for (const RememberedIdea& idea : view.memory) order.push_back(&idea);
  // Returns how far the idea's size is from `bytes`, as the logarithm of their ratio.
  const auto distance = [&](const RememberedIdea* m) {
    return bytes > 0 && m->bytes > 0 ? std::abs(std::log(m->bytes / bytes)) : 100.0;  // of unknown size: after all known ones
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
