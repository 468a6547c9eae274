# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Imitates `hone mcp` with faults: the candidate's text says what happens when it is judged.

    python fake_mcp_server.py FOLDER mcp …

FOLDER holds how often each candidate's judgement was begun, over all processes.
"""
import json
import os
import sys
import threading
import time


def begun(folder, source):
    """Returns how often the judgement of this candidate was begun before, and counts this time."""
    path = os.path.join(folder, source.split()[0].replace("/", "_"))
    with open(path, "a") as file:
        file.write("x")
    return os.path.getsize(path) - 1


def main(folder):
    lock = threading.Lock()

    def say(message):
        with lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()

    def answer(identity, structured):
        say({"jsonrpc": "2.0", "id": identity, "result": {"isError": False, "content": [], "structuredContent": structured}})

    def evaluation(source, **more):
        return {"verdict": "ok", "detail": source, "task": "t", "device": "fake", "modelled": False, "cases": [], **more}

    def work(identity, source):
        before = begun(folder, source)
        if source.startswith("slow"):
            time.sleep(0.3)
        if source.startswith("error"):
            say({"jsonrpc": "2.0", "id": identity,
                 "result": {"isError": True, "content": [{"type": "text", "text": "there is no task 't'"}]}})
        elif source.startswith("machine"):
            say({"jsonrpc": "2.0", "id": identity,
                 "result": {"isError": True, "_meta": {"hone/cause": "machine"}, "content": [{"type": "text", "text": "no driver"}]}})
        elif source.startswith("unknown"):
            say({"jsonrpc": "2.0", "id": identity, "error": {"code": -32602, "message": "there is no tool 'x'"}})
        elif source.startswith("busy") and before == 0:
            say({"jsonrpc": "2.0", "id": identity, "error": {"code": -32000, "message": "16 calls are under way"}})
        elif source.startswith("cut"):
            answer(identity, evaluation(source, left_out=["log"], address="hone://evaluations/1"))
        else:
            answer(identity, evaluation(source))

    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "resources/read":
            text = json.dumps(evaluation("cut", log="all of it"))
            say({"jsonrpc": "2.0", "id": request["id"], "result": {"contents": [{"text": text}]}})
            continue
        source = request["params"]["arguments"]["source"]
        if source.startswith("kill_once") and begun(folder, source) == 0 or source.startswith("kill_always"):
            sys.stderr.write("out of luck\n")
            sys.stderr.flush()
            os._exit(9)
        if source.startswith("garbage"):
            with lock:
                sys.stdout.write("warning: not a message\n")
                sys.stdout.flush()
        threading.Thread(target=work, args=(request["id"], source), daemon=True).start()


if __name__ == "__main__":
    main(sys.argv[1])
