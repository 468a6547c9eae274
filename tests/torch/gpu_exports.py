# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""gpu_exports.py FOLDER: tests on a GPU what `hone apply` writes for PyTorch. Run by hand, because it compiles with nvcc for a minute.

FOLDER holds *_model_new.py of problems in problems/ (`hone apply TASK kernels/NAME.cu --as kernelbench --out FOLDER`), and may
contain op/ (`hone apply TASK kernels/linear_relu.cu --as torch --out FOLDER/op`). Each ModelNew is built with the same seed as its
Model, five times, and must give the same answers and leave the same buffers. The operator must work by itself, in a CUDA
graph and under torch.compile. Ends with 1 if something differs.
"""
import glob
import importlib.util
import os
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
    if len(sys.argv) == 3:  # the check of one export, in a process of its own
        sys.exit(min(1, (operator if sys.argv[1] == "operator" else model_new)(sys.argv[2])))
    folder = os.path.abspath(sys.argv[1])
    parts = [("model_new", path) for path in sorted(glob.glob(os.path.join(folder, "*_model_new.py")))]
    if os.path.isdir(os.path.join(folder, "op")):
        parts.append(("operator", os.path.join(folder, "op")))
    running = [subprocess.Popen([sys.executable, os.path.abspath(__file__), *part]) for part in parts]
    failed = sum(one.wait(LIMIT_SECONDS) != 0 for one in running)
    print(f"{len(parts)} exports, {failed} wrong")
    sys.exit(1 if failed or not parts else 0)


main()
