# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A small network whose sizes stand in a tuple and in a list."""
import torch
import torch.nn as nn

batch_size = 512
input_shape = (768,)
layer_sizes = [640, 384]


class Model(nn.Module):
    def __init__(self, width, sizes):
        super().__init__()
        layers = []
        for size in sizes:
            layers += [nn.Linear(width, size), nn.ReLU()]
            width = size
        self.network = nn.Sequential(*layers)

    def forward(self, x):
        return self.network(x)


def get_inputs():
    return [torch.rand(batch_size, *input_shape)]


def get_init_inputs():
    return [input_shape[0], layer_sizes]
