# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Each channel of each image normalized by its own pixels."""
import torch
import torch.nn as nn

batch_size = 16
channels = 32
pixels = 1024


class Model(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.norm = nn.InstanceNorm1d(channels)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(batch_size, channels, pixels)]


def get_init_inputs():
    return [channels]
