# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Two activations in a row."""
import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 1024
width = 2048


class Model(nn.Module):
    def forward(self, x):
        return F.leaky_relu(F.elu(x, 0.7), 0.1)


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
