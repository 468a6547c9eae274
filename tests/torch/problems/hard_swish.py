# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""An activation by pieces."""
import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 1024
width = 2048


class Model(nn.Module):
    def forward(self, x):
        return x * F.relu6(x + 3.0) / 6.0


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
