# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that reduce over the edges of each target, in Triton. Sums are float32; no kernel writes a row an edge.

A program has ROWS targets and goes through their edges side by side, the i-th edges of all of them at once: so it has ROWS rows of `x` in
flight, and needs no more registers for a target of many edges. Lists of a sampled batch have few edges a target and about as many each.
"""
from __future__ import annotations

import torch
import triton
import triton.language as tl

_TILE = 2048  # values that a program holds


@triton.jit(do_not_specialize=["targets"])
def _sum_edges(x, columns, offsets, weights, out, targets, WIDTH: tl.constexpr, STRIDE: tl.constexpr, HEADS: tl.constexpr, MEAN: tl.constexpr,
               WEIGHTED: tl.constexpr, ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    lane = tl.program_id(1) * LANES + tl.arange(0, LANES)
    here = row < targets
    begin = tl.load(offsets + row, mask=here, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=here, other=0).to(tl.int64) - begin
    most = tl.max(count, axis=0)
    total = tl.zeros([ROWS, LANES], tl.float32)
    for i in range(0, most):
        has = i < count
        column = tl.load(columns + begin + i, mask=has, other=0).to(tl.int64)
        tile = has[:, None] & (lane < WIDTH)[None, :]
        value = tl.load(x + column[:, None] * STRIDE + lane[None, :], mask=tile, other=0.0).to(tl.float32)
        if WEIGHTED:
            value *= tl.load(weights + (begin + i)[:, None] * HEADS + (lane // (WIDTH // HEADS))[None, :], mask=tile, other=0.0).to(tl.float32)
        total += value
    if MEAN:
        total = total / tl.maximum(count, 1).to(tl.float32)[:, None]
    tl.store(out + row.to(tl.int64)[:, None] * WIDTH + lane[None, :], total.to(out.dtype.element_ty), mask=here[:, None] & (lane < WIDTH)[None, :])


@triton.jit(do_not_specialize=["targets"])
def _add_to_sources(grad, columns, offsets, weights, out, targets, WIDTH: tl.constexpr, STRIDE: tl.constexpr, HEADS: tl.constexpr, MEAN: tl.constexpr,
                    WEIGHTED: tl.constexpr, ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    lane = tl.program_id(1) * LANES + tl.arange(0, LANES)
    here = row < targets
    begin = tl.load(offsets + row, mask=here, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=here, other=0).to(tl.int64) - begin
    most = tl.max(count, axis=0)
    own = tl.load(grad + row.to(tl.int64)[:, None] * STRIDE + lane[None, :], mask=here[:, None] & (lane < WIDTH)[None, :], other=0.0).to(tl.float32)
    if MEAN:
        own = own / tl.maximum(count, 1).to(tl.float32)[:, None]
    for i in range(0, most):
        has = i < count
        column = tl.load(columns + begin + i, mask=has, other=0).to(tl.int64)
        tile = has[:, None] & (lane < WIDTH)[None, :]
        value = own
        if WEIGHTED:
            value = own * tl.load(weights + (begin + i)[:, None] * HEADS + (lane // (WIDTH // HEADS))[None, :], mask=tile, other=0.0).to(tl.float32)
        tl.atomic_add(out + column[:, None] * WIDTH + lane[None, :], value, mask=tile, sem="relaxed")


@triton.jit(do_not_specialize=["targets"])
def _dot_edges(grad, x, columns, offsets, out, targets, STRIDE: tl.constexpr, GRAD_STRIDE: tl.constexpr, HEADS: tl.constexpr, PER_HEAD: tl.constexpr,
               ROWS: tl.constexpr, LANES: tl.constexpr):
    """The gradient of the weights: for each edge and head, the product of the target's gradient and the source's row."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    head = tl.program_id(1)
    here = row < targets
    begin = tl.load(offsets + row, mask=here, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=here, other=0).to(tl.int64) - begin
    most = tl.max(count, axis=0)
    for i in range(0, most):
        has = i < count
        column = tl.load(columns + begin + i, mask=has, other=0).to(tl.int64)
        total = tl.zeros([ROWS], tl.float32)
        for first in range(0, PER_HEAD, LANES):
            lane = first + tl.arange(0, LANES)
            tile = has[:, None] & (lane < PER_HEAD)[None, :]
            place = head * PER_HEAD + lane
            own = tl.load(grad + row.to(tl.int64)[:, None] * GRAD_STRIDE + place[None, :], mask=tile, other=0.0).to(tl.float32)
            other = tl.load(x + column[:, None] * STRIDE + place[None, :], mask=tile, other=0.0).to(tl.float32)
            total += tl.sum(own * other, axis=1)
        tl.store(out + (begin + i) * HEADS + head, total, mask=has)


@triton.jit(do_not_specialize=["targets"])
def _softmax_edges(scores, own, offsets, out, alone, targets, HEADS: tl.constexpr, OWN: tl.constexpr, ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    head = tl.arange(0, LANES)
    here = row < targets
    mine = row.to(tl.int64)[:, None] * HEADS + head[None, :]
    both = here[:, None] & (head < HEADS)[None, :]
    begin = tl.load(offsets + row, mask=here, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=here, other=0).to(tl.int64) - begin
    most = tl.max(count, axis=0)
    largest = tl.full([ROWS, LANES], float("-inf"), tl.float32)
    if OWN:
        largest = tl.load(own + mine, mask=both, other=float("-inf"))
    for i in range(0, most):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        largest = tl.maximum(largest, tl.load(scores + (begin + i)[:, None] * HEADS + head[None, :], mask=tile, other=float("-inf")))
    largest = tl.where(largest == float("-inf"), 0.0, largest)  # every edge is left out
    total = tl.zeros([ROWS, LANES], tl.float32)
    if OWN:
        total += tl.exp(tl.load(own + mine, mask=both, other=float("-inf")) - largest)
    for i in range(0, most):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        total += tl.exp(tl.load(scores + (begin + i)[:, None] * HEADS + head[None, :], mask=tile, other=float("-inf")) - largest)
    total = tl.where(total == 0.0, 1.0, total)
    for i in range(0, most):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        place = (begin + i)[:, None] * HEADS + head[None, :]
        tl.store(out + place, tl.exp(tl.load(scores + place, mask=tile, other=float("-inf")) - largest) / total, mask=tile)
    if OWN:
        tl.store(alone + mine, tl.exp(tl.load(own + mine, mask=both, other=float("-inf")) - largest) / total, mask=both)


@triton.jit(do_not_specialize=["targets"])
def _softmax_gradient(shares, alone, grad, grad_alone, offsets, out, out_alone, targets, HEADS: tl.constexpr, OWN: tl.constexpr,
                      ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    head = tl.arange(0, LANES)
    here = row < targets
    mine = row.to(tl.int64)[:, None] * HEADS + head[None, :]
    both = here[:, None] & (head < HEADS)[None, :]
    begin = tl.load(offsets + row, mask=here, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=here, other=0).to(tl.int64) - begin
    most = tl.max(count, axis=0)
    total = tl.zeros([ROWS, LANES], tl.float32)
    if OWN:
        total += tl.load(alone + mine, mask=both, other=0.0) * tl.load(grad_alone + mine, mask=both, other=0.0)
    for i in range(0, most):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        place = (begin + i)[:, None] * HEADS + head[None, :]
        total += tl.load(shares + place, mask=tile, other=0.0) * tl.load(grad + place, mask=tile, other=0.0)
    for i in range(0, most):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        place = (begin + i)[:, None] * HEADS + head[None, :]
        tl.store(out + place, tl.load(shares + place, mask=tile, other=0.0) * (tl.load(grad + place, mask=tile, other=0.0) - total), mask=tile)
    if OWN:
        tl.store(out_alone + mine, tl.load(alone + mine, mask=both, other=0.0) * (tl.load(grad_alone + mine, mask=both, other=0.0) - total), mask=both)


# On the CPU they run where Triton was told to interpret its kernels, which is for tests.
INTERPRETED = not isinstance(_sum_edges, triton.JITFunction)


def _tile(width: int, most: int = 256) -> tuple[int, int]:
    """Rows and lanes of a program."""
    lanes = min(triton.next_power_of_2(max(width, 16)), most)
    return max(_TILE // lanes, 1), lanes


def _heads(weights: torch.Tensor | None) -> int:
    return 1 if weights is None or weights.dim() == 1 else weights.size(1)


def sum_edges(x: torch.Tensor, columns: torch.Tensor, offsets: torch.Tensor, weights: torch.Tensor | None, mean: bool) -> torch.Tensor:
    """[targets, width] in the dtype of x [sources, width], whose rows are contiguous. weights: float32 [edges] or [edges, heads], or None."""
    targets, width = offsets.numel() - 1, x.size(1)
    out = torch.empty(targets, width, dtype=x.dtype, device=x.device)
    rows, lanes = _tile(width)
    grid = triton.cdiv(targets, rows), triton.cdiv(width, lanes)
    if out.numel():
        _sum_edges[grid](x, columns, offsets, x if weights is None else weights, out, targets, width, x.stride(0), _heads(weights), mean, weights is not None, rows, lanes)
    return out


def add_to_sources(grad: torch.Tensor, columns: torch.Tensor, offsets: torch.Tensor, weights: torch.Tensor | None, mean: bool, sources: int) -> torch.Tensor:
    """The gradient of x, float32 [sources, width], by atomic additions: its last bits depend on their order."""
    targets, width = grad.shape
    out = torch.zeros(sources, width, dtype=torch.float32, device=grad.device)
    rows, lanes = _tile(width)
    grid = triton.cdiv(targets, rows), triton.cdiv(width, lanes)
    if grad.numel():
        _add_to_sources[grid](grad, columns, offsets, grad if weights is None else weights, out, targets, width, grad.stride(0), _heads(weights), mean,
                              weights is not None, rows, lanes)
    return out


def dot_edges(grad: torch.Tensor, x: torch.Tensor, columns: torch.Tensor, offsets: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """The gradient of the weights, in their shape, float32."""
    out = torch.empty_like(like, dtype=torch.float32)
    targets, heads = grad.size(0), _heads(like)
    per_head = x.size(1) // heads
    rows, lanes = _tile(per_head, 128)
    if out.numel():
        _dot_edges[triton.cdiv(targets, rows), heads](grad, x, columns, offsets, out, targets, x.stride(0), grad.stride(0), heads, per_head, rows, lanes)
    return out


def _by_heads(heads: int) -> tuple[int, int]:
    lanes = triton.next_power_of_2(heads)
    return max(256 // lanes, 1), lanes


def softmax_edges(scores: torch.Tensor, own: torch.Tensor | None, offsets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Shares of the edges of each target, float32 [edges, heads], and of `own` [targets, heads], a further score of each target. A score of
    -inf has no share."""
    targets, heads = offsets.numel() - 1, scores.size(1)
    out, alone = torch.empty_like(scores), None if own is None else torch.empty_like(own)
    rows, lanes = _by_heads(heads)
    if targets:
        given = (scores, out) if own is None else (own, alone)
        _softmax_edges[(triton.cdiv(targets, rows),)](scores, given[0], offsets, out, given[1], targets, heads, own is not None, rows, lanes)
    return out, alone


def softmax_gradient(shares: torch.Tensor, alone: torch.Tensor | None, grad: torch.Tensor, grad_alone: torch.Tensor | None,
                     offsets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The gradients of `scores` and `own`."""
    targets, heads = offsets.numel() - 1, shares.size(1)
    out, out_alone = torch.empty_like(shares), None if alone is None else torch.empty_like(alone)
    rows, lanes = _by_heads(heads)
    if targets:
        given = (shares, grad, out) if alone is None else (alone, grad_alone, out_alone)
        _softmax_gradient[(triton.cdiv(targets, rows),)](shares, given[0], grad, given[1], offsets, out, given[2], targets, heads, alone is not None, rows, lanes)
    return out, out_alone
