# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes batches on a GPU, in memory of PyTorch's allocator, on streams beside the caller's. Needs torch.

Two streams work beside the caller's. A thread of ours enqueues on the first, because sampling a batch takes tens of launches, whose cost the caller's
thread should not pay. The first stream samples up to `_AHEAD` batches ahead, and waits for nothing that the caller enqueued. The second writes a
batch into its memory while the caller works on the batch before it. That memory may have belonged to an earlier batch, so the second stream waits for
what the caller had enqueued when the batch was asked for.

The host needs a batch's sizes, which only sampling gives, to allocate its memory. It waits for them only if it is `_AHEAD` batches ahead of the GPU.
"""
from __future__ import annotations

import collections
import contextlib
import ctypes
import os
import queue
import threading
import weakref
from typing import Any, Callable, Sequence

import torch

from hone.gnn.cuda_native import CudaLoader
from hone.gnn.native import Batch, InEdges, Table

_AHEAD = 8  # most batches that are sampled and not yet written
_SHARE_FOR_TABLES = 0.7  # share of the device's free memory that tables may take; the rest is for the model and the batches


def device_of(given: Any) -> torch.device | None:
    """Returns the GPU that `given` names, or None for the CPU."""
    if given is None:
        return None
    try:
        device = torch.device(given)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"device: expected 'cpu', 'cuda' or 'cuda:0', found {given!r}") from error
    if device.type == "cpu":
        return None
    if device.type != "cuda":
        raise ValueError(f"device={given!r}: Hone makes batches on 'cpu' and on 'cuda'")
    return device


class Helper:
    """Makes calls one after another on a thread of its own. The thread ends when the helper is deleted, or at the interpreter's end. It has then made
    all calls: what they use, such as a loader's memory, is freed after it."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue = queue.SimpleQueue()
        self._state = _HelperState()
        self._asked = 0
        self._started = False

    def ask(self, call: Callable[[], Any]) -> int:
        """Queues a call. Returns its number, for `wait`."""
        if not self._started:
            self._started = True
            thread = threading.Thread(target=_help, args=(self._calls, self._state), daemon=True, name="hone-sampling")
            thread.start()
            # Finalizers run at the interpreter's end, the last one made first: this one before that of the loader that the calls use.
            weakref.finalize(self, _end, self._calls, thread, os.getpid())
        self._calls.put(call)
        self._asked += 1
        return self._asked

    def wait(self, number: int | None = None) -> None:
        """Waits until the call with this number was made; None: all calls. Raises an exception that a call raised, once."""
        state, number = self._state, self._asked if number is None else number
        if state.made < number:
            with state.changed:
                state.changed.wait_for(lambda: state.made >= number)
        if state.error is not None:
            error, state.error = state.error, None
            raise error


class _HelperState:
    def __init__(self) -> None:
        self.made = 0
        self.error: BaseException | None = None
        self.changed = threading.Condition()


def _end(calls: queue.SimpleQueue, thread: threading.Thread, owner: int) -> None:
    """Ends a helper's thread, and waits for it. A forked child has no such thread."""
    calls.put(None)
    if os.getpid() == owner and thread is not threading.current_thread():
        thread.join()


def _help(calls: queue.SimpleQueue, state: _HelperState) -> None:
    while True:
        call = calls.get()
        if call is None:
            return
        error = None
        try:
            call()
        except BaseException as found:
            error = found
        del call  # releases what the call refers to
        with state.changed:
            state.error = state.error or error
            state.made += 1
            state.changed.notify_all()


class Gpu:
    """A GPU with two streams of ours. Uses PyTorch's primary context and its allocator."""

    def __init__(self, device: torch.device):
        if not torch.cuda.is_available():
            raise RuntimeError("device='cuda': PyTorch finds no GPU (torch.cuda.is_available() is False); leave device out to make batches on the CPU")
        self.number = torch.cuda.current_device() if device.index is None else device.index
        self.device = torch.device("cuda", self.number)
        self._side, self._sampling = (torch.cuda.Stream(self.device, priority=-1) for _ in range(2))
        self._used_on: Any = None

    @property
    def stream(self) -> int:
        """Returns the handle of the stream on which batches are written."""
        return self._side.cuda_stream

    @property
    def sampling_stream(self) -> int:
        return self._sampling.cuda_stream

    def helper(self) -> Helper:
        return Helper()

    def fork(self) -> None:
        """Makes later writes wait for all that the caller has enqueued so far.

        Memory of batches that the caller has released may then be used again: whatever read it has finished by then.
        """
        current = torch.cuda.current_stream(self.device)
        self._side.wait_stream(current)
        if self._used_on is not None and self._used_on != current:
            self._side.wait_stream(self._used_on)
        self._used_on = current

    def allocate(self, count: int) -> torch.Tensor:
        """Allocates uint8 [count]. The stream of writes uses it first."""
        with torch.cuda.stream(self._side):
            return torch.empty(count, dtype=torch.uint8, device=self.device)

    def mark(self) -> Any:
        """Returns an event for `join`, which makes the caller's stream wait for all writes enqueued so far."""
        event = torch.cuda.Event()
        event.record(self._side)
        return event

    def join(self, mark: Any) -> None:
        torch.cuda.current_stream(self.device).wait_event(mark)

    def free_bytes(self) -> int:
        cached = torch.cuda.memory_reserved(self.device) - torch.cuda.memory_allocated(self.device)
        return torch.cuda.mem_get_info(self.device)[0] + cached

    def forget_cached(self) -> None:
        torch.cuda.empty_cache()

    def pin(self, tensor: torch.Tensor) -> torch.Tensor:
        """Returns the tensor in host memory that kernels can read directly."""
        # pin_memory() keeps the strides, and a copy of repeated rows (stride 0) could not be written.
        return tensor if tensor.is_pinned() else tensor.contiguous().pin_memory()


def place(gpu: Gpu, tensors: Sequence[torch.Tensor], where: str) -> list[torch.Tensor]:
    """Returns the tensors in memory that kernels can read. where: "device", "host" (pinned), or "auto": on the device as far as its memory goes,
    small tensors first."""
    if where not in ("auto", "device", "host"):
        raise ValueError(f"features: expected 'auto', 'device' or 'host', found {where!r}")
    placed: list[Any] = list(tensors)
    room = _SHARE_FOR_TABLES * gpu.free_bytes() if where == "auto" else float("inf") if where == "device" else 0
    for i in sorted(range(len(placed)), key=lambda i: placed[i].nbytes):
        if placed[i].device == gpu.device and where != "host":
            continue
        room -= placed[i].nbytes
        placed[i] = placed[i].to(gpu.device) if room > 0 else gpu.pin(placed[i].cpu())
    return placed


def _array(address: int, dtype: torch.dtype, count: int) -> torch.Tensor:
    """Returns a tensor over memory that something else owns."""
    if count == 0:
        return torch.empty(0, dtype=dtype)
    return torch.frombuffer((ctypes.c_char * (count * dtype.itemsize)).from_address(address), dtype=dtype)


class GraphOnGpu:
    """A copy of the graph's arrays on a GPU."""

    def __init__(self, gpu: Gpu, graph: InEdges):
        offsets, columns, edge_ids = graph.arrays()
        arrays = _array(offsets, torch.int64, graph.nodes + 1), _array(columns, torch.int32, graph.edges), _array(edge_ids, torch.int64, graph.edges)
        self.arrays = [array.to(gpu.device, copy=True) for array in arrays]
        self.nodes, self.edges = graph.nodes, graph.edges


class GpuLoader:
    """Does on a GPU what native.Loader does. A batch's `block` is a uint8 tensor, which belongs to the stream that was current when the batch was
    taken."""

    def __init__(self, gpu: Gpu, graph: GraphOnGpu, fanouts: Sequence[int], batch: int, *, node_tables: Sequence[Table] = (),
                 edge_tables: Sequence[Table] = (), keep: object = None):
        self._gpu, self._graph = gpu, graph
        self._fanouts, self._batch = fanouts, batch
        self._tables = {"node_tables": node_tables, "edge_tables": edge_tables}
        self._keep = [graph, keep]
        self._loader = self._make(batch, _AHEAD)
        self._alone: CudaLoader | None = None  # makes the batches of `load`
        self._alone_batch = 0
        self._helper = gpu.helper()
        self._lock = threading.Lock()  # guards the loader, which only one thread at a time may call
        self._asked: collections.deque[int] = collections.deque()  # numbers of the helper's calls that sample batches not yet taken
        self._left = 0  # batches of the epoch whose sampling was not requested yet
        self._ready: tuple[Batch, Any] | None = None  # the next batch, written or being written, with its event
        self._begun = False

    def _make(self, batch: int, ahead: int = 1) -> CudaLoader:
        addresses = [array.data_ptr() for array in self._graph.arrays]

        def make() -> CudaLoader:
            return CudaLoader(self._gpu.number, *addresses, self._graph.nodes, self._graph.edges, self._fanouts, batch, ahead=ahead,
                              keep=self._keep, **self._tables)

        try:
            return make()
        except MemoryError:
            self._gpu.forget_cached()
            return make()

    def start(self, seeds: int, count: int, **how: Any) -> None:
        """Begins an epoch; see native.Loader.start."""
        self._ready, self._left, self._begun = None, 0, False
        self._asked.clear()
        with contextlib.suppress(Exception):  # an error of the epoch that is abandoned
            self._helper.wait()
        self._loader.start(seeds, count, **how)
        full, rest = divmod(count, self._batch)
        self._left = full + (rest > 0 and not how["drop_last"]) - how.get("first_step", 0)
        self._begun = True

    def next(self) -> Batch | None:
        """The next batch of the epoch, or None at its end."""
        if not self._begun:
            return None
        self._gpu.fork()
        if self._ready is None:  # the epoch's first batch, or there is none
            self._sample()
            self._ready = self._next_written()
        ready, self._ready = self._ready, None
        if ready is None:
            self._begun = False
            return None
        self._ready = self._next_written()
        self._sample()
        self._begun = self._ready is not None
        batch, mark = ready
        self._gpu.join(mark)
        return batch

    def _sample(self) -> None:
        """Requests the sampling of up to two more batches, as far as there is room. Called once per batch taken, so that an epoch's first batch does
        not wait for many later ones."""
        for _ in range(2):
            if self._left == 0 or len(self._asked) == self._loader.ahead:
                return
            self._left -= 1
            self._asked.append(self._helper.ask(_Sampling(self._loader, self._lock, self._gpu.sampling_stream)))

    def _next_written(self) -> tuple[Batch, Any] | None:
        if not self._asked:
            return None
        self._helper.wait(self._asked.popleft())
        return self._write(self._loader)

    def load(self, seeds: int, count: int, *, seed: int, epoch: int, step: int) -> Batch:
        """Makes one batch of `count` distinct int64 node ids at the address `seeds`. Waits for its sizes."""
        if self._alone is None or count > self._alone_batch:
            self._alone_batch = max(count, self._batch)
            self._alone = self._make(self._alone_batch)
        self._gpu.fork()
        self._alone.sample_these(seeds, count, seed=seed, epoch=epoch, step=step, stream=self._gpu.sampling_stream)
        batch, mark = self._write(self._alone)
        self._gpu.join(mark)
        return batch

    def _write(self, loader: CudaLoader) -> tuple[Batch, Any]:
        with self._lock:
            batch = loader.take()
        # Sizes are rounded up to steps of an eighth, so that the allocator can reuse an earlier batch's memory.
        step = max(512, 1 << max(batch.block_bytes.bit_length() - 4, 0))
        batch.block = self._gpu.allocate(-(-batch.block_bytes // step) * step)
        with self._lock:
            loader.write(batch.block.data_ptr(), self._gpu.stream)
        return batch, self._gpu.mark()


class _Sampling:
    """A call for the helper. It holds no reference to the GpuLoader, which could otherwise not be deleted."""

    def __init__(self, loader: CudaLoader, lock: threading.Lock, stream: int):
        self._loader, self._lock, self._stream = loader, lock, stream

    def __call__(self) -> None:
        with self._lock:
            if not self._loader.sample(self._stream):
                raise RuntimeError("the epoch has fewer batches than were asked for")
