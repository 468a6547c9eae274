# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Says what each operator of a module costs at the file's sizes: bytes and flops from the shapes, and, if asked, measured times. Stands behind problem.py and
shapes.py in one script.

On PyTorch's meta device nothing is computed, so that only shapes are found. On a GPU or the CPU, operators are timed too: operator_times.py does that.
"""
import statistics
import time

VIEWS = {"detach", "view", "t", "transpose", "expand", "_unsafe_view", "reshape", "permute", "unsqueeze", "squeeze", "alias", "empty", "empty_like", "new_empty",
         "slice", "select", "split", "split_with_sizes", "unbind", "_reshape_alias", "as_strided", "chunk", "unfold", "diagonal", "empty_strided", "narrow"}
GATHERS = {"embedding", "index_select", "gather", "index", "take"}  # read of their first argument no more than they return
DRAWS = {"native_dropout", "bernoulli", "bernoulli_", "_fused_dropout"}
WINDOW = 128         # operators that are queued at once: the driver queues about a thousand launches and events
WARM_CALLS = 3       # calls of forward that are not kept: libraries load, and memory is reserved
LEAST_CALLS, MOST_CALLS = 3, 25  # calls of forward that are timed
MOST_WAIT_S = 0.1    # that the GPU waits at most for the host to queue a window's operators


class Changing(Exception):
    """Two calls of forward call different operators."""


def operator_watch(see):
    """Returns a mode in which each operator that does more than view a tensor is called by see(name, function, call); call() calls it."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, arguments=(), keywords=None):
            keywords = keywords or {}
            name = function.__name__.split(".")[0]
            if name in VIEWS:
                return function(*arguments, **keywords)
            return see(name, function, arguments, keywords)

    return Watch()


def size_of(*nests):
    """Returns the bytes of all tensors in nested lists, each tensor once."""
    import torch
    leaves = {id(one): one for one in torch.utils._pytree.tree_leaves(nests) if torch.is_tensor(one)}
    # An expanded tensor has fewer elements in memory than its shape says.
    return sum(min(one.numel() * one.element_size(), one.untyped_storage().nbytes()) for one in leaves.values())


def moved_by(name, made, arguments, keywords):
    """Returns the bytes that an operator reads and writes."""
    moved = size_of(made) + size_of(arguments, keywords)
    if name in GATHERS and arguments:
        moved -= max(0, size_of(arguments[0]) - size_of(made))
    return moved


def watched_calls(run):
    """Runs run() and returns ([(operator, bytes that it reads and writes, flops of a product or a convolution)], what run() returned), a call each, in order."""
    from torch.utils.flop_counter import flop_registry
    calls = []

    def see(name, function, arguments, keywords):
        made = function(*arguments, **keywords)
        counter_of = flop_registry.get(function._overloadpacket)
        calls.append((name, moved_by(name, made, arguments, keywords), counter_of(*arguments, **keywords, out_val=made) if counter_of else 0))
        return made

    with operator_watch(see):
        result = run()
    return calls, result


def added_up(calls):
    """Returns the calls of equal operators added up, in the order in which forward first calls them: [{"name", "calls", "bytes", "flops"}]."""
    found = {}
    for name, moved, flops in calls:
        one = found.setdefault(name, {"name": name, "calls": 0, "bytes": 0, "flops": 0})
        one["calls"] += 1
        one["bytes"] += moved
        one["flops"] += flops
    return list(found.values())


def costs_of(problem, sizes=None):
    """Returns {"operators": added_up(), "own": bytes of the module's inputs, weights and outputs}, from shapes; None: the meta device does not say.
    `sizes`: in place of the file's."""
    import torch
    try:
        with torch.device("meta"), torch.no_grad():
            cheap = CheapShapes("meta")
            with cheap:
                norm, torch.nn.functional.batch_norm = torch.nn.functional.batch_norm, cheap.norm  # it is an operator here, and costs something
                try:
                    model, names = problem.build({**problem.sizes, **(sizes or {})})
                    inputs = inputs_of(names)
                    calls, result = watched_calls(lambda: model(*inputs))
                finally:
                    torch.nn.functional.batch_norm = norm
        return {"operators": added_up(calls), "own": size_of(inputs, outputs_of(result), list(state_of(model).values()))}
    except Exception:  # an operator that looks at values
        return None


def summary_of(values):
    """Returns the median of times in microseconds and the ends of its 95 % interval, by ranks."""
    values = sorted(values)
    half = 0.98 * len(values) ** 0.5
    low, high = max(0, int(len(values) / 2 - half)), min(len(values) - 1, int(len(values) / 2 + half))
    return {"median": statistics.median(values), "low": values[low], "high": values[high]}


class CpuClock:
    """Times operators by the host's clock."""

    def __init__(self):
        self.marks = []

    def begin(self):
        """Begins a call of forward."""
        self.marks = []

    def mark(self):
        """Takes the time before an operator, or after it."""
        self.marks.append(time.perf_counter())

    def times(self):
        """Returns the times in microseconds from the first mark to the second, from the third to the fourth, and so on."""
        return [1e6 * (end - start) for start, end in zip(self.marks[::2], self.marks[1::2])]


class GpuClock:
    """Times operators by CUDA events, as CpuClock does by the host's clock.

    Before a window of operators the GPU waits until the host has queued all of them: otherwise it would run out of work between short operators, and
    the times would be those of the host.
    """

    def __init__(self, device):
        import torch
        self.cuda, self.device = torch.cuda, device
        self.events, self.used = [], 0
        self.window_s = 0.01  # that the host takes to queue a window
        self.queued_at = None

    def begin(self):
        self.finish_window()
        self.used = 0

    def mark(self):
        if self.used % (2 * WINDOW) == 0:
            self.finish_window()
            # The clock of no GPU is above 2.5 GHz. The constants of one cycle are not known here, so that the wait is rather too long.
            self.cuda._sleep(int(2.5e9 * min(MOST_WAIT_S, 1.5 * self.window_s)))
            self.queued_at = time.perf_counter()
        if self.used == len(self.events):
            self.events.append(self.cuda.Event(enable_timing=True))
        self.events[self.used].record()
        self.used += 1

    def finish_window(self):
        if self.queued_at is not None:
            self.window_s = time.perf_counter() - self.queued_at
            self.queued_at = None
        self.cuda.synchronize()

    def times(self):
        self.finish_window()
        return [1e3 * start.elapsed_time(end) for start, end in zip(self.events[:self.used:2], self.events[1:self.used:2])]


def timed_calls(run, names, clock, seconds):
    """Returns [[microseconds of each operator's call, in order] for each call of run()], whose operators are `names`. Stops after `seconds`, but not before
    LEAST_CALLS calls. `clock`: one of the two above."""
    rows, began = [], time.perf_counter()
    while len(rows) < LEAST_CALLS or len(rows) < MOST_CALLS and time.perf_counter() - began < seconds:
        seen = []

        def see(name, function, arguments, keywords):
            clock.mark()
            made = function(*arguments, **keywords)
            clock.mark()
            seen.append(name)
            return made

        clock.begin()
        with operator_watch(see):
            run()
        rows.append(clock.times())
        if seen != names:
            raise Changing("forward calls other operators each time")
    return rows


def whole_calls(run, clock, count):
    """Returns the microseconds of `count` calls of run(), each as a whole."""
    times = []
    for _ in range(count):
        clock.begin()
        clock.mark()
        run()
        clock.mark()
        times += clock.times()
    return times
