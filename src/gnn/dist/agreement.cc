// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "gnn/dist/agreement.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::gnn {
namespace {

// Parses settings from the text in which ranks exchange them.
std::vector<Setting> Parse(const std::string& text) {
  std::vector<Setting> settings;
  for (size_t at = 0; at < text.size();) {
    const size_t name_end = text.find('\0', at);
    const size_t value_end = name_end == std::string::npos ? name_end : text.find('\0', name_end + 1);
    if (value_end == std::string::npos) break;
    settings.push_back({text.substr(at, name_end - at), text.substr(name_end + 1, value_end - name_end - 1)});
    at = value_end + 1;
  }
  return settings;
}

}  // namespace

Status AgreeOnSettings(Communicator& ranks, const std::vector<Setting>& own_settings) {
  std::string text;
  for (const Setting& setting : own_settings) text += setting.name + '\0' + setting.value + '\0';
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> settings_by_rank,
                        ranks.AllGather("the settings of the run", text));
  const std::vector<Setting> first = Parse(settings_by_rank[0]);
  for (size_t r = 1; r < settings_by_rank.size(); ++r) {
    if (settings_by_rank[r] == settings_by_rank[0]) continue;
    const std::vector<Setting> other = Parse(settings_by_rank[r]);
    const std::string name = ranks.Name(static_cast<int>(r));
    for (size_t s = 0; s < std::min(first.size(), other.size()); ++s) {
      if (first[s].name != other[s].name) break;
      if (first[s].value == other[s].value) continue;
      return Status::InvalidArgument(fmt::format(
          "the ranks were not started alike: {} has {} {}, and {} has {}; start every rank with the same options, "
          "program and graph",
          name, first[s].name, other[s].value, ranks.Name(0), first[s].value));
    }
    return Status::InvalidArgument(
        fmt::format("the ranks were not started alike: {} has other settings than {}; start "
                    "every rank with the same options, program and graph",
                    name, ranks.Name(0)));
  }
  return Status::Ok();
}

Status AgreeOnStatus(Communicator& ranks, std::string_view what, const Status& own_status) {
  const std::string text =
      own_status.ok() ? "" : fmt::format("{}:{}", static_cast<int>(own_status.code()), own_status.message());
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> statuses_by_rank, ranks.AllGather(what, text));
  const auto failed =
      std::find_if(statuses_by_rank.begin(), statuses_by_rank.end(), [](const std::string& t) { return !t.empty(); });
  if (failed == statuses_by_rank.end()) return Status::Ok();
  const size_t colon = failed->find(':');
  const auto code = static_cast<StatusCode>(std::stoi(failed->substr(0, colon)));
  const Status status(code, failed->substr(colon + 1));
  const bool alike =
      std::all_of(statuses_by_rank.begin(), statuses_by_rank.end(), [&](const std::string& t) { return t == *failed; });
  return alike ? status : status.WithContext(ranks.Name(static_cast<int>(failed - statuses_by_rank.begin())));
}

}  // namespace hone::gnn
