# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Training and predicting with the engine of `hone-gnn` as objects: Trainer, Predictor, ModelSpec. See docs/gnn-python.md."""
from __future__ import annotations

import contextlib
import json
import operator
import os
import struct
import subprocess
import tempfile
import threading
from typing import Any, Callable, Iterable

from hone.gnn import engine
from hone.gnn.engine import EngineError
from hone.gnn.graph import Graph

__all__ = ["ModelSpec", "Predictor", "Trainer"]

_MOST_NODES = 64  # of a request to `hone-gnn serve`
# Options that say where and how fast, and that a run does not keep.
_PLACING = ("device", "gpus", "threads", "workers", "queue", "features", "cache_rows", "cache_policy", "host_memory", "load", "precision")


class ModelSpec:
    """A model as the text of docs/models-spec.md, which a Trainer takes as its `model`.

    text: TOML. What is wrong with it, the Trainer's first fit says.
    """

    def __init__(self, text: str):
        if not isinstance(text, str) or not text.strip():
            raise TypeError(f"text: expected a model as TOML, found {text!r:.60}")
        self.text = text

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> "ModelSpec":
        with open(path, encoding="utf-8") as file:
            return cls(file.read())

    @classmethod
    def published(cls, name: str, *, program: str | os.PathLike[str] | None = None) -> "ModelSpec":
        """One of the engine's own models ("sage", "gat", "gin", "sage-ri") as a specification, to be changed."""
        lines: list[str] = []
        engine.run(engine.find(program), ["models", name, "--toml"], lines.append)
        return cls("".join(lines))


class Trainer:
    """Trains a model on a graph with the engine's own loop, on the CPU or on GPUs, some epochs at a time.

    graph: hone.gnn.Graph.
    checkpoint: folder that the run is kept in; with one of an earlier run in it the Trainer goes on from there, and takes no other options.
    model: "sage", "gat", "gin", "sage-ri", the path of a .toml file, or a ModelSpec.
    options: those of `hone-gnn train` (docs/training.md), as in fanout=[15, 10, 5], hidden=256, lr=0.003, device="cuda".

    done: epochs trained so far. history: their reports, of this object's fits. Not thread-safe.

    ValueError: an option is wrong. EngineError: the machine could not do it. Ctrl-C ends a fit after its step; its state is saved then.
    """

    def __init__(self, graph: Graph, checkpoint: str | os.PathLike[str], *, model: str | os.PathLike[str] | ModelSpec | None = None, **options: Any):
        if not isinstance(graph, Graph):
            raise TypeError(f"graph: expected a hone.gnn.Graph, found {type(graph).__name__}")
        for name in ("epochs", "resume", "overwrite", "on_epoch"):
            if name in options:
                raise ValueError(f"{name}: it is no option of a Trainer; fit(epochs, on_epoch) trains, and a Trainer on a folder with a run goes on")
        self.graph, self.checkpoint = graph, os.fspath(checkpoint)
        self.history: list[dict[str, Any]] = []
        self.done: int | None = 0
        self._model, self._options = model, options
        if os.path.exists(os.path.join(self.checkpoint, "last.safetensors")):
            given = [name for name in options if name not in _PLACING] + (["model"] if model is not None else [])
            if given:
                raise ValueError(f"checkpoint: {self.checkpoint!r} holds a run, which goes on as it began; leave out {', '.join(sorted(given))}, or name "
                                 "another folder")
            self.done = None  # the first fit tells

    def fit(self, epochs: int = 1, on_epoch: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
        """Trains `epochs` more epochs, and returns what Graph.train does. on_epoch: see Graph.train; an exception ends the fit, and the next goes on
        from there."""
        epochs = operator.index(epochs)
        if epochs < 1:
            raise ValueError(f"epochs: expected at least 1, found {epochs}")
        if self.done is None:
            self.done = self._epochs_kept()

        def take(epoch: dict[str, Any]) -> None:
            self.history.append(epoch)
            self.done = epoch["epoch"] + 1
            if on_epoch is not None:
                on_epoch(epoch)

        if os.path.exists(os.path.join(self.checkpoint, "last.safetensors")):
            return self.graph.train(resume=self.checkpoint, epochs=self.done + epochs, on_epoch=take, **self._placing())
        with tempfile.TemporaryDirectory(prefix="hone-model-") as folder:
            model = self._model
            if isinstance(model, ModelSpec):
                text, model = model.text, os.path.join(folder, "model.toml")
                with open(model, "w", encoding="utf-8") as file:
                    file.write(text)
            return self.graph.train(epochs=epochs, checkpoint=self.checkpoint, on_epoch=take, model=model, **self._options)

    def _placing(self) -> dict[str, Any]:
        return {name: value for name, value in self._options.items() if name in _PLACING}

    def _epochs_kept(self) -> int:
        # Resuming for one epoch that was trained already trains none, and tells how many there are.
        return int(self.graph.train(resume=self.checkpoint, epochs=1, **self._placing())["epochs"])

    def evaluate(self, nodes: Any = "test", *, full: bool = True, **options: Any) -> dict[str, Any]:
        """What Graph.infer tells of the best epoch: accuracy, macro_f1, auc and more; with every neighbor, or from samples."""
        return self.graph.infer(self.checkpoint, nodes=nodes, full=full, **options)

    def predictor(self, **options: Any) -> "Predictor":
        """A Predictor of the best epoch so far."""
        return Predictor(self.graph, self.checkpoint, **options)


class Predictor:
    """Answers which class nodes have, with graph and model made ready once, in a process of its own (`hone-gnn serve`).

    graph: the one of the training, or one with the same features and classes and other_graph=True. checkpoint: a run's folder or a file.
    options: those of `hone-gnn serve`, as in device="cuda", fanout=[20, 20], threads=4.

    predictor(17) gives a class, predictor([17, 4]) a list of them; `probabilities` those of every class; `rows` goes over the whole graph. Calls of
    several threads take turns. A forked child makes its own. Ctrl-C in a call ends the process, and the next call starts another.

    ValueError: no such node, or the checkpoint does not fit. EngineError: the process ended; the message is its last words.
    """

    def __init__(self, graph: Graph, checkpoint: str | os.PathLike[str], **options: Any):
        if not isinstance(graph, Graph):
            raise TypeError(f"graph: expected a hone.gnn.Graph, found {type(graph).__name__}")
        for name in ("json", "quiet", "probabilities"):
            if name in options:
                raise ValueError(f"{name}: it is no option of a Predictor; `probabilities` is a method")
        self.graph, self.checkpoint, self._options = graph, os.fspath(checkpoint), options
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._said: list[str] = []
        self._owner = os.getpid()
        self._ask([0])  # what is wrong is said now

    def __call__(self, nodes: int | Iterable[int]) -> Any:
        """The class of a node, or the list of those of nodes, in their order."""
        if hasattr(nodes, "__index__") and not getattr(nodes, "shape", ()):
            return self._ask([operator.index(nodes)])["classes"][0]
        return self._ask(_ids(nodes))["classes"]

    def probabilities(self, nodes: Iterable[int]) -> list[list[float]]:
        """Of each node those of every class."""
        return self._ask(_ids(nodes))["probabilities"]

    def rows(self, nodes: Any = "all", *, logits: bool = False, full: bool = True, **options: Any) -> memoryview:
        """Classes, int32 [nodes], or logits, float32 [nodes, classes], of "all", "train", "valid", "test", ids or a mask, as Graph.infer gives them: with
        every neighbor, or from samples."""
        with tempfile.TemporaryDirectory(prefix="hone-rows-") as folder:
            output = os.path.join(folder, "rows.npy")
            self.graph.infer(self.checkpoint, nodes=nodes, full=full, logits=logits, output=output, **options)
            with open(output, "rb") as file:
                found = file.read()
        begin = 10 + struct.unpack_from("<H", found, 8)[0]
        view = memoryview(found)[begin:]
        if not logits:
            return view.cast("i")
        return view.cast("f", [len(view) // (4 * self.graph.num_classes), self.graph.num_classes]) if len(view) else view.cast("f")

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(BrokenPipeError):  # what was not read when it ended
            process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()
        process.stderr.close()

    def __enter__(self) -> "Predictor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None and os.getpid() == self._owner:
            self._process.kill()
            self.close()

    def _ask(self, nodes: list[int]) -> dict[str, Any]:
        if os.getpid() != self._owner:
            raise RuntimeError("this Predictor was made before a fork, and its process is not this one's: make a Predictor here")
        found: dict[str, Any] = {"classes": [], "probabilities": []}
        with self._lock:
            for begin in range(0, len(nodes), _MOST_NODES):
                try:
                    answer = self._line(" ".join(map(str, nodes[begin : begin + _MOST_NODES])))
                except BaseException:
                    # An answer may be under way, and would be taken for the next request's.
                    if self._process is not None:
                        self._process.kill()
                        self.close()
                    raise
                if "error" in answer:
                    raise ValueError(f"nodes: {answer['error']}")
                found["classes"] += answer["classes"]
                found["probabilities"] += answer["probabilities"]
        return found

    def _line(self, text: str) -> dict[str, Any]:
        process = self._process or self._start()
        try:
            process.stdin.write(text + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if line:
            return json.loads(line)
        status = process.wait()
        self._reader.join()
        message = "".join(self._said).strip().removeprefix("hone-gnn: ") or f"hone-gnn ended with status {status}"
        message = engine.as_python(message, {})
        raise ValueError(message) if status == 2 else EngineError(message)

    def _start(self) -> "subprocess.Popen[str]":
        program = self.graph._program
        words = ["serve", self.graph.path, self.checkpoint, "--json", "--quiet", "--probabilities", *engine.flags(self._options)]
        try:
            process = subprocess.Popen([program, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        except OSError as error:
            raise EngineError(f"{program} could not be started: {error.strerror}") from error
        self._process, said = process, []
        self._said = said
        # A full pipe must not stop it.
        self._reader = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)
        self._reader.start()
        return process


def _ids(nodes: Any) -> list[int]:
    if isinstance(nodes, (str, bytes)):
        raise TypeError(f"nodes: expected node ids, found {nodes!r}; `rows` takes the name of a split")
    try:
        found = nodes.tolist() if hasattr(nodes, "tolist") else list(nodes)
        if any(isinstance(node, bool) for node in found):
            raise TypeError("a truth value is no node id")
        return [operator.index(node) for node in found]
    except TypeError as error:
        raise TypeError(f"nodes: expected node ids, found {nodes!r:.60} ({error})") from error
