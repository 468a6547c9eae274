# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests hone.gnn.Trainer, Predictor and ModelSpec, which run the program: trainer_test.py HONE_GNN SOURCE. Needs only Python.
HONE_GNN_TEST_DEVICE=cuda trains and predicts on a GPU.
"""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from array import array
from unittest import mock

PROGRAM, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(SOURCE, "python"))
from hone.gnn import EngineError, Graph, ModelSpec, Predictor, Trainer
from hone.gnn import trainer as of_trainer

DEVICE = os.environ.get("HONE_GNN_TEST_DEVICE", "cpu")
OPTIONS = dict(model="sage", fanout=[4, 4], hidden=8, lr=0.02, batch=64, device=DEVICE, seed=3)


class Targets(unittest.TestCase):
    """Several labels a node, and values: graph, training, evaluation and answers."""

    def train(self, y, training=None, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        edges = [(v, (v + 4 * step) % 200) for v in range(200) for step in (1, 5, 9)]
        edge_index = memoryview(array("q", [*(v for v, _ in edges), *(u for _, u in edges)])).cast("B").cast("q", [2, len(edges)])
        x = memoryview(array("f", [float(v % 4 == c) + (v * 37 % 11) / 11 for v in range(200) for c in range(4)])).cast("B").cast("f", [200, 4])
        graph = Graph.from_arrays(os.path.join(folder.name, "a.graph"), edge_index, x=x, y=y, split=[0.6, 0.2, 0.2], program=PROGRAM, **options)
        self.bare = Graph.from_arrays(os.path.join(folder.name, "bare.graph"), edge_index, x=x, program=PROGRAM)
        trainer = Trainer(graph, os.path.join(folder.name, "run"), **OPTIONS, **(training or {}))
        trainer.fit(25)
        predictor = trainer.predictor(device=DEVICE)
        self.addCleanup(predictor.close)
        return graph, trainer, predictor

    def test_several_labels(self):
        labels = memoryview(array("B", [bit for v in range(200) for bit in (v % 2, int(v % 4 > 1), int(v % 4 == 3))])).cast("B").cast("B", [200, 3])
        graph, trainer, predictor = self.train(labels, class_names=["odd", "high", "both"])
        self.assertEqual((graph.targets, graph.num_classes, graph.class_names), ("multi-label", 3, ["odd", "high", "both"]))
        self.assertIn("3 labels a node", repr(graph))
        scores = trainer.evaluate("test", device=DEVICE)["targets"]
        self.assertEqual((scores["kind"], scores["width"], scores["rmse"]), ("multi-label", 3, None))
        self.assertGreater(scores["micro_f1"], 0.9)
        self.assertEqual([column["name"] for column in scores["columns"]], ["odd", "high", "both"])
        self.assertGreater(scores["columns"][2]["f1"], 0.8)
        self.assertGreater(trainer.history[-1]["valid_micro_f1"], 0.9)
        # A graph without labels does not say what is predicted; the checkpoint does.
        with Predictor(self.bare, trainer.checkpoint, other_graph=True) as there:
            self.assertEqual([len(one) for one in there([7, 8])], [3, 3])
            self.assertEqual(there.rows([7], other_graph=True).shape, (1, 3))
        self.assertEqual(predictor([1, 2]), predictor.probabilities([1, 2]))
        odd, high, both = predictor(7)
        self.assertTrue(odd > 0.5 and high > 0.5 and both > 0.5 and max(odd, high, both) < 1)
        rows = predictor.rows("test", device=DEVICE)
        self.assertEqual((rows.format, rows.shape), ("f", (graph.test_nodes, 3)))
        self.assertTrue(all(0 <= one <= 1 for row in rows.tolist() for one in row))
        with self.assertRaisesRegex(ValueError, "^graph: the model predicts several labels a node, and no classes"):
            predictor.names(1)
        with self.assertRaisesRegex(ValueError, "several labels a node.*use bce"):
            graph.train(loss="cross-entropy", checkpoint=trainer.checkpoint + "2", **OPTIONS)

    def test_values(self):
        nan = float("nan")
        graph, trainer, predictor = self.train(array("f", [nan if v % 10 == 0 else 100 * (v % 4 - 1.5) for v in range(200)]), labels="values", training={"standardize": True})
        self.assertEqual((graph.targets, graph.num_classes), ("values", 1))
        scores = trainer.evaluate("test", device=DEVICE)["targets"]
        self.assertLess(scores["rmse"], 60)
        self.assertLess(scores["mae"], scores["rmse"] + 1e-9)
        self.assertEqual(trainer.history[-1]["train_accuracy"], None)
        value, = predictor(3)
        self.assertAlmostEqual(value, 150, delta=100)
        with Predictor(self.bare, trainer.checkpoint, other_graph=True) as there:
            self.assertAlmostEqual(there(3)[0], value, delta=1e-3 * abs(value))
        self.assertEqual([len(one) for one in predictor([3, 9])], [1, 1])
        with self.assertRaisesRegex(ValueError, "^graph: the model predicts values, which have no probabilities"):
            predictor.probabilities([1])


class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        edges = [(v, (v + 2 * step) % 200) for v in range(200) for step in (1, 5, 9)]
        edge_index = memoryview(array("q", [*(v for v, _ in edges), *(u for _, u in edges)])).cast("B").cast("q", [2, len(edges)])
        x = memoryview(array("f", [(v % 2) + (v * 37 % 11) / 11 for v in range(200) for _ in range(3)])).cast("B").cast("f", [200, 3])
        cls.graph = Graph.from_arrays(os.path.join(cls.folder.name, "a.graph"), edge_index, x=x, y=array("q", [v % 2 for v in range(200)]),
                                      split=[0.6, 0.2, 0.2], program=PROGRAM)
        cls.run_folder = os.path.join(cls.folder.name, "run")
        Trainer(cls.graph, cls.run_folder, **OPTIONS).fit(4)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def predictor(self, **options):
        found = Predictor(self.graph, self.run_folder, device=DEVICE, **options)
        self.addCleanup(found.close)
        return found

    def test_fits_go_on_from_each_other_and_in_another_object(self):
        uninterrupted_history = self.graph.train(epochs=4, checkpoint=self.path("whole"), **OPTIONS)["history"]
        reports = []
        trainer = Trainer(self.graph, self.path("parts"), **OPTIONS)
        self.assertEqual(trainer.done, 0)
        trainer.fit(1)
        trainer.fit(2, on_epoch=reports.append)
        self.assertEqual((trainer.done, [epoch["epoch"] for epoch in reports]), (3, [1, 2]))
        resumed = Trainer(self.graph, self.path("parts"), device=DEVICE)
        self.assertEqual(resumed.fit()["end"], "finished")
        self.assertEqual(resumed.done, 4)
        parts = trainer.history + resumed.history
        self.assertEqual([epoch["loss"] for epoch in parts], [epoch["loss"] for epoch in uninterrupted_history], "the same bits as in one run")
        scores = resumed.evaluate("test", device=DEVICE)
        self.assertEqual(scores["accuracy"]["test"], self.graph.infer(self.path("parts"), full=True, nodes="test", device=DEVICE)["accuracy"]["test"])

    def test_a_fit_that_is_interrupted_goes_on(self):
        def stop(epoch):
            if epoch["epoch"] == 1:
                raise KeyboardInterrupt

        trainer = Trainer(self.graph, self.path("interrupted"), **OPTIONS)
        with self.assertRaises(KeyboardInterrupt):
            trainer.fit(300, on_epoch=stop)
        resumed = Trainer(self.graph, self.path("interrupted"), device=DEVICE)
        resumed.fit(1)
        self.assertTrue(2 <= resumed.history[-1]["epoch"] < 299)

    def test_a_predictor_answers_as_inference_does(self):
        predictor = self.predictor()
        nodes = [(7 * v) % 200 for v in range(150)]  # more nodes than one request holds
        classes = predictor(nodes)
        # Rows and classes come from the same samples.
        sampled = predictor.rows(array("q", nodes), full=False, device=DEVICE).tolist()
        self.assertEqual(classes, sampled)
        self.assertEqual(predictor(nodes[3]), classes[3])
        self.assertEqual(predictor([]), [])
        rows = predictor.probabilities(nodes)
        self.assertEqual([row.index(max(row)) for row in rows], classes)
        self.assertTrue(all(abs(sum(row) - 1) < 1e-5 for row in rows))
        logits = predictor.rows("test", logits=True, device=DEVICE)
        self.assertEqual(logits.shape, (self.graph.test_nodes, 2))
        self.assertEqual([int(b > a) for a, b in logits.tolist()], predictor.rows("test", device=DEVICE).tolist())
        with self.assertRaisesRegex(ValueError, "^graph: its classes have no names; give class_names"):
            predictor.names(3)

    def test_embeddings_are_the_rows_of_a_layer(self):
        predictor = self.predictor()
        rows = predictor.embeddings(1, "test", device=DEVICE)
        self.assertEqual((rows.shape, rows.format), ((self.graph.test_nodes, 8), "f"))
        self.assertGreater(len({tuple(row) for row in rows.tolist()}), 1)
        # By the value's name, from samples that have every neighbor (each node has three), and for some nodes.
        sampled = predictor.embeddings("act0", [5, 3], full=False, fanout=[3, 3], device="cpu").tolist()
        exact = predictor.embeddings(1, [5, 3], device="cpu").tolist()
        for a, b in zip(sampled, exact):
            for one, other in zip(a, b):
                self.assertAlmostEqual(one, other, delta=1e-4)
        for message, layer in (("^embeddings=9: model 'sage' has layers 1 to 2", 9), ("^embeddings=2: the last layer of model 'sage' gives the logits", 2),
                               (r"^embeddings nothing: model 'sage' has no such value", "nothing")):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                predictor.embeddings(layer)

    def test_threads_take_turns(self):
        predictor, found = self.predictor(), {}
        threads = [threading.Thread(target=lambda v=v: found.update({v: [predictor(v) for _ in range(20)]})) for v in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {v: [predictor(v)] * 20 for v in range(6)})

    def test_a_wrong_node_costs_no_other_and_a_process_that_ended_is_said(self):
        predictor = self.predictor()
        for kind, message, nodes in (
            (ValueError, "^nodes: .*200", [1, 200]),
            (ValueError, "^nodes: ", [-1]),
            (TypeError, "^nodes: expected node ids, found 'test'", "test"),
            (TypeError, "^nodes: expected node ids", [0.5]),
            (TypeError, "^nodes: expected node ids", [True]),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                predictor(nodes)
        self.assertEqual(len(predictor([1, 2])), 2)
        predictor._process.send_signal(signal.SIGKILL)
        with self.assertRaisesRegex(EngineError, "hone-gnn ended with status -9"):
            predictor([1])
        self.assertEqual(len(predictor([1, 2])), 2, "another process answers")
        answer_before = predictor(5)
        with mock.patch.object(of_trainer.engine.json, "loads", side_effect=KeyboardInterrupt), self.assertRaises(KeyboardInterrupt):
            predictor(4)  # this request's late answer must not be taken for the next one's
        self.assertEqual(predictor(5), answer_before)

    def test_a_forked_child_and_what_is_left(self):
        predictor = self.predictor()
        child = os.fork()
        if child == 0:
            try:
                predictor([1])
            except RuntimeError as error:
                os._exit(0 if "before a fork" in str(error) else 2)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(predictor([1])), 1, "the child ended nothing")
        pid = predictor._process.pid
        with predictor:
            pass
        with self.assertRaises(ProcessLookupError):
            os.kill(pid, 0)

    def test_a_process_that_ends_without_closing_it_ends_well(self):
        # The interpreter aborted: a finalizer of the object closed a pipe that the reading thread, which stood still by then, had locked.
        program = """
import os, sys
from hone.gnn import Graph, Predictor
predictor = Predictor(Graph.open(sys.argv[1], program=sys.argv[3]), sys.argv[2])
print(len(predictor([1, 2])), predictor._process.pid)
if "in a cycle" in sys.argv:
    predictor.itself = predictor
"""
        for how in ("by its name", "in a cycle"):
            with self.subTest(how):
                ended = subprocess.run([sys.executable, "-c", program, self.graph.path, self.run_folder, PROGRAM, how], capture_output=True, text=True, timeout=120,
                                       env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "python")})
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))
                answers, pid = map(int, ended.stdout.split())
                self.assertEqual(answers, 2)
                with self.assertRaises(ProcessLookupError):
                    os.kill(pid, 0)

    def test_a_model_of_ones_own(self):
        spec = ModelSpec.published("sage", program=PROGRAM)
        options = {**{key: value for key, value in OPTIONS.items() if key not in ("model", "hidden")}, "fanout": [3, 3, 3]}
        trainer = Trainer(self.graph, self.path("spec"), model=spec, **options)
        trainer.fit(1)
        trainer.fit(1)
        self.assertEqual(len(trainer.predictor(device=DEVICE)([1, 2])), 2, "the file of the specification is gone, and not needed")
        with self.assertRaisesRegex(ValueError, "^model:1: "):
            Trainer(self.graph, self.path("wrong"), model=ModelSpec("name = 3"), **options).fit(1)
        with self.assertRaisesRegex(TypeError, "text: expected a model as TOML"):
            ModelSpec("")

    def test_what_is_wrong_is_said(self):
        for kind, message, call in (
            (TypeError, "graph: expected a hone.gnn.Graph, found str", lambda: Trainer("a.graph", self.path("x"))),
            (TypeError, "graph: expected a hone.gnn.Graph, found str", lambda: Predictor("a.graph", self.path("x"))),
            (ValueError, "^epochs: it is no option of a Trainer", lambda: Trainer(self.graph, self.path("x"), epochs=3)),
            (ValueError, "^epochs: expected at least 1, found 0", lambda: Trainer(self.graph, self.path("x")).fit(0)),
            (TypeError, "^epochs: expected a whole number, found 1.5", lambda: Trainer(self.graph, self.path("x")).fit(1.5)),
            (TypeError, "^on_epoch: expected a function of an epoch's report, found int", lambda: Trainer(self.graph, self.path("x")).fit(1, on_epoch=3)),
            (ValueError, "^checkpoint: '.*' holds no run yet; train some epochs first", lambda: Trainer(self.graph, self.path("x")).evaluate()),
            (ValueError, "^checkpoint: '.*' holds no run yet; train some epochs first", lambda: Trainer(self.graph, self.path("x")).predictor()),
            (ValueError, "holds a run, which goes on as it began; leave out hidden, model", lambda: Trainer(self.graph, self.run_folder, model="gat", hidden=4)),
            (ValueError, "no-such", lambda: Predictor(self.graph, self.path("no-such"))),
            (ValueError, "^there is no option colour", lambda: Predictor(self.graph, self.run_folder, colour="red")),
            (ValueError, "^json: it is no option", lambda: Predictor(self.graph, self.run_folder, json=True)),
        ):
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                call()


if __name__ == "__main__":
    unittest.main(verbosity=2)
