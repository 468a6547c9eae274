# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Attention of one sequence to another, with one head."""
import torch
import torch.nn as nn

batch_size = 2
length = 10
memory = 14
width = 16


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)

    def forward(self, x, y):
        scores = self.query(x) @ self.key(y).transpose(1, 2) / x.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ self.value(y)


def get_inputs():
    return [torch.randn(batch_size, length, width), torch.randn(batch_size, memory, width)]


def get_init_inputs():
    return [width]
