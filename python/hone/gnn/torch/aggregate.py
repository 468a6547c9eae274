# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes sums, means and softmaxes over the edges of each target, with gradients. Uses Hone's kernels if there are a GPU and Triton, else PyTorch's
operations. Needs torch.
"""
from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from hone.gnn.torch.edges import Edges

try:
    from hone.gnn.torch import kernels
except ImportError:  # no Triton: PyTorch's CPU builds come without it
    kernels = None

_DTYPES = (torch.float32, torch.bfloat16, torch.float16)


def fused(values: torch.Tensor) -> bool:
    """Returns whether Hone's kernels can work on these values."""
    if kernels is None or values.dtype not in _DTYPES:
        return False
    return values.is_cuda or kernels.INTERPRETED


def rows_apart(x: torch.Tensor) -> torch.Tensor:
    """Returns x, or a copy of it, with contiguous rows."""
    return x if x.stride(1) == 1 else x.contiguous()


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weights: torch.Tensor | None, edges: Edges, mean: bool) -> torch.Tensor:
        x = rows_apart(x)
        ctx.edges, ctx.mean, ctx.shape, ctx.dtype = edges, mean, x.shape, x.dtype
        if ctx.needs_input_grad[0]:
            edges.need_by_source()
        ctx.save_for_backward(x if ctx.needs_input_grad[1] else None, weights)
        return kernels.sum_edges(x, edges.columns, edges.offsets, weights, mean)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        (x, weights), edges = ctx.saved_tensors, ctx.edges
        grad = rows_apart(grad)
        of_x = of_weights = None
        if ctx.needs_input_grad[0]:
            of_x = kernels.sum_sources(grad, edges.by_source(), edges.offsets, weights, ctx.mean, *ctx.shape, ctx.dtype)
        if ctx.needs_input_grad[1]:
            of_weights = kernels.dot_edges(grad, x, edges.columns, edges.offsets, weights)
        return of_x, of_weights, None, None


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: torch.Tensor, own: torch.Tensor | None, offsets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
        shares, alone = kernels.softmax_edges(scores.contiguous(), None if own is None else own.contiguous(), offsets)
        ctx.save_for_backward(shares, alone, offsets)
        return shares, alone

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor, grad_alone: torch.Tensor | None) -> tuple:
        shares, alone, offsets = ctx.saved_tensors
        return *kernels.softmax_gradient(shares, alone, grad.contiguous(), None if alone is None else grad_alone.contiguous(), offsets), None


def _wide(dtype: torch.dtype) -> torch.dtype:
    """Returns the dtype in which sums of this dtype are computed."""
    return torch.promote_types(dtype, torch.float32)


def sum_edges(x: torch.Tensor, edges: Edges, weights: torch.Tensor | None = None, mean: bool = False) -> torch.Tensor:
    """Returns for each target the sum, or the mean, of its sources' rows, [targets, width] in the dtype of x. A target without edges gets 0.

    x: floating [edges.sources, width].
    weights: None, or floating [edges] or [edges, heads] in the order of `edges`, by which rows are multiplied; each head has an equal share of the
        columns.
    """
    if weights is not None:
        weights = weights.to(_wide(x.dtype))
    if fused(x):
        return _Sum.apply(x, None if weights is None else weights.contiguous(), edges, mean)
    source_rows = x.index_select(0, edges.columns).to(_wide(x.dtype))
    if weights is not None:
        heads = 1 if weights.dim() == 1 else weights.size(1)
        source_rows = (source_rows.view(len(source_rows), heads, x.size(1) // heads) * weights.view(len(source_rows), heads, 1)).view(source_rows.shape)
    total = torch.zeros(edges.targets, x.size(1), dtype=source_rows.dtype, device=x.device).index_add(0, edges.rows, source_rows)
    if mean:
        total = total / edges.offsets.diff().clamp(min=1).to(total.dtype).unsqueeze(1)
    return total.to(x.dtype)


def softmax_edges(scores: torch.Tensor, edges: Edges, own: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Returns a softmax over the edges of each target, [edges, heads], of scores [edges, heads], both in float32 or wider; -inf leaves an edge out.

    own: one more score for each target, [targets, heads], which takes part in the softmax; its share is the second result.
    """
    if fused(scores):
        return _Softmax.apply(scores, own, edges.offsets)
    rows = edges.rows.long()
    place = rows.unsqueeze(1).expand_as(scores)
    least = scores.new_full((edges.targets, scores.size(1)), float("-inf")) if own is None else own.detach()
    largest = least.scatter_reduce(0, place, scores.detach(), "amax")
    largest = torch.where(largest.isinf(), 0.0, largest)
    powers, alone = (scores - largest.index_select(0, rows)).exp(), None if own is None else (own - largest).exp()
    total = torch.zeros_like(largest).index_add(0, rows, powers)
    total = total if own is None else total + alone
    total = torch.where(total == 0, 1.0, total)
    return powers / total.index_select(0, rows), None if own is None else alone / total
