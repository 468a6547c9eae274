// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/agents/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/text/quantity.h"
#include "hone/tuner/profile.h"

namespace hone {
namespace {

constexpr double kSameTime = 0.02;  // log of the factor below which two times count as equal
constexpr double kTellingFactor = 1.25;  // ratio of two counts from which their difference may explain a time
constexpr double kTellingPoints = 15;  // difference of percentages that counts
constexpr size_t kMostCauses = 2;  // causes named in the text

enum class Kind { kBytes, kCount, kPercent };

// A figure of the profile that may explain why a version is faster or slower.
struct Count {
  const char* field;
  const char* label;
  Kind kind;
  bool more_is_better;
  bool of_whole_plan;  // summed over the kernels; else of the slowest kernel
};

constexpr Count kCounts[] = {
    {"load_bytes_in_flight", "loads in flight an SM", Kind::kBytes, true, false},
    {"dram_bytes", "traffic of device memory", Kind::kBytes, false, true},
    {"load_sectors", "sectors loaded", Kind::kCount, false, true},
    {"store_sectors", "sectors stored", Kind::kCount, false, true},
    {"bank_conflicts", "passes added by bank conflicts", Kind::kCount, false, true},
    {"shared_passes", "passes over shared memory", Kind::kCount, false, true},
    {"barriers_per_warp", "barriers a warp", Kind::kCount, false, false},
    {"atomic_requests", "atomics", Kind::kCount, false, true},
    {"local_load_sectors", "sectors of spilled memory read", Kind::kCount, false, true},
    {"instructions", "instructions", Kind::kCount, false, true},
    {"occupancy", "occupancy", Kind::kPercent, true, false},
    {"l1_hit_rate", "hits in L1", Kind::kPercent, true, false},
};

// Returns the value for people: "15.3 kB", "12 %".
std::string WithUnit(double value, Kind kind) {
  if (kind == Kind::kPercent) return fmt::format("{:.0f} %", value);
  if (kind == Kind::kBytes) return QuantityText(value, "B");
  for (const auto& [size, prefix] : {std::pair{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}) {
    if (value >= size) return fmt::format("{:.3g}{}", value / size, prefix);
  }
  return fmt::format("{:.3g}", value);
}

// Returns the figure of the plan's launches for one case; nullopt if it was not counted.
std::optional<double> ValueOf(const CaseProfile& c, const Count& count) {
  std::optional<double> sum;
  const KernelProfile* longest = nullptr;
  for (const KernelProfile& kernel : c.kernels) {
    if (kernel.Has(count.field)) sum = sum.value_or(0) + kernel.Value(count.field);
    if (longest == nullptr || kernel.duration_us > longest->duration_us) longest = &kernel;
  }
  if (count.of_whole_plan) return sum;
  if (longest == nullptr || !longest->Has(count.field)) return std::nullopt;
  return longest->Value(count.field);
}

struct Cause {
  double weight = 0;  // importance: the logarithm of the ratio, or the difference of percentages / 100
  std::string text;
};

std::string ChangeText(const char* label, double from, double to, Kind kind) {
  return fmt::format("{} {} from {} to {}", label, to > from ? "rose" : "fell", WithUnit(from, kind),
                     WithUnit(to, kind));
}

// Returns the figures that changed as far as they must, and in the direction that explains the time: a figure of which
// more is better rose in a faster version and fell in a slower one.
std::vector<Cause> CausesOf(const CaseProfile& before, const CaseProfile& after, bool faster) {
  std::vector<Cause> causes;
  for (const Count& count : kCounts) {
    const std::optional<double> from = ValueOf(before, count), to = ValueOf(after, count);
    if (!from || !to || (*to > *from) != (faster == count.more_is_better)) continue;
    double weight = 0;
    if (count.kind == Kind::kPercent) {
      weight = std::abs(*to - *from) >= kTellingPoints ? std::abs(*to - *from) / 100 : 0;
    } else if (*from > 0 && *to > 0) {
      const double factor = std::max(*from / *to, *to / *from);
      weight = factor >= kTellingFactor ? std::log(factor) : 0;
    } else {
      weight = 1;  // one of the two is 0
    }
    if (weight > 0) causes.push_back({weight, ChangeText(count.label, *from, *to, count.kind)});
  }
  return causes;
}

// Returns the causes that registers and spills show: those of kernels with the same name in both versions. Spills (weight
// 2) come before occupancy (weight 1).
std::vector<Cause> CausesInResources(const Evaluation& before, const Evaluation& after, bool faster) {
  std::vector<Cause> causes;
  for (const KernelResources& resources_after : after.resources) {
    for (const KernelResources& then : before.resources) {
      if (then.kernel != resources_after.kernel || then.registers < 0 || resources_after.registers < 0) continue;
      const auto from = static_cast<double>(then.spill_bytes), to = static_cast<double>(resources_after.spill_bytes);
      if (from != to && (to > from) != faster) {
        causes.push_back({2, ChangeText("bytes spilled a thread", from, to, Kind::kCount)});
      }
      if (then.occupancy > 0 && resources_after.occupancy > 0 &&
          100 * std::abs(resources_after.occupancy - then.occupancy) >= kTellingPoints &&
          (resources_after.occupancy > then.occupancy) == faster) {
        causes.push_back(
            {1, ChangeText("occupancy", 100 * then.occupancy, 100 * resources_after.occupancy, Kind::kPercent)});
      }
    }
  }
  return causes;
}

}  // namespace

std::string CauseText(const Evaluation& before, const Evaluation& after) {
  // Find the timed case whose time changed most.
  const CaseResult* changed = nullptr;
  double most = kSameTime;
  size_t timed = 0;
  for (const CaseResult& c : after.cases) {
    if (!c.time_us || !c.speedup || !(c.speedup->median > 0)) continue;
    ++timed;
    if (const double change = std::abs(std::log(c.speedup->median)); change > most) {
      most = change;
      changed = &c;
    }
  }
  if (changed == nullptr) return "";
  const bool faster = changed->speedup->median > 1;
  std::vector<Cause> causes;
  if (before.profile && after.profile) {
    const auto counters_of = [&](const Profile& profile) {
      return std::find_if(profile.cases.begin(), profile.cases.end(),
                          [&](const CaseProfile& c) { return c.dims == changed->dims; });
    };
    const auto then = counters_of(*before.profile), now = counters_of(*after.profile);
    if (then != before.profile->cases.end() && now != after.profile->cases.end())
      causes = CausesOf(*then, *now, faster);
  }
  const bool counted = !causes.empty();
  if (!counted) causes = CausesInResources(before, after, faster);
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) { return a.weight > b.weight; });
  if (causes.size() > kMostCauses) causes.resize(kMostCauses);
  std::string text;
  for (const Cause& cause : causes) text += (text.empty() ? "" : ", ") + cause.text;
  if (text.empty() || !counted || timed < 2) return text;
  std::string dims;
  for (const auto& [name, value] : changed->dims) dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, value);
  return text + " (at " + dims + ")";
}

}  // namespace hone
