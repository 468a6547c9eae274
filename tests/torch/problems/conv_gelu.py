# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A two-dimensional convolution with padding and stride, and an activation."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 32
in_channels = 16
out_channels = 64
height, width = 112, 96
kernel_size = 3


class Model(nn.Module):
    def __init__(self, in_channels, out_channels, kernel_size):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, out_channels, kernel_size, stride=2, padding=1)

    def forward(self, image):
        return F.gelu(self.conv(image))


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, out_channels, kernel_size]
