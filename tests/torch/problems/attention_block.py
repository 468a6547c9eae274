# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Causal self-attention with its projections."""
import math

import torch
import torch.nn as nn

batch_size = 8
length = 256
heads = 8
embedding = 512


class Model(nn.Module):
    def __init__(self, embedding, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(embedding, 3 * embedding)
        self.project = nn.Linear(embedding, embedding)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).split(width, dim=2)
        q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(width // self.heads)
        mask = torch.ones(length, length, device=x.device).tril() == 0
        weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
        return self.project((weights @ v).transpose(1, 2).reshape(batch, length, width))


def get_inputs():
    return [torch.randn(batch_size, length, embedding)]


def get_init_inputs():
    return [embedding, heads]
