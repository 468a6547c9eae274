# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Judges a submission, which runs in a process of its own, by a task's PyTorch module. Stands behind problem.py, frames.py,
weights.py and lifted.py in one script.

Descriptor 3 is the socket to hosted_judge.cc (hosted_judge.h lists the job and the answer). Descriptor 4 is the socket to the
submission's stage (stage.py), and 5 and up are those to the baselines' stages. If the job says "lift", the sockets to as many
players follow (player.py, lifted.py). The referee draws inputs and seeds, computes the right results in double precision, and owns
all memory that stages read inputs from and write outputs to; on a GPU they open it by CUDA's inter-process handles.

The referee does not trust a stage. The inputs of each handover are new, and some words of them, at secret places, are written only
after the clock has started. Outputs are filled with poison before. When the stage says that it is done, some words of the outputs,
at secret places, are read before the clock stops. Afterwards all outputs are compared with the right results, and they must still
have the words that were read.

The processes share one GPU, which runs one process at a time. So work that a submission does before it is called lengthens what the
referee does on the GPU then, and work that it does while a baseline is timed lengthens the baseline's time. The referee measures
both, the second by timing the baselines again after the submission's process has ended, and corrects the times (corrected()).
"""
import ctypes
import mmap
import os
import random
import socket
import time

ALIGN = 256
PLACES = 4096            # number of input words written, and of output words read, while the clock runs
WINDOW_SECONDS = 30e-3   # duration of a handover: it has many calls if they are short, because a handover costs about a millisecond
MOST_CALLS = 512
MOST_BYTES = 24 << 30    # limit for the memory of one side's slots after the first
LEAST_QUADS, MOST_QUADS = 10, 40
ALONE_HANDOVERS = 12     # timings of a baseline after the submission's process has ended,
FREEING_SECONDS = 0.5    # and so long after, because the driver frees what the process held
EARLY_SHARE, EARLY_SECONDS = 0.005, 30e-6  # a submission's work before its call counts as its time if it is longer than this share of a handover and this
SLOWED = 1.1             # where a baseline takes more than this many times as long beside the submission as alone, its time alone counts
PRECISE = 0.005          # timing ends if the speedup's 95 % interval is at most this share of its median wide
KEPT_BYTES = 1 << 30     # weights of at most this size are kept from one evaluation of the module to the next,
KEPT_SHARE = 12          # and those of at most this part of the GPU's free memory
FIRST_CALL = 12          # factor on the time limit of the first call after a build, which may compile
LOAD_SECONDS, BUILD_SECONDS, ASK_SECONDS = 420, 120, 60
ROOM = 4.0               # factor on the module's own error in float32, where that error decides the tolerance
LOOSE_RMS, LOOSE_MAX = 0.01, 0.02  # a looser tolerance than this rms is narrowed to NARROW times the module's own error, but not below these
NARROW = 16.0
CHANCE = 0.05            # if the module's rms error in float32 is above this share of its results, nothing can be judged
FEW = 16                 # a slice of fewer elements is not measured by its own rms
STRESS_BYTES = 6 << 30   # hard inputs are tried if inputs and outputs are at most this large
MOST_SINGLED = 4         # constant weights that are tried singly for what a wrong submission leaves out
COMPILED = {"torch_compiled": "default", "torch_max_autotune": "max-autotune-no-cudagraphs"}  # torch.compile's mode, by baseline; the judge captures graphs itself
KERNELBENCH, KERNELBENCH_HALF = 1e-4, 1e-2  # tolerances of KernelBench's own check
PIECE = 1 << 27          # the most elements that are compared at a time
SPECIAL = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan, "subnormal": 1e-40}
KINDS = {"float64": 2.0 ** -53, "float32": 2.0 ** -24, "float16": 2.0 ** -11, "bfloat16": 2.0 ** -8,
         "float8_e4m3fn": 2.0 ** -4, "float8_e5m2": 2.0 ** -3}  # rounding units


class Verdict(Exception):
    """The submission's verdict is not "ok". Arguments: verdict, sentence, mismatch or None."""


class Unfit(Exception):
    """A baseline cannot be timed; the message says why, in a sentence."""


class Host:
    """Memory for inputs and outputs without a GPU: a file that the referee and the stage map, sealed so that neither can resize it."""

    def __init__(self, size):
        import torch
        self.bytes = size
        self.descriptor = os.memfd_create("hone-hosted", os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, size)
        import fcntl
        fcntl.fcntl(self.descriptor, 1033, 0x2 | 0x4)  # F_ADD_SEALS: no shrinking, no growing
        self.map = mmap.mmap(self.descriptor, size)
        self.tensor = torch.frombuffer(self.map, dtype=torch.uint8)

    def message(self):
        return {"bytes": self.bytes}

    def alongside(self, socket_descriptor):
        with socket.socket(fileno=os.dup(socket_descriptor)) as peer:
            socket.send_fds(peer, [b"m"], [self.descriptor])

    def close(self):
        os.close(self.descriptor)


class Pointer:
    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "|u1", "data": (address, False), "version": 3}


class Device:
    """Memory of a GPU for inputs and outputs, with the handle by which a stage opens it. Raises MemoryError, with a sentence, if there is too
    little."""

    def __init__(self, size, device):
        import torch
        self.bytes = size
        self.cuda = ctypes.CDLL(f"libcudart.so.{torch.version.cuda.split('.')[0]}")
        self.address = ctypes.c_void_p()
        torch.cuda.empty_cache()
        result = self.cuda.cudaMalloc(ctypes.byref(self.address), ctypes.c_size_t(size))
        if result != 0:
            raise MemoryError(f"{size >> 20} MiB of GPU memory for inputs and outputs are not there: make the sizes smaller")
        handle = (ctypes.c_ubyte * 64)()
        result = self.cuda.cudaIpcGetMemHandle(handle, self.address)
        if result != 0:
            raise RuntimeError(f"cudaIpcGetMemHandle gave error {result}: this GPU's memory cannot be shared between processes here")
        self.handle = bytes(handle).hex()
        self.tensor = torch.as_tensor(Pointer(self.address.value, size), device=device)

    def message(self):
        return {"bytes": self.bytes, "handle": self.handle}

    def alongside(self, socket_descriptor):
        pass

    def close(self):
        self.tensor = None
        self.cuda.cudaFree(self.address)


def typed(memory, one):
    """Returns a tensor over bytes of `memory`, a uint8 tensor."""
    import torch
    dtype = getattr(torch, one["dtype"])
    count = math.prod(one["shape"])
    return memory[one["offset"]:one["offset"] + count * torch.empty((), dtype=dtype).element_size()].view(dtype).reshape(one["shape"])


def torch_minmax(tensor):
    import torch
    return torch.aminmax(tensor.double() if tensor.dtype == torch.bool else tensor)


def pieces(tensor):
    """Returns [(first row, index)] of parts along the first axis with at most PIECE elements, since a whole tensor in double precision
    may not fit into memory."""
    if tensor.dim() == 0 or tensor.numel() <= PIECE:
        return [(0, ...)]
    step = max(1, PIECE * tensor.shape[0] // tensor.numel())
    return [(begin, slice(begin, begin + step)) for begin in range(0, tensor.shape[0], step)]


def element(expected, actual, at, first_row):
    """Returns an element of two tensors, number `at` in their order: its index, as if they began at `first_row`, and its two values."""
    index, rest = [], at
    for size in reversed(list(expected.shape)):
        index.insert(0, rest % size)
        rest //= size
    return {"index": [index[0] + first_row] + index[1:] if index else [], "expected": expected[tuple(index)].item(), "actual": actual[tuple(index)].item()}


def accepted_by_kernelbench(actual, expected):
    """Returns whether KernelBench's own check would accept results: torch.allclose with 1e-4, or 1e-2 for 16 bits, relative and absolute."""
    import torch
    if not actual.is_floating_point():
        return torch.equal(actual, expected.to(actual.dtype))
    tolerance = KERNELBENCH if actual.element_size() >= 4 else KERNELBENCH_HALF
    return all(torch.allclose(actual[place].double(), expected[place].double(), rtol=tolerance, atol=tolerance) for _, place in pieces(expected))


def furthest(actual, expected):
    """Returns the element() of the largest error of a finite number."""
    worst, found = -1.0, None
    for begin, place in pieces(expected):
        wanted, given = expected[place].double(), actual[place].double()
        error = (given - wanted).abs().nan_to_num(nan=-1.0, posinf=-1.0)
        if error.max().item() > worst:
            worst, found = error.max().item(), element(wanted, given, int(error.flatten().argmax().item()), begin)
    return found or element(expected.double(), actual.double(), 0, 0)


class Layout:
    """The offsets of a case's inputs and outputs in memory, for `slots` calls of forward."""

    def __init__(self, job, case, slots):
        import torch
        self.slots, at = slots, 0
        self.inputs, self.outputs = [], []

        def place(spec, boolean=False):
            nonlocal at
            width = torch.empty((), dtype=getattr(torch, spec["dtype"])).element_size()
            # A boolean tensor is one of bytes here: they are 0 and 1, or poison. Stages see it as booleans.
            one = {"dtype": spec["dtype"], "shape": spec["shape"], "offset": at, "boolean": boolean}
            at += (math.prod(spec["shape"]) * width + ALIGN - 1) // ALIGN * ALIGN
            return one

        for _ in range(slots):
            self.inputs.append([place(case["tensors"][one["tensor"]], one["boolean"]) if "tensor" in one else {"value": one["value"]} for one in job["inputs"]])
        self.input_bytes = at
        for _ in range(slots):
            self.outputs.append([place(case["outputs"][name], case["outputs"][name]["boolean"]) for name in job["outputs"]])
        self.bytes = max(at, ALIGN)


class Side:
    """A stage (or a player), and the memory that it shares with the referee."""

    def __init__(self, name, descriptor, is_submission):
        self.name, self.frames, self.is_submission = name, Frames(descriptor), is_submission
        self.memory = self.layout = None

    def fail(self, verdict, sentence):
        """Raises the verdict if the side is the submission, else Unfit."""
        raise Verdict(verdict, sentence, None) if self.is_submission else Unfit(sentence)

    def ask(self, request, seconds, wait=True):
        """Sends a request and, if `wait`, returns the answer, which must come within `seconds`."""
        try:
            self.frames.send(request)
            return self.answer(seconds, request["op"]) if wait else None
        except Gone:
            return self.fail("crashed", f"the process of {self.name} ended while it was to {request['op']}")

    def answer(self, seconds, doing):
        """Returns the answer to an earlier request. `doing`: what the side was asked, for messages."""
        try:
            answer = self.frames.receive(seconds)
        except Late:
            return self.fail("timed_out", f"{self.name} took more than {seconds:.0f} s to {doing}")
        except Gone:
            return self.fail("crashed", f"the process of {self.name} ended while it was to {doing}")
        except ValueError:
            return self.fail("rule_violation", f"{self.name} wrote to the judge's socket")
        if not isinstance(answer, dict) or answer.get("ok") is not True:
            answer = answer if isinstance(answer, dict) else {}
            verdict = answer.get("verdict") if answer.get("verdict") in ("compile_error", "wrong_output", "rule_violation", "unsupported") else "crashed"
            return self.fail(verdict, str(answer.get("error", "no reason"))[:4000])
        return answer

    def give(self, layout, device, before="forget"):
        """Gives the side new memory for a layout. `before`: the request by which it gives back what it has."""
        if self.memory is not None:
            self.ask({"op": before}, ASK_SECONDS)
            self.memory.close()
        self.layout, self.memory = layout, None
        try:
            self.memory = Host(layout.bytes) if device.type == "cpu" else Device(layout.bytes, device)
        except MemoryError as error:
            self.fail("unsupported", str(error))
        self.ask({"op": "memory", **self.places(layout), **self.memory.message()}, ASK_SECONDS, wait=False)
        try:
            self.memory.alongside(self.frames.descriptor)
        except OSError:
            self.fail("crashed", f"the process of {self.name} ended while it was to map memory")
        self.answer(ASK_SECONDS, "map memory")

    def places(self, layout):
        return {"inputs": layout.inputs, "outputs": layout.outputs}

    def words(self, begin, end):
        """Returns bytes [begin, end) of the side's memory as int32 words."""
        import torch
        return self.memory.tensor[begin:end].view(torch.int32)

    def result(self, slot):
        """Returns the outputs of a slot."""
        return [typed(self.memory.tensor, one) for one in self.layout.outputs[slot]]


def load_request(job, side):
    """Returns the request by which a side's stage loads its module."""
    return {"op": "load", "text": job["text"], "file": job["file"], "class": job["class"], "training": job["training"],
            "device": job["device"], "threads": job["threads"], "compile": COMPILED.get(side.name, ""),
            "submission": job["submission"] if side.is_submission else None}


class Timing:
    """The times of the submission (True) and of a baseline (False) at one case, in seconds, in quads: two of each side to a quad."""

    def __init__(self, case, baseline, layout, seed):
        self.case, self.baseline, self.layout, self.seed = case, baseline, layout, seed
        self.took = {True: [], False: []}      # of handovers
        self.prepared = {True: [], False: []}  # of the GPU's work before each, which is the same for both sides

    @property
    def quads(self):
        return len(self.took[True]) // 2

    def ratios(self, early=0.0, factor=1.0):
        """Returns each quad's speedup, with `early` added to the submission's times and the baseline's multiplied by `factor`."""
        mine, theirs = ([took[i:i + 2] for i in range(0, len(took), 2)] for took in (self.took[True], self.took[False]))
        return [factor * math.sqrt(b[0] * b[1] / ((a[0] + early) * (a[1] + early))) for a, b in zip(mine, theirs)]

    def corrected(self, alone, prepared_alone):
        """Returns the answer's times, corrected by the baseline's times after the submission's process had ended (time_alone()).

        What the GPU does before a handover takes longer by the work that the submission does then, and counts as the submission's time. If the
        baseline was slower beside the submission than alone, the time alone counts. Both only above what such times vary by.
        """
        # Work before the baseline's calls, too, would hide the difference. Small ones between the baseline's times beside and alone are no sign of it.
        beside = middle(self.prepared[False])
        early = middle(self.prepared[True]) - (prepared_alone if beside > SLOWED * prepared_alone else beside)
        if early <= max(EARLY_SECONDS, EARLY_SHARE * middle(self.took[True])):
            early = 0.0
        slowed = middle(self.took[False]) / alone
        factor = 1 / slowed if slowed > SLOWED else 1.0
        unit = 1e6 / self.layout.slots
        return {"time_us": summary([(took + early) * unit for took in self.took[True]]),
                "baseline_us": summary([took * factor * unit for took in self.took[False]]),
                "speedup": summary(self.ratios(early, factor)), "quads": self.quads, "calls": self.layout.slots,
                "early_us": early * unit, "slowed": slowed, "slowed_counts": factor != 1.0}


class Referee:
    def __init__(self, job, frames, secret):
        import torch
        self.job, self.frames = job, frames
        self.device = torch.device(job["device"])
        self.problem = Problem(job["text"], job["file"], job["class"], job["training"])
        self.secret = secret
        self.generator = torch.Generator(self.device)
        self.submission = Side("the submission", 4, True)
        self.baselines = [Side(name, 5 + i, False) for i, name in enumerate(job["baselines"])]
        self.truth = None
        self.kept = {}  # weights and modules of one seed, by what they are; see made()

    def tell(self, doing):
        """Reports what is being done."""
        self.frames.send({"doing": doing})

    def synchronize(self):
        import torch
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def draw(self, spec):
        """Returns a new input, drawn by its specification."""
        import torch
        shape, dtype, device = spec["shape"], getattr(torch, spec["dtype"]), self.device
        keys = {"device": device, "generator": self.generator}
        if spec["distribution"] == "index":
            low, order = int(spec["low"]), spec["order"]  # order: the number of a hone::IndexOrder
            bound = max(1, spec["bound"] - low)
            if order == 4:
                values = self.mask(shape, spec["ones"], spec["some"], spec["along"], keys)
            elif order == 1:
                values = torch.randperm(bound, **keys)[: math.prod(shape)].reshape(shape)
            elif order == 2:
                values = torch.rand((math.prod(shape[:-1]), bound), **keys).argsort(1)[:, : shape[-1]].reshape(shape)
            else:
                values = torch.randint(0, bound, shape, **keys)
            if order == 3:
                values = values.flatten().sort().values.reshape(shape)
            values = values + low
            if spec["padding"] > 0:
                values[torch.rand(shape, **keys) < spec["padding"]] = -1
            return values.to(dtype)
        if spec["distribution"] == "uniform":
            return (torch.rand(shape, **keys) * (spec["high"] - spec["low"]) + spec["low"]).to(dtype)
        if spec["distribution"] == "normal":
            return (torch.randn(shape, **keys) * spec["scale"] + spec["offset"]).to(dtype)
        raise Verdict("unsupported", f"inputs of the distribution {spec['distribution']} are not drawn for a submission", None)

    @staticmethod
    def mask(shape, ones, some, along, keys):
        """Returns zeros and ones with this share of ones. Each line along the axis `along` holds the value `some`, if that is not -1."""
        import torch
        values = (torch.rand(shape, **keys) < ones).long()
        if some >= 0 and values.numel():
            lines = [1 if axis == along else size for axis, size in enumerate(shape)]
            values.scatter_(along, torch.randint(0, shape[along], lines, **keys), some)
        return values

    def fill(self, case, layout):
        """Draws new inputs for every slot, in the referee's own memory (`truth`)."""
        self.generator.manual_seed(self.secret.getrandbits(62))
        for slot in layout.inputs:
            for one, wanted in zip(slot, self.job["inputs"]):
                if "offset" in one:
                    typed(self.truth, one).copy_(self.draw(case["tensors"][wanted["tensor"]]))

    def hard_sets(self, case, layout, seed):
        """Yields (right results, rms of the largest input) for sets of hard inputs, which are then in `truth`: one set for every second
        trial, two at most.

        A set is used only if the module itself in float32 is right on it, with room to spare: otherwise no float32 kernel could be.
        """
        if layout.bytes > STRESS_BYTES:
            return
        for _ in range(min(2, self.job["trials"] // 2)):
            self.tell("check hard inputs")
            self.fill(case, layout)
            if not self.harden(case, layout):
                return
            try:
                results, magnitude = self.expected(case, seed)
                own = self.in_float32(case, seed, 0)
                fair = own is not None and not any(self.hold(mine, right, case["outputs"][name], magnitude, 0.5)[0]
                                                   for name, mine, right in zip(self.job["outputs"], own, results))
                del own
            except Exception as error:
                print(f"the module on hard inputs: {error}", file=sys.stderr)
                continue
            if fair:
                case["hard"] = case.get("hard", 0) + 1
                yield results, magnitude

    def rehearse(self, case, layout, seed):
        """Computes and compares right results once, so that the GPU's code for that is loaded when the submission's results come. Changes
        the inputs in `truth`, and draws no secret."""
        before = self.secret.getstate()
        try:
            results, magnitude = self.expected(case, seed)
            for name, mine, right in zip(self.job["outputs"], self.in_float32(case, seed, 0) or results, results):
                self.hold(mine, right, case["outputs"][name], magnitude)
                torch_minmax(right)
            self.harden(case, layout)
        except Exception as error:
            print(f"rehearsal: {error}", file=sys.stderr)  # reported where results are judged
        finally:
            self.secret.setstate(before)

    def compare_hard(self, case, actual, results, magnitude, what):
        """Raises the verdict if an output on hard inputs is wrong, by twice the tolerance."""
        for name, mine, right in zip(self.job["outputs"], actual, results):
            fault, _, _ = self.hold(mine, right, case["outputs"][name], magnitude, 2.0)
            if fault:
                self.refuse(name, case["outputs"][name], fault, f"{what} on hard inputs (tiny, large, equal, zero, far from zero or special by rows)")

    def harden(self, case, layout):
        """Makes the inputs that may be stressed hard, row by row in one of several ways. Rows of the same number get the same way in all
        inputs. Returns whether there is such an input."""
        import torch
        state = self.secret.getrandbits(62)
        any_hard = False
        for one, wanted in zip(layout.inputs[0], self.job["inputs"]):
            spec = case["tensors"].get(wanted.get("tensor"), {})
            if "offset" not in one or one["boolean"] or not spec.get("stress") or not getattr(torch, one["dtype"]).is_floating_point:
                continue
            values = typed(self.truth, one)
            if values.dim() == 0 or values.numel() == 0:
                continue
            any_hard = True
            self.generator.manual_seed(state)
            rows = values.shape[0]
            scale = max(abs(spec["low"]), abs(spec["high"])) if spec["distribution"] == "uniform" else abs(spec["scale"]) or 1.0
            keys = {"device": self.device, "generator": self.generator}
            kind = torch.randint(0, 7, (rows,), **keys)
            power = torch.rand((rows,), **keys)
            sign = torch.where(torch.rand((rows,), **keys) < 0.5, -1.0, 1.0)
            factor = torch.ones(rows, device=self.device)
            factor = torch.where(kind == 1, torch.exp2(-20 + 10 * power), factor)        # tiny: about the square root of a usual eps
            factor = torch.where(kind == 2, torch.exp2(-7 + 14 * power), factor)
            factor = torch.where(kind == 3, torch.full_like(factor, 2.0 ** -4), factor)  # far from zero compared with the spread
            factor = torch.where((kind == 4) | (kind == 5), 0.0 * sign, factor)          # 4: all equal; 5: zeros of both signs
            offset = torch.where(kind == 3, sign * (8 + 8 * power) * scale, torch.where(kind == 4, sign * power * scale, torch.zeros_like(factor)))
            shape = (rows,) + (1,) * (values.dim() - 1)
            values.mul_(factor.to(values.dtype).reshape(shape))
            values.add_(torch.where(offset != 0, offset, -0.0).to(values.dtype).reshape(shape))  # -0.0 keeps the signs of zeros
            special = [number for name, number in SPECIAL.items() if name in spec.get("special", ())]
            chosen = torch.nonzero(kind == 6).flatten()
            if special and chosen.numel():
                inner = max(1, values.numel() // rows)
                count = max(1, min(1 << 16, chosen.numel() * inner // 16))
                at = chosen[torch.randint(0, chosen.numel(), (count,), **keys)] * inner + torch.randint(0, inner, (count,), **keys)
                numbers = torch.tensor(special, device=self.device, dtype=torch.float64).to(values.dtype)
                values.view(-1).index_copy_(0, at, numbers[torch.randint(0, len(special), (count,), **keys)])
        return any_hard

    def handover(self, side, seconds):
        """Runs all slots of `side` on the inputs in `truth`. Returns the seconds from the handover until the outputs are there, and the seconds
        that the GPU took before to write the inputs."""
        import torch
        layout = side.layout
        mine = self.truth.view(torch.int32)
        theirs, outputs = side.words(0, layout.input_bytes), side.words(layout.input_bytes, layout.bytes)

        def some(words):
            return torch.randint(0, max(1, words.numel()), (min(PLACES, words.numel()),), device=self.device, generator=self.generator)

        late, sample = some(theirs), some(outputs)
        values = mine.index_select(0, late)
        garbage = torch.randint(-(1 << 31), (1 << 31) - 1, late.shape, device=self.device, generator=self.generator, dtype=torch.int32)
        side.memory.tensor[layout.input_bytes:].fill_(0xff)
        # The late words are wrong in `truth` while it is copied, so that no right one can be seen before the clock has started.
        if late.numel():
            mine.index_copy_(0, late, garbage)
        self.synchronize()
        written = time.perf_counter()
        theirs.copy_(mine)
        if self.device.type == "cuda":
            self.flush.sum()
        self.synchronize()
        begin = time.perf_counter()
        prepared = begin - written
        if late.numel():
            theirs.index_copy_(0, late, values)
        self.synchronize()
        side.ask({"op": "run", "slots": list(range(layout.slots))}, seconds)
        seen = outputs.index_select(0, sample)
        self.synchronize()
        took = time.perf_counter() - begin
        if late.numel():
            mine.index_copy_(0, late, values)
        if not torch.equal(theirs, mine):
            side.fail("rule_violation", f"{side.name} changes an input: work on a copy")
        if not torch.equal(outputs.index_select(0, sample), seen):
            side.fail("rule_violation", f"{side.name} went on writing outputs after it had returned them: join its streams")
        return took, prepared

    def redraw(self, side, case, seed):
        """Has a side's module, which was built from `seed`, take drawn values for its constant weights: the submission's if its names and
        shapes are those of the task's module, a baseline's if the submission's did."""
        if side.is_submission or case.get("drawn"):
            answer = side.ask({"op": "draw", "plan": case["weights"], "seed": seed}, ASK_SECONDS)
            if side.is_submission:
                self.was_drawn(case, answer)

    @staticmethod
    def was_drawn(case, answer):
        """Records the answer of the submission's stage to "draw"."""
        case["drawn"] = answer.get("drawn") is True
        case["undrawn"] = case.get("undrawn", False) or not case["drawn"]

    def drawn(self, case, seed, state):
        """Returns {name: tensor}: the constant weights of the module, which was made with `state`, as the task draws them; {}: they are not
        drawn for the submission."""
        if not case.get("drawn"):
            return {}
        return self.made(case, seed, "drawn", lambda: {
            name: tensor.to(self.device) for name, tensor in draw_constants(state, case["weights"], seed).items()})

    def expected(self, case, seed, slot=0, precision="float64", as_made=()):
        """Returns (the module's outputs for a slot's inputs, with weights from `seed`; the largest rms of an input or weight).

        `as_made`: names of constant weights that are not drawn.
        """
        import torch
        state = self.state(case, seed)
        state = {**state, **{name: tensor for name, tensor in self.drawn(case, seed, state).items() if name not in as_made}}
        inputs = [one["value"] if "value" in one else typed(self.truth, one).bool() if one["boolean"] else typed(self.truth, one)
                  for one in case["layout"].inputs[slot]]
        magnitude = max([value.double().square().mean().sqrt().item() for value in list(state.values()) + inputs
                         if torch.is_tensor(value) and value.is_floating_point() and value.numel()] or [0.0])
        with torch.device(self.device):
            model = self.made(case, seed, precision, lambda: bare_model(self.problem, case["sizes"], precision, self.device, state))
            results, _, _ = evaluate(self.problem, case["sizes"], model, inputs, state, precision)
        return results, magnitude

    def state(self, case, seed):
        """Returns the module's weights from `seed`, by name, on the device."""
        return self.made(case, seed, "state", lambda: {
            name: tensor.detach().to(self.device) for name, tensor in state_of(self.problem.build(case["sizes"], seed=seed)[0]).items()})

    def prepare(self, case, seed):
        """Makes weights that expected() needs, if they are kept. An error is reported there."""
        try:
            self.state(case, seed)
        except Exception as error:
            print(f"weights made early: {error}", file=sys.stderr)

    def made(self, case, seed, what, make):
        """Returns make(), the weights or a module for these sizes and this seed: an earlier one if it was kept.

        Nothing is kept for another seed, because a module may remember something that it has computed from its weights.
        """
        import torch
        key = (tuple(sorted(case["sizes"].items())), seed)
        if self.kept.get("key") != key:
            self.kept = {"key": key}
        if what in self.kept:
            return self.kept[what]
        result = make()
        tensors = result if isinstance(result, dict) else state_of(result)
        size = sum(one.numel() * one.element_size() for one in tensors.values())
        if size <= KEPT_BYTES or self.device.type == "cuda" and size <= torch.cuda.mem_get_info(self.device)[0] // KEPT_SHARE:
            self.kept[what] = result
        return result

    def right(self, case, seed, slot=0):
        """Returns what expected() does; an error of the module makes the task invalid."""
        try:
            return self.expected(case, seed, slot)
        except Refused:
            raise
        except Exception as error:
            raise Refused(explain(error, "the module")) from error

    def compare(self, case, seed, actual, results, magnitude, what, slot=0):
        """Returns (worst scaled error, rms error) of a submission's outputs. Raises the verdict if one is wrong.

        The task's tolerance was measured at sizes that a CPU computes quickly. At the file's sizes the module itself in float32 may err
        by more, where results cancel: then the tolerance is widened to the module's own error, and `case["widened"]` has the new one.
        """
        worst = precision = 0.0
        own = None
        for i, (name, mine, right) in enumerate(zip(self.job["outputs"], actual, results)):
            spec = case["outputs"][name]
            if spec["c_rms"] > LOOSE_RMS and right.is_floating_point() and name not in case.setdefault("measured", set()):
                case["measured"].add(name)
                own = own or self.in_float32(case, seed, slot)
                narrower = self.narrowed(own[i], right, spec, magnitude) if own else None
                if narrower is not None:
                    case.setdefault("narrowed", {})[name] = [narrower["c_max"], narrower["c_rms"]]
                    case["outputs"][name] = spec = narrower
            fault, scaled, rms = self.hold(mine, right, spec, magnitude)
            if fault:
                if own is None:
                    own = self.in_float32(case, seed, slot)
                wider = self.widened(own[i], right, spec, magnitude) if own else None
                if wider is None:
                    self.refuse(name, spec, fault, what, self.unread(case, seed, slot, i, mine, spec), accepted_by_kernelbench(mine, right))
                fault, scaled, rms = self.hold(mine, right, wider, magnitude)
                if fault:
                    self.refuse(name, wider, fault, what, self.unread(case, seed, slot, i, mine, wider), accepted_by_kernelbench(mine, right))
                case.setdefault("widened", {})[name] = [wider["c_max"], wider["c_rms"]]
                case["outputs"][name] = wider  # also for what is checked and timed later
            worst, precision = max(worst, scaled), max(precision, rms)
        if "allclose" not in case:  # of the first set of inputs: reading large results once more takes time
            case["allclose"] = all(accepted_by_kernelbench(mine, right) for mine, right in zip(actual, results))
        return worst, precision

    def unread(self, case, seed, slot, i, mine, spec):
        """Returns a clause that says which constant weights a submission seems not to use, by its wrong output number `i`; or nothing."""
        state = self.state(case, seed)
        names = list(self.drawn(case, seed, state))
        for some in [[name] for name in names[:MOST_SINGLED]] + ([names] if len(names) > 1 else []):
            try:
                results, magnitude = self.expected(case, seed, slot, as_made=some)
            except Exception as error:
                print(f"the module with {some} as made: {error}", file=sys.stderr)
                return ""
            if self.hold(mine, results[i], spec, magnitude)[0] is None:
                told = ", ".join(f"{name} {constant_of(state[name]):.6g}" for name in some[:MOST_SINGLED]) + (", …" if len(some) > MOST_SINGLED else "")
                return (f"; it is right for {told} everywhere, as the module is made: ModelNew does not use {'this weight' if len(some) == 1 else 'these weights'} in "
                        "forward, or uses what it computed from the first values in __init__")
        return ""

    def in_float32(self, case, seed, slot):
        """Returns the module's own outputs in float32; None: it fails in float32."""
        try:
            return self.expected(case, seed, slot, "float32")[0]
        except Exception as error:
            print(f"the module in float32: {error}", file=sys.stderr)
            return None

    def widened(self, own, right, spec, magnitude):
        """Returns the tolerance that the module's own output `own` needs, times ROOM; None: it is within the task's tolerance."""
        if not own.is_floating_point() or self.hold(own, right, spec, magnitude)[0] is None:
            return None
        open_spec = {**spec, "c_max": math.inf, "c_rms": math.inf, "c_small": 0}
        fault, scaled, rms = self.hold(own, right, open_spec, magnitude)
        if fault or not math.isfinite(scaled) or not math.isfinite(rms):
            return None
        if rms > CHANCE:
            raise Refused(f"the module itself in float32 differs from double precision by {rms:.2g} of its results' rms at these sizes: they are mostly "
                          "rounding errors, so that no verdict would mean anything; give sizes or inputs at which they are not")
        return {**spec, "c_max": max(spec["c_max"], ROOM * scaled), "c_rms": max(spec["c_rms"], ROOM * rms), "c_small": 0}

    def narrowed(self, own, right, spec, magnitude):
        """Returns a narrower tolerance for a loose one, by the module's own output `own` in float32; None: it cannot be narrower.

        A tolerance is loose if the module cancels at the small sizes at which it was measured, as a batch normalization of few pixels does.
        """
        fault, scaled, rms = self.hold(own, right, {**spec, "c_max": math.inf, "c_rms": math.inf, "c_small": 0}, magnitude)
        if fault or not math.isfinite(scaled) or not math.isfinite(rms):
            return None
        c_max, c_rms = max(LOOSE_MAX, NARROW * scaled), max(LOOSE_RMS, NARROW * rms)
        return {**spec, "c_max": min(spec["c_max"], c_max), "c_rms": min(spec["c_rms"], c_rms)} if c_max < spec["c_max"] or c_rms < spec["c_rms"] else None

    def hold(self, actual, expected, spec, magnitude, slack=1.0):
        """Compares one output, piece by piece along its first axis. Returns (what is wrong, or None; worst scaled error; rms error)."""
        import torch
        count = expected.numel()
        if count == 0:
            return None, 0.0, 0.0
        floating, axis = actual.is_floating_point(), spec["slice_axis"]
        if axis >= 0 and count // max(1, expected.shape[axis]) < FEW:
            axis = -1  # all slices share one scale: a slice of few elements may have only small numbers
        others = [i for i in range(expected.dim()) if i != axis]

        def squares(part):
            values = torch.where(part.isfinite(), part, 0).square()
            return values.sum(others, keepdim=True) if others and axis >= 0 else values if axis >= 0 else values.sum()

        whole = None  # rms of the whole tensor, or of each slice; None: slices are along the first axis, and each piece computes its own
        if floating and axis != 0:
            whole = (sum(squares(expected[place].double()) for _, place in pieces(expected)) / (count / (expected.shape[axis] if axis > 0 else 1))).sqrt()
        bad, first, worst, total, errors = 0, None, 0.0, 0.0, 0.0
        for begin, place in pieces(expected):
            wanted, given = expected[place].double(), actual[place].double()
            error = (given - wanted).abs()
            if not floating:
                wrong = error > spec["absolute"]
                worst = max(worst, error.max().item())
            else:
                unit = KINDS[spec["dtype"]]
                scale = whole if whole is not None else (squares(wanted) / (wanted.numel() / wanted.shape[0])).sqrt()
                floor = max(unit * magnitude, float(torch.finfo(getattr(torch, spec["dtype"])).tiny))
                small = scale * spec["small_floor"]
                scale = torch.maximum(wanted.abs(), scale.clamp(min=floor))
                # If the right number is larger than the dtype's largest, an infinity is right.
                beyond = wanted.abs() > float(torch.finfo(getattr(torch, spec["dtype"])).max) * (1 - unit)
                same = (given == wanted) | (given.isnan() & wanted.isnan()) | (beyond & given.isinf() & (given.sign() == wanted.sign()))
                scaled = torch.where(same, 0, error / scale)
                wrong = ~same & ~((scaled <= spec["c_max"] * slack) | (error <= spec["absolute"]))
                if spec["c_small"] > 0:
                    wrong |= ~same & ~((error <= spec["c_small"] * slack * torch.maximum(wanted.abs(), small.clamp(min=floor))) | (error <= spec["absolute"]))
                worst = max(worst, scaled.nan_to_num(nan=math.inf).max().item())
                finite = wanted.isfinite()
                total += torch.where(finite, wanted, 0).square().sum().item()
                errors += torch.where(same | ~finite, 0, error).square().sum().item()
            bad += int(wrong.sum().item())
            if first is None and bad:
                first = element(wanted, given, int(wrong.flatten().to(torch.uint8).argmax().item()), begin)
        rms = math.sqrt(errors / total) if total > 0 else 0.0
        if bad:
            return {**first, "wrong": bad, "total": count}, worst, rms
        if floating and rms > spec["c_rms"] * slack:
            return {"rms": rms, **furthest(actual, expected)}, worst, rms
        return None, worst, rms

    def remember(self, case, seed, results):
        """Records the range of the right results over all sets of inputs of a case, and weights that are the same number for all seeds."""
        if case.get("undrawn") and case.get("untold_seed") != seed:
            case["untold_seed"], before, state = seed, case.get("untold"), self.state(case, seed)
            now = {name: constant_of(tensor) for name, tensor in state.items() if case["weights"].get(name, {}).get("draw")}
            if before is None and any(value is not None and state[name].numel() == 1 for name, value in now.items()):
                # A single number is one number everywhere, even if it is drawn: weights of another seed tell.
                before = {name: constant_of(tensor) for name, tensor in state_of(self.problem.build(case["sizes"], seed=seed ^ 1)[0]).items()}
            case["untold"] = {name: value for name, value in now.items() if value is not None and (before is None or before.get(name) == value)}
        for name, result in zip(self.job["outputs"], results):
            if result.numel():
                low, high = (one.item() for one in torch_minmax(result))
                seen = case.setdefault("seen", {}).setdefault(name, [low, high, 0])
                case["seen"][name] = [min(low, seen[0]) if low == low else low, max(high, seen[1]) if high == high else high, seen[2] + result.numel()]

    def told_of(self, case):
        """Returns what the answer says of a case beside errors and times."""
        untold = {name: value for name, value in case.get("untold", {}).items() if math.isfinite(value)}
        return {"constant": self.constant(case), "constant_weights": untold, "widened": case.get("widened", {}), "narrowed": case.get("narrowed", {}),
                "hard_sets": case.get("hard", 0), "allclose": case.get("allclose")}

    @staticmethod
    def constant(case):
        """Returns {output: number} for outputs whose right elements were all this number: a submission that returns it is right too."""
        return {name: low for name, (low, high, count) in case.get("seen", {}).items() if low == high and count > 1}

    def refuse(self, name, spec, fault, what, reason="", allclose=False):
        """Raises the verdict for a wrong output. `fault`: from hold(). `reason`: from unread(). `allclose`: KernelBench's own check accepts the output."""
        allclose = f"; KernelBench's own check ({KERNELBENCH if spec['dtype'] not in ('float16', 'bfloat16') else KERNELBENCH_HALF:g}) accepts it" if allclose else ""
        if "rms" in fault:
            raise Verdict("wrong_output", f"{name} is less precise than {spec['dtype']} allows for {what}: rms error {fault['rms']:.3g} of the rms, "
                                          f"allowed {spec['c_rms']:.3g}; the furthest element is at {fault['index']}: expected {fault['expected']:.9g}, got "
                                          f"{fault['actual']:.9g}" + (reason or "; a lower precision than the task's was used somewhere, or a small constant, such "
                                                                      "as an eps, is missing or different, or a few inputs are left out") + allclose, None)
        text = {key: value if math.isfinite(value) else str(value) for key, value in (("expected", fault["expected"]), ("actual", fault["actual"]))}
        raise Verdict("wrong_output", f"{name} differs from the module in double precision for {what}: {fault['wrong']} of {fault['total']} "
                                      f"elements wrong, first at {fault['index']}: expected {fault['expected']:.9g}, got {fault['actual']:.9g}"
                                      + ("" if math.isfinite(fault["actual"]) else "; elements were never written, or hold NaN or Inf") + reason + allclose,
                      {"tensor": name, **fault, **text})

    def room(self, case, slots):
        """Returns a new layout for a case, and makes the memory `truth` for its inputs."""
        import torch
        case["layout"] = layout = Layout(self.job, case, slots)
        self.truth = None
        self.truth = torch.zeros(layout.input_bytes, dtype=torch.uint8, device=self.device)
        return layout

    def check(self, case, what):
        """Checks the submission at one case. Every trial draws inputs, and every second one weights too, so that results which a submission
        keeps from an earlier call are wrong."""
        worst = precision = 0.0
        layout = self.room(case, 1)
        self.submission.give(layout, self.device)
        for trial in range(self.job["trials"]):
            self.tell(f"check {what}")
            if trial % 2 == 0:
                seed = self.secret.getrandbits(31)
                self.submission.ask({"op": "build", "sizes": case["sizes"], "seed": seed}, BUILD_SECONDS)
                self.redraw(self.submission, case, seed)
            self.fill(case, layout)
            results, magnitude = self.right(case, seed)
            case["magnitude"] = max(case.get("magnitude", 0.0), magnitude)
            self.remember(case, seed, results)
            self.handover(self.submission, self.job["launch_seconds"] * (FIRST_CALL if trial % 2 == 0 else 1))
            scaled, rms = self.compare(case, seed, self.submission.result(0), results, magnitude, what)
            worst, precision = max(worst, scaled), max(precision, rms)
            del results
        for results, magnitude in self.hard_sets(case, layout, seed):
            self.handover(self.submission, self.job["launch_seconds"])
            self.compare_hard(case, self.submission.result(0), results, magnitude, what)
        return {"max_scaled_error": worst, "rms_error": precision, **self.told_of(case)}

    def compare_timed(self, case, baseline, seed, slots, what):
        """Compares the submission's results of its latest timing with a baseline's for the same inputs, for every call."""
        self.compare_slots(case, seed, range(slots), self.submission.result, baseline.result, baseline.name, what)

    def compare_slots(self, case, seed, slots, mine, theirs, name, what):
        """Compares the submission's results of these sets of inputs with those of the baseline called `name`. `mine` and `theirs` return the outputs
        for a set. Raises the verdict if the submission is wrong, and Unfit if the baseline is."""
        for slot in slots:
            for output, actual, right in zip(self.job["outputs"], mine(slot), theirs(slot)):
                spec = case["outputs"][output]
                # Both may err up to the tolerance. If they differ by more, double precision decides which of them is wrong.
                fault, _, _ = self.hold(actual, right, spec, case["magnitude"], slack=4.0)
                if fault:
                    exact, magnitude = self.right(case, seed, slot)
                    exact = dict(zip(self.job["outputs"], exact))[output]
                    fault, _, _ = self.hold(actual, exact, spec, magnitude)
                    if fault:
                        self.refuse(output, spec, fault, f"{what} (while it was timed)")
                    raise Unfit(f"{name} is not right by the task's tolerance")

    def make_ready(self, sides, case, layout, seed):
        """Gives sides memory for a layout, builds their modules again and warms them up. Returns the faster side's time in seconds."""
        for side in sides:
            side.give(layout, self.device)
            side.ask({"op": "build", "sizes": case["sizes"], "seed": seed}, BUILD_SECONDS)
            self.redraw(side, case, seed)
        for _ in range(3):  # warm-up, in which modules compile
            self.fill(case, layout)
            took = min(self.handover(side, self.job["launch_seconds"] * FIRST_CALL)[0] for side in sides)
        return took

    def time_against(self, case, baseline, what):
        """Times the submission and a baseline in interleaved quads, each half with new inputs, and compares the outputs of every timing.

        Returns the Timing.
        """
        import torch
        self.tell(f"time {what} against {baseline.name}")
        seed = self.secret.getrandbits(31)
        sides = (self.submission, baseline)
        layout = self.room(case, 1)
        once = self.make_ready(sides, case, layout, seed)
        free = torch.cuda.mem_get_info(self.device)[0] // 4
        slots = max(1, min(math.ceil(WINDOW_SECONDS / once), MOST_CALLS, min(MOST_BYTES, free) // layout.bytes))
        if slots > 1:
            layout = self.room(case, slots)
            self.make_ready(sides, case, layout, seed)
        timing = Timing(case, baseline, layout, seed)
        begin = time.monotonic()
        while timing.quads < MOST_QUADS and (timing.quads < LEAST_QUADS or time.monotonic() - begin < self.job["time_seconds"]):
            first = self.secret.random() < 0.5
            # Each half has inputs of its own, and its results are compared before the next half replaces them: what a side keeps from one timing is
            # wrong in the next, and no timing's results go unseen.
            for half in ((first, not first), (not first, first)):
                self.fill(case, layout)
                for is_mine in half:
                    side = sides[0] if is_mine else sides[1]
                    took, prepared = self.handover(side, self.job["launch_seconds"] * slots)
                    timing.took[is_mine].append(took)
                    timing.prepared[is_mine].append(prepared)
                self.compare_timed(case, baseline, seed, slots, what)
            if precise(timing.ratios()):
                break
        return timing

    def time_alone(self, timing):
        """Times a baseline when the submission's process has ended. Returns the medians of what handover() returns."""
        import torch
        case, side, layout = timing.case, timing.baseline, timing.layout
        self.tell(f"time {side.name} alone")
        case["layout"], self.truth = layout, None
        self.truth = torch.zeros(layout.input_bytes, dtype=torch.uint8, device=self.device)
        if side.layout is not layout:  # it has been given another case since
            self.make_ready([side], case, layout, timing.seed)
        took, prepared = [], []
        for turn in range(2 + ALONE_HANDOVERS):
            self.fill(case, layout)
            one, before = self.handover(side, self.job["launch_seconds"] * layout.slots)
            if turn >= 2:
                took.append(one)
                prepared.append(before)
        return middle(took), middle(prepared)

    def end_submission(self):
        """Has the submission's process ended, and gives back its memory."""
        self.frames.send({"end_submission": True})
        self.frames.receive(ASK_SECONDS)
        self.submission.memory.close()
        time.sleep(FREEING_SECONDS)

    def run(self, lifted):
        """Judges all cases and returns the answer."""
        import torch
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        if lifted is not None:
            return lifted.run(self)
        if self.device.type == "cuda":
            self.flush = torch.zeros(max(64 << 20, 4 * self.job.get("l2_bytes", 0)) // 4, device=self.device)
        self.tell("load the submission")
        for side in [self.submission, *self.baselines]:
            side.ask(load_request(self.job, side), 0, wait=False)
        self.submission.answer(LOAD_SECONDS, "load")
        ready, unfit = [], {}
        for side in self.baselines:
            try:
                side.answer(LOAD_SECONDS, "load")
                ready.append(side)
            except Unfit as error:
                unfit[side.name] = str(error)
        cases = []
        for case in self.job["cases"]:
            cases.append({**self.check(case, sizes_text(case)), "baselines": {}})
        timings = []
        for case, answer in zip(self.job["cases"], cases):
            what = sizes_text(case)
            for side in ready:
                try:
                    timings.append((answer["baselines"], self.time_against(case, side, what)))
                except Unfit as error:
                    answer["baselines"][side.name] = {"error": str(error)}
            for name, error in unfit.items():
                answer["baselines"][name] = {"error": error}
        if timings:
            self.end_submission()
        for answer, timing in reversed(timings):  # the latest case's modules are still built
            try:
                answer[timing.baseline.name] = timing.corrected(*self.time_alone(timing))
            except Unfit as error:
                answer[timing.baseline.name] = {"error": str(error)}
        return {"verdict": "ok", "detail": "", "cases": cases}


def middle(samples):
    return sorted(samples)[len(samples) // 2]


def summary(samples):
    """Returns the median and its 95 % confidence interval, from order statistics."""
    values = sorted(samples)
    half = 0.98 * math.sqrt(len(values))
    low, high = max(0, int(len(values) / 2 - half)), min(len(values) - 1, int(math.ceil(len(values) / 2 + half)))
    return {"median": values[len(values) // 2], "low": values[low], "high": values[high]}


def precise(ratios, least=LEAST_QUADS):
    """Returns whether enough quads were timed: `least` of them, and the interval of their ratios is narrow."""
    told = summary(ratios)
    return len(ratios) >= least and told["high"] - told["low"] <= PRECISE * told["median"]


def main():
    frames = Frames(3)
    job = frames.receive()
    secret, lifted, reason = random.Random(job["seed"]), None, None
    try:
        if job.get("lift"):
            lifted = LiftedRun(job, secret)
            try:
                with lifted.spent("start"):
                    lifted.begin()
            except (NoLift, Verdict) as error:
                reason = error
        if job["device"] != "cpu":
            wake_gpu(int(job["device"].rpartition(":")[2]))
        load_torch()
        if lifted is not None:
            lifted.spent.seconds["load"] = time.monotonic() - job.get("begun", time.monotonic())
        import torch
        if job["device"] != "cpu" and not torch.cuda.is_available():
            raise Refused(f"PyTorch {torch.__version__} (CUDA {torch.version.cuda}) sees no GPU: install a build for this driver's CUDA "
                          "version, or judge with --device sim")
    except Refused as refusal:  # neither the task nor the submission is at fault, but this machine
        frames.send({"failed": str(refusal)})
        return
    try:
        if job.get("threads"):
            torch.set_num_threads(job["threads"])
        torch.set_deterministic_debug_mode("default")
        if reason is not None:
            raise reason
        answer = Referee(job, frames, secret).run(lifted)
    except Verdict as verdict:
        answer = {"verdict": verdict.args[0], "detail": verdict.args[1], "mismatch": verdict.args[2]}
    except Refused as refusal:
        answer = {"verdict": "invalid_task", "detail": str(refusal)}
    except NoLift as reason:
        answer = {"not_lifted": str(reason)}
    except Gone:
        raise
    except Exception as error:
        import traceback
        traceback.print_exc()
        answer = {"failed": f"the referee failed: {type(error).__name__}: {first_line(error)}"}
    if lifted is not None:
        answer["seconds"] = {name: round(seconds, 3) for name, seconds in lifted.spent.seconds.items()}
    if "torch" in sys.modules:
        answer["torch"] = versions(job["device"] != "cpu")
    frames.send(answer)


try:
    main()
except Gone:
    os._exit(0)
