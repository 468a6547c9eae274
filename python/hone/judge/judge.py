# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The judge's client: thousands of candidates in flight over a few `hone mcp` processes of its own."""
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

from hone.judge.errors import CallError, JudgeError, ServerError
from hone.judge.evaluation import Evaluation
from hone.judge.server import Server, find_program

# The server takes sixteen calls at once; a few stay free for answers that were sent and are not yet counted as such.
_MOST_AT_ONCE = 12
# A candidate that was under way twice when a server ended is not tried a third time: it may be what ends servers.
_MOST_TRIES = 2
# So many processes in a row that end before they answer anything: the program does not run here.
_MOST_BARREN = 3
_BUSY = -32000
_WRONG_CALL = (-32600, -32601, -32602)  # JSON-RPC: no tool of this name, arguments that are none
_DEVICE = re.compile(r"auto|cuda(:\d{1,3})?|sim(:.+)?|spool:.+|rediss?://.+")
# Only these are asked again when their server ended: the others begin or write something.
_ASKED_AGAIN = frozenset({"tasks", "task", "eval", "compare", "profile", "tune", "run_status", "run_best"})


@dataclass(frozen=True)
class Job:
    """One candidate to be judged. Fields beside `task` and `source` are those of the tool `eval` (docs/mcp.md)."""

    task: str  # a name that Judge.tasks() lists, or a folder with a task.toml below the judge's root
    source: str  # the whole text of the candidate's .cu file
    baseline: str | None = None  # text of a .cu file to be timed against; None: the task's seed
    bind: Mapping[str, int] = field(default_factory=dict)  # values of tunables
    cases: Sequence[int] | None = None  # the timed cases to time, counted from 0; None: all
    time: bool = True  # False: only checked, which is quicker
    warm: bool = True  # False: timed with cold caches only
    trials: int | None = None  # sets of random inputs each timed case is checked with

    def arguments(self) -> dict[str, Any]:
        call: dict[str, Any] = {"task": self.task, "source": self.source, "time": self.time, "warm": self.warm}
        if self.baseline is not None:
            call["baseline"] = self.baseline
        if self.bind:
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
        # Never marked as running, so that it can be cancelled at any time; a late answer to a cancelled one is dropped.
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

    device: "auto" (a GPU, else the simulated one), "cuda:N", "sim", "sim:NAME", or "spool:DIR" where a `hone worker` judges.
    program: the program `hone`; by default the one in this package, else the first in PATH.
    root: the folder whose tasks/ are known beside Hone's own, and below which `task` may name a folder.
    processes: how many `hone mcp` processes share the work; each keeps up to 12 candidates under way. One is right for a
        device of this machine, which judges one candidate at a time on a GPU and several on the simulated one.
    environment: the processes' environment variables; by default the caller's.

    The judge draws every seed itself: no argument chooses the hidden shapes or inputs of an evaluation.

    Raises ServerError when the program is not there or a device cannot be opened, CallError when an argument is wrong. An
    evaluation whose process ends before it answers is tried once more in another process.
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
        if processes < 1:
            raise CallError(f"processes={processes}: at least one is needed")
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
        self._barren = 0  # processes in a row that ended without an answer

    # What a candidate is worth.

    async def eval(self, task: str, source: str, **choices: Any) -> Evaluation:
        """Judges one candidate; `choices` are the other fields of Job. Many may be awaited at once.

        A cancelled call that no process has begun is never begun; one under way is finished unseen.
        """
        return await self.eval_job(Job(task, source, **choices))

    async def eval_job(self, job: Job) -> Evaluation:
        """Judges one candidate."""
        return Evaluation.from_json(await asyncio.wrap_future(self._submit("eval", job.arguments())))

    def eval_now(self, task: str, source: str, *, timeout: float | None = None, **choices: Any) -> Evaluation:
        """Judges one candidate and waits for it, `timeout` seconds at most (TimeoutError)."""
        return self.eval_all([Job(task, source, **choices)], timeout=timeout)[0]

    def eval_all(self, jobs: Iterable[Job], *, timeout: float | None = None, return_errors: bool = False) -> list[Any]:
        """Judges candidates beside one another and waits for all: evaluations in the order of `jobs`.

        Raises the first job's error in that order; what is not begun then is never begun. Ctrl-C ends the wait likewise. With
        `return_errors` the JudgeError stands in the list in place of the evaluation, and all others are judged.
        """
        futures = []
        for job in jobs:
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
        """Times the candidate with the text `b` against the one with the text `a`, in pairs; speedups above 1: b is faster.

        `raw["judged"]` is "a alone" where a is not right; the evaluation is then a's.
        """
        return Evaluation.from_json(self.call("compare", timeout=timeout, task=task, a=a, b=b))

    def profile(self, task: str, source: str, *, timeout: float | None = None, **choices: Any) -> Evaluation:
        """Judges one candidate and counts where its time goes: `raw["profile"]`. `choices`: bind, cases, sass."""
        return Evaluation.from_json(self.call("profile", timeout=timeout, task=task, source=source, **choices))

    # The other tools.

    def call(self, tool: str, *, timeout: float | None = None, **arguments: Any) -> dict[str, Any]:
        """Calls any tool of `hone mcp` (docs/mcp.md) and returns its structured answer: tune, new_task, apply, run_start, ….

        Waits `timeout` seconds at most (TimeoutError). Texts that the server cut to keep its answer short are named in
        `left_out`. Raises CallError with the tool's own words.
        """
        future = self._submit(tool, arguments)
        try:
            return future.result(timeout)
        except concurrent.futures.TimeoutError:
            raise TimeoutError(f"{tool} did not answer within {timeout} seconds") from None
        finally:
            future.cancel()

    async def call_async(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The same for coroutines."""
        return await asyncio.wrap_future(self._submit(tool, arguments))

    # What there is.

    def tasks(self) -> list[dict[str, Any]]:
        """The tasks that `task` may name, each with its `name` and `summary`."""
        return self._submit("tasks", {}).result()["tasks"]

    def task(self, name: str) -> dict[str, Any]:
        """All there is to know of a task: tensors, shapes, tolerance, seed, oracle, and how a candidate is written."""
        return self._submit("task", {"name": name}).result()

    # Its end.

    def close(self, seconds: float = 10) -> None:
        """Ends the processes. Candidates that wait or are under way get a ServerError. May be called twice."""
        with self._lock:
            self._closed = True
            servers = dict(self._servers)
            self._servers.clear()
            left = list(self._queue) + [call for calls in servers.values() for call in calls]
            self._queue.clear()
        for call in left:
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

    # How calls are shared out.

    def _submit(self, tool: str, arguments: Mapping[str, Any]) -> concurrent.futures.Future[dict[str, Any]]:
        if os.getpid() != self._owner:
            raise ServerError("this judge belongs to another process: make a Judge after the fork")
        call = _Call(tool, arguments)
        with self._lock:
            if self._closed:
                raise ServerError("this judge is closed")
            self._queue.append(call)
        self._share_out()
        return call.future

    def _share_out(self) -> None:
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
                for one in failed:
                    one.fail(error)
                return
            sent = server.request(
                "tools/call",
                {"name": call.tool, "arguments": call.arguments},
                lambda message, server=server, call=call: self._answered(server, call, message),
            )
            if not sent:  # it has gone, and its end is not yet known here
                with self._lock:
                    self._servers.pop(server, None)
                    call.tries -= 1
                    self._queue.appendleft(call)

    def _free_server(self) -> Server | None:
        """The server with the fewest calls, a new one where that is better, or None where all are full. Under the lock."""
        least = min(self._servers, key=lambda one: len(self._servers[one]), default=None)
        if least is not None and (not self._servers[least] or len(self._servers) >= self._processes):
            return least if len(self._servers[least]) < _MOST_AT_ONCE else None
        server = Server(self._command, self._environment, self._ended)
        self._servers[server] = set()
        return server

    def _answered(self, server: Server, call: _Call, message: dict[str, Any]) -> None:
        if not message:
            return self._lost(server, call)
        if "error" in message and message["error"].get("code") == _BUSY:
            with self._lock:
                call.tries -= 1
                self._queue.appendleft(call)
            return self._over(server, call)
        result = message.get("result", {})
        structured = result.get("structuredContent")
        if "error" in message:
            kind = CallError if message["error"].get("code") in _WRONG_CALL else ServerError
            call.fail(kind(f"hone refused the request: {message['error'].get('message', '')}"))
        elif result.get("isError") or structured is None:
            text = "\n".join(part.get("text", "") for part in result.get("content", ()) if part.get("type") == "text")
            by_machine = result.get("_meta", {}).get("hone/cause") == "machine"
            call.fail((ServerError if by_machine else CallError)(text or "hone answered without saying why"))
        elif structured.get("left_out") and "address" in structured:
            # The short form was cut: the whole evaluation is a resource.
            sent = server.request(
                "resources/read",
                {"uri": structured["address"]},
                lambda whole, server=server, call=call, short=structured: self._read(server, call, short, whole),
            )
            if sent:
                return None
            call.answer(structured)
        else:
            call.answer(structured)
        return self._over(server, call)

    def _read(self, server: Server, call: _Call, short: dict[str, Any], message: dict[str, Any]) -> None:
        try:
            whole = json.loads(message["result"]["contents"][0]["text"])
        except (KeyError, IndexError, TypeError, ValueError):
            whole = {}  # the short form still says the verdict, and what was left out of it
        call.answer({**short, **whole})
        self._over(server, call)

    def _over(self, server: Server, call: _Call) -> None:
        with self._lock:
            self._servers.get(server, set()).discard(call)
        self._share_out()

    def _lost(self, server: Server, call: _Call) -> None:
        """The server went away with this call under way."""
        with self._lock:
            self._servers.get(server, set()).discard(call)
            if self._closed or call.future.cancelled():
                return
            again = call.tries < _MOST_TRIES and call.tool in _ASKED_AGAIN
            if again:
                self._queue.appendleft(call)
        if not again:
            call.fail(ServerError(f"hone {server.last_words()}"))

    def _ended(self, server: Server) -> None:
        with self._lock:
            self._servers.pop(server, None)
            self._barren = 0 if server.answered > 0 or self._closed else self._barren + 1
            failed = list(self._queue) if self._barren >= _MOST_BARREN else []
            if failed:
                self._queue.clear()
                self._barren = 0
        for call in failed:
            call.fail(ServerError(f"hone {server.last_words()}"))
        self._share_out()
