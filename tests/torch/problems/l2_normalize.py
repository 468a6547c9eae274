# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of length one."""
import torch
import torch.nn as nn

rows = 1024
width = 1024


class Model(nn.Module):
    def forward(self, x):
        return x / torch.linalg.vector_norm(x, dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
