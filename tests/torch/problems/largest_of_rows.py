# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The largest element of each row."""
import torch
import torch.nn as nn

rows = 1024
width = 2048


class Model(nn.Module):
    def forward(self, x):
        return torch.amax(x, dim=1)


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
