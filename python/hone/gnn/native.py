# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Wraps the library libhone_loader, which samples and gathers: its functions (src/gnn/loader/c_api.h) as Python objects.

Arrays are passed as addresses. Results are views of one block of memory per batch, which is returned to the loader when the last view is deleted.
Calls release the interpreter's lock. This module needs neither numpy nor torch.
"""
from __future__ import annotations

import ctypes
import os
import threading
import weakref
from ctypes import POINTER, Structure, byref, c_char, c_double, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Callable, Sequence

ABI = 3
_ERROR_BYTES = 1024
_OK, END, _PENDING, _INVALID, _NO_MEMORY = 0, 1, 2, 3, 4
_WAIT_SECONDS = 0.2  # interval at which a waiting call checks for Ctrl-C


class LibraryError(ImportError):
    """The library is missing, or belongs to another version of this package."""


class RowTable(Structure):
    _fields_ = [("rows", c_void_p), ("count", c_int64), ("row_bytes", c_int64), ("stride_bytes", c_int64)]


class _Options(Structure):
    _fields_ = [
        ("fanouts", POINTER(c_int32)),
        ("hops", c_int32),
        ("threads", c_int32),
        ("queue", c_int32),
        ("edge_ids", c_int32),
        ("batch", c_int64),
        ("node_tables", POINTER(RowTable)),
        ("edge_tables", POINTER(RowTable)),
        ("num_node_tables", c_int32),
        ("num_edge_tables", c_int32),
        ("replace", c_int32),
        ("disjoint", c_int32),
        ("induced", c_int32),
        ("weights", c_void_p),
    ]


class View(Structure):
    _fields_ = [
        ("batch", c_void_p),
        ("block", c_void_p),
        ("block_bytes", c_int64),
        ("step", c_int64),
        ("seeds", c_int64),
        ("nodes", c_int64),
        ("edges", c_int64),
        ("hops", c_int32),
        ("has_edge_ids", c_int32),
        ("hop_nodes", POINTER(c_int64)),
        ("hop_edges", POINTER(c_int64)),
        ("nodes_at", c_int64),
        ("input_at", c_int64),
        ("sources_at", c_int64),
        ("destinations_at", c_int64),
        ("edge_ids_at", c_int64),
        ("trees_at", c_int64),
        ("node_rows_at", POINTER(c_int64)),
        ("edge_rows_at", POINTER(c_int64)),
    ]


_ARGUMENTS = {
    "hone_graph_make": [c_void_p, c_void_p, c_int64, c_int64, c_int32, POINTER(c_void_p), c_void_p],
    "hone_loader_make": [c_void_p, POINTER(_Options), POINTER(c_void_p), c_void_p],
    "hone_loader_start": [c_void_p, c_void_p, c_int64, c_uint64, c_uint32, c_int32, c_int32, c_int64, c_void_p],
    "hone_loader_next": [c_void_p, c_double, POINTER(View), c_void_p],
    "hone_loader_load": [c_void_p, c_void_p, c_int64, c_uint64, c_uint32, c_uint32, POINTER(View), c_void_p],
}
_WITHOUT_RESULT = {
    "hone_graph_arrays": [c_void_p, POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p)],
    **dict.fromkeys(("hone_graph_free", "hone_loader_free", "hone_loader_cancel", "hone_batch_free"), [c_void_p]),
}
_library = None


def library():
    """Returns the loaded library. The environment variable HONE_LOADER_LIBRARY names another file than the one in this package."""
    global _library
    if _library is not None:
        return _library
    packaged = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib", "libhone_loader.so")
    path = os.environ.get("HONE_LOADER_LIBRARY", packaged)
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise LibraryError(f"{path} cannot be loaded ({error}): install the package again, or build the target hone_loader and "
                           "set HONE_LOADER_LIBRARY to build/lib/libhone_loader.so") from error
    if loaded.hone_loader_abi() != ABI:
        raise LibraryError(f"{path} has interface {loaded.hone_loader_abi()}, and this package needs {ABI}: they are of different versions")
    for name, arguments in _ARGUMENTS.items():
        getattr(loaded, name).argtypes = arguments
        getattr(loaded, name).restype = c_int32
    for name, arguments in _WITHOUT_RESULT.items():
        getattr(loaded, name).argtypes = arguments
        getattr(loaded, name).restype = None
    _library = loaded
    return loaded


def error_buffer():
    """Returns a buffer into which a call that fails writes a sentence."""
    return ctypes.create_string_buffer(_ERROR_BYTES)


def check(code, error):
    """Raises the exception that a call's result code stands for; returns if the call succeeded."""
    if code == _OK:
        return
    message = error.value.decode(errors="replace")
    if code == _INVALID:
        raise ValueError(message)
    if code == _NO_MEMORY:
        raise MemoryError(message)
    raise RuntimeError(message)


@dataclass(frozen=True)
class Table:
    """A tensor as rows: `address` of the first, `count` rows, `row_bytes` copied of each, `stride_bytes` from one row to the next."""

    address: int
    count: int
    row_bytes: int
    stride_bytes: int


def row_tables(tables: Sequence[Table]):
    return (RowTable * max(len(tables), 1))(*[(t.address, t.count, t.row_bytes, t.stride_bytes) for t in tables])


class Batch:
    """One batch. `block` is its memory as a buffer; the `…_at` attributes are offsets in it, in bytes. Ids are int64.

    A batch on a GPU (cuda_native) has `block` None at first; `block_bytes` says how much memory to allocate for it.

    `hop_edges` is None if batches are induced, and `trees_at` is None unless they are disjoint.

    Views that refer to `block` (numpy.frombuffer, torch.frombuffer) keep the memory; without such a view it is used again.
    """

    __slots__ = ("block", "block_bytes", "step", "seeds", "nodes", "edges", "hop_nodes", "hop_edges", "nodes_at", "input_at", "sources_at",
                 "destinations_at", "edge_ids_at", "trees_at", "node_rows_at", "edge_rows_at")

    def __init__(self, view, node_tables, edge_tables):
        self.block, self.block_bytes = None, view.block_bytes
        if view.batch:
            self.block = (c_char * max(view.block_bytes, 1)).from_address(view.block)
            weakref.finalize(self.block, _library.hone_batch_free, view.batch)
        self.step, self.seeds, self.nodes, self.edges = view.step, view.seeds, view.nodes, view.edges
        self.hop_nodes = view.hop_nodes[: view.hops + 1]
        self.hop_edges = view.hop_edges[: view.hops] if view.hop_edges else None
        self.nodes_at, self.input_at = view.nodes_at, view.input_at
        self.sources_at, self.destinations_at = view.sources_at, view.destinations_at
        self.edge_ids_at = view.edge_ids_at if view.has_edge_ids else None
        self.trees_at = view.trees_at if view.trees_at >= 0 else None
        self.node_rows_at = view.node_rows_at[:node_tables]
        self.edge_rows_at = view.edge_rows_at[:edge_tables]


def _interruptible(call: Callable[[], int], given_up: Callable[[], None]) -> int:
    """Returns the call's result. Ctrl-C does not wait for the call: it then ends on a thread of its own, and `given_up` frees what it made."""
    if threading.current_thread() is not threading.main_thread():
        return call()  # the interpreter delivers signals to the main thread only, so any other thread can simply wait
    done, found, abandoned = threading.Event(), [], threading.Event()

    def work() -> None:
        try:
            found.append(call())
        except BaseException as error:
            found.append(error)
        done.set()
        if abandoned.is_set():
            given_up()

    threading.Thread(target=work, daemon=True).start()
    try:
        while not done.wait(_WAIT_SECONDS):
            pass
    except BaseException:
        abandoned.set()
        raise
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


class InEdges:
    """The edges of a graph, sorted by destination. `sources` and `destinations` are addresses of int64 [edges]. They are read during the call; after
    Ctrl-C, until the call has ended on its own thread. `keep` keeps them alive for that."""

    def __init__(self, sources: int, destinations: int, edges: int, nodes: int, threads: int = 0, keep: object = None):
        self._free = None
        handle, error, loaded = c_void_p(), error_buffer(), library()

        def free() -> None:
            if handle.value:
                loaded.hone_graph_free(handle)

        def make() -> int:
            arrays_in_use = keep  # released when the call has ended
            code = loaded.hone_graph_make(sources, destinations, edges, nodes, threads, byref(handle), error)
            del arrays_in_use
            return code

        check(_interruptible(make, free), error)
        self.handle, self.nodes, self.edges = handle, nodes, edges
        self._free = weakref.finalize(self, _library.hone_graph_free, handle)

    def arrays(self) -> tuple[int, int, int]:
        """Returns addresses, valid while this object lives, of row_offsets (int64 [nodes + 1]), columns (int32 [edges]: sources of each node's
        in-edges, ascending) and edge_ids (int64 [edges]: positions in the list of edges)."""
        places = [c_void_p() for _ in range(3)]
        _library.hone_graph_arrays(self.handle, *(byref(place) for place in places))
        return tuple(place.value or 0 for place in places)


class Loader:
    """Makes batches on threads of its own, ahead of the one thread that takes them.

    What tables point to must outlive the loader: `keep` holds references for that. A forked child must not use the loader. `weights` is the address
    of float64 [edges], read during the call.
    """

    def __init__(self, graph: InEdges, fanouts: Sequence[int], batch: int, *, threads: int = 0, queue: int = 0, edge_ids: bool = True,
                 node_tables: Sequence[Table] = (), edge_tables: Sequence[Table] = (), keep: object = None, replace: bool = False,
                 disjoint: bool = False, induced: bool = False, weights: int | None = None):
        numbers = (c_int32 * max(len(fanouts), 1))(*fanouts)
        options = _Options(numbers, len(fanouts), threads, queue, edge_ids, batch, row_tables(node_tables), row_tables(edge_tables),
                           len(node_tables), len(edge_tables), replace, disjoint, induced, weights)
        handle, error = c_void_p(), error_buffer()
        check(library().hone_loader_make(graph.handle, byref(options), byref(handle), error), error)
        self.handle = handle
        self._error = error
        self._tables = len(node_tables), len(edge_tables)
        self._keep = keep
        self._seeds = None
        self._free = weakref.finalize(self, _free_loader, _library, handle, keep, os.getpid())

    def start(self, seeds: int, count: int, *, seed: int, epoch: int, shuffle: bool, drop_last: bool, first_step: int = 0,
              keep: object = None):
        """Begins an epoch over `count` int64 node ids at the address `seeds`, which `keep` keeps alive."""
        code = library().hone_loader_start(self.handle, seeds, count, seed, epoch, shuffle, drop_last, first_step, self._error)
        self._seeds = keep
        check(code, self._error)

    def next(self) -> Batch | None:
        """Returns the next batch of the epoch, or None at its end. Ctrl-C ends the wait."""
        view = View()
        while True:
            code = _library.hone_loader_next(self.handle, _WAIT_SECONDS, byref(view), self._error)
            if code == _OK:
                return Batch(view, *self._tables)
            if code == END:
                return None
            if code != _PENDING:
                check(code, self._error)

    def cancel(self):
        """Drops the present epoch."""
        _library.hone_loader_cancel(self.handle)

    def load(self, seeds: int, count: int, *, seed: int, epoch: int, step: int) -> Batch:
        """Makes one batch of `count` distinct int64 node ids at the address `seeds`, on the calling thread."""
        view = View()
        check(_library.hone_loader_load(self.handle, seeds, count, seed, epoch, step, byref(view), self._error), self._error)
        return Batch(view, *self._tables)


def _free_loader(loaded, handle, keep, owner):
    # A forked child has none of the threads for which freeing would wait, so it frees nothing.
    if os.getpid() == owner:
        loaded.hone_loader_free(handle)
    del keep
