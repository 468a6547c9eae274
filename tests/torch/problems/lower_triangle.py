# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The lower triangle of a product."""
import torch
import torch.nn as nn

size = 512
inner = 512


class Model(nn.Module):
    def forward(self, a, b):
        return torch.tril(a @ b)


def get_inputs():
    return [torch.rand(size, inner), torch.rand(inner, size)]


def get_init_inputs():
    return []
