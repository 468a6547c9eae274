# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows over the root of their mean square, with a weight."""
import torch
import torch.nn as nn

tokens = 1024
features = 1024


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + 1e-5) * self.weight


def get_inputs():
    return [torch.randn(tokens, features)]


def get_init_inputs():
    return [features]
