# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests steps over padded batches, and the errors for models that cannot use them. Needs torch and torch_geometric, which
tests/python/pyg_run finds. On the CPU nothing is captured, but the padded batches, the choice of an envelope and the probe are the same; a stand-in
for CUDA's graphs shows what a captured step calls, and when.
"""
import contextlib
import copy
import datetime
import faulthandler
import math
import os
import signal
import tempfile
import threading
import time
import unittest
from unittest import mock

import torch
from torch_geometric import nn
from torch_geometric.data import Data
from torch_geometric.utils import trim_to_layer

from hone.gnn import graph_step
from hone.gnn.envelopes import PADDED_ROWS, Envelope, PaddedBatch
from hone.gnn.graph_step import CannotCapture, GraphStep
from hone.gnn.pyg import NeighborLoader
from hone.gnn.torch import BatchNorm

LIBRARY = os.environ.get("HONE_CUDA_LOADER_LIBRARY", "")


def graph(nodes=800, edges=8000):
    generator = torch.Generator().manual_seed(0)
    return Data(x=torch.randn(nodes, 12, generator=generator), y=torch.randint(0, 5, (nodes,), generator=generator),
                edge_index=torch.randint(0, nodes, (2, edges), generator=generator), edge_attr=torch.rand(edges, 3, generator=generator), note="as it is")


def loader(**more):
    options = dict(num_neighbors=[6, 4], input_nodes=torch.arange(0, 800, 3), batch_size=64, shuffle=True, generator=torch.Generator().manual_seed(1))
    return NeighborLoader(graph(), **{**options, **more})


class Model(torch.nn.Module):
    """A model of convolutions with a normalization between them, trimmed layer by layer."""

    def __init__(self, layer=nn.SAGEConv, norm=torch.nn.LayerNorm, trimmed=True, dropout=0.0):
        super().__init__()
        torch.manual_seed(3)
        self.first, self.norm, self.second = layer(12, 16), norm(16), layer(16, 5)
        self.trimmed, self.dropout = trimmed, dropout

    def forward(self, batch):
        x, edges = batch.x, batch.edge_index
        x = self.norm(self.first(x, edges)).relu()
        x = torch.nn.functional.dropout(x, self.dropout, self.training)
        if self.trimmed:
            x, edges, _ = trim_to_layer(1, batch.num_sampled_nodes, batch.num_sampled_edges, x, edges)
        return self.second(x, edges)[: batch.batch_size]

    def losses(self, batch):
        return torch.nn.functional.cross_entropy(self(batch), batch.y[: batch.batch_size], reduction="none")


class CalledGraph:
    """Stands in for a captured graph where there is no GPU: calls what it would have captured, as often. `capturing` is true meanwhile."""

    capturing = False

    def __init__(self, call, device, pool, mode):
        self.pool, self._call = "pool", call
        for _ in range(graph_step._WARM_UP + 1):
            self.replay()

    def replay(self):
        CalledGraph.capturing = True
        try:
            self.result = self._call()
        finally:
            CalledGraph.capturing = False


@contextlib.contextmanager
def as_if_captured():
    with mock.patch.object(graph_step, "_Graph", CalledGraph), mock.patch.object(graph_step, "_can_capture", lambda device: True):
        yield


def _share(rank, ranks, **more):
    """Returns the loader of a rank's share of the seeds: 3 batches, of which the last one is short."""
    return loader(input_nodes=torch.arange(0, 800, 2)[rank::ranks][:160], generator=torch.Generator().manual_seed(5), **more)


def _train_as_rank(rank, ranks, folder, backend, device, as_if):
    """Is a process of data-parallel training, in which the ranks take different envelopes. Writes the parameters that it ends with."""
    faulthandler.dump_traceback_later(100, exit=True)
    torch.set_num_threads(1)
    if device != "cpu":
        device = f"cuda:{rank % torch.cuda.device_count()}"
        torch.cuda.set_device(device)
    torch.distributed.init_process_group(backend, init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks, timeout=datetime.timedelta(seconds=60))
    reduced, reduce = [], torch.distributed.all_reduce

    def counted(*arguments, **more):
        reduced.append(CalledGraph.capturing or (device != "cpu" and torch.cuda.is_current_stream_capturing()))
        return reduce(*arguments, **more)

    with as_if_captured() if as_if else contextlib.nullcontext(), mock.patch.object(torch.distributed, "all_reduce", counted):
        model = Model().to(device)
        if rank > 0:  # the first rank's parameters count
            torch.nn.init.ones_(model.first.lin_l.weight)
        step = GraphStep(model, torch.optim.SGD(model.parameters(), lr=0.5), _share(rank, ranks, **({} if device == "cpu" else {"device": device})), model.losses,
                         group="world" if rank else torch.distributed.group.WORLD)
        for epoch in range(2):
            if rank > 0:  # takes the large envelope, and none in the second epoch
                step._buckets[epoch].envelope.nodes[1] = 100
            for _ in step:
                pass
    if reduced != [False] * 6:
        raise AssertionError(f"in 6 steps gradients were reduced {len(reduced)} times, {sum(reduced)} of them in a capture")
    if (as_if or device != "cpu") and step.uncaptured != (3 if rank > 0 else 0):
        raise AssertionError(f"{step.uncaptured} of {step.steps} steps were not captured")
    torch.save({name: value.cpu() for name, value in model.state_dict().items()}, os.path.join(folder, f"rank{rank}.pt"))
    torch.distributed.destroy_process_group()  # while the graphs are there


def _disagree_as_rank(rank, ranks, folder):
    """Is a process whose partner gives arguments that do not fit to its own."""
    faulthandler.dump_traceback_later(100, exit=True)
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=ranks, timeout=datetime.timedelta(seconds=60))
    model = Model()
    wide = torch.nn.ModuleList([Model(), torch.nn.Linear(1, 1)])
    few = dict(loader=loader(input_nodes=torch.arange(64 * (2 - rank))))

    def message(**more):
        arguments = {**dict(model=model, optimizer=torch.optim.SGD(model.parameters(), lr=0.5), loader=loader(), losses=model.losses), **more}
        try:
            list(GraphStep(group="world", **arguments))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    messages = [message(losses=lambda batch: model(batch).mean() if rank else model.losses(batch)), message(accumulate=1 + rank),
                message(**(dict(model=wide, optimizer=torch.optim.SGD(wide.parameters(), lr=0.5), losses=wide[0].losses) if rank else {})), message(**few)]
    torch.save(messages, os.path.join(folder, f"rank{rank}.pt"))
    torch.distributed.destroy_process_group()


class APaddedBatch(unittest.TestCase):
    def test_holds_the_batch_and_loops_of_padded_rows(self):
        batches = list(loader())
        envelope = Envelope.of(64, [(one.num_sampled_nodes, one.num_sampled_edges) for one in batches], 1.0)
        padded = PaddedBatch(envelope, batches[0], ["x", "y"], ["edge_attr"])
        address = padded.data.x.data_ptr()
        for batch in batches:  # the last batch is short, the others are full
            self.assertTrue(envelope.holds(batch))
            padded.fill(batch)
            padded.mark_nodes(batch)
            data, node_mask = padded.data, padded.node_mask
            self.assertEqual(data.x.data_ptr(), address)
            self.assertEqual((data.num_sampled_nodes, data.num_nodes, data.num_edges), (envelope.nodes, sum(envelope.nodes), sum(envelope.edges)))
            self.assertEqual(int(padded.seed_mask.sum()), batch.batch_size)
            for key in ("x", "y", "n_id"):
                self.assertTrue(torch.equal(data[key][node_mask], batch[key]), key)
            ends = data.edge_index
            padding = ~node_mask[ends[1]]
            self.assertEqual(int((~padding).sum()), batch.num_edges)
            self.assertTrue(torch.equal(ends[0, padding], ends[1, padding]))
            self.assertTrue((ends[1].diff() >= 0).all())
            # A layer of a trimmed model uses the edges of some hops and the nodes that they join.
            for hop, (nodes, edges) in enumerate(zip(envelope.nodes, envelope.edges)):
                into = ends[1, sum(envelope.edges[:hop]) : sum(envelope.edges[: hop + 1])]
                self.assertTrue(((into >= sum(envelope.nodes[:hop])) & (into < sum(envelope.nodes[:hop]) + nodes)).all())
                loads = into[~node_mask[into]].bincount()
                self.assertLessEqual(int(loads.max()), -(-edges // PADDED_ROWS))
            self.assertTrue(torch.equal(data.n_id[ends[:, ~padding]], batch.n_id[batch.edge_index]))
            self.assertTrue(node_mask[ends[:, ~padding]].all())
            self.assertFalse(node_mask[ends[:, padding]].any())
            self.assertTrue(torch.equal(data.edge_attr[~padding], batch.edge_attr))

    def test_is_refused_a_batch_that_is_larger_in_one_hop(self):
        batch = next(iter(loader()))
        envelope = Envelope.of(64, [(batch.num_sampled_nodes, batch.num_sampled_edges)], 1.0)
        self.assertTrue(envelope.holds(batch))
        for hops, hop in ((envelope.nodes, 1), (envelope.nodes, 2), (envelope.edges, 0), (envelope.edges, 1)):
            kept, hops[hop] = hops[hop], (batch.num_sampled_nodes if hops is envelope.nodes else batch.num_sampled_edges)[hop] - 1
            self.assertFalse(envelope.holds(batch))
            hops[hop] = kept


class SeveralProcesses(unittest.TestCase):
    def run_ranks(self, work, ranks, *arguments):
        """Returns what each process wrote."""
        with tempfile.TemporaryDirectory() as folder:
            torch.multiprocessing.spawn(work, (ranks, folder, *arguments), nprocs=ranks)
            return [torch.load(os.path.join(folder, f"rank{rank}.pt")) for rank in range(ranks)]

    def compare(self, ranks, backend, device, as_if=False):
        results_by_rank = self.run_ranks(_train_as_rank, ranks, backend, device, as_if)
        model = Model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        loaders = [_share(rank, ranks) for rank in range(ranks)]
        for _ in range(2):
            for batches in zip(*loaders):
                optimizer.zero_grad()
                for batch in batches:
                    (model.losses(batch).mean() / ranks).backward()
                optimizer.step()
        for name, expected in model.state_dict().items():
            self.assertTrue(all(torch.equal(results_by_rank[0][name], one[name]) for one in results_by_rank), f"{name} differs between the processes")
            torch.testing.assert_close(results_by_rank[0][name], expected, rtol=1e-3, atol=1e-4)

    def test_reduce_gradients_outside_of_captures_whatever_their_envelopes(self):
        self.compare(2, "gloo", "cpu", as_if=True)

    @unittest.skipUnless("emulated" not in LIBRARY and torch.cuda.is_available(), "no GPU is here, or not the library for it")
    def test_train_on_gpus_as_one_process_that_averages_gradients_does(self):
        cases = [("nccl", 1), ("gloo", 2)]  # gloo's processes may share a GPU
        if torch.cuda.device_count() > 1:
            cases.append(("nccl", 2))
        for backend, ranks in cases:
            with self.subTest(backend=backend, ranks=ranks):
                self.compare(ranks, backend, "cuda")

    def test_that_do_not_fit_together_are_told_so_in_place_of_waiting(self):
        first, second = self.run_ranks(_disagree_as_rank, 2)
        for found, patterns in ((first, (r"^RuntimeError: group: process 1 of the group could not make its GraphStep; its own error says why",
                                         r"^ValueError: accumulate: it is 1 here and 2 in process 1 of the group",
                                         r"^ValueError: model: its number of parameters is \d+ here and \d+ in process 1",
                                         r"^ValueError: loader: its epoch has 2, 1 batches in the processes of the group")),
                                (second, (r"^ValueError: losses: expected a tensor with one loss for each", r"^ValueError: accumulate: it is 2 here and 1 in process 0",
                                          r"^ValueError: model: its number of parameters", r"^ValueError: loader: its epoch has 2, 1 batches"))):
            for one, pattern in zip(found, patterns, strict=True):
                self.assertRegex(str(one), pattern)

    def test_are_told_what_is_missing(self):
        model = Model()
        with self.assertRaisesRegex(ValueError, r"^group: torch.distributed has no processes yet; call torch.distributed.init_process_group"):
            GraphStep(model, torch.optim.SGD(model.parameters(), lr=0.1), loader(), model.losses, group="world")
        # The group is None as long as there are no processes: no process may train alone without notice.
        with self.assertRaisesRegex(ValueError, r"^group: expected a process group, found None, which torch.distributed.group.WORLD is before init_process_group; call .*group=\"world\""):
            GraphStep(model, torch.optim.SGD(model.parameters(), lr=0.1), loader(), model.losses, group=torch.distributed.group.WORLD)
        with self.assertRaisesRegex(ValueError, r"^accumulate: expected a number of batches of at least 1, found 0"):
            GraphStep(model, torch.optim.SGD(model.parameters(), lr=0.1), loader(), model.losses, accumulate=0)
        wrapped = torch.nn.DataParallel(model)
        with self.assertRaisesRegex(CannotCapture, r"^model: DataParallel reduces gradients by calls of its own.*model=model.module.*group=\"world\""):
            GraphStep(wrapped, torch.optim.SGD(model.parameters(), lr=0.1), loader(), model.losses)


class Steps:
    """Expects that training by steps gives what a plain loop over the same batches gives."""

    device = None
    more = {}

    def compare(self, make, optimizer, epochs=2, **how):
        models = [make().to(self.device or "cpu") for _ in range(2)]
        optimizers = [optimizer(model.parameters()) for model in models]
        before = copy.deepcopy(models[0].state_dict())
        step = GraphStep(models[0], optimizers[0], loader(**self.more), models[0].losses, **how)
        for name, value in models[0].state_dict().items():
            self.assertTrue(torch.equal(value, before[name]), f"trying the step changed {name}")
        plain = loader(**self.more)
        for _ in range(epochs):
            losses_of_step = [loss.item() for loss in step]
            expected = []
            for batch in plain:
                optimizers[1].zero_grad()
                loss = models[1].losses(batch).mean()
                loss.backward()
                optimizers[1].step()
                expected.append(loss.item())
            self.assertEqual(len(losses_of_step), len(plain))
            for one, other in zip(losses_of_step, expected):
                self.assertAlmostEqual(one, other, delta=2e-3)
        for (name, one), (_, other) in zip(models[0].state_dict().items(), models[1].state_dict().items()):
            self.assertLess(float((one - other).double().norm()), 2e-2 * float(other.double().norm()) + 1e-4, name)
        self.assertEqual(step.steps, epochs * len(plain))
        return step

    def adam(self, parameters):
        return torch.optim.Adam(parameters, lr=0.01, capturable=self.device is not None)

    def test_add_up_the_gradients_of_several_batches(self):
        models = [Model().to(self.device or "cpu") for _ in range(2)]
        models[1].load_state_dict(models[0].state_dict())
        optimizers = [self.adam(model.parameters()) for model in models]
        step = GraphStep(models[0], optimizers[0], loader(**self.more), models[0].losses, accumulate=3)
        plain, done = loader(**self.more), 0
        for _ in range(2):
            losses_of_step, expected = [loss.item() for loss in step], []
            for batch in plain:
                loss = models[1].losses(batch).mean()
                (loss / 3).backward()
                expected.append(loss.item())
                done += 1
                if done % 3 == 0:
                    optimizers[1].step()
                    optimizers[1].zero_grad()
            for one, other in zip(losses_of_step, expected):
                self.assertAlmostEqual(one, other, delta=2e-3)
        self.assertEqual((step.steps, step.updates), (done, done // 3))
        self.assertGreater(done % 3 + len(plain) % 3, 0, "the count must go on over the end of an epoch for this test")
        for (name, one), (_, other) in zip(models[0].state_dict().items(), models[1].state_dict().items()):
            self.assertLess(float((one - other).double().norm()), 2e-2 * float(other.double().norm()) + 1e-4, name)

    def test_ctrl_c_ends_an_epoch_at_once_and_training_goes_on(self):
        step = GraphStep(*self.made())
        list(step)  # captures
        for after in (0.01, 0.05, 0.2):  # seconds, so that the signal meets different parts of a step
            timer = threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT))
            begin = time.monotonic()
            with self.assertRaises(KeyboardInterrupt):
                timer.start()
                while True:
                    for _ in step:
                        pass
            timer.join()
            self.assertLess(time.monotonic() - begin, after + 5)
            losses = [loss.item() for loss in step]
            self.assertEqual(len(losses), len(step.loader))
            self.assertTrue(all(map(math.isfinite, losses)), losses)

    def test_train_as_a_plain_loop_does(self):
        for name, make in {"SAGE": Model, "untrimmed": lambda: Model(trimmed=False), "GCN": lambda: Model(lambda a, b: nn.GCNConv(a, b, add_self_loops=False), trimmed=False),
                           "GIN": lambda: Model(lambda a, b: nn.GINConv(torch.nn.Linear(a, b))),
                           "GAT": lambda: Model(lambda a, b: nn.GATConv(a, b, add_self_loops=False)),
                           "GATv2": lambda: Model(lambda a, b: nn.GATv2Conv(a, b, add_self_loops=False)),
                           "Transformer": lambda: Model(nn.TransformerConv)}.items():
            with self.subTest(name):
                self.compare(make, self.adam)

    def test_several_labels_a_node_and_numbers_are_targets_too(self):
        generator = torch.Generator().manual_seed(7)
        targets = {"several labels": (torch.rand(800, 5, generator=generator) < 0.3).float(), "numbers": torch.randn(800, 5, generator=generator)}
        for name, y in targets.items():
            function = "binary_cross_entropy_with_logits" if name == "several labels" else "mse_loss"

            class Targets(Model):
                def losses(self, batch):
                    return getattr(torch.nn.functional, function)(self(batch), batch.y[: batch.batch_size], reduction="none")

            with self.subTest(name), mock.patch(f"{__name__}.graph", lambda graph=graph, y=y: graph().update({"y": y})):
                self.compare(Targets, self.adam)

    def test_batch_normalization_leaves_padded_rows_out(self):
        class Normalized(Model):
            def __init__(self):
                super().__init__(norm=BatchNorm)
                self.norm.momentum = None  # running statistics that depend on every batch alike

            def forward(self, batch):
                x = self.norm(self.first(batch.x, batch.edge_index), batch).relu()
                x, edges, _ = trim_to_layer(1, batch.num_sampled_nodes, batch.num_sampled_edges, x, batch.edge_index)
                return self.second(x, edges)[: batch.batch_size]

        # SGD, because Adam would turn rounding errors into steps: a bias before a normalization has no gradient.
        self.compare(Normalized, lambda parameters: torch.optim.SGD(parameters, lr=0.05))

    def test_take_batches_that_no_envelope_holds_and_those_that_a_larger_one_holds(self):
        step = GraphStep(*self.made(), factors=(1.0, 1.3), trials=1)
        small = step._buckets[0].envelope
        small.nodes[1] = 100
        for bucket in step._buckets:
            bucket.padded = None
        self.assertEqual(len(list(step)), len(step.loader))
        self.assertIsNotNone(step._buckets[1].padded)
        step._buckets[1].envelope.nodes[1] = 100
        uncaptured_before = step.uncaptured
        batches = list(step.loader)
        self.assertTrue(all(torch.isfinite(step.step(batch)) for batch in batches))
        self.assertGreaterEqual(step.uncaptured - uncaptured_before, len(batches) - 1)

    def test_clip_gradients_and_train_with_momentum(self):
        clipped = []

        def make():
            clipped.append(Model())
            return clipped[-1]

        self.compare(make, lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9))
        model, optimizer, batches, losses = self.made()
        clip_calls = []

        def clip():
            torch.nn.utils.clip_grad_norm_(model.parameters(), 0.01)
            clip_calls.append(1)

        step = GraphStep(model, optimizer, batches, losses, before_step=clip)
        list(step)
        self.assertTrue(clip_calls)
        norm = torch.stack([one.grad.norm() for one in model.parameters()]).norm()
        self.assertLess(float(norm), 0.0101)

    def made(self, **how):
        model = Model(**how).to(self.device or "cpu")
        return model, self.adam(model.parameters()), loader(**self.more), model.losses

    def test_numbers_that_change_after_the_capture_are_an_error(self):
        model, optimizer, batches, losses = self.made(dropout=0.5)
        step = GraphStep(model, optimizer, batches, losses)
        self.assertEqual(len(list(step)), len(batches))
        optimizer.param_groups[0]["lr"] = 0.5
        with self.assertRaisesRegex(ValueError, r"optimizer: lr was 0.01 .*make it a tensor"):
            list(step)
        optimizer.param_groups[0]["lr"] = 0.01
        model.eval()
        with self.assertRaisesRegex(ValueError, r"captured in train\(\) mode"):
            list(step)

    def test_models_that_mix_rows_are_refused_with_the_module(self):
        cases = [
            (Model(norm=torch.nn.BatchNorm1d), r"padded rows change the result.* norm \(BatchNorm1d\) mixes rows.*LayerNorm"),
            (Model(norm=nn.GraphNorm), r"padded rows change the result.* norm \(GraphNorm\)"),
            (Model(norm=BatchNorm), r"norm \(BatchNorm\) mixes rows.*called with the batch: norm\(x, batch\)"),  # which the model leaves out
        ]
        for model, message in cases:
            model = model.to(self.device or "cpu")
            before = copy.deepcopy(model.state_dict())
            with self.subTest(message), self.assertRaisesRegex(CannotCapture, message):
                GraphStep(model, self.adam(model.parameters()), loader(**self.more), model.losses)
            for name, value in model.state_dict().items():
                self.assertTrue(torch.equal(value, before[name]), name)

    def test_a_loss_that_depends_on_all_rows_is_refused(self):
        model, optimizer, batches, losses = self.made()
        with self.assertRaisesRegex(CannotCapture, "depends on how many rows a batch has; give one loss for each seed"):
            GraphStep(model, optimizer, batches, lambda batch: losses(batch) / batch.num_nodes)

    def test_operations_that_cannot_be_captured_are_named(self):
        model, optimizer, batches, losses = self.made()
        gat, gcn = (Model(layer).to(self.device or "cpu") for layer in (nn.GATConv, nn.GCNConv))
        cases = [
            (gcn, gcn.losses, r"first \(GCNConv\) calls index, .*add_self_loops=False"),
            (gat, gat.losses, r"first \(GATConv\) calls \w+, which cannot be captured.*add_self_loops=False"),
            (model, lambda batch: losses(batch) * losses(batch).sum().item(), "the function `losses` calls _local_scalar_dense.*number to the host"),
            (model, lambda batch: losses(batch)[batch.y[: batch.batch_size] >= 0], "calls index.*selects by a mask"),
        ]
        for one, function, message in cases:
            with self.subTest(message), self.assertRaisesRegex(CannotCapture, message):
                GraphStep(one, self.adam(one.parameters()), batches, function)

    def test_says_argument_found_and_expected(self):
        model, optimizer, batches, losses = self.made()
        scaler = torch.amp.GradScaler("cpu") if hasattr(torch.amp, "GradScaler") else torch.cuda.amp.GradScaler()
        cases = [
            (TypeError, "optimizer: expected a torch.optim.Optimizer, found int", dict(optimizer=3)),
            (ValueError, "^optimizer: expected one that moves the model's parameters", dict(optimizer=torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1))),
            (TypeError, "^model: expected a torch.nn.Module, found method", dict(model=losses)),
            (TypeError, "^losses: expected a function, found int", dict(losses=3)),
            (TypeError, "^before_step: expected a function, found int", dict(before_step=3)),
            (ValueError, "^losses: expected losses that depend on the model's parameters", dict(losses=lambda batch: losses(batch).detach())),
            (CannotCapture, "optimizer: LBFGS is not one", dict(optimizer=torch.optim.LBFGS(model.parameters()))),
            (CannotCapture, "^optimizer: GradScaler decides on the host", dict(optimizer=scaler)),
            (CannotCapture, "^losses: GradScaler decides on the host.*take bfloat16", dict(losses=lambda batch: scaler.scale(losses(batch)))),
            (CannotCapture, "dampening=0", dict(optimizer=torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, dampening=0.1))),
            (TypeError, "loader: expected a hone.gnn.pyg.NeighborLoader, found list", dict(loader=[])),
            (NotImplementedError, "loader: a loader with transform", dict(loader=loader(transform=lambda batch: batch))),
            (NotImplementedError, "subgraph_type='induced'", dict(loader=loader(subgraph_type="induced"))),
            (ValueError, r"one loss for each of the 64 seeds .*found shape \(\)", dict(losses=lambda batch: losses(batch).mean())),
            (ValueError, "it has no seeds", dict(loader=loader(input_nodes=torch.empty(0, dtype=torch.int64)))),
            (ValueError, "^factors: expected rising factors of at least 1, found ", dict(factors=(1.5, 1.2))),
            (TypeError, "^factors: expected rising factors of at least 1, found 3", dict(factors=3)),
            (ValueError, "^trials: expected a number of batches of at least 1, found 'a'", dict(trials="a")),
            (ValueError, "^tolerance: expected a number above 0, found -1", dict(tolerance=-1)),
            (CannotCapture, "^the step gives another result for the same batch.*draws random numbers", dict(losses=lambda batch: losses(batch) * torch.rand(batch.batch_size, device=batch.x.device))),
        ]
        for kind, message, more in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                GraphStep(**{**dict(model=model, optimizer=optimizer, loader=batches, losses=losses), **more})


    def test_a_batch_of_another_loader_is_refused(self):
        step = GraphStep(*self.made())
        for given in (None, next(iter(loader(**self.more, num_neighbors=[3, 2, 2])))):
            with self.assertRaisesRegex(TypeError, "^batch: expected a batch of the loader, with the edges of 2 hops in num_sampled_edges, found "):
                step.step(given)
        self.assertEqual(step.steps, 0)


class OnTheCpu(Steps, unittest.TestCase):
    def test_an_optimizer_for_a_gpu_is_refused(self):
        model, _, batches, losses = self.made()
        with self.assertRaisesRegex(ValueError, "^optimizer: Adam with capturable=True steps on a GPU only, .* capturable=False, or the loader with device='cuda'"):
            GraphStep(model, torch.optim.Adam(model.parameters(), capturable=True), batches, losses)

    def test_captures_change_neither_parameters_nor_the_optimizers_state(self):
        optimizers = [lambda parameters: torch.optim.NAdam(parameters, lr=0.01), lambda parameters: torch.optim.SGD(parameters, lr=0.05, momentum=0.9)]
        with as_if_captured():
            for optimizer in optimizers:
                step = self.compare(Model, optimizer, epochs=1)
                self.assertEqual(step.uncaptured, 0)
            self.test_add_up_the_gradients_of_several_batches()


@unittest.skipUnless("emulated" not in LIBRARY and torch.cuda.is_available(), "no GPU is here, or not the library for it")
class OnAGpu(Steps, unittest.TestCase):
    device = "cuda"
    more = {"device": "cuda"}

    def test_launch_a_graph_for_every_batch_and_never_wait_for_the_device(self):
        step = GraphStep(*self.made())
        list(step)  # captures
        self.assertEqual(step.uncaptured, 0)
        batches = list(step.loader)
        torch.cuda.set_sync_debug_mode("error")
        try:
            for batch in batches:
                step.step(batch)
        finally:
            torch.cuda.set_sync_debug_mode("default")
        self.assertEqual(step.uncaptured, 0)

    def test_dropout_is_drawn_anew_in_every_launch(self):
        model, optimizer, batches, losses = self.made(dropout=0.5)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
        step = GraphStep(model, optimizer, batches, losses)
        batch = next(iter(batches))
        self.assertGreater(len({step.step(batch).item() for _ in range(8)}), 4)

    def test_an_optimizer_that_counts_on_the_host_is_refused(self):
        model, _, batches, losses = self.made()
        with self.assertRaisesRegex(CannotCapture, "capturable=True"):
            GraphStep(model, torch.optim.Adam(model.parameters()), batches, losses)

    def test_a_learning_rate_on_the_device_follows_its_schedule(self):
        model, _, batches, losses = self.made()
        optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(0.01, device="cuda"), capturable=True)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.0)
        step = GraphStep(model, optimizer, batches, losses)
        list(step)
        schedule.step()
        before = copy.deepcopy(model.state_dict())
        list(step)
        for name, value in model.state_dict().items():
            self.assertTrue(torch.equal(value, before[name]), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
