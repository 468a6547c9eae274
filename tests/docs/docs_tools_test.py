# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the tools that check the documents, tutorial.py and tools/site: each finds the faults that it is for."""
import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE), str(HERE.parent.parent / "tools/site"), str(HERE.parent.parent / "tools")]
import check  # noqa: E402
import reference  # noqa: E402
import result_plots  # noqa: E402
import stage  # noqa: E402
import tutorial  # noqa: E402

ROOT = HERE.parent.parent


def load_tool(name):
    """Returns a program of tools/ that has no suffix, as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "tools" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


PAGE = "<html><body><h1>A</h1><h2 id='b'>B</h2>{}</body></html>"


class Tutorials(unittest.TestCase):
    def page(self, text):
        with tempfile.TemporaryDirectory() as folder:
            return tutorial.run("page.md", text, pathlib.Path("/usr/bin"), folder)

    def test_numbers_may_be_off_by_a_tenth_and_words_not_at_all(self):
        self.assertTrue(tutorial.agrees("  96.79 us  1.355x  ok", "99.10 us 1.340x ok"))
        self.assertFalse(tutorial.agrees("96.79 us", "110.00 us"))
        self.assertTrue(tutorial.agrees("accuracy: 77.63 %", "accuracy: 77.13 %"))
        self.assertFalse(tutorial.agrees("accuracy: 76.63 %", "accuracy: 77.63 %"))
        self.assertFalse(tutorial.agrees("10 cases ok", "11 cases ok"))
        self.assertFalse(tutorial.agrees("ok", "not ok"))
        self.assertTrue(tutorial.agrees("run ... ended with 1.5 ...", "run 7 of 9 ended with 1.5 s"))

    def test_lines_stand_in_order_and_gaps_are_said(self):
        self.assertIsNone(tutorial.missing_line("a\n...\nc\n", "a\nb\nc\n"))
        self.assertEqual(tutorial.missing_line("a\nc\n", "a\nb\nc\n"), "c")
        self.assertEqual(tutorial.missing_line("b\n...\na\n", "a\nb\n"), "a")

    def test_commands_are_taken_from_blocks(self):
        self.assertEqual(list(tutorial.commands("a 'b\nc' d  # e\n# f\ng \\\n  h\n")), [["a", "b\nc", "d"], ["g", "h"]])
        with self.assertRaisesRegex(ValueError, "a quote is not closed: a 'b"):
            list(tutorial.commands("a 'b\n"))
        self.assertEqual(tutorial.shown_commands("console", "$ hone devices\nhone x\n$ ls\n"), "hone devices")
        self.assertEqual(tutorial.shown_commands("", "hone eval TASK\nhone devices  # of ALL\nkernel.cu\n"), "hone devices  # of ALL")
        self.assertEqual(tutorial.shown_commands("python", "hone devices"), "")

    def test_a_page_runs_from_its_own_blocks(self):
        step = "Save it as `f{0}`:\n\n```text\nx{0}\n```\n\n```sh\ncat f{0}\n```\n\n```text\nx{0}\n```\n\n"
        good = "".join(step.format(i) for i in range(4))
        self.assertEqual(self.page(good), [])
        self.assertIn("page.md:11: the page shows", self.page(good.replace("```text\nx0\n```\n\nSave", "```text\ny\n```\n\nSave"))[0])
        self.assertIn("ended with status 1", self.page(good.replace("cat f1", "cat f1; false"))[0])
        self.assertIn("this is no tutorial", self.page("Nothing.\n")[0])


class Sites(unittest.TestCase):
    def problems(self, body, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {"index.html": PAGE.format(body), "other.html": PAGE.format(""), **files}.items():
                pathlib.Path(folder, name).write_text(text)
            return check.check(pathlib.Path(folder).resolve())[2]

    def test_a_sound_page_passes(self):
        self.assertEqual(self.problems("<a href='other.html#b'>x</a><a href='#b'>x</a><a href='https://a.example'>x</a>"), [])

    def test_each_fault_is_found(self):
        for body, words in {
            "<a href='gone.html'>x</a>": "leads nowhere",
            "<a href='other.html#c'>x</a>": "no such anchor",
            "<a href='/other.html'>x</a>": "would not hold on a disk",
            "<script src='https://a.example/x.js'></script>": "from outside",
            "<link rel='stylesheet' href='//a.example/x.css'>": "from outside",
            "<img src='other.html'>": "without a text",
            "<h4>x</h4>": "heading of level 4 under one of level 2",
            "<h1>x</h1>": "2 headings of the first level",
            "<p id='b'>x</p>": "two elements have the id b",
        }.items():
            found = self.problems(body)
            self.assertTrue(any(words in problem and problem.startswith("index.html: ") for problem in found), (body, found))
        self.assertIn("from outside", self.problems("", **{"x.css": "@import url(https://a.example/f.css);"})[0])

    def test_a_link_to_no_file_of_the_repository_names_its_page(self):
        with tempfile.TemporaryDirectory() as source, tempfile.TemporaryDirectory() as pages:
            subprocess.run(["git", "init", "-q", source], check=True)
            pathlib.Path(source, "docs").mkdir()
            pathlib.Path(source, "README.md").write_text("# R\n\n[d](docs/index.md) `[code](nowhere)`\n\n```\n[code](nowhere)\n```\n")
            index = pathlib.Path(source, "docs/index.md")
            index.write_text("# D\n\n[r](../README.md#r) [s](../x.cu) [j](../x.json)\n")
            pathlib.Path(source, "x.cu").write_text("// `x`\n")
            pathlib.Path(source, "x.json").write_text("{}\n")
            stage.Stage(pathlib.Path(source), pathlib.Path(pages)).run()
            text = pathlib.Path(pages, "index.md").read_text()
            self.assertIn("[r](readme.md#r) [s](files/x.cu.md) [j](hone-file:files/x.json)", text)
            self.assertIn("`[code](nowhere)`", pathlib.Path(pages, "readme.md").read_text())
            self.assertTrue(pathlib.Path(pages, "raw/files/x.json").is_file())
            index.write_text("# D\n\n[r](../nowhere.md)\n")
            with self.assertRaisesRegex(SystemExit, "docs/index.md: ../nowhere.md leads to no file"):
                stage.Stage(pathlib.Path(source), pathlib.Path(pages)).run()

    def test_manual_pages_are_read_or_refused(self):
        manual = ".TH X 1\n.SH NAME\nx \\- does\n.SH OPTIONS\n.TP\n\\fB\\-\\-a\\fR\nsays \\-a\n"
        self.assertEqual(reference.read_manual(manual)[1], ("OPTIONS", "", [["--a", "says -a"]]))
        with self.assertRaisesRegex(SystemExit, r"\.ZZ"):
            reference.read_manual(manual + ".ZZ\n")


class Tables(unittest.TestCase):
    def test_the_page_on_profiles_has_every_counted_figure_with_its_unit(self):
        source = (ROOT / "src/tuner/core/evaluation/profile_fields.cc").read_text()
        fields = re.findall(r'\{"(\w+)",\s*"[^"]*",\s*"([^"]*)",\s*"[^"]*"\}', source)
        self.assertEqual(len(fields), source.count('{"'))
        self.assertGreater(len(fields), 50)
        table = (ROOT / "docs/profiles.md").read_text().split("| figure | unit | meaning |")[1]
        self.assertEqual([(name, "" if unit == "count" else unit) for name, unit in re.findall(r"\| `(\w+)` \| (\S+) \|", table)], fields)


class Plots(unittest.TestCase):
    def test_the_same_results_give_the_same_bytes(self):
        folder = HERE.parent.parent / "benchmarks/results"
        one, two = list(result_plots.plots(folder)), list(result_plots.plots(folder))
        self.assertEqual(one, two)
        self.assertEqual(len(one), len(result_plots.PLOTS))
        for _, name, text, _, _ in one:
            self.assertIn("<desc>", text, name)
            self.assertIn("prefers-color-scheme: dark", text, name)
            self.assertNotRegex(text, r"\b(nan|inf|None)\b", name)

    def test_colours_can_be_told_from_their_background(self):
        def luminance(colour):
            parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
            linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        for scheme in (0, 1):
            paper = luminance(result_plots.COLOURS["paper"][scheme])
            for name in ("ink", "soft", "one", "two", "three"):
                other = luminance(result_plots.COLOURS[name][scheme])
                ratio = (max(paper, other) + 0.05) / (min(paper, other) + 0.05)
                self.assertGreaterEqual(ratio, 4.5, (name, scheme))  # WCAG 2.2, 1.4.3: text


class Prose(unittest.TestCase):
    tool = load_tool("check-prose")

    def test_comments_and_design_notes_follow_the_rule(self):
        self.assertEqual(self.tool.problems_of(ROOT), [])

    def test_each_opening_is_found_where_a_comment_begins(self):
        for opening in self.tool.OPENINGS:
            found = self.tool.comment_problems("a.h", f"int x;\n  // {opening} the batch.\nint y;")
            self.assertEqual(len(found), 1)
            self.assertTrue(found[0].startswith(f"a.h:2: a comment begins with \"{opening}\""), found)
        second = "// Sums rows.\n//\n// Its order is fixed.\n"
        self.assertEqual(len(self.tool.comment_problems("a.h", second)), 1)
        for fine in ("// Sums rows.\n// Of these it takes a few.", "int x;  // of one batch", "// Offsets are bytes.", "// Items"):
            self.assertEqual(self.tool.comment_problems("a.h", fine), [])

    def test_a_design_note_opens_with_its_decision(self):
        self.assertEqual(self.tool.note_problems("a.md", "# T\n\n**Decision.** We do it.\n"), [])
        self.assertIn("a.md:1: ", self.tool.note_problems("a.md", "# T\n\n**Context.** Why.\n\n**Decision.** We do.\n")[0])


if __name__ == "__main__":
    unittest.main()
