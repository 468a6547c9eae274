// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/spend.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hone {

std::vector<Exchange> ReadExchanges(const std::vector<Event>& events) {
  using Json = nlohmann::json;
  std::vector<Exchange> exchanges;
  std::map<int64_t, size_t> by_number;
  for (const Event& event : events) {
    if (event.kind != EventKind::kRequest && event.kind != EventKind::kReply && event.kind != EventKind::kNote) continue;
    const Json p = Json::parse(event.payload, nullptr, false);
    if (!p.is_object() || !p.contains("number") || !p["number"].is_number_integer()) continue;
    const int64_t number = p["number"];
    if (event.kind == EventKind::kRequest) {
      if (const auto found = by_number.find(number); found != by_number.end()) {
        ++exchanges[found->second].attempts;
        continue;
      }
      Exchange e;
      e.number = number;
      e.node = p.value("node", event.node);
      e.role = p.value("role", "");
      e.temperature = p.value("temperature", 0.0);
      e.provider = p.value("provider", "");
      for (const Json& m : p.value("messages", Json::array()))
        e.messages.emplace_back(m.value("role", ""), m.value("text", ""));
      by_number[number] = exchanges.size();
      exchanges.push_back(std::move(e));
      continue;
    }
    const auto found = by_number.find(number);
    if (found == by_number.end()) continue;
    Exchange& e = exchanges[found->second];
    if (event.kind == EventKind::kNote) {
      e.notes.push_back(p.value("text", ""));
      continue;
    }
    if (p.contains("error")) {
      e.error = p["error"].value("message", "");
      continue;
    }
    e.error.clear();
    e.reply = p.value("text", "");
    e.finish = p.value("finish", "");
    e.provider = p.value("provider", e.provider);
    e.model = p.value("model", "");
    e.input_tokens = p.value("input_tokens", int64_t{0});
    e.output_tokens = p.value("output_tokens", int64_t{0});
    e.estimated = p.value("estimated", false);
    e.cost_usd = p.value("cost_usd", 0.0);
    e.cost_known = p.value("cost_known", e.provider != "mailbox");
    e.seconds = p.value("seconds", 0.0);
  }
  return exchanges;
}

std::vector<CostShare> SharesByRole(const std::vector<Exchange>& exchanges) {
  std::vector<CostShare> shares;
  for (const Exchange& e : exchanges) {
    auto found = std::find_if(shares.begin(), shares.end(), [&](const CostShare& s) { return s.role == e.role; });
    if (found == shares.end()) {
      shares.emplace_back();
      found = std::prev(shares.end());
      found->role = e.role;
    }
    ++found->requests;
    found->input_tokens += e.input_tokens;
    found->output_tokens += e.output_tokens;
    found->cost_usd += e.cost_usd;
    found->unpriced += !e.cost_known;
    found->seconds += e.seconds;
  }
  std::stable_sort(shares.begin(), shares.end(), [](const CostShare& a, const CostShare& b) {
    return a.cost_usd != b.cost_usd ? a.cost_usd > b.cost_usd
                                    : a.input_tokens + a.output_tokens > b.input_tokens + b.output_tokens;
  });
  return shares;
}

}  // namespace hone
