# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Times a PyTorch expression, eager and compiled, against a candidate, for `hone eval --libraries`.

Reads one JSON object on standard input: the expression, its cases, "modes" (of "eager" and "compiled"), and, if the candidate can be launched from here, its
modules and launches (candidate_launches.h). "prepare", a list of [name, expression], names tensors that the expression uses
too; they are made once of each set of inputs and not timed. In place of the expression, the object may have "module", the
task's own PyTorch module: its text, its class, and which tensors are its inputs and its state; problem.py then stands before
this text.

Writes lines on standard output, each of them "hone: " and a JSON object. The first has the versions, {"torch", "cuda"}. One
line for each case follows, in order: {"case", "times": {mode: {"median", "low", "high", "calls", "paired"} or {"error"}}},
with times in microseconds per call. {"error": sentence} may replace either. All cases run in this one process, because
PyTorch and its compiler take longer to start than the timing takes.

Each mode is captured in a CUDA graph if possible, and timed by events after the caches were flushed by reading. The graph of
a short expression holds many calls, each with inputs and outputs of its own, so that the time does not include the host's
cost of a launch and no call finds its data in a cache. The candidate's graph holds as many calls on the same inputs, and the
two are timed in quads, ABBA or BAAB by a coin. The times of two graphs of the same calls differ by some tenths of a percent
for as long as the graphs live, so both are captured anew after some quads. "paired" is {"median", "low", "high", "us",
"apart"}: median and interval of the expression's time over the candidate's, the candidate's time, and the relative
difference of the results; or {"error"}.
"""
import ctypes
import json
import math
import random
import sys

SHORT_US = 200  # a call shorter than this is timed with others in one sample
MOST_CALLS = 64  # limit on the calls of a sample
MOST_BYTES = 4 << 30  # limit on the bytes of all inputs and outputs of a sample
QUADS_A_GRAPH = 5  # after so many quads, both graphs are captured anew


def tell(answer):
    print("hone: " + json.dumps(answer), flush=True)


def fail(sentence):
    tell({"error": sentence})
    sys.exit(0)


class Attribute(ctypes.Structure):  # CUlaunchAttribute
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class Config(ctypes.Structure):  # CUlaunchConfig
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(Attribute)), ("count", ctypes.c_uint)]


class Modules:
    """The candidate's cubins, loaded in the current CUDA context."""

    def __init__(self, images):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.modules, self.functions = {}, {}
        for key, image in images.items():
            module = ctypes.c_void_p()
            self.call("cuModuleLoadData", ctypes.byref(module), bytes.fromhex(image))
            self.modules[key] = module

    def call(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result != 0:
            raise RuntimeError(f"{name} gave error {result}")

    def function(self, key, symbol, shared):
        found = self.functions.get((key, symbol))
        if found is None:
            found = ctypes.c_void_p()
            self.call("cuModuleGetFunction", ctypes.byref(found), self.modules[key], symbol.encode())
            self.functions[key, symbol] = found
        if shared > 0:
            self.call("cuFuncSetAttribute", found, 8, ctypes.c_int(shared))  # largest dynamic shared memory
        return found


class Candidate:
    """The candidate's launches for one case. run() takes `tensors`, the inputs and outputs by name."""

    def __init__(self, modules, launches, empty):
        self.modules, self.launches, self.empty = modules, launches, empty
        self.workspaces = {name: empty([count], "uint8").zero_() for name, count in launches["workspaces"].items()}
        self.functions = [None if "target" in step else modules.function(step["module"], step["symbol"], step["shared"])
                          for step in launches["steps"]]

    def outputs(self):
        return {spec["name"]: self.empty(spec["shape"], spec["dtype"]) for spec in self.launches["outputs"]}

    def run(self, tensors, stream):
        for step, function in zip(self.launches["steps"], self.functions):
            if function is None:
                target = tensors.get(step["target"], self.workspaces.get(step["target"]))
                self.modules.call("cuMemsetD8Async", ctypes.c_uint64(target.data_ptr()), ctypes.c_ubyte(step["value"]),
                                  ctypes.c_size_t(step["memset_bytes"]), ctypes.c_void_p(stream))
                continue
            values = []
            for argument in step["args"]:
                if "bytes" in argument:
                    values.append(ctypes.create_string_buffer(bytes.fromhex(argument["bytes"])))
                else:
                    base = tensors[argument["tensor"]] if "tensor" in argument else self.workspaces[argument["workspace"]]
                    values.append(ctypes.c_uint64(base.data_ptr() + argument["offset"]))
            pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.addressof(value) for value in values])
            attributes = (Attribute * 2)()
            count = 0
            if step["cooperative"]:
                attributes[count].id, attributes[count].value[0] = 2, 1
                count += 1
            if step["cluster"][0] > 0:
                attributes[count].id = 4
                attributes[count].value[:3] = step["cluster"]
                count += 1
            config = Config((ctypes.c_uint * 3)(*step["grid"]), (ctypes.c_uint * 3)(*step["block"]), step["shared"], stream,
                            attributes, count)
            self.modules.call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)


def main():
    job = json.load(sys.stdin)
    try:
        import torch
    except Exception as error:  # a broken installation fails in many ways
        fail(f"PyTorch does not load in this python3 ({error}): install it (pip install torch) or leave it out")
    if not torch.cuda.is_available():
        fail(f"PyTorch {torch.__version__} (CUDA {torch.version.cuda}) sees no GPU: install a build for this driver's CUDA version")
    try:
        device = torch.device("cuda", job["ordinal"])
        torch.cuda.set_device(device)
        torch.manual_seed(job["seed"])
        flush = torch.zeros(max(64 << 20, 4 * job["l2_bytes"]) // 4, device=device)
        torch.cuda.synchronize()
    except Exception as error:  # PyTorch was built for another generation of GPUs, say
        lines = str(error).strip().splitlines()
        fail(f"PyTorch {torch.__version__} (CUDA {torch.version.cuda}) cannot use this GPU ({lines[0] if lines else type(error).__name__}): "
             "install a build for it and for this driver's CUDA version")
    coin = random.Random(job["seed"])
    tell({"torch": torch.__version__, "cuda": torch.version.cuda})

    def held(dtype):  # two numbers to a byte are bytes for an expression
        return torch.uint8 if dtype in ("int4_x2", "float4_e2m1fn_x2") else getattr(torch, dtype)

    def draw(spec):
        shape, dtype = spec["shape"], held(spec["dtype"])
        if spec["dtype"].endswith("_x2"):
            return torch.randint(0, 256, shape, device=device, dtype=dtype)
        if spec["distribution"] == "index":
            low, order = int(spec["low"]), spec["order"]  # order: a value of hone::IndexOrder
            bound = max(1, spec["bound"] - low)
            if order == 1:  # no value twice in the tensor
                values = torch.randperm(bound, device=device)[: math.prod(shape)].reshape(shape)
            elif order == 2:  # no value twice along the last axis
                rows = math.prod(shape[:-1])
                values = torch.rand((rows, bound), device=device).argsort(1)[:, : shape[-1]].reshape(shape)
            elif order == 4:  # a mask
                values = (torch.rand(shape, device=device) < spec["ones"]).long()
                if spec["some"] >= 0 and values.numel():
                    along = spec["along"]
                    lines = [1 if axis == along else size for axis, size in enumerate(shape)]
                    values.scatter_(along, torch.randint(0, shape[along], lines, device=device), spec["some"])
            else:
                values = torch.randint(0, bound, shape, device=device)
            if order == 3:
                values = values.flatten().sort().values.reshape(shape)
            values = values + low
            if spec["padding"] > 0:
                values[torch.rand(shape, device=device) < spec["padding"]] = -1
            return values.to(dtype)
        if spec["distribution"] == "offsets":  # of rows with log-normal lengths, as skewed as the judge's
            ends = torch.randn(shape[-1] - 1, device=device, dtype=torch.float64).mul_(1.4).exp_().cumsum(0)
            ends = (ends / ends[-1] * spec["bound"]).round_() if len(ends) > 0 else ends
            return torch.cat((ends.new_zeros(1), ends)).to(dtype)
        if spec["distribution"] == "uniform":
            values = torch.rand(shape, device=device) * (spec["high"] - spec["low"]) + spec["low"]
        elif spec["distribution"] == "log_uniform":
            low, high = math.log2(spec["low"]), math.log2(spec["high"])
            values = (torch.rand(shape, device=device) * (high - low) + low).exp2_()
        else:
            values = torch.randn(shape, device=device).mul_(spec["scale"]).add_(spec["offset"])
        if spec["dtype"].startswith("float8"):
            values.clamp_(-torch.finfo(dtype).max, torch.finfo(dtype).max)
        return values.to(dtype)

    def empty(shape, dtype):
        return torch.empty(shape, device=device, dtype=held(dtype))

    loaded = []

    def modules():
        if not loaded:
            loaded.append(Modules(job["modules"]))
        return loaded[0]

    booleans = set(job["module"]["booleans"]) if "module" in job else set()

    def inputs(case):
        drawn = [draw(case["tensors"][name]) for name in sorted(case["tensors"])]
        return [one.bool() if name in booleans else one for name, one in zip(sorted(case["tensors"]), drawn)]

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
            kept = [call(*arguments) for arguments in sets]  # keeps the outputs, so that each has memory of its own
        return graph, kept

    def summary(values):
        """Returns the median and the ends of its 95 % interval, by ranks."""
        values = sorted(values)
        half = 0.98 * len(values) ** 0.5
        low = max(0, int(len(values) / 2 - half))
        high = min(len(values) - 1, int(len(values) / 2 + half))
        return {"median": values[len(values) // 2], "low": values[low], "high": values[high]}

    def apart(mine, theirs):
        worst = 0.0
        for a, b in zip(mine, theirs):
            if a.shape != b.shape:
                return math.inf
            error = size = 0.0
            for part, other in zip(a.reshape(-1).split(1 << 26), b.reshape(-1).split(1 << 26)):
                error += (part.float() - other.float()).square().sum().item()
                size += other.float().square().sum().item()
            worst = max(worst, math.sqrt(error / size) if size > 0 else (math.inf if error > 0 else 0.0))
        return worst

    def time(call, names, sets, more, candidate):
        """Times `call` on `sets` of inputs. `more(n)` returns n sets. `candidate`: timed beside it; may be None."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                out = call(*sets[0])
        torch.cuda.current_stream().wait_stream(stream)
        torch.cuda.synchronize()
        out = [out] if torch.is_tensor(out) else list(out)
        touched = sum(t.numel() * t.element_size() for t in sets[0] + out)
        calls = 1
        theirs = mine = None  # graphs of expression and candidate, each with the outputs that it writes
        try:
            theirs = captured(call, sets[:1])
            once = sorted(sample(theirs[0].replay) for _ in range(3))[1]
            if once < SHORT_US:
                calls = max(math.ceil(SHORT_US / once), math.ceil(3 * job["l2_bytes"] / max(1, touched)))
                calls = max(1, min(calls, MOST_CALLS, MOST_BYTES // max(1, touched)))
            if calls > 1:
                theirs = None
                theirs = captured(call, more(calls))
        except Exception:  # an expression that synchronizes or allocates by itself cannot be captured
            torch.cuda.synchronize()
            theirs, calls = None, 1
        capturable = theirs is not None

        def run():
            if capturable:
                theirs[0].replay()
            else:
                call(*sets[0])

        if candidate is None:
            return {**summary([sample(run) / calls for _ in range(job["samples"] + 3)][3:]), "calls": calls}
        outputs = [candidate.outputs() for _ in range(calls)]

        def launch(arguments):
            number = next(numbers)
            candidate.run({**dict(zip(names, arguments)), **outputs[number]}, torch.cuda.current_stream().cuda_stream)

        theirs_us, mine_us, ratios = [], [], []
        difference = None
        for quad in range(job["samples"] // 2):
            if quad % QUADS_A_GRAPH == 0:
                order = coin.sample((True, False), 2)
                for is_mine in order:
                    if is_mine:
                        mine = None
                        numbers = iter(range(calls))
                        mine = captured(lambda *arguments: launch(arguments), sets[:calls])
                    elif capturable and quad > 0:
                        theirs = None
                        theirs = captured(call, sets[:calls])
                for is_mine in order:  # these samples are not kept: clocks rise, and graphs are uploaded
                    sample(mine[0].replay if is_mine else run)
                if difference is None:
                    difference = apart(list(outputs[0].values()), out)
                    out = None
            first = coin.random() < 0.5
            samples = {True: [], False: []}  # True: times of the candidate; False: times of the expression
            for is_mine in (first, not first, not first, first):
                samples[is_mine].append(sample(mine[0].replay if is_mine else run) / calls)
            mine_us += samples[True]
            theirs_us += samples[False]
            ratios.append(math.sqrt(samples[False][0] * samples[False][1] / (samples[True][0] * samples[True][1])))
        paired = {**summary(ratios), "us": summary(mine_us)["median"], "apart": difference}
        return {**summary(theirs_us), "calls": calls, "paired": paired}

    def module_call(case):
        """Returns the module as a function of the task's tensors by name, which include the module's state."""
        told = job["module"]
        path = "reference.py"  # torch.compile reads a module's source from its file
        with open(path, "w", encoding="utf-8") as file:
            file.write(told["text"])
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
        problem = Problem(told["text"], path, told["class"], told["training"])
        sizes = {told["sizes"].get(name, name): size for name, size in case["dims"].items()}
        model, _ = problem.build({name: size for name, size in sizes.items() if name in problem.sizes})
        model = model.to(device)
        names = sorted(case["tensors"])

        def call(*tensors):
            given = dict(zip(names, tensors))
            state = {name: given[tensor] for tensor, name in told["state"].items()}
            inputs = [given[one["tensor"]] if "tensor" in one else one["value"] for one in told["inputs"]]
            return torch.func.functional_call(model, state, tuple(inputs))

        return call

    def one_case(case):
        scope = {"torch": torch, "F": torch.nn.functional, **case["dims"], **case["scalars"]}
        prepared = job.get("prepare", [])
        names = sorted(case["tensors"])
        # State and inputs are parameters, so that the compiled function takes them as a model's layer would.
        if "module" in job:
            scope["expression"] = module_call(case)
        else:
            names += [name for name, _ in prepared]
            exec(f"def expression({', '.join(names)}):\n    return ({job['expression']})\n", scope)

        def one_set():
            values = inputs(case)
            known = {**scope, **dict(zip(names, values))}
            for name, text in prepared:
                known[name] = eval(text, known)
                if not torch.is_tensor(known[name]):
                    raise TypeError(f"prepare.{name} gives a {type(known[name]).__name__} and no tensor")
                values.append(known[name])
            return values

        sets = [one_set()]
        candidate, reason = None, case.get("unpaired")
        if "launches" in case:
            try:
                candidate = Candidate(modules(), case["launches"], empty)
            except Exception as error:
                reason = str(error)

        def more(count):
            while len(sets) < count:
                sets.append(one_set())
            return sets[:count]

        times = {}
        for mode in job["modes"]:
            try:
                call = scope["expression"]
                if mode == "compiled":
                    torch._dynamo.reset()  # forgets what was compiled for earlier cases
                    call = torch.compile(call, dynamic=False)
                times[mode] = time(call, names, sets, more, candidate)
                if candidate is None and reason:
                    times[mode]["paired"] = {"error": reason}
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
