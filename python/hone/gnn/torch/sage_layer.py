# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Computes a whole SAGEConv with its gradient, by Hone's kernels and one matrix product in each direction. Needs torch and Triton.

The sum over a target's edges and the target's own row are written side by side. One product with both weights then gives the result, and one product
gives the weights' gradient. Bias and relu are part of the product; the gradients of relu and bias are one pass.
"""
from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import once_differentiable

from hone.gnn.torch import kernels
from hone.gnn.torch.aggregate import rows_apart
from hone.gnn.torch.edges import Edges, autocast_dtype, head


class _Layer(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, here: torch.Tensor | None, weight: torch.Tensor, bias: torch.Tensor | None, edges: Edges, mean: bool,
                relu: bool, shared: bool) -> torch.Tensor:
        x = rows_apart(x)
        own_rows = x if shared else None if here is None else rows_apart(here)
        rows = kernels.sum_edges(x, edges.columns, edges.offsets, None, mean, own_rows, weight.dtype)
        if bias is None:
            out = torch.mm(rows, weight.t())
            out = out.relu_() if relu else out
        elif relu:
            out = torch._addmm_activation(bias, rows, weight.t())
        else:
            out = torch.addmm(bias, rows, weight.t())
        if ctx.needs_input_grad[0]:
            edges.need_by_source()
        ctx.edges, ctx.mean, ctx.shared, ctx.shape = edges, mean, shared, x.shape
        ctx.dtypes = x.dtype, None if here is None else here.dtype, None if bias is None else bias.dtype
        ctx.save_for_backward(rows, weight, out if relu else None)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple:
        rows, weight, result = ctx.saved_tensors
        width, edges = ctx.shape[1], ctx.edges
        grad, of_bias = rows_apart(grad), None
        if result is not None or ctx.needs_input_grad[3]:
            grad, of_bias = kernels.mask_and_sum(grad, result)
        of_weight = torch.mm(grad.t(), rows) if ctx.needs_input_grad[2] else None
        of_x = of_here = None
        if ctx.needs_input_grad[0] or ctx.needs_input_grad[1]:
            of_rows = torch.mm(grad, weight)
            if ctx.needs_input_grad[0]:
                of_x = kernels.sum_sources(of_rows, edges.by_source(), edges.offsets, None, ctx.mean, *ctx.shape, ctx.dtypes[0], ctx.shared)
            if ctx.needs_input_grad[1]:
                of_here = of_rows[:, width:].to(ctx.dtypes[1])
        return of_x, of_here, of_weight, of_bias.to(ctx.dtypes[2]) if ctx.needs_input_grad[3] else None, None, None, None, None


def sage_layer(x: torch.Tensor, here: torch.Tensor | None, edges: Edges, weight: torch.Tensor, own_weight: torch.Tensor | None,
               bias: torch.Tensor | None, mean: bool, relu: bool, shared: bool) -> torch.Tensor:
    """Returns [targets, out], in autocast's dtype if autocast is on.

    x: [at least sources, width], a tensor on which kernels can work. shared: x's first rows are the targets' own.
    here: [targets, own width], the targets' own rows if they are not shared.
    weight: [out, width]. own_weight: [out, own width]; None: the targets' own rows are not used, and neither `here` nor `shared` is given.
    """
    if own_weight is not None:
        weight = torch.cat([weight, own_weight], 1)
    if shared:
        x = head(x, max(edges.sources, edges.targets))
    dtype = autocast_dtype(x.device.type)
    if dtype is not None:
        weight, bias = weight.to(dtype), None if bias is None else bias.to(dtype)
    elif weight.dtype != x.dtype:
        raise TypeError(f"x: expected {weight.dtype}, as the layer's parameters are, found {x.dtype}: convert one of them, or use torch.autocast")
    return _Layer.apply(x, here, weight, bias, edges, mean, relu, shared)
