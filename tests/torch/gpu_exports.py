# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""gpu_exports.py FOLDER [--times]: tests on a GPU what `hone apply` writes for PyTorch. Run by hand, because it compiles with nvcc for a minute.

FOLDER holds *_model_new.py of problems in problems/ (`hone apply TASK kernels/NAME.cu --as kernelbench --out FOLDER`), and may
contain op/ (`hone apply TASK kernels/linear_relu.cu --as torch --out FOLDER/op`). Each ModelNew is built with the same seed as its
Model, five times, and must give the same answers and leave the same buffers. The operator must work by itself, in a CUDA
graph and under torch.compile. Ends with 1 if something differs.

--times: takes times of each ModelNew and its Model in place of that, one file after the other, and prints two speedups. One is that of KernelBench's
harness: the cache is flushed by filling 256 MiB, the host's time counts where the GPU waits for it, and all times of one module follow one another; their
mean counts. The other is that of Hone's lifted verdicts: the cache is flushed by reading, the GPU waits until a CUDA graph of the call is queued, and the
two modules are timed in turn; medians count.
"""
import glob
import importlib.util
import os
import random
import statistics
import subprocess
import sys

# These sizes replace the problems' own; they are odd where a problem allows it.
SIZES = {"linear_relu": {"batch_size": 256, "in_features": 513, "out_features": 383}, "row_softmax": {"rows": 512, "width": 1001},
         "mean_and_spread": {"rows": 1000, "width": 777}}
SEEDS = (42, 1, 2, 3, 4)
LIMIT_SECONDS = 300


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def model_new(path):
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    name = os.path.basename(path).removesuffix("_model_new.py")
    problem = load(path, name)
    for size, value in SIZES.get(name, {}).items():
        setattr(problem, size, value)
    wrong = 0
    for seed in SEEDS:
        torch.manual_seed(seed)
        init = problem.get_init_inputs()
        pair = []
        for kind in (problem.Model, problem.ModelNew):
            torch.manual_seed(seed)
            pair.append(kind(*init).cuda())
        torch.manual_seed(seed + 100)
        inputs = [one.cuda() if torch.is_tensor(one) else one for one in problem.get_inputs()]
        with torch.no_grad():
            answers = [one if isinstance(one, tuple) else (one,) for one in (model(*inputs) for model in pair)]
        same = all(torch.allclose(a, b, atol=1e-4, rtol=1e-4) for a, b in zip(*answers))
        buffers = zip(pair[0].named_buffers(), pair[1].named_buffers())
        same = same and all(torch.allclose(a, b, atol=1e-5) for (key, a), (_, b) in buffers if not key.endswith("num_batches_tracked"))
        error = max((a - b).abs().max().item() for a, b in zip(*answers))
        print(f"{name} seed {seed}: {'the same' if same else 'DIFFERS'}, {error:.2e} apart", flush=True)
        wrong += not same
    return wrong


TIMES = 100  # of each module
WARM_CALLS = 3
FLUSH_BYTES = 256 << 20  # as KernelBench's harness has it
WAIT_CYCLES = 1_000_000  # half a millisecond, in which the host queues a graph's launch


def one_time(run, flush, waits):
    """Returns the milliseconds of run() after flush(). `waits`: the GPU waits until the call is queued."""
    import torch
    torch.cuda.synchronize()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    flush()
    if waits:
        torch.cuda._sleep(WAIT_CYCLES)
    begin.record()
    kept = run()
    end.record()
    torch.cuda.synchronize()
    del kept
    return begin.elapsed_time(end)


def graph_of(run):
    """Returns a function that replays a CUDA graph of run()."""
    import torch
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = run()

    def replay():
        graph.replay()
        return kept

    return replay


def times(path):
    """Prints both speedups of one export."""
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    name = os.path.basename(path).removesuffix("_model_new.py")
    problem = load(path, name)
    init, runs = problem.get_init_inputs(), []
    with torch.no_grad():
        inputs = [one.cuda() if torch.is_tensor(one) else one for one in problem.get_inputs()]
        for kind in (problem.ModelNew, problem.Model):
            torch.manual_seed(SEEDS[0])
            runs.append(lambda model=kind(*init).cuda(): model(*inputs))

        def by_filling():
            torch.empty(FLUSH_BYTES // 8, dtype=torch.int64, device="cuda").fill_(42)

        means = []
        for run in runs:
            for _ in range(WARM_CALLS):
                run()
                torch.cuda.synchronize()
            means.append(statistics.fmean([one_time(run, by_filling, waits=False) for _ in range(TIMES + 1)][1:]))
        other = torch.zeros(FLUSH_BYTES // 4, device="cuda")
        graphs, taken = [graph_of(run) for run in runs], ([], [])
        for _ in range(TIMES // 2):
            for side in random.choice(((0, 1, 1, 0), (1, 0, 0, 1))):
                taken[side].append(one_time(graphs[side], other.sum, waits=True))
        medians = [statistics.median(one) for one in taken]
    for way, (mine, eager) in (("as KernelBench's harness", means), ("as a lifted verdict", medians)):
        print(f"{name}, timed {way}: {eager / mine:.3f} times eager's speed ({mine:.4f} against {eager:.4f} ms)", flush=True)
    print(f"{name}: the two are {100 * abs(means[1] / means[0] * medians[0] / medians[1] - 1):.1f} % apart", flush=True)
    return 0


def operator(folder):
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    layer = load(os.path.join(folder, "hone_linear_relu_op.py"), "hone_linear_relu_op").linear_relu
    x, weight, bias = torch.rand(65, 130, device="cuda"), torch.rand(40, 130, device="cuda") - 0.5, torch.rand(40, device="cuda")

    def expected():
        return torch.relu(x @ weight.T + bias)

    told = {"by itself": torch.allclose(layer(x, weight, bias), expected(), atol=1e-4)}
    torch.library.opcheck(layer, (x, weight, bias))
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        layer(x, weight, bias)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = layer(x, weight, bias)
    x.mul_(2)
    graph.replay()
    torch.cuda.synchronize()
    told["in a CUDA graph"] = torch.allclose(captured, expected(), atol=1e-3)
    compiled = torch.compile(lambda one: layer(one, weight, bias) * 2 + 1, fullgraph=True)
    told["under torch.compile"] = torch.allclose(compiled(x), expected() * 2 + 1, atol=1e-3)
    for where, right in told.items():
        print(f"operator {where}: {'right' if right else 'WRONG'}", flush=True)
    return sum(not right for right in told.values())


def main():
    checks = {"operator": operator, "model_new": model_new, "times": times}
    if len(sys.argv) == 3 and sys.argv[1] in checks:  # one export, in a process of its own
        sys.exit(min(1, checks[sys.argv[1]](sys.argv[2])))
    folder = os.path.abspath(sys.argv[1])
    exports = sorted(glob.glob(os.path.join(folder, "*_model_new.py")))
    if "--times" in sys.argv[2:]:
        failed = sum(subprocess.run([sys.executable, os.path.abspath(__file__), "times", path], timeout=LIMIT_SECONDS).returncode != 0 for path in exports)
        sys.exit(1 if failed or not exports else 0)
    parts = [("model_new", path) for path in exports]
    if os.path.isdir(os.path.join(folder, "op")):
        parts.append(("operator", os.path.join(folder, "op")))
    running = [subprocess.Popen([sys.executable, os.path.abspath(__file__), *part]) for part in parts]
    failed = sum(one.wait(LIMIT_SECONDS) != 0 for one in running)
    print(f"{len(parts)} exports, {failed} wrong")
    sys.exit(1 if failed or not parts else 0)


main()
