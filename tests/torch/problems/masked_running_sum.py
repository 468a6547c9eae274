# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A running sum from the end, of what a mask of numbers lets through."""
import torch
import torch.nn as nn

rows = 256
length = 1024


class Model(nn.Module):
    def forward(self, x, mask):
        return torch.flip(torch.cumsum(torch.flip(x * mask, [1]), dim=1), [1])


def get_inputs():
    return [torch.rand(rows, length), torch.randint(0, 2, (rows, length)).float()]


def get_init_inputs():
    return []
