# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the notebooks for the first hour, cell by cell: notebooks_test.py HONE_GNN NOTEBOOKS. Needs torch and torch_geometric,
which tests/python/pyg_run finds, but not Jupyter.
"""
import contextlib
import glob
import io
import json
import os
import sys
import tempfile
import unittest

PROGRAM, NOTEBOOKS = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
NAMES = sorted(os.path.basename(path) for path in glob.glob(os.path.join(NOTEBOOKS, "*.ipynb")))


class Notebooks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def run_cells(self, name):
        with open(os.path.join(NOTEBOOKS, name)) as file:
            book = json.load(file)
        self.assertEqual((book["nbformat"], book["nbformat_minor"]), (4, 5))
        self.assertEqual(len({cell["id"] for cell in book["cells"]}), len(book["cells"]))
        code = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
        if any("hone.gnn import Graph" in one for one in code) and not os.access(PROGRAM, os.X_OK):
            self.skipTest(f"{name} needs hone-gnn, which is not built")
        names, printed = {"__name__": "__main__"}, io.StringIO()
        for cell in (one for one in book["cells"] if one["cell_type"] == "code"):
            self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), "outputs are not kept in the repository")
            with contextlib.redirect_stdout(printed):
                exec(compile("".join(cell["source"]), f"{name}, {cell['id']}", "exec"), names)
        return names, printed.getvalue()

    def test_there_are_four(self):
        self.assertEqual([name[0] for name in NAMES], ["1", "2", "3", "4"])

    def test_a_graph_is_brought_and_a_wrong_one_refused(self):
        names, printed = self.run_cells(NAMES[0])
        self.assertIn("x: expected 2000 rows, one a node, found 1999", printed)
        self.assertGreater(names["graph"].num_edges, names["data"].num_edges)

    def test_a_loader_is_swapped_and_the_model_learns(self):
        names, _ = self.run_cells(NAMES[1])
        self.assertGreater(names["accuracy"], 0.6)  # by chance it would be a quarter

    def test_a_step_is_captured_and_a_model_that_mixes_rows_refused(self):
        names, printed = self.run_cells(NAMES[2])
        self.assertIn("norm (BatchNorm1d) mixes rows", printed)
        self.assertEqual(names["step"].steps, 3 * len(names["loader"]))

    def test_the_engine_trains_and_its_weights_load_into_pyg(self):
        self.run_cells(NAMES[3])
        names, _ = self.run_cells(NAMES[3])  # as a user does who goes through it once more
        self.assertGreater(names["there"], 0.6)
        self.assertEqual(tuple(names["embedded"].shape), (2000, 32))


if __name__ == "__main__":
    for library in ("HONE_LOADER_LIBRARY", "HONE_CUDA_LOADER_LIBRARY"):  # as absolute paths: each notebook runs in a folder of its own
        if library in os.environ:
            os.environ[library] = os.path.abspath(os.environ[library])
    os.environ["PATH"] = os.path.dirname(PROGRAM) + os.pathsep + os.environ["PATH"]
    unittest.main(verbosity=2)
