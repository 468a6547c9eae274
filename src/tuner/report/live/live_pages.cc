// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/live/live_pages.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/text/markup.h"
#include "hone/tuner/strategy.h"
#include "tuner/report/conversation.h"
#include "tuner/report/evaluation_tables.h"
#include "tuner/report/highlight.h"
#include "tuner/report/html.h"
#include "tuner/report/page.h"
#include "tuner/report/run_text.h"
#include "tuner/report/side_by_side.h"
#include "tuner/report/terminal_rows.h"

extern "C" {
extern const unsigned char hone_live_js[];
extern const unsigned long hone_live_js_size;
}

namespace hone {
namespace {

// The number of pages that are cached: enough for two people who look at a hundred nodes each.
constexpr size_t kMostKept = 200;

// Returns the number of the run's node that a parameter names; nullopt: there is no such node.
std::optional<int64_t> NodeNumber(const RunView& view, std::string_view text) {
  int64_t id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0 ||
      id >= static_cast<int64_t>(view.nodes.size())) {
    return std::nullopt;
  }
  return id;
}

Status NoSuchNode(const RunView& view, const std::string& text) {
  return Status::NotFound(fmt::format("There is no node '{}': {} so far.", text, NodesText(view)));
}

std::string NodeName(const RunView& view, const RunNode& node) {
  return fmt::format("node {}: {}", node.id, node.id == 0 ? StartName(view) : ClippedLine(node.idea, 80));
}

std::string CompareLink(int64_t a, int64_t b, const char* kind, const std::string& text) {
  return fmt::format("<a class={} href='/compare?a={}&amp;b={}'>{}</a>", kind, a, b, text);
}

bool HasSource(const RunView& view, int64_t node) { return node >= 0 && !view.node(node).source_hash.empty(); }

// Returns the line of links in a node's block.
std::string LinksOfNode(const RunView& view, const RunNode& node) {
  std::string out = fmt::format("<p><a class=whole href='/node/{}'>conversation and source</a>", node.id);
  if (HasSource(view, node.id) && HasSource(view, node.parent))
    out += " · " + CompareLink(node.parent, node.id, "compare", fmt::format("side by side with node {}", node.parent));
  if (HasSource(view, node.id) && node.id != view.best && view.best != node.parent)
    out += " · " + CompareLink(node.id, view.best, "with-best", fmt::format("with the best, node {}", view.best));
  return out + "</p>\n";
}

// Returns the page of one node: its conversation and its source.
Result<std::string> NodePage(RunStore& store, const RunView& view, int64_t id) {
  const RunNode& node = view.node(id);
  std::string body = fmt::format("<p><a href='/#node-{}'>The report</a>", id);
  if (id > 0) body += fmt::format(" · <a href='/node/{0}'>node {0}</a>", id - 1);
  if (id + 1 < static_cast<int64_t>(view.nodes.size()))
    body += fmt::format(" · <a href='/node/{0}'>node {0}</a>", id + 1);
  body += fmt::format("</p>\n<h1>Node {}: {}</h1>\n", id, EscapeMarkup(id == 0 ? StartName(view) : node.idea));
  body += fmt::format("<p>{}{}</p>\n",
                      EscapeMarkup(node.state == NodeState::kUnusable ? node.problem
                                   : node.evaluation ? std::string(VerdictName(node.evaluation->verdict))
                                                     : "Its verdict is not there yet."),
                      node.speedup ? fmt::format("; {:.3f}× over {}{}, an estimate", *node.speedup,
                                                 EscapeMarkup(StartName(view)), view.info.modelled ? ", modelled" : "")
                                   : "");
  body += NodeFacts(view, node);
  if (node.evaluation) {
    body += ShapeTable(*node.evaluation,
                       id == 0 ? StartName(view) : fmt::format("node {}", std::max<int64_t>(node.incumbent, 0)));
    body += FindingsAndProfile(*node.evaluation);
  }
  HONE_ASSIGN_OR_RETURN(const std::string conversation, ConversationHtml(store, view, node));
  body += "<h2 id=conversation>Conversation</h2>\n" + conversation;
  if (HasSource(view, id)) {
    HONE_ASSIGN_OR_RETURN(const std::string source, store.Source(node.source_hash));
    if (HasSource(view, node.parent)) {
      HONE_ASSIGN_OR_RETURN(const std::string before, store.Source(view.node(node.parent).source_hash));
      body += fmt::format("<h2 id=difference>Difference to node {}</h2>\n<p>{}</p>\n", node.parent,
                          CompareLink(node.parent, id, "compare", "side by side"));
      body += before == source ? "<p class=soft>The sources are equal.</p>\n" : HighlightedDiff(before, source, 3);
    }
    body += "<h2 id=source>Source</h2>\n" + HighlightedSource(source);
  }
  return body;
}

// Returns a form's list from which a node with a source is chosen.
std::string NodeChoice(const RunView& view, const char* name, const char* label, int64_t chosen) {
  std::string out = fmt::format("<label>{} <select name={}>\n", label, name);
  for (const RunNode& n : view.nodes) {
    if (n.source_hash.empty()) continue;
    out += fmt::format("<option value={}{}>{}</option>\n", n.id, n.id == chosen ? " selected" : "",
                       EscapeMarkup(NodeName(view, n)));
  }
  return out + "</select></label>\n";
}

// Returns the page with two nodes' sources side by side. The query's `a` and `b` name them.
Result<std::string> ComparePage(RunStore& store, const RunView& view, const std::map<std::string, std::string>& query) {
  int64_t sides[2] = {0, view.best};
  const char* names[2] = {"a", "b"};
  for (int i = 0; i < 2; ++i) {
    const auto found = query.find(names[i]);
    if (found == query.end()) continue;
    const std::optional<int64_t> id = NodeNumber(view, found->second);
    if (!id) return NoSuchNode(view, found->second);
    sides[i] = *id;
  }
  const bool shows_all = query.contains("all");
  std::string body =
      "<p><a href='/'>The report</a></p>\n<h1>Two versions side by side</h1>\n<form action=/compare method=get>\n";
  body += NodeChoice(view, "a", "left", sides[0]) + NodeChoice(view, "b", "right", sides[1]);
  body += fmt::format(
      "<label><input type=checkbox name=all value=1{}> lines that did not change, "
      "too</label>\n<button>Compare</button></form>\n",
      shows_all ? " checked" : "");
  std::string texts[2];
  for (int i = 0; i < 2; ++i) {
    if (!HasSource(view, sides[i])) return body + fmt::format("<p>Node {} has no source.</p>\n", sides[i]);
    HONE_ASSIGN_OR_RETURN(texts[i], store.Source(view.node(sides[i]).source_hash));
  }
  return body + SideBySide(texts[0], texts[1], NodeName(view, view.node(sides[0])), NodeName(view, view.node(sides[1])),
                           shows_all ? -1 : 4);
}

bool RunHasEnded(const RunInfo& info) { return info.events > 0 && info.state != "open"; }

int HttpStatus(const Status& status) {
  if (status.code() == StatusCode::kNotFound) return 404;
  return status.code() == StatusCode::kInvalidArgument ? 400 : 500;
}

}  // namespace

LivePages::LivePages(std::unique_ptr<RunStore> store, std::string run)
    : store_(std::move(store)), run_(std::move(run)) {}

// Returns the page at `path`. `info`: the run as the store lists it now.
Result<std::string> LivePages::Page(const std::string& path, const std::map<std::string, std::string>& query,
                                    const RunInfo& info) {
  const std::string title = run_ + " – ";
  if (info.events == 0) {
    return HtmlLivePage(title + "Hone",
                        fmt::format("<h1>Run {}</h1>\n<p>The run has no events yet.</p>\n", EscapeMarkup(run_)), 0,
                        false);
  }
  HONE_ASSIGN_OR_RETURN(const RunView view, LoadRun(*store_, run_));
  if (path == "/") {
    HONE_ASSIGN_OR_RETURN(std::string body,
                          HtmlReportBody(*store_, view, [&](const RunNode& n) { return LinksOfNode(view, n); }));
    body += "<p><a href='/compare'>Any two versions side by side</a></p>\n";
    return HtmlLivePage(title + view.info.task, body, info.events, RunHasEnded(info));
  }
  if (path.starts_with("/node/")) {
    const std::string text = path.substr(6);
    const std::optional<int64_t> id = NodeNumber(view, text);
    if (!id) return NoSuchNode(view, text);
    HONE_ASSIGN_OR_RETURN(const std::string body, NodePage(*store_, view, *id));
    return HtmlLivePage(fmt::format("{}node {}", title, *id), body, info.events, RunHasEnded(info));
  }
  if (path == "/compare") {
    HONE_ASSIGN_OR_RETURN(const std::string body, ComparePage(*store_, view, query));
    return HtmlLivePage(title + "side by side", body, info.events, RunHasEnded(info));
  }
  return Status::NotFound(fmt::format("There is no page '{}'; the report is at '/'.", path));
}

PageAnswer LivePages::Get(const std::string& path, const std::map<std::string, std::string>& query) {
  if (path == "/live.js") {
    return {200, "text/javascript; charset=utf-8",
            std::string(reinterpret_cast<const char*>(hone_live_js), hone_live_js_size)};
  }
  const auto failed = [](const Status& status) {
    return PageAnswer{HttpStatus(status), "text/html; charset=utf-8",
                      HtmlPage("Hone", fmt::format("<p>{}</p>\n<p><a href='/'>The report</a></p>\n",
                                                   EscapeMarkup(status.message())))};
  };
  const Result<RunInfo> info = store_->FindRun(run_);
  if (!info.ok()) return failed(info.status());
  if (path == "/version") {
    return {200, "application/json",
            fmt::format("{{\"events\": {}, \"ended\": {}}}\n", info->events, RunHasEnded(*info))};
  }
  if (info->events != kept_events_ || kept_.size() >= kMostKept) kept_.clear();
  kept_events_ = info->events;
  std::string key = path;
  for (const auto& [name, value] : query) key += '\n' + name + '=' + value;
  if (const auto found = kept_.find(key); found != kept_.end()) return {200, "text/html; charset=utf-8", found->second};
  Result<std::string> page = Page(path, query, *info);
  if (!page.ok()) return failed(page.status());
  kept_[key] = *page;
  return {200, "text/html; charset=utf-8", std::move(*page)};
}

}  // namespace hone
