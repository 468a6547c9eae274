# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A Triton kernel that copies a batch's edges to their places in a padded batch: one launch in place of several for each hop."""
from __future__ import annotations

from typing import Sequence

import torch
import triton
import triton.language as tl

_BLOCK = 1024
_EDGES = 4  # numbers that the kernel gets for the edges of each hop; see place_edges
_NODES = 2  # numbers that the kernel gets for the nodes of each hop


@triton.jit(do_not_specialize=["total"])
def _place_edges(edge_index, distance, out, out_distance, numbers, total, HOPS: tl.constexpr, EDGES: tl.constexpr, NODES: tl.constexpr, BLOCK: tl.constexpr):
    slot = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    # For each slot, these describe its hop: where the hop begins here and in the batch, how many edges the batch has, and the padded rows.
    at = tl.zeros([BLOCK], tl.int32)
    begin = tl.zeros([BLOCK], tl.int32)
    count = tl.zeros([BLOCK], tl.int32)
    end = tl.zeros([BLOCK], tl.int32) + total
    first = tl.zeros([BLOCK], tl.int32)
    spare = tl.zeros([BLOCK], tl.int32)
    for hop in tl.static_range(HOPS):
        here = tl.load(numbers + hop * EDGES)
        inside = slot >= here
        at = tl.where(inside, here, at)
        end = tl.where(slot < here, tl.minimum(end, here), end)
        begin = tl.where(inside, tl.load(numbers + hop * EDGES + 1), begin)
        count = tl.where(inside, tl.load(numbers + hop * EDGES + 2), count)
        node = HOPS * EDGES + hop * NODES
        taken = tl.load(numbers + hop * EDGES + 3)
        first = tl.where(inside, tl.load(numbers + node + 1) + taken, first)
        # A hop's spare rows end where the next hop's nodes begin.
        spare = tl.where(inside, tl.load(numbers + node + NODES + 1) - tl.load(numbers + node + 1) - taken, spare)
    within = slot - at
    real = (within < count) & (slot < total)
    padding = tl.maximum(end - at - count, 1)
    # The product needs 64 bits, because a hop may have as many edges as 32 bits can count.
    padded = first + ((within - count).to(tl.int64) * spare // padding).to(tl.int32)
    for side in tl.static_range(2):
        node = tl.load(edge_index + side * distance + begin + within, mask=real, other=0).to(tl.int32)
        row = node
        for hop in tl.static_range(HOPS + 1):
            starts = tl.load(numbers + HOPS * EDGES + hop * NODES)
            row = tl.where(node >= starts, node - starts + tl.load(numbers + HOPS * EDGES + hop * NODES + 1), row)
        row = tl.where(real, row, padded)
        tl.store(out + side * out_distance + slot, row.to(tl.int64), mask=slot < total)


# True: Triton interprets its kernels, so this one also runs on the CPU. Tests use that.
INTERPRETED = not isinstance(_place_edges, triton.JITFunction)


def place_edges(edge_index: torch.Tensor, out: torch.Tensor, edges_at: Sequence[int], nodes_at: Sequence[int], nodes: Sequence[int], edges: Sequence[int]) -> None:
    """Writes the edges of a batch to `out`, on the current stream; does not wait.

    edge_index: int64 [2, edges] of a batch, hop by hop, rows contiguous. out: int64 [2, envelope's edges], rows contiguous.
    edges_at, nodes_at: where the hops begin in the envelope, [hops + 1] and [hops + 2]. nodes, edges: the batch's numbers, [hops + 1] and [hops].
    Slots without an edge of the batch become self-loops of the hop's padded rows, ascending and spread evenly.
    """
    numbers, begin = [], 0
    for hop, count in enumerate(edges):
        numbers += [edges_at[hop], begin, count, nodes[hop]]
        begin += count
    begin = 0
    for at, count in zip(nodes_at, nodes):
        numbers += [begin, at]
        begin += count
    offsets = torch.tensor(numbers, dtype=torch.int32)
    if edge_index.is_cuda:
        # The allocator of pinned memory does not hand this memory out again before the copy is made.
        offsets = offsets.pin_memory().to(edge_index.device, non_blocking=True)
    total = edges_at[-1]
    if total:
        _place_edges[(triton.cdiv(total, _BLOCK),)](edge_index, edge_index.stride(0), out, out.stride(0), offsets, total, len(edges), _EDGES, _NODES, _BLOCK)
