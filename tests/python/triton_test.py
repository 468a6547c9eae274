# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Tests kernels of Triton as candidates: compiled here, without a GPU, and read by the program.

    python triton_test.py HONE SOURCE

Ends with 77, and says why, if Triton is not installed.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

HONE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
sys.path.insert(0, os.path.join(SOURCE, "python"))

from hone.kernels.candidate import ExportError, Image, Launch, Workspace, plan_text, write_candidate


def launch(**more):
    return Launch(**{**dict(kernel="k", image=Image(b"\x7fELF"), grid=("ceil_div(rows * d, 128)",), block=(128,), args=("x", "out")), **more})


def evaluate(path, task="relu"):
    """Returns the evaluation of the candidate by the program on the simulated GPU, which reads machine code but cannot run it."""
    process = subprocess.run([HONE, "eval", task, path, "--device", "sim", "--json"], capture_output=True, text=True, cwd=SOURCE)
    if not process.stdout:
        raise AssertionError(process.stderr)
    return json.loads(process.stdout)


class ACandidateFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "k.honek")

    def test_the_program_reads_the_plan_and_says_that_the_simulated_gpu_runs_source(self):
        write_candidate(self.path, [launch()])
        evaluation = evaluate(self.path)
        self.assertEqual(evaluation["verdict"], "unsupported", evaluation)
        self.assertIn("--device cuda:N", evaluation["detail"])

    def test_many_images_become_alternatives_and_configurations(self):
        a, b = Image(b"\x7fELFa"), Image(b"\x7fELFb")
        text, images = plan_text([
            launch(image=a, when="d % 16 == 0", config=0), launch(image=b, config=0),
            launch(image=a, when="d == 1 || rows == 1", config=1, shared=1024, cluster=(2,), workspaces=(Workspace("w", "rows * 4"),), args=("x", "out", "w")),
        ])
        self.assertEqual(sorted(images), ["kernel.0.cubin", "kernel.1.cubin"])
        self.assertIn('when = "CONFIG == 1 && (d == 1 || rows == 1)"', text)
        self.assertIn("CONFIG = [0, 1]", text)
        write_candidate(self.path, [launch(image=a, when="d % 16 == 0", config=0), launch(image=b, config=0)])
        self.assertEqual(evaluate(self.path)["verdict"], "unsupported")

    def test_equal_launches_make_equal_bytes(self):
        write_candidate(self.path, [launch()])
        first_bytes = pathlib.Path(self.path).read_bytes()
        write_candidate(self.path, [launch()])
        self.assertEqual(pathlib.Path(self.path).read_bytes(), first_bytes)

    def test_a_plan_that_does_not_fit_the_task_is_refused_by_the_program(self):
        write_candidate(self.path, [launch(args=("x", "outt"))])
        evaluation = evaluate(self.path)
        self.assertEqual(evaluation["verdict"], "parse_error")
        self.assertIn("out", evaluation["detail"])

    def test_another_ending_is_refused(self):
        with self.assertRaisesRegex(ExportError, "ends in .honek"):
            write_candidate(self.path + ".zip", [launch()])


KERNELS = """import triton
import triton.language as tl


@triton.jit
def positive(x, out, d, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)


launch_positive = {"grid": ["ceil_div(rows * d, BLOCK)"], "arguments": {"n": "rows * d:i32", "BLOCK": 512}, "num_warps": 2}
"""


class AKernelByItsName(unittest.TestCase):
    """Runs `hone eval TASK kernel.py::function` with this Python."""

    def run_eval(self, text, function="positive", file="kernels.py"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "kernels.py"), "w") as source:
                source.write(text)
            return subprocess.run([HONE, "eval", "relu", f"{os.path.join(folder, file)}::{function}", "--device", "sim", "--json"], capture_output=True,
                                  text=True, cwd=SOURCE, env={**os.environ, "HONE_PYTHON": sys.executable})

    def test_is_exported_and_handed_to_the_judge(self):
        ran = self.run_eval(KERNELS)
        if triton is None:
            self.assertEqual(ran.returncode, 3)
            self.assertRegex(ran.stderr, r"Triton does not load in .*pip install triton")
        else:
            evaluation = json.loads(ran.stdout)
            self.assertEqual(evaluation["verdict"], "unsupported", evaluation)
            self.assertIn("machine code runs on the GPU", evaluation["detail"])

    def test_a_file_that_is_not_there_is_named(self):
        evaluation = self.run_eval(KERNELS, file="others.py")
        self.assertEqual(evaluation.returncode, 2)
        self.assertRegex(evaluation.stderr, r"there is no file .*others\.py: name a Python file, then :: and a kernel of it")

    def test_what_is_missing_or_wrong_is_one_sentence_with_the_remedy(self):
        if triton is None:
            self.skipTest("Triton is not installed")
        for text, function, says in (
            (KERNELS, "negative", r"no Triton kernel negative: it has positive"),
            (KERNELS.replace("launch_positive", "plan"), "positive", r"does not say on which grid positive runs: write launch = .*rows, d"),
            (KERNELS.replace('"n": "rows * d:i32", ', ""), "positive", r"the parameter n of positive is no tensor, number or dimension of the task, which has .*rows, d"),
            (KERNELS.replace(', "BLOCK": 512', ""), "positive", r"the constant BLOCK of positive has no value"),
            (KERNELS.replace("tl.maximum", "tl.maximums"), "positive", r"Triton does not compile positive .*maximums.*: mend it"),
            ("import no_such_package\n", "positive", r"needs a package that is missing .*install it for"),
            ("open('/tmp/hone-was-here', 'w')\n", "positive", r"fails when it is imported \(PermissionError"),
        ):
            evaluation = self.run_eval(text, function)
            self.assertEqual(evaluation.returncode, 2, evaluation.stderr)
            self.assertRegex(evaluation.stderr, says)
            self.assertEqual(len([line for line in evaluation.stderr.splitlines() if line.startswith("hone: ") and "warning" not in line]), 1, evaluation.stderr)


try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

if triton:
    from hone.kernels import inductor
    from hone.kernels.triton import export, export_compiled, launches_of

    @triton.jit
    def relu(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)

    @triton.autotune([triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 1024}, num_warps=8)], key=["n"])
    @triton.jit
    def tuned_relu(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)

    @triton.jit
    def product(a, b, out, n: tl.constexpr):
        i = tl.arange(0, n)
        at = i[:, None] * n + i[None, :]
        tl.store(out + at, tl.dot(tl.load(a + at), tl.load(b + at)))

    @triton.jit
    def copies_by_descriptor(x, out, rows, d, BLOCK: tl.constexpr):
        from_x = tl.make_tensor_descriptor(x, [rows, d], [d, 1], [BLOCK, BLOCK])
        to_out = tl.make_tensor_descriptor(out, [rows, d], [d, 1], [BLOCK, BLOCK])
        to_out.store([tl.program_id(0) * BLOCK, 0], from_x.load([tl.program_id(0) * BLOCK, 0]))

    # As Inductor writes them: sizes are assigned at the head unless shapes are dynamic.
    @triton.jit
    def static_copy(in_ptr0, out_ptr0, xnumel, XBLOCK: tl.constexpr):
        xnumel = 1048576
        xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
        tl.store(out_ptr0 + xindex, tl.load(in_ptr0 + xindex, xindex < xnumel), xindex < xnumel)

    @triton.jit
    def dynamic_copy(in_ptr0, out_ptr0, xnumel, XBLOCK: tl.constexpr):
        xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
        tl.store(out_ptr0 + xindex, tl.load(in_ptr0 + xindex, xindex < xnumel), xindex < xnumel)

    ARGUMENTS = {"x": "x:*fp32", "out": "out:*fp32", "n": "rows * d:i32"}
    GRID = ["ceil_div(rows * d, BLOCK)"]


@unittest.skipUnless(triton, "Triton is not installed")
class ATritonKernel(unittest.TestCase):
    setUp = ACandidateFile.setUp

    def test_arguments_that_16_divides_have_an_image_of_their_own(self):
        export(self.path, relu, {**ARGUMENTS, "BLOCK": 1024}, GRID, arch=90)
        with zipfile.ZipFile(self.path) as archive:
            plan = archive.read("candidate.toml").decode()
            self.assertEqual(sorted(archive.namelist()), ["candidate.toml", "kernel.0.cubin", "kernel.1.cubin"])
        self.assertIn('grid = ["ceil_div(rows * d, 1024)"]', plan)
        self.assertIn('args = ["x", "out", "rows * d:i32", "0:u64", "0:u64"]', plan)
        self.assertIn('when = "align(x) % 16 == 0 && align(out) % 16 == 0 && (rows * d) % 16 == 0"', plan)
        self.assertEqual(evaluate(self.path)["verdict"], "unsupported")

    def test_configurations_become_a_tunable(self):
        launches = launches_of(tuned_relu, ARGUMENTS, GRID, arch=90, specialise=False)
        self.assertEqual([(l.config, l.block, l.grid) for l in launches],
                         [(0, (64,), ("ceil_div(rows * d, 256)",)), (1, (256,), ("ceil_div(rows * d, 1024)",))])

    def test_shared_memory_and_warps_are_the_compilers(self):
        (one,) = launches_of(product, {"a": "x:*fp16", "b": "x:*fp16", "out": "out:*fp32", "n": 64}, ["1"], arch=90, specialise=False, num_warps=8)
        self.assertEqual(one.block, (256,))
        self.assertGreater(one.shared, 0)

    def test_global_scratch_memory_is_a_workspace(self):
        (one,) = launches_of(copies_by_descriptor, {"x": "x:*fp32", "out": "out:*fp32", "rows": "rows:i32", "d": "d:i32", "BLOCK": 32},
                             ["ceil_div(rows, BLOCK)"], arch=90, specialise=False)
        (workspace,) = one.workspaces
        self.assertTrue(workspace.size.startswith("max((ceil_div(rows, 32)), 1) * "), workspace)
        self.assertEqual(one.args[-2:], (workspace.name, "0:u64"))
        write_candidate(self.path, [one])
        self.assertEqual(evaluate(self.path)["verdict"], "unsupported")

    def test_what_a_plan_cannot_say_is_refused_with_the_remedy(self):
        for arguments, grid, words in [
            ({**ARGUMENTS, "BLOCK": 1024, "m": 3}, GRID, "no parameter 'm'; it has x, out, n, BLOCK"),
            ({"x": "x:*fp32", "out": "out:*fp32", "BLOCK": 1024}, GRID, "'n' is not given"),
            ({**ARGUMENTS, "n": "rows * d", "BLOCK": 1024}, GRID, "does not name its type"),
            ({**ARGUMENTS, "n": "rows:i8", "BLOCK": 1024}, GRID, "passes no i8"),
            ({**ARGUMENTS, "BLOCK": 1024}, [4096], "right for one shape"),
            ({**ARGUMENTS, "BLOCK": 1024}, ["1", "1", "1", "1"], "give 1 to 3"),
        ]:
            with self.assertRaisesRegex(ExportError, words):
                launches_of(relu, arguments, grid, arch=90, specialise=False)

    def test_a_grid_of_numbers_binds_the_candidate_to_its_shape(self):
        (one,) = launches_of(relu, {**ARGUMENTS, "BLOCK": 1024}, [4], arch=90, specialise=False, shape={"rows": 64, "d": 64})
        self.assertEqual((one.grid, one.when), (("4",), "rows == 64 && d == 64"))

    def test_the_pages_example_runs_as_it_stands(self):
        with open(os.path.join(SOURCE, "docs", "any-compiler.md")) as file:
            page = file.read()
        (block,) = [one for one in re.findall(r"```python\n(.*?)```", page, re.S) if "hone.kernels.triton" in one]
        folder = os.path.dirname(self.path)
        with open(os.path.join(folder, "example.py"), "w") as file:
            file.write(block)
        subprocess.run([sys.executable, "example.py"], cwd=folder, check=True, env={**os.environ, "PYTHONPATH": os.path.join(SOURCE, "python")})
        self.assertEqual(evaluate(os.path.join(folder, "relu.honek"))["verdict"], "unsupported")

    def test_a_kernel_of_inductors_is_launched_at_the_sizes_that_it_was_compiled_for(self):
        def kernel(function, grid="Grid1D"):
            signature = {"in_ptr0": "*fp32", "out_ptr0": "*fp32", "xnumel": "i32", "XBLOCK": "constexpr"}
            return inductor.Kernel("triton_copy", function, signature, {"XBLOCK": 1024}, {"num_warps": 8, "num_stages": 1}, grid)

        tensors = {"in_ptr0": "x", "out_ptr0": "out"}
        one, _ = inductor.launches_of(kernel(static_copy), tensors, arch=90, shape={"rows": 1024, "d": 1024})
        self.assertEqual((one.grid, one.block), (("ceil_div(1048576, 1024)",), (256,)))
        self.assertTrue(one.when.startswith("rows == 1024 && d == 1024 && align(x) % 16 == 0"), one.when)
        one, other = inductor.launches_of(kernel(dynamic_copy), {**tensors, "xnumel": "rows * d"}, arch=90)
        self.assertEqual((one.grid, other.when), (("ceil_div(rows * d, 1024)",), ""))
        self.assertEqual(one.args[:3], ("x", "out", "rows * d:i32"))
        for function, arguments, grid, words in [
            (static_copy, tensors, "Grid1D", "compiled for xnumel = 1048576: name that shape"),
            (dynamic_copy, tensors, "Grid1D", r"'xnumel' \(i32\) is not given"),
            (dynamic_copy, {**tensors, "xnumel": "rows * d"}, "ComboKernelGrid", "'ComboKernelGrid': give it as grid="),
        ]:
            with self.assertRaisesRegex(ExportError, words):
                inductor.launches_of(kernel(function, grid), arguments, arch=90)

    def test_what_triton_compiled_is_launched_where_its_facts_hold(self):
        from triton.backends.compiler import GPUTarget

        source = triton.compiler.ASTSource(fn=relu, signature={"x": "*fp32", "out": "*fp32", "n": "constexpr", "BLOCK": "constexpr"},
                                           constexprs={(2,): 1, (3,): 128}, attrs={(0,): [["tt.divisibility", 16]]})
        compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
        export_compiled(self.path, compiled, ARGUMENTS, GRID)
        with zipfile.ZipFile(self.path) as archive:
            plan = archive.read("candidate.toml").decode()
        self.assertIn("(rows * d) == 1", plan)
        self.assertIn("align(x) % 16 == 0", plan)
        self.assertNotIn("align(out)", plan)
        self.assertIn('grid = ["ceil_div(rows * d, 128)"]', plan)
        with self.assertRaisesRegex(ExportError, "'x' is not given"):
            export_compiled(self.path, compiled, {"n": "n:i32"}, GRID)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result
    if not result.wasSuccessful():
        sys.exit(1)
    if triton is None:
        print("skipped: Triton is not installed; what needs no compiler was tested")
        sys.exit(77)
