// SPDX-FileCopyrightText: 2026 The Hone Authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/text/markup.h"
#include "tuner/report/run_text.h"
#include "tuner/run/log/cost_text.h"

namespace hone {
namespace {

// Returns a round step that gives three to seven ticks.
double TickStep(double span) {
  const double raw = span / 5;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 2.5, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

std::string SvgText(double x, double y, const char* anchor, const std::string& text,
                    const char* colour = "var(--soft)") {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}' font-size='13' fill='{}'>{}</text>", x, y, anchor,
                     colour, EscapeMarkup(text));
}

// Draws the same chart for a wide screen and for a phone.
template <typename Draw>
std::string WideAndNarrow(const Draw& draw) {
  return "<div class=wide>" + draw(760.0) + "</div>\n<div class=narrow>" + draw(360.0) + "</div>\n";
}

// Returns AttemptChart's SVG at this width in pixels.
std::string AttemptDrawing(const RunView& view, double width) {
  const double left = 52, right = width - 10, top = 18, bottom = 220, floor = 246;
  double low = 1.0, high = 1.0;
  bool failed = false;
  for (const RunNode& n : view.nodes) {
    failed = failed || (!n.speedup && n.done() && !FoundNothing(n));
    if (!n.speedup) continue;
    low = std::min(low, *n.speedup);
    high = std::max(high, *n.speedup);
  }
  // The axis ends at 0.5x: much slower attempts would compress the rest.
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
      "<svg viewBox='0 0 {:.0f} 290' role=img aria-label='speedup node by node{}: best {:.2f} times after {} "
      "attempts'>",
      width, view.info.modelled ? ", modelled" : "",
      view.nodes.empty() ? 1.0 : view.node(view.best).speedup.value_or(1.0), view.attempts);
  const double step = TickStep(high - low);
  for (double tick = std::ceil(low / step) * step; tick <= high; tick += step) {
    svg += fmt::format("<path d='M{} {:.1f}H{}' stroke='var(--line)'/>", left, y(tick), right);
    svg += SvgText(left - 6, y(tick) + 4, "end", fmt::format("{:.3g}×", tick));
  }
  svg += fmt::format("<path d='M{} {:.1f}H{}' stroke='var(--soft)' stroke-dasharray='4 3'/>", left, y(1), right);
  // Writes nodes' numbers below the chart.
  const double node_step = std::max(1.0, TickStep(static_cast<double>(count)));
  for (double node = 0; node < static_cast<double>(count); node += node_step) {
    svg += SvgText(x(static_cast<int64_t>(node)), 266, "middle", fmt::format("{:.0f}", node));
  }
  // Draws the best so far.
  std::string path = fmt::format("M{:.1f} {:.1f}", x(0), y(1));
  for (const RunNode& n : view.nodes) {
    if (!n.kept || !n.speedup) continue;
    path += fmt::format("H{:.1f}V{:.1f}", x(n.id), y(*n.speedup));
  }
  path += fmt::format("H{:.1f}", right);
  svg += fmt::format("<path d='{}' fill='none' stroke='var(--accent)' stroke-width='2.5'/>", path);
  for (const RunNode& n : view.nodes) {
    const std::string title = fmt::format("<title>{}</title>", EscapeMarkup(NodeLine(view, n)));
    if (n.speedup) {
      svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='{}' fill='{}' stroke='var(--accent)'>{}</circle>", x(n.id),
                         y(*n.speedup),
                         n.kept || n.id == 0 ? 5
                         : many              ? 2.5
                                             : 4,
                         n.kept || n.id == 0 ? "var(--accent)" : "var(--panel)", title);
    } else if (n.done() && !FoundNothing(n)) {
      const double arm = many ? 2.5 : 4;
      svg += fmt::format("<path class=x d='M{:.1f} {:.1f}l{} {}m0-{}l-{} {}'>{}</path>", x(n.id) - arm, floor - 6 - arm,
                         2 * arm, 2 * arm, 2 * arm, 2 * arm, 2 * arm, title);
    }
  }
  if (failed) svg += SvgText(left - 6, floor - 2, "end", "failed");
  svg += SvgText((left + right) / 2, 284, "middle", "node");
  return svg + "</svg>";
}

std::string ShapeName(const Dims& dims) { return EscapeMarkup(DimsText(dims)); }

}  // namespace

std::string AttemptChart(const RunView& view) {
  return "<figure>" + WideAndNarrow([&](double width) { return AttemptDrawing(view, width); }) +
         fmt::format(
             "<figcaption>Each mark is a node, an attempt or a sweep, at its speedup over {}{}, which multiplies the "
             "gains of "
             "the kept steps before it. A filled mark was kept, the line is the best so far, and a × had no valid "
             "result.</figcaption></figure>\n",
             EscapeMarkup(StartName(view)), view.info.modelled ? ", modelled" : "");
}

std::string_view BarClass(double low, double high) {
  constexpr double kCounts = 0.005;  // the default of keep_above
  if (high < 1 - kCounts) return " slow";
  return low > 1 + kCounts ? "" : " same";
}

std::string SpeedupBars(const Evaluation& evaluation, const std::string& start) {
  double high = 1.0;
  bool any = false, floors = false;
  for (const CaseResult& c : evaluation.cases) {
    if (!c.speedup) continue;
    any = true;
    floors = floors || (c.floor_us && c.time_us);
    high = std::max(high, std::max(c.speedup->high, c.speedup->median));
  }
  if (!any) return "";
  high *= 1.02;
  const auto percent = [&](double speedup) { return 100 * speedup / high; };
  std::string out = fmt::format("<figure><div class=bars style='--one:{:.2f}%'>\n", percent(1));
  for (const CaseResult& c : evaluation.cases) {
    if (!c.speedup) continue;
    const bool interval = !evaluation.modelled && c.speedup->high > c.speedup->low;
    const bool is_undecided = c.timing.decision == "same" || c.timing.decision == "undecided";
    const std::string_view kind = is_undecided ? " same"
                                  : interval   ? BarClass(c.speedup->low, c.speedup->high)
                                               : BarClass(c.speedup->median, c.speedup->median);
    out += fmt::format(
        "<div class=bar><span class=name>{}</span><span class=value>{:.3f}×{}</span><span class=track><span "
        "class='fill{}' style='width:{:.2f}%'></span>{}</span>",
        ShapeName(c.dims), c.speedup->median,
        interval ? fmt::format(" <small>{:.3f}–{:.3f}</small>", c.speedup->low, c.speedup->high) : "", kind,
        percent(c.speedup->median),
        interval ? fmt::format("<span class=ci style='left:{:.2f}%;width:{:.2f}%'></span>", percent(c.speedup->low),
                               std::max(0.3, percent(c.speedup->high) - percent(c.speedup->low)))
                 : "");
    if (c.floor_us && c.time_us && c.time_us->median > 0) {
      const double share = 100 * *c.floor_us / c.time_us->median;
      const double before = c.baseline_us && *c.baseline_us > 0 ? 100 * *c.floor_us / *c.baseline_us : 0;
      out += fmt::format(
          "<span class=floor><span class='fill floored' style='width:{:.2f}%'></span>{}</span><span class=under>{:.0f} "
          "% "
          "of the floor’s speed{}</span>",
          std::min(share, 100.0),
          before > 0 ? fmt::format("<span class=was style='left:{:.2f}%'></span>", std::min(before, 100.0)) : "", share,
          before > 0 ? fmt::format(", was {:.0f} %", before) : "");
    }
    out += "</div>\n";
  }
  return out + fmt::format(
                   "</div><figcaption>Each bar is the speedup over {0} for one shape{1}; the upright line is 1×, {0}. "
                   "A grey bar is "
                   "no difference that counts: it is within 0.5 % of 1×, or not sure.{2}</figcaption></figure>\n",
                   EscapeMarkup(start), evaluation.modelled ? ", modelled" : ", with 95 % confidence intervals",
                   floors ? fmt::format(" The thin bar below is the speed as a share of that of the floor, a kernel "
                                        "that only moves the same "
                                        "bytes; the mark on it is the share of {}.",
                                        EscapeMarkup(start))
                          : "");
}

std::string RooflineChart(const std::vector<RooflinePoint>& points, const DeviceFacts& facts, bool modelled) {
  if (points.empty() || facts.memory_bandwidth <= 0) return "";
  // If every point is far below the intensity at which the two limits meet, bandwidth is the only limit, and a chart of
  // both would be mostly empty.
  const bool flops = facts.fp32_flops > 0 &&
                     std::all_of(points.begin(), points.end(), [](const RooflinePoint& p) { return p.flops > 0; }) &&
                     std::any_of(points.begin(), points.end(), [&](const RooflinePoint& p) {
                       return p.flops / p.bytes > 0.5 * facts.fp32_flops / facts.memory_bandwidth;
                     });
  const char* modelled_note = modelled ? ", modelled" : "";
  const auto first = std::find_if(points.begin(), points.end(), [](const RooflinePoint& p) { return p.start; });
  const std::string start = first == points.end() ? "what the run began with" : first->label;
  if (!flops) {
    std::string out = "<figure><div class=bars style='--one:100%'>\n";
    for (const RooflinePoint& p : points) {
      const double share = p.bytes / p.seconds / facts.memory_bandwidth;
      out += fmt::format(
          "<div class=bar><span class=name>{}, {}</span><span class=value>{:.2f} TB/s · {:.0f} %</span><span "
          "class=track><span class='fill{}' style='width:{:.2f}%'></span></span></div>\n",
          EscapeMarkup(p.label), ShapeName(p.dims), p.bytes / p.seconds / 1e12, 100 * share, p.start ? " seed" : "",
          std::min(100.0, 100 * share));
    }
    return out +
           fmt::format(
               "</div><figcaption>Each bar is the achieved memory bandwidth{}, as a share of the device's {:.2f} TB/s "
               "(datasheet); every byte that has to move counts once. A share above 100 % means that the shape fits in "
               "a cache.</figcaption></figure>\n",
               modelled_note, facts.memory_bandwidth / 1e12);
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
    std::string svg =
        fmt::format("<svg viewBox='0 0 {:.0f} 302' role=img aria-label='roofline{}'>", width, modelled_note);
    for (double v = y_low; v <= y_high * 1.01; v *= 10) {
      svg += fmt::format("<path d='M{} {:.1f}H{}' stroke='var(--line)'/>", left, y(v), right);
      svg += SvgText(left - 6, y(v) + 4, "end",
                  v >= 1e12  ? fmt::format("{:.0f} T", v / 1e12)
                  : v >= 1e9 ? fmt::format("{:.0f} G", v / 1e9)
                             : fmt::format("{:.0f} M", v / 1e6));
    }
    for (double v = x_low; v <= x_high * 1.01; v *= 10) {
      svg += fmt::format("<path d='M{:.1f} {}V{}' stroke='var(--line)'/>", x(v), top, bottom);
      svg += SvgText(x(v), bottom + 17,
                  v <= x_low * 1.01    ? "start"
                  : v >= x_high / 1.01 ? "end"
                                       : "middle",
                  fmt::format("{:g}", v));
    }
    const auto roof = [&](double peak, const char* name, const char* dash) {
      const double knee = peak / facts.memory_bandwidth;
      const double lowest = std::max(x_low, y_low / facts.memory_bandwidth);
      svg += fmt::format(
          "<path d='M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}' fill=none stroke='var(--ink)' stroke-width='1.6'{}/>",
          x(lowest), y(lowest * facts.memory_bandwidth), x(std::min(knee, x_high)),
          y(std::min(knee, x_high) * facts.memory_bandwidth), right, dash);
      svg += SvgText(right, y(peak) - 5, "end", name, "var(--ink)");
    };
    roof(facts.fp32_flops, "float32", "");
    if (tensor && facts.tensor_bf16_flops > 0)
      roof(facts.tensor_bf16_flops, "tensor cores, bfloat16", " stroke-dasharray='5 3'");
    for (const RooflinePoint& p : points) {
      svg += fmt::format(
          "<circle cx='{:.1f}' cy='{:.1f}' r='5.5' fill='{}' stroke='var(--accent)' "
          "stroke-width='1.8'><title>{}</title></circle>",
          x(p.flops / p.bytes), y(p.flops / p.seconds), p.start ? "var(--panel)" : "var(--accent)",
          EscapeMarkup(fmt::format("{}, {}: {:.3g} Tflop/s at {:.3g} flop/byte, {:.0f} % of the memory roof", p.label,
                                 DimsText(p.dims), p.flops / p.seconds / 1e12, p.flops / p.bytes,
                                 100 * p.bytes / p.seconds / facts.memory_bandwidth)));
    }
    svg += SvgText((left + right) / 2, 294, "middle", "operations a byte");
    return svg + "</svg>";
  };
  return "<figure>" + WideAndNarrow(draw) +
         fmt::format(
             "<figcaption>Operations a second{} over operations a byte, one mark a timed shape: filled the best, ring "
             "{}. The roofs are datasheet figures of {}.</figcaption></figure>\n",
             modelled_note, EscapeMarkup(start), EscapeMarkup(facts.name));
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
        EscapeMarkup(s.role), s.requests, TokensText(s.input_tokens), TokensText(s.output_tokens),
        CostText(s.cost_usd, s.unpriced),
        100 * static_cast<double>(s.input_tokens) / most, 100 * static_cast<double>(s.output_tokens) / most);
  }
  return out + "</div><figcaption>Each bar is one role's tokens: pale for tokens in, solid for tokens out.</figcaption></figure>\n";
}

}  // namespace hone
