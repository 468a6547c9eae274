# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The four models, put together from PyTorch Geometric's layers as docs/models-gnn.md describes them, without dropout.

A batch is a list of (edge_index, number of destinations), outermost hop first; destinations are the first sources.
Attribute names are those that Hone gives its parameters.
"""
import torch
from torch import nn
from torch_geometric.nn import GATConv, GINConv, SAGEConv


class Stack(nn.Module):
    """Convolutions with an activation between two of them; GIN has one inside instead, and a head."""

    def __init__(self, convs, between=True, head=None, norm=None):
        super().__init__()
        self.convs = nn.ModuleList(convs)
        self.between = between
        if norm is not None:
            self.bns = nn.ModuleList(norm)
        if head is not None:
            self.lin1, self.lin2 = head

    def forward(self, x, blocks):
        for i, (conv, (edges, destinations)) in enumerate(zip(self.convs, blocks)):
            x = conv((x, x[:destinations]), edges)
            if self.between and i + 1 < len(self.convs):
                if hasattr(self, "bns"):
                    x = self.bns[i](x)
                x = x.relu()
        if hasattr(self, "lin1"):
            x = self.lin2(self.lin1(x).relu())
        return x


class Head(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.module_list = nn.Sequential(*layers)

    def forward(self, x):
        return self.module_list(x)


class SageRi(nn.Module):
    """The head sees the input of the seeds and what every layer gives them, the residual included."""

    def __init__(self, width, hidden, classes, layers):
        super().__init__()
        widths = [width] + [hidden] * layers
        self.convs = nn.ModuleList(SAGEConv(a, hidden, bias=False) for a in widths[:-1])
        self.bns = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers))
        self.res_linears = nn.ModuleList([nn.Linear(width, hidden)] + [nn.Identity() for _ in range(layers - 1)])
        self.mlp = Head(nn.Linear(sum(widths), 2 * classes), nn.Linear(2 * classes, classes))

    def forward(self, x, blocks):
        seeds = blocks[-1][1]
        seen = [x[:seeds]]
        for conv, norm, residual, (edges, destinations) in zip(self.convs, self.bns, self.res_linears, blocks):
            own = x[:destinations]
            x = nn.functional.leaky_relu(norm(conv((x, own), edges))) + residual(own)
            seen.append(x[:seeds])
        return self.mlp(torch.cat(seen, dim=1))


def build(kind, width, hidden, classes, layers, heads, norm):
    widths = [width] + [hidden] * (layers - 1)
    outs = [hidden] * (layers - 1) + [classes]
    norms = [nn.BatchNorm1d(hidden) for _ in range(layers - 1)] if norm == "batch" else None
    if kind == "sage":
        return Stack([SAGEConv(a, b, bias=False) for a, b in zip(widths, outs)], norm=norms)
    if kind == "gat":
        convs = [GATConv(a, hidden // heads, heads=heads, bias=False) for a in widths[:-1]]
        convs.append(GATConv(widths[-1], classes, heads=heads, concat=False, bias=False))
        return Stack(convs, norm=norms)
    if kind == "gin":
        def mlp(a):
            return nn.Sequential(nn.Linear(a, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, hidden),
                                 nn.ReLU())
        return Stack([GINConv(mlp(a)) for a in widths], between=False,
                     head=(nn.Linear(hidden, hidden), nn.Linear(hidden, classes)))
    if kind == "sage-ri":
        return SageRi(width, hidden, classes, layers)
    raise ValueError(kind)
