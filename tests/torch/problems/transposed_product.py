# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The product of a transposed matrix and another."""
import torch
import torch.nn as nn

inner = 1024
rows = 512
columns = 768


class Model(nn.Module):
    def forward(self, a, b):
        return a.T @ b


def get_inputs():
    return [torch.rand(inner, rows), torch.rand(inner, columns)]


def get_init_inputs():
    return []
