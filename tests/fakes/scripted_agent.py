# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Imitates a coding agent that follows a script. It reaches the judge as real agents do, by the server that mcp.json names.

    python3 scripted_agent.py STEP [STEP ...]

The steps are done in order, in the agent's folder:
    speed:N        hand in the seed with the mark "// SPEED N" (a scripted device takes N us for it)
    file:PATH      hand in this file
    wrong          hand in the seed with a mark that makes a scripted device find it wrong
    unreadable     hand in a file without a launch plan
    slowly:N       as speed:N, but do not wait in the call, and ask for the verdict until it is there
    refused        hand in a version and expect a refusal, whose text goes to refused.txt
    garbage        send bytes that are no message to the server and to the run's socket
    clutter        leave a half-written file of its own, and an empty README.md
    note           write the folder's listing and the README's first line to seen.txt
    once:STEP      do the step only if this agent was never started in this folder before
    die            end by SIGKILL
    fail           end with status 7 and a sentence on standard error
    hang           do nothing for an hour
Ends with status 0 after the last step. Needs only the standard library.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import time


class Judge:
    def __init__(self):
        with open(os.environ["HONE_MCP_CONFIG"]) as file:
            server = json.load(file)["mcpServers"]["hone"]
        self.process = subprocess.Popen([server["command"], *server["args"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.next = 0
        opened = self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                             "clientInfo": {"name": "scripted", "version": "1"}})
        assert opened["serverInfo"]["name"] == "hone", opened
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        names = {tool["name"] for tool in self.request("tools/list", {})["tools"]}
        assert names == {"task", "eval", "verdict"}, names

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def request(self, method, params):
        self.next += 1
        self.send({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            assert line, "the server is gone"
            message = json.loads(line)
            if message.get("id") == self.next:
                assert "result" in message, message
                return message["result"]

    def call(self, name, arguments):
        return self.request("tools/call", {"name": name, "arguments": arguments})


def seed():
    with open("seed.cu") as file:
        return file.read()


def say(text):
    print(text, flush=True)


def hand_in(judge, idea, source=None, path=None, wait=120):
    arguments = {"idea": idea, "wait_seconds": wait}
    arguments["source" if source is not None else "path"] = source if source is not None else path
    answer = judge.call("eval", arguments)
    assert not answer.get("isError"), answer
    told = answer["structuredContent"]
    say(f"{idea}: {told['state']}, {told['left']} of {told['budget']} left")
    return told


def garbage(judge):
    judge.raw(b"\x00\xff this is no message\n{\"jsonrpc\": \"2.0\", \"id\": [1], \"method\": 5}\n[1, 2\n")
    for data in (b"\xff\xfe\n", b"[]\n", b"{\"op\": \"rm -rf\"}\n", b"{\"op\": \"eval\"}\n", b"no line"):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(os.environ["HONE_AGENT_SOCKET"])
            link.sendall(data)
            link.shutdown(socket.SHUT_WR)
            say("the socket answers " + link.recv(65536).decode()[:60].strip())
    # Bytes that were no message got an error or no answer; the next call is served as usual.
    assert "introduction" in judge.call("task", {})["structuredContent"]


def do(judge, step, again):
    kind, _, rest = step.partition(":")
    if kind == "once":
        if not again:
            do(judge, rest, again)
    elif kind == "speed":
        hand_in(judge, f"run in {rest} us", seed() + f"// SPEED {rest}\n")
    elif kind == "file":
        with open(rest) as file:
            text = file.read()
        with open("mine.cu", "w") as file:
            file.write(text)
        hand_in(judge, "a version of my own", path="mine.cu", wait=500)
    elif kind == "wrong":
        hand_in(judge, "be wrong", seed() + "// SCRIPT_WRONG\n")
    elif kind == "unreadable":
        told = hand_in(judge, "leave the plan out", "__global__ void f() {}\n")
        assert told["state"] == "unusable", told
    elif kind == "slowly":
        told = hand_in(judge, f"run in {rest} us", seed() + f"// SPEED {rest}\n", wait=0)
        while told["state"] == "judging":
            told = judge.call("verdict", {"wait_seconds": 60})["structuredContent"]
        say(f"verdict: {told['state']}")
    elif kind == "refused":
        answer = judge.call("eval", {"idea": "once more", "source": seed() + "// SPEED 1\n"})
        assert answer.get("isError"), answer
        with open("refused.txt", "w") as file:
            file.write(answer["content"][0]["text"])
    elif kind == "garbage":
        garbage(judge)
    elif kind == "clutter":
        open("README.md", "w").close()
        with open("half.cu", "w") as file:
            file.write("/*hone\n[[laun")
    elif kind == "note":
        with open("README.md") as readme, open("seen.txt", "w") as seen:
            seen.write(readme.readline() + " ".join(sorted(os.listdir("."))) + "\n" + " ".join(sorted(os.listdir("verdicts"))) + "\n")
    elif kind == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "fail":
        sys.stderr.write("scripted: I fail\n")
        sys.exit(7)
    elif kind == "hang":
        time.sleep(3600)
    else:
        raise SystemExit(f"there is no step {step}")


def main():
    again = os.path.exists("started.txt")
    with open("started.txt", "a") as file:
        file.write("started\n")
    judge = Judge()
    for step in sys.argv[1:]:
        do(judge, step, again)


main()
