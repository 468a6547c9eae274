# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Sorts edges by target, the order in which kernels reduce over them. Needs torch."""
from __future__ import annotations

import contextlib
from typing import Any, Iterator, Sequence

import torch

_checks_ranges = True


@contextlib.contextmanager
def unchecked_ranges() -> Iterator[None]:
    """Leaves out the range check of indices, which gives numbers to the host, while a step is tried for its capture."""
    global _checks_ranges
    before, _checks_ranges = _checks_ranges, False
    try:
        yield
    finally:
        _checks_ranges = before


class _BySource:
    """A list of edges sorted by source, made when it is first needed, for all layers that use the first edges of the list."""

    def __init__(self, columns: torch.Tensor, rows: torch.Tensor):
        self._columns, self._rows = columns, rows
        self._edges = self._sources = 0  # the largest numbers that a layer needs
        self._made: tuple[int, int] | None = None
        self._lists: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None

    def need(self, edges: int, sources: int) -> None:
        self._edges, self._sources = max(edges, self._edges), max(sources, self._sources)

    def lists(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        if self._made != (self._edges, self._sources):
            keys, order = torch.sort(self._columns[: self._edges].to(torch.int32), stable=True)
            of_sources = self._rows[: self._edges].index_select(0, order).to(torch.int32)
            self._lists = of_sources, _offsets(keys, self._sources), order
            self._made = self._edges, self._sources
        return self._lists


class Edges:
    """Edges sorted by target, over which a layer aggregates.

    columns: integer [edges], the row of `x` from which each edge comes.
    rows: integer [edges], the row of the result to which each edge goes; ascending.
    offsets: int32 [targets + 1], the first edge of each target; the edges of target i are offsets[i] to offsets[i + 1], the end excluded.
    sources, targets: numbers of rows of `x` and of the result. Target i and source i are the same node, if both exist.
    order: int64 [edges], the position of each edge in the list that was sorted; None if the list was already in this order.

    Indices on a GPU are not checked, because the host would have to wait for that: an index out of range is a bug of the caller there. On the CPU it is
    an IndexError.
    """

    def __init__(self, columns: torch.Tensor, rows: torch.Tensor, offsets: torch.Tensor, sources: int, targets: int, order: torch.Tensor | None = None,
                 _by_source: _BySource | None = None):
        self.columns, self.rows, self.offsets = columns, rows, offsets
        self.sources, self.targets, self.order = sources, targets, order
        self._by_source = _BySource(columns, rows) if _by_source is None else _by_source

    @classmethod
    def of(cls, edge_index: torch.Tensor, sources: int, targets: int) -> "Edges":
        """Sorts `edge_index`, integer [2, edges] of sources and targets in any order. Does not wait for the device."""
        _check(edge_index)
        if _checks_ranges and edge_index.device.type == "cpu":
            _check_range(edge_index, sources, targets)
        rows, order = torch.sort(edge_index[1].to(torch.int32), stable=True)
        return cls(edge_index[0].index_select(0, order), rows, _offsets(rows, targets), sources, targets, order)

    def of_edges(self, values: torch.Tensor) -> torch.Tensor:
        """Returns values [edges, ...] of the list that was sorted, in the order of these edges."""
        return values if self.order is None else values.index_select(0, self.order)

    def need_by_source(self) -> None:
        """Announces that `by_source` will be called, so that the edges of several layers are sorted together, once."""
        self._by_source.need(self.columns.numel(), self.sources)

    def by_source(self) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns the edges sorted by source, and by target for each source: their targets (int32), the first edge of each source (int32 [sources +
        1]), and each edge's position in this list (int64). Edges to targets from `targets` on, and further sources, may follow."""
        self.need_by_source()
        return self._by_source.lists()

    def __repr__(self) -> str:
        return f"Edges({self.columns.numel()} edges of {self.sources} sources and {self.targets} targets, {self.columns.device})"


def layer_edges(batch: Any, layers: int | None = None) -> list[Edges]:
    """Returns the edges of each layer of a model, for a batch of hone.gnn.pyg.NeighborLoader, whose edges are already sorted.

    With as many layers as hops, layer i computes what later layers still need: the nodes of all hops except the last i + 1. Its result therefore has
    fewer rows than its input. The last layer's result has a row for each seed, followed in a GraphStep by padded rows, which `[: batch.batch_size]`
    cuts off. A layer takes as many rows of `x` as it needs.

    layers: number of layers, if they are fewer than hops; the outermost hops are then left out.

    ValueError: the batch does not say how many nodes and edges each hop has (subgraph_type="induced"), or has fewer hops than `layers`.
    """
    nodes, edges = getattr(batch, "num_sampled_nodes", None), getattr(batch, "num_sampled_edges", None)
    if nodes is None or edges is None:
        raise ValueError("batch: it has no num_sampled_nodes and num_sampled_edges, which say where hops end; give the layers batch.edge_index")
    hops = len(edges) if layers is None else layers
    if not 1 <= hops <= len(edges):
        raise ValueError(f"layers: expected 1 to {len(edges)}, the batch's hops, found {layers}")
    _check(batch.edge_index)
    columns, rows = batch.edge_index[0, : sum(edges[:hops])], batch.edge_index[1, : sum(edges[:hops])]
    offsets, by_source = _offsets(rows, sum(nodes[:hops])), _BySource(columns, rows)

    def one(depth: int) -> Edges:
        count, targets = sum(edges[:depth]), sum(nodes[:depth])
        return Edges(columns[:count], rows[:count], offsets[: targets + 1], sum(nodes[: depth + 1]), targets, _by_source=by_source)

    return [one(depth) for depth in range(hops, 0, -1)]


def _offsets(rows: torch.Tensor, targets: int) -> torch.Tensor:
    every = torch.arange(targets + 1, dtype=rows.dtype, device=rows.device)
    return torch.searchsorted(rows, every, out_int32=True)


def _check(edge_index: Any) -> None:
    if not isinstance(edge_index, torch.Tensor):
        raise TypeError(f"edge_index: expected a tensor [2, edges] or hone.gnn.torch.Edges, found {type(edge_index).__name__}")
    if edge_index.layout != torch.strided or edge_index.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"edge_index: expected a dense tensor of int64 or int32, found {edge_index.layout} of {edge_index.dtype}")
    if edge_index.dim() != 2 or edge_index.size(0) != 2:
        raise ValueError(f"edge_index: expected shape [2, edges], found {tuple(edge_index.shape)}")


def _check_range(edge_index: torch.Tensor, sources: int, targets: int) -> None:
    if edge_index.size(1) == 0:
        return
    for row, (name, count) in zip(edge_index, (("sources", sources), ("targets", targets))):
        least, most = (int(one) for one in torch.aminmax(row))
        if least < 0 or most >= count:
            raise IndexError(f"edge_index: expected {name} from 0 to {count - 1}, found {least if least < 0 else most}")


def autocast_dtype(device: str) -> torch.dtype | None:
    """Returns the dtype of torch.autocast on this type of device; None where it is off."""
    if hasattr(torch, "get_autocast_dtype"):  # since PyTorch 2.4
        return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
    if device == "cpu":
        return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else None
    return torch.get_autocast_gpu_dtype() if torch.is_autocast_enabled() else None


def inputs(x: Any, edge_index: Any, size: Sequence[int] | None = None, widths: Sequence[int] | None = None,
           dtype: torch.dtype | None = None) -> tuple[torch.Tensor, torch.Tensor | None, Edges]:
    """Returns the rows of the sources, the rows of the targets (None: there are none) and the edges, from the arguments of a layer.

    x: float [sources, width], or a pair of this and of the targets' rows or None.
    widths: the widths of sources and targets for which the layer was made; None: any. dtype: that of the layer's parameters, which `x` must have
        without autocast; None: any.
    """
    pair = x if isinstance(x, (tuple, list)) else (x, x)
    if len(pair) != 2 or not isinstance(pair[0], torch.Tensor) or not (pair[1] is None or isinstance(pair[1], torch.Tensor)):
        raise TypeError(f"x: expected a tensor, or a pair of tensors for sources and targets, found {type(x).__name__}")
    there, here = pair
    for one, width in zip(pair, widths or (None, None)):
        if one is not None and one.layout != torch.strided:
            raise TypeError(f"x: expected a dense tensor, found {one.layout}; pass x.to_dense()")
        if one is not None and one.dim() != 2:
            raise ValueError(f"x: expected shape [nodes, channels], found {tuple(one.shape)}")
        if one is not None and not one.is_floating_point():
            raise TypeError(f"x: expected floats, found {one.dtype}; pass x.float()")
        if one is not None and width is not None and one.size(1) != width:
            raise ValueError(f"x: expected {width} columns, the layer's in_channels, found {one.size(1)}")
        if one is not None and dtype is not None and one.dtype != dtype and autocast_dtype(one.device.type) is None:
            raise TypeError(f"x: expected {dtype}, as the layer's parameters are, found {one.dtype}: convert one of them, or use torch.autocast")
    if isinstance(edge_index, Edges):
        edges = edge_index
        if there.size(0) < edges.sources or (here is not None and here.size(0) < edges.targets):
            found_sizes = there.size(0) if here is None else (there.size(0), here.size(0))
            raise ValueError(f"x: expected at least {edges.sources} rows for sources and {edges.targets} for targets, found {found_sizes}")
    else:
        if size is None and here is None:
            raise ValueError("size: expected (sources, targets) where x has no rows for targets, found None")
        sources, targets = (there.size(0), here.size(0)) if size is None else size
        edges = Edges.of(edge_index, sources, targets)
    if edges.columns.device != there.device:
        raise ValueError(f"edge_index is on {edges.columns.device}, and x is on {there.device}: move one of them")
    return head(there, edges.sources), None if here is None else head(here, edges.targets), edges


def head(x: torch.Tensor, rows: int) -> torch.Tensor:
    """Returns the first rows of x, and x itself if these are all: backward copies the gradient of a slice into a tensor of zeros."""
    return x if x.size(0) == rows else x[:rows]
