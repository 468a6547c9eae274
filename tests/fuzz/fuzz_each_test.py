# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that fuzz-each gives its slices of time to the right parsers, and adds them up. Shell scripts stand in for the fuzzers."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
PROGRAM = pathlib.Path(__file__).resolve().parent / "fuzz-each"
loader = importlib.machinery.SourceFileLoader("fuzz_each", str(PROGRAM))
fuzz_each = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
loader.exec_module(fuzz_each)

# Without a parser's name, a fuzzer lists the names; with one it has executed 7 inputs.
FUZZER = """#!/bin/sh
[ "$HONE_FUZZ_PARSER" = "?" ] && { echo "HONE_FUZZ_PARSER: '?' is no parser; there are%s" >&2; exit 2; }
echo "#7 DONE cov: 11 ft: 12" >&2
echo "stat::number_of_executed_units: 7" >&2
"""
FAILED = "Test unit written to a-crash\nstat::number_of_executed_units: 5\n"


class Slices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.build = pathlib.Path(folder.name)
        for part in ("tests", "failed"):
            (self.build / part).mkdir()
        for kind, names in (("text", " 'task' 'run log' 'reply'"), ("graph", " 'array'")):
            program = self.build / "tests" / f"{kind}_parsers_fuzz"
            program.write_text(FUZZER % names)
            program.chmod(0o755)

    def fuzzers(self, *more, state=None):
        if state is not None:
            (self.build / "state.json").write_text(json.dumps({name: {"seconds": seconds, "executions": 1, "edges": 1, "failures": 0}
                                                               for name, seconds in state.items()}))
        sys.argv = [str(PROGRAM), "100000", "--build", str(self.build), *more]
        return fuzz_each.Fuzzers(fuzz_each.arguments())

    def note(self, fuzzers, *result):
        with contextlib.redirect_stdout(io.StringIO()):
            fuzzers.note(*result)

    def fuzz(self, fuzzers, slices):
        """Runs so many slices one after the other, each of which takes the time that was planned; returns their parsers."""
        order = []
        for _ in range(slices):
            name, _, seconds = fuzzers.next()
            self.note(fuzzers, name, "stat::number_of_executed_units: 5\n", 0, seconds, seconds)
            order.append(name)
        return order

    def test_the_parser_that_was_fuzzed_least_comes_next(self):
        fuzzers = self.fuzzers("--slice", "100", state={"task": 150, "run log": 20, "reply": 130, "array": 260})
        self.assertEqual(self.fuzz(fuzzers, 3), ["run log", "run log", "reply"])

    def test_named_parsers_reach_the_goal_before_others_get_time(self):
        fuzzers = self.fuzzers("--slice", "100", "--goal", "200", "--first", "run log,array", state={"run log": 150})
        self.assertEqual(self.fuzz(fuzzers, 7), ["array", "array", "run log", "task", "reply", "task", "reply"])
        self.assertIsNone(fuzzers.next())
        self.assertEqual({name: one["seconds"] for name, one in fuzzers.state.items()}, dict.fromkeys(("task", "run log", "reply", "array"), 200))

    def test_more_cores_than_named_parsers_share_them_up_to_the_goal(self):
        fuzzers = self.fuzzers("--slice", "100", "--goal", "250", "--first", "array,reply")
        tasks = [fuzzers.next() for _ in range(7)]
        self.assertEqual([name for name, _, _ in tasks], ["reply", "array"] * 3 + ["task"])
        self.assertEqual([seconds for _, _, seconds in tasks], [100] * 4 + [50] * 2 + [100])
        self.assertEqual([kind for _, kind, _ in tasks[:2]], ["text", "graph"])
        # A slice that took less processor time than was planned leaves a rest.
        for (name, _, seconds), took in zip(tasks, [100, 100, 100, 100, 20, 50]):
            self.note(fuzzers, name, "stat::number_of_executed_units: 5\n", 0, took, seconds)
        self.assertEqual(fuzzers.next(), ("reply", "text", 30))

    def test_a_parser_is_given_up_after_three_failures_even_by_several_processes(self):
        fuzzers = self.fuzzers("--slice", "100", "--first", "reply")
        tasks = [fuzzers.next() for _ in range(4)]
        self.assertEqual({name for name, _, _ in tasks}, {"reply"})
        for name, _, seconds in tasks:
            self.note(fuzzers, name, FAILED, 77, 10, seconds)
        self.assertEqual(fuzzers.state["reply"], {"seconds": 40, "executions": 20, "edges": 0, "failures": 4})
        self.assertEqual(len(list((self.build / "failed").glob("reply-*.log"))), 4)
        self.assertEqual(fuzzers.next()[0], "task")

    def test_a_run_counts_what_its_fuzzers_did(self):
        done = self.run_program("6", "--goal", "1", "array")
        self.assertEqual(done.returncode, 0, done.stderr)
        counted = json.loads((self.build / "state.json").read_text())
        self.assertEqual(list(counted), ["array"])
        self.assertEqual(counted["array"]["executions"] % 7, 0)
        self.assertEqual(counted["array"]["edges"], 11)

    def test_unknown_names_are_refused(self):
        for wrong, name in ((["tusk"], "tusk among the chosen parsers"), (["--first", "task,tusk"], "tusk"),
                            (["--first", "task", "reply"], "task among the chosen parsers")):
            done = self.run_program("6", *wrong)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"fuzz-each: no parser is called {name} in {self.build}/tests\n")

    def run_program(self, *more):
        return subprocess.run([sys.executable, PROGRAM, *more, "--build", self.build, "--prefix", ""], capture_output=True, text=True, check=False)


if __name__ == "__main__":
    unittest.main()
