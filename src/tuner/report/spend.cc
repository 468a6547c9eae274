// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/spend.h"

#include <algorithm>
#include <map>

#include "tuner/run/log/events.h"

namespace hone {

std::vector<Exchange> ReadExchanges(const std::vector<Event>& events) {
  std::vector<Exchange> exchanges;
  std::map<int64_t, size_t> by_number;
  const auto exchange = [&](int64_t number) {
    const auto found = by_number.find(number);
    return found == by_number.end() ? nullptr : &exchanges[found->second];
  };
  for (const Event& event : events) {
    if (event.kind != EventKind::kRequest && event.kind != EventKind::kReply && event.kind != EventKind::kNote) continue;
    Result<RunEvent> decoded = DecodeEvent(event);
    if (!decoded.ok()) continue;
    if (auto* request = std::get_if<RequestAsked>(&*decoded)) {
      if (Exchange* known_exchange = exchange(request->number)) {
        ++known_exchange->attempts;
        continue;
      }
      Exchange e;
      e.number = request->number;
      e.node = request->node >= 0 ? request->node : event.node;
      e.role = std::move(request->role);
      e.temperature = request->temperature;
      e.provider = std::move(request->provider);
      e.messages = std::move(request->messages);
      by_number[e.number] = exchanges.size();
      exchanges.push_back(std::move(e));
    } else if (const auto* note = std::get_if<NoteTaken>(&*decoded)) {
      if (Exchange* e = exchange(note->remark.request)) e->notes.push_back(note->remark.text);
    } else if (const auto* failed = std::get_if<RequestFailed>(&*decoded)) {
      if (Exchange* e = exchange(failed->number)) e->error = failed->message;
    } else if (const auto* arrived = std::get_if<ReplyArrived>(&*decoded)) {
      Exchange* e = exchange(arrived->reply.number);
      if (e == nullptr) continue;
      const StoredReply& reply = arrived->reply;
      e->error.clear();
      e->reply = reply.text;
      e->finish = FinishReasonName(reply.finish);
      if (!reply.provider.empty()) e->provider = reply.provider;
      e->model = reply.model;
      e->input_tokens = reply.usage.input;
      e->output_tokens = reply.usage.output;
      e->estimated = reply.usage.estimated;
      e->cost_usd = reply.cost_usd;
      e->cost_known = reply.cost_known;
      e->seconds = reply.seconds;
    }
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
