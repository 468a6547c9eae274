# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A transposed convolution of volumes, scaled by channel."""
import torch
import torch.nn as nn

batch_size = 4
in_channels = 16
out_channels = 24
depth = 12
height = 20
width = 16


class Model(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.up = nn.ConvTranspose3d(in_channels, out_channels, 3, stride=2, padding=1, output_padding=1)
        self.shift = nn.Parameter(torch.randn(1, out_channels, 1, 1, 1))

    def forward(self, x):
        return torch.sigmoid(self.up(x) + self.shift) * 2.0


def get_inputs():
    return [torch.randn(batch_size, in_channels, depth, height, width)]


def get_init_inputs():
    return [in_channels, out_channels]
