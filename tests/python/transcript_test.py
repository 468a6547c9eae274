# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests that the transcript of examples/agent is a dialogue with the server of this build: its calls fit the server's tools, its
first questions get the same answers again, and its last kernel is judged once more.

    python transcript_test.py HONE SOURCE
"""
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest

HONE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path[:0] = [os.path.join(SOURCE, "python")]

import hone
from hone.judge.server import Server

FOLDER = os.path.join(SOURCE, "examples", "agent")


def dialogue():
    with open(os.path.join(FOLDER, "transcript.jsonl")) as file:
        return [json.loads(line) for line in file]


class TheTranscript(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lines = dialogue()
        cls.calls = [line for line in cls.lines if line["message"].get("method") == "tools/call"]
        cls.answers = {cls.key(line): line["message"] for line in cls.lines if "result" in line["message"]}
        cls.folder = tempfile.TemporaryDirectory()
        cls.environment = dict(os.environ, HONE_STATE=os.path.join(cls.folder.name, "state"))

    @staticmethod
    def key(line):
        """Returns the key of a request: each server numbers its own requests."""
        return line["server"], line["message"]["id"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_request_is_answered_once(self):
        request_keys = [self.key(line) for line in self.lines if "method" in line["message"] and "id" in line["message"]]
        self.assertEqual(len(request_keys), len(set(request_keys)))
        answered = [self.key(line) for line in self.lines if "result" in line["message"] or "error" in line["message"]]
        self.assertEqual(sorted(request_keys), sorted(answered))
        self.assertTrue(all(a["seconds"] <= b["seconds"] for a, b in zip(self.lines, self.lines[1:])))

    def test_the_fourth_call_judged_a_kernel(self):
        self.assertLessEqual([call["message"]["params"]["name"] for call in self.calls].index("eval"), 3)

    def test_every_call_fits_the_tools_that_there_are_now(self):
        responses = []
        server = Server([HONE, "mcp", "--root", self.folder.name, "--device", "sim"], self.environment, lambda _: None)
        try:
            over = threading.Event()
            server.request("tools/list", {}, lambda message: (responses.append(message), over.set()))
            self.assertTrue(over.wait(60))
        finally:
            server.close(10)
        tools = {tool["name"]: tool["inputSchema"] for tool in responses[0]["result"]["tools"]}
        for call in self.calls:
            name, arguments = call["message"]["params"]["name"], call["message"]["params"]["arguments"]
            schema = tools[name]
            self.assertLessEqual(set(arguments), set(schema["properties"]), name)
            self.assertLessEqual(set(schema.get("required", [])), set(arguments), name)

    def test_the_task_reads_as_it_did(self):
        call = next(call for call in self.calls if call["message"]["params"]["name"] == "task")
        with hone.Judge("sim", program=HONE, root=self.folder.name, environment=self.environment) as judge:
            now = judge.task(call["message"]["params"]["arguments"]["name"])
        answer_text = "".join(part.get("text", "") for part in self.answers[self.key(call)]["result"]["content"])
        self.assertIn(now["seed"].strip(), answer_text)
        self.assertIn(now["task"]["summary"], answer_text)

    def test_a_kernel_that_is_right_and_faster_than_the_seed_came_of_it(self):
        with open(os.path.join(FOLDER, "best.cu")) as file:
            lines = file.readlines()
        best = "".join(line for line in lines if not line.startswith("// SPDX-"))
        judged = {}
        for call in self.calls:
            arguments = call["message"]["params"]["arguments"]
            if call["message"]["params"]["name"] == "eval" and arguments["source"].strip() == best.strip() and arguments.get("time", True):
                judged[call["server"]] = self.answers[self.key(call)]["result"]["structuredContent"]
                task, source = arguments["task"], arguments["source"]
        self.assertTrue(judged, "best.cu is a candidate of the transcript")
        for server, kept in judged.items():
            self.assertEqual(kept["verdict"], "ok", server)
            self.assertGreater(kept["geomean_speedup"], 1.2, server)
        with hone.Judge("sim", program=HONE, root=self.folder.name, environment=self.environment) as judge:
            evaluation = judge.eval_now(task, source, cases=[0], warm=False, trials=1, timeout=280)
        self.assertTrue(evaluation.ok, evaluation)
        self.assertGreater(evaluation.timed[0].speedup.median, 1.1)

    def test_trimming_leaves_out_what_it_says_and_nothing_else(self):
        record = [
            {"seconds": 10.0, "from": "client", "message": {"id": 1, "method": "tools/call",
                                                            "params": {"name": "eval", "arguments": {"source": "s"}, "_meta": {"progressToken": "p"}}}},
            {"seconds": 10.5, "from": "server", "message": {"method": "notifications/progress", "params": {"progressToken": "p", "progress": 1}}},
            {"seconds": 12.0, "from": "server", "message": {"id": 1, "result": {
                "content": [{"type": "text", "text": "right"}], "isError": False,
                "structuredContent": {"verdict": "ok", "log": "long", "cases": [{"speedup": {"median": 2}}]}}}},
        ]
        path = os.path.join(self.folder.name, "record.jsonl")
        with open(path, "w") as file:
            file.write("".join(json.dumps(one) + "\n" for one in record))
        trimmed = subprocess.run([sys.executable, os.path.join(FOLDER, "trim-dialogue"), "sim=" + path], stdout=subprocess.PIPE, check=True).stdout
        asked, answered = [json.loads(line) for line in trimmed.splitlines()]
        self.assertEqual(asked["message"], record[0]["message"])
        self.assertEqual((asked["seconds"], answered["seconds"], answered["server"]), (0.0, 2.0, "sim"))
        self.assertEqual(answered["message"]["result"]["structuredContent"], {"verdict": "ok", "speedups": [2]})
        self.assertEqual(answered["message"]["result"]["content"], [{"type": "text", "text": "right"}])
        self.assertEqual(len(answered["left_out"]), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
