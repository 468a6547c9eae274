# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the loader and the sampler for PyTorch Geometric. Needs torch and torch_geometric, which tests/python/pyg_run finds."""
import collections
import copy
import gc
import itertools
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

from unittest import mock

import torch
from torch.utils.data import DistributedSampler
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import GraphSAGE
from torch_geometric.utils import trim_to_layer

from hone.gnn import cuda_batches, native, pyg
from hone.gnn.native import LibraryError
from hone.gnn.pyg import HoneSampler, NeighborLoader

try:
    import pytorch_lightning as lightning
except ImportError:
    lightning = None

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "pyg.md")


def graph(nodes=600, edges=9000, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return Data(
        x=torch.randn(nodes, 17, generator=generator),
        half=torch.randn(nodes, 4, generator=generator).half(),
        y=torch.randint(0, 5, (nodes,), generator=generator),
        edge_index=torch.randint(0, nodes, (2, edges), generator=generator),
        edge_attr=torch.randn(edges, 3, generator=generator),
        train_mask=torch.rand(nodes, generator=generator) < 0.4,
        note="kept as it is",
    )


def any_layout():
    """Returns float and complex tensors of 600 rows whose memory is not their rows one after another."""
    generator = torch.Generator().manual_seed(2)
    complex_rows = torch.complex(*torch.randn(2, 600, 5, generator=generator))
    return {
        "transposed": torch.randn(17, 600, generator=generator).t(),
        "every second column": torch.randn(600, 34, generator=generator)[:, ::2],
        "the first columns": torch.randn(600, 34, generator=generator)[:, :17],
        "one row, repeated": torch.randn(1, 17, generator=generator).expand(600, 17),
        "conjugate": complex_rows.conj(),  # a view, whose bytes are not its values
        "negative": complex_rows.conj().imag,
        "of three dimensions": torch.randn(600, 3, 2, generator=generator).transpose(1, 2),
    }


def loader(data, **more):
    options = dict(num_neighbors=[6, 4], input_nodes=data.train_mask, batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(1))
    return NeighborLoader(data, **{**options, **more})


class ABatch(unittest.TestCase):
    def test_holds_the_rows_of_its_nodes_and_edges(self):
        data = graph()
        neighbor_loader = loader(data)
        seen_seeds = []
        for batch in neighbor_loader:
            self.assertEqual(set(batch.keys()), set(data.keys()) | {"n_id", "e_id", "input_id", "batch_size", "num_sampled_nodes", "num_sampled_edges"})
            for key in ("x", "half", "y", "train_mask"):
                self.assertTrue(torch.equal(batch[key], data[key][batch.n_id]), key)
            self.assertTrue(torch.equal(batch.edge_attr, data.edge_attr[batch.e_id]))
            self.assertTrue(torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id]))
            self.assertEqual(batch.e_id.unique().numel(), batch.e_id.numel())
            self.assertEqual((sum(batch.num_sampled_nodes), sum(batch.num_sampled_edges)), (batch.num_nodes, batch.num_edges))
            self.assertEqual(batch.num_sampled_nodes[0], batch.batch_size)
            self.assertTrue(batch.train_mask[: batch.batch_size].all())
            self.assertEqual(batch.note, data.note)
            seen_seeds.append(batch.input_id)
        self.assertTrue(torch.equal(torch.cat(seen_seeds).sort().values, torch.arange(int(data.train_mask.sum()))))
        self.assertEqual(len(seen_seeds), len(neighbor_loader))

    def test_holds_values_of_tensors_of_any_layout(self):
        data = graph()
        for name, data.x in any_layout().items():
            with self.subTest(name):
                batch = next(iter(loader(data)))
                self.assertTrue(torch.equal(batch.x, data.x[batch.n_id]))
        data.x = torch.quantize_per_tensor(graph().x, 0.1, 0, torch.qint8)
        batch = next(iter(loader(data)))
        self.assertTrue(torch.equal(batch.x.dequantize(), data.x.dequantize()[batch.n_id]))

    def test_draws_no_more_neighbors_than_asked_for_and_all_where_there_are_fewer(self):
        data = graph()
        degree = torch.bincount(data.edge_index[1], minlength=data.num_nodes)
        for batch in loader(data, num_neighbors=[5, -1]):
            drawn = torch.bincount(batch.edge_index[1], minlength=batch.num_nodes)
            seed_count = batch.batch_size
            second = seed_count + batch.num_sampled_nodes[1]
            self.assertTrue(torch.equal(drawn[:seed_count], degree[batch.n_id[:seed_count]].clamp(max=5)))
            self.assertTrue(torch.equal(drawn[seed_count:second], degree[batch.n_id[seed_count:second]]))
            self.assertEqual(int(drawn[second:].sum()), 0)

    def test_outlives_its_loader_and_memory_stays_flat(self):
        data = graph(nodes=4000, edges=80000)
        neighbor_loader = loader(data, batch_size=256)
        kept_batch = next(iter(neighbor_loader))
        copy = kept_batch.x.clone()
        memory_before = None
        for epoch in range(60):
            for batch in neighbor_loader:
                pass
            if epoch == 10:
                memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, memory_before * 1.05 + 8192)
        del neighbor_loader, batch
        gc.collect()
        self.assertTrue(torch.equal(kept_batch.x, copy))

    def test_goes_through_a_model_trimmed_layer_by_layer(self):
        data = graph()
        model = GraphSAGE(17, 8, num_layers=2, out_channels=5)
        for batch in loader(data):
            x, edges = batch.x, batch.edge_index
            whole_output = model(x, edges)[: batch.batch_size]
            for i, (convolution, act) in enumerate(zip(model.convs, (torch.relu, torch.nn.Identity()))):
                x, edges, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
                x = act(convolution(x, edges))
            self.assertTrue(torch.allclose(x[: batch.batch_size], whole_output, atol=1e-5))
            torch.nn.functional.cross_entropy(whole_output, batch.y[: batch.batch_size]).backward()


def star(degree, weights=None):
    """Returns a graph in which node 0 has edges from the nodes 1 to degree."""
    edges = torch.stack([torch.arange(1, degree + 1), torch.zeros(degree, dtype=torch.int64)])
    return Data(edge_index=edges, num_nodes=degree + 1, w=torch.ones(degree) if weights is None else torch.tensor(weights))


class WhatIsDrawn(unittest.TestCase):
    """Compares draws with the rules of PyTorch Geometric's sampler, worked out by hand: its own needs a library without a wheel."""

    DRAWS = 8000

    def assertDistributed(self, draws, expected, critical):
        """Tests `counts` against the probabilities `expected` by chi-squared. One right sample in a thousand exceeds `critical`."""
        self.assertLessEqual(set(draws), set(expected), "draws that cannot be")
        total = sum(draws.values())
        statistic = sum((draws[key] - total * p) ** 2 / (total * p) for key, p in expected.items())
        self.assertLess(statistic, critical)

    def draws(self, data, seeds=1, **more):
        """Counts over DRAWS batches of node 0 which sources a batch has, in the batch's order."""
        neighbor_loader = NeighborLoader(data, input_nodes=torch.zeros(seeds, dtype=torch.int64), batch_size=seeds, generator=torch.Generator().manual_seed(3), **more)
        return collections.Counter(tuple(data.edge_index[0, neighbor_loader(range(seeds)).e_id].tolist()) for _ in range(self.DRAWS))

    def test_replace_draws_each_neighbor_anew(self):
        pairs = {pair: 1 / 9 for pair in itertools.product((1, 2, 3), repeat=2)}
        self.assertDistributed(self.draws(star(3), num_neighbors=[2], replace=True), pairs, 26.1)
        batch = next(iter(NeighborLoader(star(1), [4], input_nodes=torch.tensor([0]), replace=True)))
        self.assertEqual((batch.num_nodes, batch.edge_index.tolist(), batch.e_id.tolist()), (2, [[1] * 4, [0] * 4], [0] * 4))

    def test_weights_draw_one_after_another_from_what_is_left(self):
        weights = {1: 1.0, 2: 2.0, 3: 5.0}
        pairs = {(a, b): weights[a] / 8 * weights[b] / (8 - weights[a]) + weights[b] / 8 * weights[a] / (8 - weights[b]) for a, b in itertools.combinations(weights, 2)}
        self.assertDistributed(self.draws(star(3, list(weights.values())), num_neighbors=[2], weight_attr="w"), pairs, 13.8)

    def test_weights_with_replacement_are_probabilities(self):
        data = star(3, [[3.0], [0.0], [1.0]])  # of shape [edges, 1]
        pairs = {(1, 1): 9 / 16, (1, 3): 3 / 16, (3, 1): 3 / 16, (3, 3): 1 / 16}
        self.assertDistributed(self.draws(data, num_neighbors=[2], weight_attr="w", replace=True), pairs, 16.3)

    def test_trees_that_are_apart_draw_independently(self):
        pairs = {pair: 1 / 9 for pair in itertools.product((1, 2, 3), repeat=2)}
        self.assertDistributed(self.draws(star(3), seeds=2, num_neighbors=[1], disjoint=True), pairs, 26.1)

    def test_a_disjoint_batch_is_one_tree_a_seed(self):
        data = graph()
        for batch in loader(data, disjoint=True, num_neighbors=[3, 3]):
            self.assertTrue(torch.equal(batch.batch[: batch.batch_size], torch.arange(batch.batch_size)))
            self.assertTrue(torch.equal(batch.batch[batch.edge_index[0]], batch.batch[batch.edge_index[1]]), "no edge leaves its tree")
            pairs = torch.stack([batch.batch, batch.n_id], 1)
            self.assertEqual(pairs.unique(dim=0).size(0), batch.num_nodes)
            self.assertTrue(torch.equal(batch.x, data.x[batch.n_id]))
            self.assertTrue(torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id]))
            self.assertTrue(torch.equal(batch.edge_attr, data.edge_attr[batch.e_id]))

    def test_an_induced_batch_has_the_nodes_of_the_directional_one_and_every_edge_between_them(self):
        data = graph()
        for plain, induced, old in zip(loader(data), loader(data, subgraph_type="induced"), loader(data, directed=False)):
            self.assertTrue(torch.equal(plain.n_id, induced.n_id) and torch.equal(old.e_id, induced.e_id))
            within = torch.zeros(data.num_nodes, dtype=torch.bool)
            within[plain.n_id] = True
            expected = (within[data.edge_index[0]] & within[data.edge_index[1]]).nonzero().view(-1)
            self.assertTrue(torch.equal(induced.e_id.sort().values, expected))
            self.assertTrue(torch.equal(induced.n_id[induced.edge_index], data.edge_index[:, induced.e_id]))
            self.assertTrue(torch.equal(induced.edge_attr, data.edge_attr[induced.e_id]))
            self.assertFalse({"num_sampled_nodes", "num_sampled_edges"} & set(induced.keys()))

    def test_the_sampler_has_the_same_rules(self):
        data = graph()
        data.w = torch.rand(data.num_edges)
        for rules in ({"replace": True}, {"disjoint": True}, {"weight_attr": "w"}, {"subgraph_type": "induced"}):
            with self.subTest(rules):
                batches = list(NodeLoader(data, HoneSampler(data, [3, 2], **rules), input_nodes=data.train_mask, batch_size=64))
                for batch in batches:
                    self.assertTrue(torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id]))
                    self.assertEqual(batch.batch is not None, "disjoint" in rules)


class AnEpoch(unittest.TestCase):
    def same(self, one, other):
        self.assertEqual(len(one), len(other))
        for a, b in zip(one, other):
            self.assertTrue(torch.equal(a.n_id, b.n_id) and torch.equal(a.e_id, b.e_id) and torch.equal(a.x, b.x))

    def test_repeats_with_its_seed_whatever_the_threads(self):
        data = graph()
        one, three = loader(data, num_workers=1), loader(data, num_workers=3)
        first_epoch = list(one)
        self.same(first_epoch, list(three))
        second_epoch = list(one)
        self.assertFalse(torch.equal(first_epoch[0].n_id, second_epoch[0].n_id))
        self.same(second_epoch, list(three))

    def test_goes_on_where_its_state_was_kept(self):
        data = graph()
        all_batches = list(loader(data))
        neighbor_loader = loader(data)
        for i, _ in enumerate(neighbor_loader):
            if i == 2:
                break
        state = neighbor_loader.state_dict()
        other_loader = loader(data, generator=torch.Generator().manual_seed(99))
        other_loader.load_state_dict(state)
        self.assertEqual(other_loader.state_dict(), state)
        self.same(all_batches[3:], list(other_loader))
        for kept, message in (({"seed": 1}, "an integer 'epoch'"), ({**state, "batch_size": 7}, "with batch_size 7, and this loader has 32"), ("state", "expected what state_dict")):
            with self.assertRaisesRegex(ValueError, message):
                other_loader.load_state_dict(kept)

    def test_loaders_of_one_data_share_its_graph(self):
        data = graph()
        with mock.patch.object(pyg, "InEdges", side_effect=pyg.InEdges) as made:
            one = loader(data)
            first = [batch.n_id.clone() for batch in one]
            other = loader(data, num_neighbors=[2])
            self.assertEqual(made.call_count, 1)
            data.edge_index[:, :500] = 0  # another graph in the same memory must not be taken for the first
            changed = loader(data)
            self.assertEqual(made.call_count, 2)
            data.edge_index = data.edge_index.clone()
            loader(data)
            self.assertEqual(made.call_count, 3)
            del one, other, changed
            gc.collect()
            loader(data)
            self.assertEqual(made.call_count, 4, "the last loader took the graph along")
        expected = [batch.n_id for batch in loader(graph())]
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(first, expected)))

    def test_may_be_abandoned(self):
        made = loader(graph(), batch_size=4)
        for _ in range(50):
            batch = next(iter(made))
        self.assertEqual(batch.batch_size, 4)
        old, new = iter(made), iter(made)
        self.assertEqual(len(list(old)), 0)
        self.assertEqual(len(list(new)), len(made))

    def test_leaves_out_the_last_batch_where_asked_to_and_takes_every_node_without_input_nodes(self):
        data = graph()
        self.assertEqual([b.batch_size for b in loader(data, input_nodes=None, batch_size=250, drop_last=True)], [250, 250])
        self.assertEqual(sum(b.batch_size for b in loader(data, input_nodes=None, batch_size=250)), 600)
        in_order = loader(data, input_nodes=torch.tensor([5, 3, 9]), shuffle=False, batch_size=2)
        self.assertEqual([b.n_id[: b.batch_size].tolist() for b in in_order], [[5, 3], [9]])

    def test_gives_one_batch_by_positions_and_calls_the_transform(self):
        data = graph()
        made = loader(data, input_nodes=torch.arange(100, 200), transform=lambda batch: batch.x)
        self.assertTrue(torch.equal(made([7, 3])[:2], data.x[[107, 103]]))


    def test_a_sampler_says_which_seeds_come_and_in_which_order(self):
        data = graph()
        seeds = torch.arange(50, 150)
        shares = []
        for rank in range(2):
            share = DistributedSampler(range(100), num_replicas=2, rank=rank, shuffle=True, seed=5)
            made = loader(data, input_nodes=seeds, shuffle=False, batch_size=16, sampler=share)
            self.assertEqual((len(made), len(made.dataset)), (4, 100))
            share.set_epoch(3)
            taken = []
            for batch in made:
                self.assertTrue(torch.equal(batch.n_id[: batch.batch_size], seeds[batch.input_id]))
                taken += batch.input_id.tolist()
            self.assertEqual(taken, list(share))
            shares += taken
        self.assertEqual(sorted(shares), list(range(100)))
        with self.assertRaisesRegex(ValueError, "mutually exclusive"):
            loader(data, shuffle=True, sampler=share)

    def test_a_pickled_loader_is_made_anew_and_goes_on(self):
        made = loader(graph())
        epoch = iter(made)
        next(epoch)
        other = pickle.loads(pickle.dumps(made))
        self.assertIsInstance(other, torch.utils.data.DataLoader)
        rest = list(epoch)
        self.assertEqual(len(rest), len(made) - 1)
        for one, two in zip(rest, other, strict=True):
            self.assertTrue(torch.equal(one.n_id, two.n_id) and torch.equal(one.e_id, two.e_id) and torch.equal(one.x, two.x))

    @unittest.skipUnless(lightning, "pytorch_lightning is not here")
    def test_lightning_gives_each_process_its_share(self):
        from pytorch_lightning.utilities.data import _update_dataloader

        data = graph()
        data.w = torch.rand(data.num_edges)
        made = loader(data, weight_attr="w", replace=True, num_workers=2, drop_last=True, pin_memory=False)
        share = DistributedSampler(made.dataset, num_replicas=2, rank=1, shuffle=True)
        again = _update_dataloader(made, share)
        self.assertIs(type(again), NeighborLoader)
        self.assertEqual((again.weight_attr, again.replace, again.num_workers, again.drop_last, again.batch_size, again.num_neighbors),
                         ("w", True, 2, True, 32, [6, 4]))
        self.assertEqual([one for batch in again for one in batch.input_id.tolist()], list(share)[: len(again) * 32])

    def test_attributes_that_change_are_seen_when_an_epoch_begins(self):
        # PyTorch Geometric's example for Reddit makes its loader for the evaluation like this.
        data = graph()
        made = loader(copy.copy(data), input_nodes=None, num_neighbors=[-1], shuffle=False)
        self.assertEqual(len(made.dataset), data.num_nodes)
        del made.data.x, made.data.half
        made.data.num_nodes, made.data.extra = data.num_nodes, torch.arange(data.num_nodes) * 2
        made.data.edge_attr = data.edge_attr + 1
        for batch in made:
            self.assertNotIn("x", batch)
            self.assertTrue(torch.equal(batch.extra, 2 * batch.n_id))
            self.assertTrue(torch.equal(batch.edge_attr, data.edge_attr[batch.e_id] + 1))
            self.assertEqual(batch.num_nodes, batch.n_id.numel())
        epoch = iter(made)
        first = next(epoch)
        made.data.late = torch.arange(data.num_nodes)
        self.assertNotIn("late", made(range(3)), "not in the middle of an epoch")
        self.assertEqual(sum(batch.batch_size for batch in [first, *epoch]), data.num_nodes)
        self.assertTrue(torch.equal(made(range(3)).late[:3], torch.arange(3)))


class ASampler(unittest.TestCase):
    def test_serves_a_node_loader(self):
        data = graph()
        for batch in NodeLoader(data, HoneSampler(data, [6, 4]), input_nodes=data.train_mask, batch_size=32):
            self.assertTrue(torch.equal(batch.x, data.x[batch.n_id]))
            self.assertTrue(torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id]))


class CallsAtOnce:
    """Replaces cuda_batches.Helper, so that calls come in the order of the log."""

    def ask(self, call):
        call()
        return 0

    def wait(self, number=None):
        pass


class EmulatedGpu:
    """Replaces cuda_batches.Gpu for the library on the emulated runtime: memory is the host's and contains garbage when it is
    allocated, and work is done when it is enqueued."""

    log = []
    number, device, stream, sampling_stream = 0, torch.device("cpu"), 0, 0

    def __init__(self, device):
        del device

    def helper(self):
        return CallsAtOnce()

    def fork(self):
        self.log.append("fork")

    def allocate(self, count):
        self.log.append("allocate")
        return torch.full((count,), 0xA5, dtype=torch.uint8)

    def mark(self):
        self.log.append("mark")
        return len(self.log)

    def join(self, mark):
        self.log.append("join")

    def free_bytes(self):
        return 1 << 40

    def forget_cached(self):
        pass

    def pin(self, tensor):
        return tensor.clone()


class LogsCalls(cuda_batches.CudaLoader):
    def sample(self, stream):
        found = super().sample(stream)
        EmulatedGpu.log.append("sample" if found else "end")
        return found

    def take(self):
        EmulatedGpu.log.append("take")
        return super().take()

    def write(self, block, stream):
        EmulatedGpu.log.append("write")
        super().write(block, stream)


LIBRARY = os.environ.get("HONE_CUDA_LOADER_LIBRARY", "")


class MadeOnAGpu:
    """The tests that hold both on a GPU and on the emulated one."""

    def assertSame(self, one, other):
        self.assertEqual(set(one.keys()), set(other.keys()))
        for key, value in other:
            if isinstance(value, torch.Tensor):
                self.assertEqual((one[key].dtype, one[key].shape), (value.dtype, value.shape), key)
                self.assertTrue(torch.equal(one[key].cpu(), value), key)
            else:
                self.assertEqual(one[key], value, key)

    def test_batches_are_those_of_the_cpu(self):
        data = graph()
        data.names = [f"node {i}" for i in range(data.num_nodes)]
        data.learned = torch.randn(data.num_nodes, 2, requires_grad=True)
        data.empty = torch.zeros(data.num_nodes, 0)
        for more in ({}, {"shuffle": False, "drop_last": True}, {"num_neighbors": [40, -1, 2]}, {"features": "host"}, {"input_nodes": torch.arange(3), "batch_size": 9}):
            with self.subTest(more):
                there = loader(data, device="cuda", **more)
                more.pop("features", None)
                here = loader(data, **more)
                for _ in range(2):  # epochs
                    ours, theirs = list(there), list(here)
                    self.assertEqual(len(ours), len(theirs))
                    for one, other in zip(ours, theirs):
                        self.assertSame(one, other)
                self.assertSame(there([2, 0]), here([2, 0]))

    def test_may_be_abandoned_and_goes_on_where_its_state_was_kept(self):
        data = graph()
        whole, made = list(loader(data)), loader(data, device="cuda")
        for i, _ in enumerate(made):
            if i == 2:
                break
        state = made.state_dict()
        self.assertSame(made([1]), loader(data)([1]))
        other = loader(data, device="cuda", generator=torch.Generator().manual_seed(99))
        other.load_state_dict(state)
        rest = list(other)
        self.assertEqual(len(rest), len(whole) - 3)
        for one, expected in zip(rest, whole[3:]):
            self.assertSame(one, expected)
        self.assertEqual(list(loader(data, device="cuda", input_nodes=torch.empty(0, dtype=torch.int64))), [])

    def test_tensors_of_any_layout_are_gathered_on_the_device_and_from_the_host(self):
        data = graph()
        for where in ("device", "host"):
            for name, data.x in any_layout().items():
                with self.subTest(name, features=where):
                    batch = next(iter(loader(data, device="cuda", features=where)))
                    self.assertTrue(torch.equal(batch.x.cpu(), data.x[batch.n_id.cpu()]))

    def test_one_batch_may_be_larger_than_an_epochs(self):
        data = graph()
        given = dict(input_nodes=None, batch_size=2)
        self.assertSame(loader(data, device="cuda", **given)(range(50)), loader(data, **given)(range(50)))

    def test_refuses_by_name(self):
        data = graph()
        data.w = torch.rand(data.num_edges)
        cases = [
            (NotImplementedError, "replace=True with device='cuda'", {"replace": True}),
            (NotImplementedError, "disjoint=True with device", {"disjoint": True}),
            (NotImplementedError, "weight_attr='w' with device", {"weight_attr": "w"}),
            (NotImplementedError, "subgraph_type='induced' with device", {"subgraph_type": "induced"}),
            (ValueError, "features: expected 'auto', 'device' or 'host', found 'disk'", {"features": "disk"}),
            (ValueError, "device='mps': Hone makes batches on 'cpu' and on 'cuda'", {"device": "mps"}),
            (ValueError, "device: expected 'cpu', 'cuda' or 'cuda:0', found 'gpu'", {"device": "gpu"}),
            (ValueError, "batch_size: expected at least 1, found 0", {"batch_size": 0}),
            (ValueError, "9 fanouts", {"num_neighbors": [1] * 9}),
        ]
        for kind, message, more in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                loader(data, **{"device": "cuda", **more})


@unittest.skipUnless("emulated" in LIBRARY and os.path.exists(LIBRARY), "no library of the emulated runtime is here")
class OnAnEmulatedGpu(MadeOnAGpu, unittest.TestCase):
    def setUp(self):
        EmulatedGpu.log.clear()
        for patch in (mock.patch.object(cuda_batches, "Gpu", EmulatedGpu), mock.patch.object(cuda_batches, "CudaLoader", LogsCalls)):
            patch.start()
            self.addCleanup(patch.stop)

    def test_batches_are_sampled_long_before_their_sizes_are_asked_for(self):
        data = graph(nodes=1200)
        batches = iter(loader(data, device="cuda", num_neighbors=[3], input_nodes=torch.arange(32 * 30)))
        depth, most, log = 0, 0, EmulatedGpu.log
        for step in range(30):
            log.clear()
            next(batches)
            for what in log:
                depth += (what == "sample") - (what == "take")
                self.assertGreaterEqual(depth, 0, "a batch's sizes were asked for that is not sampled")
            if 10 <= step < 20:
                # A batch is written before the next one is sampled, and the stream waits for the caller once ("fork").
                self.assertEqual(log, ["fork", "take", "allocate", "write", "mark", "sample", "join"])
                self.assertEqual(depth, cuda_batches._AHEAD)
            if step == 0:
                self.assertEqual(log[:4], ["fork", "sample", "sample", "take"])
        self.assertEqual((depth, list(batches)), (0, []))

    def test_a_batch_is_sampled_on_the_stream_that_waits_for_nobody(self):
        with mock.patch.object(EmulatedGpu, "sampling_stream", "sampling"), mock.patch.object(EmulatedGpu, "stream", "writing"):
            streams = []

            class Calls(LogsCalls):
                def sample(self, stream):
                    streams.append(("sample", stream))
                    return super().sample(0)

                def write(self, block, stream):
                    streams.append(("write", stream))
                    super().write(block, 0)

            with mock.patch.object(cuda_batches, "CudaLoader", Calls):
                list(loader(graph(), device="cuda"))
        self.assertEqual(set(streams), {("sample", "sampling"), ("write", "writing")})


OF_CUDA = cuda_batches.CudaLoader


class OneCallAtATime(OF_CUDA):
    """The emulated runtime computes in the calling thread, for one thread at a time."""

    turn = threading.RLock()

    def __init__(self, *arguments, **more):
        with self.turn:
            super().__init__(*arguments, **more)


def _in_turn(name):
    def call(self, *arguments, **more):
        with self.turn:
            return getattr(OF_CUDA, name)(self, *arguments, **more)

    return call


for _name in ("start", "sample", "sample_these", "take", "write"):
    setattr(OneCallAtATime, _name, _in_turn(_name))


@unittest.skipUnless("emulated" in LIBRARY and os.path.exists(LIBRARY), "no library of the emulated runtime is here")
class OnAnEmulatedGpuByAThread(MadeOnAGpu, unittest.TestCase):
    """Runs the tests on the emulated runtime with a thread of its own that enqueues the sampling, as on a real GPU."""

    def setUp(self):
        for patch in (mock.patch.object(cuda_batches, "Gpu", EmulatedGpu), mock.patch.object(cuda_batches, "CudaLoader", OneCallAtATime),
                      mock.patch.object(EmulatedGpu, "helper", lambda self: cuda_batches.Helper())):
            patch.start()
            self.addCleanup(patch.stop)

    def test_what_fails_there_is_raised_here_and_an_epoch_after_it_runs(self):
        made = loader(graph(), device="cuda")
        with mock.patch.object(OneCallAtATime, "sample", side_effect=RuntimeError("the device is lost")):
            with self.assertRaisesRegex(RuntimeError, "the device is lost"):
                list(made)
        self.assertEqual(len(list(made)), len(made))


class AHelper(unittest.TestCase):
    def test_makes_calls_in_order_raises_what_they_raise_and_ends_when_it_is_gone(self):
        before = set(threading.enumerate())
        helper, seen = cuda_batches.Helper(), []
        numbers = [helper.ask(lambda i=i: (time.sleep(0.01), seen.append(i))) for i in range(5)]
        helper.wait(numbers[2])
        self.assertEqual(seen[:3], [0, 1, 2])
        helper.wait()
        self.assertEqual(seen, [0, 1, 2, 3, 4])
        helper.wait(helper.ask(seen.clear))
        failing = helper.ask(lambda: seen[0])
        with self.assertRaises(IndexError):
            helper.wait(failing)
        helper.wait(helper.ask(lambda: seen.append("goes on")))
        self.assertEqual(seen, ["goes on"])
        threads = set(threading.enumerate()) - before
        self.assertEqual(len(threads), 1)
        del helper
        gc.collect()
        for thread in threads:
            thread.join(5)
        self.assertFalse(any(thread.is_alive() for thread in threads))

    def test_makes_its_calls_before_what_they_use_is_freed_at_the_interpreters_end(self):
        program = """
import sys, time, types, weakref
sys.modules["torch"] = types.ModuleType("torch")  # takes seconds to import, and is not needed for this
from hone.gnn import cuda_batches
class Loader: pass
loader = Loader()
weakref.finalize(loader, print, "freed")
helper = cuda_batches.Helper()
for i in range(3):
    helper.ask(lambda i=i: (time.sleep(0.05), print(i)))
"""
        ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=120)
        self.assertEqual((ended.stdout.split(), ended.returncode), (["0", "1", "2", "freed"], 0), ended.stderr)



@unittest.skipUnless("emulated" not in LIBRARY and torch.cuda.is_available(), "no GPU is here, or not the library for it")
class OnAGpu(MadeOnAGpu, unittest.TestCase):
    def test_data_may_be_there_already(self):
        data = graph()
        there = loader(data.clone().to("cuda"), input_nodes=data.train_mask, device="cuda")
        for one, other in zip(there, loader(data)):
            self.assertEqual(one.x.device.type, "cuda")
            self.assertSame(one, other)

    def test_memory_is_used_again_when_nobody_reads_it_any_more(self):
        data = graph(nodes=5000, edges=100000)
        expected = [(batch.x.double().sum() + batch.e_id.sum()).item() for batch in loader(data, batch_size=64)]
        for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream):
                found = []
                for batch in loader(data, batch_size=64, device="cuda"):
                    torch.cuda._sleep(2_000_000)  # the host is far ahead of this stream
                    found.append(batch.x.double().sum() + batch.e_id.sum())
                    del batch
                found = torch.stack(found).tolist()
            for one, other in zip(found, expected):
                self.assertAlmostEqual(one, other, places=2)

    def test_memory_stays_flat(self):
        data = graph(nodes=5000, edges=100000)
        made = loader(data, batch_size=64, device="cuda")
        kept = next(iter(made)).x.clone()
        for epoch in range(60):
            for i, batch in enumerate(made):
                if epoch % 3 == 0 and i == 5:
                    break  # the loop over the loader is left early
            if epoch == 20:
                before = torch.cuda.memory_reserved()
        self.assertEqual(torch.cuda.memory_reserved(), before)
        self.assertEqual(kept.device.type, "cuda")


class WithoutAGpu(unittest.TestCase):
    @unittest.skipIf(torch.cuda.is_available(), "there is one")
    def test_is_told_what_is_missing(self):
        with self.assertRaisesRegex(RuntimeError, "device='cuda': PyTorch finds no GPU"):
            loader(graph(), device="cuda")

    def test_a_build_without_cuda_is_told_what_to_do(self):
        from hone.gnn import cuda_native

        with mock.patch.object(cuda_native, "_library", None), mock.patch.dict(os.environ, HONE_CUDA_LOADER_LIBRARY="/nowhere.so"):
            with self.assertRaisesRegex(LibraryError, "/nowhere.so cannot be loaded .* built where CUDA's nvcc is.*on the CPU"):
                cuda_native.library()


class WrongInput(unittest.TestCase):
    def test_says_argument_found_and_expected(self):
        data = graph()
        far = graph()
        far.edge_index[0, 5] = 7000
        cases = [
            (ValueError, "^data.edge_index: edge 5 goes from node 7000 .* the graph has 600 nodes, from 0 to 599$", lambda: loader(far)),
            (ValueError, "^data.edge_index: .* counted from 1: pass edge_index - 1$",
             lambda: NeighborLoader(Data(edge_index=torch.tensor([[1, 2, 3], [2, 3, 1]]), num_nodes=3), [1])),
            (TypeError, "^data.edge_index: expected a tensor .* found list", lambda: NeighborLoader(Data(x=data.x, edge_index=[[0], [1]]), [1])),
            (TypeError, "^data: Hone samples torch_geometric.data.Data, found str", lambda: NeighborLoader("data", [1])),
            (TypeError, "expected int64, found torch.int32", lambda: loader(Data(x=data.x, edge_index=data.edge_index.int(), train_mask=data.train_mask))),
            (ValueError, r"shape \[2, edges\], found \(3, 4\)", lambda: loader(Data(x=data.x, edge_index=torch.zeros(3, 4, dtype=torch.int64), train_mask=data.train_mask))),
            (ValueError, r"a node occurs twice \(node 1, 2 times\).*disjoint=True", lambda: loader(data, input_nodes=torch.tensor([1, 1]))),
            (ValueError, "^input_nodes: expected node ids from 0 to 599, found 600", lambda: loader(data, input_nodes=torch.tensor([0, 600]))),
            (ValueError, "^input_nodes: expected node ids from 0 to 599, found -1", lambda: loader(data, input_nodes=torch.tensor([-1, 3]))),
            (ValueError, "^input_nodes: the mask is true at no node", lambda: loader(data, input_nodes=torch.zeros(600, dtype=torch.bool))),
            (TypeError, "^input_nodes: a mask has dtype torch.bool, found torch.uint8", lambda: loader(data, input_nodes=torch.ones(600, dtype=torch.uint8))),
            (ValueError, r"^input_nodes: expected a vector .* found shape \(600, 1\)", lambda: loader(data, input_nodes=torch.ones(600, 1, dtype=torch.bool))),
            (TypeError, "^input_nodes: expected a vector of node ids or a mask, found object", lambda: loader(data, input_nodes=object())),
            (ValueError, "^input_nodes is on meta", lambda: loader(data, input_nodes=torch.ones(3, device="meta"))),
            (ValueError, "a mask of 3 entries", lambda: loader(data, input_nodes=torch.tensor([True, False, True]))),
            (TypeError, "expected a vector of node ids", lambda: loader(data, input_nodes=torch.tensor([0.5]))),
            (ValueError, "num_neighbors is empty", lambda: loader(data, num_neighbors=[])),
            (ValueError, "^num_neighbors: expected 1 to 1024, or -1 for all neighbors, found 0 for hop 2", lambda: loader(data, num_neighbors=[1, 0])),
            (ValueError, "^num_neighbors: .* found 1000000000000 for hop 1", lambda: loader(data, num_neighbors=[10**12])),
            (ValueError, "batch_size: expected at least 1, found 0", lambda: loader(data, batch_size=0)),
            (ValueError, "^num_workers: expected at least 0, found -1", lambda: loader(data, num_workers=-1)),
            (ValueError, "^num_workers: expected at most 1024, found 5000", lambda: loader(data, num_workers=5000)),
            (TypeError, "^generator: expected a torch.Generator, found int", lambda: loader(data, generator=3)),
            (TypeError, "^transform: expected a function of a batch, found int", lambda: loader(data, transform=3)),
            (ValueError, "^features: expected 'auto', 'device' or 'host', found 'disk'", lambda: loader(data, features="disk")),
            (IndexError, "^index: expected positions of the .* input_nodes, found 9999", lambda: loader(data)([0, 9999])),
            (TypeError, "^index: expected positions of input_nodes", lambda: loader(data)([0.5])),
            (IndexError, "^sampler: expected positions of the .* input_nodes, found 9999", lambda: iter(loader(data, sampler=[9999], shuffle=False))),
            (TypeError, "num_neighbors: expected a list of integers, one for each hop, found 5", lambda: loader(data, num_neighbors=5)),
            (TypeError, r"found \[2.5\]", lambda: loader(data, num_neighbors=[2.5])),
            (TypeError, "batch_size: expected an integer, found '32'", lambda: loader(data, batch_size="32")),
            (TypeError, "data.edge_index: expected int64, found torch.float32", lambda: loader(Data(x=data.x, edge_index=torch.rand(2, 4), train_mask=data.train_mask))),
            (ValueError, "data.edge_index is on meta", lambda: loader(Data(x=data.x, edge_index=data.edge_index.to("meta"), train_mask=data.train_mask))),
            (AttributeError, "weight_attr='w': data has no such attribute; it has .*edge_attr", lambda: loader(data, weight_attr="w")),
            (ValueError, r"weight_attr='edge_attr': expected one weight for each of the 9000 edges, found shape \(9000, 3\)", lambda: loader(data, weight_attr="edge_attr")),
            (TypeError, "weight_attr='note': expected a tensor", lambda: loader(data, weight_attr="note")),
            (TypeError, "expected real numbers, found torch.bool", lambda: NeighborLoader(star(2, [True, False]), [1], weight_attr="w")),
            (ValueError, "^weight_attr='w': the weight of edge 1 is -2", lambda: NeighborLoader(star(2, [1.0, -2.0]), [1], weight_attr="w")),
            (ValueError, "the weight of edge 0 is nan", lambda: NeighborLoader(star(2, [float("nan"), 1.0]), [1], weight_attr="w")),
            (ValueError, "disjoint=True and subgraph_type='induced'", lambda: loader(data, subgraph_type="induced", disjoint=True)),
            (ValueError, "expected 'directional' or 'induced', found 'upside down'", lambda: loader(data, subgraph_type="upside down")),
            (NotImplementedError, "subgraph_type='bidirectional'", lambda: loader(data, subgraph_type="bidirectional")),
            (NotImplementedError, "time_attr='t'", lambda: loader(data, time_attr="t")),
            (NotImplementedError, "input_time", lambda: loader(data, input_time=torch.zeros(3))),
            (NotImplementedError, "HeteroData", lambda: NeighborLoader(HeteroData(), [1])),
            (NotImplementedError, "by edge type", lambda: loader(data, num_neighbors={("a", "to", "b"): [1]})),
            (NotImplementedError, "LinkNeighborLoader", lambda: HoneSampler(data, [1]).sample_from_edges(None)),
            (TypeError, "^seed: expected an integer, found 'a'", lambda: HoneSampler(data, [1], seed="a")),
            (TypeError, "^data.edge_index: expected a tensor .* found NoneType beside data.adj_t: give the Data as it was before it was made sparse",
             lambda: NeighborLoader(Data(x=data.x, adj_t=torch.eye(600).to_sparse_csr()), [1])),
            (TypeError, "^data.edge_index: expected a tensor .* found NoneType$", lambda: NeighborLoader(Data(), [1])),
            (ValueError, "^data.edge_index: .* the graph has 599 nodes, from 0 to 598; data.x has 599 rows, and data.y has 600$",
             lambda: NeighborLoader(Data(x=data.x[:-1], y=data.y, edge_index=torch.tensor([[0], [599]])), [1])),
            (ValueError, "^data.x is on meta", lambda: loader(graph().update({"x": data.x.to("meta")}))),
            (TypeError, r"^data.x: expected a dense tensor, found torch.sparse_csr; pass data.x.to_dense\(\)", lambda: loader(graph().update({"x": data.x.to_sparse_csr()}))),
            (ValueError, "^data.x: expected a tensor with a row for each node, found one without dimensions", lambda: loader(graph().update({"x": torch.tensor(1.0)}))),
            (ValueError, r"^data.edge_attr: expected 9000 rows, one for each edge .* found shape \(8999, 3\)", lambda: loader(graph().update({"edge_attr": data.edge_attr[:-1]}))),
            (ValueError, r"^data.val_mask: expected 600 rows, one for each node .* found shape \(599,\)", lambda: loader(graph().update({"val_mask": data.train_mask[:-1]}))),
            (ValueError, "^weight_attr='w': data.w is on meta", lambda: NeighborLoader(graph().update({"w": torch.ones(9000, device="meta")}), [1], weight_attr="w")),
            (TypeError, "^sampler: expected positions of input_nodes, found int", lambda: loader(data, sampler=3, shuffle=False)),
            (ValueError, "^state: expected a step from 0 to .* found 4000", lambda: (made := loader(data)).load_state_dict({**made.state_dict(), "step": 4000})),
            (ValueError, "^state: expected a step from 0 to .* found -1", lambda: (made := loader(data)).load_state_dict({**made.state_dict(), "step": -1})),
        ]
        for kind, message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                call()

    def test_a_tensor_that_is_replaced_by_one_of_another_graph_is_named(self):
        data = graph()
        made = loader(data)
        data.x = data.x[:-3]
        with self.assertRaisesRegex(ValueError, r"^data.x: expected 600 rows, one for each node of the graph that the loader was made with, found shape \(597, 17\)"):
            iter(made)

    def test_an_exception_of_a_call_on_another_thread_is_raised_here(self):
        def failing(*_):
            raise OSError("no such thing")

        with mock.patch.object(native._library, "hone_graph_make", failing), self.assertRaisesRegex(OSError, "no such thing"):
            loader(graph())

    def test_ctrl_c_ends_a_long_call(self):
        made, ended = loader(graph()), threading.Event()

        def slow(*_):
            time.sleep(1.5)
            ended.set()
            return 0

        def pending(*_):
            time.sleep(0.2)
            return native._PENDING

        epoch = iter(made)
        calls = {"making a graph": ("hone_graph_make", slow, lambda: loader(graph())), "waiting for a batch": ("hone_loader_next", pending, lambda: next(epoch))}
        for name, (function, instead, call) in calls.items():
            with self.subTest(name), mock.patch.object(native._library, function, instead):
                timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
                timer.start()
                begin = time.monotonic()
                with self.assertRaises(KeyboardInterrupt):
                    call()
                self.assertLess(time.monotonic() - begin, 1.2)
                timer.join()
        self.assertTrue(ended.wait(10))
        self.assertEqual(len(list(made)), len(made), "the loader goes on")

    def test_no_seeds_are_an_empty_epoch(self):
        self.assertEqual(list(loader(graph(), input_nodes=torch.empty(0, dtype=torch.int64))), [])

    def test_torch_that_is_not_there_is_asked_for_by_name(self):
        blocked = "import importlib, sys; sys.modules[sys.argv[1]] = None; importlib.import_module(sys.argv[2])"
        for missing, module in (("torch", "pyg"), ("torch_geometric", "pyg"), ("torch", "graph_step"), ("torch", "torch")):
            ended = subprocess.run([sys.executable, "-c", blocked, missing, f"hone.gnn.{module}"], capture_output=True, text=True)
            self.assertRegex(ended.stderr, rf"ImportError: hone.gnn.{module} needs torch.*installed apart from Hone.*pip install torch")

    def test_a_forked_child_is_told_to_make_its_own(self):
        made = loader(graph())
        next(iter(made))
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                next(iter(made))
                os.write(write, b"went on")
            except RuntimeError as error:
                os.write(write, str(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
        self.assertIn("made before a fork", os.read(read, 1000).decode())


class ThePage(unittest.TestCase):
    def test_its_example_runs(self):
        with open(PAGE) as file:
            for example in file.read().split("```python\n")[1:]:
                exec(compile(example.split("```")[0], "docs/pyg.md", "exec"), {})


if __name__ == "__main__":
    unittest.main(verbosity=2)
