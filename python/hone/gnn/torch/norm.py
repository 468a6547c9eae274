# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Implements batch normalization over those rows of a batch that are nodes. Needs torch."""
from __future__ import annotations

from typing import Any

import torch


class BatchNorm(torch.nn.BatchNorm1d):
    """torch.nn.BatchNorm1d, with its arguments and parameters, that leaves out the padded rows of a GraphStep's batches.

    Padded rows belong to no node, and their number changes with the envelope; torch.nn.BatchNorm1d would include them in its statistics.
    """

    def forward(self, x: torch.Tensor, batch: Any = None) -> torch.Tensor:
        """Returns [rows, features]. x: floating [rows, features], whose rows are the first nodes of `batch`. batch: a batch of the loader or of a
        GraphStep. Without a batch, or if it has no `node_mask`, every row is included."""
        mask = getattr(batch, "node_mask", None)
        if mask is None or not (self.training or self.running_mean is None):
            return super().forward(x)
        if x.dim() != 2 or x.size(0) > mask.numel():
            raise ValueError(f"x: expected shape [rows, {self.num_features}] with at most the {mask.numel()} rows of the batch, found {tuple(x.shape)}")
        mask = mask[: x.size(0)].unsqueeze(1)
        count = mask.sum().to(torch.float32)
        wide = torch.where(mask, x.to(torch.promote_types(x.dtype, torch.float32)), 0.0)
        mean = wide.sum(0) / count
        apart = torch.where(mask, wide - mean, 0.0)
        variance = apart.square().sum(0) / count
        if self.training and self.track_running_stats and self.running_mean is not None:
            with torch.no_grad():
                self.num_batches_tracked.add_(1)
                share = 1.0 / self.num_batches_tracked.to(torch.float32) if self.momentum is None else self.momentum
                unbiased = variance * (count / (count - 1).clamp(min=1))
                self.running_mean.add_(share * (mean - self.running_mean))
                self.running_var.add_(share * (unbiased - self.running_var))
        out = (x - mean) * (variance + self.eps).rsqrt()
        if self.affine:
            out = out * self.weight + self.bias
        return out.to(x.dtype)
