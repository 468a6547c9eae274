# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests kernels of TileLang, CuTe DSL and Helion as candidates.

    python exporters_test.py HONE SOURCE

The readers of a compiler's output are tested on stored output of these compilers. If one of them is installed, it also compiles a kernel,
without a GPU, which the program reads.
"""
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import types
import unittest

HONE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, os.path.join(SOURCE, "python"))

from hone.kernels import cute, helion, tilelang
from hone.kernels.candidate import ExportError, shape_conditions

TILELANG_SOURCE = """
extern "C" __global__ void main_kernel(float* __restrict__ out, const float* __restrict__ x, int n);
extern "C" __global__ void __launch_bounds__(128, 1) main_kernel(float* __restrict__ out, const float* __restrict__ x, int n) {}
"""
CUTE_PTX = """
.visible .entry kernel_relu_0(
	.param .align 8 .b8 kernel_relu_0_param_0[16],
	.param .u64 kernel_relu_0_param_1,
	.param .u32 kernel_relu_0_param_2
)
.reqntid 256, 1, 1
{
"""


def installed(name):
    return importlib.util.find_spec(name) is not None


def evaluate(path, task="relu"):
    """Returns the evaluation of the candidate by the program on the simulated GPU, which reads machine code but cannot run it."""
    process = subprocess.run([HONE, "eval", task, path, "--device", "sim", "--json"], capture_output=True, text=True, cwd=SOURCE)
    if not process.stdout:
        raise AssertionError(process.stderr)
    return json.loads(process.stdout)


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "k.honek")

    def is_read(self):
        evaluation = evaluate(self.path)
        self.assertEqual(evaluation["verdict"], "unsupported", evaluation)
        self.assertIn("--device cuda:N", evaluation["detail"])


class ByHand(InAFolder):
    """The plan and the call of docs/any-compiler.md, as they stand there, with an image that the simulated GPU does not look into."""

    def setUp(self):
        super().setUp()
        self.folder = os.path.dirname(self.path)
        with open(os.path.join(SOURCE, "docs", "any-compiler.md"), encoding="utf-8") as file:
            self.page = file.read()
        with open(os.path.join(self.folder, "kernel.cubin"), "wb") as file:
            file.write(b"\x7fELF")

    def test_the_pages_plan_is_read(self):
        (plan,) = re.findall(r"```toml\n(.*?)```", self.page, re.S)
        with open(os.path.join(self.folder, "candidate.toml"), "w", encoding="utf-8") as file:
            file.write(plan)
        self.path = self.folder
        self.is_read()

    def test_the_pages_call_writes_a_file_that_is_read(self):
        (block,) = [one for one in re.findall(r"```python\n(.*?)```", self.page, re.S) if "write_candidate" in one]
        subprocess.run([sys.executable, "-c", block], cwd=self.folder, check=True, env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "python")})
        self.path = os.path.join(self.folder, "relu.honek")
        self.is_read()


class OfTileLang(InAFolder):
    def test_parameters_are_in_the_order_of_the_generated_source(self):
        self.assertEqual(tilelang._parameters(TILELANG_SOURCE, "main_kernel"), [("float *", "out"), ("float *", "x"), ("int", "n")])

    def test_a_source_without_the_kernel_is_of_an_unknown_version(self):
        with self.assertRaisesRegex(ExportError, "declares no kernel other"):
            tilelang._parameters(TILELANG_SOURCE, "other")

    def test_extents_become_expressions_of_a_plan(self):
        self.assertEqual(tilelang._expression('(T.Cast("int32", n) + T.int32(1023)) // 1024', {"n": "rows * d"}), "((rows * d) + 1023) / 1024")
        self.assertEqual(tilelang._expression("T.min(n, 8)", {}), "min((n), 8)")
        with self.assertRaisesRegex(ExportError, "give the grid with grid="):
            tilelang._expression("T.if_then_else(n > 3, 1, 2)", {})

    @unittest.skipUnless(installed("tilelang"), "TileLang is not installed")
    def test_the_pages_example_runs_as_it_stands(self):
        with open(os.path.join(SOURCE, "docs", "any-compiler.md"), encoding="utf-8") as file:
            (block,) = [one for one in re.findall(r"```python\n(.*?)```", file.read(), re.S) if "hone.kernels.tilelang" in one]
        folder = os.path.dirname(self.path)
        with open(os.path.join(folder, "example.py"), "w", encoding="utf-8") as file:
            file.write(block)
        subprocess.run([sys.executable, "example.py"], cwd=folder, check=True, env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "python")})
        self.path = os.path.join(folder, "relu.honek")
        self.is_read()


class OfCuTe(InAFolder):
    def compiled(self, **more):
        return types.SimpleNamespace(**{**dict(kernel_info={"kernel_relu_0": {}}, __ptx__=CUTE_PTX, __cubin__=b"\x7fELF"), **more})

    def test_parameters_and_block_are_those_of_the_machine_code(self):
        self.assertEqual(cute.parameters_of(self.compiled()), ("kernel_relu_0", [16, 8, 4], [256, 1, 1]))

    def test_the_file_is_read_by_the_program(self):
        cute.export(self.path, self.compiled(), ["struct:{x, rows * d:i32}", "out", "rows * d:i32"], grid=["ceil_div(rows * d, 256)"])
        self.is_read()

    def test_what_does_not_fit_is_refused_with_the_remedy(self):
        for arguments, more, said in ((["x", "out", "rows * d:i32"], {}, "write \"struct:"), (["x"], {}, "takes 3 arguments of 16, 8, 4 bytes, and 1 are given"),
                                      (["x", "out", "n:i32"], dict(__ptx__=None), "keep-ptx"), (["x", "out", "n:i32"], dict(__cubin__=None), "keep-cubin"),
                                      (["x"], dict(kernel_info={"a": 1, "b": 2}), "name one with kernel=")):
            with self.assertRaisesRegex(ExportError, said):
                cute.export(self.path, self.compiled(**more), arguments, grid=["1"])
            self.assertFalse(os.path.exists(self.path))


class OfHelion(InAFolder):
    @unittest.skipIf(installed("helion"), "Helion is installed")
    def test_without_helion_the_remedy_is_said(self):
        with self.assertRaisesRegex(ExportError, "pip install helion"):
            helion.generated(None, (), None)

    @unittest.skipUnless(installed("helion"), "Helion is not installed")
    def test_a_kernel_is_compiled_and_read(self):
        # Helion reads a kernel's source from a file, so it is written to one.
        path = os.path.join(os.path.dirname(self.path), "relu_of_helion.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import torch, helion, helion.language as hl\n\n@helion.kernel(static_shapes=False)\ndef relu(x: torch.Tensor) -> torch.Tensor:\n"
                       "    out = torch.empty_like(x)\n    for tile in hl.tile(x.size(0)):\n        out[tile] = torch.relu(x[tile])\n    return out\n")
        spec = importlib.util.spec_from_file_location("relu_of_helion", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["relu_of_helion"] = module
        spec.loader.exec_module(module)
        import torch
        helion.export(self.path, module.relu, (torch.empty(4096),), module.helion.Config(block_sizes=[1024]),
                      {"x_size_0": "rows * d", "x_stride_0": 1, "out_stride_0": 1}, grid=["ceil_div(rows * d, 1024)"], arch=90)
        self.is_read()


class OfAll(unittest.TestCase):
    def test_a_shape_becomes_conditions(self):
        self.assertEqual(shape_conditions({"rows": 64, "d": 1024}), ["rows == 64", "d == 1024"])
        self.assertEqual(shape_conditions(None), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
