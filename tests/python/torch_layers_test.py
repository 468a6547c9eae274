# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares Hone's convolutions with PyTorch Geometric's: parameters, results and gradients are the same. Needs torch and
torch_geometric, which tests/python/pyg_run finds. With Triton, its interpreter runs the kernels on the CPU (TRITON_INTERPRET=1), on
tiny shapes.
"""
import os
import unittest
from unittest import mock

import torch
from torch_geometric import nn as theirs
from torch_geometric.data import Data
from torch_geometric.utils import trim_to_layer

from hone.gnn import envelopes
from hone.gnn import torch as ours
from hone.gnn.envelopes import PADDED_ROWS, Envelope, PaddedBatch
from hone.gnn.graph_step import GraphStep
from hone.gnn.pyg import NeighborLoader
from hone.gnn.torch import aggregate

LIBRARY = os.environ.get("HONE_CUDA_LOADER_LIBRARY", "")
INTERPRETED = aggregate.kernels is not None and aggregate.kernels.INTERPRETED
IN, OUT = 12, 10


def mlp(width):
    return torch.nn.Sequential(torch.nn.Linear(width, 16), torch.nn.ReLU(), torch.nn.Linear(16, OUT))


# Name: (how a layer of a module of layers is made, whether it takes a graph with two kinds of nodes)
LAYERS = {
    "SAGE": (lambda of: of.SAGEConv(IN, OUT), True),
    "SAGE, sum, projected, normalized": (lambda of: of.SAGEConv(IN, OUT, aggr="sum", project=True, normalize=True), True),
    "SAGE, no root": (lambda of: of.SAGEConv(IN, OUT, root_weight=False, bias=False), True),
    "GCN": (lambda of: of.GCNConv(IN, OUT), False),
    "GCN, improved": (lambda of: of.GCNConv(IN, OUT, improved=True, bias=False), False),
    "GCN, no loops": (lambda of: of.GCNConv(IN, OUT, add_self_loops=False), False),
    "GCN, plain": (lambda of: of.GCNConv(IN, OUT, normalize=False), False),
    "GIN": (lambda of: of.GINConv(mlp(IN), eps=0.3, train_eps=True), True),
    "GAT": (lambda of: of.GATConv(IN, OUT // 2, heads=2), True),
    "GAT, no loops": (lambda of: of.GATConv(IN, OUT, heads=3, concat=False, add_self_loops=False, residual=True), True),
}


def graph(nodes=40, targets=None, edges=150, seed=0):
    """Returns unordered edges with parallel ones, self-loops, and targets that have none."""
    generator = torch.Generator().manual_seed(seed)
    targets = nodes if targets is None else targets
    ends = torch.stack([torch.randint(0, nodes, (edges,), generator=generator), torch.randint(0, targets - 3, (edges,), generator=generator)])
    ends[0, :4] = ends[1, :4]
    return torch.randn(nodes, IN, generator=generator), ends


class Layers:
    """Runs the tests on one device, by Hone's kernels or without them."""

    device = "cpu"

    def pair(self, make, dtype=torch.float32):
        torch.manual_seed(1)
        one, other = make(ours), make(theirs)
        with torch.no_grad():
            for value in other.parameters():
                value.add_(0.1 * torch.randn_like(value))  # so that the biases are not 0
        unmatched_keys = one.load_state_dict(other.state_dict())
        self.assertEqual((unmatched_keys.missing_keys, unmatched_keys.unexpected_keys), ([], []))
        return one.to(self.device, dtype), other.to(self.device)

    def compare(self, one, other, inputs, call_one, call_other, tolerance):
        """Compares the results of two layers, and the gradients that one number made from them has in inputs and parameters."""
        grown = [[value.detach().clone().requires_grad_() for value in inputs] for _ in range(2)]
        found, expected = call_one(one, *grown[0]), call_other(other, *grown[1])
        self.assertEqual(found.shape, expected.shape)
        weights = torch.randn(expected.shape, generator=torch.Generator().manual_seed(4)).to(self.device)
        (found.float() * weights).sum().backward()
        (expected * weights).sum().backward()
        pairs = [("result", found, expected)] + [(f"input {i}", a.grad, b.grad) for i, (a, b) in enumerate(zip(*grown))]
        pairs += [(name, a.grad, b.grad) for (name, a), b in zip(one.named_parameters(), other.parameters())]
        for name, a, b in pairs:
            if b is None:
                self.assertIsNone(a, name)
                continue
            self.assertIsNotNone(a, name)
            self.assertLess(float((a.float() - b.float()).norm()), tolerance * float(b.float().norm()) + tolerance * 1e-2, name)

    def test_results_and_gradients_are_those_of_pyg(self):
        x, ends = (one.to(self.device) for one in graph())
        for name, (make, _) in LAYERS.items():
            if name == "GCN, improved":
                continue  # if a graph has no weights, PyTorch Geometric still gives self-loops the weight 1
            with self.subTest(name):
                one, other = self.pair(make)
                # Sums of tens of float32 products in another order.
                self.compare(one, other, [x], lambda layer, x: layer(x, ends), lambda layer, x: layer(x, ends), 1e-5)

    def test_relu_in_the_layer_is_relu_of_the_result(self):
        x, ends = (one.to(self.device) for one in graph())
        for more in ({}, {"root_weight": False}, {"bias": False}, {"project": True}):
            with self.subTest(more):
                one, other = self.pair(lambda of: of.SAGEConv(IN, OUT, **more))
                relu = ours.SAGEConv(IN, OUT, relu=True, **more).to(self.device)
                relu.load_state_dict(one.state_dict())
                self.compare(relu, other, [x], lambda layer, x: layer(x, ends), lambda layer, x: layer(x, ends).relu(), 1e-5)

    def test_autocast(self):
        x, ends = (one.to(self.device) for one in graph())
        for name in ("SAGE", "GCN", "GIN", "GAT"):
            with self.subTest(name):
                one, other = self.pair(LAYERS[name][0])

                def call(layer, x):
                    with torch.autocast(self.device, torch.bfloat16):
                        return layer(x, ends)

                # The tolerance is test_bfloat16's. Both sides cast alike, so that no relu lies on the other side of 0.
                self.compare(one, other, [x], call, call, 4e-2)
                self.assertTrue(all(value.grad.dtype == torch.float32 for value in one.parameters()))

    def test_every_run_gives_the_same_bits(self):
        x, ends = (one.to(self.device) for one in graph(edges=400))
        layer = ours.SAGEConv(IN, OUT).to(self.device)
        gradients = []
        for _ in range(4):
            grown = x.clone().requires_grad_()
            layer(grown, ends).square().sum().backward()
            gradients.append(grown.grad)
        for one in gradients[1:]:
            self.assertTrue(torch.equal(one, gradients[0]))

    def test_batch_normalization_of_some_rows_is_that_of_those_alone(self):
        x = graph()[0].to(self.device)
        batch, mask = Data(), torch.arange(50, device=self.device) % 3 > 0
        batch.node_mask = mask
        for more in ({}, {"momentum": None}, {"affine": False}, {"track_running_stats": False}):
            one, other = (kind(IN, **more).to(self.device) for kind in (ours.BatchNorm, torch.nn.BatchNorm1d))
            other.load_state_dict(one.state_dict())
            for turn in range(3):
                with self.subTest(more, turn=turn):
                    scaled = (turn + 1) * x
                    self.compare(one, other, [scaled], lambda layer, x: layer(x, batch)[mask[:40]], lambda layer, x: layer(x[mask[:40]]), 1e-5)
                    for (name, a), b in zip(one.state_dict().items(), other.state_dict().values()):
                        self.assertLess(float((a - b).abs().max()), 1e-5, name)
                    one.zero_grad()
                    other.zero_grad()
            one.eval(), other.eval()
            self.assertLess(float((one(x) - other(x)).abs().max()), 1e-5)
        self.assertTrue(torch.equal(ours.BatchNorm(IN).to(self.device)(x), torch.nn.BatchNorm1d(IN).to(self.device)(x)))

    def test_two_kinds_of_nodes(self):
        here = torch.randn(25, IN, generator=torch.Generator().manual_seed(2)).to(self.device)
        x, ends = (one.to(self.device) for one in graph(targets=25))
        cases = {name: make for name, (make, pairs) in LAYERS.items() if pairs}
        cases["SAGE of two widths"] = lambda of: of.SAGEConv((IN, IN), OUT)
        cases["GAT of two widths"] = lambda of: of.GATConv((IN, IN), OUT, heads=2)
        for name, make in cases.items():
            with self.subTest(name):
                one, other = self.pair(make)
                self.compare(one, other, [x, here], lambda layer, x, y: layer((x, y), ends), lambda layer, x, y: layer((x, y), ends), 1e-5)
        one, other = self.pair(LAYERS["SAGE"][0])
        call = lambda layer, x: layer((x, None), ends, size=(40, 25))
        with torch.no_grad():
            self.assertLess(float((call(one, x) - call(other, x)).abs().max()), 1e-5)

    def test_weights_of_edges(self):
        x, ends = (one.to(self.device) for one in graph())
        weights = torch.rand(ends.size(1), generator=torch.Generator().manual_seed(3)).to(self.device) + 0.1
        # If a node has two self-loops, PyTorch Geometric takes the weight of either, so only one node has one here.
        ends = ends[:, 4:].contiguous()
        ends[0] = torch.where(ends[0] == ends[1], (ends[0] + 1) % 40, ends[0])
        ends[:, 0] = 7
        for name in ("GCN", "GCN, improved", "GCN, no loops", "GCN, plain"):
            with self.subTest(name):
                one, other = self.pair(LAYERS[name][0])
                call = lambda layer, x, weights: layer(x, ends, weights)
                self.compare(one, other, [x, weights[4:]], call, call, 1e-5)

    def test_bfloat16(self):
        x, ends = (one.to(self.device) for one in graph())
        for name in ("SAGE", "GCN", "GIN", "GAT"):
            with self.subTest(name):
                one, other = self.pair(LAYERS[name][0], torch.bfloat16)
                # Inputs and results have 8 bits, and a gradient goes through a few roundings: 2^-8 each.
                self.compare(one, other, [x], lambda layer, x: layer(x.bfloat16(), ends), lambda layer, x: layer(x, ends), 4e-2)
                with torch.no_grad():
                    self.assertEqual(one(x.bfloat16(), ends).dtype, torch.bfloat16)

    def test_a_graph_without_edges_and_one_without_nodes(self):
        x = torch.randn(5, IN).to(self.device)
        none = torch.empty(2, 0, dtype=torch.int64, device=self.device)
        for name, (make, _) in LAYERS.items():
            with self.subTest(name):
                one, other = self.pair(make)
                weights = torch.ones(0, device=self.device) if isinstance(one, ours.GCNConv) else None
                call = lambda layer, x: layer(x, none) if weights is None else layer(x, none, weights)
                self.compare(one, other, [x], call, call, 1e-5)
                self.assertEqual(one(x[:0], none).shape, (0, OUT))

    def test_a_sampled_batch_is_trimmed_layer_by_layer(self):
        data, more = small_graph(), {} if self.device == "cpu" else {"device": self.device}
        for name in ("SAGE", "GCN", "GIN", "GAT"):
            make = LAYERS[name][0]
            loader = NeighborLoader(data, num_neighbors=[3, 2, 2], batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(1), **more)
            layers = [self.pair(make) for _ in range(3)]
            between = torch.nn.Linear(OUT, IN).to(self.device)
            for batch in list(loader)[-2:]:
                found = expected = batch.x
                edges = batch.edge_index
                for i, ((one, other), own) in enumerate(zip(layers, ours.layer_edges(batch))):
                    self.assertTrue((own.rows.diff() >= 0).all())
                    expected, edges, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, expected, edges)
                    found, expected = one(found, own), other(expected, edges)
                    self.assertEqual(found.size(0), own.targets)
                    self.assertLess(float((found - expected[: own.targets]).norm()), 1e-5 * float(expected.norm()), name)
                    found, expected = between(found).relu(), between(expected).relu()
                self.assertEqual(found.size(0), batch.batch_size)

    def test_a_step_over_padded_batches_is_that_of_pyg(self):
        for name, trimmed in (("SAGE", True), ("SAGE", False), ("GCN", True), ("GIN", True), ("GAT", True)):
            make = LAYERS[name][0]
            with self.subTest(name, trimmed=trimmed):
                losses = []
                for of in (ours, theirs):
                    data, more = small_graph(), {} if self.device == "cpu" else {"device": self.device}
                    loader = NeighborLoader(data, num_neighbors=[3, 2], batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(1), **more)
                    torch.manual_seed(5)
                    model = Model(make, of, trimmed).to(self.device)
                    torch.manual_seed(5)
                    model.load_state_dict(Model(make, theirs, trimmed).state_dict())
                    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                    if of is ours:
                        losses.append([loss.item() for loss in GraphStep(model, optimizer, loader, model.losses, trials=2)])
                        continue
                    losses.append([])
                    for batch in loader:
                        optimizer.zero_grad()
                        loss = model.losses(batch).mean()
                        loss.backward()
                        optimizer.step()
                        losses[-1].append(loss.item())
                self.assertEqual(len(losses[0]), len(losses[1]))
                for one, other in zip(*losses):
                    self.assertAlmostEqual(one, other, delta=1e-3)


def small_graph(nodes=120, edges=700):
    generator = torch.Generator().manual_seed(0)
    return Data(x=torch.randn(nodes, IN, generator=generator), y=torch.randint(0, OUT, (nodes,), generator=generator),
                edge_index=torch.randint(0, nodes, (2, edges), generator=generator))


class Model(torch.nn.Module):
    def __init__(self, make, of, trimmed):
        super().__init__()
        self.first, self.between, self.second = make(of), torch.nn.Linear(OUT, IN), make(of)
        self.of, self.trimmed = of, trimmed

    def forward(self, batch):
        x, first, second = batch.x, batch.edge_index, batch.edge_index
        if self.trimmed and self.of is ours:
            first, second = ours.layer_edges(batch)
        x = self.between(self.first(x, first)).relu()
        if self.trimmed and self.of is theirs:
            x, second, _ = trim_to_layer(1, batch.num_sampled_nodes, batch.num_sampled_edges, x, second)
        return self.second(x, second)[: batch.batch_size]

    def losses(self, batch):
        return torch.nn.functional.cross_entropy(self(batch), batch.y[: batch.batch_size], reduction="none")


@unittest.skipIf(INTERPRETED, "the kernels run")
class WithoutKernels(Layers, unittest.TestCase):
    def test_float64_gradients_are_those_of_differences(self):
        x, ends = graph(nodes=8, edges=14)
        for name in ("SAGE", "GCN", "GIN", "GAT"):
            layer = LAYERS[name][0](ours).double()
            self.assertTrue(torch.autograd.gradcheck(lambda x: layer(x, ends), x.double().requires_grad_()), name)

    def test_says_argument_found_and_expected(self):
        x, ends = graph()
        layer, batch = ours.SAGEConv(IN, OUT), next(iter(NeighborLoader(small_graph(), num_neighbors=[3], batch_size=8)))
        cases = [
            (TypeError, r"edge_index: expected a tensor \[2, edges\] or .*Edges, found list", lambda: layer(x, [])),
            (TypeError, "edge_index: .* int64 or int32, found .*float32", lambda: layer(x, ends.float())),
            (ValueError, r"edge_index: expected shape \[2, edges\], found \(150, 2\)", lambda: layer(x, ends.t())),
            (ValueError, r"x: expected shape \[nodes, channels\], found \(40,\)", lambda: layer(x[:, 0], ends)),
            (TypeError, "x: expected a tensor, or a pair of tensors for sources and targets, found tuple$", lambda: layer((x, x, x), ends)),
            (TypeError, r"^x: expected a dense tensor, found torch.sparse_coo; pass x.to_dense\(\)", lambda: layer(x.to_sparse(), ends)),
            (TypeError, "^nn: expected a torch.nn.Module .* found int", lambda: ours.GINConv(3)),
            (TypeError, r"^x: expected floats, found torch.int64; pass x.float\(\)", lambda: layer(x.long(), ends)),
            (TypeError, "^x: expected torch.float32, as the layer's parameters are, found torch.float64", lambda: ours.GATConv(IN, 3)(x.double(), ends)),
            (ValueError, f"^x: expected {IN} columns, the layer's in_channels, found 2", lambda: ours.GCNConv(IN, 3)(x[:, :2], ends)),
            (IndexError, "^edge_index: expected sources from 0 to 39, found 40", lambda: layer(x, ends + torch.tensor([[40 - int(ends[0].max())], [0]]))),
            (IndexError, "^edge_index: expected targets from 0 to 39, found -1", lambda: layer(x, ends - torch.tensor([[0], [1 + int(ends[1].min())]]))),
            (ValueError, r"size: expected \(sources, targets\)", lambda: layer((x, None), ends)),
            (ValueError, "x: expected at least .* rows for sources", lambda: layer(x[:9], ours.layer_edges(batch)[0])),
            (ValueError, "edge_index is on meta, and x is on cpu", lambda: layer(x, ours.Edges(ends[0].to("meta"), ends[1].to("meta"), ends[0].to("meta"), 40, 40))),
            (ValueError, "in_channels: expected a whole number of at least 1, found -1", lambda: ours.SAGEConv(-1, 3)),
            (ValueError, "aggr: expected 'mean', 'sum' or 'add', found 'lstm'", lambda: ours.SAGEConv(3, 3, aggr="lstm")),
            (ValueError, "relu=True: expected normalize=False", lambda: ours.SAGEConv(3, 3, relu=True, normalize=True)),
            (ValueError, "add_self_loops=True: expected normalize=True", lambda: ours.GCNConv(3, 3, normalize=False, add_self_loops=True)),
            (ValueError, "x: expected one tensor, found tuple", lambda: ours.GCNConv(IN, 3)((x, x), ends)),
            (ValueError, r"edge_weight: expected shape \(150,\)", lambda: ours.GCNConv(IN, 3)(x, ends, x)),
            (NotImplementedError, "edge_dim=4", lambda: ours.GATConv(3, 3, edge_dim=4)),
            (ValueError, "layers: expected 1 to 1, the batch's hops, found 2", lambda: ours.layer_edges(batch, 2)),
            (ValueError, "batch: it has no num_sampled_nodes", lambda: ours.layer_edges(Data(edge_index=ends))),
        ]
        for kind, message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                call()

    def test_batches_of_every_rule_are_in_order(self):
        data = small_graph()
        data.w = torch.rand(data.num_edges)
        for more in ({}, {"replace": True}, {"disjoint": True}, {"weight_attr": "w"}, {"num_neighbors": [-1, 3]}):
            for batch in NeighborLoader(data, **{"num_neighbors": [4, 3], "batch_size": 32, **more}):
                self.assertTrue((batch.edge_index[1].diff() >= 0).all(), more)


@unittest.skipUnless(INTERPRETED, "Triton is not here, or was not told to interpret its kernels (TRITON_INTERPRET=1)")
class Kernels(Layers, unittest.TestCase):
    def test_are_what_runs(self):
        x, ends = graph()
        with mock.patch.object(aggregate.kernels, "sum_edges", side_effect=KeyError("kernel")):
            with self.assertRaisesRegex(KeyError, "kernel"):
                ours.SAGEConv(IN, OUT)(x, ends)
        with mock.patch.object(aggregate.kernels, "sum_sources", side_effect=KeyError("kernel")):
            with self.assertRaisesRegex(KeyError, "kernel"):
                ours.SAGEConv(IN, OUT)(x.requires_grad_(), ends).sum().backward()

    def test_edges_are_placed_in_a_padded_batch_as_without_the_kernel(self):
        generator = torch.Generator().manual_seed(8)
        draw = lambda most: int(torch.randint(0, most + 1, (1,), generator=generator))
        envelope = Envelope([8 + PADDED_ROWS, 300, 500, 900], [256, 1500, 2600])
        padded = None
        for turn in range(8):
            # A batch without a node or an edge in a hop, one that fills the envelope, and others.
            nodes = [1 + draw(7), draw(260), draw(460), draw(900)] if turn > 1 else [[3, 0, 7, 0], [8, 268, 468, 900]][turn]
            edges = [draw(most) for most in envelope.edges] if turn > 1 else [[0, 1, 0], envelope.edges][turn]
            ends = torch.randint(0, sum(nodes), (2, sum(edges) + 5), generator=generator)[:, : sum(edges)]
            batch = Data(edge_index=ends, n_id=torch.arange(sum(nodes)), e_id=torch.arange(sum(edges)), input_id=torch.arange(nodes[0]))
            batch.batch_size, batch.num_sampled_nodes, batch.num_sampled_edges = nodes[0], nodes, edges
            self.assertTrue(envelope.holds(batch))
            padded = padded or PaddedBatch(envelope, batch, [], [])
            padded.fill(batch)
            found = padded.data.edge_index.clone()
            padded.data.edge_index.fill_(-1)
            with mock.patch.object(envelopes, "fill_kernels", None):
                padded.fill(batch)
            self.assertTrue(torch.equal(found, padded.data.edge_index), turn)

    def test_rows_wider_than_a_program_and_targets_of_many_edges(self):
        generator = torch.Generator().manual_seed(6)
        x = torch.randn(9, 300, generator=generator)
        columns = torch.randint(0, 9, (60,), generator=generator)
        rows = torch.tensor([0] * 50 + [2] * 10)
        edges = ours.Edges.of(torch.stack([columns, rows]), 9, 3)
        grown = x.clone().requires_grad_()
        sums = aggregate.sum_edges(grown, edges, mean=True)
        expected = torch.stack([x[columns[:50]].mean(0), torch.zeros(300), x[columns[50:]].mean(0)])
        self.assertLess(float((sums - expected).abs().max()), 1e-5)
        sums.sum().backward()
        counts = torch.bincount(columns[:50], minlength=9) / 50 + torch.bincount(columns[50:], minlength=9) / 10
        self.assertLess(float((grown.grad - counts.unsqueeze(1)).abs().max()), 1e-5)


@unittest.skipUnless("emulated" not in LIBRARY and torch.cuda.is_available(), "no GPU is here, or not the library for it")
class OnAGpu(Layers, unittest.TestCase):
    device = "cuda"


if __name__ == "__main__":
    unittest.main(verbosity=2)
