# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads tables of edges and nodes whose ids are strings or numbers of any kind, and returns arrays of numbered nodes.

A table is a file (comma- or tab-separated with a heading, gzip or not; Parquet, which needs pyarrow), a mapping from names to columns, or what
pyarrow.table() takes. Values are handled as Python objects, a few million rows per second.
"""
from __future__ import annotations

import csv
import gzip
import math
import os
from array import array
from dataclasses import dataclass
from typing import Any, Mapping, Sequence

try:
    import pyarrow
    import pyarrow.compute
    import pyarrow.csv
    import pyarrow.parquet
except ImportError:
    pyarrow = None

_SPLITS = {"train": 0, "valid": 1, "val": 1, "test": 2, "": -1, "none": -1, "0": 0, "1": 1, "2": 2, "-1": -1}


@dataclass
class NumberedTables:
    """edge_index: int64 [2, edges]. edge_x: float32 [edges, features], or None. x: float32 [nodes, features], or None. y: int64 [nodes], or float32 [nodes, columns] of several labels or values, or
    None. split: int64 [nodes], 0 train, 1 valid, 2 test, -1 none, or None. ids: the id of each node. classes: the name of each class, label or value, or
    None where classes are numbers."""

    edge_index: memoryview
    x: memoryview | None
    y: memoryview | None
    split: memoryview | None
    ids: list[Any]
    classes: list[str] | None
    edge_x: memoryview | None = None


class _Columns:
    """Columns of a table by name: lists of Python values, with None for a missing value."""

    def __init__(self, argument: str, given: Any, wanted: Sequence[str]):
        self.argument = argument
        self.values: dict[str, Any]
        if isinstance(given, (str, os.PathLike)):
            self.values = self._of_file(os.fspath(given), wanted)
        elif isinstance(given, Mapping):
            self.values = dict(given)
        elif pyarrow is not None:
            try:
                table = given if isinstance(given, pyarrow.Table) else pyarrow.table(given)
            except (TypeError, ValueError) as error:
                raise TypeError(f"{argument}: expected a file's name, columns by name or an Arrow table, found {type(given).__name__}") from error
            self.values = {name: table.column(name) for name in table.column_names}
        else:
            raise TypeError(f"{argument}: expected a file's name or columns by name, found {type(given).__name__} (an Arrow table needs pyarrow)")
        for name in wanted:
            if name not in self.values:
                raise ValueError(f"{argument}: it has no column {name!r}; it has {', '.join(map(repr, self.values))}")
        self.values = {name: self.values[name] for name in wanted}
        lengths = {name: len(column) for name, column in self.values.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"{argument}: its columns have different lengths: {lengths}")

    def _of_file(self, path: str, wanted: Sequence[str]) -> dict[str, Any]:
        if not os.path.isfile(path):
            raise ValueError(f"{self.argument}: there is no file {path!r}")
        if path.endswith((".parquet", ".pq")):
            if pyarrow is None:
                raise ImportError(f"{self.argument}: {path!r} is Parquet, which pyarrow reads (pip install pyarrow)", name="pyarrow")
            try:
                column_names = pyarrow.parquet.read_schema(path).names
                table = pyarrow.parquet.read_table(path, columns=[name for name in wanted if name in column_names])
            except pyarrow.ArrowException as error:
                raise ValueError(f"{self.argument}: {path!r} cannot be read as Parquet: {error}") from error
            return {**dict.fromkeys(column_names, ()), **{name: table.column(name) for name in table.column_names}}
        tabs = path.removesuffix(".gz").endswith((".tsv", ".tab"))
        return self._of_text(path, "\t" if tabs else ",", wanted)

    def _of_text(self, path: str, separator: str, wanted: Sequence[str]) -> dict[str, Any]:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as file:
            try:
                rows = csv.reader(file, delimiter=separator, strict=True)
                heading = next(rows, None)
                if not heading:
                    raise ValueError(f"{self.argument}: {path!r} is empty; its first line names the columns")
                if len(set(heading)) != len(heading):
                    raise ValueError(f"{self.argument}: {path!r} names a column twice in its first line")
                places = [(name, heading.index(name)) for name in wanted if name in heading]
                found: dict[str, list[str | None]] = {name: [] for name in heading}
                for number, row in enumerate(rows, 1):
                    if not row:
                        continue
                    if len(row) != len(heading):
                        raise ValueError(f"{self.argument}: {path!r} has {len(heading)} columns, and row {number} has {len(row)}")
                    for name, place in places:
                        found[name].append(row[place] if row[place] != "" else None)
            except (csv.Error, UnicodeDecodeError, OSError, EOFError) as error:
                raise ValueError(f"{self.argument}: {path!r} cannot be read as text with columns: {error}") from error
        # Columns that were not asked for are listed by name only.
        return {name: found[name] if name in wanted else () for name in heading}

    def plain(self, name: str) -> list[Any]:
        column = self.values[name]
        return column.to_pylist() if hasattr(column, "to_pylist") else column.tolist() if hasattr(column, "tolist") else list(column)

    def ids(self, name: str) -> list[Any]:
        """Returns a column of ids: strings or whole numbers. Ids in text files are strings."""
        found = [value.decode(errors="surrogateescape") if isinstance(value, bytes) else value for value in self.plain(name)]
        for row, value in enumerate(found):
            if value is None or (isinstance(value, float) and math.isnan(value)):
                raise ValueError(f"{self.argument}: row {row} has no {name!r}; every edge and every node needs its ids")
            if isinstance(value, bool) or not isinstance(value, (str, int)):
                raise TypeError(f"{self.argument}: {name!r} has {value!r} in row {row}; ids are strings or whole numbers")
        return found


_TRUTH = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def _numbers(table: _Columns, names: Sequence[str], what: str = "features") -> memoryview:
    """Returns columns of numbers as float32 [rows, columns]; NaN where an entry is empty. what: "features", "values" or "labels"; a label is true or
    false."""
    columns = []
    for name in names:
        column = array("f")
        for row, value in enumerate(table.plain(name)):
            if what == "labels" and isinstance(value, str):
                value = _TRUTH.get(value.strip().lower(), value)
            try:
                column.append(math.nan if value is None else float(value))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{table.argument}: {name!r} has {value!r} in row {row}, which is no number; {what} are numbers") from error
            if what == "labels" and column[-1] not in (0.0, 1.0) and not math.isnan(column[-1]):
                raise ValueError(f"{table.argument}: {name!r} has {value!r} in row {row}; each of several labels is 1 or 0 (true or false), or empty where it is not "
                                 "known; numbers to predict (regression) need labels=\"values\"")
            if what == "values" and math.isinf(column[-1]):
                raise ValueError(f"{table.argument}: {name!r} has {value!r} in row {row}; a value is a finite number, or empty where it is not known")
        columns.append(column)
    flat = array("f", bytes(4 * len(columns) * len(columns[0])))
    for place, column in enumerate(columns):
        flat[place :: len(columns)] = column
    return memoryview(flat).cast("B").cast("f", [len(columns[0]), len(columns)]) if flat else memoryview(flat)


def _labels(table: _Columns, name: str) -> tuple[memoryview, list[str] | None]:
    """Returns a column of labels as class numbers, -1 for none: whole numbers as they are, names numbered in alphabetical order. Also returns the
    names, or None for whole numbers."""
    cells = [None if isinstance(value, float) and math.isnan(value) else value for value in table.plain(name)]

    def number(value: Any) -> int | None:
        if isinstance(value, bool) or not isinstance(value, (int, str, float)):
            return None
        try:
            return int(value) if not isinstance(value, float) or value.is_integer() else None
        except ValueError:
            return None

    numbers = [-1 if value is None else number(value) for value in cells]
    if None not in numbers:
        return memoryview(array("q", numbers)), None
    strings = [None if value is None else value.decode() if isinstance(value, bytes) else value for value in cells]
    if any(not isinstance(value, str) for value in strings if value is not None):
        row = next(i for i, value in enumerate(numbers) if value is None)
        raise TypeError(f"{table.argument}: {name!r} has {cells[row]!r} in row {row}; a label is a whole number or a name, one class a node")
    classes = sorted({value for value in strings if value is not None})
    place = {value: i for i, value in enumerate(classes)}
    return memoryview(array("q", [-1 if value is None else place[value] for value in strings])), classes


def _split(table: _Columns, name: str) -> memoryview:
    split_of_row = array("q")
    for row, value in enumerate(table.plain(name)):
        part = _SPLITS.get("" if value is None else str(value).strip().lower())
        if part is None:
            raise ValueError(f"{table.argument}: {name!r} has {value!r} in row {row}; expected 'train', 'valid', 'test' or nothing")
        split_of_row.append(part)
    return memoryview(split_of_row)


def read(edges: Any, source: str, target: str, nodes: Any = None, id: str = "id", features: Sequence[str] = (), label: str | Sequence[str] | None = None,
         split: str | None = None, kind: str | None = None, edge_features: Sequence[str] = ()) -> NumberedTables:
    """Reads the tables and numbers the nodes: in the order of the table `nodes`, or else by first occurrence, in all of `source` and then in
    `target`. kind: what the columns `label` have: "classes", "multi-label" or "values"; by default classes in one column, and labels in a list of columns.

    ValueError and TypeError name table, column and row.
    """
    for name, columns in (("features", features), ("edge_features", edge_features)):
        if isinstance(columns, str):
            raise TypeError(f"{name}: expected a list of columns, found {columns!r}")
    if label is None or isinstance(label, str):
        targets, kind = [] if label is None else [label], kind or "classes"
    else:
        targets, kind = list(label), kind or "multi-label"
        if not targets or not all(isinstance(name, str) for name in targets) or len(set(targets)) != len(targets):
            raise TypeError(f"label: expected a column, or a list of different columns, found {label!r}")
    if kind == "classes" and len(targets) > 1:
        raise ValueError(f"label: expected one column of classes, found {len(targets)}; several columns hold labels=\"multi-label\" or labels=\"values\"")
    if nodes is None and (features or label is not None or split is not None):
        raise ValueError("nodes: features, label and split are columns of it, found None")
    lists = _Columns("edges", edges, list(dict.fromkeys([source, target, *edge_features])))
    ends = lists.ids(source), lists.ids(target)
    x = y = split_of_row = classes = None
    if nodes is not None:
        table = _Columns("nodes", nodes, list(dict.fromkeys([id, *features, *targets, *([] if split is None else [split])])))
        ids = table.ids(id)
        place = {value: i for i, value in enumerate(ids)}
        if len(place) != len(ids):
            first: dict[Any, int] = {}
            for row, value in enumerate(ids):
                if value in first:
                    raise ValueError(f"nodes: id {value!r} is in row {first[value]} and in row {row}; a node has one row")
                first[value] = row
        x = _numbers(table, features) if features else None
        if targets and kind != "classes":
            y, classes = _numbers(table, targets, "values" if kind == "values" else "labels"), targets
        elif targets:
            y, classes = _labels(table, targets[0])
        split_of_row = None if split is None else _split(table, split)
    else:
        place = {}
        for end in ends:
            for value in end:
                place.setdefault(value, len(place))
        ids = list(place)
    flat = array("q")
    for name, end in zip((source, target), ends):
        try:
            flat.extend(map(place.__getitem__, end))
        except KeyError as error:
            row = next(row for row, value in enumerate(end) if value not in place)
            raise ValueError(f"edges: {name!r} has {end[row]!r} in row {row}, which is no id of the table of nodes; add a row there, or "
                             "leave the edge out" + _other_kind(end[row], ids)) from error
    edge_index = memoryview(flat).cast("B").cast("q", [2, len(ends[0])]) if flat else None
    if edge_index is None:
        raise ValueError("edges: the table has no rows")
    return NumberedTables(edge_index, x, y, split_of_row, ids, classes, _numbers(lists, edge_features) if edge_features else None)


def _other_kind(value: Any, ids: list[Any]) -> str:
    """Returns a hint for the message if ids are strings in one table and numbers in the other; else nothing."""
    if not ids or isinstance(value, str) == isinstance(ids[0], str):
        return ""
    return f" (ids are {type(value).__name__} there and {type(ids[0]).__name__} here; in text files they are strings)"
