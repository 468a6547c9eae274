# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A mean over the middle axis."""
import torch
import torch.nn as nn

batch_size = 64
length = 1024
channels = 512


class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.dim = dim

    def forward(self, x):
        return torch.mean(x, dim=self.dim)


def get_inputs():
    return [torch.rand(batch_size, length, channels)]


def get_init_inputs():
    return [1]
