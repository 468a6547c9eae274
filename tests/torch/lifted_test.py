# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""lifted_test.py: tests how the referee judges lifted modules. Needs PyTorch but no GPU: stage and player are threads of this file.

The stage captures nothing and the player evaluates a Python function, but both use the judge's protocol and the judge's memory. The
requests and their order, the comparison with right results and the refusals are the referee's own code.
"""
import contextlib
import json
import mmap
import os
import random
import socket
import struct
import sys
import threading
import unittest
from unittest import mock

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "tuner", "torch")
room = {"__name__": "room"}
for name in ("problem", "frames", "weights", "lifted", "referee"):
    with open(os.path.join(SCRIPTS, name + ".py"), encoding="utf-8") as source:
        exec(compile(source.read().split("\ntry:\n    main()")[0], name + ".py", "exec"), room)
import torch

ONE_BUILD = threading.RLock()  # threads share PyTorch's random numbers and initialisers, where the judge's processes do not
unlocked_build = room["Problem"].build


def locked_build(*arguments, **keywords):
    with ONE_BUILD:
        return unlocked_build(*arguments, **keywords)


unlocked_undrawn = room["undrawn"]


@contextlib.contextmanager
def locked_undrawn():
    with ONE_BUILD, unlocked_undrawn():
        yield


room["Problem"].build, room["undrawn"] = locked_build, locked_undrawn
PROBLEM = """
import torch
rows, width = 6, 5

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc = torch.nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.fc(x))

def get_inputs():
    return [torch.rand(rows, width)]

def get_init_inputs():
    return [width]
"""


# The module multiplies by a weight that is made of ones.
SCALED = PROBLEM.replace("self.fc = torch.nn.Linear(width, width)", "self.scale = torch.nn.Parameter(torch.ones(width))").replace(
    "torch.relu(self.fc(x))", "torch.relu(x) * self.scale")


class Other(threading.Thread):
    """The far end of a socket: answers each request by a method of its name."""

    def __init__(self, test):
        super().__init__(daemon=True)
        ours, self.near = socket.socketpair()
        self.test, self.frames, self.asked, self.socket = test, room["Frames"](ours.fileno()), [], ours

    def run(self):
        try:
            while True:
                request = self.frames.receive()
                self.asked.append(request["op"])
                answer = {"ok": True, **(getattr(self, request["op"], lambda _: None)(request) or {})}
                if "error" in answer:
                    answer.pop("ok")
                self.frames.send(answer)
                if request["op"] == "lift":
                    plan = os.memfd_create("plan")
                    socket.send_fds(self.socket, [b"p"], [plan])
                    os.close(plan)
        except room["Gone"]:
            pass

    def memory(self, request):
        _, descriptors, _, _ = socket.recv_fds(self.socket, 1, 1)
        self.whole = torch.frombuffer(mmap.mmap(descriptors[0], request["bytes"]), dtype=torch.uint8)
        os.close(descriptors[0])
        self.places = request

    def tensor(self, place, shape):
        offset, size = (place["offset"], 4 * 30) if isinstance(place, dict) else place
        return self.whole[offset:offset + size].view(torch.float32).reshape(shape)


class Stage(Other):
    def __init__(self, test):
        super().__init__(test)
        self.lifting = threading.Event()

    def build(self, request):
        model, _ = room["Problem"](self.test.problem, "problem.py").build(request["sizes"], seed=request["seed"])
        self.model = model
        if self is self.test.others[0]:
            self.test.model = model

    def draw(self, request):
        return {"drawn": self.test.alike and room["redraw"](self.model, request["plan"], request["seed"])}

    def lift(self, request):
        if self.test.refusal:
            return {"error": self.test.refusal}
        x = self.tensor(self.places["inputs"][0][0], (6, 5))
        with torch.no_grad():
            self.tensor(self.places["outputs"][0][0], (6, 5)).copy_(self.model(x))
        self.test.captured = x.clone()
        if self is self.test.others[0] and self.test.wait is not None:
            # Whether the baseline was asked to capture before the submission had answered.
            self.test.beside = self.test.others[1].lifting.wait(self.test.wait)
        self.lifting.set()
        return {"plan": {"kernels": 2, "mapped_bytes": 4096}}


class Player(Other):
    def __init__(self, test):
        super().__init__(test)
        self.timed, self.seen = [], []  # requests to time, and the inputs of the launches whose results were kept

    def load(self, request):
        _, descriptors, _, _ = socket.recv_fds(self.socket, 1, 1)
        os.close(descriptors[0])

    def run_plan(self, slot=0):
        x = self.tensor(self.places["inputs"][slot][0], (6, 5))
        with torch.no_grad():
            self.tensor(self.places["outputs"][slot][0], (6, 5)).copy_(self.test.play(self.test, x))

    def run(self, *request):  # threading.Thread's method, and the handler of the request "run"
        if not request:
            return super().run()
        self.run_plan()
        return {"guards": self.test.guards}

    def time(self, request):
        mine = self is self.test.others[2]
        self.timed.append(request)
        for number, slot in enumerate(request["slots"]):
            x = self.tensor(self.places["inputs"][slot][0], (6, 5))
            with torch.no_grad():
                result = (self.test.play_timed if mine else self.test.play)(self.test, x)
            if number in request["kept"]:
                self.seen.append(x.clone())
                self.tensor(self.places["outputs"][slot][0], (6, 5)).copy_(result)
        return {"times": [self.test.microseconds[mine]] * len(request["slots"]), "guards": self.test.guards_timed if mine and request.get("guards") else None}


class LiftedTest(unittest.TestCase):
    def judge(self, play=lambda test, x: test.model(x), trials=4, refusal=None, guards=None, baseline=False, problem=PROBLEM, time_seconds=0.0, tolerance=(1e-5, 1e-6),
              alike=True, submission="", wait=None, play_timed=None, guards_timed=None):
        self.play_timed, self.guards_timed = play_timed or play, guards_timed  # what the submission's launches do while they are timed
        self.wait = wait  # seconds for which the submission's capture waits for the baseline's to begin
        self.alike = alike  # the submission's parameters have the names and shapes of the module's
        self.problem, self.play, self.refusal, self.guards, self.model = problem, play, refusal, guards, None
        self.microseconds = {True: 10.0, False: 20.0}
        self.others = [Stage(self), *([Stage(self)] if baseline else []), Player(self), *([Player(self)] if baseline else [])]
        spec = {"shape": [6, 5], "dtype": "float32"}
        weights = {"scale": [5]} if "self.scale" in problem else {"fc.weight": [5, 5], "fc.bias": [5]}
        near_one = {"dtype": "float32", "distribution": "normal", "scale": 0.25, "offset": 1.0}
        job = {"text": problem, "file": "problem.py", "class": "Model", "training": True, "threads": 1, "inputs": [{"tensor": "x", "boolean": False}],
               "outputs": ["out"], "device": "cpu:0", "trials": trials, "seed": 7, "submission": submission, "baselines": ["torch_eager"] if baseline else [],
               "launch_seconds": 10, "time_seconds": time_seconds, "lift": True,
               "cases": [{"sizes": {"rows": 6, "width": 5}, "weights": {name: {"shape": shape, "draw": {**near_one, "shape": shape}} for name, shape in weights.items()},
                          "tensors": {"x": {**spec, "distribution": "uniform", "low": 0, "high": 1, "stress": True, "special": []}},
                          "outputs": {"out": {**spec, "c_max": tolerance[0], "c_rms": tolerance[1], "c_small": 0, "small_floor": 0, "absolute": 0, "slice_axis": 0, "boolean": False}}}]}
        ours, theirs = socket.socketpair()
        self.told = []

        def listen():
            try:
                while True:
                    frame = room["Frames"](theirs.fileno()).receive()
                    self.told.append(frame)
                    if "end_stages" in frame:
                        self.asked_when_ended = [list(one.asked) for one in self.others]
                        room["Frames"](theirs.fileno()).send({})
            except room["Gone"]:
                pass

        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        # The descriptors have the job's order: first those of the stages, then those of the players.
        descriptors = [one.near.fileno() for one in self.others]
        secret = random.Random(7)
        lifted = room["LiftedRun"](job, secret)
        for side, stage, player in zip(lifted.sides, descriptors, descriptors[len(lifted.sides):]):
            side.stage.frames, side.player.frames = room["Frames"](stage), room["Frames"](player)
        for one in self.others:
            one.start()
        try:
            lifted.begin()
            referee = room["Referee"](job, room["Frames"](ours.fileno()), secret)
            referee.flush = torch.zeros(1)
            return lifted.run(referee), lifted
        finally:
            ends = [ours, theirs] + [one.near for one in self.others]
            for end in ends:
                end.shutdown(socket.SHUT_RDWR)
            for thread in [listener, *self.others]:  # before the number of a closed descriptor belongs to another socket
                thread.join(30)
            for end in ends + [one.socket for one in self.others]:
                end.close()

    def refused(self, **how):
        with self.assertRaises(room["Verdict"]) as caught:
            self.judge(**how)
        return caught.exception.args

    def test_what_is_right_is_ok_and_its_seconds_are_told_by_phase(self):
        answer, lifted = self.judge()
        self.assertEqual(answer["verdict"], "ok")
        self.assertLess(answer["cases"][0]["rms_error"], 1e-6)
        self.assertEqual(answer["cases"][0]["plan"], {"kernels": 2, "mapped_bytes": 4096, "left_out": 0})
        self.assertEqual(set(lifted.spent.seconds), {"context", "start", "build", "capture", "player", "end", "reference", "play"})

    def test_weights_are_new_for_every_fifth_set_of_inputs(self):
        self.judge(trials=11)
        self.assertEqual(self.others[0].asked.count("build"), 3)
        self.assertEqual(self.others[1].asked.count("run"), 3 + 11 + 2)  # 3 captures, 11 sets of inputs, 2 sets of hard inputs

    def test_the_baseline_is_captured_beside_the_submission(self):
        self.judge(baseline=True, wait=20)
        self.assertTrue(self.beside)

    def test_a_submission_that_may_time_its_own_kernels_is_captured_alone(self):
        self.judge(baseline=True, wait=0.5, submission="@triton.autotune(configs=configs, key=[])")
        self.assertFalse(self.beside)

    def test_a_rehearsal_changes_no_secret(self):
        def last_inputs():
            self.judge()
            return self.captured.tolist(), self.others[1].tensor(self.others[1].places["inputs"][0][0], (6, 5)).tolist()

        rehearsed = last_inputs()
        with mock.patch.object(room["Referee"], "rehearse", lambda *_: None):
            self.assertEqual(last_inputs(), rehearsed)

    def test_players_open_and_stages_load_before_anything_else(self):
        self.judge()
        self.assertEqual(self.others[0].asked[:5], ["load", "build", "draw", "memory", "lift"])  # it builds while the referee still loads
        self.assertEqual(self.others[1].asked[:2], ["open", "memory"])

    def test_a_stage_ends_once_nothing_will_be_captured_again(self):
        self.judge(trials=7)
        self.assertEqual(self.asked_when_ended[0].count("lift"), 2)
        self.assertEqual(self.asked_when_ended[1].count("run"), 7)  # 2 of the captures and 5 that were checked
        self.assertEqual(sum("end_stages" in one for one in self.told), 1)

    def test_results_of_the_capture_that_were_kept_are_wrong(self):
        verdict, sentence, _ = self.refused(play=lambda test, x: test.model(test.captured))
        self.assertEqual(verdict, "wrong_output")
        self.assertIn("elements wrong", sentence)

    def test_a_lower_precision_is_refused(self):
        verdict, sentence, _ = self.refused(play=lambda test, x: test.model(x) * (1 + 5e-6) if not torch.equal(x, test.captured) else test.model(x))
        self.assertEqual(verdict, "wrong_output")
        self.assertIn("less precise", sentence)
        self.assertRegex(sentence, r"the furthest element is at \[\d, \d\]: expected \d\.\d+, got \d\.\d+; a lower precision than the task's was used "
                                   r"somewhere, or a small constant, such as an eps, is missing or different, or a few inputs are left out")

    def test_changed_inputs_and_writes_outside_are_violations(self):
        def change(test, x):
            result = test.model(x)
            if not torch.equal(x, test.captured):
                x[3, 3] += 1
            return result

        self.assertEqual(self.refused(play=change)[:2], ("rule_violation", "the submission changes an input: work on a copy"))
        self.assertEqual(self.refused(guards="it writes behind a tensor of 120 bytes")[0], "rule_violation")

    def test_what_cannot_be_captured_or_plays_otherwise_is_not_lifted(self):
        with self.assertRaises(room["NoLift"]) as caught:
            self.judge(refusal="forward cannot be captured")
        self.assertIn("the submission: forward cannot be captured", str(caught.exception))
        with self.assertRaises(room["NoLift"]) as caught:
            self.judge(play=lambda test, x: test.model(x) + 1)
        self.assertIn("other results than where it was captured", str(caught.exception))

    def test_without_memory_for_its_sides_it_is_not_lifted(self):
        for number in range(2):  # the submission's stage, and its player
            made, host = [], room["Host"]

            def short(size):
                made.append(size)
                if len(made) > number:
                    raise MemoryError("3 MiB are not there")
                return host(size)

            with mock.patch.dict(room, {"Host": short}), self.assertRaises(room["NoLift"]) as caught:
                self.judge()
            self.assertEqual(str(caught.exception), ("the submission: 3 MiB are not there", "the submission, run again: 3 MiB are not there")[number])

    def test_an_output_that_is_one_number_everywhere_is_told(self):
        self.assertEqual(self.judge()[0]["cases"][0]["constant"], {})
        answer, _ = self.judge(problem=PROBLEM.replace("torch.relu(self.fc(x))", "torch.relu(self.fc(x)) * 0.0 + 2.0"))
        self.assertEqual(answer["cases"][0]["constant"], {"out": 2.0})

    def test_a_weight_of_ones_that_is_left_out_is_wrong_where_the_judge_can_draw_it(self):
        self.assertEqual(self.judge(problem=SCALED, baseline=True)[0]["cases"][0]["constant_weights"], {})
        verdict, sentence, _ = self.refused(problem=SCALED, play=lambda test, x: torch.relu(x) if not torch.equal(x, test.captured) else test.model(x))
        self.assertEqual(verdict, "wrong_output")
        self.assertIn("it is right for scale 1 everywhere, as the module is made: ModelNew does not use this weight in forward", sentence)

    def test_a_weight_of_ones_that_cannot_be_drawn_is_told(self):
        answer, _ = self.judge(problem=SCALED, play=lambda test, x: torch.relu(x), alike=False, baseline=True)
        self.assertEqual((answer["verdict"], answer["cases"][0]["constant_weights"]), ("ok", {"scale": 1.0}))
        self.assertEqual(self.others[1].asked.count("draw"), 0)  # the baseline keeps its weights too
        self.assertEqual(self.judge(alike=False)[0]["cases"][0]["constant_weights"], {})

    def test_a_single_random_weight_is_not_told_as_constant(self):
        for made, told in (("torch.randn(1)", {}), ("torch.full((1,), 2.0)", {"scale": 2.0})):
            answer, _ = self.judge(problem=SCALED.replace("torch.ones(width)", made), play=lambda test, x: test.model(x), alike=False)
            self.assertEqual(answer["cases"][0]["constant_weights"], told, made)

    def test_hard_inputs_are_tried_too(self):
        self.assertEqual(self.judge(trials=4)[0]["cases"][0]["hard_sets"], 2)
        verdict, sentence, _ = self.refused(play=lambda test, x: test.model(x.clamp(-4, 4)))
        self.assertEqual(verdict, "wrong_output")
        self.assertIn("on hard inputs", sentence)

    def test_hard_inputs_that_the_module_itself_does_not_keep_are_asked_of_none(self):
        cubes = PROBLEM.replace("torch.relu(self.fc(x))", "(self.fc(x) * 1e4 + self.fc(x)) - self.fc(x) * 1e4 if x.abs().max() > 1 or x.abs().min() < 1e-5 else self.fc(x)")
        self.assertEqual(self.judge(trials=4, problem=cubes)[0]["cases"][0]["hard_sets"], 0)

    def test_where_results_cancel_the_modules_own_error_decides(self):
        cancels = PROBLEM.replace("torch.relu(self.fc(x))", "(self.fc(x) * 1e4 + self.fc(x)) - self.fc(x) * 1e4")
        answer, _ = self.judge(problem=cancels)
        self.assertEqual(answer["verdict"], "ok")
        self.assertGreater(answer["cases"][0]["widened"]["out"][1], 1e-6)
        verdict, sentence, _ = self.refused(problem=cancels, play=lambda test, x: test.model(x) * 1.02 if not torch.equal(x, test.captured) else test.model(x))
        self.assertEqual(verdict, "wrong_output")
        self.assertEqual(self.judge()[0]["cases"][0]["widened"], {})

    def test_a_loose_tolerance_is_narrowed_by_the_modules_own_error(self):
        answer, _ = self.judge(tolerance=(1.0, 0.3))
        self.assertEqual(answer["verdict"], "ok")
        self.assertEqual(answer["cases"][0]["narrowed"], {"out": [0.02, 0.01]})
        for planted in (lambda x: x + 0.03 * x.abs().max() * (torch.arange(30).reshape(6, 5) == 7), lambda x: x * 1.011):
            verdict, _, _ = self.refused(tolerance=(1.0, 0.3), play=lambda test, x: planted(test.model(x)) if not torch.equal(x, test.captured) else test.model(x))
            self.assertEqual(verdict, "wrong_output")
        self.assertEqual(self.judge()[0]["cases"][0]["narrowed"], {})

    def test_a_module_whose_results_are_rounding_errors_is_no_task(self):
        chance = PROBLEM.replace("torch.relu(self.fc(x))", "(self.fc(x) + 1e7) - 1e7")
        for planted in (1.0, 1.5):
            with self.assertRaises(room["Refused"]) as caught:
                self.judge(problem=chance, play=lambda test, x: test.model(x) * (planted if not torch.equal(x, test.captured) else 1.0))
            self.assertIn("mostly rounding errors", str(caught.exception))

    def test_times_are_of_interleaved_quads_after_the_stages_have_ended(self):
        answer, lifted = self.judge(baseline=True)
        timed = answer["cases"][0]["baselines"]["torch_eager"]
        self.assertEqual((timed["time_us"]["median"], timed["baseline_us"]["median"], timed["speedup"]["median"]), (10.0, 20.0, 2.0))
        self.assertEqual([asked.count("time") for asked in self.asked_when_ended], [0, 0, 0, 0])
        self.assertIn("time", lifted.spent.seconds)

    def test_each_timed_request_has_new_inputs_and_none_is_launched_twice_in_a_row(self):
        answer, _ = self.judge(baseline=True)
        quads = answer["cases"][0]["baselines"]["torch_eager"]["quads"]
        mine, theirs = self.others[2], self.others[3]
        requests = [one for one in mine.timed if one["kept"]]
        self.assertEqual(len(requests), 2 * quads)
        for request in requests:
            self.assertTrue(all(a != b for a, b in zip(request["slots"], request["slots"][1:])))
            self.assertEqual(len({request["slots"][launch] for launch in request["kept"]}), 4)
        self.assertEqual(len({tuple(x.flatten().tolist()) for x in mine.seen}), 4 * 2 * quads)
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(mine.seen, theirs.seen, strict=True)))
        self.assertEqual([one.asked.count("load") for one in (mine, theirs)], [1, 1])  # more memory takes no new plan

    def test_results_that_a_launch_keeps_for_the_next_are_wrong(self):
        kept = {}

        def keep(test, x):
            return kept.setdefault("result", test.model(x))

        verdict, sentence, _ = self.refused(baseline=True, play_timed=keep)
        self.assertEqual(verdict, "wrong_output")
        self.assertIn("while it was timed", sentence)

    def test_the_results_of_any_timed_request_may_be_compared(self):
        for wrong in range(12):  # the least number of requests that count: two for each of six quads
            def once(test, x):
                request = test.others[2].timed
                return test.model(x) + (1.0 if sum(bool(one["kept"]) for one in request) == wrong + 1 else 0.0)

            self.assertEqual(self.refused(baseline=True, play_timed=once)[0], "wrong_output", wrong)

    def test_what_is_checked_of_a_launch_is_checked_of_a_timed_one(self):
        def change(test, x):
            result = test.model(x)
            x[3, 3] += 1
            return result

        self.assertEqual(self.refused(baseline=True, play_timed=change)[:2],
                         ("rule_violation", "the submission changes an input while it is timed: work on a copy"))
        self.assertEqual(self.refused(baseline=True, guards_timed="it writes behind a tensor of 120 bytes")[:2],
                         ("rule_violation", "the submission writes outside of its tensors while it is timed: it writes behind a tensor of 120 bytes"))

    def test_where_memory_or_time_is_short_fewer_sets_and_results_are_taken(self):
        for bounds, slots, kept in (({"MOST_SLOT_BYTES": 2 * 3 * 512}, 2, 2), ({"MOST_SLOT_BYTES": 0}, 1, 1), ({"COMPARED_BYTES": 0}, 4, 1)):
            with mock.patch.dict(room, bounds):
                self.judge(baseline=True)
            requests = [one for one in self.others[2].timed if one["kept"]]
            self.assertEqual({len(one["kept"]) for one in requests}, {kept})
            self.assertEqual({slot for one in requests for slot in one["slots"]}, set(range(slots)))
            self.assertGreater(len({launch for one in requests for launch in one["kept"]}), 4 * kept)  # the launches are drawn

    def test_the_submissions_last_plan_is_timed_and_each_baseline_is_captured_once(self):
        self.judge(baseline=True, trials=6)
        self.assertEqual([asked.count("lift") for asked in self.asked_when_ended], [2, 1, 0, 0])
        self.assertEqual(self.asked_when_ended[1], ["load", "build", "memory", "draw", "lift"])  # one build is enough

    def test_timing_ends_early_if_times_agree_only(self):
        self.assertEqual(self.judge(baseline=True, time_seconds=60)[0]["cases"][0]["baselines"]["torch_eager"]["quads"], 6)
        ratios = [2.0] * 12 + [2.1] * 12
        self.assertEqual([room["precise"]([2.0] * 9), room["precise"]([2.0] * 10), room["precise"](ratios)], [False, True, False])

    def test_weights_are_made_once_for_a_seed_and_never_kept_for_another(self):
        builds, build = [], room["Problem"].build

        def counted(problem, sizes, **keywords):
            builds.append(keywords.get("seed"))
            return build(problem, sizes, **keywords)

        room["Problem"].build = counted
        try:
            self.judge(trials=6)
        finally:
            room["Problem"].build = build
        seeds = [seed for seed in builds if seed is not None]
        # The stage and the referee make the weights of each of the two seeds, and the referee modules without weights: one in float64 for
        # each, and one in float32 for the first's rehearsal and for the second's hard inputs.
        self.assertEqual([len(set(seeds)), len(seeds), builds.count(None)], [2, 4, 4])


if __name__ == "__main__":
    unittest.main()
