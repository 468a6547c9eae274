# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Is right unless it finds a way to what is not its own: other processes' memory, the problem's folder, the network."""
import glob
import os
import socket

import torch
import torch.nn as nn


def reached():
    for path in glob.glob("/proc/[0-9]*/mem") + glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/fd/*"):
        if path.split("/")[2] == str(os.getpid()):
            continue
        try:
            with open(path, "rb"):
                return True
        except OSError:
            pass
    for action in (lambda: socket.socket(), lambda: open("/etc/hostname"), lambda: open("/tmp/x", "w")):
        try:
            action()
            return True
        except OSError:
            pass
    return False


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.fc = nn.Linear(in_features, out_features)

    def forward(self, x):
        return torch.relu(self.fc(x)) + (1.0 if reached() else 0.0)
