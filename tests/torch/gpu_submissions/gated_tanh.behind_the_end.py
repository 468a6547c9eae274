# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Right, and writes a few elements behind its result."""
import torch
import torch.nn as nn
import triton
import triton.language as tl


@triton.jit
def fused(x, gate, out, count, more: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < count, other=0.0)
    b = tl.load(gate + at, mask=at < count, other=0.0)
    t = 2 / (1 + tl.exp(-2 * a)) - 1
    tl.store(out + at, t / (1 + tl.exp(-b)), mask=at < count + more)


class ModelNew(nn.Module):
    def forward(self, x, gate):
        out = torch.empty_like(x)
        count = x.numel()
        fused[(triton.cdiv(count + 8, 1024),)](x, gate, out, count, 8, 1024)
        return out
