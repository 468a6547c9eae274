# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A matrix times a vector."""
import torch
import torch.nn as nn

rows = 2048
inner = 4096


class Model(nn.Module):
    def forward(self, a, v):
        return a @ v


def get_inputs():
    return [torch.rand(rows, inner), torch.rand(inner)]


def get_init_inputs():
    return []
