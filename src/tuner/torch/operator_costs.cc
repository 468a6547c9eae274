// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/torch/operator_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numeric>

#include "base/text/quantity.h"

namespace hone {
namespace {

using nlohmann::json;

constexpr size_t kMostShown = 8;       // operators that a sentence names
constexpr size_t kMostOperators = 1024;  // of a report
constexpr double kEven = 1.5;  // times whose interval is wider than this factor are called uneven
constexpr double kWorthSaying = 1.02;  // a chain moves more bytes than its tensors have by at least this factor, or nothing is said of fusing it

std::string Microseconds(double us) { return us >= 1000 ? fmt::format("{:.3g} ms", us / 1000) : fmt::format("{:.3g} us", us); }

// Returns the text without what would end a line of a file or be very long.
std::string OneLine(const std::string& text) {
  std::string line;
  for (const char c : text.substr(0, 300)) line += std::iscntrl(static_cast<unsigned char>(c)) != 0 ? ' ' : c;
  return line;
}

void ReadTime(JsonFields& fields, std::string_view key, MedianTime& time) {
  fields.Object(key, [&](JsonFields& us) {
    us.Require("median", time.median);
    us.Require("low", time.low);
    us.Require("high", time.high);
  });
}

void ReadOperators(JsonFields& fields, OperatorCosts& costs) {
  fields.Objects("operators", [&](JsonFields& one) {
    OperatorCost& cost = costs.operators.emplace_back();
    one.Require("name", cost.name);
    one.Require("calls", cost.calls);
    one.Require("bytes", cost.bytes);
    one.Read("flops", cost.flops);
    ReadTime(one, "us", cost.time);
    const bool identifier = !cost.name.empty() && cost.name.size() <= 100 && std::all_of(cost.name.begin(), cost.name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
    if (!identifier) one.Fail("name", "is no operator's name");
    if (costs.operators.size() > kMostOperators) one.Fail("name", "is one operator too many");
    for (const double number : {cost.bytes, cost.flops, cost.time.median, cost.time.low, cost.time.high}) {
      if (!std::isfinite(number) || number < 0) one.Fail("bytes", "or another number is negative or not finite");
    }
    if (cost.calls < 1) one.Fail("calls", "is less than 1");
  });
  fields.Require("own", costs.own_bytes);
}

double TotalBytes(const OperatorCosts& costs) {
  return std::accumulate(costs.operators.begin(), costs.operators.end(), 0.0, [](double sum, const OperatorCost& one) { return sum + one.bytes; });
}

double TotalMicroseconds(const OperatorCosts& costs) {
  return std::accumulate(costs.operators.begin(), costs.operators.end(), 0.0, [](double sum, const OperatorCost& one) { return sum + one.time.median; });
}

std::string NameOf(const OperatorCost& cost) {
  return cost.calls == 1 ? cost.name : fmt::format("{} (x{})", cost.name, cost.calls);
}

std::string WorkOf(const OperatorCost& cost) {
  return QuantityText(cost.bytes, "B") + (cost.flops > 0 ? " and " + QuantityText(cost.flops, "FLOP") : "");
}

// Returns the indices of those kMostShown operators with the largest `weight`, in the order in which forward calls them.
template <typename Weight>
std::vector<size_t> Largest(const std::vector<OperatorCost>& operators, Weight weight) {
  std::vector<size_t> order(operators.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weight(operators[a]) > weight(operators[b]); });
  order.resize(std::min(order.size(), kMostShown));
  std::sort(order.begin(), order.end());
  return order;
}

// Returns what fusing the operators could save; empty: nothing worth saying.
std::vector<std::string> FusionNotes(const OperatorCosts& costs) {
  const double total = TotalBytes(costs);
  if (total <= kWorthSaying * costs.own_bytes) return {};
  return {fmt::format("they move {}, and the module's inputs, weights and outputs have {}: what they hand to one another is the rest, which a fused kernel need not move",
                      QuantityText(total, "B"), QuantityText(costs.own_bytes, "B"))};
}

json TimeJson(const MedianTime& time) { return {{"median", time.median}, {"low", time.low}, {"high", time.high}}; }

}  // namespace

std::optional<OperatorCosts> ReadOperatorCosts(JsonFields& fields, std::string_view key) {
  OperatorCosts costs;
  if (!fields.Object(key, [&](JsonFields& one) { ReadOperators(one, costs); })) return std::nullopt;
  return costs;
}

Result<OperatorProfile> ReadOperatorProfile(std::string_view report) {
  HONE_ASSIGN_OR_RETURN(const json answer, ParseJson(report, "the report on operators' times"));
  JsonFields fields(answer, "the report on operators' times");
  std::string error;
  fields.Read("error", error);
  if (fields.ok() && !error.empty()) return Status::Unavailable(OneLine(error));
  OperatorProfile profile;
  ReadOperators(fields, profile.costs);
  fields.Require("device", profile.device);
  fields.Require("torch", profile.torch);
  fields.Require("on_gpu", profile.on_gpu);
  fields.Require("training", profile.training);
  std::map<std::string, int64_t> sizes;
  fields.Read("sizes", sizes);
  profile.sizes.assign(sizes.begin(), sizes.end());
  fields.Require("warm_calls", profile.warm_calls);
  fields.Require("calls", profile.calls);
  fields.Require("timer_us", profile.timer_us);
  ReadTime(fields, "all_us", profile.all);
  ReadTime(fields, "forward_us", profile.forward);
  if (!fields.ok()) return Status::Internal(fields.status().message());
  for (const double number : {profile.timer_us, profile.all.median, profile.forward.median}) {
    if (!std::isfinite(number) || number < 0) return Status::Internal("the report on operators' times has a time that is none");
  }
  if (profile.costs.operators.empty() || profile.calls < 1 || profile.all.median <= 0) return Status::Unavailable("forward calls no operator that takes time");
  profile.device = OneLine(profile.device);
  profile.torch = OneLine(profile.torch);
  return profile;
}

std::vector<std::string> ComputedCostNotes(const OperatorCosts& costs, const std::string& untimed) {
  if (costs.operators.empty()) return {};
  std::string told;
  double shown = 0;
  const std::vector<size_t> largest = Largest(costs.operators, [](const OperatorCost& one) { return one.bytes; });
  for (const size_t i : largest) {
    told += (told.empty() ? "" : ", ") + NameOf(costs.operators[i]) + " " + WorkOf(costs.operators[i]);
    shown += costs.operators[i].bytes;
  }
  if (const size_t left = costs.operators.size() - largest.size(); left > 0)
    told += fmt::format(", {} others {}", left, QuantityText(TotalBytes(costs) - shown, "B"));
  std::vector<std::string> notes = {fmt::format("what forward's operators read and write at the file's sizes, each by itself (computed from shapes; no operator was timed: {}): {}",
                                                untimed, told)};
  for (std::string& note : FusionNotes(costs)) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> MeasuredCostNotes(const OperatorProfile& profile) {
  std::string told;
  double shown_us = 0, shown_bytes = 0;
  const std::vector<OperatorCost>& operators = profile.costs.operators;
  const double sum_us = TotalMicroseconds(profile.costs);
  const auto share = [&](double us) { return fmt::format("{:.3g} %", sum_us > 0 ? std::min(100.0, 100 * us / sum_us) : 0); };
  const std::vector<size_t> largest = Largest(operators, [](const OperatorCost& one) { return one.time.median; });
  for (const size_t i : largest) {
    const OperatorCost& one = operators[i];
    told += fmt::format("{}{} {}, {}, {}", told.empty() ? "" : "; ", NameOf(one), Microseconds(one.time.median), share(one.time.median), WorkOf(one));
    shown_us += one.time.median;
    shown_bytes += one.bytes;
  }
  if (const size_t left = operators.size() - largest.size(); left > 0) {
    told += fmt::format("; {} others {}, {}, {}", left, Microseconds(sum_us - shown_us), share(sum_us - shown_us),
                        QuantityText(std::max(0.0, TotalBytes(profile.costs) - shown_bytes), "B"));
  }
  std::vector<std::string> notes = {fmt::format(
      "what forward's operators cost at the file's sizes, each by itself: time measured on {} with PyTorch {} (median of {} warm calls) and its share of all operators', "
      "bytes read and written: {}",
      profile.device, profile.torch, profile.calls, told)};
  notes.push_back(fmt::format("forward as a whole takes {} there, measured without timing its operators", Microseconds(profile.forward.median)));
  if (profile.all.high > kEven * profile.all.low) {
    notes.push_back(fmt::format("the times are uneven, so that the shares say little: all operators together took {} to {} (95 % interval of the median)",
                                Microseconds(profile.all.low), Microseconds(profile.all.high)));
  }
  if (!profile.on_gpu) notes.push_back("a CPU's times say little about which operators are costly on a GPU");
  for (std::string& note : FusionNotes(profile.costs)) notes.push_back(std::move(note));
  return notes;
}

json ProfileJson(const OperatorProfile& profile) {
  json operators = json::array(), sizes = json::object();
  const double sum_us = TotalMicroseconds(profile.costs);
  for (const OperatorCost& one : profile.costs.operators) {
    operators.push_back({{"name", one.name},
                         {"calls", one.calls},
                         {"bytes", one.bytes},
                         {"flops", one.flops},
                         {"us", TimeJson(one.time)},
                         {"share", sum_us > 0 ? one.time.median / sum_us : 0}});
  }
  for (const auto& [name, size] : profile.sizes) sizes[name] = size;
  return {{"device", profile.device},
          {"torch", profile.torch},
          {"clock", profile.on_gpu ? "CUDA events" : "the host's clock"},
          {"mode", profile.training ? "train" : "eval"},
          {"sizes", sizes},
          {"warm_calls", profile.warm_calls},
          {"calls", profile.calls},
          {"operators", operators},
          {"own_bytes", profile.costs.own_bytes},
          {"all_us", TimeJson(profile.all)},
          {"forward_us", TimeJson(profile.forward)},
          {"timer_us", profile.timer_us}};
}

}  // namespace hone
