# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests graphs from tables with ids of any kind and from OGB's folders: tables_test.py HONE_GNN SOURCE. Parquet too if pyarrow is installed."""
import gzip
import json
import os
import sys
import tempfile
import unittest
from unittest import mock

PROGRAM, SOURCE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
sys.path.insert(0, os.path.join(SOURCE, "python"))
from hone.gnn import Graph, tables

EDGES = {"from": ["ann", "bob", "cid", "ann"], "to": ["bob", "cid", "ann", "dot"], "weight": [1, 2, 3, 4]}
NODES = {"name": ["dot", "cid", "bob", "ann"], "age": [1.5, 2, 3, 4], "height": [10, 20, 30, 40], "team": ["red", "blue", None, "red"],
         "part": ["train", "valid", "", "train"]}
NAMES = dict(source="from", target="to")
OF_NODES = dict(nodes=NODES, id="name", features=["age", "height"], label="team", split="part")


class Tables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def text(self, name, columns, separator=","):
        path = self.path(name)
        with (gzip.open if name.endswith(".gz") else open)(path, "wt") as file:
            for row in [list(columns), *zip(*columns.values())]:
                file.write(separator.join("" if value is None else f'"{value}"' if separator == "," else str(value) for value in row) + "\n")
        return path

    def check(self, found):
        self.assertEqual(found.ids, ["dot", "cid", "bob", "ann"])
        self.assertEqual(found.edge_index.tolist(), [[3, 2, 1, 3], [2, 1, 3, 0]])
        self.assertEqual(found.x.tolist(), [[1.5, 10], [2, 20], [3, 30], [4, 40]])
        self.assertEqual((found.y.tolist(), found.classes), ([1, 0, -1, 1], ["blue", "red"]))
        self.assertEqual(found.split.tolist(), [0, 1, -1, 0])

    def test_columns_text_and_parquet_give_the_same(self):
        self.check(tables.read(EDGES, **NAMES, **OF_NODES))
        for edges, nodes, separator in (("e.csv", "n.csv.gz", ","), ("e.tsv.gz", "n.tab", "\t")):
            options = {**OF_NODES, "nodes": self.text(nodes, NODES, separator)}
            self.check(tables.read(self.text(edges, EDGES, separator), **NAMES, **options))

    @unittest.skipUnless(tables.pyarrow, "pyarrow is not here")
    def test_arrow_and_parquet(self):
        paths = []
        for name, columns in (("e", EDGES), ("n", NODES)):
            table = tables.pyarrow.table(columns)
            paths.append(self.path(name + ".parquet"))
            tables.pyarrow.parquet.write_table(table, paths[-1])
        self.check(tables.read(paths[0], **NAMES, **{**OF_NODES, "nodes": paths[1]}))
        self.check(tables.read(tables.pyarrow.table(EDGES), **NAMES, **{**OF_NODES, "nodes": tables.pyarrow.table(NODES)}))
        with open(self.path("no.parquet"), "w") as file:
            file.write("this is not Parquet")
        with self.assertRaisesRegex(ValueError, "^edges: .*no.parquet' cannot be read as Parquet"):
            tables.read(self.path("no.parquet"), **NAMES)
        with self.assertRaisesRegex(ValueError, "^edges: it has no column 'src'; it has 'from', 'to', 'weight'"):
            tables.read(paths[0], "src", "to")

    def test_without_nodes_they_are_numbered_as_they_occur(self):
        read_table = tables.read({"source": [70, 10**18, 70], "target": [-5, 70, 10**18]}, "source", "target")
        self.assertEqual((read_table.ids, read_table.edge_index.tolist()), ([70, 10**18, -5], [[0, 1, 0], [2, 0, 1]]))
        self.assertEqual((read_table.x, read_table.y, read_table.split, read_table.classes), (None, None, None, None))

    def test_whole_numbers_are_labels_as_they_are(self):
        for labels, expected in (([2, 0, None, 1], [2, 0, -1, 1]), (["2", "0", "", "1"], [2, 0, -1, 1]), ([2.0, 0.0, float("nan"), 1.0], [2, 0, -1, 1])):
            labels = [None if value == "" else value for value in labels]
            read_table = tables.read(EDGES, **NAMES, **{**OF_NODES, "nodes": {**NODES, "team": labels}})
            self.assertEqual((read_table.y.tolist(), read_table.classes), (expected, None))

    def test_several_columns_are_labels_or_values(self):
        nodes = {**NODES, "smokes": [1, "no", None, True], "drinks": [0, 1, 1, "true"], "price": [1.5, None, -2, 3]}
        node_options = {**OF_NODES, "nodes": nodes}
        read_table = tables.read(EDGES, **NAMES, **{**node_options, "label": ["smokes", "drinks"]})
        self.assertEqual(read_table.classes, ["smokes", "drinks"])
        self.assertEqual([[str(one) for one in row] for row in read_table.y.tolist()], [["1.0", "0.0"], ["0.0", "1.0"], ["nan", "1.0"], ["1.0", "1.0"]])
        read_table = tables.read(EDGES, **NAMES, **{**node_options, "label": "price", "kind": "values"})
        self.assertEqual((read_table.classes, [str(row[0]) for row in read_table.y.tolist()]), (["price"], ["1.5", "nan", "-2.0", "3.0"]))
        for message, more in ((r"nodes: 'price' has 1.5 in row 0; each of several labels is 1 or 0", {"label": ["price", "drinks"]}),
                              (r"label: expected one column of classes, found 2", {"label": ["price", "drinks"], "kind": "classes"})):
            with self.assertRaisesRegex(ValueError, message):
                tables.read(EDGES, **NAMES, **{**node_options, **more})

    def test_columns_of_edges_are_their_features(self):
        edges = {"source": ["a", "b"], "target": ["b", "c"], "length": [2.5, 4], "lanes": [1, 2]}
        graph = Graph.from_tables(self.path("w.graph"), edges, edge_features=["lanes", "length"], program=PROGRAM)
        self.assertEqual((graph.num_edges, graph.num_edge_features), (2, 2))
        self.assertEqual(tables.read(edges, "source", "target", edge_features=["lanes", "length"]).edge_x.tolist(), [[1, 2.5], [2, 4]])
        with self.assertRaisesRegex(ValueError, "^edges: 'length' has 'far' in row 1, which is no number"):
            tables.read({**edges, "length": [2.5, "far"]}, "source", "target", edge_features=["length"])
        with self.assertRaisesRegex(TypeError, "^edge_features: expected a list of columns, found 'length'"):
            tables.read(edges, "source", "target", edge_features="length")

    def test_a_graph_knows_its_ids(self):
        graph = Graph.from_tables(self.path("a.graph"), EDGES, **NAMES, **OF_NODES, ids_path=self.path("a.json"), program=PROGRAM)
        self.assertEqual((graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes), (4, 4, 2, 2))
        self.assertEqual((graph.train_nodes, graph.valid_nodes, graph.test_nodes), (2, 1, 0))
        self.assertEqual((graph.node_ids, graph.class_names), (NODES["name"], ["blue", "red"]))
        with open(self.path("a.json")) as file:
            self.assertEqual(json.load(file), {"node_ids": NODES["name"], "class_names": ["blue", "red"]})
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.graph", "a.json"])
        opened = Graph.open(self.path("a.graph"), program=PROGRAM)
        self.assertEqual((opened.node_ids, opened.class_names), (None, ["blue", "red"]), "the container keeps the names of classes")
        self.assertEqual(Graph.open(self.path("a.graph"), ids_path=self.path("a.json"), program=PROGRAM).node_ids, NODES["name"])
        with self.assertRaisesRegex(ValueError, "^ids_path: .*nothing.json' cannot be read as the file that from_tables wrote"):
            Graph.open(self.path("a.graph"), ids_path=self.path("nothing.json"), program=PROGRAM)
        with open(self.path("a.json"), "w") as file:
            json.dump({"node_ids": [1]}, file)
        with self.assertRaisesRegex(ValueError, "^ids_path: .* is of another graph: expected the ids of 4 nodes, found 1"):
            Graph.open(self.path("a.graph"), ids_path=self.path("a.json"), program=PROGRAM)
        self.assertIsNone(Graph.from_tables(self.path("b.graph"), EDGES, **NAMES, program=PROGRAM).class_names)
        both = Graph.from_tables(self.path("a.graph"), EDGES, **NAMES, symmetrize=True, coalesce=True, program=PROGRAM)
        self.assertEqual(both.num_edges, 8)

    def test_what_is_wrong_is_told_by_table_column_and_row(self):
        def of_text(content):
            with open(self.path("bad.csv"), "wb") as file:
                file.write(content)
            return dict(edges=self.path("bad.csv"))

        nodes = lambda **more: {**OF_NODES, "nodes": {**NODES, **more}}
        cases = [
            (ValueError, "edges: there is no file '.*nothing.csv'", dict(edges=self.path("nothing.csv"))),
            (ValueError, "edges: it has no column 'to'; it has 'from'", dict(edges={"from": ["a"]})),
            (ValueError, "edges: its columns have different lengths: {'from': 1, 'to': 2}", dict(edges={"from": ["a"], "to": ["b", "c"]})),
            (ValueError, "edges: row 1 has no 'to'", dict(edges={"from": ["a", "b"], "to": ["b", None]})),
            (TypeError, "edges: 'to' has 1.5 in row 0; ids are strings or whole numbers", dict(edges={"from": ["a"], "to": [1.5]})),
            (ValueError, "edges: the table has no rows", dict(edges={"from": [], "to": []})),
            (TypeError, "edges: expected a file's name", dict(edges=7)),
            (ValueError, "nodes: features, label and split are columns of it, found None", dict(label="team")),
            (TypeError, r"features: expected a list of columns, found 'age'", {**OF_NODES, "features": "age"}),
            (ValueError, "nodes: id 'bob' is in row 2 and in row 3", nodes(name=["dot", "cid", "bob", "bob"])),
            (ValueError, "edges: 'from' has 'cid' in row 2, which is no id of the table of nodes", nodes(name=["dot", "eve", "bob", "ann"])),
            (ValueError, r"\(ids are str there and int here; in text files they are strings\)", nodes(name=[1, 2, 3, 4])),
            (ValueError, "nodes: 'age' has 'old' in row 1, which is no number", nodes(age=[1, "old", 2, 3])),
            (TypeError, r"nodes: 'team' has 0.5 in row 0; a label is a whole number or a name", nodes(team=[0.5, "red", "red", "red"])),
            (ValueError, "nodes: 'part' has 'later' in row 1; expected 'train', 'valid', 'test' or nothing", nodes(part=["train", "later", "", ""])),
        ]
        for kind, message, wrong in cases:
            with self.subTest(message), self.assertRaisesRegex(kind, message):
                tables.read(**{"edges": EDGES, **NAMES, **wrong})
        for content, message in ((b"", "is empty; its first line names the columns"), (b"to,to\n", "names a column twice"), (b"from,to\n\xff,a\n", "cannot be read as text"),
                                 (b'from,to\n"a,b\n', "cannot be read as text"), (b"from,to\na,b\nc,d,e\n", "has 2 columns, and row 2 has 3")):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                tables.read(**{**NAMES, **of_text(content)})
        with mock.patch.object(tables, "pyarrow", None):
            open(self.path("e.parquet"), "w").close()
            with self.assertRaisesRegex(ImportError, "is Parquet, which pyarrow reads"):
                tables.read(self.path("e.parquet"), **NAMES)
        with self.assertRaisesRegex(ValueError, "^ids_path: .*nowhere.* cannot be written"):
            Graph.from_tables(self.path("b.graph"), EDGES, **NAMES, ids_path=self.path("nowhere/ids.json"), program=PROGRAM)
        self.assertFalse(os.path.exists(self.path("b.graph")))

    def test_of_ogbs_folder(self):
        raw, split = self.path("ogbn_tiny/raw"), self.path("ogbn_tiny/split/time")
        os.makedirs(raw)
        os.makedirs(split)
        for name, rows in {"edge": ["0,1", "1,2", "2,0"], "num-node-list": ["3"], "node-feat": ["0.5,1", "1,2", "2,3"], "node-label": ["0", "1", "0"]}.items():
            with gzip.open(os.path.join(raw, name + ".csv.gz"), "wt") as file:
                file.write("\n".join(rows) + "\n")
        for name, row in (("train", "0"), ("valid", "1"), ("test", "2")):
            with gzip.open(os.path.join(split, name + ".csv.gz"), "wt") as file:
                file.write(row + "\n")
        graph = Graph.from_ogb(self.path("ogbn_tiny"), self.path("tiny.graph"), symmetrize=True, program=PROGRAM)
        self.assertEqual((graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes, graph.train_nodes), (3, 6, 2, 2, 1))
        with self.assertRaisesRegex(ValueError, "^folder: .* has no folder 'raw' in it"):
            Graph.from_ogb(self.folder, self.path("tiny.graph"), program=PROGRAM)


if __name__ == "__main__":
    unittest.main(verbosity=2)
