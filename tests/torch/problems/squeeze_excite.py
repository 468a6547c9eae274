# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Channels weighed by what they hold on average."""
import torch
import torch.nn as nn

batch_size = 4
channels = 16
reduced = 4
height = 6
width = 5


class Model(nn.Module):
    def __init__(self, channels, reduced):
        super().__init__()
        self.down = nn.Linear(channels, reduced)
        self.up = nn.Linear(reduced, channels)

    def forward(self, x):
        weights = torch.sigmoid(self.up(torch.relu(self.down(x.mean(dim=(2, 3))))))
        return x * weights[:, :, None, None]


def get_inputs():
    return [torch.rand(batch_size, channels, height, width)]


def get_init_inputs():
    return [channels, reduced]
