# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""operator_times_test.py: tests how a module's operators are timed. Needs PyTorch but no GPU: operators run on the CPU, and a stand-in for torch.cuda
keeps what the GPU's clock asks of it.
"""
import os
import time
import types
import unittest
from unittest import mock

import torch

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "tuner", "torch")
room = {"__name__": "room"}
for name in ("problem", "shapes", "costs", "operator_times"):
    with open(os.path.join(SCRIPTS, name + ".py"), encoding="utf-8") as source:
        exec(compile(source.read().removesuffix("\nmain()\n"), name + ".py", "exec"), room)

HEAD = "import torch\nfrom torch import nn\nrows, width = 64, 48\n\nclass Model(nn.Module):\n"
TAIL = "\n\ndef get_inputs():\n    return [torch.rand(rows, width)]\n\ndef get_init_inputs():\n    return []\n"
CHAIN = HEAD + """    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(width, 2 * width)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(torch.relu(self.fc(x)) * 2 * 3)
""" + TAIL
CHANGES = HEAD + """    def forward(self, x):
        self.calls = getattr(self, "calls", 0) + 1
        return torch.sin(x) if self.calls % 2 else torch.cos(x)
""" + TAIL


def job(text, **changes):
    return {"text": text, "file": "problem.py", "class": "Model", "training": True, "or_eval": True, "threads": 1, "gpu": -1, "seconds": 0.2, "sizes": {}, **changes}


class OperatorTimes(unittest.TestCase):
    def tearDown(self):
        torch.set_deterministic_debug_mode("default")

    def test_each_operator_has_its_calls_bytes_flops_and_time(self):
        told = room["time_operators"](job(CHAIN, sizes={"rows": 32}))
        found = {one["name"]: one for one in told["operators"]}
        self.assertEqual({name: one["calls"] for name, one in found.items()}, {"addmm": 1, "relu": 1, "mul": 2})
        weight, x, made = 4 * 48 * 96 + 4 * 96, 4 * 32 * 48, 4 * 32 * 96
        self.assertEqual(found["addmm"]["bytes"], weight + x + made)
        self.assertEqual(found["addmm"]["flops"], 2 * 32 * 48 * 96)
        self.assertEqual(found["mul"]["bytes"], 4 * made)
        self.assertEqual(told["own"], weight + x + made)
        for one in found.values():
            self.assertLess(0, one["us"]["low"])
            self.assertLessEqual(one["us"]["low"], one["us"]["median"])
            self.assertLessEqual(one["us"]["median"], one["us"]["high"])
        self.assertGreaterEqual(told["calls"], room["LEAST_CALLS"])
        self.assertEqual((told["on_gpu"], told["torch"], told["sizes"]), (False, torch.__version__, {"rows": 32, "width": 48}))

    def test_a_module_that_draws_is_timed_in_eval_mode_if_that_was_asked_for(self):
        self.assertFalse(room["time_operators"](job(CHAIN))["training"])
        told = room["time_operators"](job(CHAIN, or_eval=False))
        self.assertTrue(told["training"])
        self.assertTrue({"bernoulli_", "native_dropout"} & {one["name"] for one in told["operators"]})

    def test_time_between_operators_belongs_to_none_of_them(self):
        plain = torch.relu
        with mock.patch.object(torch, "relu", lambda x: (time.sleep(0.1), plain(x))[1]):
            told = room["time_operators"](job(CHAIN))
        self.assertLess(told["all_us"]["median"], 90_000)
        self.assertGreater(told["forward_us"]["median"], 95_000)

    def test_operators_are_those_of_production_and_not_deterministic_ones(self):
        room["time_operators"](job(CHAIN))
        self.assertEqual(torch.get_deterministic_debug_mode(), 0)

    def test_a_module_that_calls_other_operators_each_time_is_refused(self):
        with self.assertRaisesRegex(room["Changing"], "other operators each time"):
            room["time_operators"](job(CHANGES))

    def test_what_the_clock_takes_is_no_time_of_an_operator(self):
        class Slow(room["CpuClock"]):
            def times(self):
                return [us + 50_000 for us in super().times()]

        with mock.patch.dict(room, CpuClock=Slow):
            told = room["time_operators"](job(CHAIN))
        self.assertGreaterEqual(told["timer_us"], 50_000)
        self.assertLess(told["all_us"]["median"], 50_000, "four operators take microseconds each, and the clock took 200 ms")

    def test_slow_calls_are_few(self):
        x = torch.ones(4)
        calls = []

        def slow():
            calls.append(1)
            time.sleep(0.03)
            return x + 1

        rows = room["timed_calls"](slow, ["add"], room["CpuClock"](), 0.05)
        self.assertEqual((len(rows), len(calls)), (room["LEAST_CALLS"], room["LEAST_CALLS"]))

    def test_a_gather_reads_of_its_table_what_it_returns(self):
        table, ids = torch.ones(1000, 4), torch.tensor([1, 2])
        calls, _ = room["watched_calls"](lambda: (torch.nn.functional.embedding(ids, table), table[ids], torch.index_select(table, 0, ids)))
        self.assertEqual([moved for _, moved, _ in calls], [16 + 2 * 32] * 3)

    def test_costs_from_shapes_are_those_of_the_run(self):
        problem = room["Problem"](CHAIN, "problem.py", "Model", training=False)
        computed = room["costs_of"](problem)
        told = room["time_operators"](job(CHAIN))
        self.assertEqual(computed["own"], told["own"])
        self.assertEqual(computed["operators"], [{key: value for key, value in one.items() if key != "us"} for one in told["operators"]])


class FakeCuda(types.SimpleNamespace):
    """Keeps the calls. An event's time is the number of the call that recorded it, in milliseconds."""

    def __init__(self):
        super().__init__(calls=[], sleeps=[])
        fake = self

        class Event:
            def __init__(self, enable_timing):
                self.at = None

            def record(self):
                fake.calls.append("event")
                self.at = len(fake.calls)

            def elapsed_time(self, end):
                return end.at - self.at

        self.Event = Event

    def synchronize(self):
        self.calls.append("wait")

    def _sleep(self, cycles):
        self.calls.append("sleep")
        self.sleeps.append(cycles)


class OfAGpu(unittest.TestCase):
    def clock(self):
        fake = FakeCuda()
        with mock.patch.object(torch, "cuda", fake):
            return fake, room["GpuClock"]("cuda:0")

    def test_the_gpu_waits_until_a_window_is_queued(self):
        fake, clock = self.clock()
        count = room["WINDOW"] + 2
        clock.begin()
        for _ in range(count):
            clock.mark()
            fake.calls.append("operator")
            clock.mark()
        times = clock.times()
        window = ["sleep"] + ["event", "operator", "event"] * room["WINDOW"]
        self.assertEqual(fake.calls, ["wait", "wait", *window, "wait", "sleep", *["event", "operator", "event"] * 2, "wait"])
        self.assertEqual(times, [2000.0] * count, "each is from the event before its operator to the event after it")

    def test_a_second_call_uses_the_events_again_and_waits_no_longer_than_needed(self):
        fake, clock = self.clock()
        for _ in range(2):
            clock.begin()
            clock.mark()
            clock.mark()
            clock.times()
        self.assertEqual(len(clock.events), 2)
        self.assertLess(fake.sleeps[1], fake.sleeps[0], "the first window is given ten milliseconds, and took microseconds")
        clock.window_s = 5.0
        clock.begin()
        clock.mark()
        self.assertEqual(fake.sleeps[2], int(2.5e9 * room["MOST_WAIT_S"]))


if __name__ == "__main__":
    unittest.main()
