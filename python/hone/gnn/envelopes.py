# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Pads batches to a fixed size: tensors into which batches of any smaller size are copied, padded hop by hop. Needs torch.

A CUDA graph works on the same addresses and shapes in every step. An envelope states how many nodes and edges each hop may have. The nodes of hop h
begin at a fixed row, whatever the batch, so that `trim_to_layer` takes the envelope's numbers for every batch.

Padded edges of a hop are self-loops of padded rows among the nodes to which the hop's edges lead. These rows are therefore present in every layer
that has the edges, no padded edge touches a row of the batch, and edges are sorted by target as in a loader's batch.
"""
from __future__ import annotations

import copy
from itertools import accumulate
from typing import Any, Iterable, Sequence

import torch

try:
    from hone.gnn import fill_kernels
except ImportError:  # no Triton: PyTorch's CPU builds come without it
    fill_kernels = None

# least number of padded rows behind the nodes of each hop. Padded edges are spread over them, because additions to a single row would be made one
# after another
PADDED_ROWS = 32
_MULTIPLE = 128
_LARGE = 1 << 22  # bytes from which a tensor is copied by itself


def _up(count: float) -> int:
    return -(-int(count) // _MULTIPLE) * _MULTIPLE


class Envelope:
    """The largest numbers of nodes and edges that each hop of a batch may have.

    nodes: [hops + 1], the seeds first. In every hop except the last, PADDED_ROWS of them are never nodes of a batch.
    edges: [hops].
    """

    def __init__(self, nodes: Sequence[int], edges: Sequence[int]):
        self.nodes, self.edges = list(nodes), list(edges)

    @classmethod
    def of(cls, batch_size: int, sizes: Iterable[tuple[Sequence[int], Sequence[int]]], factor: float) -> "Envelope":
        """Returns an envelope of `factor` times the largest of these batches, hop by hop. sizes: numbers of nodes and of edges of each batch."""
        nodes, edges = zip(*sizes)
        most_nodes = [max(hop) for hop in zip(*nodes)]
        most_edges = [max(hop) for hop in zip(*edges)]
        return cls([batch_size + PADDED_ROWS] + [_up(factor * count) + _MULTIPLE for count in most_nodes[1:]],
                   [_up(factor * count) + _MULTIPLE for count in most_edges])

    def holds(self, batch: Any) -> bool:
        """Returns whether the batch fits: no hop has more nodes or edges than the envelope."""
        sampled_nodes = batch.num_sampled_nodes
        return (batch.batch_size <= self.nodes[0] - PADDED_ROWS and all(a + PADDED_ROWS <= b for a, b in zip(sampled_nodes[:-1], self.nodes))
                and sampled_nodes[-1] <= self.nodes[-1] and all(a <= b for a, b in zip(batch.num_sampled_edges, self.edges)))

    def __repr__(self) -> str:
        return f"Envelope(nodes={self.nodes}, edges={self.edges})"


class PaddedBatch:
    """A batch of the envelope's size, into which `fill` copies smaller batches.

    data: torch_geometric.data.Data like a loader's batches, on `device`: `num_sampled_nodes` and `num_sampled_edges` are the
        envelope's, `batch_size` is the loader's. It is always the same object with the same tensors.
    seed_mask: bool [batch_size], true for a seed of the batch.
    node_mask: bool [nodes], true for a row that is a node of the batch. With `masked` it is part of `data`; otherwise only `mark_nodes` writes it.
    """

    def __init__(self, envelope: Envelope, like: Any, node_keys: Sequence[str], edge_keys: Sequence[str], masked: bool = False):
        self.envelope = envelope
        self._masked = masked
        self.device = like.edge_index.device
        self._node_at = [0, *accumulate(envelope.nodes)]
        self._edge_at = [0, *accumulate(envelope.edges)]
        nodes, edges = self._node_at[-1], self._edge_at[-1]
        self._node_keys, self._edge_keys = ["n_id", *node_keys], ["e_id", *edge_keys]
        self.batch_size = envelope.nodes[0] - PADDED_ROWS
        self.data = copy.copy(like)
        for keys, rows in ((self._node_keys, nodes), (self._edge_keys, edges)):
            for key in keys:
                self.data[key] = torch.zeros(rows, *like[key].shape[1:], dtype=like[key].dtype, device=self.device)
        self._counter = torch.arange(max(self.batch_size, *envelope.edges), device=self.device)
        self.data.edge_index = torch.zeros(2, edges, dtype=torch.int64, device=self.device)
        self.data.input_id = torch.zeros(self.batch_size, dtype=torch.int64, device=self.device)
        self.data.batch_size, self.data.num_sampled_nodes, self.data.num_sampled_edges = self.batch_size, envelope.nodes, envelope.edges
        if "num_nodes" in like._store:
            self.data.num_nodes = nodes
        self.seed_mask = torch.zeros(self.batch_size, dtype=torch.bool, device=self.device)
        self.node_mask = torch.zeros(nodes, dtype=torch.bool, device=self.device)
        if masked:
            self.data.node_mask = self.node_mask
        self._rows = torch.arange(nodes, device=self.device)
        self._place = torch.zeros(nodes, dtype=torch.int64, device=self.device)  # row of each local id

    def fill(self, batch: Any) -> None:
        """Copies the batch, which the envelope must hold, on the current stream. Padded rows keep their previous values."""
        seeds = batch.batch_size
        copies = [(self.data.input_id[:seeds], batch.input_id)]
        for keys, starts, counts in ((self._node_keys, self._node_at, batch.num_sampled_nodes), (self._edge_keys, self._edge_at, batch.num_sampled_edges)):
            begin = 0
            for at, count in zip(starts, counts):
                copies += [(self.data[key][at : at + count], batch[key][begin : begin + count]) for key in keys if count]
                begin += count
        by_dtype: dict[torch.dtype, list[tuple[torch.Tensor, torch.Tensor]]] = {}
        for pending_copy in copies:
            by_dtype.setdefault(pending_copy[0].dtype, []).append(pending_copy)
        for some in by_dtype.values():
            # Small tensors are copied in one launch; a large tensor is copied faster by itself.
            small = [pending_copy for pending_copy in some if pending_copy[0].nbytes < _LARGE]
            if small:
                torch._foreach_copy_([to for to, _ in small], [values for _, values in small])
            for to, values in some:
                if to.nbytes >= _LARGE:
                    to.copy_(values)
        torch.lt(self._counter[: self.batch_size], seeds, out=self.seed_mask)
        self._place_edges(batch)
        if self._masked:
            self.mark_nodes(batch)

    def _place_edges(self, batch: Any) -> None:
        edge_index, nodes = batch.edge_index, batch.num_sampled_nodes
        if fill_kernels is not None and (edge_index.is_cuda or fill_kernels.INTERPRETED) and edge_index.stride(1) == 1:
            fill_kernels.place_edges(edge_index, self.data.edge_index, self._edge_at, self._node_at, nodes, batch.num_sampled_edges)
            return
        begin = 0
        for at, count in zip(self._node_at, nodes):
            self._place[begin : begin + count].copy_(self._rows[at : at + count])
            begin += count
        out, begin = self.data.edge_index, 0
        for hop, (at, most, count) in enumerate(zip(self._edge_at, self.envelope.edges, batch.num_sampled_edges)):
            for end in (0, 1):
                torch.index_select(self._place, 0, edge_index[end, begin : begin + count], out=out[end, at : at + count])
            begin += count
            if count < most:
                padding = out[:, at + count : at + most]
                torch.mul(self._counter[: most - count], self.envelope.nodes[hop] - nodes[hop], out=padding[0])
                padding[0].div_(most - count, rounding_mode="floor").add_(self._node_at[hop] + nodes[hop])
                padding[1].copy_(padding[0])

    def mark_nodes(self, batch: Any) -> None:
        self.node_mask.fill_(False)
        for at, count in zip(self._node_at, batch.num_sampled_nodes):
            self.node_mask[at : at + count].fill_(True)

    def spoil(self, batch: Any, sign: int) -> None:
        """Overwrites the padded rows of the filled tensors, to show whether they change a result. `batch` is the batch that was filled in. Floating
        values become numbers of the given sign that are far from the batch's own; ids, classes and flags become those of other rows of the batch."""
        for keys, starts, counts, most in ((self._node_keys, self._node_at, batch.num_sampled_nodes, self.envelope.nodes),
                                           (self._edge_keys, self._edge_at, batch.num_sampled_edges, self.envelope.edges)):
            for key in keys:
                values, own = self.data[key], batch[key]
                for at, count, room in zip(starts, counts, most):
                    padded = values[at + count : at + room]
                    if padded.is_floating_point():
                        size = own.abs().mean().clamp(min=1e-3) if own.numel() else 1.0
                        padded.copy_(sign * (5 + 5 * torch.rand(padded.shape, device=self.device)) * size)
                    elif own.size(0):
                        others = torch.arange(padded.size(0), device=self.device) * (2 if sign > 0 else 3) % own.size(0)
                        padded.copy_(own[others])
