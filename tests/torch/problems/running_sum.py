# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Sums of all elements so far, along rows."""
import torch
import torch.nn as nn

rows = 512
length = 2048


class Model(nn.Module):
    def forward(self, x):
        return torch.cumsum(x, dim=1)


def get_inputs():
    return [torch.rand(rows, length)]


def get_init_inputs():
    return []
