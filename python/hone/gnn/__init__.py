# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Neighbor sampling for graph neural networks. `hone.gnn.pyg` has the loader for PyTorch Geometric; see docs/pyg.md."""
