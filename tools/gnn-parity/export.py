# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Trains one model with PyTorch Geometric for a few steps and writes all that another program needs to do the same.

The file (safetensors): the graph by destination (row_offsets, columns), x, labels, seeds [steps, batch],
init.NAME for every entry of the state_dict, logits and grad.NAME of step 1, losses [steps], and control_losses [steps]
of the same run with the edges of every batch in another order. Metadata: the options.
"""
import argparse
import copy

import numpy as np
import torch
from safetensors.numpy import save_file

import models


def read_graph(path):
    """Returns the in-neighbors of every node, each edge of the file in both directions, duplicates kept."""
    with np.load(path, allow_pickle=False) as file:
        members = {name: file[name] for name in file.files
                   if name.startswith(("adj_", "attr_")) or name == "labels"}
    nodes = int(members["adj_shape"][0])
    rows = np.repeat(np.arange(nodes), np.diff(members["adj_indptr"]))
    columns = members["adj_indices"].astype(np.int64)
    destination = np.concatenate([rows, columns])
    source = np.concatenate([columns, rows])
    order = np.lexsort((source, destination))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(destination, minlength=nodes))])
    x = np.zeros(tuple(members["attr_shape"]), dtype=np.float32)
    attr_rows = np.repeat(np.arange(nodes), np.diff(members["attr_indptr"]))
    x[attr_rows, members["attr_indices"]] = members["attr_data"]
    return offsets, source[order], x, members["labels"].astype(np.int64)


def full_blocks(offsets, columns, seeds, layers, order=None):
    """Returns blocks with every neighbor of every node known so far, hop by hop; the outermost hop comes first. The seeds lead the nodes;
    the others come in any order. `order` draws another order of the edges."""
    nodes = np.array(seeds)
    local = np.full(len(offsets) - 1, -1)
    local[nodes] = np.arange(len(nodes))
    blocks = []
    for _ in range(layers):
        known = len(nodes)
        degrees = offsets[nodes + 1] - offsets[nodes]
        destination = np.repeat(np.arange(known), degrees)
        within = np.arange(len(destination)) - np.repeat(np.cumsum(degrees) - degrees, degrees)
        source = columns[np.repeat(offsets[nodes], degrees) + within]
        new = np.unique(source[local[source] < 0])
        local[new] = known + np.arange(len(new))
        nodes = np.concatenate([nodes, new])
        edges = np.stack([local[source], destination])
        if order is not None:
            edges = edges[:, order.permutation(edges.shape[1])]
        blocks.insert(0, (torch.tensor(edges), known))
    return nodes, blocks


def train(model, rate, steps):
    """Makes one step of Adam for each (blocks, x, wanted), and yields the loss and the logits before it, the gradients in place."""
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    for blocks, x, wanted in steps:
        logits = model(x, blocks)
        loss = torch.nn.functional.cross_entropy(logits, wanted)
        optimizer.zero_grad()
        loss.backward()
        yield loss.item(), logits
        optimizer.step()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", required=True, help="cora.npz")
    parser.add_argument("--output", required=True)
    parser.add_argument("--model", required=True, choices=["sage", "gat", "gin", "sage-ri"])
    parser.add_argument("--mode", default="train", choices=["train", "eval"], help="of batch normalisation")
    parser.add_argument("--norm", default="", choices=["", "batch"])
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--heads", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=0.003)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    torch.set_default_dtype(getattr(torch, args.dtype))
    offsets, columns, features, labels = read_graph(args.graph)
    classes = int(labels.max()) + 1
    model = models.build(args.model, features.shape[1], args.hidden, classes, args.layers, args.heads, args.norm)
    if args.mode == "eval":  # constants worth normalising by
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm1d):
                module.running_mean.uniform_(-0.5, 0.5)
                module.running_var.uniform_(0.5, 2.0)
    model.train(args.mode == "train")

    def array(tensor):  # a scalar keeps its shape, and memory is the file's own
        return np.array(tensor.detach().numpy())

    tensors = {"init." + name: array(value) for name, value in model.state_dict().items()}
    draw = np.random.default_rng(args.seed)
    seeds = np.stack([draw.permutation(len(labels))[:args.batch] for _ in range(args.steps)]).astype(np.int64)
    def batches(order=None):
        for row in seeds:
            nodes, blocks = full_blocks(offsets, columns, row, args.layers, order)
            yield blocks, torch.tensor(features[nodes], dtype=torch.get_default_dtype()), torch.tensor(labels[row])

    again = copy.deepcopy(model)
    losses = []
    for loss, logits in train(model, args.rate, batches()):
        if not losses:
            tensors["logits"] = array(logits)
            for name, parameter in model.named_parameters():
                tensors["grad." + name] = array(parameter.grad)
        losses.append(loss)
    # The same run with the edges in another order: how far rounding alone takes PyTorch Geometric from itself.
    control = [loss for loss, _ in train(again, args.rate, batches(np.random.default_rng(args.seed + 1)))]
    tensors["control_losses"] = np.array(control)
    tensors["losses"] = np.array(losses)
    tensors["row_offsets"] = offsets.astype(np.int64)
    tensors["columns"] = columns
    tensors["labels"] = labels
    tensors["x"] = features
    tensors["seeds"] = seeds
    metadata = {name: str(value) for name, value in vars(args).items() if name not in ("graph", "output")}
    save_file(tensors, args.output, metadata=metadata)


if __name__ == "__main__":
    main()
