# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""hosted_timing_test.py: tests what the referee compares while it times hosted modules. Needs PyTorch but no GPU.

The two sides are Python functions of this file in place of processes. The quads, the refusals and the corrections are the referee's own code.
"""
import random
import socket
import threading
import unittest
from unittest import mock

import torch

from lifted_test import Other, PROBLEM, room


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
    bytes, slots = 4, 1


def timed(answer, takes=lambda is_mine: (1.0, 0.001)):
    """Times a submission that answers as `answer` says against one that doubles its inputs. `takes` gives what a handover takes, and what the
    GPU takes before it. Returns the Timing and the two sides."""
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
        return takes(side is submission)

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
        self.assertGreaterEqual(told.quads, 1)
        last = 2 * told.quads  # what was seen before is warm-up
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
        warm_up = len(timed(lambda inputs: 2.0 * inputs)[1].seen) - 2 * timed(lambda inputs: 2.0 * inputs)[0].quads
        for timing in (0, 1):
            calls = []

            def answer(inputs, calls=calls, timing=timing):
                calls.append(inputs)
                return 2.0 * inputs + (len(calls) == warm_up + timing + 1)

            with self.subTest(timing=timing), self.assertRaises(room["Verdict"]):
                timed(answer)

    def test_work_before_the_call_counts_as_the_submissions_time(self):
        # The GPU runs one process at a time: a submission that works for 0.4 s before its call has 0.4 s less to do in it, and the inputs are
        # there 0.4 s later.
        early, _, _ = timed(lambda inputs: 2.0 * inputs, lambda is_mine: (0.6, 0.401) if is_mine else (1.0, 0.001))
        told = early.corrected(1.0, 0.001)
        self.assertAlmostEqual(told["speedup"]["median"], 1.0)
        self.assertAlmostEqual(told["time_us"]["median"], 1e6)
        self.assertAlmostEqual(told["early_us"], 0.4e6)

    def test_work_before_the_call_cannot_be_hidden_by_work_before_the_baselines(self):
        early, _, _ = timed(lambda inputs: 2.0 * inputs, lambda is_mine: (0.6, 0.401) if is_mine else (1.0, 0.401))
        self.assertAlmostEqual(early.corrected(1.0, 0.001)["speedup"]["median"], 1.0)

    def test_a_baseline_that_the_submission_slows_counts_as_it_is_alone(self):
        slowed, _, _ = timed(lambda inputs: 2.0 * inputs, lambda is_mine: (1.0, 0.001) if is_mine else (2.0, 0.001))
        told = slowed.corrected(1.0, 0.001)
        self.assertAlmostEqual(told["speedup"]["median"], 1.0)
        self.assertAlmostEqual(told["baseline_us"]["median"], 1e6)
        self.assertTrue(told["slowed_counts"])

    def test_baselines_are_timed_alone_after_the_submissions_process_has_ended(self):
        timing, submission, baseline = timed(lambda inputs: 2.0 * inputs, lambda is_mine: (1.0, 0.001) if is_mine else (2.0, 0.001))
        referee, order = object.__new__(room["Referee"]), []
        submission.memory = mock.Mock()
        submission.answer = baseline.answer = lambda seconds, doing: {}
        submission.ask = baseline.ask = lambda request, seconds, wait=True: None
        referee.submission, referee.baselines, referee.device = submission, [baseline], torch.device("cpu")
        referee.job = {"cases": [{"sizes": {"rows": 1}}]}
        referee.frames = mock.Mock(send=lambda message: order.append(next(iter(message))), receive=lambda seconds: {})
        referee.check = lambda case, what: {}
        referee.time_against = lambda case, side, what: order.append("beside") or timing
        referee.time_alone = lambda one: order.append("alone") or (1.0, 0.001)
        with mock.patch.dict(room, {"load_request": lambda job, side: {}, "FREEING_SECONDS": 0.0}):
            answer = referee.run(None)
        self.assertEqual(order, ["doing", "beside", "end_submission", "alone"])
        submission.memory.close.assert_called_once()
        self.assertAlmostEqual(answer["cases"][0]["baselines"]["eager"]["speedup"]["median"], 1.0)

    def test_times_that_vary_as_times_do_are_left_alone(self):
        noise = random.Random(5)
        honest, _, _ = timed(lambda inputs: 2.0 * inputs,
                             lambda is_mine: (0.030 * (0.5 if is_mine else 1) * noise.uniform(1, 1.02), 0.001 + noise.uniform(0, 60e-6)))
        told = honest.corrected(0.029, 0.001)
        self.assertEqual((told["early_us"], told["slowed_counts"]), (0.0, False))
        # Alone, inputs may be written a little faster.
        self.assertEqual(honest.corrected(0.029, 0.00095)["early_us"], 0.0)
        self.assertEqual(told["speedup"], room["summary"](honest.ratios()))

    def test_no_right_late_word_is_there_before_the_clock_starts(self):
        count = 20_000  # input words; there are as many output words
        referee = object.__new__(room["Referee"])
        referee.device, referee.generator = torch.device("cpu"), torch.Generator().manual_seed(3)
        referee.truth = torch.randint(0, 256, (4 * count,), dtype=torch.uint8)
        right = referee.truth.clone()

        class Stage:
            name, layout = "the submission", mock.Mock(input_bytes=4 * count, bytes=8 * count, slots=1)
            memory = mock.Mock(tensor=torch.zeros(8 * count, dtype=torch.uint8))
            wrong_at_call = None

            def words(self, begin, end):
                return self.memory.tensor[begin:end].view(torch.int32)

            def wrong(self):
                return int((self.words(0, 4 * count) != right.view(torch.int32)).sum())

            def ask(self, request, seconds):
                self.wrong_at_call = self.wrong()

        stage, fewest, clock = Stage(), [count], []

        def watched(name):
            """Patches a tensor's method so that afterwards the inputs are looked at, as a submission may at any time."""
            method = getattr(torch.Tensor, name)

            def write(tensor, *arguments):
                result = method(tensor, *arguments)
                if len(clock) < 2:  # read when the inputs begin to be written, and when the time of the handover begins
                    fewest[0] = min(fewest[0], stage.wrong())
                return result
            return mock.patch.object(torch.Tensor, name, write)

        now = room["time"].perf_counter
        with watched("copy_"), watched("index_copy_"), mock.patch.object(room["time"], "perf_counter", lambda: clock.append(1) or now()):
            referee.handover(stage, 1)
        self.assertEqual(stage.wrong_at_call, 0)
        self.assertGreater(fewest[0], room["PLACES"] // 2)
        self.assertTrue(torch.equal(referee.truth, right))


class Stage(Other):
    """A stage as a thread, with the judge's protocol and memory. It runs the task's own module."""

    def build(self, request):
        self.model, _ = room["Problem"](PROBLEM, "problem.py").build(request["sizes"], seed=request["seed"])

    def draw(self, request):
        return {"drawn": room["redraw"](self.model, request["plan"], request["seed"])}

    def run(self, *request):  # threading.Thread's method, and the handler of the request "run"
        if not request:
            return super().run()
        with torch.no_grad():
            for slot in request[0]["slots"]:
                x = self.tensor(self.places["inputs"][slot][0], (6, 5))
                self.tensor(self.places["outputs"][slot][0], (6, 5)).copy_(self.model(x))


class HostedJudge(unittest.TestCase):
    def test_a_module_is_timed_against_itself_and_its_baseline_again_when_it_has_ended(self):
        spec = {"shape": [6, 5], "dtype": "float32"}
        near_one = {"dtype": "float32", "distribution": "normal", "scale": 0.25, "offset": 1.0}
        case = {"sizes": {"rows": 6, "width": 5}, "weights": {name: {"shape": shape, "draw": {**near_one, "shape": shape}} for name, shape in
                                                              (("fc.weight", [5, 5]), ("fc.bias", [5]))},
                "tensors": {"x": {**spec, "distribution": "uniform", "low": 0, "high": 1, "stress": True, "special": []}},
                "outputs": {"out": {**spec, "c_max": 1e-5, "c_rms": 1e-6, "c_small": 0, "small_floor": 0, "absolute": 0, "slice_axis": 0, "boolean": False}}}
        # Two cases, so that the first one's modules must be built again for the baseline alone.
        job = {"text": PROBLEM, "file": "problem.py", "class": "Model", "training": True, "threads": 1, "inputs": [{"tensor": "x", "boolean": False}],
               "outputs": ["out"], "device": "cpu", "trials": 2, "seed": 7, "submission": "", "baselines": ["torch_eager"], "launch_seconds": 10,
               "time_seconds": 0, "lift": False, "cases": [case, dict(case)]}
        ours, theirs = socket.socketpair()
        stages = [Stage(None), Stage(None)]
        asked_when_ended = []

        def listen():
            try:
                while True:
                    if "end_submission" in room["Frames"](theirs.fileno()).receive():
                        stages[0].near.shutdown(socket.SHUT_RDWR)
                        asked_when_ended.append(list(stages[1].asked))
                        room["Frames"](theirs.fileno()).send({})
            except room["Gone"]:
                pass

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        referee = room["Referee"](job, room["Frames"](ours.fileno()), random.Random(7))
        for side, stage in zip((referee.submission, *referee.baselines), stages):
            side.frames = room["Frames"](stage.near.fileno())
            stage.start()
        try:
            with mock.patch.object(torch.cuda, "mem_get_info", return_value=(1 << 30, 1 << 30)), mock.patch.dict(room, {"FREEING_SECONDS": 0.0, "WINDOW_SECONDS": 1e-3, "MOST_QUADS": 10}):
                answer = referee.run(None)
        finally:
            for end in (ours, theirs, *(one.near for one in stages)):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # ended before
            for thread in (listener, *stages):
                thread.join(30)
            for end in (ours, theirs, *(end for one in stages for end in (one.near, one.socket))):
                end.close()
        self.assertEqual(answer["verdict"], "ok")
        self.assertEqual(len(asked_when_ended), 1)
        later = stages[1].asked[len(asked_when_ended[0]):]
        self.assertEqual(later.count("build"), 1)
        self.assertEqual(later.count("run"), 2 * (2 + room["ALONE_HANDOVERS"]) + 3)  # two cases, and three times to warm up
        for one in answer["cases"]:
            told = one["baselines"]["torch_eager"]
            self.assertGreaterEqual(told["quads"], room["LEAST_QUADS"])
            self.assertTrue(0.1 < told["speedup"]["median"] < 10, told)


if __name__ == "__main__":
    unittest.main()
