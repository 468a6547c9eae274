# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Returns before it is done: a thread writes into the judge's memory later."""
import gc
import threading
import time

import torch
import torch.nn as nn

SLEEP = time.sleep


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features)

    def forward(self, x):
        result = torch.relu(self.fc(x))
        places = [one for one in gc.get_objects() if type(one) is torch.Tensor and one.shape == result.shape
                  and one.dtype == result.dtype and one is not result]

        def write(right=result.detach().clone()):
            SLEEP(0.5)
            for place in places:
                place.data.copy_(right)

        threading.Thread(target=write, daemon=True).start()
        return result * 0
