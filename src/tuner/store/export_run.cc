// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a run as a text file of JSON lines, to archive, send, or replay without a store.
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "base/numbers/hash.h"
#include "base/text/json_numbers.h"
#include "base/text/json_text.h"
#include "base/text/utf8.h"
#include "hone/tuner/run_store.h"

namespace hone {
namespace {

using Json = nlohmann::json;

constexpr int kExportVersion = 1;

// Adds every string of 64 hexadecimal digits in a payload to `hashes`: each may be the hash of a source.
void CollectHashes(const Json& json, std::set<std::string>& hashes) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    if (text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos) hashes.insert(text);
  } else if (json.is_structured()) {
    for (const Json& item : json) CollectHashes(item, hashes);
  }
}

// Returns the line for one source. A source that is not UTF-8 (a model's reply, say) is written as hexadecimal bytes,
// because JSON is UTF-8.
Json SourceLine(const std::string& hash, const std::string& text) {
  if (CheckUtf8(text, hash).ok()) return {{"source", hash}, {"text", text}};
  std::string hex;
  hex.reserve(2 * text.size());
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return {{"source", hash}, {"hex", hex}};
}

// Returns the text in a line of SourceLine.
std::string SourceText(const Json& json) {
  if (json.contains("text")) return json.at("text").get<std::string>();
  const std::string hex = json.at("hex").get<std::string>();
  std::string text;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    text += static_cast<char>(std::strtol(hex.substr(i, 2).c_str(), nullptr, 16));
  }
  return text;
}

std::string JsonLine(const Json& json) { return DumpJson(json) + "\n"; }

}  // namespace

Result<std::string> ExportRun(RunStore& store, const std::string& run) {
  HONE_ASSIGN_OR_RETURN(RunInfo info, store.FindRun(run));
  HONE_ASSIGN_OR_RETURN(std::vector<Event> events, store.Events(info.id));
  std::string out = JsonLine({{"format", "hone-run"},
                          {"version", kExportVersion},
                          {"id", info.id},
                          {"task", info.task},
                          {"device", info.device},
                          {"modelled", info.modelled},
                          {"strategy", info.strategy},
                          {"model", info.model},
                          {"started", info.started}});
  std::set<std::string> hashes;
  std::string lines;
  for (const Event& event : events) {
    const Json payload = ReadJsonText(event.payload);
    CollectHashes(payload, hashes);
    Json line = {{"event", EventKindName(event.kind)},
                 {"sequence", event.sequence},
                 {"time", event.time},
                 {"node", event.node},
                 {"payload", payload}};
    if (!event.evaluation.empty()) line["evaluation"] = ReadJsonText(event.evaluation);
    lines += JsonLine(line);
  }
  for (const std::string& hash : hashes) {
    Result<std::string> text = store.Source(SourceHash(hash));
    // A string of 64 digits need not be the hash of a stored source; others are left out.
    if (text.ok())
      out += JsonLine(SourceLine(hash, *text));
    else if (text.status().code() != StatusCode::kNotFound)
      return text.status();
  }
  return out + lines;
}

Result<std::string> ImportRun(RunStore& store, std::string_view text) {
  int number = 0;
  std::string id;
  while (!text.empty()) {
    ++number;
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    try {
      // The message leaves out the JSON parser's text, which would quote the line up to the error, possibly a whole
      // kernel.
      const Json json = ReadJsonText(line);
      if (json.is_discarded()) {
        if (id.empty()) return Status::InvalidArgument(fmt::format("line {}: not an exported run; `hone show RUN --export FILE.jsonl` writes one", number));
        return Status::InvalidArgument(fmt::format(
            "line {} is no whole JSON object: the file was cut off or changed; export the run again", number));
      }
      if (HoldsFloatFrom(json.contains("node") ? json.at("node") : Json(), 0x1p63) ||
          HoldsFloatFrom(json.contains("version") ? json.at("version") : Json(), 0x1p63)) {
        return Status::InvalidArgument(fmt::format("line {}: a number is larger than its field can hold: export the run again", number));
      }
      if (number == 1) {
        if (json.value("format", "") != "hone-run") return Status::InvalidArgument("line 1: not an exported run; `hone show RUN --export FILE.jsonl` writes one");
        if (json.value("version", int64_t{0}) > kExportVersion) {
          return Status::InvalidArgument(
              fmt::format("line 1: exported by a newer Hone (version {})", json.value("version", int64_t{0})));
        }
        RunInfo info;
        info.id = json.at("id");
        info.task = json.at("task");
        info.device = json.value("device", "");
        info.modelled = json.value("modelled", false);
        info.strategy = json.value("strategy", "");
        info.model = json.value("model", "");
        info.started = json.value("started", 0.0);
        HONE_RETURN_IF_ERROR(store.CreateRun(info));
        id = info.id;
      } else if (json.contains("source")) {
        HONE_ASSIGN_OR_RETURN(const SourceHash hash, store.PutSource(SourceText(json)));
        if (hash.hex() != json.at("source").get<std::string>()) {
          return Status::InvalidArgument(fmt::format("line {}: the text is not what its SHA-256 says", number));
        }
      } else {
        EventDraft draft;
        std::optional<EventKind> kind = EventKindFromName(json.at("event").get<std::string>());
        if (!kind) {
          return Status::InvalidArgument(
              fmt::format("line {}: unknown event '{}'", number, json.at("event").get<std::string>()));
        }
        draft.kind = *kind;
        draft.time = json.at("time");
        draft.node = json.at("node");
        draft.payload = DumpJson(json.at("payload"));
        if (json.contains("evaluation")) draft.evaluation = DumpJson(json.at("evaluation"));
        HONE_RETURN_IF_ERROR(store.Append(id, draft).status());
      }
    } catch (const Json::exception& error) {
      return Status::InvalidArgument(fmt::format("line {}: {}", number, error.what()));
    }
  }
  if (id.empty()) return Status::InvalidArgument("the file is empty: not an exported run; `hone show RUN --export FILE.jsonl` writes one");
  return id;
}

}  // namespace hone
