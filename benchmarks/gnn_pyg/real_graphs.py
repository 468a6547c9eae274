# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads real graphs for comparisons of accuracy: an .npz with scipy's CSR members (cora, citeseer), or facebook_large's folder."""
import csv
import json
import math
import os
import statistics

import numpy
import torch
from torch_geometric.data import Data
from torch_geometric.utils import to_undirected

# Two-sided 95 % quantiles of Student's t, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 4: 2.776, 9: 2.262, 19: 2.093}


def read(path):
    """Returns edge_index with both directions of each edge, x and y."""
    if os.path.isdir(path):
        name = os.path.join(path, "facebook_")
        with open(name + "features.json") as file:
            features = json.load(file)
        with open(name + "target.csv") as file:
            kinds = {int(row["id"]): row["page_type"] for row in csv.DictReader(file)}
        with open(name + "edges.csv") as file:
            edges = torch.tensor([[int(row["id_1"]), int(row["id_2"])] for row in csv.DictReader(file)]).t()
        classes = sorted(set(kinds.values()))
        y = torch.tensor([classes.index(kinds[v]) for v in range(len(kinds))])
        x = torch.zeros(len(kinds), 1 + max(max(row, default=0) for row in features.values()))
        for v, row in features.items():
            x[int(v), row] = 1
    else:
        with numpy.load(path, allow_pickle=False) as found:
            def matrix(kind):
                # Only these members are read, because others of the file are pickled objects.
                begin, column, data, shape = (found[f"{kind}_{part}"] for part in ("indptr", "indices", "data", "shape"))
                rows = numpy.repeat(numpy.arange(shape[0]), numpy.diff(begin))
                return torch.from_numpy(rows.astype("int64")), torch.from_numpy(column.astype("int64")), torch.from_numpy(data.astype("float32")), shape

            rows, columns, _, _ = matrix("adj")
            edges = torch.stack([rows, columns])
            rows, columns, data, shape = matrix("attr")
            x = torch.zeros(*shape)
            x[rows, columns] = data
            y = torch.from_numpy(found["labels"].astype("int64"))
    return to_undirected(edges), x, y


class DataSet:
    """Has the attributes of data sets of PyTorch Geometric and of OGB that the scripts use."""

    def __init__(self, path, seed):
        edge_index, x, y = read(path)
        self.num_features = self.num_node_features = x.size(1)
        self.num_classes = int(y.max()) + 1
        part = torch.empty(y.numel(), dtype=torch.int64)
        generator = torch.Generator().manual_seed(seed)
        for kind in range(self.num_classes):  # the split is stratified by class
            nodes = (y == kind).nonzero().view(-1)
            nodes = nodes[torch.randperm(nodes.numel(), generator=generator)]
            cuts = round(0.6 * nodes.numel()), round(0.8 * nodes.numel())
            for i, some in enumerate((nodes[: cuts[0]], nodes[cuts[0] : cuts[1]], nodes[cuts[1] :])):
                part[some] = i
        self.data = Data(x=x, y=y, edge_index=edge_index, train_mask=part == 0, val_mask=part == 1, test_mask=part == 2)
        self._part = part

    def __getitem__(self, index):
        return self.data

    def get_idx_split(self):
        return {name: (self._part == i).nonzero().view(-1) for i, name in enumerate(("train", "valid", "test"))}


def side_by_side(found):
    """Compares accuracies of the same seeds, {"ours": [...], "theirs": [...]}: returns means, deviations, and the mean difference of pairs with its
    interval."""
    apart = [a - b for a, b in zip(found["ours"], found["theirs"])]
    half = STUDENT.get(len(apart) - 1, 2.0) * statistics.stdev(apart) / math.sqrt(len(apart)) if len(apart) > 1 else math.inf
    return {"accuracy": found, "mean": {key: statistics.mean(values) for key, values in found.items()},
            "deviation": {key: statistics.stdev(values) if len(values) > 1 else 0.0 for key, values in found.items()},
            "difference": statistics.mean(apart), "half_of_95_percent_interval": half}
