# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A grouped convolution with a stride of its own an axis, operators on elements, and a second convolution of one element."""
import torch
import torch.nn as nn

batch_size = 16
in_channels = 32
channels = 64
out_channels = 48
height, width = 96, 80


class Model(nn.Module):
    def __init__(self, in_channels, channels, out_channels):
        super().__init__()
        self.first = nn.Conv2d(in_channels, channels, (3, 5), stride=(1, 2), padding=(1, 2), dilation=(2, 1), groups=2, bias=False)
        self.gain = nn.Parameter(torch.randn(channels, 1, 1))
        self.second = nn.Conv2d(channels, out_channels, 1)

    def forward(self, x):
        x = torch.nn.functional.mish(self.first(x) * self.gain)
        return torch.clamp(self.second(x) - 0.1, min=0.0)


def get_inputs():
    return [torch.rand(batch_size, in_channels, height, width)]


def get_init_inputs():
    return [in_channels, channels, out_channels]
