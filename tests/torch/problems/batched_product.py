# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A product for each of a batch."""
import torch
import torch.nn as nn

batch_size = 16
rows = 128
inner = 256
columns = 192


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b)


def get_inputs():
    return [torch.rand(batch_size, rows, inner), torch.rand(batch_size, inner, columns)]


def get_init_inputs():
    return []
