# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A block of a transformer without its attention."""
import torch
import torch.nn as nn

tokens = 32
width = 24
hidden = 48


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


def get_inputs():
    return [torch.randn(tokens, width)]


def get_init_inputs():
    return [width, hidden]
