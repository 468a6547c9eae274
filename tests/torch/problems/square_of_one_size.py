# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A hinge loss whose signs are broadcast along the other axis, so that rows and columns must be the same number."""
import torch
import torch.nn as nn

rows = 512
columns = (512,)


class Model(nn.Module):
    def forward(self, x, signs):
        return torch.mean(torch.clamp(1.0 - x * signs, min=0.0), dim=0)


def get_inputs():
    return [torch.rand(rows, *columns), torch.randint(0, 2, (rows,)).float() * 2 - 1]


def get_init_inputs():
    return []
