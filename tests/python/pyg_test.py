# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""The loader and the sampler for PyTorch Geometric. Needs torch and torch_geometric; tests/python/pyg_run finds them."""
import gc
import os
import resource
import unittest

import torch
from torch_geometric.data import Data, HeteroData
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import GraphSAGE
from torch_geometric.utils import trim_to_layer

from hone.gnn.pyg import HoneSampler, NeighborLoader

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


def loader(data, **more):
    given = dict(num_neighbors=[6, 4], input_nodes=data.train_mask, batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(1))
    return NeighborLoader(data, **{**given, **more})


class ABatch(unittest.TestCase):
    def test_holds_the_rows_of_its_nodes_and_edges(self):
        data = graph()
        made = loader(data)
        seen = []
        for batch in made:
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
            seen.append(batch.input_id)
        self.assertTrue(torch.equal(torch.cat(seen).sort().values, torch.arange(int(data.train_mask.sum()))))
        self.assertEqual(len(seen), len(made))

    def test_draws_no_more_neighbors_than_asked_for_and_all_where_there_are_fewer(self):
        data = graph()
        degree = torch.bincount(data.edge_index[1], minlength=data.num_nodes)
        for batch in loader(data, num_neighbors=[5, -1]):
            drawn = torch.bincount(batch.edge_index[1], minlength=batch.num_nodes)
            first = batch.batch_size
            second = first + batch.num_sampled_nodes[1]
            self.assertTrue(torch.equal(drawn[:first], degree[batch.n_id[:first]].clamp(max=5)))
            self.assertTrue(torch.equal(drawn[first:second], degree[batch.n_id[first:second]]))
            self.assertEqual(int(drawn[second:].sum()), 0)

    def test_outlives_its_loader_and_memory_stays_flat(self):
        data = graph(nodes=4000, edges=80000)
        made = loader(data, batch_size=256)
        kept = next(iter(made))
        copy = kept.x.clone()
        before = None
        for epoch in range(60):
            for batch in made:
                pass
            if epoch == 10:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, before * 1.05 + 8192)
        del made, batch
        gc.collect()
        self.assertTrue(torch.equal(kept.x, copy))

    def test_goes_through_a_model_trimmed_layer_by_layer(self):
        data = graph()
        model = GraphSAGE(17, 8, num_layers=2, out_channels=5)
        for batch in loader(data):
            x, edges = batch.x, batch.edge_index
            whole = model(x, edges)[: batch.batch_size]
            for i, (convolution, act) in enumerate(zip(model.convs, (torch.relu, torch.nn.Identity()))):
                x, edges, _ = trim_to_layer(i, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
                x = act(convolution(x, edges))
            self.assertTrue(torch.allclose(x[: batch.batch_size], whole, atol=1e-5))
            torch.nn.functional.cross_entropy(whole, batch.y[: batch.batch_size]).backward()


class AnEpoch(unittest.TestCase):
    def same(self, one, other):
        self.assertEqual(len(one), len(other))
        for a, b in zip(one, other):
            self.assertTrue(torch.equal(a.n_id, b.n_id) and torch.equal(a.e_id, b.e_id) and torch.equal(a.x, b.x))

    def test_repeats_with_its_seed_whatever_the_threads(self):
        data = graph()
        one, three = loader(data, num_workers=1), loader(data, num_workers=3)
        first = list(one)
        self.same(first, list(three))
        second = list(one)
        self.assertFalse(torch.equal(first[0].n_id, second[0].n_id))
        self.same(second, list(three))

    def test_goes_on_where_its_state_was_kept(self):
        data = graph()
        whole = list(loader(data))
        made = loader(data)
        for i, _ in enumerate(made):
            if i == 2:
                break
        state = made.state_dict()
        other = loader(data, generator=torch.Generator().manual_seed(99))
        other.load_state_dict(state)
        self.same(whole[3:], list(other))

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


class ASampler(unittest.TestCase):
    def test_serves_a_node_loader(self):
        data = graph()
        for batch in NodeLoader(data, HoneSampler(data, [6, 4]), input_nodes=data.train_mask, batch_size=32):
            self.assertTrue(torch.equal(batch.x, data.x[batch.n_id]))
            self.assertTrue(torch.equal(batch.n_id[batch.edge_index], data.edge_index[:, batch.e_id]))


class WrongInput(unittest.TestCase):
    def test_says_argument_found_and_expected(self):
        data = graph()
        far = graph()
        far.edge_index[0, 5] = 7000
        cases = [
            (ValueError, "edge 5 goes from node 7000 .* the graph has 600 nodes", lambda: loader(far)),
            (TypeError, "expected int64, found torch.int32", lambda: loader(Data(x=data.x, edge_index=data.edge_index.int(), train_mask=data.train_mask))),
            (ValueError, r"shape \[2, edges\], found \(3, 4\)", lambda: loader(Data(x=data.x, edge_index=torch.zeros(3, 4, dtype=torch.int64), train_mask=data.train_mask))),
            (ValueError, "a node occurs twice", lambda: loader(data, input_nodes=torch.tensor([1, 1]))),
            (ValueError, "seed 600 is no node", lambda: list(loader(data, input_nodes=torch.tensor([600])))),
            (ValueError, "a mask of 3 entries", lambda: loader(data, input_nodes=torch.tensor([True, False, True]))),
            (TypeError, "expected a vector of node ids", lambda: loader(data, input_nodes=torch.tensor([0.5]))),
            (ValueError, "num_neighbors is empty", lambda: loader(data, num_neighbors=[])),
            (ValueError, "0", lambda: loader(data, num_neighbors=[0])),
            (ValueError, "batch is 0", lambda: loader(data, batch_size=0)),
            (NotImplementedError, "replace=True", lambda: loader(data, replace=True)),
            (NotImplementedError, "disjoint=True", lambda: loader(data, disjoint=True)),
            (NotImplementedError, "weight_attr='edge_attr'", lambda: loader(data, weight_attr="edge_attr")),
            (NotImplementedError, "subgraph_type='induced'", lambda: loader(data, subgraph_type="induced")),
            (NotImplementedError, "HeteroData", lambda: NeighborLoader(HeteroData(), [1])),
        ]
        for kind, message, call in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                call()

    def test_no_seeds_are_an_empty_epoch(self):
        self.assertEqual(list(loader(graph(), input_nodes=torch.empty(0, dtype=torch.int64))), [])

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
