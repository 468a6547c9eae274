# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A two-dimensional average pooling, padding counted."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 8
channels = 32
height = 64
width = 64


class Model(nn.Module):
    def forward(self, x):
        return F.avg_pool2d(x, 3, stride=2, padding=1)


def get_inputs():
    return [torch.rand(batch_size, channels, height, width)]


def get_init_inputs():
    return []
