# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Neighbor sampling for PyTorch Geometric: a NeighborLoader and a BaseSampler. See docs/pyg.md."""
from __future__ import annotations

import contextlib
import copy
import math
import operator
import os
import warnings
import weakref
from typing import Any, Callable, Iterator

try:
    import torch
    from torch.utils.data import DataLoader
    from torch_geometric.data import Data
    from torch_geometric.data.data import BaseData
    from torch_geometric.sampler import BaseSampler, NodeSamplerInput, SamplerOutput
except ImportError as error:
    raise ImportError(f"hone.gnn.pyg needs torch and torch_geometric, which are installed apart from Hone ({error}): "
                      "pip install torch torch_geometric", name=error.name) from error

from hone.gnn import cuda_batches
from hone.gnn.native import Batch, InEdges, Loader, Table

__all__ = ["HoneSampler", "NeighborLoader"]


_MOST_NEIGHBORS, _MOST_THREADS = 1024, 1024

_made: dict[tuple[int, str], tuple[weakref.ref, int, int, weakref.ref]] = {}


def _shared(edge_index: torch.Tensor, num_nodes: int, where: str, make: Callable[[], Any]) -> Any:
    """Returns what `make` makes from the edges for the device `where`. If a loader that still exists has it already, that is returned: loaders for
    training, validation and test share one graph."""
    key = id(edge_index), where
    if key in _made:
        tensor, version, nodes, graph = _made[key]
        if tensor() is edge_index and version == edge_index._version and nodes == num_nodes and graph() is not None:
            return graph()
    graph = make()

    def forget(_: Any) -> None:
        _made.pop(key, None)

    _made[key] = weakref.ref(edge_index, forget), edge_index._version, num_nodes, weakref.ref(graph)
    return graph


def _graph_of(data: Data, gpu: cuda_batches.Gpu | None = None) -> Any:
    """Returns the graph's InEdges, or with `gpu` its GraphOnGpu. The loader keeps a reference."""
    edge_index, num_nodes = data.edge_index, data.num_nodes
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(f"data.edge_index: expected a tensor of shape [2, edges], found {tuple(edge_index.shape)}")
    if edge_index.device.type not in (("cpu",) if gpu is None else ("cpu", "cuda")):
        raise ValueError(f"data.edge_index is on {edge_index.device}: this loader samples on the CPU; pass data.cpu(), or device='cuda'")
    if edge_index.dtype != torch.int64:
        raise TypeError(f"data.edge_index: expected int64, found {edge_index.dtype}")
    if edge_index.layout != torch.strided:
        raise TypeError(f"data.edge_index: expected a dense tensor, found {edge_index.layout}")

    def by_destination() -> InEdges:
        sources, destinations = edge_index[0].cpu().contiguous(), edge_index[1].cpu().contiguous()
        try:
            return InEdges(sources.data_ptr(), destinations.data_ptr(), sources.numel(), num_nodes, keep=(sources, destinations))
        except ValueError as error:
            hint = ""  # of the nodes' number
            if sources.numel() and (int(edge_index.min()), int(edge_index.max())) == (1, num_nodes):
                hint = "; no edge has node 0, so the nodes seem to be counted from 1: pass edge_index - 1"
            elif sources.numel() and isinstance(data.x, torch.Tensor):
                nodes_in_edges = int(edge_index.max()) + 1
                longer_key = next((key for key in ("y", "train_mask") if isinstance(data.get(key), torch.Tensor) and data[key].dim() and data[key].size(0) == nodes_in_edges), None)
                if longer_key and data.x.size(0) < nodes_in_edges:
                    hint = f"; data.x has {data.x.size(0)} rows, and data.{longer_key} has {nodes_in_edges}"
            raise ValueError(f"data.edge_index: {error}, from 0 to {num_nodes - 1}{hint}") from error

    if gpu is None:
        return _shared(edge_index, num_nodes, "cpu", by_destination)
    return _shared(edge_index, num_nodes, f"a copy on {gpu.device}",
                   lambda: cuda_batches.GraphOnGpu(gpu, _shared(edge_index, num_nodes, "cpu", by_destination)))


def _fanouts_of(num_neighbors: Any) -> list[int]:
    if isinstance(num_neighbors, dict):
        raise NotImplementedError("num_neighbors: a dictionary by edge type belongs to heterogeneous graphs, which Hone does not sample yet")
    try:
        fanouts = [operator.index(fanout) for fanout in num_neighbors]
    except TypeError as error:
        raise TypeError(f"num_neighbors: expected a list of integers, one for each hop, found {num_neighbors!r}") from error
    if not fanouts:
        raise ValueError("num_neighbors is empty: give one number for each hop")
    for hop, fanout in enumerate(fanouts):
        if fanout != -1 and not 1 <= fanout <= _MOST_NEIGHBORS:
            raise ValueError(f"num_neighbors: expected 1 to {_MOST_NEIGHBORS}, or -1 for all neighbors, found {fanout} for hop {hop + 1}")
    return fanouts


def _refuse(**unsupported: Any) -> None:
    for name, given in unsupported.items():
        if given:
            raise NotImplementedError(f"{name}={given!r} is not supported by Hone's sampler yet; leave it out, or use torch_geometric.loader")


def _integer(name: str, given: Any, least: int, most: int = 2**31 - 1) -> int:
    """Returns the argument as an int from `least` to `most`. TypeError and ValueError name it."""
    try:
        number = operator.index(given)
    except TypeError as error:
        raise TypeError(f"{name}: expected an integer, found {given!r}") from error
    if number < least:
        raise ValueError(f"{name}: expected at least {least}, found {number}")
    if number > most:
        raise ValueError(f"{name}: expected at most {most}, found {number}")
    return number


def _positions(name: str, given: Any, count: int) -> torch.Tensor:
    """Returns int64 positions of `input_nodes`. `given` is a tensor, or anything that gives whole numbers."""
    try:
        positions = [given] if hasattr(given, "__index__") and not isinstance(given, torch.Tensor) else given
        indices = positions if isinstance(positions, torch.Tensor) else torch.tensor([operator.index(position) for position in positions], dtype=torch.int64)
    except TypeError as error:
        raise TypeError(f"{name}: expected positions of input_nodes, found {given!r:.60}") from error
    if indices.dtype == torch.bool or indices.is_floating_point() or indices.is_complex():
        raise TypeError(f"{name}: expected positions of input_nodes, found {indices.dtype}")
    indices = indices.to(device="cpu", dtype=torch.int64).reshape(-1)
    if indices.numel() and not (-count <= int(indices.min()) and int(indices.max()) < count):
        wrong = int(indices.max()) if int(indices.max()) >= count else int(indices.min())
        raise IndexError(f"{name}: expected positions of the {count} input_nodes, found {wrong}")
    return torch.where(indices < 0, indices + count, indices)


@contextlib.contextmanager
def _of_argument(name: str) -> Iterator[None]:
    """Puts the argument's name before a ValueError of the library."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _subgraph_of(subgraph_type: Any, disjoint: bool) -> bool:
    """Returns whether batches are induced; checks `subgraph_type`."""
    kind = str(getattr(subgraph_type, "value", subgraph_type))
    if kind not in ("directional", "induced"):
        if kind != "bidirectional":
            raise ValueError(f"subgraph_type: expected 'directional' or 'induced', found {subgraph_type!r}")
        _refuse(subgraph_type=kind)
    if kind == "induced" and disjoint:
        raise ValueError("disjoint=True and subgraph_type='induced' do not go together: choose one of the two")
    return kind == "induced"


def _weights_of(data: Data, weight_attr: str | None) -> torch.Tensor | None:
    """Returns the weights as float64 [edges]. The loader reports a weight that is negative or not finite."""
    if weight_attr is None:
        return None
    if weight_attr not in data:
        raise AttributeError(f"weight_attr={weight_attr!r}: data has no such attribute; it has {', '.join(data.keys())}")
    edge_weights = data[weight_attr]
    if not isinstance(edge_weights, torch.Tensor):
        raise TypeError(f"weight_attr={weight_attr!r}: expected a tensor of one number an edge, found {type(edge_weights).__name__}")
    if edge_weights.dtype == torch.bool or edge_weights.is_complex():
        raise TypeError(f"weight_attr={weight_attr!r}: expected real numbers, found {edge_weights.dtype}")
    if edge_weights.is_meta:
        raise ValueError(f"weight_attr={weight_attr!r}: data.{weight_attr} is on meta, where tensors have no values")
    edges = data.edge_index.size(1)
    if edge_weights.dim() == 0 or edge_weights.numel() != edges or edge_weights.size(0) != edges:
        raise ValueError(f"weight_attr={weight_attr!r}: expected one weight for each of the {edges} edges, found shape {tuple(edge_weights.shape)}")
    return edge_weights.detach().to(device="cpu", dtype=torch.float64).reshape(-1).contiguous()


def _check_data(data: Any) -> None:
    if not isinstance(data, Data):
        message = f"data: Hone samples torch_geometric.data.Data, found {type(data).__name__}"
        raise NotImplementedError(message) if isinstance(data, BaseData) else TypeError(message)
    if not isinstance(data.edge_index, torch.Tensor):
        other = next((key for key in ("adj_t", "adj") if key in data), None)
        hint = f" beside data.{other}: give the Data as it was before it was made sparse" if other else ""
        raise TypeError(f"data.edge_index: expected a tensor of shape [2, edges], found {type(data.edge_index).__name__}{hint}")
    if isinstance(data.x, torch.Tensor) and (data.x.is_nested or data.x.dim() == 0):  # Data.num_nodes would fail
        raise ValueError(f"data.x: expected a tensor with a row for each node, found {'a nested one' if data.x.is_nested else 'one without dimensions'}")


def _seed_of(generator: torch.Generator | None) -> int:
    return int(torch.randint(0, 2**62, (1,), generator=generator).item())


class _Block:
    """A batch's memory as tensors, which are views of one tensor per dtype."""

    def __init__(self, batch: Batch):
        self.batch = batch
        self._on_gpu = isinstance(batch.block, torch.Tensor)
        self.device = batch.block.device if self._on_gpu else torch.device("cpu")
        self._whole: dict[torch.dtype, torch.Tensor] = {}

    def values(self, dtype: torch.dtype, place: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> torch.Tensor:
        """Returns a tensor of the values that begin at byte `place`, a multiple of 256."""
        if 0 in shape:
            return torch.empty(shape, dtype=dtype, device=self.device)
        typed_block = self._whole.get(dtype)
        if typed_block is None:
            block = self.batch.block
            if self._on_gpu:
                typed_block = block.view(dtype)
            else:
                typed_block = torch.frombuffer(block, dtype=dtype, count=self.batch.block_bytes // dtype.itemsize)
            self._whole[dtype] = typed_block
        return typed_block.as_strided(shape, strides, place // dtype.itemsize)

    def ids(self, place: int, count: int) -> torch.Tensor:
        return self.values(torch.int64, place, (count,), (1,))

    def trees(self) -> torch.Tensor:
        """Returns int64 [nodes]: the position of the seed from which each node was found."""
        batch = self.batch
        return torch.empty(0, dtype=torch.int64) if batch.trees_at is None else self.ids(batch.trees_at, batch.nodes)

    def edge_index(self) -> torch.Tensor:
        """Returns [2, edges] of local ids. The distance of the two rows is larger than their length."""
        batch = self.batch
        return self.values(torch.int64, batch.sources_at, (2, batch.edges), ((batch.destinations_at - batch.sources_at) // 8, 1))


class _Table:
    """A tensor whose rows the loader gathers. Each row is contiguous (_with_plain_rows)."""

    def __init__(self, key: str, tensor: torch.Tensor):
        self.key = key
        self.tensor = tensor
        rows = self.tensor.size(0)
        self.shape = tuple(tensor.shape[1:])
        self.strides = tuple(math.prod(tensor.shape[i + 1 :]) for i in range(tensor.dim()))
        self.row_bytes = tensor.element_size() * (tensor[0].numel() if rows else 0)
        stride = self.tensor.stride(0) * tensor.element_size() if rows > 1 else self.row_bytes
        self.native = Table(self.tensor.data_ptr(), rows, self.row_bytes, stride)

    def rows(self, block: _Block, place: int, count: int) -> torch.Tensor:
        return block.values(self.tensor.dtype, place, (count, *self.shape), self.strides)


def _gatherable(value: Any, gpu: cuda_batches.Gpu | None) -> bool:
    # A quantized tensor's rows are more than their bytes.
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided or value.requires_grad or value.is_quantized:
        return False
    return value.device.type == "cpu" or (gpu is not None and value.device == gpu.device)


def _with_plain_rows(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the tensor with rows whose bytes lie one after another and are their values; of a conjugate or negative view they are not."""
    resolved = tensor.resolve_conj().resolve_neg()
    return resolved if resolved[:1].is_contiguous() else resolved.contiguous()


def _check_attribute(key: str, value: Any, rows: int, of: str) -> None:
    """Raises an error that names a node- or edge-level attribute from which no batch can take rows. rows, of: how many it must have, and of what."""
    if not isinstance(value, torch.Tensor):
        return
    if value.is_meta:
        raise ValueError(f"data.{key} is on meta, where tensors have no values")
    if value.is_nested or value.layout not in (torch.strided, torch.sparse_coo):
        raise TypeError(f"data.{key}: expected a dense tensor, found {'a nested one' if value.is_nested else value.layout}; pass data.{key}.to_dense()")
    if value.dim() == 0 or value.size(0) != rows:
        raise ValueError(f"data.{key}: expected {rows} rows, one for each {of} of the graph that the loader was made with, found shape {tuple(value.shape)}; "
                         "for another graph make another loader")


class NeighborLoader(DataLoader):
    """A replacement for torch_geometric.loader.NeighborLoader on a homogeneous graph.

    Yields `Data` objects with the fields that PyTorch Geometric's loader gives: every node-level tensor of `data` for the batch's nodes (the seeds
    first), every edge-level tensor for its edges, `edge_index` in local ids, `n_id`, `e_id`, `input_id`, `batch_size`, `num_sampled_nodes` and
    `num_sampled_edges`; other attributes unchanged. Threads of the loader's own sample and gather ahead, without worker processes.

    data: torch_geometric.data.Data on the CPU, with int64 `edge_index`; with `device` on a GPU its tensors may be there. Attributes that are
        added, replaced or removed later take effect when an epoch begins; edges and weights stay those that the loader was made with.
    num_neighbors: neighbors per node for each hop, drawn uniformly without replacement; -1 takes all.
    input_nodes: whole numbers or boolean tensor of seeds, distinct unless `disjoint`; None takes every node. No ids are an empty epoch, as the
        share of a rank may be; a mask that is true at no node is a ValueError.
    replace: draws with replacement, so that an edge may occur several times.
    weight_attr: name of an edge-level attribute [edges] or [edges, 1], finite and at least 0. Neighbors are drawn in proportion to it;
        without replacement, each draw is made from the edges that are left. A node whose edges all fit takes them all.
    disjoint: each seed has a tree of its own, and the batch's `batch` says to which seed each node belongs.
    subgraph_type: "directional", the edges drawn, or "induced", every edge of `data` between the nodes found; then
        `num_sampled_nodes` and `num_sampled_edges` are left out.
    batch_size, shuffle, drop_last, transform: as for PyTorch Geometric.
    num_workers: threads; 0 takes all that the process may use. Options about worker processes
        (`persistent_workers`, `prefetch_factor`, `worker_init_fn`, `multiprocessing_context`, `timeout`, `filter_per_worker`)
        are accepted and have no effect.
    pin_memory: gives pinned tensors; without a GPU it warns and changes nothing, as PyTorch's DataLoader does.
    device: None or "cpu"; or "cuda", "cuda:1": batches are sampled and gathered on that GPU, a step ahead, on streams beside the one
        that is current when a batch is asked for, and lie in memory of PyTorch's allocator. The same seed gives the same
        batches as on the CPU. With `replace`, `disjoint`, `weight_attr` or "induced" it raises NotImplementedError.
    features: where node- and edge-level tensors lie for a `device`: "device", "host" (pinned memory), or "auto": on the
        device as far as its free memory goes, the small ones first.
    sampler: gives positions of `input_nodes` in the order of an epoch, in place of all of them in the order of `shuffle`: for example a
        torch.utils.data.DistributedSampler for a rank's share. It is iterated when an epoch begins. PyTorch Lightning sets one by itself.
    generator: gives the seed of all draws, once, when the loader is made. The same seed gives the same batches in the
        same epoch, whatever the number of threads.

    Temporal and bidirectional sampling, heterogeneous graphs and link prediction raise NotImplementedError. A forked child must make a loader of its
    own. A loader that is unpickled is made again from its arguments, and continues where the pickled one stood.

    The class derives from torch.utils.data.DataLoader for code that requires one, and uses only its attributes.
    """

    def __init__(
        self,
        data: Data,
        num_neighbors: Any,
        input_nodes: torch.Tensor | None = None,
        input_time: Any = None,
        replace: bool = False,
        subgraph_type: Any = "directional",
        disjoint: bool = False,
        temporal_strategy: str = "uniform",
        time_attr: str | None = None,
        weight_attr: str | None = None,
        transform: Callable[[Data], Data] | None = None,
        transform_sampler_output: Callable[..., Any] | None = None,
        is_sorted: bool = False,
        filter_per_worker: bool | None = None,
        neighbor_sampler: Any = None,
        directed: bool = True,
        *,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        num_workers: int = 0,
        generator: torch.Generator | None = None,
        pin_memory: bool = False,
        persistent_workers: bool = False,
        prefetch_factor: int | None = None,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        timeout: float = 0,
        device: Any = None,
        features: str = "auto",
        sampler: Any = None,
        batch_sampler: Any = None,
        dataset: Any = None,
    ):
        # PyTorch Lightning makes a DataLoader again with `dataset` as an argument; here it follows from input_nodes and is ignored.
        arguments = {key: value for key, value in locals().items() if key not in ("self", "dataset", "generator", "__class__")}
        _check_data(data)
        _refuse(input_time=input_time is not None, time_attr=time_attr, transform_sampler_output=transform_sampler_output,
                neighbor_sampler=neighbor_sampler, batch_sampler=batch_sampler)
        seeds_a_batch, threads = _integer("batch_size", batch_size, 1, most=2**62), _integer("num_workers", num_workers, 0, most=_MOST_THREADS)
        if generator is not None and not isinstance(generator, torch.Generator):
            raise TypeError(f"generator: expected a torch.Generator, found {type(generator).__name__}")
        if sampler is not None and not hasattr(sampler, "__iter__") and not hasattr(sampler, "__getitem__"):
            raise TypeError(f"sampler: expected positions of input_nodes, found {type(sampler).__name__}")
        if transform is not None and not callable(transform):
            raise TypeError(f"transform: expected a function of a batch, found {type(transform).__name__}")
        if features not in ("auto", "device", "host"):
            raise ValueError(f"features: expected 'auto', 'device' or 'host', found {features!r}")
        inputs = self._input_of(input_nodes, data.num_nodes, bool(disjoint))
        # The base class's own sampler is never used. One that shuffles cannot be made for no seeds.
        super().__init__(range(inputs.numel()), batch_size=seeds_a_batch, shuffle=bool(shuffle) and inputs.numel() > 0, sampler=sampler, drop_last=bool(drop_last), generator=generator)
        self._arguments = arguments
        # The arguments with which the loader can be made again.
        self.input_nodes, self.replace, self.subgraph_type, self.weight_attr, self.device, self.features = input_nodes, replace, subgraph_type, weight_attr, device, features
        self._user_sampler = sampler
        self.disjoint = bool(disjoint)
        self._induced = _subgraph_of(subgraph_type if directed else "induced", self.disjoint)
        del is_sorted, filter_per_worker, temporal_strategy, persistent_workers, prefetch_factor
        del worker_init_fn, multiprocessing_context, timeout
        self.data, self.transform = data, transform
        self.num_workers = threads
        self.shuffle, self.pin_memory = bool(shuffle), bool(pin_memory)
        if self.pin_memory and not torch.cuda.is_available():
            warnings.warn("pin_memory=True has no effect: PyTorch finds no GPU", stacklevel=2)
        self.num_neighbors = _fanouts_of(num_neighbors)
        self.seed = _seed_of(generator)
        self.epoch = 0  # number of the next epoch
        self._owner = os.getpid()
        self._iterator: _Epoch | None = None
        self._loads = 0
        self._first_step = 0
        self._input = inputs
        gpu_device = cuda_batches.device_of(device)
        if gpu_device is not None:
            for name, arguments in (("replace", replace), ("disjoint", disjoint), ("weight_attr", weight_attr), ("subgraph_type", self._induced and "induced")):
                if arguments:
                    raise NotImplementedError(f"{name}={arguments!r} with device={device!r}: a GPU draws by the default rules only; leave device out")
        self._gpu = None if gpu_device is None else cuda_batches.Gpu(gpu_device)
        self._graph = _graph_of(data, self._gpu)
        self._threads, self._features = threads, features
        self._rules: dict[str, Any] = {"replace": bool(replace), "disjoint": self.disjoint, "induced": self._induced}
        self._weights = None if self._gpu is not None else _weights_of(data, weight_attr)
        self._make_loader()

    def _attributes(self) -> list[tuple[str, Any, bool]]:
        """Returns node- and edge-level attributes: key, value, and whether the attribute is node-level."""
        attributes = []
        for key, value in self.data:
            of_nodes = key != "edge_index" and self.data.is_node_attr(key)
            if of_nodes or (key != "edge_index" and self.data.is_edge_attr(key)):
                attributes.append((key, value, of_nodes))
        return attributes

    def _make_loader(self) -> None:
        self._seen = copy.copy(self.data)  # the attributes that batches have
        attributes = self._attributes()
        self._made_of = [(key, value if isinstance(value, torch.Tensor) else None) for key, value, _ in attributes]
        levels = {key: of_nodes for key, _, of_nodes in attributes}
        # These names have a meaning. PyTorch Geometric would leave one with another number of rows as it is in every batch.
        levels.update(dict.fromkeys(("train_mask", "val_mask", "test_mask"), True), **dict.fromkeys(("edge_attr", "edge_weight"), False))
        for key, of_nodes in levels.items():
            if key in self.data:
                _check_attribute(key, self.data[key], *((self._graph.nodes, "node") if of_nodes else (self._graph.edges, "edge")))
        tensors = [(key, _with_plain_rows(value), of_nodes) for key, value, of_nodes in attributes if _gatherable(value, self._gpu)]
        self._sliced = [(key, of_nodes) for key, value, of_nodes in attributes if not _gatherable(value, self._gpu)]
        placed = [tensor for _, tensor, _ in tensors]
        if self._gpu is not None:
            placed = cuda_batches.place(self._gpu, placed, self._features)
        tables = [(_Table(key, tensor), of_nodes) for (key, _, of_nodes), tensor in zip(tensors, placed)]
        self._nodes = [table for table, of_nodes in tables if of_nodes]
        self._edges = [table for table, of_nodes in tables if not of_nodes]
        rows = {"node_tables": [table.native for table in self._nodes], "edge_tables": [table.native for table in self._edges],
                "keep": [table.tensor for table in self._nodes + self._edges]}
        if self._gpu is not None:
            largest_batch = max(1, min(self.batch_size, self._input.numel())) if self.batch_size > 0 else self.batch_size
            self._loader = cuda_batches.GpuLoader(self._gpu, self._graph, self.num_neighbors, largest_batch, **rows)
            return
        with _of_argument(f"weight_attr={self.weight_attr!r}") if self._weights is not None else contextlib.nullcontext():
            self._loader = Loader(self._graph, self.num_neighbors, self.batch_size, threads=self._threads,
                                  weights=None if self._weights is None else self._weights.data_ptr(), **self._rules, **rows)

    def _see_changes(self) -> None:
        """Takes over attributes of `data` that were added, replaced or removed since the last call."""
        self._seen = copy.copy(self.data)
        attributes = self._attributes()
        if len(attributes) != len(self._made_of) or any(key != known or (isinstance(value, torch.Tensor) and value is not tensor)
                                                        for (key, value, _), (known, tensor) in zip(attributes, self._made_of)):
            self._make_loader()

    def __reduce__(self) -> tuple:
        return _made_again, (self._arguments, self.state_dict())

    @staticmethod
    def _input_of(input_nodes: Any, num_nodes: int, repeats: bool) -> torch.Tensor:
        if input_nodes is None:
            return torch.arange(num_nodes)
        if isinstance(input_nodes, (str, tuple)):
            raise NotImplementedError("input_nodes by node type belong to heterogeneous graphs, which Hone does not sample yet")
        try:
            input_tensor = torch.as_tensor(input_nodes)
        except (RuntimeError, TypeError, ValueError) as error:
            raise TypeError(f"input_nodes: expected a vector of node ids or a mask, found {type(input_nodes).__name__}") from error
        if input_tensor.is_meta:
            raise ValueError("input_nodes is on meta, where tensors have no values")
        if input_tensor.dim() != 1:
            raise ValueError(f"input_nodes: expected a vector of node ids or a mask, found shape {tuple(input_tensor.shape)}")
        if input_tensor.dtype == torch.uint8 and input_tensor.numel() == num_nodes:
            raise TypeError(f"input_nodes: a mask has dtype torch.bool, found torch.uint8 for each of the {num_nodes} nodes: pass input_nodes.bool()")
        if input_tensor.dtype == torch.bool:
            if input_tensor.numel() != num_nodes:
                raise ValueError(f"input_nodes: a mask of {input_tensor.numel()} entries, and the graph has {num_nodes} nodes")
            input_tensor = input_tensor.nonzero().view(-1)
            if input_tensor.numel() == 0:
                raise ValueError("input_nodes: the mask is true at no node; expected at least one")
        if (input_tensor.is_floating_point() or input_tensor.is_complex()) and input_tensor.numel():  # an empty list is a tensor of floats
            raise TypeError(f"input_nodes: expected a vector of node ids or a mask, found {input_tensor.dtype} of shape {tuple(input_tensor.shape)}")
        input_tensor = input_tensor.to(device="cpu", dtype=torch.int64).contiguous()
        if input_tensor.numel() and not (0 <= int(input_tensor.min()) and int(input_tensor.max()) < num_nodes):
            wrong = int(input_tensor.max()) if int(input_tensor.max()) >= num_nodes else int(input_tensor.min())
            raise ValueError(f"input_nodes: expected node ids from 0 to {num_nodes - 1}, found {wrong}")
        if not repeats:
            nodes, times = input_tensor.unique(return_counts=True)
            if nodes.numel() != input_tensor.numel():
                raise ValueError(f"input_nodes: a node occurs twice (node {nodes[times.argmax()]}, {times.max()} times); seeds must be distinct, unless "
                                 "disjoint=True: input_nodes.unique() leaves one of each")
        return input_tensor

    def __len__(self) -> int:
        full, rest = divmod(self._input.numel() if self._user_sampler is None else len(self._user_sampler), self.batch_size)
        return full + (rest > 0 and not self.drop_last)

    def __repr__(self) -> str:
        return f"hone.gnn.pyg.NeighborLoader({self.data}, num_neighbors={self.num_neighbors}, batch_size={self.batch_size})"

    def __iter__(self) -> Iterator[Data]:
        """Begins the next epoch. An iterator of an earlier epoch ends."""
        self._check_process()
        self._see_changes()
        self._iterator = _Epoch(self, self.epoch, self._first_step)
        self._first_step = 0
        self.epoch += 1
        return self._iterator

    def __call__(self, index: Any) -> Data:
        """Makes one batch of the seeds at these positions of `input_nodes`. Each call draws anew."""
        self._check_process()
        if self._iterator is None or self._iterator.over:
            self._see_changes()
        positions = _positions("index", index, self._input.numel())
        seeds = self._input[positions].contiguous()
        self._loads += 1
        with _of_argument("index"):
            batch = self._loader.load(seeds.data_ptr(), seeds.numel(), seed=self.seed ^ 0x5EED, epoch=self._loads >> 32, step=self._loads & 0xFFFFFFFF)
        return self._data(_Block(batch), positions)

    def state_dict(self) -> dict[str, int]:
        """Returns the loader's position for load_state_dict, in the middle of an epoch too."""
        epoch, step = self.epoch, self._first_step
        if self._iterator is not None and not self._iterator.over:
            epoch, step = self._iterator.epoch, self._iterator.step
        return {"seed": self.seed, "epoch": epoch, "step": step, "batch_size": self.batch_size, "seeds": self._input.numel()}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Makes the next epoch continue from `state`: the same epoch, from the same step on.

        ValueError: this is no state, or the state of a loader with another batch_size or number of seeds.
        """
        for key in ("seed", "epoch", "step"):
            if not isinstance(state, dict) or not isinstance(state.get(key), int):
                raise ValueError(f"state: expected what state_dict() gave, with an integer {key!r}, found {state!r}")
        for key, ours in (("batch_size", self.batch_size), ("seeds", self._input.numel())):
            if state.get(key, ours) != ours:
                raise ValueError(f"state: it was kept with {key} {state[key]}, and this loader has {ours}")
        if not 0 <= state["step"] <= len(self):
            raise ValueError(f"state: expected a step from 0 to {len(self)}, the batches of an epoch, found {state['step']}")
        self.seed, self.epoch, self._first_step = state["seed"], state["epoch"], state["step"]
        self._iterator = None

    def _check_process(self) -> None:
        if os.getpid() != self._owner:
            raise RuntimeError("this loader was made before a fork, and its threads are not in this process: make a loader here. "
                               "It needs no DataLoader workers around it, for it has threads of its own.")

    def _data(self, block: _Block, input_id: torch.Tensor) -> Data:
        batch, out = block.batch, copy.copy(self._seen)
        n_id = block.ids(batch.nodes_at, batch.nodes)
        e_id = block.ids(batch.edge_ids_at, batch.edges)
        found: dict[str, Any] = {}
        for table, place in zip(self._nodes, batch.node_rows_at):
            found[table.key] = table.rows(block, place, batch.nodes)
        for table, place in zip(self._edges, batch.edge_rows_at):
            found[table.key] = table.rows(block, place, batch.edges)
        for key, of_nodes in self._sliced:
            found[key] = _pick(self._seen[key], n_id if of_nodes else e_id)
            if self._gpu is not None and isinstance(found[key], torch.Tensor):
                found[key] = found[key].to(self._gpu.device)
        found["edge_index"] = block.edge_index()
        if "num_nodes" in self._seen._store:
            found["num_nodes"] = batch.nodes
        found.update(n_id=n_id, e_id=e_id, input_id=input_id, batch_size=batch.seeds)
        if not self._induced:
            found.update(num_sampled_nodes=batch.hop_nodes, num_sampled_edges=batch.hop_edges)
        if self.disjoint:
            found["batch"] = block.trees()
        _set_all(out, found)
        if self.pin_memory and self._gpu is None and torch.cuda.is_available():
            out = out.pin_memory()
        return out if self.transform is None else self.transform(out)


def _set_all(data: Data, values: dict[str, Any]) -> None:
    """Sets several attributes; for a plain Data in a tenth of the time that setting one after another takes."""
    mapping = getattr(data._store, "_mapping", None)
    if type(data) is Data and type(mapping) is dict:
        data._store.__dict__.pop("_cached_attr", None)
        mapping.update(values)
        return
    for key, value in values.items():
        setattr(data, key, value)


def _made_again(arguments: dict[str, Any], state: dict[str, int]) -> NeighborLoader:
    loader = NeighborLoader(**arguments)
    loader.load_state_dict(state)
    return loader


def _pick(value: Any, ids: torch.Tensor) -> Any:
    if isinstance(value, torch.Tensor):
        return value.index_select(0, ids.to(value.device))
    if isinstance(value, (list, tuple)):
        return [value[i] for i in ids.tolist()]
    try:
        return value[ids.cpu().numpy()]
    except Exception as error:
        raise TypeError(f"an attribute of type {type(value).__name__} cannot be indexed by a batch's ids") from error


class _Epoch:
    def __init__(self, owner: NeighborLoader, epoch: int, first_step: int):
        self.owner, self.epoch, self.step, self.over = owner, epoch, first_step, False
        seeds, self.positions = owner._input, None
        if owner._user_sampler is not None:
            self.positions = _positions("sampler", owner._user_sampler, seeds.numel())
            seeds = seeds[self.positions].contiguous()
            if owner._gpu is not None:
                self.positions = self.positions.to(owner._gpu.device)
        with _of_argument("input_nodes"):
            owner._loader.start(seeds.data_ptr(), seeds.numel(), seed=owner.seed, epoch=epoch, shuffle=owner.shuffle,
                                drop_last=owner.drop_last, first_step=first_step, keep=seeds)

    def __iter__(self) -> "_Epoch":
        return self

    def __next__(self) -> Data:
        if self.owner._iterator is not self or self.over:
            raise StopIteration
        self.owner._check_process()
        batch = self.owner._loader.next()
        if batch is None:
            self.over = True
            raise StopIteration
        self.step = batch.step + 1
        block = _Block(batch)
        places = block.ids(batch.input_at, batch.seeds)
        return self.owner._data(block, places if self.positions is None else self.positions[places])


class HoneSampler(BaseSampler):
    """A sampler for torch_geometric.loader.NodeLoader, which gathers tensors itself. NeighborLoader does both, and is faster.

    data, num_neighbors, replace, subgraph_type, disjoint, weight_attr: as for NeighborLoader. Every call draws anew, keyed by `seed` and a counter. A
    NodeLoader needs num_workers=0, because a forked child would repeat its parent's draws.
    """

    def __init__(self, data: Data, num_neighbors: Any, seed: int = 0, *, replace: bool = False, subgraph_type: Any = "directional",
                 disjoint: bool = False, weight_attr: str | None = None):
        super().__init__()
        _check_data(data)
        self._graph = _graph_of(data)
        self._disjoint, self._induced = bool(disjoint), _subgraph_of(subgraph_type, disjoint)
        weights = _weights_of(data, weight_attr)
        with _of_argument(f"weight_attr={weight_attr!r}") if weights is not None else contextlib.nullcontext():
            self._loader = Loader(self._graph, _fanouts_of(num_neighbors), 1, threads=1, replace=bool(replace), disjoint=self._disjoint,
                                  induced=self._induced, weights=None if weights is None else weights.data_ptr())
        self._seed, self._calls, self._owner = _integer("seed", seed, 0, most=2**64 - 1), 0, os.getpid()

    def sample_from_nodes(self, index: NodeSamplerInput, **kwargs: Any) -> SamplerOutput:
        if os.getpid() != self._owner:
            raise RuntimeError("this sampler was made before a fork: give the loader num_workers=0")
        _refuse(input_time=index.time is not None)
        seeds = index.node.to(torch.int64).contiguous()
        self._calls += 1
        with _of_argument("input_nodes"):
            batch = self._loader.load(seeds.data_ptr(), seeds.numel(), seed=self._seed, epoch=self._calls >> 32, step=self._calls & 0xFFFFFFFF)
        block = _Block(batch)
        return SamplerOutput(
            node=block.ids(batch.nodes_at, batch.nodes),
            row=block.ids(batch.sources_at, batch.edges),
            col=block.ids(batch.destinations_at, batch.edges),
            edge=block.ids(batch.edge_ids_at, batch.edges),
            batch=block.trees() if self._disjoint else None,
            num_sampled_nodes=None if self._induced else batch.hop_nodes,
            num_sampled_edges=batch.hop_edges,
            metadata=(index.input_id, index.time),
        )

    def sample_from_edges(self, index: Any, neg_sampling: Any = None) -> Any:
        raise NotImplementedError("Hone does not sample from edges yet; use torch_geometric.loader.LinkNeighborLoader")

    @property
    def edge_permutation(self) -> None:
        return None
