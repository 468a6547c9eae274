# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Implements SAGEConv, GCNConv and GINConv with PyTorch Geometric's parameters. Needs torch."""
from __future__ import annotations

from typing import Any, Sequence

import torch
from torch.nn import Linear, Parameter
from torch.nn import functional as F

from hone.gnn.torch.aggregate import fused, kernels, sum_edges
from hone.gnn.torch.edges import Edges, inputs

if kernels is not None:
    from hone.gnn.torch.sage_layer import sage_layer

def check_channels(**channels: Any) -> None:
    for name, given in channels.items():
        if not isinstance(given, int) or given < 1:
            raise ValueError(f"{name}: expected a whole number of at least 1, found {given!r} (sizes are not found at the first call)")


def both(in_channels: Any) -> tuple[int, int]:
    pair = (in_channels, in_channels) if isinstance(in_channels, int) else tuple(in_channels)
    if len(pair) != 2:
        raise ValueError(f"in_channels: expected a number, or one for sources and one for targets, found {in_channels!r}")
    check_channels(in_channels=pair[0])
    check_channels(in_channels=pair[1])
    return pair


def glorot(weight: torch.Tensor) -> None:
    bound = (6.0 / (weight.size(-2) + weight.size(-1))) ** 0.5
    torch.nn.init.uniform_(weight, -bound, bound)


class SAGEConv(torch.nn.Module):
    """Computes lin_l(mean or sum of the neighbors) + lin_r(node).

    in_channels: width of x, or a pair for sources and targets.
    aggr: "mean", or "sum" ("add").
    normalize: rows of the result are scaled to length 1.
    root_weight: False: there is no lin_r.
    project: sources first go through relu(lin(x)).
    relu: the result goes through relu, which needs no separate pass here; not with `normalize`.
    ValueError: an argument has another value.
    """

    def __init__(self, in_channels: int | tuple[int, int], out_channels: int, aggr: str = "mean", normalize: bool = False, root_weight: bool = True,
                 project: bool = False, bias: bool = True, *, relu: bool = False):
        super().__init__()
        there, here = both(in_channels)
        check_channels(out_channels=out_channels)
        if aggr not in ("mean", "sum", "add"):
            raise ValueError(f"aggr: expected 'mean', 'sum' or 'add', found {aggr!r}")
        if relu and normalize:
            raise ValueError("relu=True: expected normalize=False with it, found True; call relu() on the result")
        self.in_channels, self.out_channels, self.aggr = in_channels, out_channels, aggr
        self.normalize, self.root_weight, self.project, self.relu = normalize, root_weight, project, relu
        if project:
            self.lin = Linear(there, there)
        self.lin_l = Linear(there, out_channels, bias=bias)
        if root_weight:
            self.lin_r = Linear(here, out_channels, bias=False)

    def reset_parameters(self) -> None:
        for child in self.children():
            child.reset_parameters()

    def forward(self, x: Any, edge_index: torch.Tensor | Edges, size: Sequence[int] | None = None) -> torch.Tensor:
        """Returns [targets, out_channels]. x: floating [nodes, in_channels], or a pair for sources and targets, whose second may be None. size:
        numbers of sources and targets, if x does not give them."""
        there, here, edges = inputs(x, edge_index, size, both(self.in_channels) if self.root_weight else (both(self.in_channels)[0], None),
                                    self.lin_l.weight.dtype)
        if self.project:
            there = self.lin(there).relu()
        mean, rooted = self.aggr == "mean", self.root_weight and here is not None
        if fused(there) and (not rooted or fused(here)):
            shared = rooted and not self.project and not isinstance(x, (tuple, list))
            out = sage_layer(x if shared else there, here if rooted and not shared else None, edges, self.lin_l.weight, self.lin_r.weight if rooted else None,
                             self.lin_l.bias, mean, self.relu, shared)
            return F.normalize(out, dim=-1) if self.normalize else out
        out = self.lin_l(sum_edges(there, edges, mean=mean))
        if rooted:
            out = torch.addmm(out, here, self.lin_r.weight.t())
        out = out.relu() if self.relu else out
        return F.normalize(out, dim=-1) if self.normalize else out

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}, aggr={self.aggr}"


class GINConv(torch.nn.Module):
    """Computes nn((1 + eps) * node + sum of the neighbors).

    nn: module that maps rows [nodes, width].
    """

    def __init__(self, nn: torch.nn.Module, eps: float = 0.0, train_eps: bool = False):
        super().__init__()
        if not isinstance(nn, torch.nn.Module):
            raise TypeError(f"nn: expected a torch.nn.Module that maps rows [nodes, width], found {type(nn).__name__}")
        self.nn, self.initial_eps = nn, eps
        value = torch.full((1,), float(eps))
        if train_eps:
            self.eps = Parameter(value)
        else:
            self.register_buffer("eps", value)

    def reset_parameters(self) -> None:
        for module in self.nn.modules():
            if module is not self.nn or not list(self.nn.children()):
                getattr(module, "reset_parameters", lambda: None)()
        self.eps.data.fill_(self.initial_eps)

    def forward(self, x: Any, edge_index: torch.Tensor | Edges, size: Sequence[int] | None = None) -> torch.Tensor:
        """Returns the result of `nn` for rows [targets, width]. x, size: as for SAGEConv."""
        there, here, edges = inputs(x, edge_index, size)
        out = sum_edges(there, edges)
        if here is not None:
            out = out + ((1 + self.eps) * here).to(out.dtype)
        return self.nn(out)


class GCNConv(torch.nn.Module):
    """Sums the neighbors' lin(x), each multiplied by its edge's weight over the square root of the product of both ends' degrees. A degree is the sum
    of the weights of a node's in-edges.

    improved: the weight of a node's own row is 2 in place of 1, with edge weights or without.
    add_self_loops: each node is a neighbor of itself, once; a self-loop of the list gives its weight. None: the value of `normalize`.
    normalize: False: neighbors are multiplied by the edge's weight alone.
    With `Edges` that have fewer targets than sources, the other sources have the degree of nodes without in-edges.
    """

    def __init__(self, in_channels: int, out_channels: int, improved: bool = False, add_self_loops: bool | None = None, normalize: bool = True,
                 bias: bool = True):
        super().__init__()
        check_channels(in_channels=in_channels, out_channels=out_channels)
        add_self_loops = normalize if add_self_loops is None else add_self_loops
        if add_self_loops and not normalize:
            raise ValueError("add_self_loops=True: expected normalize=True with it, found False; add self-loops to the graph")
        self.in_channels, self.out_channels, self.improved = in_channels, out_channels, improved
        self.add_self_loops, self.normalize = add_self_loops, normalize
        self.lin = Linear(in_channels, out_channels, bias=False)
        self.register_parameter("bias", Parameter(torch.empty(out_channels)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        glorot(self.lin.weight)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def _norms(self, edges: Edges, weights: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Returns the normalised weights of the edges and of the targets' own rows. Self-loops stay in the list with weight 0, because the host would
        have to wait for the length of a list without them."""
        rows, targets = edges.rows.long(), edges.targets
        loop_weights = None
        if weights is None:
            weights = torch.ones(rows.numel(), device=rows.device)
        if self.add_self_loops:
            loops = edges.rows == edges.columns
            # The additional row `targets` receives the weights of edges that are no self-loops.
            loop_weights = weights.new_full((targets + 1,), 2.0 if self.improved else 1.0)
            loop_weights = loop_weights.scatter(0, torch.where(loops, rows, targets), weights)[:targets]
            weights = torch.where(loops, 0.0, weights)
        degrees = weights.new_zeros(targets).index_add(0, rows, weights)
        if loop_weights is not None:
            degrees = degrees + loop_weights
        degrees_of_other_sources = degrees.new_full((max(edges.sources - targets, 0),), 0.0 if loop_weights is None else 2.0 if self.improved else 1.0)
        roots = torch.cat([degrees, degrees_of_other_sources])
        roots = torch.where(roots == 0, 0.0, torch.where(roots == 0, 1.0, roots).pow(-0.5))
        weights = roots.index_select(0, edges.columns) * weights * roots.index_select(0, rows)
        return weights, None if loop_weights is None else loop_weights * roots[:targets].square()

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor | Edges, edge_weight: torch.Tensor | None = None) -> torch.Tensor:
        """Returns [targets, out_channels]. x: floating [nodes, in_channels]. edge_weight: floating [edges], in the order of `edge_index`."""
        if not isinstance(x, torch.Tensor):
            raise ValueError(f"x: expected one tensor, found {type(x).__name__}: a node's degree counts as a source and as a target; take SAGEConv for graphs "
                             "with two kinds of nodes")
        there, _, edges = inputs(x, edge_index, None, both(self.in_channels), self.lin.weight.dtype)
        weights = None
        if edge_weight is not None:
            if edge_weight.shape != edges.columns.shape:
                raise ValueError(f"edge_weight: expected shape {tuple(edges.columns.shape)}, one number an edge, found {tuple(edge_weight.shape)}")
            weights = edges.of_edges(edge_weight).to(torch.promote_types(edge_weight.dtype, torch.float32))
        loop_weights = None
        if self.normalize:
            weights, loop_weights = self._norms(edges, weights)
        there = self.lin(there)
        out = sum_edges(there, edges, weights)
        if loop_weights is not None:
            out = out + (loop_weights.unsqueeze(1) * there[: edges.targets]).to(out.dtype)
        return out if self.bias is None else out + self.bias.to(out.dtype)

    def extra_repr(self) -> str:
        return f"{self.in_channels}, {self.out_channels}"
