# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Wraps the library libhone_cuda_loader, which samples and gathers on a GPU: its functions (src/gnn/cuda/loader/c_api.h) as Python objects. Addresses
are of memory that the device can read; streams are CUDA handles. This module needs neither numpy nor torch.
"""
from __future__ import annotations

import ctypes
import os
import weakref
from ctypes import POINTER, Structure, byref, c_int32, c_int64, c_uint32, c_uint64, c_void_p
from typing import Sequence

from hone.gnn import native
from hone.gnn.native import LibraryError, Table

ABI = 2000 + native.ABI  # version of this interface and of native's, with which it shares structures


class _Options(Structure):
    _fields_ = [
        ("device", c_int32),
        ("hops", c_int32),
        ("fanouts", POINTER(c_int32)),
        ("batch", c_int64),
        ("nodes", c_int64),
        ("edges", c_int64),
        ("row_offsets", c_void_p),
        ("columns", c_void_p),
        ("edge_ids", c_void_p),
        ("node_tables", POINTER(native.RowTable)),
        ("edge_tables", POINTER(native.RowTable)),
        ("num_node_tables", c_int32),
        ("num_edge_tables", c_int32),
        ("ahead", c_int32),
    ]


_ARGUMENTS = {
    "hone_cuda_loader_make": [POINTER(_Options), POINTER(c_void_p), c_void_p],
    "hone_cuda_loader_start": [c_void_p, c_void_p, c_int64, c_uint64, c_uint32, c_int32, c_int32, c_int64, c_void_p],
    "hone_cuda_loader_sample": [c_void_p, c_void_p, c_void_p],
    "hone_cuda_loader_sample_these": [c_void_p, c_void_p, c_int64, c_uint64, c_uint32, c_uint32, c_void_p, c_void_p],
    "hone_cuda_loader_take": [c_void_p, POINTER(native.View), c_void_p],
    "hone_cuda_loader_write": [c_void_p, c_void_p, c_void_p, c_void_p],
}
_library = None


def library():
    """Returns the loaded library. The environment variable HONE_CUDA_LOADER_LIBRARY names another file than the one in this package."""
    global _library
    if _library is not None:
        return _library
    packaged = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib", "libhone_cuda_loader.so")
    path = os.environ.get("HONE_CUDA_LOADER_LIBRARY", packaged)
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise LibraryError(f"{path} cannot be loaded ({error}): batches on a GPU are a part of Hone that is built where CUDA's nvcc is. "
                           "Put nvcc (12.8 or newer) in PATH and install the package again, or build the target hone_cuda_loader and set "
                           "HONE_CUDA_LOADER_LIBRARY to build/lib/libhone_cuda_loader.so. Without device='cuda' batches are made on the CPU") from error
    if loaded.hone_cuda_loader_abi() != ABI:
        raise LibraryError(f"{path} has interface {loaded.hone_cuda_loader_abi()}, and this package needs {ABI}: they are of different versions")
    for name, arguments in _ARGUMENTS.items():
        getattr(loaded, name).argtypes = arguments
        getattr(loaded, name).restype = c_int32
    loaded.hone_cuda_loader_ahead.argtypes = [c_void_p]
    loaded.hone_cuda_loader_ahead.restype = c_int32
    loaded.hone_cuda_loader_free.argtypes = [c_void_p]
    loaded.hone_cuda_loader_free.restype = None
    _library = loaded
    return loaded


class CudaLoader:
    """Enqueues the work that makes batches: `sample` draws a batch, `take` returns its sizes, `write` fills the memory that the caller allocated for
    it. Up to `ahead` batches may be sampled and not yet written; fewer if their memory would exceed 1 GiB. All batches are sampled on one stream and
    written on one stream, which may be another.

    row_offsets, columns, edge_ids: addresses of a graph's arrays, as native.InEdges.arrays() returns them. These arrays, and what tables point to,
    must outlive the loader: `keep` holds references for that.
    """

    def __init__(self, device: int, row_offsets: int, columns: int, edge_ids: int, nodes: int, edges: int, fanouts: Sequence[int],
                 batch: int, *, ahead: int = 1, node_tables: Sequence[Table] = (), edge_tables: Sequence[Table] = (), keep: object = None):
        numbers = (c_int32 * max(len(fanouts), 1))(*fanouts)
        options = _Options(device, len(fanouts), numbers, batch, nodes, edges, row_offsets, columns, edge_ids,
                           native.row_tables(node_tables), native.row_tables(edge_tables), len(node_tables), len(edge_tables), ahead)
        handle, self._error = c_void_p(), native.error_buffer()
        native.check(library().hone_cuda_loader_make(byref(options), byref(handle), self._error), self._error)
        self.handle = handle
        self.ahead = int(_library.hone_cuda_loader_ahead(handle))
        self._tables = len(node_tables), len(edge_tables)
        self._seeds = None
        self._free = weakref.finalize(self, _free, _library, handle, keep, os.getpid())

    def start(self, seeds: int, count: int, *, seed: int, epoch: int, shuffle: bool, drop_last: bool, first_step: int = 0,
              keep: object = None):
        """Begins an epoch over `count` int64 node ids at the address `seeds`, which `keep` keeps alive."""
        native.check(_library.hone_cuda_loader_start(self.handle, seeds, count, seed, epoch, shuffle, drop_last, first_step, self._error), self._error)
        self._seeds = keep

    def sample(self, stream: int) -> bool:
        """Enqueues the sampling of the epoch's next batch. Returns False if there is none."""
        code = _library.hone_cuda_loader_sample(self.handle, stream, self._error)
        if code == native.END:
            return False
        native.check(code, self._error)
        return True

    def sample_these(self, seeds: int, count: int, *, seed: int, epoch: int, step: int, stream: int):
        """Drops what was sampled, and enqueues the sampling of `count` distinct int64 node ids at the address `seeds`; at most the seeds of one
        batch."""
        native.check(_library.hone_cuda_loader_sample_these(self.handle, seeds, count, seed, epoch, step, stream, self._error), self._error)

    def take(self) -> native.Batch:
        """Returns the oldest sampled batch that was not taken, without its block. Waits until its sizes are known."""
        view = native.View()
        native.check(_library.hone_cuda_loader_take(self.handle, byref(view), self._error), self._error)
        return native.Batch(view, *self._tables)

    def write(self, block: int, stream: int):
        """Enqueues the writing of the batch taken last to the address `block`: batch.block_bytes bytes, aligned to 256."""
        native.check(_library.hone_cuda_loader_write(self.handle, block, stream, self._error), self._error)


def _free(loaded, handle, keep, owner):
    # A forked child has no CUDA context, so it frees nothing.
    if os.getpid() == owner:
        loaded.hone_cuda_loader_free(handle)
    del keep
