// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tuner/report/html.h"
#include "tuner/report/run_text.h"
#include "tuner/store/cost_text.h"

namespace hone {
namespace {

// A round step that gives three to seven ticks.
double TickStep(double span) {
  const double raw = span / 5;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

std::string Text(double x, double y, const char* anchor, const std::string& text, const char* colour = "var(--soft)") {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' font-size='13' fill='{}'>{}</text>", x, y, anchor,
                     colour, EscapeHtml(text));
}

// The same drawing for a desk and for a hand.
template <typename Draw>
std::string Both(const Draw& draw) {
  return "<div class=wide>" + draw(760.0) + "</div>\n<div class=narrow>" + draw(360.0) + "</div>\n";
}

std::string AttemptDrawing(const RunView& view, double width) {
  const double left = 52, right = width - 10, top = 18, bottom = 220, floor = 246;
  double low = 1.0, high = 1.0;
  bool failed = false;
  for (const RunNode& n : view.nodes) {
    failed = failed || (!n.speedup && n.done());
    if (!n.speedup) continue;
    low = std::min(low, *n.speedup);
    high = std::max(high, *n.speedup);
  }
  // Far slower attempts would flatten what matters.
  low = std::max(low, 0.5);
  const double span = std::max(high - low, 0.1);
  low -= 0.08 * span;
  high += 0.08 * span;
  const size_t count = std::max<size_t>(view.nodes.size(), 2);
  const bool many = view.nodes.size() > 120;
  const auto x = [&](int64_t node) {
    return left + 10 + (right - left - 20) * static_cast<double>(node) / static_cast<double>(count - 1);
  };
  const auto y = [&](double speedup) {
    return bottom - (bottom - top) * (std::clamp(speedup, low, high) - low) / (high - low);
  };
  std::string svg = fmt::format(
      "<svg viewBox='0 0 {:.0f} 290' role=img aria-label='speedup over attempts{}: best {:.2f} times after {} "
      "attempts'>",
      width, view.info.modelled ? ", modelled" : "",
      view.nodes.empty() ? 1.0 : view.node(view.best).speedup.value_or(1.0), view.attempts);
  const double step = TickStep(high - low);
  for (double tick = std::ceil(low / step) * step; tick <= high; tick += step) {
    svg += fmt::format("<path d='M{} {:.1f}H{}' stroke='var(--line)'/>", left, y(tick), right);
    svg += Text(left - 6, y(tick) + 4, "end", fmt::format("{:.3g}×", tick));
  }
  svg += fmt::format("<path d='M{} {:.1f}H{}' stroke='var(--soft)' stroke-dasharray='4 3'/>", left, y(1), right);
  // Numbers of attempts below.
  const double node_step = std::max(1.0, TickStep(static_cast<double>(count)));
  for (double node = 0; node < static_cast<double>(count); node += node_step) {
    svg += Text(x(static_cast<int64_t>(node)), 266, "middle", fmt::format("{:.0f}", node));
  }
  // The best so far.
  std::string path = fmt::format("M{:.1f} {:.1f}", x(0), y(1));
  for (const RunNode& n : view.nodes) {
    if (!n.kept || !n.speedup) continue;
    path += fmt::format("H{:.1f}V{:.1f}", x(n.id), y(*n.speedup));
  }
  path += fmt::format("H{:.1f}", right);
  svg += fmt::format("<path d='{}' fill='none' stroke='var(--accent)' stroke-width='2.5'/>", path);
  for (const RunNode& n : view.nodes) {
    const std::string title = fmt::format("<title>{}</title>", EscapeHtml(NodeLine(view, n)));
    if (n.speedup) {
      svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}' fill='{}' stroke='var(--accent)'>{}</circle>", x(n.id),
                         y(*n.speedup),
                         n.kept || n.id == 0 ? 5
                         : many              ? 2.5
                                             : 4,
                         n.kept || n.id == 0 ? "var(--accent)" : "var(--panel)", title);
    } else if (n.done() && n.problem != "no_more_ideas") {
      const double arm = many ? 2.5 : 4;
      svg += fmt::format("<path class=x d='M{:.1f} {:.1f}l{} {}m0-{}l-{} {}'>{}</path>", x(n.id) - arm, floor - 6 - arm,
                         2 * arm, 2 * arm, 2 * arm, 2 * arm, 2 * arm, title);
    }
  }
  if (failed) svg += Text(left - 6, floor - 2, "end", "failed");
  svg += Text((left + right) / 2, 284, "middle", "attempt");
  return svg + "</svg>";
}

std::string ShapeName(const Dims& dims) { return EscapeHtml(DimsText(dims)); }

}  // namespace

std::string AttemptChart(const RunView& view) {
  return "<figure>" + Both([&](double width) { return AttemptDrawing(view, width); }) +
         fmt::format(
             "<figcaption>Speedup over {}{}, along the chain of kept steps. Filled: kept; the line: best so far; "
             "×: no valid result.</figcaption></figure>\n",
             EscapeHtml(StartName(view)), view.info.modelled ? ", modelled" : "");
}

std::string SpeedupBars(const Evaluation& evaluation, const std::string& start) {
  double high = 1.0;
  bool any = false;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.speedup) continue;
    any = true;
    high = std::max(high, std::max(c.speedup->high, c.speedup->median));
  }
  if (!any) return "";
  high *= 1.02;
  const auto percent = [&](double speedup) { return 100 * speedup / high; };
  std::string out = fmt::format("<figure><div class=bars style='--one:{:.2f}%'>\n", percent(1));
  for (const CaseResult& c : evaluation.cases) {
    if (!c.speedup) continue;
    const bool slower = c.speedup->median < 1;
    const bool interval = !evaluation.modelled && c.speedup->high > c.speedup->low;
    out += fmt::format(
        "<div class=bar><span class=name>{}</span><span class=value>{:.3f}×{}</span><span class=track><span "
        "class='fill{}' "
        "style='width:{:.2f}%'></span>{}</span></div>\n",
        ShapeName(c.dims), c.speedup->median,
        interval ? fmt::format(" <small>{:.3f}–{:.3f}</small>", c.speedup->low, c.speedup->high) : "",
        slower ? " slow" : "", percent(c.speedup->median),
        interval ? fmt::format("<span class=ci style='left:{:.2f}%;width:{:.2f}%'></span>", percent(c.speedup->low),
                               std::max(0.3, percent(c.speedup->high) - percent(c.speedup->low)))
                 : "");
  }
  return out + fmt::format(
                   "</div><figcaption>Speedup over {0}, one bar a shape{1}; the upright line is 1×, {0}.</figcaption></figure>\n",
                   EscapeHtml(start), evaluation.modelled ? ", modelled" : ", with 95 % confidence intervals");
}

std::string TreeChart(const RunView& view) {
  const size_t count = view.nodes.size();
  if (count < 2) return "";
  std::vector<std::vector<int64_t>> children(count);
  for (const RunNode& n : view.nodes) {
    if (n.parent >= 0 && n.parent < n.id) children[static_cast<size_t>(n.parent)].push_back(n.id);
  }
  // Depth first without recursion: a chain of a thousand steps is a tree as well.
  std::vector<double> row(count, 0);
  std::vector<int> depth(count, 0);
  int rows = 0, deepest = 0;
  struct Visit {
    int64_t node;
    size_t next;
  };
  std::vector<Visit> stack{{0, 0}};
  while (!stack.empty()) {
    Visit& top = stack.back();
    const auto node = static_cast<size_t>(top.node);
    if (top.next < children[node].size()) {
      const int64_t child = children[node][top.next++];
      depth[static_cast<size_t>(child)] = depth[node] + 1;
      deepest = std::max(deepest, depth[node] + 1);
      stack.push_back({child, 0});
      continue;
    }
    // A parent stands beside its first child, so that a chain is a straight line.
    row[node] = children[node].empty() ? rows++ : row[static_cast<size_t>(children[node][0])];
    stack.pop_back();
  }
  std::set<int64_t> to_best;
  for (int64_t n = view.best; n >= 0 && n < static_cast<int64_t>(count);) {
    to_best.insert(n);
    n = view.node(n).parent;
  }
  const double column = deepest > 60 ? 14 : 34, line = rows > 100 ? 14 : 22;
  const double width = 24 + column * deepest + 150, height = 20 + line * rows;
  const auto x = [&](size_t n) { return 16 + column * depth[n]; };
  const auto y = [&](size_t n) { return 14 + line * row[n]; };
  std::string svg = fmt::format(
      "<svg viewBox='0 0 {0:.0f} {1:.0f}' width='{0:.0f}' height='{1:.0f}' role=img aria-label='tree of {2} nodes, the "
      "best is node {3}'>",
      width, height, count, view.best);
  for (const bool best : {false, true}) {
    std::string path;
    for (const RunNode& n : view.nodes) {
      if (n.parent < 0 || (to_best.count(n.id) != 0) != best) continue;
      const auto id = static_cast<size_t>(n.id), from = static_cast<size_t>(n.parent);
      path += fmt::format("M{:.0f} {:.0f}V{:.0f}H{:.0f}", x(from), y(from), y(id), x(id));
    }
    if (!path.empty())
      svg += fmt::format("<path d='{}' fill=none stroke='{}' stroke-width='{}'/>", path,
                         best ? "var(--accent)" : "var(--line)", best ? 2.5 : 1.3);
  }
  for (const RunNode& n : view.nodes) {
    const auto id = static_cast<size_t>(n.id);
    svg += fmt::format("<a href='#node-{}'><title>{}</title>", n.id, EscapeHtml(NodeLine(view, n)));
    const bool ok = n.evaluation && n.evaluation->verdict == Verdict::kOk;
    if (ok || n.id == 0) {
      svg += fmt::format("<circle cx='{:.0f}' cy='{:.0f}' r='5' fill='{}' stroke='var(--accent)' stroke-width='1.5'/>",
                         x(id), y(id), n.kept || n.id == 0 ? "var(--accent)" : "var(--panel)");
    } else if (!n.done() || n.problem == "no_more_ideas") {
      svg +=
          fmt::format("<circle cx='{:.0f}' cy='{:.0f}' r='4' fill='var(--panel)' stroke='var(--soft)'/>", x(id), y(id));
    } else {
      svg += fmt::format(
          "<rect x='{0:.0f}' y='{1:.0f}' width='9' height='9' fill='var(--panel)' stroke='none'/><path class=x "
          "d='M{0:.0f} {1:.0f}l8 8m0-8l-8 8'/>",
          x(id) - 4, y(id) - 4);
    }
    // Labels where there is room: at leaves, and at the best.
    if (n.id == view.best || (children[id].empty() && (count <= 300 || n.kept))) {
      // Beside a node with children runs an edge: there the label stands above it.
      const bool above = !children[id].empty();
      svg += fmt::format("<text x='{:.0f}' y='{:.0f}' font-size='12' fill='{}'{}>{}{}</text>", x(id) + (above ? 2 : 10),
                         y(id) + (above ? -7 : 4), n.id == view.best ? "var(--ink)" : "var(--soft)",
                         n.id == view.best ? " font-weight='600'" : "", n.id,
                         n.speedup && n.id != 0 ? fmt::format(" · {:.2f}×", *n.speedup) : "");
    }
    svg += "</a>";
  }
  return "<figure><div class='scroll tree' tabindex=0>" + svg +
         "</svg></div><figcaption>Who came from whom, " +
         EscapeHtml(StartName(view)) +
         " on the left; the thick line leads to the best. Filled: kept; ring: right, not kept; ×: failed.</figcaption></figure>\n";
}

std::string RooflineChart(const std::vector<RooflinePoint>& points, const DeviceFacts& facts, bool modelled) {
  if (points.empty() || facts.memory_bandwidth <= 0) return "";
  const bool flops = std::all_of(points.begin(), points.end(), [](const RooflinePoint& p) { return p.flops > 0; }) &&
                     facts.fp32_flops > 0;
  const char* said = modelled ? ", modelled" : "";
  const auto first = std::find_if(points.begin(), points.end(), [](const RooflinePoint& p) { return p.start; });
  const std::string start = first == points.end() ? "what the run began with" : first->label;
  if (!flops) {
    std::string out = "<figure><div class=bars style='--one:100%'>\n";
    for (const RooflinePoint& p : points) {
      const double share = p.bytes / p.seconds / facts.memory_bandwidth;
      out += fmt::format(
          "<div class=bar><span class=name>{}, {}</span><span class=value>{:.3g} TB/s · {:.0f} %</span><span "
          "class=track><span class='fill{}' style='width:{:.2f}%'></span></span></div>\n",
          EscapeHtml(p.label), ShapeName(p.dims), p.bytes / p.seconds / 1e12, 100 * share,
          p.start ? " seed" : "", std::min(100.0, 100 * share));
    }
    return out + fmt::format(
                     "</div><figcaption>Achieved memory bandwidth{}, as a share of the device's {:.2f} TB/s "
                     "(datasheet). Above 100 %: the shape fits in a cache.</figcaption></figure>\n",
                     said, facts.memory_bandwidth / 1e12);
  }
  const auto draw = [&](double width) {
    const double left = 62, right = width - 14, top = 14, bottom = 250;
    double x_low = 1e300, x_high = 0, y_low = 1e300, y_high = facts.fp32_flops;
    for (const RooflinePoint& p : points) {
      x_low = std::min(x_low, p.flops / p.bytes);
      x_high = std::max(x_high, p.flops / p.bytes);
      y_low = std::min(y_low, p.flops / p.seconds);
      y_high = std::max(y_high, p.flops / p.seconds);
    }
    const bool tensor = y_high > facts.fp32_flops || x_high > 4 * facts.fp32_flops / facts.memory_bandwidth;
    if (tensor && facts.tensor_bf16_flops > 0) y_high = std::max(y_high, facts.tensor_bf16_flops);
    const double ridge = facts.fp32_flops / facts.memory_bandwidth;
    x_low = std::pow(10, std::floor(std::log10(std::min(x_low, ridge)) - 0.15));
    x_high = std::pow(10, std::ceil(std::log10(std::max(x_high, ridge)) + 0.15));
    y_low = std::pow(10, std::floor(std::log10(y_low) - 0.15));
    y_high = std::pow(10, std::ceil(std::log10(y_high)));
    const auto x = [&](double v) { return left + (right - left) * std::log(v / x_low) / std::log(x_high / x_low); };
    const auto y = [&](double v) {
      return bottom - (bottom - top) * std::log(std::clamp(v, y_low, y_high) / y_low) / std::log(y_high / y_low);
    };
    std::string svg = fmt::format("<svg viewBox='0 0 {:.0f} 302' role=img aria-label='roofline{}'>", width, said);
    for (double v = y_low; v <= y_high * 1.01; v *= 10) {
      svg += fmt::format("<path d='M{} {:.1f}H{}' stroke='var(--line)'/>", left, y(v), right);
      svg += Text(left - 6, y(v) + 4, "end",
                  v >= 1e12  ? fmt::format("{:.0f} T", v / 1e12)
                  : v >= 1e9 ? fmt::format("{:.0f} G", v / 1e9)
                             : fmt::format("{:.0f} M", v / 1e6));
    }
    for (double v = x_low; v <= x_high * 1.01; v *= 10) {
      svg += fmt::format("<path d='M{:.1f} {}V{}' stroke='var(--line)'/>", x(v), top, bottom);
      svg += Text(x(v), bottom + 17,
                  v <= x_low * 1.01    ? "start"
                  : v >= x_high / 1.01 ? "end"
                                       : "middle",
                  fmt::format("{:g}", v));
    }
    const auto roof = [&](double peak, const char* name, const char* dash) {
      const double knee = peak / facts.memory_bandwidth;
      const double start = std::max(x_low, y_low / facts.memory_bandwidth);
      svg += fmt::format(
          "<path d='M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}' fill=none stroke='var(--ink)' stroke-width='1.6'{}/>",
          x(start), y(start * facts.memory_bandwidth), x(std::min(knee, x_high)),
          y(std::min(knee, x_high) * facts.memory_bandwidth), right, dash);
      svg += Text(right, y(peak) - 5, "end", name, "var(--ink)");
    };
    roof(facts.fp32_flops, "float32", "");
    if (tensor && facts.tensor_bf16_flops > 0)
      roof(facts.tensor_bf16_flops, "tensor cores, bfloat16", " stroke-dasharray='5 3'");
    for (const RooflinePoint& p : points) {
      svg += fmt::format(
          "<circle cx='{:.1f}' cy='{:.1f}' r='5.5' fill='{}' stroke='var(--accent)' "
          "stroke-width='1.8'><title>{}</title></circle>",
          x(p.flops / p.bytes), y(p.flops / p.seconds), p.start ? "var(--panel)" : "var(--accent)",
          EscapeHtml(fmt::format("{}, {}: {:.3g} Tflop/s at {:.3g} flop/byte, {:.0f} % of the memory roof", p.label,
                                 DimsText(p.dims), p.flops / p.seconds / 1e12, p.flops / p.bytes,
                                 100 * p.bytes / p.seconds / facts.memory_bandwidth)));
    }
    svg += Text((left + right) / 2, 294, "middle", "operations a byte");
    return svg + "</svg>";
  };
  return "<figure>" + Both(draw) +
         fmt::format(
             "<figcaption>Operations a second{} over operations a byte, one mark a timed shape: filled the best, ring "
             "{}. The roofs are datasheet figures of {}.</figcaption></figure>\n",
             said, EscapeHtml(start), EscapeHtml(facts.name));
}

std::string CostBars(const std::vector<CostShare>& shares) {
  double most = 0;
  for (const CostShare& s : shares) most = std::max(most, static_cast<double>(s.input_tokens + s.output_tokens));
  if (most <= 0) return "";
  std::string out = "<figure><div class='bars plain'>\n";
  for (const CostShare& s : shares) {
    out += fmt::format(
        "<div class=bar><span class=name>{}</span><span class=value>{} requests · {} in, {} out · {}</span><span "
        "class=track><span class='fill seed' style='width:{:.2f}%'></span>"
        "<span class=fill style='width:{:.2f}%'></span></span></div>\n",
        EscapeHtml(s.role), s.requests, TokensText(s.input_tokens), TokensText(s.output_tokens),
        CostText(s.cost_usd, s.unpriced),
        100 * static_cast<double>(s.input_tokens) / most, 100 * static_cast<double>(s.output_tokens) / most);
  }
  return out + "</div><figcaption>Tokens by role: pale in, solid out.</figcaption></figure>\n";
}

}  // namespace hone
