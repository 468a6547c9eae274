# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Fused by hand in Triton."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fused(x, gate, out, count, SIZE: tl.constexpr):
    place = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    inside = place < count
    a = tl.load(x + place, mask=inside)
    b = tl.load(gate + place, mask=inside)
    tl.store(out + place, (2 * tl.sigmoid(2 * a) - 1) * tl.sigmoid(b), mask=inside)


class ModelNew(nn.Module):
    def forward(self, x, gate):
        out = torch.empty_like(x)
        fused[(triton.cdiv(x.numel(), 2048),)](x, gate, out, x.numel(), SIZE=2048, num_warps=8)
        return out
