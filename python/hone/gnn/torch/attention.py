# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Implements GATConv with PyTorch Geometric's parameters. Needs torch."""
from __future__ import annotations

from typing import Any, Sequence

import torch
from torch.nn import Linear, Parameter
from torch.nn import functional as F

from hone.gnn.torch.aggregate import softmax_edges, sum_edges
from hone.gnn.torch.convolutions import both, check_channels, glorot
from hone.gnn.torch.edges import Edges, inputs


class GATConv(torch.nn.Module):
    """Sums the neighbors' lin(x). In each head a neighbor's weight is a softmax over the node's neighbors of leaky_relu(att_src · lin(neighbor) +
    att_dst · lin(node)).

    in_channels: width of x; or a pair for sources and targets, which then have weights of their own (lin_src, lin_dst).
    concat: True: the heads side by side; False: their mean.
    dropout: probability with which a neighbor's weight is dropped.
    add_self_loops: each node that is both source and target is a neighbor of itself, once.
    residual: adds res(node).
    Edge features (`edge_dim`) raise NotImplementedError.
    """

    def __init__(self, in_channels: int | tuple[int, int], out_channels: int, heads: int = 1, concat: bool = True, negative_slope: float = 0.2,
                 dropout: float = 0.0, add_self_loops: bool = True, edge_dim: int | None = None, bias: bool = True, residual: bool = False):
        super().__init__()
        if edge_dim is not None:
            raise NotImplementedError(f"edge_dim={edge_dim!r}: attention to edge features is not supported; take torch_geometric.nn.GATConv")
        there, here = both(in_channels)
        check_channels(out_channels=out_channels, heads=heads)
        self.in_channels, self.out_channels, self.heads, self.concat = in_channels, out_channels, heads, concat
        self.negative_slope, self.dropout, self.add_self_loops, self.residual = negative_slope, dropout, add_self_loops, residual
        width, total = heads * out_channels, out_channels * (heads if concat else 1)
        if isinstance(in_channels, int):
            self.lin = Linear(there, width, bias=False)
        else:
            self.lin_src, self.lin_dst = Linear(there, width, bias=False), Linear(here, width, bias=False)
        self.att_src, self.att_dst = (Parameter(torch.empty(1, heads, out_channels)) for _ in range(2))
        if residual:
            self.res = Linear(here, total, bias=False)
        self.register_parameter("bias", Parameter(torch.empty(total)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for child in self.children():
            glorot(child.weight)
        glorot(self.att_src)
        glorot(self.att_dst)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(self, x: Any, edge_index: torch.Tensor | Edges, size: Sequence[int] | None = None) -> torch.Tensor:
        """Returns [targets, heads * out_channels], or [targets, out_channels] without concat. x: floating [nodes, in_channels], or a pair for sources
        and targets."""
        there, here, edges = inputs(x, edge_index, size, both(self.in_channels), self.att_src.dtype)
        if here is None:
            raise ValueError("x: expected rows for targets as well, which attention looks at, found None")
        shape = -1, self.heads, self.out_channels
        residual = self.res(here) if self.residual else None
        if isinstance(self.in_channels, int):
            shared = not isinstance(x, (tuple, list))
            there = self.lin(there)
            here = there[: edges.targets] if shared and edges.targets <= edges.sources else self.lin(here)
        else:
            there, here = self.lin_src(there), self.lin_dst(here)
        of_sources = (there.view(shape) * self.att_src).sum(-1)
        of_targets = (here.view(shape) * self.att_dst).sum(-1)
        scores = self._scores(of_sources.index_select(0, edges.columns), of_targets.index_select(0, edges.rows))
        if self.add_self_loops:
            out = self._with_loops(there, edges, scores, of_sources, of_targets)
        else:
            out = sum_edges(there, edges, self._dropped(softmax_edges(scores, edges)[0]))
        if not self.concat:
            out = out.view(shape).mean(1)
        if residual is not None:
            out = out + residual
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def _scores(self, there: torch.Tensor, here: torch.Tensor) -> torch.Tensor:
        return F.leaky_relu(there.to(torch.promote_types(there.dtype, torch.float32)) + here, self.negative_slope)

    def _dropped(self, shares: torch.Tensor) -> torch.Tensor:
        return F.dropout(shares, self.dropout, self.training)

    def _with_loops(self, there: torch.Tensor, edges: Edges, scores: torch.Tensor, of_sources: torch.Tensor, of_targets: torch.Tensor) -> torch.Tensor:
        """Aggregates as if the list had exactly one self-loop for each node that is source and target. Self-loops of the list are left out by their
        score, because the host would have to wait for the length of a list without them."""
        shared_nodes = min(edges.sources, edges.targets)
        beyond = 0, 0, 0, edges.targets - shared_nodes
        scores = scores.masked_fill((edges.rows == edges.columns).unsqueeze(1), float("-inf"))
        loop_scores = F.pad(self._scores(of_sources[:shared_nodes], of_targets[:shared_nodes]), beyond, value=float("-inf"))
        shares, alone = softmax_edges(scores, edges, loop_scores)
        loops = there[:shared_nodes].view(shared_nodes, self.heads, self.out_channels) * self._dropped(alone)[:shared_nodes].unsqueeze(-1)
        out = sum_edges(there, edges, self._dropped(shares))
        return out + F.pad(loops.reshape(shared_nodes, there.size(1)), beyond).to(out.dtype)
