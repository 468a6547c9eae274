# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A one-dimensional maximum over spread places."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 8
channels = 32
length = 512


class Model(nn.Module):
    def forward(self, x):
        return F.max_pool1d(x, 3, stride=1, dilation=4)


def get_inputs():
    return [torch.randn(batch_size, channels, length)]


def get_init_inputs():
    return []
