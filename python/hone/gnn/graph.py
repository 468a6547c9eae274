# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs in container files, and training and inference on them, which run in processes of `hone-gnn`.

Arrays are objects with Python's buffer protocol (numpy arrays, array.array, memoryview), torch tensors, or arrays of other libraries with `__dlpack__`. Neither
numpy nor torch is needed, except that tensors are turned into buffers by numpy, and arrays of other libraries by torch or numpy.
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

_KINDS_OF_TARGETS = ("classes", "multi-label", "values")
_WIDENED = ("torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2", "torch.float8_e4m3fnuz", "torch.float8_e5m2fnuz")  # dtypes that numpy lacks
_KINDS = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"), **dict.fromkeys("efd", "f"), "?": "b"}


def _from_dlpack(name: str, given: Any) -> Any:
    """Returns an array of another library, such as CuPy or JAX, as a torch tensor, or as a numpy array where torch is not installed."""
    try:
        import torch as library
    except ImportError:
        import numpy as library
    try:
        return library.from_dlpack(given)
    except Exception as error:
        raise TypeError(f"{name}: a {type(given).__name__} could not be taken by {library.__name__}.from_dlpack: {error}") from error


def _buffer(name: str, given: Any) -> memoryview:
    """Returns the array as a C-contiguous buffer. `name` is the argument's name in messages."""
    if not hasattr(given, "detach") and not hasattr(given, "__array_interface__") and hasattr(given, "__dlpack__"):
        given = _from_dlpack(name, given)
    if hasattr(given, "detach"):  # a torch tensor
        if str(given.layout) != "torch.strided":
            raise TypeError(f"{name}: expected a dense tensor, found {given.layout}; pass {name}.to_dense()")
        if given.device.type == "meta":
            raise ValueError(f"{name} is on meta, where tensors have no values")
        given = given.detach().cpu()
        if str(given.dtype) in _WIDENED:
            given = given.float()
        try:
            given = given.resolve_conj().resolve_neg().numpy()
        except (RuntimeError, TypeError) as error:  # a dtype without a counterpart, or no numpy
            raise TypeError(f"{name}: a tensor of {given.dtype} could not be made an array of numpy: {error}") from error
    try:
        view = memoryview(given)
    except TypeError as error:
        raise TypeError(f"{name}: expected an array (numpy, torch, a buffer, or one with __dlpack__), found {type(given).__name__}") from error
    if view.format.startswith(">") and view.format[1:] in _KINDS:
        raise TypeError(f"{name}: expected numbers in the byte order of this machine, found items of format {view.format!r}; pass {name}.astype({name}.dtype.newbyteorder('='))")
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


def _edges_into(indptr: Any, indices: Any) -> memoryview:
    """Returns edge_index, int64 [2, edges], of edges that are given by the node that they lead to."""
    views = []
    for name, given in (("indptr", indptr), ("indices", indices)):
        if given is None:
            raise ValueError(f"{name}: expected it beside {'indices' if name == 'indptr' else 'indptr'}, found None")
        view = _buffer(name, given)
        _check(name, view, "iu", "whole numbers")
        if view.ndim != 1:
            raise ValueError(f"{name}: expected one dimension, found shape {list(view.shape)}")
        views.append(array("q", view.tolist()))
    offsets, sources = views
    if not offsets or offsets[0] != 0 or offsets[-1] != len(sources):
        found_ends = f"{offsets[0]} and {offsets[-1]}" if offsets else "no numbers"
        raise ValueError(f"indptr: expected a number for each node and one more, the first 0 and the last {len(sources)}, the length of indices; found {found_ends}")
    flat = sources[:]
    for v, (begin, end) in enumerate(zip(offsets, offsets[1:])):
        if end < begin:
            raise ValueError(f"indptr: expected numbers that do not fall, found {end} after {begin} at position {v + 1}")
        flat.extend(array("q", [v]) * (end - begin))
    return memoryview(flat).cast("B").cast("q", [2, len(sources)]) if sources else memoryview(flat)


def _ids_or_mask(name: str, given: Any, num_nodes: int) -> memoryview:
    """Returns int64 node ids, from a vector of ids or from a mask with a truth value for each node."""
    if isinstance(given, range):
        given = list(given)
    if hasattr(given, "__index__") and not getattr(given, "shape", ()):
        raise TypeError(f"{name}: expected a list of node ids or a mask, found {given!r}; give [{given!r}] for one node")
    if isinstance(given, (list, tuple)):
        if any(isinstance(one, bool) or not isinstance(one, int) for one in given):
            raise TypeError(f"{name}: expected node ids, found a {type(given).__name__} with something else in it; a mask is an array of truth values")
        if not given:
            raise ValueError(f"{name}: expected at least one node, found none")
        return memoryview(array("q", given))
    view = _buffer(name, given)
    _check(name, view, "iub", "node ids or truth values")
    if view.ndim != 1:
        raise ValueError(f"{name}: expected one dimension, found shape {list(view.shape)}")
    if _kind(view) == "b" and len(view) != num_nodes:
        raise ValueError(f"{name}: a mask has one truth value for each of the {num_nodes} nodes, found {len(view)}")
    ids = array("q", view.tolist() if _kind(view) != "b" else (v for v, taken in enumerate(view.tolist()) if taken))
    if not ids:
        raise ValueError(f"{name}: expected at least one node, found none")
    return memoryview(ids)


def _check_names(names: Any) -> list[str]:
    """Returns the names of classes as lines of a file can hold them."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"class_names: expected a list of names, that of class 0 first, found {names!r:.60}")
    for c, name in enumerate(names):
        if not name or "\n" in name or "\r" in name:
            raise ValueError(f"class_names: the name of class {c} is {name!r}; a name is not empty and has no line ends")
    return list(names)


def check_on_epoch(given: Any) -> None:
    """Raises TypeError if `on_epoch` is neither a function nor None, before an epoch is trained for it."""
    if given is not None and not callable(given):
        raise TypeError(f"on_epoch: expected a function of an epoch's report, found {type(given).__name__}")


@contextlib.contextmanager
def _in_files(options: Mapping[str, Any], num_nodes: int) -> Iterator[tuple[dict[str, Any], dict[str, str]]]:
    """Yields the options, with arrays given as `nodes` and `split` and a ModelSpec given as `model` written to files, and the argument's name for each
    file's path."""
    model_options, arguments = dict(options), {}
    with tempfile.TemporaryDirectory(prefix="hone-") as folder:
        model = model_options.get("model")
        if model is not None and not isinstance(model, (str, os.PathLike)):
            if not isinstance(getattr(model, "text", None), str):
                raise TypeError("model: expected the name of a model, a .toml file or a ModelSpec, found "
                                f"{type(model).__name__}; a PyTorch module trains with the loader of hone.gnn.pyg")
            model_options["model"] = os.path.join(folder, "model.toml")
            arguments[model_options["model"]] = "model"
            with open(model_options["model"], "w", encoding="utf-8") as file:
                file.write(model.text)
        for name in ("nodes", "split"):
            value = model_options.get(name)
            if value is None or isinstance(value, (str, os.PathLike)):
                continue
            if name == "nodes":
                view = _ids_or_mask(name, value, num_nodes)
            else:
                view = _buffer(name, value)
                _check(name, view, "i", "0 for training, 1 for validation, 2 for test and -1 for none, for each node")
            path = os.path.join(folder, name + ".npy")
            _write_npy(path, view)
            model_options[name], arguments[path] = path, name
        yield model_options, arguments


def _of_as_many_splits(masks: dict[str, tuple[memoryview, dict[str, Any]]]) -> None:
    """Repeats a mask [nodes] for each split of the other masks, if those are [nodes, splits]."""
    splits = max((view.shape[1] for view, _ in masks.values() if view.ndim == 2), default=0)
    for name, (view, _) in masks.items():
        if splits and view.ndim == 1:
            masks[name] = memoryview(bytes(value for value in view.tolist() for _ in range(splits))).cast("?"), {"shape": (len(view), splits)}


def _without_reverse(edges: memoryview) -> str:
    """Returns words that name an edge of [2, edges] whose reverse is missing."""
    sources, targets = edges.tolist()
    directed_edges = set(zip(sources, targets))
    column = next((i for i, (a, b) in enumerate(zip(sources, targets)) if (b, a) not in directed_edges), None)
    return "one of them" if column is None else f"column {column}, {sources[column]} to {targets[column]},"


class Graph:
    """A graph in a container file, or a synthetic one by its name ("synthetic:arxiv?nodes=2000&seed=1").

    path: the file or name that the commands of `hone-gnn` take.
    class_names: the name of each class, which the container keeps; None if it has none.
    node_ids: the id of each node in the tables of `from_tables`, or in the file that it wrote (`ids_path`); else None.
    targets: "classes"; or "multi-label", several labels a node that are each true or false; or "values", numbers to predict (regression).
    num_nodes, num_edges, num_features and num_edge_features (0: none), num_classes (0: no labels; else classes, or labels or values of a node), train_nodes, valid_nodes, test_nodes: counts.

    Raises ValueError if an argument or a file is wrong, and EngineError if the machine failed.
    """

    def __init__(self, path: str | os.PathLike[str], *, ids_path: str | os.PathLike[str] | None = None,
                 program: str | os.PathLike[str] | None = None):
        """Opens `path`. ids_path: the file that `from_tables` wrote beside it, for `node_ids`. program: `hone-gnn`; by default the one in this
        package, else the first in PATH."""
        self.path, self._program = os.fspath(path), engine.find(program)
        info = engine.ask(self._program, ["info", self.path, "--json"])
        self.num_nodes, self.num_edges = info["nodes"], info["edges"]
        self.num_features = (info.get("features") or {}).get("width", 0)
        self.num_edge_features = (info.get("edge_features") or {}).get("width", 0)
        self.num_classes = info.get("classes") or 0
        self.targets: str = (info.get("targets") or {}).get("kind", "classes")
        self.class_names: list[str] | None = info.get("class_names")
        self.node_ids: list[Any] | None = None if ids_path is None else self._ids_in(os.fspath(ids_path))
        self.train_nodes, self.valid_nodes, self.test_nodes = (info.get(f"{part}_nodes") or 0 for part in ("train", "valid", "test"))

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, ids_path: str | os.PathLike[str] | None = None,
             program: str | os.PathLike[str] | None = None) -> "Graph":
        """Opens a container, or a synthetic graph by its name. ids_path: see from_tables."""
        return cls(path, ids_path=ids_path, program=program)

    def _ids_in(self, ids_path: str) -> list[Any]:
        try:
            with open(ids_path, encoding="utf-8") as file:
                ids = json.load(file)["node_ids"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"ids_path: {ids_path!r} cannot be read as the file that from_tables wrote: {error}") from error
        if not isinstance(ids, list) or len(ids) != self.num_nodes:
            found_nodes = len(ids) if isinstance(ids, list) else type(ids).__name__
            raise ValueError(f"ids_path: {ids_path!r} is of another graph: expected the ids of {self.num_nodes} nodes, found {found_nodes}")
        return ids

    @classmethod
    def from_arrays(cls, path: str | os.PathLike[str], edge_index: Any = None, *, indptr: Any = None, indices: Any = None, x: Any = None, y: Any = None,
                    edge_attr: Any = None, train_mask: Any = None, val_mask: Any = None, test_mask: Any = None, num_nodes: int | None = None, undirected: bool = False,
                    class_names: Sequence[str] | None = None, program: str | os.PathLike[str] | None = None, **options: Any) -> "Graph":
        """Writes a container to `path`. It replaces an older container there, but no other kind of file.

        edge_index: [2, edges] whole numbers, sources and destinations: messages go from source to destination.
        indptr, indices: [nodes + 1] and [edges] whole numbers, in place of edge_index: the sources of the edges into node v are indices[indptr[v]:indptr[v + 1]]
            (CSC, as in GraphBolt; of a matrix in scipy's CSR form, rows are destinations).
        edge_attr: [edges] or [edges, features] floats, such as weights, in the order of the edges: features of the edges (docs/graphs.md).
        x: [nodes, features] floats. y: [nodes] or [nodes, 1] whole numbers from 0 on, the class of each node; -1 for none. Or y: [nodes, labels], several
            labels a node that are each 1 or 0 (true or false); NaN, or -1 in signed whole numbers, where a label is not known. Or, with labels="values", y:
            [nodes] or [nodes, values], numbers to predict (regression); NaN where a value is not known.
        train_mask, val_mask, test_mask: [nodes] truth values, or [nodes, splits], of which split_index takes one, by default the first; if none is given, a split is drawn by seed.
        num_nodes: needed only for nodes behind the last one that has an edge, if neither x nor y nor a mask is given.
        undirected: True requires that every edge has its reverse; ValueError names one that has none.
        class_names: the name of each class, that of class 0 first; the container keeps them.
        options: those of `hone-gnn convert`, for example symmetrize=True, dtype="float16", split=[0.6, 0.2, 0.2], first_id=1 where edge_index
            counts nodes from 1 (docs/graphs.md). A warning says where edges alone look so.

        TypeError and ValueError name the argument.
        """
        arrays: dict[str, tuple[memoryview, dict[str, Any]]] = {}
        if indptr is not None or indices is not None:
            if edge_index is not None:
                raise ValueError("edge_index: expected None beside indptr and indices, which are the edges too")
            edges = _edges_into(indptr, indices)
            if not len(edges):
                raise ValueError("indices: expected at least one edge, found none")
            if num_nodes is None:
                num_nodes = len(indptr) - 1
        else:
            edges = _buffer("edge_index", edge_index)
        _check("edge_index", edges, "iu", "whole numbers")
        if edges.ndim != 2 or edges.shape[0] != 2:
            raise ValueError(f"edge_index: expected shape [2, edges], found {list(edges.shape)}")
        # Edges are written column by column, so that two edges are not taken for a matrix of the transposed shape.
        if edges.shape[1] == 0:
            raise ValueError("edge_index: expected at least one edge, found none")
        arrays["edges"] = edges, {"shape": (edges.shape[1], 2), "fortran": True}
        if edge_attr is not None:
            view = _buffer("edge_attr", edge_attr)
            _check("edge_attr", view, "f", "floats (whole numbers and truth values as edge_attr.float())")
            if view.ndim not in (1, 2) or view.shape[0] != edges.shape[1]:
                raise ValueError(f"edge_attr: expected shape [edges] or [edges, features] with {edges.shape[1]} edges, found {list(view.shape)}")
            arrays["edge_features"] = view, {"shape": view.shape if view.ndim == 2 else (view.shape[0], 1)}
        nodes, of = num_nodes, ""
        for name, key, given, kinds, expected in (
            ("features", "x", x, "f", "floats (whole numbers and truth values as x.float())"),
            ("labels", "y", y, "iufb", "numbers"),
            *((key, key, mask, "b", f"truth values (zeros and ones as {key}.bool())")
              for key, mask in (("train_mask", train_mask), ("val_mask", val_mask), ("test_mask", test_mask))),
        ):
            if given is None:
                continue
            view = _buffer(key, given)
            _check(key, view, kinds, expected)
            shape = view.shape
            if key == "y" and len(shape) == 2 and shape[1] == 1:
                shape = shape[:1]
            if (key == "x" and len(shape) != 2) or (key == "y" and len(shape) not in (1, 2)):
                raise ValueError(f"{key}: expected shape {'[nodes, features]' if key == 'x' else '[nodes] or [nodes, labels]'}, found {list(view.shape)}")
            if key == "y" and len(shape) == 1 and options.get("labels") is None and _kind(view) in "fb":
                raise TypeError(f"y: expected whole numbers, one class a node, found items of format {view.format!r}; numbers to predict (regression) need "
                                "labels=\"values\", and several labels a node shape [nodes, labels]")
            if nodes is not None and shape[0] != nodes:
                raise ValueError(f"{key}: expected {nodes} rows, one a node{of}, found {shape[0]}")
            if nodes is None:
                nodes, of = shape[0], f", as many as {key} has"
            if key.endswith("_mask") and b"\1" not in view.tobytes():
                raise ValueError(f"{key} is true at no node: mark some, or leave it out where there are none")
            arrays[name] = view, {"shape": shape}
        masks = {name: array for name, array in arrays.items() if name.endswith("_mask")}
        _of_as_many_splits(masks)
        arrays.update(masks)
        if train_mask is None and (val_mask is not None or test_mask is not None):
            raise ValueError(f"train_mask is missing beside {'val_mask' if val_mask is not None else 'test_mask'}: give it too, or leave out both to "
                             "have a split drawn by seed")
        if not isinstance(path, (str, os.PathLike)):
            raise TypeError(f"path: expected the name of a file, found {type(path).__name__}")
        names = None if class_names is None else _check_names(class_names)
        if names is not None and y is None:
            raise ValueError("class_names: y is missing, whose classes they name; give it too, or leave class_names out")
        target, tool = os.fspath(path), engine.find(program)
        parent_folder = os.path.dirname(os.path.abspath(target))
        if not os.path.isdir(parent_folder):
            raise ValueError(f"path: there is no folder {parent_folder!r}; make it first, or name another one")
        with tempfile.TemporaryDirectory(prefix="hone-graph-", dir=parent_folder) as folder:
            arguments = {}
            for name, (view, npy_options) in arrays.items():
                file = os.path.join(folder, name + ".npy")
                arguments[file] = {"edges": "edge_index", "features": "x", "labels": "y", "edge_features": "edge_attr"}.get(name, name)
                _write_npy(file, view, **npy_options)
            if names:
                file = os.path.join(folder, "classes.txt")
                with open(file, "w", encoding="utf-8", errors="surrogateescape") as text:
                    text.writelines(name + "\n" for name in names)
                arguments[file] = "class_names"
            arguments.update({folder: "the given data", "--nodes": "num_nodes"})
            conversion_flags = ["--json", "--quiet", *engine.flags({"nodes": num_nodes, **options})]
            if undirected:  # known only after a conversion: a trial is converted first, so that an older container stays if an edge has no reverse
                trial_report = engine.ask(tool, ["convert", folder, os.path.join(folder, "tried.graph"), *conversion_flags], arguments)
                os.unlink(os.path.join(folder, "tried.graph"))
                if not trial_report["flags"]["symmetric"]:
                    raise ValueError(f"edge_index: expected the reverse of every edge, and {_without_reverse(edges)} has none; give symmetrize=True, or leave "
                                     "undirected out")
            report = engine.ask(tool, ["convert", folder, target, *conversion_flags], arguments)
        if report["perhaps_counted_from_1"]:
            engine.warn("edge_index: no edge has node 0, which is a node without edges now; if nodes are counted from 1 there, give first_id=1")
        return cls(target, program=tool)

    @classmethod
    def from_pyg(cls, data: Any, path: str | os.PathLike[str], *, program: str | os.PathLike[str] | None = None, **options: Any) -> "Graph":
        """Writes the container of a torch_geometric.data.Data: its edge_index, x, y, masks, and edge_attr (else edge_weight) if it has floats. See from_arrays.

        A warning names attributes of `data` that a container cannot hold. NotImplementedError: a heterogeneous graph.
        """
        if hasattr(data, "edge_types"):
            raise NotImplementedError(f"data: a container holds one kind of node and edge, found {type(data).__name__}")
        if not hasattr(data, "keys") or not hasattr(data, "edge_index"):
            raise TypeError(f"data: expected a torch_geometric.data.Data, found {type(data).__name__}; from_arrays takes arrays")
        if data.edge_index is None:
            other = next((key for key in ("adj_t", "adj") if key in data), None)
            raise ValueError("data.edge_index: expected a tensor [2, edges], found none" +
                             (f" beside data.{other}: give the Data as it was before it was made sparse" if other else ""))
        known = ["edge_index", "x", "y", "train_mask", "val_mask", "test_mask"]
        weights = next((key for key in ("edge_attr", "edge_weight") if key in data and getattr(data[key], "is_floating_point", lambda: False)()), None)
        unread_keys = [key for key in data.keys() if key not in known and key not in ("num_nodes", weights)]
        if unread_keys:
            warnings.warn(f"a container holds no {', '.join(unread_keys)}: they are left out", stacklevel=2)
        arrays = {key: data[key] for key in known[1:] if key in data and data[key] is not None}
        if weights is not None:
            arrays["edge_attr"] = data[weights]
        return cls.from_arrays(path, data.edge_index, num_nodes=data.num_nodes, program=program, **arrays, **options)

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
                    features: Sequence[str] = (), edge_features: Sequence[str] = (), label: str | Sequence[str] | None = None, split: str | None = None, ids_path: str | os.PathLike[str] | None = None,
                    program: str | os.PathLike[str] | None = None, **options: Any) -> "Graph":
        """Writes the container of a table of edges and perhaps one of nodes, whose ids are strings or whole numbers of any kind.

        edges, nodes: a file (.parquet, which needs pyarrow; else comma-separated, or as .tsv tab-separated, with a heading, gzip or not), a mapping from
            names to columns, or what pyarrow.table() takes.
        source, target: columns of `edges`. id: column of `nodes`, whose rows are the nodes in order; without `nodes` they are numbered by their first
            occurrence in `source`, then in `target`.
        features: columns of numbers. edge_features: columns of numbers of `edges`. label: column of whole numbers from 0 on, or of names, which are numbered in alphabetical order; empty: no label. Or a
            list of columns, several labels a node that are each 1 or 0 (true or false); or, with labels="values", a column or a list of columns of numbers to
            predict (regression). An empty entry is not known. `class_names` are then the columns' names.
        split: column of "train", "valid", "test" or nothing.
        ids_path: JSON file for `node_ids`, which the container does not hold, and `class_names`; Graph.open(path, ids_path=…) reads it.
        options: as for from_arrays.

        ValueError and TypeError name table, column and row.
        """
        if ids_path is not None and not os.path.isdir(os.path.dirname(os.path.abspath(os.fspath(ids_path)))):
            raise ValueError(f"ids_path: {os.fspath(ids_path)!r} cannot be written: there is no such folder; make it first")
        if label is not None and not isinstance(label, str):
            options.setdefault("labels", "multi-label")
        table = tables.read(edges, source, target, nodes, id, features, label, split, options.get("labels"), edge_features)
        masks = {}
        if table.split is not None:
            parts = table.split.tolist()
            masks = {name: memoryview(bytes(one == part for one in parts)).cast("?") for part, name in enumerate(("train_mask", "val_mask", "test_mask"))
                     if part in parts}
        graph = cls.from_arrays(path, table.edge_index, x=table.x, y=table.y, edge_attr=table.edge_x, num_nodes=len(table.ids), class_names=table.classes, program=program, **masks,
                                **options)
        graph.node_ids = table.ids
        if ids_path is not None:
            part = os.fspath(ids_path) + ".part"
            try:
                with open(part, "w", encoding="utf-8") as file:
                    json.dump({"node_ids": table.ids, "class_names": table.classes}, file)
                os.replace(part, ids_path)
            except OSError as error:
                with contextlib.suppress(OSError):
                    os.unlink(part)
                raise EngineError(f"ids_path: {os.fspath(ids_path)!r} cannot be written: {error.strerror}") from error
        return graph

    def train(self, *, on_epoch: Callable[[dict[str, Any]], None] | None = None, **options: Any) -> dict[str, Any]:
        """Trains a model, and warns if nothing says where its weights are kept. Returns `end`, `metric`, `best_valid`, `best_epoch`, `checkpoint` and `history` of the run.

        `best_epoch` is counted from 0; the printed table counts from 1.

        options: those of `hone-gnn train` (docs/training.md), for example model="sage" (or a .toml file, or a ModelSpec), fanout=[15, 10, 5], epochs=10, lr=0.01,
            checkpoint="run", device="cuda", resume="run". split may also be an array [nodes].
        on_epoch: called with each epoch's report: epoch, loss, train_accuracy, valid_accuracy, learning_rate, seconds and more. `history` is
            the list of these reports. An exception that on_epoch raises, and Ctrl-C, end the run after its step; with `checkpoint` the
            run is saved then, and resume= continues it.
        """
        check_on_epoch(on_epoch)
        lines: list[dict[str, Any]] = []
        if options.get("checkpoint") is None and options.get("resume") is None:
            engine.warn("checkpoint: the weights of this run are not kept; give checkpoint=\"FOLDER\" to predict with them")

        def take(text: str) -> None:
            lines.append(engine.read_json(text))
            if lines[-1]["event"] == "epoch" and on_epoch is not None:
                on_epoch(lines[-1])

        with _in_files(options, self.num_nodes) as (given, arguments):
            engine.run(self._program, ["train", self.path, "--json", "--quiet", *engine.flags(given)], take, stopped_is_fine=True, arguments=arguments)
        end = dict(lines[-1])
        del end["event"]
        return {**end, "history": [line for line in lines if line["event"] == "epoch"]}

    def infer(self, checkpoint: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
        """Predicts classes, labels or values. Returns what `hone-gnn infer --json` prints: accuracy, macro_f1, auc, seconds and more; class_names if the graph has
        them; with confusion=True `confusion`, a row for each label and a column for each class. Where `targets` is not "classes", the measures are in `targets`:
        micro_f1, macro_f1, accuracy, auc and average_precision of labels, rmse and mae of values.

        options: those of `hone-gnn infer`, for example full=True, nodes="test", output="classes.npy" or "classes.csv", logits=True, embeddings=1.
            nodes may also be a vector of node ids, or a mask with a truth value for each node. split may also be an array [nodes].
        """
        with _in_files(options, self.num_nodes) as (given, arguments):
            return engine.ask(self._program, ["infer", self.path, os.fspath(checkpoint), "--json", "--quiet", *engine.flags(given)], arguments)

    def __repr__(self) -> str:
        return (f"hone.gnn.Graph({self.path!r}: {self.num_nodes} nodes, {self.num_edges} edges, {self.num_features} features, "
                f"{self.num_classes} {dict(zip(_KINDS_OF_TARGETS, ('classes', 'labels a node', 'values a node')))[self.targets]})")
