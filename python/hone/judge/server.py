# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""One `hone mcp` process and the conversation with it over its pipes: requests are sent, and answers come back in any order.

The messages are those of the Model Context Protocol's revision 2026-07-28, in which every request is complete in itself.
"""
from __future__ import annotations

import collections
import json
import os
import shutil
import subprocess
import threading
from typing import Any, Callable, Mapping, Sequence

from hone import programs
from hone.judge.errors import ServerError

_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "hone-python", "version": "1"},
}
_KEPT_STDERR_LINES = 20


def find_program(program: str | os.PathLike[str] | None) -> str:
    """Returns the path of the program `hone`: the one asked for, the one in this package, or the first in PATH."""
    if program is not None:
        program_path = shutil.which(os.fspath(program))
        if program_path is None:
            raise ServerError(f"program={os.fspath(program)!r}: there is no such program; leave it out to search PATH")
        return program_path
    program_path = programs.find("hone")
    if program_path is None:
        raise ServerError("the program 'hone' is neither in this package nor in PATH; build it with `make build` and pass program='build/bin/hone'")
    return program_path


class Server:
    """A process that answers requests in any order. All methods may be called by any thread."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str] | None, on_end: Callable[["Server"], None]):
        """Starts the process. `on_end(self)` is called once, by a thread of this object, when the process has ended."""
        try:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=None if environment is None else dict(environment),
                start_new_session=True,  # the caller handles Ctrl-C at a terminal
            )
        except OSError as error:
            raise ServerError(f"{command[0]} could not be started: {error.strerror}") from error
        self.answered = 0  # how many requests this process has answered
        self._on_end = on_end
        self._lock = threading.Lock()
        self._writing = threading.Lock()  # separate from _lock, so that answers can be read while a long request is being written
        self._waiting: dict[int, Callable[[dict[str, Any]], None]] = {}
        self._next_id = 1
        self._ended = False
        self._said: collections.deque[str] = collections.deque(maxlen=_KEPT_STDERR_LINES)
        self._listener = threading.Thread(target=self._listen, name="hone-judge-answers", daemon=True)
        self._overhearer = threading.Thread(target=self._overhear, name="hone-judge-stderr", daemon=True)
        self._overhearer.start()
        self._listener.start()

    def request(self, method: str, params: Mapping[str, Any], answer: Callable[[dict[str, Any]], None]) -> bool:
        """Sends a request. `answer(message)` is called once, by a thread of this object, with the response, or with an empty object if the process
        ended. Returns False if the process has ended already; `answer` is then not called."""
        with self._lock:
            if self._ended:
                return False
            identity = self._next_id
            self._next_id += 1
            self._waiting[identity] = answer
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": {**params, "_meta": _META}}
        try:
            with self._writing:
                self._process.stdin.write(json.dumps(message).encode() + b"\n")
                self._process.stdin.flush()
        except (OSError, ValueError):  # the pipe is broken, or closed
            with self._lock:
                return self._waiting.pop(identity, None) is None  # None: the reading thread took the request, and has answered it
        return True

    def last_words(self) -> str:
        """Returns how the process ended, and the end of what it wrote to standard error."""
        status = self._process.poll()
        how = "is running" if status is None else f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
        server_output = "\n".join(self._said).strip()
        return how + (f" and said:\n{server_output}" if server_output else "")

    def close(self, seconds: float) -> None:
        """Ends the process: closes its input, and kills it if it is still running after `seconds`. Requests in flight are not answered."""
        with self._lock:
            self._ended = True
        try:
            self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            try:
                self._process.wait(2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _listen(self) -> None:
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                self._said.append(f"(not a message: {line[:200]!r})")
                continue
            if not isinstance(message, dict) or "method" in message:
                continue  # a notification
            with self._lock:
                answer = self._waiting.pop(message.get("id"), None)
                self.answered += answer is not None
            if answer is not None:
                answer(message)
        self._process.wait()
        self._overhearer.join(1)
        with self._lock:
            self._ended = True
            waiting = list(self._waiting.values())
            self._waiting.clear()
        for pipe in (self._process.stdin, self._process.stdout):
            try:
                pipe.close()
            except OSError:
                pass
        for answer in waiting:
            answer({})
        self._on_end(self)

    def _overhear(self) -> None:
        with self._process.stderr as pipe:
            for line in pipe:
                self._said.append(line.decode(errors="replace").rstrip())
