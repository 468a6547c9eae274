# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Triton kernels that reduce over the edges of each target. Sums are float32. No kernel writes a row for each edge.

A program has ROWS targets and visits their edges in parallel: the i-th edges of all targets at once. It thus has UNROLL times ROWS rows of `x` in
flight, and needs no more registers for a target with many edges. In a sampled batch, targets have few edges, and about the same number each. No
kernel adds atomically, so every run gives the same bits.
"""
from __future__ import annotations

import torch
import triton
import triton.language as tl

_TILE = 1024  # values of each edge's rows that a program holds
_UNROLL = 4  # edges of a target that a program reads at once. Most sources of a sampled batch have one edge, so edges by source are read one by one
_WARPS = 4


@triton.jit(do_not_specialize=["targets"])
def _sum_edges(x, own, columns, offsets, weights, out, targets, WIDTH: tl.constexpr, STRIDE: tl.constexpr, OWN_WIDTH: tl.constexpr,
               OWN_STRIDE: tl.constexpr, HEADS: tl.constexpr, MEAN: tl.constexpr, WEIGHTED: tl.constexpr, ROWS: tl.constexpr, LANES: tl.constexpr,
               UNROLL: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    lane = tl.program_id(1) * LANES + tl.arange(0, LANES)
    row_exists = row < targets
    begin = tl.load(offsets + row, mask=row_exists, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=row_exists, other=0).to(tl.int64) - begin
    most_edges = tl.max(count, axis=0)
    total = tl.zeros([ROWS, LANES], tl.float32)
    for first in range(0, most_edges, UNROLL):
        for more in tl.static_range(UNROLL):
            i = first + more
            has = i < count
            column = tl.load(columns + begin + i, mask=has, other=0).to(tl.int64)
            tile = has[:, None] & (lane < WIDTH)[None, :]
            value = tl.load(x + column[:, None] * STRIDE + lane[None, :], mask=tile, other=0.0).to(tl.float32)
            if WEIGHTED:
                value *= tl.load(weights + (begin + i)[:, None] * HEADS + (lane // (WIDTH // HEADS))[None, :], mask=tile, other=0.0).to(tl.float32)
            total += value
    if MEAN:
        total = total / tl.maximum(count, 1).to(tl.float32)[:, None]
    place = out + row.to(tl.int64)[:, None] * (WIDTH + OWN_WIDTH) + lane[None, :]
    tl.store(place, total.to(out.dtype.element_ty), mask=row_exists[:, None] & (lane < WIDTH)[None, :])
    if OWN_WIDTH > 0:
        tile = row_exists[:, None] & (lane < OWN_WIDTH)[None, :]
        value = tl.load(own + row.to(tl.int64)[:, None] * OWN_STRIDE + lane[None, :], mask=tile, other=0.0)
        tl.store(place + WIDTH, value.to(out.dtype.element_ty), mask=tile)


@triton.jit(do_not_specialize=["rows", "sources", "targets"])
def _sum_sources(grad, of_sources, list_offsets, order, offsets, weights, out, rows, sources, targets, WIDTH: tl.constexpr, STRIDE: tl.constexpr,
                 OWN: tl.constexpr, HEADS: tl.constexpr, MEAN: tl.constexpr, WEIGHTED: tl.constexpr, ROWS: tl.constexpr, LANES: tl.constexpr,
                 UNROLL: tl.constexpr):
    """Computes the gradient of x: each source adds up the gradients of the targets of its edges, and its own gradient as a target."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    lane = tl.program_id(1) * LANES + tl.arange(0, LANES)
    row_exists = row < sources
    begin = tl.load(list_offsets + row, mask=row_exists, other=0).to(tl.int64)
    count = tl.load(list_offsets + row + 1, mask=row_exists, other=0).to(tl.int64) - begin
    most_edges = tl.max(count, axis=0)
    total = tl.zeros([ROWS, LANES], tl.float32)
    for first in range(0, most_edges, UNROLL):
        for more in tl.static_range(UNROLL):
            i = first + more
            target = tl.load(of_sources + begin + i, mask=i < count, other=targets).to(tl.int64)
            has = (i < count) & (target < targets)  # the lists may belong to a layer with more targets
            tile = has[:, None] & (lane < WIDTH)[None, :]
            value = tl.load(grad + target[:, None] * STRIDE + lane[None, :], mask=tile, other=0.0).to(tl.float32)
            if MEAN:
                degree = tl.load(offsets + target + 1, mask=has, other=1) - tl.load(offsets + target, mask=has, other=0)
                value = value / degree.to(tl.float32)[:, None]
            if WEIGHTED:
                edge = tl.load(order + begin + i, mask=has, other=0).to(tl.int64)
                value *= tl.load(weights + edge[:, None] * HEADS + (lane // (WIDTH // HEADS))[None, :], mask=tile, other=0.0).to(tl.float32)
            total += value
    place = row.to(tl.int64)[:, None]
    if OWN:
        tile = (row < targets)[:, None] & (lane < WIDTH)[None, :]
        total += tl.load(grad + place * STRIDE + WIDTH + lane[None, :], mask=tile, other=0.0).to(tl.float32)
    tl.store(out + place * WIDTH + lane[None, :], total.to(out.dtype.element_ty), mask=(row < rows)[:, None] & (lane < WIDTH)[None, :])


@triton.jit(do_not_specialize=["rows", "steps"])
def _mask_and_sum(grad, result, masked, sums, rows, steps, WIDTH: tl.constexpr, STRIDE: tl.constexpr, RELU: tl.constexpr, ROWS: tl.constexpr,
                  LANES: tl.constexpr):
    """Computes the gradient before a relu, given the relu's result, and its sum over the rows of each program."""
    lane = tl.program_id(1) * LANES + tl.arange(0, LANES)
    total = tl.zeros([ROWS, LANES], tl.float32)
    for step in range(0, steps):
        row = ((tl.program_id(0) * steps + step) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
        tile = (row < rows)[:, None] & (lane < WIDTH)[None, :]
        value = tl.load(grad + row[:, None] * STRIDE + lane[None, :], mask=tile, other=0.0)
        if RELU:
            place = row[:, None] * WIDTH + lane[None, :]
            value = tl.where(tl.load(result + place, mask=tile, other=0.0) > 0, value, 0.0).to(grad.dtype.element_ty)
            tl.store(masked + place, value, mask=tile)
        total += value.to(tl.float32)
    tl.store(sums + tl.program_id(0).to(tl.int64) * WIDTH + lane, tl.sum(total, axis=0), mask=lane < WIDTH)


@triton.jit(do_not_specialize=["targets"])
def _dot_edges(grad, x, columns, offsets, out, targets, STRIDE: tl.constexpr, GRAD_STRIDE: tl.constexpr, HEADS: tl.constexpr, PER_HEAD: tl.constexpr,
               ROWS: tl.constexpr, LANES: tl.constexpr):
    """Computes the gradient of the weights: for each edge and head, the dot product of the target's gradient and the source's row."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    head = tl.program_id(1)
    row_exists = row < targets
    begin = tl.load(offsets + row, mask=row_exists, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=row_exists, other=0).to(tl.int64) - begin
    most_edges = tl.max(count, axis=0)
    for i in range(0, most_edges):
        has = i < count
        column = tl.load(columns + begin + i, mask=has, other=0).to(tl.int64)
        total = tl.zeros([ROWS], tl.float32)
        for first in range(0, PER_HEAD, LANES):
            lane = first + tl.arange(0, LANES)
            tile = has[:, None] & (lane < PER_HEAD)[None, :]
            place = head * PER_HEAD + lane
            own_gradient = tl.load(grad + row.to(tl.int64)[:, None] * GRAD_STRIDE + place[None, :], mask=tile, other=0.0).to(tl.float32)
            source_row = tl.load(x + column[:, None] * STRIDE + place[None, :], mask=tile, other=0.0).to(tl.float32)
            total += tl.sum(own_gradient * source_row, axis=1)
        tl.store(out + (begin + i) * HEADS + head, total, mask=has)


@triton.jit(do_not_specialize=["targets"])
def _softmax_edges(scores, own, offsets, out, alone, targets, HEADS: tl.constexpr, OWN: tl.constexpr, ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    head = tl.arange(0, LANES)
    row_exists = row < targets
    own_places = row.to(tl.int64)[:, None] * HEADS + head[None, :]
    row_and_head_exist = row_exists[:, None] & (head < HEADS)[None, :]
    begin = tl.load(offsets + row, mask=row_exists, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=row_exists, other=0).to(tl.int64) - begin
    most_edges = tl.max(count, axis=0)
    largest = tl.full([ROWS, LANES], float("-inf"), tl.float32)
    if OWN:
        largest = tl.load(own + own_places, mask=row_and_head_exist, other=float("-inf"))
    for i in range(0, most_edges):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        largest = tl.maximum(largest, tl.load(scores + (begin + i)[:, None] * HEADS + head[None, :], mask=tile, other=float("-inf")))
    largest = tl.where(largest == float("-inf"), 0.0, largest)  # -inf: every edge is left out
    total = tl.zeros([ROWS, LANES], tl.float32)
    if OWN:
        total += tl.exp(tl.load(own + own_places, mask=row_and_head_exist, other=float("-inf")) - largest)
    for i in range(0, most_edges):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        total += tl.exp(tl.load(scores + (begin + i)[:, None] * HEADS + head[None, :], mask=tile, other=float("-inf")) - largest)
    total = tl.where(total == 0.0, 1.0, total)
    for i in range(0, most_edges):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        place = (begin + i)[:, None] * HEADS + head[None, :]
        tl.store(out + place, tl.exp(tl.load(scores + place, mask=tile, other=float("-inf")) - largest) / total, mask=tile)
    if OWN:
        tl.store(alone + own_places, tl.exp(tl.load(own + own_places, mask=row_and_head_exist, other=float("-inf")) - largest) / total, mask=row_and_head_exist)


@triton.jit(do_not_specialize=["targets"])
def _softmax_gradient(shares, alone, grad, grad_alone, offsets, out, out_alone, targets, HEADS: tl.constexpr, OWN: tl.constexpr,
                      ROWS: tl.constexpr, LANES: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    head = tl.arange(0, LANES)
    row_exists = row < targets
    own_places = row.to(tl.int64)[:, None] * HEADS + head[None, :]
    row_and_head_exist = row_exists[:, None] & (head < HEADS)[None, :]
    begin = tl.load(offsets + row, mask=row_exists, other=0).to(tl.int64)
    count = tl.load(offsets + row + 1, mask=row_exists, other=0).to(tl.int64) - begin
    most_edges = tl.max(count, axis=0)
    total = tl.zeros([ROWS, LANES], tl.float32)
    if OWN:
        total += tl.load(alone + own_places, mask=row_and_head_exist, other=0.0) * tl.load(grad_alone + own_places, mask=row_and_head_exist, other=0.0)
    for i in range(0, most_edges):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        place = (begin + i)[:, None] * HEADS + head[None, :]
        total += tl.load(shares + place, mask=tile, other=0.0) * tl.load(grad + place, mask=tile, other=0.0)
    for i in range(0, most_edges):
        tile = (i < count)[:, None] & (head < HEADS)[None, :]
        place = (begin + i)[:, None] * HEADS + head[None, :]
        tl.store(out + place, tl.load(shares + place, mask=tile, other=0.0) * (tl.load(grad + place, mask=tile, other=0.0) - total), mask=tile)
    if OWN:
        tl.store(out_alone + own_places, tl.load(alone + own_places, mask=row_and_head_exist, other=0.0) * (tl.load(grad_alone + own_places, mask=row_and_head_exist, other=0.0) - total), mask=row_and_head_exist)


# True: Triton interprets its kernels, so these also run on the CPU. Tests use that.
INTERPRETED = not isinstance(_sum_edges, triton.JITFunction)


def _tile(width: int, most: int = 256) -> tuple[int, int]:
    """Returns the rows and the lanes (columns) of a program."""
    lanes = min(triton.next_power_of_2(max(width, 16)), most)
    return max(_TILE // lanes, 1), lanes


def _heads(weights: torch.Tensor | None) -> int:
    return 1 if weights is None or weights.dim() == 1 else weights.size(1)


def sum_edges(x: torch.Tensor, columns: torch.Tensor, offsets: torch.Tensor, weights: torch.Tensor | None, mean: bool,
              own: torch.Tensor | None = None, dtype: torch.dtype | None = None) -> torch.Tensor:
    """Returns the sums [targets, width], by default in the dtype of x [sources, width], whose rows are contiguous. weights: float32 [edges] or
    [edges, heads], or None. own: None, or a row for each target that is appended to its sum, [at least targets, own width], rows contiguous."""
    targets, width = offsets.numel() - 1, x.size(1)
    own_columns = 0 if own is None else own.size(1)
    out = torch.empty(targets, width + own_columns, dtype=dtype or x.dtype, device=x.device)
    rows, lanes = _tile(max(width, own_columns))
    grid = triton.cdiv(targets, rows), triton.cdiv(max(width, own_columns), lanes)
    if out.numel():
        _sum_edges[grid](x, x if own is None else own, columns, offsets, x if weights is None else weights, out, targets, width, x.stride(0), own_columns,
                         0 if own is None else own.stride(0), _heads(weights), mean, weights is not None, rows, lanes, _UNROLL, num_warps=_WARPS)
    return out


def sum_sources(grad: torch.Tensor, lists: tuple[torch.Tensor, torch.Tensor, torch.Tensor], offsets: torch.Tensor, weights: torch.Tensor | None, mean: bool,
                rows: int, width: int, dtype: torch.dtype, own: bool = False) -> torch.Tensor:
    """Returns the gradient [rows, width] of x, given the gradient [targets, width] of its sums; the same bits in every run.

    lists: what Edges.by_source() returns. own: the gradient is [targets, 2 * width], and its second half belongs to the targets' own rows.
    """
    of_sources, list_offsets, order = lists
    out = torch.empty(rows, width, dtype=dtype, device=grad.device)
    tile, lanes = _tile(width)
    grid = triton.cdiv(rows, tile), triton.cdiv(width, lanes)
    if out.numel():
        _sum_sources[grid](grad, of_sources, list_offsets, order, offsets, grad if weights is None else weights, out, rows, list_offsets.numel() - 1,
                           grad.size(0), width, grad.stride(0), own, _heads(weights), mean, weights is not None, tile, lanes, 1, num_warps=_WARPS)
    return out


def mask_and_sum(grad: torch.Tensor, result: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns the gradient before a relu: `grad` [rows, width], whose rows are contiguous, where the relu's `result` [rows, width] is above 0 (None:
    everywhere), else 0. Also returns its sum over rows, float32 [width]."""
    count, width = grad.shape
    masked = grad if result is None else torch.empty_like(grad, memory_format=torch.contiguous_format)
    rows, lanes = _tile(width)
    programs = max(min(triton.cdiv(count, rows), 1024), 1)
    sums = torch.empty(programs, width, dtype=torch.float32, device=grad.device)
    if width:
        _mask_and_sum[programs, triton.cdiv(width, lanes)](grad, grad if result is None else result, masked, sums, count, triton.cdiv(count, rows * programs),
                                                           width, grad.stride(0), result is not None, rows, lanes)
    return masked, sums.sum(0)


def dot_edges(grad: torch.Tensor, x: torch.Tensor, columns: torch.Tensor, offsets: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Returns the gradient of the weights, float32, in the shape of `like`."""
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
    """Returns the softmax's shares: of the edges of each target, float32 [edges, heads], and of `own` [targets, heads], one more score for each
    target. A score of -inf has no share."""
    targets, heads = offsets.numel() - 1, scores.size(1)
    out, alone = torch.empty_like(scores), None if own is None else torch.empty_like(own)
    rows, lanes = _by_heads(heads)
    if targets:
        arguments = (scores, out) if own is None else (own, alone)
        _softmax_edges[(triton.cdiv(targets, rows),)](scores, arguments[0], offsets, out, arguments[1], targets, heads, own is not None, rows, lanes)
    return out, alone


def softmax_gradient(shares: torch.Tensor, alone: torch.Tensor | None, grad: torch.Tensor, grad_alone: torch.Tensor | None,
                     offsets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Returns the gradients of `scores` and `own`."""
    targets, heads = offsets.numel() - 1, shares.size(1)
    out, out_alone = torch.empty_like(shares), None if alone is None else torch.empty_like(alone)
    rows, lanes = _by_heads(heads)
    if targets:
        arguments = (shares, grad, out) if alone is None else (alone, grad_alone, out_alone)
        _softmax_gradient[(triton.cdiv(targets, rows),)](shares, arguments[0], grad, arguments[1], offsets, out, arguments[2], targets, heads, alone is not None, rows, lanes)
    return out, out_alone
