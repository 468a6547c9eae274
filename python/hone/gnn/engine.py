# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the program `hone-gnn` as a child process: passes its options, reads what it prints, and rewrites its messages in Python's terms."""
from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from typing import Any, Callable, Mapping

from hone import programs

# An option in a message of the program, with the placeholder of its value.
_OPTION = re.compile(r"(?<![\w-])--([a-z]+(?:-[a-z]+)*)(?: ([A-Z]{2,})\b)?")
_STOP_SECONDS = 30.0  # time in which a stopped process may save its state before it is killed


class EngineError(RuntimeError):
    """The engine could not do what the caller rightly asked for: no memory, no GPU, a full disk. The message is the program's."""


def flags(options: Mapping[str, Any]) -> list[str]:
    """Turns options into arguments: fanout=[15, 10] becomes --fanout 15,10; True becomes the flag alone; None and False are left out."""
    words = []
    for name, value in options.items():
        if value is None or value is False:
            continue
        words.append("--" + name.replace("_", "-"))
        if value is not True:
            words.append(",".join(str(one) for one in value) if isinstance(value, (list, tuple)) else os.fspath(value) if isinstance(value, os.PathLike) else str(value))
    return words


def as_python(message: str, arguments: Mapping[str, str]) -> str:
    """Rewrites a message of the program in Python's terms: options by their Python names, and files that we wrote (the keys of `arguments`) by the
    names of the arguments that they hold. Commands between backticks stay as they are."""
    for path, name in arguments.items():
        message = message.replace(f"'{path}'", name).replace(path, name)
    parts = message.split("`")
    parts[::2] = [_OPTION.sub(lambda found: found[1].replace("-", "_") + (f"={found[2]}" if found[2] else ""), part) for part in parts[::2]]
    return "`".join(parts)


def run(program: str, words: list[str], on_line: Callable[[str], None], *, stopped_is_fine: bool = False,
         arguments: Mapping[str, str] = {}) -> None:
    """Runs `hone-gnn`, and calls `on_line` with each line that it prints. arguments: see as_python.

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
    if process.returncode == 0 or (process.returncode == 1 and stopped_is_fine):
        return
    message = "".join(said).strip().removeprefix("hone-gnn: ") or f"hone-gnn ended with status {process.returncode}"
    message = as_python(message, arguments)
    raise ValueError(message) if process.returncode == 2 else EngineError(message)


def ask(program: str, words: list[str], arguments: Mapping[str, str] = {}) -> dict[str, Any]:
    lines: list[str] = []
    run(program, words, lines.append, arguments=arguments)
    return json.loads("".join(lines))


def find(given: str | os.PathLike[str] | None) -> str:
    found = programs.find("hone-gnn") if given is None else os.fspath(given)
    if found is None:
        raise EngineError("the program 'hone-gnn' is neither in this package nor in PATH; build it with `make build` and pass program='build/bin/hone-gnn'")
    return found
