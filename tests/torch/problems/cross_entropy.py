# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The negative log likelihood of each row's class."""
import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 1024
classes = 512


class Model(nn.Module):
    def forward(self, logits, labels):
        return F.cross_entropy(logits, labels, reduction="none")


def get_inputs():
    return [torch.randn(rows, classes), torch.randint(0, classes, (rows,))]


def get_init_inputs():
    return []
