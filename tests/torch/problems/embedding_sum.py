# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Rows of a table, chosen by indices and added up."""
import torch
import torch.nn as nn

batch_size = 2048
bag = 16
vocabulary = 50000
width = 128


class Model(nn.Module):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)

    def forward(self, ids):
        return self.table(ids).sum(dim=1)


def get_inputs():
    return [torch.randint(0, vocabulary, (batch_size, bag))]


def get_init_inputs():
    return [vocabulary, width]
