# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A convolution, an activation with a scale, and a maximum over squares."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 4
in_channels = 3
out_channels = 8
height = 20
width = 16


class Model(nn.Module):
    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, 3, padding=1)
        self.scale = nn.Parameter(torch.rand(out_channels, 1, 1) + 0.5)

    def forward(self, image):
        return F.max_pool2d(torch.tanh(self.conv(image)) * self.scale, 2)


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels]
