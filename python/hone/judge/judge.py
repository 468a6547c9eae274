# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The judge's client, which keeps thousands of candidates in flight over a few `hone mcp` processes of its own."""
from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import json
import os
import re
import threading
from dataclasses import dataclass, field
from typing import Any, Iterable, Mapping, Sequence

from hone import messages
from hone.judge.errors import CallError, JudgeError, ServerError
from hone.judge.evaluation import Evaluation
from hone.judge.server import Server, find_program

# The server takes sixteen calls at once. A few are kept free for calls whose answers were sent but not yet counted.
_MOST_AT_ONCE = 12
# A candidate that was in flight twice when a server ended is not tried a third time: it may be what ends servers.
_MOST_TRIES = 2
# If this many processes in a row end before they answer anything, the program does not run on this machine.
_MOST_BARREN = 3
_BUSY = -32000
_WRONG_CALL = (-32600, -32601, -32602)  # codes of JSON-RPC for an invalid request, an unknown tool, invalid arguments
_DEVICE = re.compile(r"auto|cuda(:\d{1,3})?|sim(:.+)?|spool:.+|rediss?://.+")
# Tools that are called again if their server ended; the others begin or write something.
_ASKED_AGAIN = frozenset({"tasks", "task", "eval", "compare", "profile", "tune", "run_status", "run_best"})


# Options of the program `hone` that are arguments here; its messages may quote other text with dashes, such as a candidate's.
_OPTIONS = frozenset(("baseline", "bind", "cases", "device", "root", "trials", "warm"))


def _in_python(text: str) -> str:
    """Rewrites a message of the server in Python's terms: `arguments.warm` and `--device sim` are arguments of the call and of the Judge."""
    return messages.as_python(re.sub(r"\barguments\.(?=\w+:)", "", text), only=_OPTIONS)


@dataclass(frozen=True)
class Job:
    """One candidate to be judged. The fields besides `task` and `source` are those of the tool `eval` (docs/mcp.md)."""

    task: str  # a name that Judge.tasks() lists, or a folder with a task.toml below the judge's root
    source: str  # the whole text of the candidate's .cu file
    baseline: str | None = None  # text of a .cu file to be timed against; None: the task's seed
    bind: Mapping[str, int] = field(default_factory=dict)  # values of tunables
    cases: Sequence[int] | None = None  # the timed cases to time, counted from 0; None: all
    time: bool = True  # False: the candidate is only checked, which takes less time
    warm: bool = True  # False: timed with cold caches only
    trials: int | None = None  # sets of random inputs with which each timed case is checked; None: the judge's default

    def arguments(self) -> dict[str, Any]:
        for name, text in (("source", self.source), ("baseline", self.baseline)):
            if isinstance(text, os.PathLike) or (isinstance(text, str) and text.endswith((".cu", ".py", ".honek")) and "\n" not in text):
                raise CallError(f"{name}={os.fspath(text)!r}: expected the text of a candidate, found the name of a file; pass open({os.fspath(text)!r}).read()")
        call: dict[str, Any] = {"task": self.task, "source": self.source, "time": self.time, "warm": self.warm}
        if self.baseline is not None:
            call["baseline"] = self.baseline
        if self.bind:
            if not isinstance(self.bind, Mapping):
                raise CallError(f"bind={self.bind!r}: give a mapping from tunables to their values")
            call["bind"] = dict(self.bind)
        if self.cases is not None:
            if isinstance(self.cases, (str, int)) or not all(isinstance(one, int) for one in self.cases):
                raise CallError(f"cases={self.cases!r}: give a list of whole numbers, which count the timed cases from 0")
            call["cases"] = list(self.cases)
        if self.trials is not None:
            call["trials"] = self.trials
        return call


class _Call:
    def __init__(self, tool: str, arguments: Mapping[str, Any]):
        self.tool = tool
        self.arguments = arguments
        self.tries = 0
        # The future is never marked as running, so that it can be cancelled at any time. A late answer to a cancelled one is dropped.
        self.future: concurrent.futures.Future[dict[str, Any]] = concurrent.futures.Future()

    def answer(self, structured: dict[str, Any]) -> None:
        try:
            self.future.set_result(structured)
        except concurrent.futures.InvalidStateError:
            pass

    def fail(self, error: JudgeError) -> None:
        try:
            self.future.set_exception(error)
        except concurrent.futures.InvalidStateError:
            pass


class Judge:
    """Judges candidates on one device. Threads and coroutines may share one; a forked child must make its own.

    device: "auto" (a GPU, else the simulated one), "cuda:N", "sim", "sim:NAME", or "spool:DIR", whose jobs a `hone worker` judges.
    program: the program `hone`; by default the one in this package, else the first in PATH.
    root: folder whose tasks/ is searched besides Hone's own tasks, and below which `task` may name a folder.
    processes: how many `hone mcp` processes share the work; each has up to 12 candidates in flight. One is right for a
        device of this machine, which judges one candidate at a time on a GPU and several on the simulated one.
    environment: the processes' environment variables; by default the caller's.

    The judge draws every seed itself: no argument chooses the hidden shapes or inputs of an evaluation.

    Raises ServerError if the program is missing or a device cannot be opened, CallError if an argument is wrong. If a process ends before it answers,
    the evaluation is tried once more in another process.
    """

    def __init__(
        self,
        device: str = "auto",
        *,
        program: str | os.PathLike[str] | None = None,
        root: str | os.PathLike[str] = ".",
        processes: int = 1,
        environment: Mapping[str, str] | None = None,
    ):
        if not isinstance(device, str) or not _DEVICE.fullmatch(device):
            raise CallError(f"device={device!r}: name auto, cuda:N, sim, spool:DIR or redis://HOST/QUEUE")
        if isinstance(processes, bool) or not isinstance(processes, int):
            raise CallError(f"processes={processes!r}: expected a whole number")
        if processes < 1:
            raise CallError(f"processes={processes}: at least one is needed")
        if environment is not None and not isinstance(environment, Mapping):
            raise CallError(f"environment={environment!r}: expected a mapping from names to values")
        if not os.path.isdir(root):
            raise CallError(f"root={os.fspath(root)!r}: there is no such folder")
        self._command = [find_program(program), "mcp", "--device", device, "--root", os.path.abspath(root)]
        self._environment = environment
        self._processes = processes
        self._lock = threading.RLock()
        self._queue: collections.deque[_Call] = collections.deque()
        self._servers: dict[Server, set[_Call]] = {}
        self._owner = os.getpid()
        self._closed = False
        self._ended_in_vain = 0  # number of processes in a row that ended without an answer

    # ---- evaluations ----

    async def eval(self, task: str, source: str, **choices: Any) -> Evaluation:
        """Judges one candidate; `choices` are the other fields of Job. Many calls may be awaited at once.

        A call that is cancelled before a process has begun it is never begun. One that has begun runs to its end, and its result is dropped.
        """
        return await self.eval_job(Job(task, source, **choices))

    async def eval_job(self, job: Job) -> Evaluation:
        """Judges one candidate."""
        return Evaluation.from_json(await asyncio.wrap_future(self._submit("eval", job.arguments())))

    def eval_now(self, task: str, source: str, *, timeout: float | None = None, **choices: Any) -> Evaluation:
        """Judges one candidate and waits for it, `timeout` seconds at most (TimeoutError)."""
        return self.eval_all([Job(task, source, **choices)], timeout=timeout)[0]

    def eval_all(self, jobs: Iterable[Job], *, timeout: float | None = None, return_errors: bool = False) -> list[Any]:
        """Judges candidates concurrently and waits for all. Returns evaluations in the order of `jobs`.

        Raises the error of the first job, in that order, that failed; jobs not begun by then are never begun. Ctrl-C ends the wait in the same way.
        With `return_errors` the JudgeError is put in the list in place of the evaluation, and all other jobs are judged.
        """
        futures = []
        for job in jobs:
            if not isinstance(job, Job):
                for future in futures:
                    future.cancel()
                raise TypeError(f"jobs: expected hone.Job, found {job!r:.60}")
            try:
                futures.append(self._submit("eval", job.arguments()))
            except CallError as error:
                if not return_errors:
                    for future in futures:
                        future.cancel()
                    raise
                futures.append(concurrent.futures.Future())
                futures[-1].set_exception(error)
        try:
            done, waiting = concurrent.futures.wait(futures, timeout=timeout)
            if waiting:
                raise TimeoutError(f"{len(waiting)} of {len(futures)} candidates were not judged within {timeout} seconds")
            if return_errors:
                return [self._evaluation_or_error(future) for future in futures]
            return [Evaluation.from_json(future.result()) for future in futures]
        finally:
            for future in futures:
                future.cancel()

    @staticmethod
    def _evaluation_or_error(future: concurrent.futures.Future[dict[str, Any]]) -> Any:
        error = future.exception()
        if error is None:
            return Evaluation.from_json(future.result())
        if isinstance(error, JudgeError):
            return error
        raise error

    def compare(self, task: str, a: str, b: str, *, timeout: float | None = None) -> Evaluation:
        """Times the candidate with the text `b` against the one with the text `a`, in pairs. A speedup above 1 means that b is faster.

        If a is not right, `raw["judged"]` is "a alone", and the evaluation is a's.
        """
        return Evaluation.from_json(self.call("compare", timeout=timeout, task=task, a=a, b=b))

    def profile(self, task: str, source: str, *, timeout: float | None = None, **choices: Any) -> Evaluation:
        """Judges one candidate and counts where its time goes: `raw["profile"]`. `choices`: bind, cases, sass."""
        return Evaluation.from_json(self.call("profile", timeout=timeout, task=task, source=source, **choices))

    # ---- other tools ----

    def call(self, tool: str, *, timeout: float | None = None, **arguments: Any) -> dict[str, Any]:
        """Calls any tool of `hone mcp` (docs/mcp.md) and returns its structured answer: tune, new_task, apply, run_start, ….

        Waits `timeout` seconds at most (TimeoutError). `left_out` names texts that the server shortened to keep its answer short. Raises CallError
        with the tool's own words.
        """
        future = self._submit(tool, arguments)
        try:
            return future.result(timeout)
        except concurrent.futures.TimeoutError:
            raise TimeoutError(f"{tool} did not answer within {timeout} seconds") from None
        finally:
            future.cancel()

    async def call_async(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Does the same as `call`, for coroutines."""
        return await asyncio.wrap_future(self._submit(tool, arguments))

    # ---- tasks ----

    def tasks(self) -> list[dict[str, Any]]:
        """Returns the tasks that `task` may name, each with its `name` and `summary`."""
        return self._submit("tasks", {}).result()["tasks"]

    def task(self, name: str) -> dict[str, Any]:
        """Returns everything about a task: tensors, shapes, tolerance, seed, oracle, and how a candidate is written."""
        return self._submit("task", {"name": name}).result()

    # ---- the end ----

    def close(self, seconds: float = 10) -> None:
        """Ends the processes. Candidates that wait or are in flight get a ServerError. May be called twice."""
        with self._lock:
            self._closed = True
            servers = dict(self._servers)
            self._servers.clear()
            unanswered = list(self._queue) + [call for calls in servers.values() for call in calls]
            self._queue.clear()
        for call in unanswered:
            call.fail(ServerError("the judge was closed before this call was answered"))
        if os.getpid() == self._owner:
            for server in servers:
                server.close(0.1 if servers[server] else seconds)

    def __enter__(self) -> "Judge":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    async def __aenter__(self) -> "Judge":
        return self

    async def __aexit__(self, *_: Any) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    # ---- dividing calls among servers ----

    def _submit(self, tool: str, arguments: Mapping[str, Any]) -> concurrent.futures.Future[dict[str, Any]]:
        if os.getpid() != self._owner:
            raise ServerError("this judge belongs to another process: make a Judge after the fork")
        for name, given in arguments.items():
            try:
                json.dumps(given)
            except (TypeError, ValueError) as error:
                raise CallError(f"{name}: expected texts, numbers, lists and mappings, found {given!r:.60} ({error})") from error
        call = _Call(tool, arguments)
        with self._lock:
            if self._closed:
                raise ServerError("this judge is closed")
            self._queue.append(call)
        self._send_waiting()
        return call.future

    def _send_waiting(self) -> None:
        """Sends queued calls to servers that have room, until the queue is empty or no server has room."""
        while True:
            with self._lock:
                while self._queue and self._queue[0].future.cancelled():
                    self._queue.popleft()
                if not self._queue or self._closed:
                    return
                try:
                    server = self._free_server()
                except ServerError as error:
                    failed = list(self._queue)
                    self._queue.clear()
                else:
                    failed = []
                    if server is None:
                        return
                    call = self._queue.popleft()
                    call.tries += 1
                    self._servers[server].add(call)
            if failed:
                for waiting_call in failed:
                    waiting_call.fail(error)
                return
            request = server.request(
                "tools/call",
                {"name": call.tool, "arguments": call.arguments},
                lambda message, server=server, call=call: self._answered(server, call, message),
            )
            if not request:  # the process has ended, which this thread had not noticed yet
                with self._lock:
                    self._servers.pop(server, None)
                    call.tries -= 1
                    self._queue.appendleft(call)

    def _free_server(self) -> Server | None:
        """Returns the server with the fewest calls, or a new one if that is better; None if all are full. The caller holds the lock."""
        least_busy = min(self._servers, key=lambda one: len(self._servers[one]), default=None)
        if least_busy is not None and (not self._servers[least_busy] or len(self._servers) >= self._processes):
            return least_busy if len(self._servers[least_busy]) < _MOST_AT_ONCE else None
        server = Server(self._command, self._environment, self._ended)
        self._servers[server] = set()
        return server

    def _answered(self, server: Server, call: _Call, message: dict[str, Any]) -> None:
        """Handles a server's answer to a call; an empty message means that the server has ended."""
        if not message:
            return self._lost(server, call)
        if "error" in message and message["error"].get("code") == _BUSY:
            with self._lock:
                call.tries -= 1
                self._queue.appendleft(call)
            return self._release(server, call)
        result = message.get("result", {})
        structured = result.get("structuredContent")
        if "error" in message:
            kind = CallError if message["error"].get("code") in _WRONG_CALL else ServerError
            call.fail(kind(f"hone refused the request: {_in_python(message['error'].get('message', ''))}"))
        elif result.get("isError") or structured is None:
            text = "\n".join(part.get("text", "") for part in result.get("content", ()) if part.get("type") == "text")
            by_machine = result.get("_meta", {}).get("hone/cause") == "machine"
            call.fail((ServerError if by_machine else CallError)(_in_python(text) or "hone answered without saying why"))
        elif structured.get("left_out") and "address" in structured:
            # The answer has a shortened evaluation; the whole one is a resource of the server.
            request = server.request(
                "resources/read",
                {"uri": structured["address"]},
                lambda whole, server=server, call=call, short=structured: self._read(server, call, short, whole),
            )
            if request:
                return None
            call.answer(structured)
        else:
            call.answer(structured)
        return self._release(server, call)

    def _read(self, server: Server, call: _Call, short: dict[str, Any], message: dict[str, Any]) -> None:
        try:
            full_evaluation = json.loads(message["result"]["contents"][0]["text"])
        except (KeyError, IndexError, TypeError, ValueError):
            full_evaluation = {}  # the shortened evaluation still has the verdict, and says what it leaves out
        call.answer({**short, **full_evaluation})
        self._release(server, call)

    def _release(self, server: Server, call: _Call) -> None:
        """Takes an answered call off its server, and sends the next."""
        with self._lock:
            self._servers.get(server, set()).discard(call)
        self._send_waiting()

    def _lost(self, server: Server, call: _Call) -> None:
        """Handles the end of a server with this call in flight."""
        with self._lock:
            self._servers.get(server, set()).discard(call)
            if self._closed or call.future.cancelled():
                return
            tries_again = call.tries < _MOST_TRIES and call.tool in _ASKED_AGAIN
            if tries_again:
                self._queue.appendleft(call)
        if not tries_again:
            call.fail(ServerError(f"hone {server.last_words()}"))

    def _ended(self, server: Server) -> None:
        with self._lock:
            self._servers.pop(server, None)
            self._ended_in_vain = 0 if server.answered > 0 or self._closed else self._ended_in_vain + 1
            failed = list(self._queue) if self._ended_in_vain >= _MOST_BARREN else []
            if failed:
                self._queue.clear()
                self._ended_in_vain = 0
        for call in failed:
            call.fail(ServerError(f"hone {server.last_words()}"))
        self._send_waiting()
