# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the program `hone-gnn` as a child process: passes its options, reads what it prints, and rewrites its messages and warnings in Python's
terms."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from typing import Any, Callable, Iterable, Mapping

from hone import messages, programs

# Options without a value, which are True in Python.
FLAGS = frozenset(("allow-isolated", "bias", "coalesce", "confusion", "full", "json", "logits", "names", "other-graph", "overwrite", "plateau",
                   "probabilities", "quiet", "standardize", "symmetrize", "toml", "verify"))
_WARNING = "hone-gnn: warning: "
_STOP_SECONDS = 30.0  # time in which a stopped process may save its state before it is killed


class EngineError(RuntimeError):
    """The engine could not do what the caller rightly asked for: no memory, no GPU, a full disk. The message is the program's."""


def flags(options: Mapping[str, Any]) -> list[str]:
    """Turns options into arguments: fanout=[15, 10] becomes --fanout 15,10; True becomes the flag alone; None and False are left out."""
    arguments = []
    for name, value in options.items():
        if hasattr(value, "tolist"):  # a number or a list of numpy or torch
            value = value.tolist()
        if value is None or value is False:
            continue
        arguments.append("--" + name.replace("_", "-"))
        if value is not True:
            arguments.append(",".join(str(one) for one in value) if isinstance(value, (list, tuple)) else os.fspath(value) if isinstance(value, os.PathLike) else str(value))
    return arguments


def as_python(message: str, arguments: Mapping[str, str] = {}) -> str:
    """Rewrites a message of `hone-gnn` (messages.as_python)."""
    return messages.as_python(message, FLAGS, arguments)


def _sentences_as_python(given: Any, arguments: Mapping[str, str]) -> Any:
    """Returns the program's JSON with sentences in it rewritten by as_python."""
    if isinstance(given, dict):
        for key in ("device_why", "warnings", "notes"):
            if key in given:
                value = given[key]
                given[key] = [as_python(one, arguments) for one in value] if isinstance(value, list) else as_python(value, arguments)
    return given


def read_json(text: str, arguments: Mapping[str, str] = {}) -> Any:
    """Returns an object that the program printed."""
    return _sentences_as_python(json.loads(text), arguments)


def warn(sentence: str) -> None:
    """Warns with the place of the caller outside this package."""
    ours, level, frame = os.path.dirname(os.path.abspath(__file__)) + os.sep, 2, sys._getframe(1)
    while frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(ours):
        level, frame = level + 1, frame.f_back
    warnings.warn(sentence, stacklevel=level)


def pass_on_warnings(lines: Iterable[str], arguments: Mapping[str, str] = {}) -> None:
    """Warns of what the program's standard error warns of."""
    for line in lines:
        if line.startswith(_WARNING):
            warn(as_python(line[len(_WARNING) :].strip(), arguments))


def without_warnings(lines: Iterable[str]) -> str:
    return "".join(line for line in lines if not line.startswith(_WARNING))


def run(program: str, words: list[str], on_line: Callable[[str], None], *, stopped_is_fine: bool = False,
         arguments: Mapping[str, str] = {}) -> None:
    """Runs `hone-gnn`, and calls `on_line` with each line that it prints. Its warnings become Python's. arguments: see as_python.

    After Ctrl-C, or an exception of `on_line`, asks the process to stop, waits until it has saved its state, and then raises the exception.
    """
    try:
        process = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)  # we handle Ctrl-C at a terminal ourselves, and pass it on
    except OSError as error:
        raise EngineError(f"{program} could not be started: {error.strerror}") from error
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)  # reads standard error, whose full pipe would block the process
    reader.start()
    try:
        for line in process.stdout:
            on_line(line)
        process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        raise
    finally:
        reader.join()
        process.stdout.close()
        process.stderr.close()
    pass_on_warnings(said, arguments)
    if process.returncode == 0 or (process.returncode == 1 and stopped_is_fine):
        return
    message = without_warnings(said).strip().removeprefix("hone-gnn: ") or f"hone-gnn ended with status {process.returncode}"
    message = as_python(message, arguments)
    raise ValueError(message) if process.returncode == 2 else EngineError(message)


def ask(program: str, words: list[str], arguments: Mapping[str, str] = {}) -> dict[str, Any]:
    lines: list[str] = []
    run(program, words, lines.append, arguments=arguments)
    return read_json("".join(lines), arguments)


def find(given: str | os.PathLike[str] | None) -> str:
    program = programs.find("hone-gnn") if given is None else os.fspath(given)
    if program is None:
        raise EngineError("the program 'hone-gnn' is neither in this package nor in PATH; build it with `make build` and pass program='build/bin/hone-gnn'")
    return program
