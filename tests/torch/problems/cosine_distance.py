# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""One less the cosine between rows of two matrices."""
import torch
import torch.nn as nn
import torch.nn.functional as F

rows = 1024
width = 768


class Model(nn.Module):
    def forward(self, a, b):
        return 1.0 - F.cosine_similarity(a, b, dim=1)


def get_inputs():
    return [torch.rand(rows, width), torch.rand(rows, width)]


def get_init_inputs():
    return []
