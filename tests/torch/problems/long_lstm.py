# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Layers of an LSTM in both directions over a long sequence, from a given state."""
import torch
import torch.nn as nn

batch_size = 16
length = 600
features = 96
hidden = 128
layers = 3


class Model(nn.Module):
    def __init__(self, features, hidden, layers):
        super().__init__()
        self.lstm = nn.LSTM(features, hidden, layers, batch_first=True, bidirectional=True)

    def forward(self, x, first, cell):
        out, (last, _) = self.lstm(x, (first, cell))
        return out[:, -1], last


def get_inputs():
    return [torch.rand(batch_size, length, features), torch.rand(2 * layers, batch_size, hidden), torch.rand(2 * layers, batch_size, hidden)]


def get_init_inputs():
    return [features, hidden, layers]
