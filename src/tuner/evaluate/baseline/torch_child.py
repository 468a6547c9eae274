# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Times a PyTorch expression, eager and compiled, for `hone eval --libraries`.

Reads one JSON object on standard input, writes one on standard output: {"torch", "cuda", "times": {mode: {"median",
"low", "high"} or {"error"}}} in microseconds, or {"error": sentence}. Each mode is captured in a CUDA graph where it can
be, and timed by events after the caches were flushed, as a candidate is; but by itself, not interleaved with one.
"""
import json
import sys


def fail(sentence):
    print(json.dumps({"error": sentence}))
    sys.exit(0)


def main():
    job = json.load(sys.stdin)
    try:
        import torch
    except Exception as error:  # a broken installation fails in many ways
        fail(f"PyTorch does not load in this python3 ({error}): install it (pip install torch) or leave it out")
    if not torch.cuda.is_available():
        fail(f"PyTorch {torch.__version__} (CUDA {torch.version.cuda}) sees no GPU: install a build for this driver's CUDA version")
    device = torch.device("cuda", job["ordinal"])
    torch.cuda.set_device(device)
    torch.manual_seed(job["seed"])

    def draw(spec):
        shape, dtype = spec["shape"], getattr(torch, spec["dtype"])
        if spec["distribution"] == "index":
            return torch.randint(0, max(1, spec["bound"]), shape, device=device, dtype=dtype)
        if spec["distribution"] == "uniform":
            values = torch.rand(shape, device=device) * (spec["high"] - spec["low"]) + spec["low"]
        else:
            values = torch.randn(shape, device=device) * spec["scale"] + spec["offset"]
        return values.to(dtype)

    try:
        names = {name: draw(spec) for name, spec in job["tensors"].items()}
        names.update(job["dims"])
        names.update(job["scalars"])
        flush = torch.empty(max(64 << 20, 4 * job["l2_bytes"]), dtype=torch.uint8, device=device)
        tensors = sorted(job["tensors"])
        constants = {key: value for key, value in names.items() if key not in job["tensors"]}
        scope = {"torch": torch, "F": torch.nn.functional, **constants}
        # Parameters, not globals, so that the compiled form takes tensors as a model's layer would.
        exec(f"def expression({', '.join(tensors)}):\n    return ({job['expression']})\n", scope)
        arguments = [names[name] for name in tensors]
    except Exception as error:
        fail(f"the expression's inputs cannot be made: {error}")

    def time(call):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                call()
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        run = call
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                call()
            run = graph.replay
        except Exception:
            torch.cuda.synchronize()
        samples = []
        for i in range(job["samples"] + 3):
            flush.zero_()
            flush.sum()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            run()
            end.record()
            end.synchronize()
            if i >= 3:
                samples.append(begin.elapsed_time(end) * 1e3)
        samples.sort()
        # Ends of a 95 % interval of the median, by ranks.
        half = 0.98 * len(samples) ** 0.5
        low = max(0, int(len(samples) / 2 - half))
        high = min(len(samples) - 1, int(len(samples) / 2 + half))
        return {"median": samples[len(samples) // 2], "low": samples[low], "high": samples[high]}

    times = {}
    with torch.no_grad():
        for mode in ("eager", "compiled"):
            try:
                call = scope["expression"] if mode == "eager" else torch.compile(scope["expression"], dynamic=False)
                times[mode] = time(lambda: call(*arguments))
            except Exception as error:
                lines = str(error).strip().splitlines()
                times[mode] = {"error": lines[0] if lines else type(error).__name__}
    print(json.dumps({"torch": torch.__version__, "cuda": torch.version.cuda, "times": times}))


main()
