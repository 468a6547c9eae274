# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The logarithm of a softmax over rows."""
import torch
import torch.nn as nn

rows = 2048
width = 1000


class Model(nn.Module):
    def forward(self, logits):
        return torch.log_softmax(logits, dim=1)


def get_inputs():
    return [torch.randn(rows, width)]


def get_init_inputs():
    return []
