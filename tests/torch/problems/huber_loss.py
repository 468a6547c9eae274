# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The mean of a loss that is a square near zero."""
import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 256
width = 512


class Model(nn.Module):
    def forward(self, prediction, target):
        return F.smooth_l1_loss(prediction, target)


def get_inputs():
    return [torch.randn(rows, width), torch.randn(rows, width)]


def get_init_inputs():
    return []
