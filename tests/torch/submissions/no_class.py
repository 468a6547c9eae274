# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Has no ModelNew."""
import torch.nn as nn


class Model(nn.Module):
    pass
