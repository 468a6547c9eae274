# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Convolutions for PyTorch that gather and reduce in one kernel: SAGEConv, GCNConv, GINConv and GATConv with the parameters of PyTorch
Geometric's layers of these names, and a BatchNorm that knows padded rows. Needs torch, and Triton for the kernels; torch_geometric is not needed. See docs/pyg.md.

A layer takes `edge_index` [2, edges] like PyTorch Geometric's, or `Edges`, which it does not have to sort: `layer_edges(batch)` gives those of
each layer.
"""
try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(f"hone.gnn.torch needs torch, which is installed apart from Hone ({error}): pip install torch", name=error.name) from error

from hone.gnn.torch.attention import GATConv
from hone.gnn.torch.convolutions import GCNConv, GINConv, SAGEConv
from hone.gnn.torch.edges import Edges, layer_edges
from hone.gnn.torch.norm import BatchNorm

__all__ = ["BatchNorm", "Edges", "GATConv", "GCNConv", "GINConv", "SAGEConv", "layer_edges"]
