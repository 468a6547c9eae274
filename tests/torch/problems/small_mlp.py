# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Three linear layers: level 3 in small."""
import torch
import torch.nn as nn

batch_size = 128
in_features = 512
hidden = 1024
classes = 256


class Model(nn.Module):
    def __init__(self, in_features, hidden, classes):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(in_features, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                    nn.Linear(hidden, classes))

    def forward(self, x):
        return self.layers(x)


def get_inputs():
    return [torch.rand(batch_size, in_features)]


def get_init_inputs():
    return [in_features, hidden, classes]
