// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/conversation.h"

#include <fmt/format.h>

#include "base/text/markup.h"
#include "tuner/run/log/cost_text.h"

namespace hone {

bool BelongsTo(const Exchange& exchange, const RunNode& node) {
  return exchange.node >= 0 ? exchange.node == node.id : node.request >= 0 && exchange.number == node.request;
}

Result<std::string> ConversationHtml(RunStore& store, const RunView& view, const RunNode& node) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Event> events, store.Events(view.info.id));
  std::string out;
  for (const Exchange& e : ReadExchanges(events)) {
    if (!BelongsTo(e, node)) continue;
    out += fmt::format("<h3>Request {}{}{}</h3>\n", e.number, e.role.empty() ? "" : ": the " + EscapeMarkup(e.role),
                       e.number % 2 == 1 ? ", a repair" : "");
    for (const auto& [role, hash] : e.messages) {
      HONE_ASSIGN_OR_RETURN(const std::string text, store.Source(hash));
      out += fmt::format("<details><summary>{}, {} characters</summary><pre class=text tabindex=0>{}</pre></details>\n",
                         EscapeMarkup(role), text.size(), EscapeMarkup(text));
    }
    for (const std::string& note : e.notes) out += "<p class=soft>" + EscapeMarkup(note) + "</p>\n";
    if (!e.reply.empty()) {
      HONE_ASSIGN_OR_RETURN(const std::string reply, store.Source(e.reply));
      const std::string model = e.model.empty() || e.model == e.provider ? e.provider : e.provider + " " + e.model;
      out += fmt::format(
          "<details open><summary>reply of {}: {} tokens in, {} out{}, {}, {:.1f} s</summary><pre class=text "
          "tabindex=0>{}</pre></details>\n",
          EscapeMarkup(model), e.input_tokens, e.output_tokens, e.estimated ? " (estimated)" : "",
          EscapeMarkup(CostText(e.cost_usd, e.cost_known ? 0 : 1)), e.seconds, EscapeMarkup(reply));
    } else {
      out += fmt::format("<p>{}</p>\n",
                         e.error.empty() ? "No reply has come yet." : "No reply came: " + EscapeMarkup(e.error));
    }
  }
  return out.empty() ? "<p class=soft>No model was asked for this node.</p>\n" : out;
}

}  // namespace hone
