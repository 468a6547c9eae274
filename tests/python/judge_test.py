# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the Python client of the judge, against a server with faults and against the program itself.

    python judge_test.py HONE SOURCE
"""
import asyncio
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HONE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path[:0] = [os.path.join(SOURCE, "python"), os.path.join(SOURCE, "examples", "rl")]

# Redis under several names: a package without the service lacks the first, but the others are the same program.
REDIS = next((p for p in ("/usr/bin/redis-server", "/usr/bin/redis-check-rdb", "/usr/bin/valkey-check-rdb") if os.path.exists(p)), None)

import hone
from hone.judge import Case, Evaluation, Finding, Interval


def evaluation(verdict="ok", speedups=(), **more):
    cases = tuple(
        Case(dims={}, role="time", speedup=None if s is None else Interval(math.sqrt(s[0] * s[1]), *s)) for s in speedups
    )
    fields = dict(detail="", task="t", device="d", modelled=False, geomean_speedup=None, findings=(), labels=(), mismatch=None,
                  guarantee="full", gates=2, raw={})
    fields.update(more)
    return Evaluation(verdict=verdict, cases=cases, **fields)


class AServerWithFaults(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        fake = os.path.join(self.folder.name, "hone")
        counts = os.path.join(self.folder.name, "counts")
        os.mkdir(counts)
        with open(fake, "w") as file:
            script = os.path.join(SOURCE, "tests", "python", "fake_mcp_server.py")
            file.write(f"#!/bin/sh\nexec '{sys.executable}' '{script}' '{counts}' \"$@\"\n")
        os.chmod(fake, 0o755)
        self.counts = counts
        self.judge = hone.Judge(program=fake, processes=2)

    def tearDown(self):
        self.judge.close()
        self.folder.cleanup()

    def begun(self, name):
        path = os.path.join(self.counts, name)
        return os.path.getsize(path) if os.path.exists(path) else 0

    def test_thousands_in_flight_are_answered_each_by_its_own(self):
        jobs = [hone.Job("t", f"candidate_{i}") for i in range(2000)]
        self.assertEqual([one.detail for one in self.judge.eval_all(jobs, timeout=60)], [job.source for job in jobs])

    def test_coroutines_share_a_judge(self):
        async def many():
            return await asyncio.gather(*(self.judge.eval("t", f"slow_{i}") for i in range(40)))

        begin = time.monotonic()
        self.assertEqual(len(asyncio.run(many())), 40)
        self.assertLess(time.monotonic() - begin, 8)  # one after another, the 40 judgements of 0.3 s would take 12 s

    def test_a_candidate_whose_server_died_is_judged_by_another(self):
        jobs = [hone.Job("t", f"slow_{i}") for i in range(6)] + [hone.Job("t", "kill_once")]
        self.assertEqual([one.verdict for one in self.judge.eval_all(jobs, timeout=60)], ["ok"] * 7)

    def test_a_candidate_that_ends_every_server_is_given_up_with_the_servers_last_words(self):
        self.judge.eval_now("t", "first", timeout=30)
        with self.assertRaisesRegex(hone.ServerError, "status 9 and said:\nout of luck"):
            self.judge.eval_now("t", "kill_always", timeout=30)
        self.assertEqual(self.judge.eval_now("t", "afterwards", timeout=30).verdict, "ok")

    def test_a_program_that_ends_before_it_answers_anything_fails_all_that_wait(self):
        with hone.Judge(program="/bin/false") as judge:
            with self.assertRaisesRegex(hone.ServerError, "status 1"):
                judge.eval_all([hone.Job("t", str(i)) for i in range(50)], timeout=30)

    def test_a_busy_server_is_asked_again_and_a_cut_answer_is_read_whole(self):
        self.assertEqual(self.judge.eval_now("t", "busy", timeout=30).verdict, "ok")
        self.assertEqual(self.judge.eval_now("t", "cut", timeout=30).raw["log"], "all of it")
        self.assertEqual(self.judge.eval_now("t", "garbage", timeout=30).verdict, "ok")

    def test_a_wrong_call_says_what_hone_says(self):
        with self.assertRaisesRegex(hone.CallError, "there is no task 't'"):
            self.judge.eval_now("t", "error", timeout=30)

    def test_what_the_machine_did_wrong_is_told_apart_from_what_the_call_did(self):
        with self.assertRaisesRegex(hone.ServerError, "no driver"):
            self.judge.eval_now("t", "machine", timeout=30)
        with self.assertRaisesRegex(hone.CallError, "there is no tool 'x'"):
            self.judge.call("x", source="unknown", timeout=30)

    def test_what_is_no_text_of_a_candidate_is_refused_and_takes_no_place_in_a_process(self):
        for _ in range(20):  # a process takes 12 calls at a time
            with self.assertRaisesRegex(hone.CallError, r"^source: expected texts, .* found b'right'"):
                self.judge.eval_now("t", b"right", timeout=30)
        self.assertEqual(self.judge.eval_now("t", "right", timeout=30).verdict, "ok")
        with self.assertRaisesRegex(TypeError, "^jobs: expected hone.Job, found 3"):
            self.judge.eval_all([hone.Job("t", "right"), 3])

    def test_errors_stand_in_the_list_where_that_is_asked_for(self):
        jobs = [hone.Job("t", "right"), hone.Job("t", "error"), hone.Job("t", "x", cases=0), hone.Job("t", "machine")]
        outcomes = self.judge.eval_all(jobs, timeout=30, return_errors=True)
        self.assertEqual([type(one).__name__ for one in outcomes], ["Evaluation", "CallError", "CallError", "ServerError"])
        with self.assertRaisesRegex(hone.CallError, "cases=0: give a list"):
            self.judge.eval_all(jobs[2:], timeout=30)

    def test_what_begins_or_writes_something_is_asked_once(self):
        self.judge.eval_now("t", "first", timeout=30)
        with self.assertRaisesRegex(hone.ServerError, "out of luck"):
            self.judge.call("run_start", source="kill_once_run", timeout=30)
        self.assertEqual(self.begun("kill_once_run"), 1)
        self.assertEqual(asyncio.run(self.judge.call_async("tune", source="x"))["detail"], "x")
        with self.assertRaises(TimeoutError):
            self.judge.call("tune", source="slow_tune", timeout=0.05)

    def test_what_is_cancelled_before_it_began_never_begins(self):
        async def cancel():
            filling = [asyncio.ensure_future(self.judge.eval("t", f"slow_{i}")) for i in range(30)]
            await asyncio.sleep(0)
            late = asyncio.ensure_future(self.judge.eval("t", "slow_late"))
            await asyncio.sleep(0.01)
            late.cancel()
            await asyncio.gather(*filling)

        asyncio.run(cancel())
        self.assertEqual(self.begun("slow_late"), 0)

    def test_waiting_ends_at_its_time_limit_and_with_the_judge(self):
        with self.assertRaises(TimeoutError):
            self.judge.eval_all([hone.Job("t", f"slow_{i}") for i in range(200)], timeout=0.1)
        errors = []

        def wait():
            try:
                self.judge.eval_all([hone.Job("t", f"slow_{i}") for i in range(200)])
            except hone.ServerError as error:
                errors.append(error)

        waiting = threading.Thread(target=wait)
        waiting.start()
        time.sleep(0.2)
        self.judge.close()
        waiting.join(10)
        self.assertEqual(len(errors), 1)
        with self.assertRaisesRegex(hone.ServerError, "closed"):
            self.judge.eval_now("t", "x")


class WrongArguments(unittest.TestCase):
    def test_name_the_argument(self):
        with self.assertRaisesRegex(hone.ServerError, "program='/no/such'"):
            hone.Judge(program="/no/such")
        with self.assertRaisesRegex(hone.CallError, "bind='BLOCK=3': give a mapping"):
            hone.Job("t", "", bind="BLOCK=3").arguments()
        with self.assertRaisesRegex(hone.CallError, r"source='tasks/relu/seed.cu': expected the text of a candidate, found the name of a file; pass open\('tasks/relu/seed.cu'\).read\(\)"):
            hone.Job("relu", "tasks/relu/seed.cu").arguments()
        with self.assertRaisesRegex(hone.CallError, "environment=3: expected a mapping"):
            hone.Judge(program=HONE, environment=3)
        with self.assertRaisesRegex(hone.CallError, "processes='a': expected a whole number"):
            hone.Judge(program=HONE, processes="a")
        with self.assertRaisesRegex(hone.CallError, "processes=0"):
            hone.Judge(program=HONE, processes=0)
        with self.assertRaisesRegex(hone.CallError, "root='/no/such'"):
            hone.Judge(program=HONE, root="/no/such")
        for device in ("bogus", "gpu:0", "redis:/host", 0):
            with self.assertRaisesRegex(hone.CallError, "device="):
                hone.Judge(device, program=HONE)


class AReward(unittest.TestCase):
    def test_pays_nothing_for_what_is_wrong_and_judges_nothing_that_was_not_judged(self):
        reward = hone.Reward()
        for verdict in ("wrong_output", "compile_error", "rule_violation", "timed_out", "unsupported"):
            self.assertEqual(reward(evaluation(verdict)), 0)
        self.assertIsNone(reward(evaluation("device_lost")))

    def test_pays_for_the_speedup_that_is_sure_and_never_for_the_median(self):
        reward = hone.Reward(correct=0.2, most_speedup=4)
        self.assertAlmostEqual(reward(evaluation(speedups=[(0.9, 3.0)])), 0.2)
        self.assertAlmostEqual(reward(evaluation(speedups=[(2.0, 3.9)])), 0.2 + 0.8 * 0.5)
        self.assertAlmostEqual(reward(evaluation(speedups=[(16.0, 17.0)])), 1.0)

    def test_counts_every_timed_shape(self):
        reward = hone.Reward(correct=0.2, most_speedup=4)
        self.assertAlmostEqual(reward(evaluation(speedups=[(2.0, 2.1), (0.4, 0.5)])), 0.2)  # the gain in one case equals the loss in the other
        self.assertAlmostEqual(reward(evaluation(speedups=[(4.0, 4.1), None])), 0.2 + 0.8 * 0.5)

    def test_pays_for_no_doubtful_modelled_or_weaker_time(self):
        fast = [(4.0, 4.1)]
        reward = hone.Reward(correct=0.2)
        self.assertEqual(reward(evaluation(speedups=fast, findings=(Finding("slow_samples", ""),))), 0.2)
        self.assertEqual(reward(evaluation(speedups=fast, modelled=True)), 0.2)
        self.assertEqual(reward(evaluation(speedups=fast, guarantee="weaker: host mode")), 0.2)
        self.assertEqual(hone.Reward(pay_modelled=True)(evaluation(speedups=fast, modelled=True)), 1)


class TheProgram(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        environment = dict(os.environ, HONE_STATE=os.path.join(self.folder.name, "state"))
        self.judge = hone.Judge("sim", program=HONE, root=self.folder.name, environment=environment)

    def tearDown(self):
        self.judge.close()
        self.folder.cleanup()

    def test_judges_right_and_wrong_kernels(self):
        self.assertIn("relu", [task["name"] for task in self.judge.tasks()])
        seed = self.judge.task("relu")["seed"]
        right, wrong, broken = self.judge.eval_all(
            [
                hone.Job("relu", seed, cases=[0], trials=1, warm=False),
                hone.Job("relu", seed.replace("0.0f", "1.0f"), time=False),
                hone.Job("relu", "__global__ void f() {}"),
            ],
            timeout=300,
        )
        self.assertTrue(right.ok and right.modelled and right.gates > 0, right)
        self.assertEqual(len(right.timed), 1)
        self.assertAlmostEqual(right.timed[0].speedup.median, 1.0)
        self.assertEqual(hone.Reward()(right), 0.3)
        self.assertEqual(wrong.verdict, "wrong_output")
        self.assertEqual(wrong.mismatch.tensor, "out")
        self.assertEqual(broken.verdict, "parse_error")
        with self.assertRaisesRegex(hone.CallError, "did you mean"):
            self.judge.eval_now("rellu", seed)

    def small_task(self):
        """Makes a task in the root: relu with its first shape alone. Returns the seed's text."""
        folder, there = os.path.join(self.folder.name, "tasks", "small"), os.path.join(SOURCE, "tasks", "relu")
        os.makedirs(folder)
        for name in ("oracle.cu", "seed.cu"):
            shutil.copy(os.path.join(there, name), folder)
        with open(os.path.join(there, "task.toml")) as file:
            toml = file.read()
        begin = toml.index('[[case]]\nrole = "time"\ndims = { rows = 4096, d = 8192 }')
        toml = toml[:begin] + toml[toml.index('[[case]]\nrole = "check"'):]
        with open(os.path.join(folder, "task.toml"), "w") as file:
            file.write(toml.replace('"relu"', '"small"', 1))
        with open(os.path.join(folder, "seed.cu")) as file:
            return file.read()

    def test_compares_profiles_and_tunes(self):
        seed = self.small_task()
        with open(os.path.join(SOURCE, "tests", "honest", "relu_two_steps.cu")) as file:
            slow = file.read()
        compared = self.judge.compare("small", slow, seed, timeout=300)
        self.assertEqual((compared.verdict, compared.raw["judged"]), ("ok", "b against a"))
        self.assertGreater(compared.geomean_speedup, 1.1)
        profiled = self.judge.profile("small", slow, cases=[0], timeout=300)
        self.assertEqual(profiled.raw["profile"]["source"], "simulator")
        tuned = self.judge.call("tune", task="small", source=seed, points=2, timeout=300)
        self.assertEqual(len(tuned["points"]), 2)
        with self.assertRaisesRegex(hone.CallError, "no field 'seed'"):
            self.judge.call("eval", task="small", source=seed, seed=7)

    def test_waits_for_the_worker_of_a_spool(self):
        seed, spool = self.small_task(), os.path.join(self.folder.name, "spool")
        environment = dict(os.environ, HONE_STATE=os.path.join(self.folder.name, "state"))
        os.mkdir(spool)
        worker = subprocess.Popen([HONE, "worker", "--spool", spool, "--device", "sim", "--poll", "0.2"], env=environment,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with hone.Judge("spool:" + spool, program=HONE, root=self.folder.name, environment=environment) as judge:
                right, wrong = judge.eval_all([hone.Job("small", seed, time=False),
                                               hone.Job("small", seed.replace("0.0f", "1.0f"), time=False)], timeout=200)
                self.assertEqual((right.verdict, wrong.verdict), ("ok", "wrong_output"))
                compared = judge.compare("small", seed, seed + "// the same\n", timeout=200)
                self.assertEqual((compared.verdict, compared.raw["judged"]), ("ok", "b against a"))
        finally:
            worker.terminate()
            worker.wait(60)

    def test_the_page_s_examples_run(self):
        with open(os.path.join(SOURCE, "docs", "python.md")) as file:
            page = file.read()
        environment = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "python"), HONE_STATE=os.path.join(self.folder.name, "state"),
                           PATH=os.path.dirname(HONE) + os.pathsep + os.environ.get("PATH", ""))
        for example, begin in zip(page.split("```python\n")[1:], ("ok Interval(median=", "['ok', 'wrong_output']"), strict=True):
            printed = subprocess.run([sys.executable, "-c", example.split("```")[0]], env=environment, stdout=subprocess.PIPE, check=True,
                                     timeout=300).stdout.decode()
            self.assertEqual(printed[:len(begin)], begin)
        # The command for the reward is taken from the page.
        command = page[page.index("HONE_DEVICE=sim "):].split("```\n\n")[0].removesuffix("```\n").replace("build/bin/hone", HONE)
        printed = subprocess.run(["/bin/sh", "-c", command], env=environment, cwd=SOURCE, stdout=subprocess.PIPE, check=True, timeout=300).stdout
        self.assertEqual(printed.decode().strip(), "[0.3, 0.0]")

    def test_a_reward_function_takes_a_batch_of_answers(self):
        import reward_functions

        seed = self.judge.task("relu")["seed"]
        reward_functions._judge = lambda: self.judge
        answers = ["Here it is:\n```cuda\n" + seed + "\n```\n", "I cannot."]
        scores = reward_functions.compute_score(["kernels"] * 2, answers, ["relu"] * 2, [None] * 2)
        self.assertEqual(scores, [0.3, 0.0])
        chats = [[{"role": "assistant", "content": answers[1]}]]
        self.assertEqual(reward_functions.grpo_reward(chats, ["relu"]), [0.0])
        # A bad row only loses its own reward, with a warning. If no row can be judged, that is an error and not a batch of zeros.
        with self.assertWarnsRegex(UserWarning, "1 of 2 samples could not be judged.*rellu"):
            self.assertEqual(reward_functions.compute_score(["kernels"] * 2, answers[::-1], ["relu", "rellu"]), [0.0, 0.0])
        with self.assertRaises(hone.CallError):
            reward_functions.compute_score(["kernels"], answers[:1], ["rellu"])


@unittest.skipUnless(REDIS, "redis-server is not here (apt install redis-tools)")
class AQueue(unittest.TestCase):
    def test_has_kernels_judged_by_a_worker_elsewhere(self):
        with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            free.close()
            program = os.path.join(folder, "redis-server")
            os.symlink(REDIS, program)
            environment = dict(os.environ, HONE_STATE=os.path.join(folder, "state"))
            address = f"redis://127.0.0.1:{port}/sim"
            server = subprocess.Popen([program, "--port", str(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
                                      stdout=subprocess.DEVNULL)
            try:
                for _ in range(500):
                    with socket.socket() as probe:
                        if probe.connect_ex(("127.0.0.1", port)) == 0:
                            break
                    time.sleep(0.02)
                worker = subprocess.Popen([HONE, "worker", "--queue", address, "--device", "sim", "--parallel", "2", "--until-idle", "3s", "--json"],
                                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                with hone.Judge(address, program=HONE, root=folder, environment=environment) as judge:
                    seed = judge.task("relu")["seed"]
                    right, wrong = judge.eval_all([hone.Job("relu", seed, time=False),
                                                   hone.Job("relu", seed.replace("0.0f", "1.0f"), time=False)], timeout=200)
                self.assertTrue(right.ok, right)
                self.assertEqual(wrong.verdict, "wrong_output")
                printed, said = worker.communicate(timeout=60)
                self.assertEqual(worker.returncode, 0, said)
                self.assertIn('"judged":2', printed.decode().replace(" ", ""))
            finally:
                server.kill()
                server.wait()


class Importing(unittest.TestCase):
    def test_imports_nothing_of_the_judge_before_it_is_used(self):
        code = "import sys, hone; assert 'asyncio' not in sys.modules and 'hone.judge' not in sys.modules; hone.Judge"
        subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "python")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
