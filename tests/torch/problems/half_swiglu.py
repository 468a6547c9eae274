# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""A gated unit in float16."""
import torch
import torch.nn as nn
import torch.nn.functional as F

tokens = 4096
width = 5504


class Model(nn.Module):
    def forward(self, gate, up):
        return F.silu(gate) * up


def get_inputs():
    return [torch.randn(tokens, width).half(), torch.randn(tokens, width).half()]


def get_init_inputs():
    return []
