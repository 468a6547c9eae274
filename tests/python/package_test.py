# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the package as `pip install .` lays it out, made from a finished build: package_test.py BUILD SOURCE CMAKE.

Needs neither pip nor the network. CMake installs the components that pyproject.toml names into a folder, where a Python that does
not see the checkout uses them.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, SOURCE, CMAKE = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)


class ThePackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="hone-package-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        package = os.path.join(cls.folder, "hone")
        shutil.copytree(os.path.join(SOURCE, "python", "hone"), package, ignore=shutil.ignore_patterns("__pycache__"))
        with open(os.path.join(SOURCE, "pyproject.toml")) as file:
            cls.components = re.findall(r'"([^"]+)"', re.search(r"^install\.components = \[(.*)\]", file.read(), re.M).group(1))
        for component in cls.components:
            if component == "hone-gnn" and not os.path.exists(os.path.join(BUILD, "bin", "hone-gnn")):
                continue  # a build of single targets may lack this component
            subprocess.run([CMAKE, "--install", BUILD, "--component", component, "--prefix", package], check=True, capture_output=True)

    def python(self, code, **more):
        environment = {key: value for key, value in os.environ.items() if key not in ("HONE_LOADER_LIBRARY", "PYTHONPATH")}
        environment.update(PYTHONPATH=self.folder, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([sys.executable, "-c", code], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, **more)

    def assertPrints(self, expected, code):
        ended = self.python(code)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertRegex(ended.stdout, expected)

    def test_holds_both_programs_and_the_loader(self):
        self.assertEqual(set(self.components), {"hone", "hone-gnn", "python"})
        self.assertPrints("^hone [0-9]", "import sys; sys.argv = ['hone', '--version']; from hone.programs import hone; hone()")
        if os.path.exists(os.path.join(self.folder, "hone", "bin", "hone-gnn")):
            self.assertPrints("^hone-gnn [0-9]", "import sys; sys.argv = ['hone-gnn', '--version']; from hone.programs import hone_gnn; hone_gnn()")

    def test_is_imported_at_once_and_brings_nothing_along(self):
        code = """
import sys, time
before = set(sys.modules)
begin = time.perf_counter()
import hone
print(time.perf_counter() - begin, *sorted(set(sys.modules) - before))
"""
        seconds, *modules = self.python(code).stdout.split()
        self.assertEqual(modules, ["hone"])
        least = min([float(seconds), *(float(self.python(code).stdout.split()[0]) for _ in range(4))])
        self.assertLess(least, 0.1, "seconds")

    def test_judges_by_its_own_program_and_tasks(self):
        self.assertPrints("^True$", "import hone\nwith hone.Judge(device='sim') as judge: print('__global__' in judge.task('relu')['seed'])")

    def test_samples_without_numpy_and_torch(self):
        self.assertPrints(r"^\[0, 2, 1\] \[1, 0\]$", """
import sys
sys.modules["numpy"] = sys.modules["torch"] = None
from array import array
from hone.gnn.native import InEdges, Loader
sources, destinations, seeds = array("q", [1, 2]), array("q", [0, 0]), array("q", [0])
graph = InEdges(sources.buffer_info()[0], destinations.buffer_info()[0], 2, 3)
batch = Loader(graph, [2], 1, threads=1).load(seeds.buffer_info()[0], 1, seed=1, epoch=0, step=0)
ids = lambda place, count: list(memoryview(batch.block).cast("B")[place : place + 8 * count].cast("q"))
nodes = ids(batch.nodes_at, batch.nodes)
print(nodes[:1] + sorted(nodes[1:], reverse=True), sorted(ids(batch.edge_ids_at, batch.edges), reverse=True))
""")

    def test_says_what_to_do_where_a_part_is_missing(self):
        library = os.path.join(self.folder, "hone", "lib", "libhone_loader.so")
        os.rename(library, library + ".away")
        try:
            ended = self.python("from hone.gnn.native import library; library()")
        finally:
            os.rename(library + ".away", library)
        self.assertRegex(ended.stderr, "LibraryError: .*libhone_loader.so cannot be loaded .*: install the package again")


if __name__ == "__main__":
    unittest.main(verbosity=2)
