# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements chosen by a boolean mask, and which of them are large, as booleans again."""
import torch
import torch.nn as nn

rows = 2048
width = 1024


class Model(nn.Module):
    def forward(self, x, mask):
        chosen = torch.where(mask, x, 0.25 * x)
        return chosen, (chosen > 0.5) & mask


def get_inputs():
    return [torch.rand(rows, width), torch.randint(0, 2, (rows, width)).bool()]


def get_init_inputs():
    return []
