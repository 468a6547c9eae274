# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Two convolutions, poolings and a classifier."""
import torch
import torch.nn as nn
import torch.nn.functional as F

batch_size = 4
classes = 10


class Model(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.first = nn.Conv2d(1, 4, 3)
        self.second = nn.Conv2d(4, 8, 2)
        self.classify = nn.Linear(8 * 2 * 2, classes)

    def forward(self, image):
        x = F.max_pool2d(F.relu(self.first(image)), 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2)
        return self.classify(torch.flatten(x, 1))


def get_inputs():
    return [torch.rand(batch_size, 1, 12, 12)]


def get_init_inputs():
    return [classes]
