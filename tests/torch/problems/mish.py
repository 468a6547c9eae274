# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""x * tanh(softplus(x))."""
import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 512
width = 4096


class Model(nn.Module):
    def forward(self, x):
        return x * torch.tanh(F.softplus(x))


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
