# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Layer normalization with weights and biases."""
import torch
import torch.nn as nn

tokens = 8192
features = 4096


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(tokens, features)]


def get_init_inputs():
    return [features]
