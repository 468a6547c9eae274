# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Graph neural networks: graphs in files, trained by `hone-gnn` without PyTorch (`Graph`, `Trainer`, `Predictor`, docs/gnn-python.md), and the
loader for PyTorch Geometric (`hone.gnn.pyg`, docs/pyg.md). Importing this package imports neither torch nor numpy."""

_HOMES = {"EngineError": "engine", "Graph": "graph", "ModelSpec": "trainer", "Predictor": "trainer", "Trainer": "trainer"}
__all__ = sorted(_HOMES)


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'hone.gnn' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(f"hone.gnn.{_HOMES[name]}"), name)
