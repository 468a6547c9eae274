# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A hinge loss of signs, summed over rows."""
import torch
import torch.nn as nn

rows = 1024
width = 512


class Model(nn.Module):
    def forward(self, x, y):
        return torch.clamp(1.0 - x * y, min=0.0).sum(dim=1)


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width).sign()]


def get_init_inputs():
    return []
