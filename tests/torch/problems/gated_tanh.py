# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Elementwise over two inputs."""
import torch
import torch.nn as nn

rows = 4096
width = 8192


class Model(nn.Module):
    def forward(self, x, gate):
        return torch.tanh(x) * torch.sigmoid(gate)


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return []
