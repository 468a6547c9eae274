// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/log/events.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/json_numbers.h"
#include "base/text/json_text.h"
#include "tuner/run/log/run_options.h"
#include "tuner/store/device_facts.h"

namespace hone {
namespace {

using Json = nlohmann::json;

// --- writing ---

Json BindingJson(const Binding& binding) {
  Json json = Json::object();
  for (const auto& [name, value] : binding) json[name] = value;
  return json;
}

Json TurnJson(const Turn& turn) {
  Json json = {{"role", turn.role},       {"prompt", turn.prompt}, {"temperature", turn.temperature},
               {"profile", turn.profile}, {"ledger", turn.ledger}, {"shown", turn.shown}};
  if (turn.bound) json["bound"] = true;
  return json;
}

// Returns an event without its time and texts.
EventDraft DraftEvent(EventKind kind, int64_t node, const Json& payload, const Evaluation* evaluation = nullptr) {
  EventDraft draft;
  draft.kind = kind;
  draft.node = node;
  // DumpJson also writes texts with invalid UTF-8, which a model's reply may contain.
  draft.payload = DumpJson(payload);
  if (evaluation != nullptr) draft.evaluation = EvaluationToJson(*evaluation, -1);
  return draft;
}

EventDraft Encode(const RunStarted& e) {
  Json prompts = Json::object();
  for (const auto& [name, text] : e.prompts) prompts[name] = text.hex();
  Json payload = {{"version", e.version},
                  {"options", RunOptionsToJson(e.options)},
                  {"task", e.task},
                  {"class", e.workload},
                  {"task_toml", e.task_toml.hex()},
                  {"oracle", e.oracle.hex()},
                  {"seed", e.seed.hex()},
                  {"start", e.from_module ? "module" : e.from_oracle ? "oracle" : "seed"},
                  {"device", e.device},
                  {"device_name", e.device_name},
                  {"modelled", e.modelled},
                  {"bindings", e.bindings},
                  {"prompts", prompts}};
  if (e.start_uses_cute) payload["start_uses_cute"] = true;
  if (e.facts) payload["facts"] = DeviceFactsToJson(*e.facts);
  if (!e.baseline.empty()) payload["baseline"] = e.baseline.hex();
  if (!e.broken_start.empty()) payload["broken_start"] = e.broken_start.hex();
  for (const RememberedIdea& m : e.memory) {
    payload["memory"].push_back({{"run", m.run}, {"task", m.task}, {"class", m.workload}, {"device", m.device}, {"idea", m.idea}, {"limiter", m.limiter},
                                 {"gain", m.gain}, {"low", m.low}, {"high", m.high}, {"bytes", m.bytes}, {"diff", m.diff}});
  }
  return DraftEvent(EventKind::kStarted, 0, payload);
}

EventDraft Encode(const AttemptOpened& e) {
  Json turns = Json::array();
  for (const Turn& turn : e.turns) turns.push_back(TurnJson(turn));
  return DraftEvent(EventKind::kChoice, e.node,
               {{"action", "attempt"},
                {"parent", e.parent},
                {"purpose", e.purpose},
                {"incumbent", e.incumbent},
                {"known", e.known},
                {"note", e.note},
                {"turns", turns}});
}
EventDraft Encode(const SweepOpened& e) {
  return DraftEvent(EventKind::kChoice, e.node,
               {{"action", "sweep"}, {"parent", e.parent}, {"incumbent", e.incumbent}, {"known", e.known}});
}
EventDraft Encode(const CasesAsked& e) {
  return DraftEvent(EventKind::kChoice, 0, {{"action", "cases"}, {"turn", TurnJson(e.turn)}});
}
EventDraft Encode(const FinalBegun& e) { return DraftEvent(EventKind::kChoice, e.node, {{"action", "final"}}); }
EventDraft Encode(const OtherChoice&) { return DraftEvent(EventKind::kChoice, -1, Json::object()); }

EventDraft Encode(const RequestAsked& e) {
  Json messages = Json::array();
  for (const StoredMessage& m : e.messages) messages.push_back({{"role", m.role}, {"text", m.text.hex()}});
  Json payload = {{"number", e.number},
                  {"attempt", e.attempt},
                  {"node", e.node},
                  {"turn", e.turn},
                  {"repair", e.repair},
                  {"parent", e.parent},
                  {"role", e.role},
                  {"prompt", e.prompt},
                  {"prompt_text", e.prompt_text.hex()},
                  {"temperature", e.temperature},
                  {"max_tokens", e.max_tokens},
                  {"provider", e.provider},
                  {"messages", messages}};
  if (e.hint) {
    payload["hint"] = {{"hint", e.hint->hint}};
    if (!e.hint->finding.empty()) {
      payload["hint"].update({{"finding", e.hint->finding},
                              {"kernel", e.hint->kernel},
                              {"location", e.hint->location},
                              {"gain", e.hint->gain}});
    }
  }
  return DraftEvent(EventKind::kRequest, e.node, payload);
}

EventDraft Encode(const ReplyArrived& e) {  // the node follows from the request's number
  const StoredReply& r = e.reply;
  return DraftEvent(EventKind::kReply, -1,
               {{"number", r.number},
                {"text", r.text.hex()},
                {"finish", FinishReasonName(r.finish)},
                {"input_tokens", r.usage.input},
                {"output_tokens", r.usage.output},
                {"estimated", r.usage.estimated},
                {"cost_usd", r.cost_usd},
                {"cost_known", r.cost_known},
                {"provider", r.provider},
                {"model", r.model},
                {"seconds", r.seconds}});
}
EventDraft Encode(const RequestFailed& e) {
  return DraftEvent(EventKind::kReply, -1,
                    {{"number", e.number}, {"error", {{"code", e.code}, {"message", e.message}}}});
}

EventDraft Encode(const MemoMade& e) {
  const Memo& m = e.memo;
  Json payload = {{"turn", m.turn}, {"request", m.request}, {"reply", m.reply.hex()}, {"kind", m.kind}};
  // Writes a text, unless it is empty.
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) payload[key] = text;
  };
  put("idea", m.idea);
  put("text", m.text);
  put("problem", m.problem);
  put("detail", m.detail);
  if (m.kind == "plan") payload["regions"] = m.regions;
  if (!m.spans.empty()) {
    payload["spans"] = Json::array();
    for (const PlanSpan& s : m.spans) {
      payload["spans"].push_back({{"region", s.region}, {"first", s.first}, {"last", s.last}, {"whole", s.whole}});
    }
  }
  if (m.kind == "cases") {
    payload["cases"] = Json::array();
    for (const ProposedCase& c : e.cases) {
      Json proposed = {{"dims", c.dims}, {"reason", c.reason}};
      if (!c.values.empty()) proposed["values"] = c.values;
      payload["cases"].push_back(std::move(proposed));
    }
  }
  return DraftEvent(EventKind::kMemo, m.node, payload);
}

EventDraft Encode(const NodeProposed& e) {
  Json payload = Json::object();
  const auto put = [&](const char* key, const std::string& text) {
    if (!text.empty()) payload[key] = text;
  };
  if (e.parent >= 0) payload["parent"] = e.parent;
  if (e.origin != "reply") payload["origin"] = e.origin;
  if (e.request >= 0) payload["request"] = e.request;
  if (e.idea) payload["idea"] = *e.idea;
  put("idea_key", e.idea_key);
  put("reasoning", e.reasoning);
  put("form", e.form);
  if (!e.widened.empty()) payload["widened"] = e.widened;
  if (!e.predicted_us.empty()) payload["predicted_us"] = e.predicted_us;
  put("problem", e.problem);
  put("detail", e.detail);
  if (e.exhausted) payload["exhausted"] = true;
  if (!e.source.empty()) {
    payload["source"] = e.source.hex();
    payload["bindings"] = e.bindings;
  }
  return DraftEvent(EventKind::kProposal, e.node, payload);
}

EventDraft Encode(const CaseVetted& e) {
  return DraftEvent(EventKind::kVetting, 0, {{"case", e.index}, {"accepted", e.accepted}, {"detail", e.detail}},
               e.evaluation ? &*e.evaluation : nullptr);
}
EventDraft Encode(const SweepPointJudged& e) {
  return DraftEvent(EventKind::kSweepPoint, e.point.node,
               {{"binding", BindingJson(e.point.binding)}, {"incumbent", e.point.incumbent}}, &e.point.evaluation);
}
EventDraft Encode(const NodeJudged& e) {
  return DraftEvent(EventKind::kEvaluation, e.node, {{"incumbent", e.incumbent}}, &e.evaluation);
}
EventDraft Encode(const NodeProfiled& e) {
  return DraftEvent(EventKind::kProfile, e.node, Json::object(), &e.evaluation);
}
EventDraft Encode(const FinalJudged& e) { return DraftEvent(EventKind::kFinal, e.node, Json::object(), &e.evaluation); }

EventDraft Encode(const RunResumed& e) {
  Json payload = {{"in_flight", e.in_flight}};
  if (e.no_cute_from >= 0) payload["no_cute_from"] = e.no_cute_from;
  return DraftEvent(EventKind::kResumed, -1, payload);
}
EventDraft Encode(const NoteTaken& e) {
  return DraftEvent(EventKind::kNote, e.remark.node, {{"number", e.remark.request}, {"text", e.remark.text}});
}
EventDraft Encode(const SittingEnded& e) { return DraftEvent(EventKind::kEnded, -1, {{"reason", e.reason}}); }

// --- reading; a damaged payload throws nlohmann's exceptions, which DecodeEvent turns into a Status ---

// HashAt reads a hash that must be there; HashOr reads one that may be missing, and is then empty.
SourceHash HashAt(const Json& payload, const char* key) { return SourceHash(payload.at(key).get<std::string>()); }
SourceHash HashOr(const Json& payload, const char* key) { return SourceHash(payload.value(key, "")); }

// Reads the evaluation that an event of this kind must hold.
Result<Evaluation> EvaluationOf(const Event& event) {
  if (event.evaluation.empty()) {
    return Status::Internal(
        fmt::format("event {} ({}) carries no evaluation", event.sequence, EventKindName(event.kind)));
  }
  Result<Evaluation> evaluation = EvaluationFromJson(event.evaluation);
  if (!evaluation.ok()) return evaluation.status().WithContext(fmt::format("evaluation of event {}", event.sequence));
  return evaluation;
}

// Reads a turn. Absent fields, here and below, have the values that older versions meant without writing them.
Turn ReadTurn(const Json& json) {
  Turn turn;
  turn.role = json.at("role");
  turn.prompt = json.value("prompt", "");
  turn.temperature = json.value("temperature", 0.7);
  turn.profile = json.value("profile", true);
  turn.ledger = json.value("ledger", true);
  turn.shown = json.value("shown", std::vector<int64_t>{});
  turn.bound = json.value("bound", false);
  return turn;
}

Result<RunEvent> ReadStarted(const Json& payload) {
  RunStarted e;
  e.version = static_cast<int>(payload.value("version", int64_t{1}));
  if (e.version > kRunVersion) {
    return Status::InvalidArgument(fmt::format(
        "the run was recorded by a newer Hone (log version {}, this one reads up to {})", e.version, kRunVersion));
  }
  HONE_ASSIGN_OR_RETURN(e.options, RunOptionsFromJson(payload.at("options")));
  e.task = payload.value("task", "");
  e.workload = payload.value("class", "other");
  e.task_toml = HashAt(payload, "task_toml");
  e.oracle = HashAt(payload, "oracle");
  e.seed = HashAt(payload, "seed");
  e.baseline = HashOr(payload, "baseline");
  e.broken_start = HashOr(payload, "broken_start");
  e.from_module = payload.value("start", "seed") == "module";
  e.from_oracle = e.from_module || payload.value("start", "seed") == "oracle";
  e.start_uses_cute = payload.value("start_uses_cute", false);
  e.device = payload.value("device", "");
  e.device_name = payload.value("device_name", "");
  e.modelled = payload.value("modelled", false);
  e.bindings = payload.value("bindings", int64_t{1});
  if (const auto prompts = payload.find("prompts"); prompts != payload.end()) {
    for (const auto& [name, text] : prompts->items()) e.prompts[name] = SourceHash(text.get<std::string>());
  }
  if (const auto memory = payload.find("memory"); memory != payload.end()) {
    for (const Json& m : *memory) {
      e.memory.push_back({m.value("run", ""), m.value("task", ""), m.value("class", ""), m.value("device", ""), m.value("idea", ""),
                          m.value("limiter", ""), m.value("gain", 1.0), m.value("low", 1.0), m.value("high", 1.0), m.value("bytes", 0.0),
                          m.value("diff", "")});
    }
  }
  if (const auto facts = payload.find("facts"); facts != payload.end()) {
    DeviceFacts defaults;
    defaults.id = defaults.name = e.device;
    defaults.modelled = e.modelled;
    e.facts = DeviceFactsFromJson(*facts, defaults);
  }
  return RunEvent(std::move(e));
}

// Reads the strategy's decision. An action that this version does not know has no effect.
RunEvent ReadChoice(const Event& event, const Json& payload, int version) {
  if (version < 2) return OtherChoice{};
  const std::string action = payload.value("action", "");
  if (action == "cases") return CasesAsked{ReadTurn(payload.at("turn"))};
  if (action == "final") return FinalBegun{event.node};
  if (action == "sweep") {
    return SweepOpened{event.node, payload.at("parent"), payload.at("incumbent"), payload.value("known", int64_t{0})};
  }
  if (action != "attempt") return OtherChoice{};
  AttemptOpened e;
  e.node = event.node;
  e.parent = payload.at("parent");
  e.incumbent = payload.at("incumbent");
  e.known = payload.value("known", int64_t{0});
  e.purpose = payload.value("purpose", "optimise");
  e.note = payload.value("note", "");
  for (const Json& turn : payload.at("turns")) e.turns.push_back(ReadTurn(turn));
  return e;
}

RunEvent ReadRequest(const Json& payload) {
  RequestAsked e;
  e.number = payload.at("number");
  e.attempt = payload.value("attempt", int64_t{1});
  e.node = payload.value("node", int64_t{-1});
  e.turn = static_cast<int>(payload.value("turn", int64_t{0}));
  e.repair = payload.value("repair", false);
  e.parent = payload.at("parent");
  e.role = payload.value("role", "");
  e.prompt = payload.value("prompt", "");
  e.prompt_text = HashOr(payload, "prompt_text");
  e.temperature = payload.value("temperature", 0.0);
  e.max_tokens = payload.value("max_tokens", int64_t{0});
  e.provider = payload.value("provider", "");
  for (const Json& message : payload.at("messages"))
    e.messages.push_back({message.at("role"), HashAt(message, "text")});
  if (const auto hint = payload.find("hint"); hint != payload.end()) {
    e.hint = GivenHint{hint->at("hint"), hint->value("finding", ""), hint->value("kernel", ""),
                       hint->value("location", ""), hint->value("gain", 0.0)};
  }
  return e;
}

RunEvent ReadReplyEvent(const Json& payload) {
  const int64_t number = payload.at("number");
  if (const auto error = payload.find("error"); error != payload.end()) {
    return RequestFailed{number, error->value("code", ""), error->at("message")};
  }
  StoredReply r;
  r.number = number;
  r.text = HashAt(payload, "text");
  r.finish = FinishReasonFromName(payload.value("finish", "stop")).value_or(FinishReason::kStop);
  r.usage.input = payload.value("input_tokens", int64_t{0});
  r.usage.output = payload.value("output_tokens", int64_t{0});
  r.usage.estimated = payload.value("estimated", false);
  r.cost_usd = payload.value("cost_usd", 0.0);
  r.provider = payload.value("provider", "");
  // Older logs lack this field: in them only the cost of a mailbox's answer is unknown.
  r.cost_known = payload.value("cost_known", r.provider != "mailbox");
  r.model = payload.value("model", "");
  r.seconds = payload.value("seconds", 0.0);
  return ReplyArrived{std::move(r)};
}

RunEvent ReadMemo(const Event& event, const Json& payload) {
  MemoMade e;
  Memo& m = e.memo;
  m.node = event.node;
  m.turn = static_cast<int>(payload.value("turn", int64_t{0}));
  m.request = payload.at("request");
  m.kind = payload.at("kind");
  m.idea = payload.value("idea", "");
  m.text = payload.value("text", "");
  m.regions = payload.value("regions", std::vector<std::string>{});
  if (const auto spans = payload.find("spans"); spans != payload.end()) {
    for (const Json& s : *spans) {
      m.spans.push_back({s.at("region"), s.at("first"), s.at("last"), s.value("whole", false)});
    }
  }
  m.problem = payload.value("problem", "");
  m.detail = payload.value("detail", "");
  m.reply = HashOr(payload, "reply");
  if (m.kind == "cases") {
    for (const Json& c : payload.at("cases")) {
      ProposedCase proposed;
      c.at("dims").get_to(proposed.dims);
      proposed.reason = c.value("reason", "");
      proposed.values = c.value("values", std::map<std::string, std::string>{});
      e.cases.push_back(std::move(proposed));
    }
  }
  return e;
}

RunEvent ReadProposal(const Event& event, const Json& payload) {
  NodeProposed e;
  e.node = event.node;
  e.request = payload.value("request", int64_t{-1});
  e.parent = payload.value("parent", int64_t{-1});
  e.origin = payload.value("origin", "reply");
  if (payload.contains("idea")) e.idea = payload.at("idea").get<std::string>();
  e.idea_key = payload.value("idea_key", "");
  e.reasoning = payload.value("reasoning", "");
  e.form = payload.value("form", "");
  e.bindings = payload.value("bindings", int64_t{1});
  e.widened = payload.value("widened", std::vector<std::string>{});
  e.predicted_us = payload.value("predicted_us", std::vector<double>{});
  e.problem = payload.value("problem", "");
  e.detail = payload.value("detail", "");
  e.exhausted = payload.value("exhausted", false);
  if (!e.exhausted && e.problem.empty()) e.source = HashAt(payload, "source");
  return e;
}

Binding ReadBinding(const Json& json) {
  Binding binding;
  if (json.is_object()) {
    for (const auto& [name, value] : json.items()) binding[name] = value.get<int64_t>();
  }
  return binding;
}

// Reads an event of any kind. Throws nlohmann's exceptions for a damaged payload.
Result<RunEvent> ReadPayload(const Event& event, const Json& payload, int version) {
  switch (event.kind) {
    case EventKind::kStarted:
      return ReadStarted(payload);
    case EventKind::kChoice:
      return ReadChoice(event, payload, version);
    case EventKind::kRequest:
      return ReadRequest(payload);
    case EventKind::kReply:
      return ReadReplyEvent(payload);
    case EventKind::kMemo:
      return ReadMemo(event, payload);
    case EventKind::kProposal:
      return ReadProposal(event, payload);
    case EventKind::kVetting: {
      CaseVetted e{payload.at("case"), payload.at("accepted"), payload.value("detail", ""), std::nullopt};
      if (!event.evaluation.empty()) {
        HONE_ASSIGN_OR_RETURN(e.evaluation, EvaluationOf(event));
      }
      return RunEvent(std::move(e));
    }
    case EventKind::kSweepPoint: {
      HONE_ASSIGN_OR_RETURN(Evaluation evaluation, EvaluationOf(event));
      return RunEvent(SweepPointJudged{{event.node, ReadBinding(payload.at("binding")), std::move(evaluation),
                                        payload.value("incumbent", int64_t{-1})}});
    }
    case EventKind::kEvaluation: {
      HONE_ASSIGN_OR_RETURN(Evaluation evaluation, EvaluationOf(event));
      return RunEvent(NodeJudged{event.node, payload.at("incumbent"), std::move(evaluation)});
    }
    case EventKind::kProfile: {
      HONE_ASSIGN_OR_RETURN(Evaluation evaluation, EvaluationOf(event));
      return RunEvent(NodeProfiled{event.node, std::move(evaluation)});
    }
    case EventKind::kFinal: {
      HONE_ASSIGN_OR_RETURN(Evaluation evaluation, EvaluationOf(event));
      return RunEvent(FinalJudged{event.node, std::move(evaluation)});
    }
    case EventKind::kResumed:
      return RunEvent(
          RunResumed{payload.value("in_flight", std::vector<int64_t>{}), payload.value("no_cute_from", int64_t{-1})});
    case EventKind::kNote:
      return RunEvent(NoteTaken{{event.node, payload.value("number", int64_t{-1}), payload.value("text", "")}});
    case EventKind::kEnded:
      return RunEvent(SittingEnded{payload.value("reason", "ended")});
  }
  return Status::Internal("an event of an unknown kind");
}

}  // namespace

EventDraft EncodeEvent(const RunEvent& event) {
  return std::visit([](const auto& e) { return Encode(e); }, event);
}

Result<RunEvent> DecodeEvent(const Event& event, int version) {
  const Json payload = ReadJsonText(event.payload);
  if (!payload.is_object()) {
    return Status::Internal(fmt::format("payload of event {} is no JSON object", event.sequence));
  }
  // Some fields are integers of 64 bits; no field holds a larger number.
  if (HoldsFloatFrom(payload, 0x1p63)) {
    return Status::Internal(fmt::format("payload of event {} has a number that no field can hold", event.sequence));
  }
  try {
    return ReadPayload(event, payload, version);
  } catch (const Json::exception& error) {
    return Status::Internal(error.what());
  }
}

}  // namespace hone
