# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Uses a name that PyTorch does not have, while it is loaded: it crashes, and nothing is wrong with its syntax."""
import torch

ModelNew = torch.nn.NoSuchModule
