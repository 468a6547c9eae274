# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains and predicts with the engine of `hone-gnn` through objects: Trainer, Predictor, ModelSpec. See docs/gnn-python.md."""
from __future__ import annotations

import ast
import contextlib
import operator
import os
import subprocess
import tempfile
import threading
import weakref
from typing import Any, Callable, Iterable

from hone.gnn import engine
from hone.gnn.engine import EngineError
from hone.gnn.graph import Graph, check_on_epoch

__all__ = ["ModelSpec", "Predictor", "Trainer"]

_MOST_NODES = 64  # most nodes of a request to `hone-gnn serve`
# Options about where and how fast a run computes, which a checkpoint does not keep.
_PLACING = ("device", "gpus", "threads", "workers", "queue", "features", "cache_rows", "cache_policy", "host_memory", "load", "precision")


class ModelSpec:
    """A model as the text of docs/models-spec.md, which a Trainer takes as its `model`.

    text: TOML. Errors in it are reported by the Trainer's first fit.
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
        """Returns one of the engine's own models ("sage", "gat", "gin", "sage-ri") as a specification that can be changed."""
        lines: list[str] = []
        engine.run(engine.find(program), ["models", name, "--toml"], lines.append)
        return cls("".join(lines))


class Trainer:
    """Trains a model on a graph with the engine's own loop, on the CPU or on GPUs, some epochs at a time.

    graph: hone.gnn.Graph.
    checkpoint: folder in which the run is kept. If it holds an earlier run, the Trainer continues that run and takes no other options.
    model: "sage", "gat", "gin", "sage-ri", the path of a .toml file, or a ModelSpec.
    options: those of `hone-gnn train` (docs/training.md), for example fanout=[15, 10, 5], hidden=256, lr=0.003, device="cuda".

    done: epochs trained so far. history: reports of the epochs that this object trained. Not thread-safe.

    ValueError: an option is wrong. EngineError: the machine failed. Ctrl-C ends a fit after its step, and the state is then saved.
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
            changed_options = [name for name in options if name not in _PLACING] + (["model"] if model is not None else [])
            if changed_options:
                raise ValueError(f"checkpoint: {self.checkpoint!r} holds a run, which goes on as it began; leave out {', '.join(sorted(changed_options))}, or name "
                                 "another folder")
            self.done = None  # the first fit finds out

    def fit(self, epochs: int = 1, on_epoch: Callable[[dict[str, Any]], None] | None = None) -> dict[str, Any]:
        """Trains `epochs` more epochs. Returns what Graph.train returns. on_epoch: see Graph.train; an exception ends the fit, and the next fit
        continues from there."""
        if isinstance(epochs, bool) or not hasattr(epochs, "__index__"):
            raise TypeError(f"epochs: expected a whole number, found {epochs!r}")
        epochs = operator.index(epochs)
        if epochs < 1:
            raise ValueError(f"epochs: expected at least 1, found {epochs}")
        check_on_epoch(on_epoch)
        if self.done is None:
            self.done = self._epochs_kept()

        def take(epoch: dict[str, Any]) -> None:
            self.history.append(epoch)
            self.done = epoch["epoch"] + 1
            if on_epoch is not None:
                on_epoch(epoch)

        if os.path.exists(os.path.join(self.checkpoint, "last.safetensors")):
            return self.graph.train(resume=self.checkpoint, epochs=self.done + epochs, on_epoch=take, **self._placing())
        return self.graph.train(epochs=epochs, checkpoint=self.checkpoint, on_epoch=take, model=self._model, **self._options)

    def _check_trained(self) -> None:
        if self.done == 0:
            raise ValueError(f"checkpoint: {self.checkpoint!r} holds no run yet; train some epochs first, by fit(epochs)")

    def _placing(self) -> dict[str, Any]:
        return {name: value for name, value in self._options.items() if name in _PLACING}

    def _epochs_kept(self) -> int:
        # Resuming with a number of epochs that was already reached trains nothing, and returns the number of epochs trained.
        return int(self.graph.train(resume=self.checkpoint, epochs=1, **self._placing())["epochs"])

    def evaluate(self, nodes: Any = "test", *, full: bool = True, **options: Any) -> dict[str, Any]:
        """Returns what Graph.infer returns for the best epoch: accuracy, macro_f1, auc and more; with every neighbor, or from samples.

        ValueError: no epoch is trained yet, or an argument is wrong."""
        self._check_trained()
        return self.graph.infer(self.checkpoint, nodes=nodes, full=full, **options)

    def predictor(self, **options: Any) -> "Predictor":
        """Returns a Predictor of the best epoch so far. ValueError: no epoch is trained yet, or an option is wrong."""
        self._check_trained()
        return Predictor(self.graph, self.checkpoint, **options)


class Predictor:
    """Answers which classes nodes have. A process of its own (`hone-gnn serve`) keeps graph and model ready.

    graph: the graph of the training; or, with other_graph=True, one with the same features and classes. checkpoint: a run's folder or a file.
    options: those of `hone-gnn serve`, for example device="cuda", fanout=[20, 20], threads=4.

    predictor(17) returns a class, and predictor([17, 4]) a list of classes; a model of several labels gives a list of the probability of each label in
    place of a class, and a model of values a list of values; `names` returns their names; `probabilities` those of every class;
    `rows` predicts many nodes of the graph, and `embeddings` returns the rows of a layer. Calls of several threads take turns. A forked child must make its own Predictor. Ctrl-C in a call ends the process, and the next
    call starts another.

    ValueError: there is no such node, or the checkpoint does not fit. EngineError: the process ended; the message has its last words.
    """

    def __init__(self, graph: Graph, checkpoint: str | os.PathLike[str], **options: Any):
        if not isinstance(graph, Graph):
            raise TypeError(f"graph: expected a hone.gnn.Graph, found {type(graph).__name__}")
        for name in ("json", "quiet", "probabilities", "names"):
            if name in options:
                raise ValueError(f"{name}: it is no option of a Predictor; `probabilities` and `names` are methods")
        self.graph, self.checkpoint, self._options = graph, os.fspath(checkpoint), options
        # What an answer has for each node. A graph without labels does not say what the model predicts; the first answer does.
        self._answer = {"classes": "classes", "multi-label": "probabilities", "values": "values"}[graph.targets] if graph.num_classes else None
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._said: list[str] = []
        self._owner = os.getpid()
        first_answer = self._ask([0])  # reports errors now and not at the first request
        if self._answer is None:
            self._answer = next(key for key in ("classes", "values", "probabilities") if first_answer[key])
            if self._answer == "classes":
                self.close()  # the next process answers with probabilities too

    def __call__(self, nodes: int | Iterable[int]) -> Any:
        """Returns the class of a node, or a list with the class of each node, in order. Labels and values: see Predictor."""
        if hasattr(nodes, "__index__") and not getattr(nodes, "shape", ()):
            return self._ask([operator.index(nodes)])[self._answer][0]
        return self._ask(_ids(nodes))[self._answer]

    def names(self, nodes: int | Iterable[int]) -> Any:
        """Returns the name of a node's class, or a list with that of each node, in order. ValueError: the graph has no names of classes."""
        names = self.graph.class_names
        if self._answer != "classes":
            raise ValueError(f"graph: the model predicts {'several labels a node' if self._answer == 'probabilities' else 'values'}, and no classes; call the Predictor itself")
        if names is None:
            raise ValueError("graph: its classes have no names; give class_names to Graph.from_arrays, or a column of names to Graph.from_tables")
        classes = self(nodes)
        return names[classes] if isinstance(classes, int) else [names[c] for c in classes]

    def probabilities(self, nodes: Iterable[int]) -> list[list[float]]:
        """Returns, for each node, a list with the probability of every class or label. ValueError: the graph has values to predict."""
        if self._answer == "values":
            raise ValueError("graph: the model predicts values, which have no probabilities; call the Predictor itself")
        return self._ask(_ids(nodes))["probabilities"]

    def rows(self, nodes: Any = "all", *, logits: bool = False, full: bool = True, **options: Any) -> memoryview:
        """Returns classes, int32 [nodes], or logits, float32 [nodes, classes]; without classes, probabilities of labels or values, float32 [nodes, columns]. nodes: "all", "train", "valid", "test", ids or a mask. Predicts as
        Graph.infer does, with every neighbor or from samples."""
        return self._array(nodes=nodes, full=full, logits=logits, **options)

    def embeddings(self, layer: int | str = 1, nodes: Any = "all", *, full: bool = True, **options: Any) -> memoryview:
        """Returns the rows of a layer, float32 [nodes, columns], with every neighbor or from samples.

        layer: 1 for the first, or the name of a value of the model's file (docs/models-spec.md); the last layer's number gives what the model's head
            reads, if it has a head. nodes: as for `rows`.
        ValueError: the model has no such layer or value.
        """
        return self._array(nodes=nodes, full=full, embeddings=layer, **options)

    def _array(self, **options: Any) -> memoryview:
        """Returns what Graph.infer writes to a file."""
        with tempfile.TemporaryDirectory(prefix="hone-rows-") as folder:
            output = os.path.join(folder, "rows.npy")
            self.graph.infer(self.checkpoint, output=output, **options)
            with open(output, "rb") as file:
                npy_bytes = file.read()
        begin = 10 + int.from_bytes(npy_bytes[8:10], "little")
        header = ast.literal_eval(npy_bytes[10:begin].decode())
        code, shape = {"<i4": "i", "<f4": "f"}[header["descr"]], header["shape"]
        view = memoryview(npy_bytes)[begin:]
        return view.cast(code, list(shape)) if len(view) and len(shape) > 1 else view.cast(code)

    def close(self) -> None:
        """Ends the process."""
        process, self._process = self._process, None
        if process is None:
            return
        self._at_end.detach()
        with contextlib.suppress(BrokenPipeError):  # input that the process had not read when it ended
            process.stdin.close()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
        _end(process, self._reader)

    def __enter__(self) -> "Predictor":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _ask(self, nodes: list[int]) -> dict[str, Any]:
        if os.getpid() != self._owner:
            raise RuntimeError("this Predictor was made before a fork, and its process is not this one's: make a Predictor here")
        found: dict[str, Any] = {"classes": [], "probabilities": [], "values": []}
        with self._lock:
            for begin in range(0, len(nodes), _MOST_NODES):
                try:
                    answer = self._line(" ".join(map(str, nodes[begin : begin + _MOST_NODES])))
                except BaseException:
                    # An answer may be on its way, and would be taken for the answer to the next request.
                    if self._process is not None:
                        self._process.kill()
                        self.close()
                    raise
                if "error" in answer:
                    raise ValueError(f"nodes: {answer['error']}")
                for key, all_of_it in found.items():
                    all_of_it += answer.get(key, [])
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
            engine.pass_on_warnings(self._unheard())
            return engine.read_json(line)
        status = process.wait()
        self._reader.join()
        lines = self._unheard()
        engine.pass_on_warnings(lines)
        message = engine.without_warnings(lines).strip().removeprefix("hone-gnn: ") or f"hone-gnn ended with status {status}"
        message = engine.as_python(message, {})
        raise ValueError(message) if status == 2 else EngineError(message)

    def _unheard(self) -> list[str]:
        """Returns the lines that the process wrote to standard error since the last call."""
        lines = self._said[:]
        del self._said[: len(lines)]
        return lines

    def _start(self) -> "subprocess.Popen[str]":
        program = self.graph._program
        arguments = ["serve", self.graph.path, self.checkpoint, "--json", "--quiet", *([] if self._answer in ("values", None) else ["--probabilities"]),
                     *engine.flags(self._options)]
        try:
            process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        except OSError as error:
            raise EngineError(f"{program} could not be started: {error.strerror}") from error
        self._process, said = process, []
        self._said = said
        # Standard error is read all the time, because a full pipe would block the process.
        self._reader = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)
        self._reader.start()
        # At the interpreter's end this is called while the reading thread still runs. A finalizer of the object itself would come later, when the
        # thread stands still and holds the lock of its pipe, and the interpreter would abort.
        self._at_end = weakref.finalize(self, _kill, process, self._reader, self._owner)
        return process


def _kill(process: "subprocess.Popen[str]", reader: threading.Thread, owner: int) -> None:
    """Ends the process of a Predictor that was not closed. It is no child of a forked child."""
    if os.getpid() == owner:
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        _end(process, reader)


def _end(process: "subprocess.Popen[str]", reader: threading.Thread) -> None:
    """Waits for a process that is ending, and frees its pipes."""
    process.wait()
    process.stdout.close()
    if reader is not threading.current_thread():  # where the garbage collector runs
        reader.join()
        process.stderr.close()


def _ids(nodes: Any) -> list[int]:
    if isinstance(nodes, (str, bytes)):
        raise TypeError(f"nodes: expected node ids, found {nodes!r}; `rows` takes the name of a split")
    try:
        node_ids = nodes.tolist() if hasattr(nodes, "tolist") else list(nodes)
        if any(isinstance(node, bool) for node in node_ids):
            raise TypeError("a truth value is no node id")
        return [operator.index(node) for node in node_ids]
    except TypeError as error:
        raise TypeError(f"nodes: expected node ids, found {nodes!r:.60} ({error})") from error
