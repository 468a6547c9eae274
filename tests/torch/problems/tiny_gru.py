# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A recurrent layer over a short sequence."""
import torch
import torch.nn as nn

batch_size = 4
length = 6
in_features = 8
hidden = 16


class Model(nn.Module):
    def __init__(self, in_features, hidden):
        super().__init__()
        self.gru = nn.GRU(in_features, hidden, batch_first=True)

    def forward(self, x):
        return self.gru(x)[0]


def get_inputs():
    return [torch.randn(batch_size, length, in_features)]


def get_init_inputs():
    return [in_features, hidden]
