# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Times a PyTorch expression, eager and compiled, for `hone eval --libraries`.

Reads one JSON object on standard input: the expression and its cases. Writes lines on standard output, each "hone: " and a
JSON object: {"torch", "cuda"} first, then for each case in order {"case", "times": {mode: {"median", "low", "high", "calls"}
or {"error"}}}, times in microseconds a call; or {"error": sentence} in place of either. All cases run in this one process:
PyTorch and its compiler take longer to wake than to time.

Each mode is captured in a CUDA graph where it can be and timed by events after the caches were flushed by reading, as a
candidate is. A graph of a short expression holds many calls, each on inputs and outputs of its own, so that what a launch
costs the host does not count and no call finds its data in the cache. Samples are not interleaved with a candidate's.
"""
import json
import math
import sys

SHORT_US = 200  # below that, many calls to a sample
MOST_CALLS = 64
MOST_BYTES = 4 << 30  # of all inputs of a sample


def tell(answer):
    print("hone: " + json.dumps(answer), flush=True)


def fail(sentence):
    tell({"error": sentence})
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
    flush = torch.zeros(max(64 << 20, 4 * job["l2_bytes"]) // 4, device=device)
    tell({"torch": torch.__version__, "cuda": torch.version.cuda})

    def draw(spec):
        shape, dtype = spec["shape"], getattr(torch, spec["dtype"])
        if spec["distribution"] == "index":
            return torch.randint(0, max(1, spec["bound"]), shape, device=device, dtype=dtype)
        if spec["distribution"] == "uniform":
            values = torch.rand(shape, device=device) * (spec["high"] - spec["low"]) + spec["low"]
        else:
            values = torch.randn(shape, device=device).mul_(spec["scale"]).add_(spec["offset"])
        return values.to(dtype)

    def inputs(case):
        return [draw(case["tensors"][name]) for name in sorted(case["tensors"])]

    def sample(run):
        flush.sum()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e3

    def captured(call, sets):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            kept = [call(*arguments) for arguments in sets]  # each has memory of its own
        return graph, kept

    def time(call, sets, more):
        """`more` makes sets of inputs up to the number it is given."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                out = call(*sets[0])
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        out = [out] if torch.is_tensor(out) else list(out)
        touched = sum(t.numel() * t.element_size() for t in sets[0] + out)
        del out
        calls = 1
        try:
            graph, kept = captured(call, sets[:1])
            once = sorted(sample(graph.replay) for _ in range(3))[1]
            if once < SHORT_US:
                calls = max(math.ceil(SHORT_US / once), math.ceil(3 * job["l2_bytes"] / max(1, touched)))
                calls = max(1, min(calls, MOST_CALLS, MOST_BYTES // max(1, touched)))
            if calls > 1:
                del kept
                graph, kept = captured(call, more(calls))
            run = graph.replay
        except Exception:  # what synchronizes or allocates by itself cannot be captured
            torch.cuda.synchronize()
            calls = 1

            def run():
                call(*sets[0])

        samples = sorted([sample(run) / calls for _ in range(job["samples"] + 3)][3:])
        # Ends of a 95 % interval of the median, by ranks.
        half = 0.98 * len(samples) ** 0.5
        low = max(0, int(len(samples) / 2 - half))
        high = min(len(samples) - 1, int(len(samples) / 2 + half))
        return {"median": samples[len(samples) // 2], "low": samples[low], "high": samples[high], "calls": calls}

    def one_case(case):
        scope = {"torch": torch, "F": torch.nn.functional, **case["dims"], **case["scalars"]}
        # Parameters, not globals, so that the compiled form takes tensors as a model's layer would.
        exec(f"def expression({', '.join(sorted(case['tensors']))}):\n    return ({job['expression']})\n", scope)
        sets = [inputs(case)]

        def more(count):
            while len(sets) < count:
                sets.append(inputs(case))
            return sets[:count]

        times = {}
        for mode in ("eager", "compiled"):
            try:
                call = scope["expression"]
                if mode == "compiled":
                    torch._dynamo.reset()  # what the case before left
                    call = torch.compile(call, dynamic=False)
                times[mode] = time(call, sets, more)
            except Exception as error:
                lines = str(error).strip().splitlines()
                times[mode] = {"error": lines[0] if lines else type(error).__name__}
        return times

    with torch.no_grad():
        for number, case in enumerate(job["cases"]):
            try:
                tell({"case": number, "times": one_case(case)})
            except Exception as error:
                tell({"case": number, "error": f"the expression's inputs cannot be made: {error}"})
            torch.cuda.empty_cache()


main()
