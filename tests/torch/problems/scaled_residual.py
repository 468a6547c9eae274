# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Two operators in a row: a product without bias, then a scaled sum with what went in."""
import torch
import torch.nn as nn

tokens = 2048
features = 1024


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.project = nn.Linear(features, features, bias=False)
        self.scale = nn.Parameter(torch.full((features,), 0.5))

    def forward(self, x):
        return x + self.scale * self.project(x)


def get_inputs():
    return [torch.randn(tokens, features)]


def get_init_inputs():
    return [features]
