// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tuner/report/html.h"
#include "tuner/report/run_text.h"

namespace hone {
namespace {

constexpr double kWidth = 720;

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

}  // namespace

std::string AttemptChart(const RunView& view) {
  const double left = 52, right = kWidth - 12, top = 18, bottom = 210, floor = 236;
  double low = 1.0, high = 1.0;
  for (const RunNode& n : view.nodes) {
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
  const auto x = [&](int64_t node) {
    return left + 10 + (right - left - 20) * static_cast<double>(node) / static_cast<double>(count - 1);
  };
  const auto y = [&](double speedup) {
    return bottom - (bottom - top) * (std::clamp(speedup, low, high) - low) / (high - low);
  };
  std::string svg = fmt::format("<svg viewBox='0 0 {} 262' role='img' aria-label='speedup over attempts{}'>", kWidth,
                                view.info.modelled ? ", modelled" : "");
  const double step = TickStep(high - low);
  for (double tick = std::ceil(low / step) * step; tick <= high; tick += step) {
    svg += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='var(--line)'/>", left, right, y(tick),
                       y(tick));
    svg += Text(left - 6, y(tick) + 4, "end", fmt::format("{:.3g}x", tick));
  }
  svg += fmt::format("<line x1='{}' x2='{}' y1='{:.1f}' y2='{:.1f}' stroke='var(--soft)' stroke-dasharray='4 3'/>",
                     left, right, y(1), y(1));
  // The best so far.
  double best = 1.0;
  std::string path = fmt::format("M{:.1f} {:.1f}", x(0), y(1));
  for (const RunNode& n : view.nodes) {
    path += fmt::format(" H{:.1f}", x(n.id));
    if (n.kept && n.speedup) {
      best = *n.speedup;
      path += fmt::format(" V{:.1f}", y(best));
    }
  }
  path += fmt::format(" H{:.1f}", right);
  svg += fmt::format("<path d='{}' fill='none' stroke='var(--accent)' stroke-width='2'/>", path);
  for (const RunNode& n : view.nodes) {
    const std::string title = fmt::format("<title>{}</title>", EscapeHtml(NodeLine(view, n)));
    if (n.speedup) {
      svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}' fill='{}' stroke='var(--accent)'>{}</circle>", x(n.id),
                         y(*n.speedup), n.kept ? 5 : 4, n.kept || n.id == 0 ? "var(--accent)" : "var(--panel)", title);
    } else {
      svg += fmt::format("<g stroke='var(--bad)' stroke-width='2'>{0}<path d='M{1:.1f} {2:.1f} l8 8 m0 -8 l-8 8'/></g>",
                         title, x(n.id) - 4, floor - 10);
    }
  }
  svg += Text(left - 6, floor - 2, "end", "no time");
  svg += Text((left + right) / 2, 256, "middle",
              fmt::format("attempt; speedup over the seed{}, along the chain of kept steps",
                          view.info.modelled ? ", modelled" : ""));
  return svg + "</svg>\n";
}

std::string SpeedupBars(const Evaluation& evaluation) {
  std::vector<const CaseResult*> cases;
  double high = 1.0;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.speedup) continue;
    cases.push_back(&c);
    high = std::max(high, std::max(c.speedup->high, c.speedup->median));
  }
  if (cases.empty()) return "";
  const double left = 190, right = kWidth - 90, row = 30;
  const double height = row * static_cast<double>(cases.size()) + 40;
  const auto x = [&](double speedup) { return left + (right - left) * speedup / (high * 1.05); };
  std::string svg = fmt::format("<svg viewBox='0 0 {} {:.0f}' role='img' aria-label='speedup of every shape{}'>",
                                kWidth, height, evaluation.modelled ? ", modelled" : "");
  double y = 12;
  for (const CaseResult* c : cases) {
    const bool slower = c->speedup->median < 1;
    svg += Text(left - 8, y + 15, "end", DimsText(c->dims), "var(--ink)");
    svg += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='18' fill='{}' opacity='0.75'/>", left, y,
                       x(c->speedup->median) - left, slower ? "var(--bad)" : "var(--accent)");
    if (!evaluation.modelled && c->speedup->high > c->speedup->low) {
      svg += fmt::format(
          "<path d='M{0:.1f} {2:.1f} V{3:.1f} M{0:.1f} {4:.1f} H{1:.1f} M{1:.1f} {2:.1f} V{3:.1f}' stroke='var(--ink)' "
          "stroke-width='1.5'/>",
          x(c->speedup->low), x(c->speedup->high), y + 3, y + 15, y + 9);
    }
    svg += Text(x(std::max(c->speedup->high, c->speedup->median)) + 6, y + 14, "start",
                fmt::format("{:.3f}x", c->speedup->median), "var(--ink)");
    y += row;
  }
  svg += fmt::format(
      "<line x1='{0:.1f}' x2='{0:.1f}' y1='6' y2='{1:.1f}' stroke='var(--soft)' stroke-dasharray='4 3'/>", x(1), y);
  svg += Text(x(1), y + 18, "middle", evaluation.modelled ? "1x: the seed (modelled)" : "1x: the seed");
  return svg + "</svg>\n";
}

}  // namespace hone
