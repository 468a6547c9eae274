# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own compiler."""
import torch
import torch.nn as nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features)
        self.fused = torch.compile(lambda x: torch.relu(self.fc(x)))

    def forward(self, x):
        return self.fused(x)
