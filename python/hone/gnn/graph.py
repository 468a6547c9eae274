# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs in container files, and training and inference on them, which run in processes of `hone-gnn`.

Arrays are objects with Python's buffer protocol (numpy arrays, array.array, memoryview) or torch tensors. Neither numpy nor torch is needed, except
that tensors are turned into buffers by numpy.
"""
from __future__ import annotations

import contextlib
import json
import os
import tempfile
import warnings
from array import array
from typing import Any, Callable, Iterator, Mapping, Sequence

from hone.gnn import engine, tables
from hone.gnn.engine import EngineError

__all__ = ["EngineError", "Graph"]

_KINDS = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"), **dict.fromkeys("efd", "f"), "?": "b"}


def _buffer(name: str, given: Any) -> memoryview:
    """Returns the array as a C-contiguous buffer. `name` is the argument's name in messages."""
    if hasattr(given, "detach"):  # a torch tensor
        given = given.detach().cpu()
        if str(given.dtype) == "torch.bfloat16":
            given = given.float()
        given = given.numpy()
    try:
        view = memoryview(given)
    except TypeError as error:
        raise TypeError(f"{name}: expected an array (numpy, torch or a buffer), found {type(given).__name__}") from error
    if view.format.lstrip("<=@") not in _KINDS:
        raise TypeError(f"{name}: expected numbers, found items of format {view.format!r}")
    if not view.c_contiguous:
        view = memoryview(view.tobytes()).cast(view.format, view.shape)
    return view


def _kind(view: memoryview) -> str:
    return _KINDS[view.format.lstrip("<=@")]


def _check(name: str, view: memoryview, kinds: str, expected: str) -> None:
    if _kind(view) not in kinds:
        raise TypeError(f"{name}: expected {expected}, found items of format {view.format!r}")


def _write_npy(path: str, view: memoryview, *, shape: tuple[int, ...] | None = None, fortran: bool = False) -> None:
    shape = view.shape if shape is None else shape
    numbers = ", ".join(str(n) for n in shape) + ("," if len(shape) == 1 else "")
    descr = "|b1" if _kind(view) == "b" else f"{'<' if view.itemsize > 1 else '|'}{_kind(view)}{view.itemsize}"
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({numbers}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
        if view.nbytes > 0:
            file.write(view.cast("B"))


def _ids_or_mask(name: str, given: Any, num_nodes: int) -> memoryview:
    """Returns int64 node ids, from a vector of ids or from a mask with a truth value for each node."""
    if isinstance(given, (list, tuple)):
        if any(isinstance(one, bool) or not isinstance(one, int) for one in given):
            raise TypeError(f"{name}: expected node ids, found a {type(given).__name__} with something else in it; a mask is an array of truth values")
        return memoryview(array("q", given))
    view = _buffer(name, given)
    _check(name, view, "iub", "node ids or truth values")
    if view.ndim != 1:
        raise ValueError(f"{name}: expected one dimension, found shape {list(view.shape)}")
    if _kind(view) != "b":
        return memoryview(array("q", view.tolist()))
    if len(view) != num_nodes:
        raise ValueError(f"{name}: a mask has one truth value for each of the {num_nodes} nodes, found {len(view)}")
    return memoryview(array("q", (v for v, taken in enumerate(view.tolist()) if taken)))


@contextlib.contextmanager
def _in_files(options: Mapping[str, Any], num_nodes: int) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yields the options, with arrays given as `nodes` and `split` written to files, and the argument's name for each file's path."""
    given, arguments = dict(options), {}
    with tempfile.TemporaryDirectory(prefix="hone-") as folder:
        for name in ("nodes", "split"):
            value = given.get(name)
            if value is None or isinstance(value, (str, os.PathLike)):
                continue
            if name == "nodes":
                view = _ids_or_mask(name, value, num_nodes)
            else:
                view = _buffer(name, value)
                _check(name, view, "i", "0 for training, 1 for validation, 2 for test and -1 for none, for each node")
            path = os.path.join(folder, name + ".npy")
            _write_npy(path, view)
            given[name], arguments[path] = path, name
        yield given, arguments


def _without_reverse(edges: memoryview) -> str:
    """Returns words that name an edge of [2, edges] whose reverse is missing."""
    sources, targets = edges.tolist()
    there = set(zip(sources, targets))
    column = next((i for i, (a, b) in enumerate(zip(sources, targets)) if (b, a) not in there), None)
    return "one of them" if column is None else f"column {column}, {sources[column]} to {targets[column]},"


class Graph:
    """A graph in a container file, or a synthetic one by its name ("synthetic:arxiv?nodes=2000&seed=1").

    path: the file or name that the commands of `hone-gnn` take.
    node_ids, class_names: lists if `from_tables` made the graph and the tables have them; else None.
    num_nodes, num_edges, num_features (0: none), num_classes (0: no labels), train_nodes, valid_nodes, test_nodes: counts.

    Raises ValueError if an argument or a file is wrong, and EngineError if the machine failed.
    """

    def __init__(self, path: str | os.PathLike[str], *, program: str | os.PathLike[str] | None = None):
        """Opens `path`. program: `hone-gnn`; by default the one in this package, else the first in PATH."""
        self.path, self._program = os.fspath(path), engine.find(program)
        self.node_ids: list[Any] | None = None
        self.class_names: list[str] | None = None
        info = engine.ask(self._program, ["info", self.path, "--json"])
        self.num_nodes, self.num_edges = info["nodes"], info["edges"]
        self.num_features = (info.get("features") or {}).get("width", 0)
        self.num_classes = info.get("classes") or 0
        self.train_nodes, self.valid_nodes, self.test_nodes = (info.get(f"{part}_nodes") or 0 for part in ("train", "valid", "test"))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, program: str | os.PathLike[str] | None = None) -> "Graph":
        """Opens a container, or a synthetic graph by its name."""
        return cls(path, program=program)

    @classmethod
    def from_arrays(cls, path: str | os.PathLike[str], edge_index: Any, *, x: Any = None, y: Any = None, train_mask: Any = None,
                    val_mask: Any = None, test_mask: Any = None, num_nodes: int | None = None, undirected: bool = False,
                    program: str | os.PathLike[str] | None = None, **options: Any) -> "Graph":
        """Writes a container to `path`. It replaces an older container there, but no other kind of file.

        edge_index: [2, edges] whole numbers, sources and destinations: messages go from source to destination.
        x: [nodes, features] floats. y: [nodes] or [nodes, 1] whole numbers from 0 on, the class of each node; -1 for none.
        train_mask, val_mask, test_mask: [nodes] truth values; if none is given, a split is drawn by seed.
        num_nodes: needed if neither x nor y nor a mask is given.
        undirected: True requires that every edge has its reverse; ValueError names one that has none.
        options: those of `hone-gnn convert`, for example symmetrize=True, dtype="float16", split=[0.6, 0.2, 0.2] (docs/graphs.md).

        TypeError and ValueError name the argument.
        """
        arrays: dict[str, tuple[memoryview, dict[str, Any]]] = {}
        edges = _buffer("edge_index", edge_index)
        _check("edge_index", edges, "iu", "whole numbers")
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise ValueError(f"edge_index: expected shape [2, edges], found {list(edges.shape)}")
        # Edges are written column by column, so that two edges are not taken for a matrix of the transposed shape.
        arrays["edges"] = edges, {"shape": (edges.shape[1], 2), "fortran": True}
        nodes = num_nodes
        for name, key, given, kinds, expected in (
            ("features", "x", x, "f", "floats"),
            ("labels", "y", y, "iu", "whole numbers, one class a node (regression and several labels a node are not known)"),
            ("train_mask", "train_mask", train_mask, "b", "truth values"),
            ("val_mask", "val_mask", val_mask, "b", "truth values"),
            ("test_mask", "test_mask", test_mask, "b", "truth values"),
        ):
            if given is None:
                continue
            view = _buffer(key, given)
            _check(key, view, kinds, expected)
            shape = view.shape
            if key == "y" and len(shape) == 2 and shape[1] == 1:
                shape = shape[:1]
            if (key == "x" and len(shape) != 2) or (key == "y" and len(shape) != 1):
                raise ValueError(f"{key}: expected shape {'[nodes, features]' if key == 'x' else '[nodes]'}, found {list(view.shape)}")
            if nodes is not None and shape[0] != nodes:
                raise ValueError(f"{key}: expected {nodes} rows, one a node, found {shape[0]}")
            nodes = shape[0]
            if key.endswith("_mask") and b"\1" not in view.tobytes():
                raise ValueError(f"{key} is true at no node: mark some, or leave it out where there are none")
            arrays[name] = view, {"shape": shape}
        if train_mask is None and (val_mask is not None or test_mask is not None):
            raise ValueError(f"train_mask is missing beside {'val_mask' if val_mask is not None else 'test_mask'}: give it too, or leave out both to "
                             "have a split drawn by seed")
        target, tool = os.fspath(path), engine.find(program)
        beside = os.path.dirname(os.path.abspath(target))
        if not os.path.isdir(beside):
            raise ValueError(f"path: there is no folder {beside!r}; make it first, or name another one")
        with tempfile.TemporaryDirectory(prefix="hone-graph-", dir=beside) as folder:
            arguments = {}
            for name, (view, how) in arrays.items():
                file = os.path.join(folder, name + ".npy")
                arguments[file] = {"edges": "edge_index", "features": "x", "labels": "y"}.get(name, name)
                _write_npy(file, view, **how)
            words = ["--json", "--quiet", *engine.flags({"nodes": num_nodes, **options})]
            if undirected:  # known only after a conversion: a trial is converted first, so that an older container stays if an edge has no reverse
                tried = engine.ask(tool, ["convert", folder, os.path.join(folder, "tried.graph"), *words], arguments)
                os.unlink(os.path.join(folder, "tried.graph"))
                if not tried["flags"]["symmetric"]:
                    raise ValueError(f"edge_index: expected the reverse of every edge, and {_without_reverse(edges)} has none; give symmetrize=True, or leave "
                                     "undirected out")
            engine.ask(tool, ["convert", folder, target, *words], arguments)
        return cls(target, program=tool)

    @classmethod
    def from_pyg(cls, data: Any, path: str | os.PathLike[str], *, program: str | os.PathLike[str] | None = None, **options: Any) -> "Graph":
        """Writes the container of a torch_geometric.data.Data: its edge_index, x, y and masks. See from_arrays.

        A warning names attributes of `data` that a container cannot hold. NotImplementedError: a heterogeneous graph.
        """
        if hasattr(data, "edge_types"):
            raise NotImplementedError(f"data: a container holds one kind of node and edge, found {type(data).__name__}")
        if getattr(data, "edge_index", None) is None:
            raise ValueError("data.edge_index: expected a tensor [2, edges], found none")
        known = ("edge_index", "x", "y", "train_mask", "val_mask", "test_mask")
        left = [key for key in data.keys() if key not in known and key != "num_nodes"]
        if left:
            warnings.warn(f"a container holds no {', '.join(left)}: they are left out", stacklevel=2)
        given = {key: data[key] for key in known[1:] if key in data and data[key] is not None}
        return cls.from_arrays(path, data.edge_index, num_nodes=data.num_nodes, program=program, **given, **options)

    @classmethod
    def from_ogb(cls, folder: str | os.PathLike[str], path: str | os.PathLike[str], *, program: str | os.PathLike[str] | None = None,
                 **options: Any) -> "Graph":
        """Writes the container of an OGB node-property dataset, from the folder with `raw` and `split` that OGB's package downloads. The package
        itself is not needed.

        folder: for example "dataset/ogbn_arxiv". options: those of `hone-gnn convert`, as for from_arrays.
        """
        source, tool = os.fspath(folder), engine.find(program)
        if not os.path.isdir(os.path.join(source, "raw")):
            raise ValueError(f"folder: {source!r} has no folder 'raw' in it, as OGB's datasets have, such as dataset/ogbn_arxiv")
        engine.ask(tool, ["convert", source, os.fspath(path), "--json", "--quiet", *engine.flags(options)])
        return cls(path, program=tool)

    @classmethod
    def from_tables(cls, path: str | os.PathLike[str], edges: Any, *, source: str = "source", target: str = "target", nodes: Any = None, id: str = "id",
                    features: Sequence[str] = (), label: str | None = None, split: str | None = None, ids_path: str | os.PathLike[str] | None = None,
                    program: str | os.PathLike[str] | None = None, **options: Any) -> "Graph":
        """Writes the container of a table of edges and perhaps one of nodes, whose ids are strings or whole numbers of any kind.

        edges, nodes: a file (.parquet, which needs pyarrow; else comma-separated, or as .tsv tab-separated, with a heading, gzip or not), a mapping from
            names to columns, or what pyarrow.table() takes.
        source, target: columns of `edges`. id: column of `nodes`, whose rows are the nodes in order; without `nodes` they are numbered by their first
            occurrence in `source`, then in `target`.
        features: columns of numbers. label: column of whole numbers from 0 on, or of names, which are numbered in alphabetical order; empty: no label.
        split: column of "train", "valid", "test" or nothing.
        ids_path: JSON file for `node_ids` and `class_names`, which the container does not hold; the Graph has them as attributes.
        options: as for from_arrays.

        ValueError and TypeError name table, column and row.
        """
        if ids_path is not None and not os.path.isdir(os.path.dirname(os.path.abspath(os.fspath(ids_path)))):
            raise ValueError(f"ids_path: {os.fspath(ids_path)!r} cannot be written: there is no such folder; make it first")
        found = tables.read(edges, source, target, nodes, id, features, label, split)
        masks = {}
        if found.split is not None:
            parts = found.split.tolist()
            masks = {name: memoryview(bytes(one == part for one in parts)).cast("?") for part, name in enumerate(("train_mask", "val_mask", "test_mask"))
                     if part in parts}
        made = cls.from_arrays(path, found.edge_index, x=found.x, y=found.y, num_nodes=len(found.ids), program=program, **masks, **options)
        made.node_ids, made.class_names = found.ids, found.classes
        if ids_path is not None:
            part = os.fspath(ids_path) + ".part"
            try:
                with open(part, "w", encoding="utf-8") as file:
                    json.dump({"node_ids": found.ids, "class_names": found.classes}, file)
                os.replace(part, ids_path)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.unlink(part)
                raise EngineError(f"ids_path: {os.fspath(ids_path)!r} cannot be written: {error.strerror}") from error
        return made

    def train(self, *, on_epoch: Callable[[dict[str, Any]], None] | None = None, **options: Any) -> dict[str, Any]:
        """Trains a model. Returns `end`, `metric`, `best_valid`, `best_epoch`, `checkpoint` and `history` of the run.

        `best_epoch` is counted from 0; the printed table counts from 1.

        options: those of `hone-gnn train` (docs/training.md), for example model="sage", fanout=[15, 10, 5], epochs=10, lr=0.01,
            checkpoint="run", device="cuda", resume="run". split may also be an array [nodes].
        on_epoch: called with each epoch's report: epoch, loss, train_accuracy, valid_accuracy, learning_rate, seconds and more. `history` is
            the list of these reports. An exception that on_epoch raises, and Ctrl-C, end the run after its step; with `checkpoint` the
            run is saved then, and resume= continues it.
        """
        lines: list[dict[str, Any]] = []

        def take(text: str) -> None:
            lines.append(json.loads(text))
            if lines[-1]["event"] == "epoch" and on_epoch is not None:
                on_epoch(lines[-1])

        with _in_files(options, self.num_nodes) as (given, arguments):
            engine.run(self._program, ["train", self.path, "--json", "--quiet", *engine.flags(given)], take, stopped_is_fine=True, arguments=arguments)
        end = dict(lines[-1])
        del end["event"]
        return {**end, "history": [line for line in lines if line["event"] == "epoch"]}

    def infer(self, checkpoint: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
        """Predicts classes. Returns what `hone-gnn infer --json` prints: accuracy, macro_f1, auc, seconds and more.

        options: those of `hone-gnn infer`, for example full=True, nodes="test", output="classes.npy", logits=True.
            nodes may also be a vector of node ids, or a mask with a truth value for each node. split may also be an array [nodes].
        """
        with _in_files(options, self.num_nodes) as (given, arguments):
            return engine.ask(self._program, ["infer", self.path, os.fspath(checkpoint), "--json", "--quiet", *engine.flags(given)], arguments)

    def __repr__(self) -> str:
        return (f"hone.gnn.Graph({self.path!r}: {self.num_nodes} nodes, {self.num_edges} edges, {self.num_features} features, "
                f"{self.num_classes} classes)")
