# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests hone.gnn.Graph, which runs the program: graph_test.py HONE_GNN SOURCE. Needs only Python; tests tensors too if torch is installed."""
import csv
import ctypes
import json
import math
import os
import random
import re
import struct
import sys
import tempfile
import types
import unittest
import warnings
from array import array

PROGRAM, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(SOURCE, "python"))
from hone.gnn import EngineError, Graph, Predictor

PAGE = os.path.join(SOURCE, "docs", "gnn-python.md")
try:
    import torch
except ImportError:
    torch = None


def matrix(code, rows, columns, values):
    return memoryview(array(code, values)).cast("B").cast(code, [rows, columns])


def two_camps(nodes=400, seed=1):
    """Returns a graph of two classes with edges only within a class, and features that say little about the class by themselves."""
    drawn = random.Random(seed)
    edges = [(v, (v + 2 * drawn.randrange(nodes // 2)) % nodes) for v in range(nodes) for _ in range(6)]
    x = [drawn.gauss(1.0 if v % 2 else -1.0, 2.0) for v in range(nodes) for _ in range(4)]
    part = [drawn.random() for _ in range(nodes)]
    masks = [memoryview(bytes(low <= p < high for p in part)).cast("?") for low, high in ((0, 0.6), (0.6, 0.8), (0.8, 1))]
    return {
        "edge_index": matrix("q", 2, len(edges), [v for v, _ in edges] + [u for _, u in edges]),
        "x": matrix("f", nodes, 4, x),
        "y": array("q", [v % 2 for v in range(nodes)]),
        "train_mask": masks[0],
        "val_mask": masks[1],
        "test_mask": masks[2],
    }


def graph_predictor(graph, run):
    return Predictor(graph, run, device="cpu")


def tensors_of(path):
    """Returns the float32 tensors of a safetensors file as PyTorch's."""
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        header, data = json.loads(file.read(size)), file.read()
    return {name: torch.frombuffer(bytearray(data[slice(*one["data_offsets"])]), dtype=torch.float32).view(one["shape"])
            for name, one in header.items() if name != "__metadata__" and one["dtype"] == "F32"}


@unittest.skipIf(torch is None, "PyTorch is not installed")
class LossesAgainstPyTorch(unittest.TestCase):
    """A step with every neighbor, without dropout and with a rate of 0, leaves a tenth of the gradient in Adam's first moment."""

    def compare(self, loss, y, theirs, **options):
        nodes, drawn = 60, random.Random(5)
        edges = sorted({(drawn.randrange(nodes), drawn.randrange(nodes)) for _ in range(240)})
        sources, targets = ([edge[end] for edge in edges] for end in (0, 1))
        x = torch.randn(nodes, 6, generator=torch.Generator().manual_seed(1))
        with tempfile.TemporaryDirectory() as folder:
            train = torch.tensor([v % 4 != 0 for v in range(nodes)])
            graph = Graph.from_arrays(os.path.join(folder, "a.graph"), torch.tensor([sources, targets]), x=x, y=y, train_mask=train, val_mask=~train,
                                      program=PROGRAM, **options)
            run = graph.train(model="sage", fanout="all,all", eval_every=0, hidden=8, dropout=0, lr=0.0, epochs=1, batch=100, loss=loss, device="cpu",
                              checkpoint=os.path.join(folder, "run"))
            stored_tensors = tensors_of(os.path.join(folder, "run", "last.safetensors"))
        mean = torch.zeros(nodes, nodes)
        for source, target in edges:
            mean[target, source] += 1
        mean /= mean.sum(1, keepdim=True).clamp(min=1)
        weights = {name: value.clone().requires_grad_() for name, value in stored_tensors.items() if not name.startswith("optimizer.")}
        for layer in range(2):
            x = mean @ x @ weights[f"convs.{layer}.lin_l.weight"].T + x @ weights[f"convs.{layer}.lin_r.weight"].T
            x = x.relu() if layer == 0 else x
        expected = theirs(x[train], y[train].view(int(train.sum()), -1))
        expected.backward()
        self.assertAlmostEqual(run["history"][0]["loss"], expected.item(), delta=1e-5 * max(1, abs(expected.item())))
        self.assertEqual(len(weights), 4)
        for name, value in weights.items():
            torch.testing.assert_close(stored_tensors[f"optimizer.exp_avg.{name}"] * 10, value.grad, rtol=1e-5, atol=1e-5)

    def test_several_labels_and_values(self):
        drawn = torch.Generator().manual_seed(2)
        labels = (torch.rand(60, 5, generator=drawn) < 0.4).float()
        values = torch.randn(60, 3, generator=drawn)
        functional = torch.nn.functional
        self.compare("bce", labels, functional.binary_cross_entropy_with_logits)
        self.compare("mse", values, functional.mse_loss, labels="values")
        self.compare("mse", values[:, 0].contiguous(), functional.mse_loss, labels="values")
        self.compare("l1", values, functional.l1_loss, labels="values")
        self.compare("huber", values, functional.huber_loss, labels="values")

    def test_labels_that_are_not_known_have_no_part(self):
        drawn = torch.Generator().manual_seed(3)
        labels = (torch.rand(60, 5, generator=drawn) < 0.4).float()
        labels[torch.rand(60, 5, generator=drawn) < 0.3] = float("nan")

        def mean_of_known(outputs, targets):
            is_known = ~targets.isnan()
            each = torch.nn.functional.binary_cross_entropy_with_logits(outputs, targets.nan_to_num(), reduction="none") * is_known
            return (each.sum(1) / is_known.sum(1).clamp(min=1))[is_known.any(1)].mean()

        self.compare("auto", labels, mean_of_known)


class AGraph(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "camps.graph")

    def make(self, **more):
        arrays = {**two_camps(), **more}
        return Graph.from_arrays(arrays.pop("path", self.path), arrays.pop("edge_index"), program=PROGRAM, **arrays)

    def test_of_arrays_holds_what_they_hold(self):
        arrays = two_camps()
        graph = self.make()
        self.assertEqual((graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes), (400, 2400, 4, 2))
        self.assertEqual([graph.train_nodes, graph.valid_nodes, graph.test_nodes], [sum(arrays[key]) for key in ("train_mask", "val_mask", "test_mask")])
        opened = Graph.open(self.path, program=PROGRAM)
        self.assertEqual(repr(opened), repr(graph))
        self.assertEqual(os.listdir(self.folder), ["camps.graph"], "nothing else is left")
        # Messages go from the first row to the second: if every edge of node 0 is drawn, it receives from 1 and 2.
        two = Graph.from_arrays(self.path, matrix("q", 2, 2, [1, 2, 0, 0]), num_nodes=3, program=PROGRAM)
        self.assertEqual((two.num_nodes, two.num_edges, two.num_features, two.num_classes), (3, 2, 0, 0))
        with_reverse = self.make(symmetrize=True, undirected=True, dtype="float16")
        edges = arrays["edge_index"].tolist()
        self.assertEqual(with_reverse.num_edges, 4800 - sum(a == b for a, b in zip(*edges)), "a self-loop has no reverse")

    def test_of_rows_of_in_edges_is_that_of_the_same_edges(self):
        sources, targets = [3, 0, 2, 1, 1, 0], [0, 1, 1, 1, 3, 3]
        weights = array("f", [0.5, 1, 2, 3, 4, 5])
        container_bytes = []
        for edges in ({"edge_index": matrix("q", 2, 6, sources + targets), "num_nodes": 5}, {"indptr": array("i", [0, 1, 4, 4, 6, 6]), "indices": array("i", sources)}):
            graph = Graph.from_arrays(self.path, edge_attr=weights, program=PROGRAM, **edges)
            self.assertEqual((graph.num_nodes, graph.num_edges, graph.num_edge_features), (5, 6, 1))
            with open(self.path, "rb") as file:
                container_bytes.append(re.sub(rb"hone-graph-\w+", b"", file.read()[4096:]))  # behind the header, which has the checksum of the source's name
        self.assertEqual(*container_bytes)
        cases = [
            (ValueError, "^indices: expected it beside indptr, found None", dict(indptr=array("q", [0, 1]))),
            (ValueError, "^edge_index: expected None beside indptr", dict(edge_index=matrix("q", 2, 1, [0, 0]), indptr=array("q", [0, 1]), indices=array("q", [0]))),
            (ValueError, "^indptr: .*the first 0 and the last 2, the length of indices; found 0 and 1", dict(indptr=array("q", [0, 1]), indices=array("q", [0, 0]))),
            (ValueError, "^indptr: expected numbers that do not fall, found 1 after 2 at position 2", dict(indptr=array("q", [0, 2, 1, 2]), indices=array("q", [0, 0]))),
            (TypeError, "^indices: expected whole numbers", dict(indptr=array("q", [0, 1]), indices=array("f", [0]))),
            (ValueError, r"^edge_attr: expected shape \[edges\] or \[edges, features\] with 1 edges, found \[2\]",
             dict(indptr=array("q", [0, 1]), indices=array("q", [0]), edge_attr=array("f", [0, 0]))),
            (TypeError, "^edge_attr: expected floats", dict(indptr=array("q", [0, 1]), indices=array("q", [0]), edge_attr=array("q", [0]))),
        ]
        for kind, message, more in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                Graph.from_arrays(self.path, program=PROGRAM, **more)

    def test_trains_and_predicts(self):
        graph, run = self.make(), os.path.join(self.folder, "run")
        reports = []
        options = dict(model="sage", fanout=[5, 5], hidden=16, dropout=0.1, lr=0.02, batch=32, metric="auc", device="cpu", checkpoint=run)
        ended = graph.train(epochs=4, on_epoch=reports.append, **options)
        self.assertEqual((ended["end"], ended["metric"], ended["checkpoint"]), ("finished", "auc", run + "/last.safetensors"))
        self.assertEqual(ended["history"], reports)
        self.assertEqual(len(reports), 4)
        self.assertEqual(ended["best_valid"], max(epoch["valid_auc"] for epoch in reports))
        self.assertLess(reports[-1]["loss"], reports[0]["loss"])
        # A mask selects the nodes of its split. Ids may repeat, and the answers keep their order.
        self.assertEqual(graph.infer(run, full=True, nodes=two_camps()["test_mask"], device="cpu")["accuracy"]["nodes"],
                         graph.infer(run, full=True, nodes="test", device="cpu")["accuracy"]["test"])
        classes = os.path.join(self.folder, "classes.npy")
        graph.infer(run, full=True, nodes=[7, 2, 7], output=classes, device="cpu")
        with open(classes, "rb") as file:
            of_7, of_2, again = struct.unpack("<iii", file.read()[-12:])
        self.assertEqual(of_7, again)
        with self.assertRaisesRegex(ValueError, "^nodes entry 1 is node 400; the graph has nodes 0 to 399"):
            graph.infer(run, nodes=array("q", [1, 400]), device="cpu")
        logits = os.path.join(self.folder, "logits.npy")
        scores = graph.infer(run, full=True, nodes="test", output=logits, logits=True, device="cpu", confusion=True)
        self.assertGreater(scores["accuracy"]["test"], 0.85, "features alone tell about 0.84 right, and neighbors nearly all")
        self.assertEqual(sum(map(sum, scores["confusion"])), graph.test_nodes)
        with open(logits, "rb") as file:
            rows = file.read()[-graph.test_nodes * 8 :]
        pairs = list(struct.iter_unpack("<ff", rows))
        self.assertEqual(sum(b > a for a, b in pairs), sum(row[1] for row in scores["confusion"]))

    def test_names_of_classes_are_kept_and_shown(self):
        graph, run = self.make(class_names=["even", "odd, not even"]), os.path.join(self.folder, "run")
        self.assertEqual(graph.class_names, ["even", "odd, not even"])
        graph = Graph.open(self.path, program=PROGRAM)
        self.assertEqual(graph.class_names, ["even", "odd, not even"])
        graph.train(model="sage", fanout=[5, 5], hidden=16, lr=0.02, batch=32, device="cpu", checkpoint=run, epochs=4)
        table = os.path.join(self.folder, "classes.csv")
        scores = graph.infer(run, full=True, nodes=[3, 0], output=table, confusion=True, device="cpu")
        self.assertEqual(scores["class_names"], ["even", "odd, not even"])
        self.assertEqual(sum(map(sum, scores["confusion"])), 2)
        with open(table, newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["node"] for row in rows], ["3", "0"])
        for row in rows:
            self.assertEqual(row["name"], graph.class_names[int(row["class"])])
        with graph_predictor(graph, run) as predictor:
            self.assertEqual(predictor.names([3, 0]), [graph.class_names[c] for c in predictor([3, 0])])
            self.assertEqual(predictor.names(3), graph.class_names[predictor(3)])
        for kind, message, names in (
            (TypeError, "^class_names: expected a list of names", "even"),
            (TypeError, "^class_names: expected a list of names", [0, 1]),
            (ValueError, r"^class_names: the name of class 1 is 'a\\nb'; a name is not empty", ["even", "a\nb"]),
            (ValueError, "^class_names: lines 1 and 2 both name class 'x'", ["x", "x"]),
            (ValueError, "^y has the label 1, and class_names names 1 classes", ["even"]),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                self.make(class_names=names)
        with self.assertRaisesRegex(ValueError, "^class_names: y is missing"):
            self.make(class_names=["a", "b"], y=None, train_mask=None, val_mask=None, test_mask=None)

    def test_ids_that_are_counted_from_1_are_suspected_and_taken(self):
        shifted = matrix("q", 2, 400, [*range(1, 401), *range(2, 401), 1])
        with self.assertRaisesRegex(ValueError, r"^edge_index column \d+: node 400 has no features: x has 400 rows\. No edge has node 0, .* say first_id=1$"):
            self.make(edge_index=shifted)
        self.assertEqual(self.make(edge_index=shifted, first_id=1).num_edges, 400)
        ring = matrix("q", 2, 3, [1, 2, 3, 2, 3, 1])
        with self.assertWarnsRegex(UserWarning, "^edge_index: no edge has node 0, .* give first_id=1$") as caught:
            self.assertEqual(Graph.from_arrays(self.path, ring, num_nodes=4, program=PROGRAM).num_nodes, 4)
        self.assertEqual(caught.filename, __file__, "the warning names the caller's line")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(Graph.from_arrays(self.path, ring, num_nodes=3, first_id=1, program=PROGRAM).num_nodes, 3)

    def test_what_the_program_warns_of_is_a_warning(self):
        graph, run = self.make(), os.path.join(self.folder, "run")
        options = dict(model="gin", fanout=[3, 3], hidden=8, epochs=1, device="cpu")
        with self.assertWarnsRegex(UserWarning, "^checkpoint: the weights of this run are not kept") as caught:
            graph.train(**options)
        self.assertEqual(caught.filename, __file__)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            graph.train(**options, checkpoint=run)
        with self.assertWarnsRegex(UserWarning, r"Without full=True, fanout=\[3, 3\] predicts as it was trained"):
            scores = graph.infer(run, full=True, device="cpu")
        self.assertIn("Without full=True", scores["warnings"][0])

    def test_a_run_that_is_interrupted_is_saved_and_goes_on(self):
        graph, run = self.make(), os.path.join(self.folder, "run")

        def stop(epoch):
            if epoch["epoch"] == 1:
                raise KeyboardInterrupt

        options = dict(model="sage", fanout=[3, 3], hidden=8, device="cpu")
        with self.assertRaises(KeyboardInterrupt):
            graph.train(epochs=500, checkpoint=run, on_epoch=stop, **options)
        epochs_done = graph.train(resume=run, epochs=1, device="cpu")["epochs"]
        self.assertTrue(2 <= epochs_done < 500, epochs_done)
        remaining_run = graph.train(resume=run, epochs=epochs_done + 2, device="cpu")
        self.assertEqual(remaining_run["end"], "finished")
        self.assertEqual([epoch["epoch"] for epoch in remaining_run["history"]], [epochs_done, epochs_done + 1])

    def test_what_is_wrong_is_told_by_argument_found_and_expected(self):
        arrays = two_camps()
        swapped = ctypes.c_longlong.__ctype_be__ if sys.byteorder == "little" else ctypes.c_longlong.__ctype_le__
        foreign = (swapped * 4)(0, 1, 1, 0)
        cases = [
            (ValueError, r"edge_index: expected shape \[2, edges\], found \[3, 2\]", dict(edge_index=matrix("q", 3, 2, range(6)))),
            (TypeError, "edge_index: expected whole numbers, found items of format 'd'", dict(edge_index=matrix("d", 2, 2, [0, 1, 1, 0]))),
            (TypeError, "edge_index: expected an array .* found list", dict(edge_index=[[0, 1], [1, 0]])),
            (TypeError, "y: expected whole numbers, one class a node", dict(y=array("f", [0.5] * 400))),
            (ValueError, r"y: expected shape \[nodes\] or \[nodes, labels\], found \[200, 2, 1\]", dict(y=matrix("q", 200, 2, [0] * 400).cast("B").cast("q", [200, 2, 1]), x=None)),
            (ValueError, r"^y row 1 column 0: 2 is no label; each label of a node is 0 or 1, .*Say labels='values' if these", dict(y=matrix("q", 400, 2, [0, 1, 2, 1] + [0] * 796))),
            (ValueError, r"^labels='values': .*|labels", dict(y=None, labels="values")),
            (ValueError, "y: expected 400 rows, one a node, as many as x has, found 399", dict(y=array("q", [0] * 399))),
            (ValueError, "^x: expected 399 rows, one a node, found 400", dict(num_nodes=399)),
            (TypeError, r"^edge_index: expected numbers in the byte order of this machine, found items of format '[<>]q'; pass edge_index.astype", dict(edge_index=foreign)),
            (TypeError, "^path: expected the name of a file, found int", dict(path=3)),
            (ValueError, "^dtype 'int8' is no feature type; use float32, float16 or bfloat16", dict(dtype="int8")),
            (ValueError, r"x: expected shape \[nodes, features\]", dict(x=array("f", [0.5] * 400))),
            (TypeError, r"train_mask: expected truth values \(zeros and ones as train_mask.bool\(\)\)", dict(train_mask=array("q", [1] * 400))),
            
            (ValueError, "^edge_index column 1: node 400 has no features: x has 400 rows", dict(edge_index=matrix("q", 2, 2, [0, 1, 1, 400]))),
            (ValueError, "^edge_index column 0: node -1 is negative", dict(edge_index=matrix("q", 2, 2, [-1, 1, 1, 0]))),
            (ValueError, "^x row 1 column 2 is nan; mend the source, or give replace_nan=VALUE$", dict(x=matrix("f", 400, 4, [math.nan if i == 6 else 0.5 for i in range(1600)]))),
            (ValueError, "^y row 0: label -5 is no class.* Say labels='values' if these", dict(y=array("q", [-5] * 400))),
            (ValueError, "is in train_mask and in val_mask too", dict(val_mask=arrays["train_mask"])),
            (ValueError, "^test_mask is true at no node: mark some, or leave it out", dict(test_mask=memoryview(bytes(400)).cast("?"))),
            (ValueError, "^train_mask is missing beside val_mask", dict(train_mask=None)),
            (ValueError, "outside the 1 classes of classes", dict(classes=1)),
            (ValueError, "^split_index=2: the given data holds ", dict(split_index=2, train_mask=None, val_mask=None, test_mask=None)),
            (ValueError, "^edge_index: expected the reverse of every edge, and column 1, 2 to 0, has none; give symmetrize=True",
             dict(edge_index=matrix("q", 2, 3, [1, 2, 0, 0, 0, 1]), undirected=True)),
            (ValueError, "^there is no option colour; `hone-gnn convert --help` tells more", dict(colour="red")),
        ]
        for kind, message, wrong in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                self.make(**wrong)
        self.assertEqual(os.listdir(self.folder), [], "nothing is left behind")
        graph = self.make()
        with self.assertRaisesRegex(TypeError, "^on_epoch: expected a function of an epoch's report, found int"):
            graph.train(on_epoch=3)
        with self.assertRaisesRegex(ValueError, "the metric is 'f1'"):
            graph.train(metric="f1")
        with self.assertRaisesRegex(TypeError, "^model: expected the name of a model, a .toml file or a ModelSpec, found dict"):
            graph.train(model={})
        with self.assertRaisesRegex(ValueError, "^eval_fanout=3 has 1 hop "):
            graph.train(fanout=[2, 2], eval_fanout=[3], epochs=1)
        for kind, message, nodes in (
            (ValueError, r"^nodes: a mask has one truth value for each of the 400 nodes, found 2", memoryview(b"\1\0").cast("?")),
            (TypeError, "^nodes: expected node ids, found a list with something else in it", [True, False]),
            (TypeError, r"^nodes: expected a list of node ids or a mask, found 5; give \[5\] for one node", 5),
            (TypeError, "^nodes: expected node ids or truth values", array("d", [0.5])),
            (ValueError, "^nodes: expected at least one node, found none", []),
            (ValueError, "^nodes: expected at least one node, found none", array("q")),
            (ValueError, "^nodes: expected at least one node, found none", memoryview(bytes(400)).cast("?")),
            (ValueError, r"^nodes: expected one dimension, found shape \[2, 2\]", matrix("q", 2, 2, range(4))),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                graph.infer("run", nodes=nodes)
        with self.assertRaisesRegex(ValueError, "^path: there is no folder '.*nowhere'; make it first"):
            Graph.from_arrays(os.path.join(self.folder, "nowhere", "a.graph"), arrays["edge_index"], program=PROGRAM)
        with self.assertRaisesRegex(EngineError, "could not be started"):
            Graph.open(self.path, program=os.path.join(self.folder, "nothing"))
        with self.assertRaisesRegex(ValueError, "no-such.graph.*No such file"):
            Graph.open(os.path.join(self.folder, "no-such.graph"), program=PROGRAM)
        with self.assertRaisesRegex(TypeError, "^data: expected a torch_geometric.data.Data, found int"):
            Graph.from_pyg(3, self.path, program=PROGRAM)
        with self.assertRaisesRegex(NotImplementedError, "one kind of node"):
            Graph.from_pyg(types.SimpleNamespace(edge_types=[]), self.path, program=PROGRAM)

    @unittest.skipUnless(torch, "torch is not here")
    def test_of_tensors_and_of_pyg_is_the_same(self):
        arrays = two_camps()
        tensors = {key: torch.tensor(value.tolist()) for key, value in arrays.items()}

        class Data(dict):  # the part of torch_geometric.data.Data that Graph uses
            num_nodes = 400
            edge_index = property(lambda self: self["edge_index"])

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            graph = Graph.from_pyg(Data(tensors, edge_attr=torch.zeros(2400, 3), pos=torch.zeros(400, 2)), self.path, program=PROGRAM)
        self.assertIn("a container holds no pos: they are left out", str(caught[0].message))
        self.assertEqual(graph.num_edge_features, 3)
        graph = Graph.from_pyg(Data(tensors), self.path, program=PROGRAM)
        with open(self.path, "rb") as file:
            of_pyg = file.read()
        self.make()
        with open(self.path, "rb") as file:
            self.assertEqual(len(of_pyg), len(file.read()))
        self.assertEqual((graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes), (400, 2400, 4, 2))
        turned = Graph.from_arrays(self.path, tensors["edge_index"], x=tensors["x"].t().contiguous().t().bfloat16(), y=tensors["y"].view(-1, 1), program=PROGRAM)
        self.assertEqual((turned.num_features, turned.num_classes), (4, 2))
        negative = torch.complex(tensors["x"], -tensors["x"]).conj().imag  # a view that is negated when it is read
        self.assertTrue(negative.is_neg())
        for x in (negative, tensors["x"].to(torch.float8_e4m3fn)):
            self.assertEqual(Graph.from_arrays(self.path, tensors["edge_index"], x=x, program=PROGRAM).num_features, 4)

        class Foreign:  # an array of a library that has neither numpy's nor Python's interface
            def __init__(self, tensor):
                self.__dlpack__, self.__dlpack_device__ = tensor.__dlpack__, tensor.__dlpack_device__

        foreign = Graph.from_arrays(self.path, Foreign(tensors["edge_index"]), x=Foreign(tensors["x"]), y=Foreign(tensors["y"]), program=PROGRAM)
        self.assertEqual((foreign.num_edges, foreign.num_features, foreign.num_classes), (2400, 4, 2))
        with self.assertRaisesRegex(TypeError, "^x: a SimpleNamespace could not be taken by torch.from_dlpack"):
            Graph.from_arrays(self.path, tensors["edge_index"], x=types.SimpleNamespace(__dlpack__=None), program=PROGRAM)
        # Several splits, of which all share one test mask, as WikiCS has them.
        several = {**tensors, "train_mask": torch.stack([tensors["train_mask"], tensors["val_mask"]], 1),
                   "val_mask": torch.stack([tensors["val_mask"], tensors["train_mask"]], 1)}
        second_split = Graph.from_pyg(Data(several), self.path, split_index=1, program=PROGRAM)
        self.assertEqual((second_split.train_nodes, second_split.valid_nodes, second_split.test_nodes), (graph.valid_nodes, graph.train_nodes, graph.test_nodes))
        edge_index, x = tensors["edge_index"], tensors["x"]
        for kind, message, wrong in (
            (TypeError, r"^x: expected a dense tensor, found torch.sparse_coo; pass x.to_dense\(\)", dict(x=x.to_sparse())),
            (ValueError, "^x is on meta", dict(x=x.to("meta"))),
            (TypeError, r"^x: expected floats \(whole numbers and truth values as x.float\(\)\)", dict(x=x.long())),
            (ValueError, r"^edge_index: expected shape \[2, edges\]", dict(edge_index=edge_index.t())),
            (TypeError, "^edge_index: expected whole numbers", dict(edge_index=edge_index.float())),
            (TypeError, "^x: a tensor of torch.qint8 could not be made an array of numpy: ", dict(x=torch.quantize_per_tensor(x, 0.1, 0, torch.qint8))),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                Graph.from_arrays(self.path, **{"edge_index": edge_index, "x": x, **wrong}, program=PROGRAM)
        with self.assertRaisesRegex(ValueError, "^data.edge_index: expected a tensor .* found none beside data.adj_t"):
            class Sparse(dict):
                num_nodes, edge_index = 400, None

            Graph.from_pyg(Sparse(adj_t=x), self.path, program=PROGRAM)

    def test_the_pages_examples_run(self):
        with open(PAGE) as file:
            examples = [block.split("```")[0] for block in file.read().split("```python\n")[1:]]
        folder_before, path = os.getcwd(), os.environ["PATH"]
        os.environ["PATH"] = os.path.dirname(PROGRAM) + os.pathsep + path
        os.chdir(self.folder)
        try:
            names = {}
            for example in examples:
                exec(compile(example, PAGE, "exec"), names)
        finally:
            os.chdir(folder_before)
            os.environ["PATH"] = path


if __name__ == "__main__":
    unittest.main(verbosity=2)
