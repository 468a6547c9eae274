# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Graph neural networks: graphs in files, trained by `hone-gnn` without PyTorch (`Graph`, docs/gnn-python.md), and the loader
for PyTorch Geometric (`hone.gnn.pyg`, docs/pyg.md). Importing this package imports neither torch nor numpy."""

__all__ = ["EngineError", "Graph"]


def __getattr__(name):
    if name not in __all__:
        raise AttributeError(f"module 'hone.gnn' has no attribute '{name}'")
    from hone.gnn import graph

    return getattr(graph, name)
