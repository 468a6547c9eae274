# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A GRU whose first state is drawn at random unless forward is given one."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inner, layers):
        super().__init__()
        self.layers = layers
        self.inner = inner
        self.net = nn.GRU(inner, inner, layers, batch_first=True)

    def forward(self, x, h0=None):
        if h0 is None:
            h0 = torch.randn(self.layers, x.size(0), self.inner, device=x.device)
        return self.net(x, h0)[0]


batch = 8
steps = 24
inner = 32
layers = 2


def get_inputs():
    return [torch.rand(batch, steps, inner)]


def get_init_inputs():
    return [inner, layers]
