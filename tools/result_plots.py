# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Plots of docs/results.md, as SVG, of what benchmarks/results holds. tools/make-results writes them to docs/results/.

Each plot is a function from stored results to SVG text: the same file gives the same bytes. A plot has a title, a line
with device and date, axes with units, a text for those who cannot see it, marks that differ in shape and in colour, and
colours for light and dark backgrounds (it brings its own background and follows prefers-color-scheme). No plot fetches
anything. PLOTS at the end says which section shows which plot, with its caption.
"""
import html
import json
import math
import re
import statistics

WIDTH = 660
# (light, dark): each has at least 4.5:1 against its background for text and 3:1 for marks.
COLOURS = {"paper": ("#ffffff", "#16191d"), "ink": ("#1b1f24", "#e8eaed"), "soft": ("#57606a", "#a9b1ba"), "grid": ("#d7dbe0", "#3a4149"),
           "one": ("#0a58ca", "#74b3ff"), "two": ("#b3500f", "#f2a45c"), "three": ("#5f6b76", "#9aa5b1")}


def style():
    def rules(which):
        colour = {name: pair[which] for name, pair in COLOURS.items()}
        fills = "".join(f".{name}{{fill:{value}}}" for name, value in colour.items())
        lines = "".join(f".line-{name}{{stroke:{colour[name]};fill:none}}" for name in ("grid", "soft", "one", "two", "three"))
        return fills + lines
    return f"<style>{rules(0)}@media (prefers-color-scheme: dark){{{rules(1)}}}</style>"


class Drawing:
    def __init__(self, height, title, description):
        self.height = height
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
                      'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="13">',
                      f"<title>{html.escape(title)}</title>", f"<desc>{html.escape(description)}</desc>", style(),
                      f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>']

    def text(self, x, y, words, colour="ink", anchor="start", size=None, bold=False):
        extra = (f' font-size="{size}"' if size else "") + (' font-weight="600"' if bold else "")
        self.parts.append(f'<text class="{colour}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(words)}</text>')

    def line(self, x1, y1, x2, y2, colour="grid", width=1, dashes=""):
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<line class="line-{colour}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{width}"{dashed}/>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(f'<rect class="{colour}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2"/>')

    def mark(self, x, y, colour):
        """Returns a mark: a filled circle, an open square or a diamond, by colour."""
        if colour == "one":
            self.parts.append(f'<circle class="one" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
        elif colour == "two":
            self.parts.append(f'<rect class="line-two" x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" stroke-width="2"/>')
        else:
            self.parts.append(f'<path class="line-three" d="M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z" stroke-width="2"/>')

    def head(self, title, below):
        self.text(16, 28, title, size=16, bold=True)
        self.text(16, 48, below, "soft")

    def done(self):
        return "\n".join(self.parts + ["</svg>", ""])


def linear(low, high, left, right):
    return lambda value: left + (value - low) / (high - low) * (right - left)


def logarithmic(low, high, left, right):
    return lambda value: left + math.log(value / low) / math.log(high / low) * (right - left)


def x_axis(drawing, x, ticks, top, bottom, label, left, right):
    for value, words in ticks:
        drawing.line(x(value), top, x(value), bottom)
        drawing.text(x(value), bottom + 18, words, "soft", "middle")
    drawing.text((left + right) / 2, bottom + 38, label, anchor="middle")


def legend(drawing, y, entries, x=16, bars=False):
    for colour, words in entries:
        if bars:
            drawing.bar(x, y - 10, 12, 12, colour)
        else:
            drawing.mark(x + 6, y - 4, colour)
        drawing.text(x + 18, y, words)
        x += 18 + 7.2 * len(words) + 22


def first_number(text):
    """Returns the first number of a text: 1.007 of "1.007 [1.005, 1.008]"; None of "-"."""
    found = re.match(r"[\d.]+", str(text))
    return float(found.group()) if found else None


# ---- the plots -------------------------------------------------------------------------------------------------------


def verdict_time(data, dates):
    kernels = data["kernels"]
    left, right, top, step = 110, WIDTH - 90, 96, 62
    bottom = top + step * len(kernels)
    told = "; ".join(f"{k['task']}: {k['kernelbench']['seconds']:.0f} s against {k['hone']['new_source_wall_seconds']['median']:.2f} s" for k in kernels)
    drawing = Drawing(bottom + 56, "Seconds from a new source to a verdict", f"KernelBench's harness against Hone. {told}.")
    drawing.head("Seconds from a new source to a verdict", f"{data['device']}, {dates}; less is better; Hone: its worker runs already, median of 3")
    legend(drawing, 76, [("one", "Hone"), ("three", "KernelBench's harness")], bars=True)
    x = logarithmic(0.1, 300, left, right)
    x_axis(drawing, x, [(v, f"{v:g}") for v in (0.1, 1, 10, 100)], top, bottom, "seconds, on a logarithmic scale", left, right)
    for i, kernel in enumerate(kernels):
        y = top + i * step + 8
        ours, theirs = kernel["hone"]["new_source_wall_seconds"]["median"], kernel["kernelbench"]["seconds"]
        drawing.text(left - 10, y + 25, kernel["task"], anchor="end")
        drawing.bar(left, y, x(ours) - left, 20, "one")
        drawing.text(x(ours) + 6, y + 15, f"{ours:.2f} s")
        drawing.bar(left, y + 24, x(theirs) - left, 20, "three")
        drawing.text(x(theirs) + 6, y + 39, f"{theirs:.0f} s")
    return drawing.done()


def share_of_floor(row_kernels, big_rows, dates):
    groups = {}
    for data in (row_kernels, big_rows):
        for row in data["tables"][0]["rows"]:
            kernel, _, dims = row[0].partition(" ")
            share = float(row[2])
            eager, compiled = first_number(row[4]), first_number(row[5])
            groups.setdefault(kernel.strip("`"), []).append((dims, share, compiled and share / compiled, eager and share / eager))
    left, right, top, step = 262, WIDTH - 22, 92, 19
    bottom = top + step * (sum(len(rows) for rows in groups.values()) + len(groups)) + 4
    least = min(row[1] for rows in groups.values() for row in rows)
    drawing = Drawing(bottom + 58, "Kernels and PyTorch against the floor",
                      f"For {sum(map(len, groups.values()))} shapes of {len(groups)} kernels, the share of the floor's speed that Hone's kernel reaches "
                      f"({least:.2f} at least), and that of PyTorch, compiled and eager. The tables hold every figure.")
    drawing.head("Kernels and PyTorch against the floor", f"NVIDIA H200, {dates}, cold caches; more is better")
    legend(drawing, 74, [("one", "Hone's kernel"), ("two", "PyTorch compiled"), ("three", "PyTorch eager")])
    x = linear(0, 1.1, left, right)
    x_axis(drawing, x, [(v, f"{v:.1f}") for v in (0, 0.2, 0.4, 0.6, 0.8, 1)], top, bottom,
           "share of the floor's speed (1: as fast as a kernel that only moves the bytes)", WIDTH / 2 - 10, WIDTH / 2 + 10)
    drawing.line(x(1), top, x(1), bottom, "soft", 1.5, "5 4")
    y = top
    for kernel, rows in groups.items():
        y += step
        drawing.text(16, y - 3, kernel, bold=True)
        for dims, ours, compiled, eager in rows:
            y += step
            drawing.text(left - 12, y - 3, dims, "soft", "end", size=12)
            for value, colour in ((eager, "three"), (compiled, "two"), (ours, "one")):
                if value is not None:
                    drawing.mark(x(value), y - 7, colour)
    return drawing.done()


def matrix_products(data, dates):
    rows = {}
    for case in data["beside_libraries"]["cases"]:
        name = case["kernel"].split("/")[-1].removesuffix(".cu")
        for library in case["libraries"]:
            if library["name"] == "cublaslt_best" and "." not in name and isinstance(library.get("speedup"), dict):
                rows.setdefault(name, []).append((f"{case['dims']['m']} x {case['dims']['n']} x {case['dims']['k']}", library["speedup"]["median"], library["speedup"]["ci95"]))
    left, right, top, step = 200, WIDTH - 70, 62, 22
    bottom = top + step * (sum(map(len, rows.values())) + len(rows)) + 6
    every = [row for group in rows.values() for row in group]
    drawing = Drawing(bottom + 58, "Matrix products against cuBLASLt",
                      "Speed over cuBLASLt's best of 16 algorithms. " + "; ".join(f"{n} {s}: {v:.3f}" for n, g in rows.items() for s, v, _ in g) + ".")
    drawing.head("Matrix products against cuBLASLt", f"NVIDIA H200, {dates}, cold caches, 95 % intervals; more is better")
    low, high = math.floor(min(r[2][0] for r in every) * 20) / 20, math.ceil(max(r[2][1] for r in every) * 20) / 20
    x = linear(low, high, left, right)
    count = round((high - low) / 0.05)
    x_axis(drawing, x, [(low + i * 0.05, f"{low + i * 0.05:.2f}") for i in range(count + 1)], top, bottom,
           "speed over cuBLASLt's best of 16 algorithms (1: the same)", left, right)
    drawing.line(x(1), top, x(1), bottom, "soft", 1.5, "5 4")
    y = top
    for name, group in rows.items():
        y += step
        drawing.text(16, y - 5, name, bold=True)
        for shape, speed, (least, most) in group:
            y += step
            drawing.text(left - 12, y - 5, shape, "soft", "end")
            drawing.line(x(least), y - 9, x(most), y - 9, "one", 2)
            drawing.mark(x(speed), y - 9, "one")
            drawing.text(right + 8, y - 5, f"{speed:.3f}", size=12)
    return drawing.done()


NAMES = {"sage": "GraphSAGE", "gat": "GAT", "gin": "GIN", "sage-ri": "SAGE-RI"}


def graph_epochs(epochs, four, dates):
    newest = {}
    for run in epochs["models"]:
        if "papers100M?seed" in run["graph"] and not run.get("superseded"):
            newest[run["model"]] = (run["fanouts"], statistics.median(run["train"]["seconds"]))
    bars = [(f"{NAMES[m]}, {','.join(map(str, f))}", s) for m, (f, s) in newest.items()]
    spread = [(f"GraphSAGE on {run['gpus']} GPU{'s' if run['gpus'] > 1 else ''}", statistics.median(run["epoch_seconds"])) for run in four["ranks"]]
    left, right, step = 190, WIDTH - 90, 30
    panels = [("One GPU, by model and neighbors drawn a hop", bars), ("Several GPUs of one machine, 15,10,5", spread)]
    height = 62 + sum(30 + step * len(rows) + 56 for _, rows in panels)
    drawing = Drawing(height, "Seconds for a training epoch over papers100M's shape",
                      "; ".join(f"{name}: {seconds:.3f} s" for _, rows in panels for name, seconds in rows) + ".")
    drawing.head("Seconds for a training epoch over papers100M's shape",
                 f"NVIDIA H200, {dates}; 111 M nodes, 3.2 G edges, bf16, 3 x 256; medians; less is better")
    y = 62
    for title, rows in panels:
        y += 22
        drawing.text(16, y - 6, title, bold=True)
        bottom = y + step * len(rows) + 4
        most = max(seconds for _, seconds in rows)
        unit = 0.5 if most > 1 else 0.1
        x = linear(0, math.ceil(most / unit) * unit, left, right)
        x_axis(drawing, x, [(i * unit, f"{i * unit:.1f}") for i in range(math.ceil(most / unit) + 1)], y, bottom, "seconds an epoch", left, right)
        for i, (name, seconds) in enumerate(rows):
            drawing.text(left - 10, y + i * step + 20, name, anchor="end")
            drawing.bar(left, y + i * step + 5, x(seconds) - left, 20, "one")
            drawing.text(x(seconds) + 6, y + i * step + 20, f"{seconds:.3f} s" if seconds < 1 else f"{seconds:.2f} s")
        y = bottom + 64
    return drawing.done()


def accuracy(report, dates):
    """Draws the test accuracy against the neighbors drawn at inference; the dashed line is inference with every neighbor."""
    fanouts, names = (5, 10, 20), list(report["datasets"])
    gap, top, height = 62, 84, 150
    width = (WIDTH - gap * 2 - 20) / 2
    drawing = Drawing(top + math.ceil(len(names) / 2) * (height + 82) - 12, "Accuracy from samples and with every neighbor",
                      "; ".join(f"{name}: {100 * statistics.fmean(r['by_fanout']['exact'] for r in report['datasets'][name]['runs']):.2f} % with every "
                                "neighbor, " + ", ".join(f"{100 * statistics.fmean(r['by_fanout'][str(f)] for r in report['datasets'][name]['runs']):.2f} % with {f}"
                                                         for f in fanouts) for name in names) + ".")
    drawing.head("Accuracy from samples and with every neighbor", f"GraphSAGE, CPU, {dates}; mean test accuracy over seeds, percent")
    for i, name in enumerate(names):
        runs = report["datasets"][name]["runs"]
        mean = {key: 100 * statistics.fmean(r["by_fanout"][str(key)] for r in runs) for key in (*fanouts, "exact")}
        low, high = min(mean.values()), max(mean.values())
        # Half a point at least, so that a hundredth is not drawn as a cliff.
        margin = max((0.5 - (high - low)) / 2, 0.2 * (high - low))
        low, high = low - margin, high + margin
        each = next(step for step in (0.2, 0.5, 1, 2, 5, 10) if (high - low) / step <= 5)
        left, above = gap + (i % 2) * (width + gap), top + (i // 2) * (height + 82)
        x, y = logarithmic(4, 25, left, left + width), linear(high, low, above + 14, above + height)
        drawing.text(left, above - 8, f"{name} ({len(runs)} seed{'s' if len(runs) > 1 else ''})", bold=True)
        for count in range(math.ceil(low / each), math.floor(high / each) + 1):
            drawing.line(left, y(count * each), left + width, y(count * each))
            drawing.text(left - 6, y(count * each) + 4, f"{count * each:.1f}", "soft", "end", size=12)
        drawing.line(left, y(mean["exact"]), left + width, y(mean["exact"]), "two", 2, "5 4")
        drawing.text(left + width, above + 6, f"every neighbor {mean['exact']:.2f}", "two", "end", size=12)
        points = [(x(f), y(mean[f])) for f in fanouts]
        drawing.parts.append('<polyline class="line-one" stroke-width="2" points="' + " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>')
        for f, (a, b) in zip(fanouts, points):
            drawing.mark(a, b, "one")
            drawing.text(a, b + 19, f"{mean[f]:.2f}", anchor="middle", size=12)
            drawing.text(a, above + height + 18, str(f), "soft", "middle")
        drawing.text(left + width / 2, above + height + 36, "neighbors drawn a hop", anchor="middle", size=12)
    return drawing.done()


# (section of the page, file below docs/results, drawing, subjects of the files it is made of, what the page says of it)
PLOTS = [
    ("Kernels", "share-of-floor.svg", share_of_floor, ("h200-row-kernels", "h200-big-rows"),
     "Row-wise kernels and the transpose by hand, and what PyTorch does, as a share of the floor's speed."),
    ("Kernels", "matrix-products.svg", matrix_products, ("h200-gemm",), "Matrix products by hand over cuBLASLt's best algorithm."),
    ("The evaluator", "verdict-time.svg", verdict_time, ("h200-kernelbench",), "How long a verdict on a new source takes, beside KernelBench's harness."),
    ("Graphs", "graph-epochs.svg", graph_epochs, ("h200-gnn-epochs", "h200-four-gpus"), "A training epoch by model, and over several GPUs."),
    ("Graphs", "gnn-accuracy.svg", accuracy, ("gnn-accuracy",), "Accuracy by the neighbors that inference draws."),
]


def plots(folder):
    """Returns (section, name, SVG text, caption, files) of every plot whose results are stored: the newest of each subject."""
    for section, name, draw, subjects, caption in PLOTS:
        found = [sorted(path for path in folder.glob(f"*-{subject}.json") if re.fullmatch(rf"\d{{4}}-\d\d-\d\d-{subject}\.json", path.name))
                 for subject in subjects]
        if all(found):
            files = [paths[-1] for paths in found]
            dates = " and ".join(sorted({path.name[:10] for path in files}))
            yield section, name, draw(*(json.loads(path.read_text()) for path in files), dates), caption, [path.name for path in files]
