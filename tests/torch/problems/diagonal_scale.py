# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A diagonal matrix times a matrix."""
import torch
import torch.nn as nn

rows = 1024
width = 1024


class Model(nn.Module):
    def forward(self, d, m):
        return torch.diag(d) @ m


def get_inputs():
    return [torch.rand(rows), torch.rand(rows, width)]


def get_init_inputs():
    return []
