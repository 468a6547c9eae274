# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""hosted_timing_test.py: tests what the referee compares while it times hosted modules. Needs PyTorch but no GPU.

The two sides are Python functions of this file in place of processes. The quads and the refusals are the referee's own code.
"""
import random
import unittest
from unittest import mock

import torch

from lifted_test import room


class Side:
    """One side of the comparison: `answer(inputs)` gives its output."""

    def __init__(self, name, answer):
        self.name, self.answer, self.seen, self.output = name, answer, [], None

    def give(self, layout, device):
        pass

    def ask(self, request, seconds):
        pass

    def run(self, inputs):
        self.seen.append(inputs)
        self.output = self.answer(inputs)

    def result(self, slot):
        return [torch.tensor([self.output])]


class Layout:
    bytes = 4


def timed(answer):
    """Times a submission that answers as `answer` says against one that doubles its inputs. Returns the times and the two sides."""
    referee = object.__new__(room["Referee"])
    submission, baseline = Side("the submission", answer), Side("eager", lambda inputs: 2.0 * inputs)
    referee.submission, referee.device, referee.secret = submission, torch.device("cpu"), random.Random(7)
    referee.job = {"outputs": ["out"], "launch_seconds": 1, "time_seconds": 0}
    case = {"sizes": {}, "outputs": {"out": {"dtype": "float32", "c_rms": 1e-6}}, "magnitude": 1.0}
    drawn = iter(range(1, 1_000_000))

    def fill(case, layout):
        referee.inputs = float(next(drawn))

    def handover(side, seconds):
        side.run(referee.inputs)
        return 1.0

    def hold(actual, right, spec, magnitude, slack=1.0):
        wrong = not torch.equal(actual, right)
        fault = {"wrong": 1, "total": 1, "index": [0], "expected": right.item(), "actual": actual.item()} if wrong else None
        return fault, 0.0, 0.0

    for function in (fill, handover, hold):
        setattr(referee, function.__name__, function)
    referee.tell = referee.redraw = lambda *ignored: None
    referee.room = lambda case, slots: Layout()
    referee.right = lambda case, seed, slot: ([torch.tensor([2.0 * referee.inputs])], 1.0)
    with mock.patch.object(torch.cuda, "mem_get_info", return_value=(1 << 30, 1 << 30)):
        told = referee.time_against(case, baseline, "rows=1")
    return told, submission, baseline


class HostedTiming(unittest.TestCase):
    def test_no_side_meets_an_input_twice(self):
        told, submission, baseline = timed(lambda inputs: 2.0 * inputs)
        self.assertGreaterEqual(told["quads"], 1)
        last = 2 * told["quads"]  # what was seen before is warm-up
        for side in (submission, baseline):
            self.assertEqual(len(set(side.seen[-last:])), last)
        self.assertEqual(submission.seen, baseline.seen)

    def test_results_kept_from_the_timing_before_are_refused(self):
        kept = {}
        calls = []

        def answer(inputs):
            calls.append(inputs)
            if len(calls) % 2 == 1 or "output" not in kept:
                kept["output"] = 2.0 * inputs
            return kept["output"]

        with self.assertRaises(room["Verdict"]) as refused:
            timed(answer)
        self.assertIn("while it was timed", str(refused.exception))

    def test_a_wrong_result_in_any_timing_is_refused(self):
        warm_up = len(timed(lambda inputs: 2.0 * inputs)[1].seen) - 2 * timed(lambda inputs: 2.0 * inputs)[0]["quads"]
        for timing in (0, 1):
            calls = []

            def answer(inputs, calls=calls, timing=timing):
                calls.append(inputs)
                return 2.0 * inputs + (len(calls) == warm_up + timing + 1)

            with self.subTest(timing=timing), self.assertRaises(room["Verdict"]):
                timed(answer)


if __name__ == "__main__":
    unittest.main()
