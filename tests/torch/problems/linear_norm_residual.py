# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A linear layer, a layer normalization and the input added."""
import torch
import torch.nn as nn

tokens = 512
features = 512


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.fc = nn.Linear(features, features)
        self.norm = nn.LayerNorm(features)

    def forward(self, x):
        return x + self.norm(self.fc(x))


def get_inputs():
    return [torch.randn(tokens, features)]


def get_init_inputs():
    return [features]
