# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds out what a task must state about a PyTorch problem. Stands behind problem.py, shapes.py, costs.py, seed.py, reduce_seed.py, image_seed.py,
definition.py and gpumode.py in one script.

Reads one JSON object on standard input: {"file", "class", "training", "or_eval" (use eval mode if training mode drops elements at
random), "fixed": [names], "seed", "threads"}, and one of:
* "text" and "sizes" of a problem file, and "more_inputs", the names of the inputs that --input adds to it, if there are any;
* "module", "folder" and "added" of a class in another module; "added" is the text that it lacks to be a problem;
* "definition", "workloads" and what else definition.py reads;
* "board": {"name", "folder"} of a folder in GPU MODE's format.
Writes one line on standard output, "hone: " and a JSON object: {"error": sentence}, or the fields at the end of `describe`.
"""
import inspect
import random

SMALL_ELEMENTS = 60_000    # limits for a case that a simulated GPU runs: elements of all tensors, and operations
SMALL_FLOPS = 1_500_000
TRIAL_ELEMENTS = 500_000  # limits for the sizes at which precisions are compared
TRIAL_FLOPS = 100_000_000
MANY = 256                  # a tensor with fewer numbers does not show by itself how it is drawn
LEAST_GAP = 4.0            # least ratio of dishonest to honest errors, as `hone tasks check` requires
STATISTIC_ROOM = 32.0      # least c_rms of a buffer in roundoffs: kernels add its terms in another order, and outputs show what shorter types they multiply in
HONEST_ROOM = 4.0          # factor on PyTorch's own error: a kernel may sum in one long row, PyTorch sums in lanes and blocks
LARGEST_C_MAX = 0.02
UNCERTAIN = 3e-4           # least sizes are raised if the module in float32 has a larger error there, with an amplification of
BESIDE_ORDINARY = 8.0      # rounding errors: so many times its error at large sizes
DRAWS, FEW_DRAWS = 16, 3   # sets of inputs with which errors at small, and at larger sizes are found: large errors may be rare
STEADY_LIMITS = ((4_000_000, 1_000_000_000), (16_000_000, 4_000_000_000))  # elements and operations with which special values are tried; with the second pair if an error is too large at the first
CERTAIN_ELEMENTS = 4_000_000     # limits for a case of raised sizes
CERTAIN_FLOPS = 4_000_000_000
FEW_ELEMENTS = 16          # in a slice with this few elements, all may be near zero
ABS_ROOM = 12.0            # factor on the error of results that cancel, as the linter's, for kernels that sum in another order
MOST_CANCELLED = 1e-3      # a larger error, as a share of the output's rms, is not a rounding error
ACCURATE = 2.0 ** -16      # float32 results whose errors are below this share of themselves, however small they are, do not cancel
UNDERFLOW = 2.0 ** -100    # smaller float32 results may come of numbers that are subnormal, or too small or too large for float32
C_SMALL = 0.1              # refuses kernels that leave small results out, whatever honest arithmetic they use
SORTS = 10                 # sorts of special values, of which each row has one
MOST_FORGIVEN = 0.25       # `abs` for stress values is at most this share of what c_max forgives in a result of ordinary size
DTYPES = {"torch.float64": "float64", "torch.float32": "float32", "torch.float16": "float16", "torch.bfloat16": "bfloat16",
          "torch.float8_e4m3fn": "float8_e4m3fn", "torch.float8_e5m2": "float8_e5m2",
          "torch.int64": "int64", "torch.int32": "int32", "torch.int16": "int16", "torch.int8": "int8", "torch.uint8": "uint8",
          "torch.bool": "uint8"}  # a boolean is a byte of 0 or 1 in a task
ROUNDOFF = {"float64": 2.0 ** -53, "float32": 2.0 ** -24, "float16": 2.0 ** -11, "bfloat16": 2.0 ** -8,
            "float8_e4m3fn": 2.0 ** -4, "float8_e5m2": 2.0 ** -3}


class Drops(Refused):
    """The module drops elements at random in training mode (dropout), and would not in eval mode."""


def tell(answer):
    """Writes the answer."""
    print("hone: " + json.dumps(answer), flush=True)


def dtype_name(dtype, what):
    """Returns the task's name of a PyTorch dtype. `what` has it, for the error."""
    name = DTYPES.get(str(dtype))
    if name is None:
        raise Refused(f"{what} is {str(dtype).replace('torch.', '')}, which tasks do not hold: use one of "
                      f"{', '.join(dict.fromkeys(DTYPES.values()))} or bool")
    return name


def flops_at(shapes, sizes):
    """Returns the number of floating-point operations of forward's matrix products at these sizes; 0: it cannot be found."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    try:
        with torch.device(shapes.device), torch.no_grad(), CheapShapes(shapes.device):
            model, names = shapes.problem.build({**shapes.problem.sizes, **sizes})
            inputs = inputs_of(names)
            with FlopCounterMode(display=False) as counted:
                model(*inputs)
        return counted.get_total_flops()
    except Exception:
        return 0


def counts_of(extents):
    """Returns the number of elements of each tensor that has axes. `extents`: of each axis, as works() returns them."""
    counts = {}
    for key, size in extents.items():
        counts[key[:2]] = counts.get(key[:2], 1) * size
    return counts


def elements_at(shapes, base, sizes):
    """Returns the number of elements of all tensors at these sizes; None: the problem does not work there."""
    extents = works(shapes, base, sizes)
    return None if extents is None else sum(counts_of(extents).values())


class Ranges:
    """The range of sizes for small cases. `low`: the least sizes that work; `high`: the largest of a case that is still small."""

    def __init__(self, shapes, base, dims):
        self.shapes, self.base, self.dims = shapes, base, dims
        self.low = self.least()
        self.high = self.most(*self.small(SMALL_ELEMENTS, SMALL_FLOPS), 256)

    def small(self, elements, flops, raised=False):
        """Returns the limits for a small case. If no case is within them, a multiple of the least one: a definition fixes large sizes, or
        the least sizes were `raised`."""
        if not raised and not isinstance(self.shapes, DeclaredShapes):
            return elements, flops
        least = elements_at(self.shapes, self.base, self.low)
        return max(elements, 2 * (least or 0)), max(flops, 4 * flops_at(self.shapes, self.low))

    def corners(self, low):
        """Returns shapes that bound what the judge may draw: the least one, and each dimension at its least with the others at their largest."""
        high = {name: max(low[name], self.high[name]) for name in low}
        found = []
        for one in [low, *({**high, name: low[name]} for name in low)]:
            if one not in found and works(self.shapes, self.base, one) is not None:
                found.append(one)
        return found

    def twice(self, sizes):
        """Returns twice these sizes, or the file's where those are smaller; None: these are the file's, or the case would be too large."""
        larger = {name: min(max(dim["size"] // dim["multiple"] * dim["multiple"], sizes[name]), 2 * sizes[name]) for name, dim in self.dims.items()}
        return larger if larger != sizes and self.fits(larger, CERTAIN_ELEMENTS, CERTAIN_FLOPS) else None

    def raise_least(self, error_of):
        """Raises the least sizes if the module's results in float32 are uncertain there; returns the error of before, or None if nothing changed.

        An example is a batch normalization of two numbers: it divides their difference by its own size, and rounding errors of the
        layers before grow without limit. `error_of(sizes)` returns the largest scaled error of the results in float32."""
        known = {}

        def error_from(low):
            corners = [(tuple(one.items()), one) for one in self.corners(low)]
            known.update({key: error_of(one) for key, one in corners if key not in known})
            return max(known[key] for key, _ in corners)

        first = error_from(self.low)
        if not first > UNCERTAIN:
            return None
        at = large = dict(self.low)
        while (larger := self.twice(large)) is not None:
            large = larger
        # Raised sizes leave some room below what is uncertain, unless the module's ordinary error has none.
        enough = max(UNCERTAIN / BESIDE_ORDINARY, BESIDE_ORDINARY * error_of(large))
        while at is not None and not error_from(at) <= enough:
            at = self.twice(at)
        if at is None or at == self.low:
            return None  # the module is uncertain everywhere: its tolerance has to say so
        for name in self.dims:  # sizes that had no part in it become small again
            least = {**at, name: self.low[name]}
            if works(self.shapes, self.base, least) is not None and error_from(least) <= enough:
                at = least
        self.low = at
        self.high = self.most(*self.small(SMALL_ELEMENTS, SMALL_FLOPS, raised=True), 256)
        return first

    def least(self):
        """Returns the least sizes that work, found by reducing one dimension after the other from the file's sizes."""
        low = {name: dim.get("from", dim["size"]) for name, dim in self.dims.items()}
        for _ in range(2):  # a dimension may become reducible once another one is reduced
            for name, dim in self.dims.items():
                unit = dim["multiple"]
                for count in (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 16, 24, 32, 48, 64, 96, 128):
                    if unit * count >= low[name]:
                        break
                    if works(self.shapes, self.base, {**low, name: unit * count}) is not None:
                        low[name] = unit * count
                        break
        return low

    def fits(self, sizes, elements, flops):
        """Returns whether the problem works at these sizes within the limits."""
        count = elements_at(self.shapes, self.base, sizes)
        return count is not None and count <= elements and flops_at(self.shapes, sizes) <= flops

    def most(self, elements, flops, start, growth=2):
        """Returns sizes that grow in turn from the least ones, as long as the whole case stays within the limits."""
        at = dict(self.low)
        growing, grew = set(at), True
        while grew:
            grew = False
            for name in sorted(growing, key=lambda one: (at[one], one)):
                unit, limit = self.dims[name]["multiple"], min(self.dims[name]["size"], start)
                limit = max(limit // unit * unit, self.low[name])
                larger = min(limit, max(at[name] + unit, at[name] * growth // unit * unit))
                if larger > at[name] and works(self.shapes, self.base, {**at, name: larger}) is None:
                    continue  # a kernel may grow once its image has
                if larger <= at[name] or not self.fits({**at, name: larger}, elements, flops):
                    growing.discard(name)
                else:
                    at[name], grew = larger, True
        return at

    def odd(self, share):
        """Returns sizes between the least (share 0) and the largest (share 1): odd multiples, where possible."""
        found = {}
        for name, dim in self.dims.items():
            unit = dim["multiple"]
            count = int((self.low[name] + share * (self.high[name] - self.low[name])) / unit) | 1
            found[name] = min(max(count * unit, self.low[name]), max(self.high[name], self.low[name]))
        return found


    def alone(self):
        """Returns the dimensions whose sizes may be drawn independently. The others, of which some combinations fail, keep their largest."""
        drawn = random.Random(7)
        free = {name for name in self.dims if self.low[name] < self.high[name]}

        # A size that is too small for the others' largest (an image for its kernel) keeps its largest.
        for name in sorted(free):
            if works(self.shapes, self.base, {**self.high, name: self.low[name]}) is None:
                free.discard(name)

        def fails(names):
            if any(works(self.shapes, self.base, {**self.high, **{one: self.low[one] for one in names if one != name}}) is None for name in names):
                return True
            for _ in range(8):
                at = {name: self.high[name] for name in self.dims}
                for name in names:
                    unit = self.dims[name]["multiple"]
                    at[name] = drawn.randint(-(-self.low[name] // unit), self.high[name] // unit) * unit
                if works(self.shapes, self.base, at) is None:
                    return True
            return False

        while free and fails(free):
            free.discard(sorted(free)[-1])
        return free


def rounded(number):
    """Returns the number with three digits: a sample gives no more."""
    return float(f"{number:.3g}")


def nice(number, width):
    """Returns a round number that an author may have written, if the sample's number is close to one, compared with the range's width."""
    for step in (1.0, 0.5, 0.25, 0.1):
        near = round(number / step) * step
        if abs(near - number) <= 0.02 * max(abs(number), min(step, width)):
            return float(f"{near:.6g}")
    return rounded(number)


def spread(tensor):
    """Returns range, mean, standard deviation and fourth standardized moment of a tensor's finite numbers; all 0 if there is none."""
    import torch
    flat = tensor.detach().double().flatten()
    if flat.numel() > 1 << 20:
        flat = flat[:: flat.numel() // (1 << 20)]
    # Memory that a problem leaves to its reference to fill may hold anything, NaN included.
    flat = flat[torch.isfinite(flat)]
    if flat.numel() == 0:
        return {"low": 0.0, "high": 0.0, "mean": 0.0, "deviation": 0.0, "fourth": 0.0, "count": 0}
    mean = flat.mean().item()
    deviation = flat.std(unbiased=False).item() if flat.numel() > 1 else 0.0
    fourth = ((flat - mean) ** 4).mean().item() / deviation ** 4 if deviation > 0 else 0.0
    return {"low": flat.min().item(), "high": flat.max().item(), "mean": mean, "deviation": deviation, "fourth": fourth,
            "count": flat.numel()}


def is_mask(tensor):
    """Returns whether a tensor holds truth values: booleans, or whole numbers 0 and 1 in parts that are not near a half."""
    import torch
    if tensor.dtype == torch.bool:
        return tensor.numel() > 0
    if tensor.is_floating_point() or tensor.numel() < 16 or tensor.min() < 0 or tensor.max() != 1:
        return False
    return abs(tensor.double().mean().item() - 0.5) > 0.1


def mask_values(tensor, slice_axis, infinite, again):
    """Returns how the judge draws a mask like `tensor`, and a sentence if the two differ.

    The share of ones is the tensor's. A line (the elements along one axis) that holds one value alone may have no right answer, such
    as the softmax of a row of which a mask leaves nothing. If the tensor has no such line, the judge draws none: `infinite(mask)`,
    whether the module's results with this mask have more NaN and infinities than with the tensor, says which value each line must hold
    along which axis. If the module does not mind, it is the value that most elements have, along the last axis. `slice_axis`: an axis
    along which outputs are independent; -1: none. `again`: the mask that get_inputs gives at another seed, or None.
    """
    mask = tensor != 0
    share, count, notes = mask.double().mean().item(), mask.numel(), []
    near = round(20 * share) / 20
    close = abs(near - share) <= 3 * math.sqrt(share * (1 - share) / count) and 0 < near < 1
    ones = near if close else min(max(rounded(share), 0.01), 0.99)
    most = ones >= 0.5
    if share in (0.0, 1.0):
        ones = 0.125 if share == 0.0 else 0.875
        notes.append(f"its elements are all {(tensor.flatten()[0]).item()}; one in eight is drawn as the other value, for otherwise a kernel could leave "
                     "the mask out")
    elif again is not None and bool((tensor == again).all()):
        notes.append("its values are the same in every call; the judge draws others with the same share, so a kernel may not rely on the pattern")
    values = {"distribution": "index", "bound": "2", "ones": ones}
    places = [(value, axis) for value in (most, not most) for axis in reversed(range(mask.dim())) if axis != slice_axis and mask.shape[axis] > 1]
    whole = [(value, axis) for value, axis in places if bool((mask == value).any(axis).all())]

    def needed(value, axis):
        changed = mask.clone()
        changed[tuple(slice(None) if one == axis else 0 for one in range(mask.dim()))] = not value
        return infinite(changed.to(tensor.dtype))

    held = next((one for one in whole if needed(*one)), None)
    if held is None:
        held = next((one for one in places if one[0] == most), None)
        held = held if held in whole else None
    if held is not None:
        values.update({"some": int(held[0]), "along": held[1]})
    return values, "; ".join(notes)


def input_values(tensor, bounds, dims, sizes):
    """Returns how the judge draws an input like that of get_inputs, and a sentence if the two differ."""
    import torch
    if not tensor.is_floating_point():
        high = bounds.get(tensor.data_ptr())
        low, bound = (high if high else (0, int(tensor.max().item()) + 1 if tensor.numel() else 1))
        text = str(bound)
        for name in dims:
            if sizes[name] == bound:
                text = name
        note = "" if low >= 0 else "its values may be negative, and are drawn from 0"
        return {"distribution": "index", "bound": text}, note
    told = spread(tensor)
    if told["count"] < 16 or told["deviation"] == 0:
        return {"distribution": "normal"}, "too few or equal values to tell how it is drawn: standard normal"
    # The fourth standardized moment of a uniform distribution is 1.8, and that of a normal distribution 3.
    if 1.5 < told["fourth"] < 2.1:
        room = (told["high"] - told["low"]) / max(8, told["count"])
        return {"distribution": "uniform", "low": nice(told["low"] - room, told["high"] - told["low"]),
                "high": nice(told["high"] + room, told["high"] - told["low"])}, ""
    if 2.4 < told["fourth"] < 3.8:
        mean = told["mean"] if abs(told["mean"]) > 0.1 * told["deviation"] else 0.0
        return {"distribution": "normal", "scale": nice(told["deviation"], 0.0), "offset": nice(mean, told["deviation"])}, ""
    return ({"distribution": "normal", "scale": rounded(told["deviation"]), "offset": rounded(told["mean"])},
            "neither uniform nor normal: drawn as a normal distribution of its mean and spread")


def constant(tensor):
    """Returns whether all elements are equal."""
    return bool((tensor == tensor.flatten()[0]).all())


def is_variance(name, tensor):
    """Returns whether a buffer is a running variance, which must be positive."""
    return "var" in name.split(".")[-1] and bool((tensor > 0).all())


def state_values(name, tensor, fans):
    """Returns how the judge draws a weight: as the module's initialisers do, but never as a constant, which a kernel could ignore."""
    if not tensor.is_floating_point():
        return {"distribution": "index", "bound": str(max(1, int(tensor.max().item()) + 1 if tensor.numel() else 1))}
    told = spread(tensor)
    if is_variance(name, tensor):
        return {"distribution": "uniform", "low": 0.5, "high": 1.5}
    if told["deviation"] <= 1e-12 * max(1.0, abs(told["mean"])):
        return {"distribution": "normal", "scale": 0.25, "offset": rounded(told["mean"])}
    if told["count"] >= 8 and told["fourth"] < 2.3 and abs(told["mean"]) < 0.3 * told["deviation"] + 1e-12:
        bound = max(abs(told["low"]), abs(told["high"]))
        bound = max(bound, told["deviation"] * math.sqrt(3)) if told["count"] < 64 else bound
        # Linear layers and convolutions draw from +- 1 / sqrt(fan in).
        for text, fan in fans:
            if abs(bound * math.sqrt(fan) - 1) < (0.03 if told["count"] >= 256 else 0.25):
                return {"distribution": "uniform", "low": f"-1 / sqrt({text})", "high": f"1 / sqrt({text})"}
        return {"distribution": "uniform", "low": -rounded(bound), "high": rounded(bound)}
    mean = told["mean"] if abs(told["mean"]) > 0.1 * told["deviation"] else 0.0
    return {"distribution": "normal", "scale": rounded(told["deviation"]), "offset": rounded(mean)}


class RandintBounds:
    """A context that records the range from which each call of torch.randint drew. `bounds`: {address of the result: (low, high)}."""

    def __enter__(self):
        import torch
        self.plain, self.bounds = torch.randint, {}

        def randint(*arguments, **keywords):
            drawn = self.plain(*arguments, **keywords)
            numbers = [one for one in arguments if isinstance(one, int)]
            low = keywords.get("low", numbers[0] if len(numbers) > 1 else 0)
            high = keywords.get("high", numbers[-1] if numbers else None)
            if high is not None and torch.is_tensor(drawn):
                self.bounds[drawn.data_ptr()] = (low, high)
            return drawn

        torch.randint = randint
        return self

    def __exit__(self, *_):
        import torch
        torch.randint = self.plain


class Trial:
    """The problem at sizes at which it is cheap to run, with inputs and weights as the file draws them. `drawn`: with `collect`, each
    weight's numbers in one or more instances."""

    def __init__(self, problem, sizes, seed, collect):
        import torch
        self.problem, self.sizes = problem, sizes
        torch.manual_seed(seed)
        self.model, names = problem.build(sizes)
        with RandintBounds() as drawn:
            self.inputs = inputs_of(names)
        self.bounds = drawn.bounds
        self.again = [None] * len(self.inputs)  # the inputs of another call, if one of them is a mask
        if any(torch.is_tensor(one) and is_mask(one) for one in self.inputs):
            torch.manual_seed(seed + 1)
            self.again = inputs_of(names)
        self.all_state = {name: tensor.detach().clone() for name, tensor in state_of(self.model).items()}
        for name, tensor in self.all_state.items():  # constants are replaced: the judge draws no constant weights
            if tensor.is_floating_point() and tensor.numel() > 0 and constant(tensor) and not counter(name, tensor):
                drawn = torch.rand(tensor.shape) + 0.5 if is_variance(name, tensor) else tensor + 0.25 * torch.randn(tensor.shape)
                self.all_state[name] = drawn.to(tensor.dtype)
        self.state = {name: tensor for name, tensor in self.all_state.items() if not counter(name, tensor)}
        # A small tensor does not show how it is drawn: collects those of more instances, which may be large. A tensor of equal numbers is
        # set to a constant, and other instances would show nothing else.
        self.drawn = {name: [tensor.detach()] for name, tensor in state_of(self.model).items() if name in self.state}
        small = [name for name, (tensor,) in self.drawn.items() if tensor.numel() == 1 or 1 < tensor.numel() < MANY and not constant(tensor)]
        for again in range(1, 16 if collect and small else 1):
            torch.manual_seed(seed + again)
            other = state_of(problem.build(sizes)[0])
            for name in small:
                self.drawn[name].append(other[name].detach())
            small = [name for name in small if sum(one.numel() for one in self.drawn[name]) < MANY]
            if not small:
                break
        self.models = {}

    def run(self, precision="float64", inputs=None, model=None, state=None):
        """Evaluates the problem in this precision: (outputs, state afterwards, inputs afterwards). `state`: {name: tensor}, in place of
        what the trial has."""
        if model is None:
            if precision not in self.models:
                self.models[precision] = model_for(self.problem, self.sizes, precision)
            model = self.models[precision]
        return evaluate(self.problem, self.sizes, model, self.inputs if inputs is None else inputs,
                        {**self.all_state, **(state or {})}, precision)


def same(left, right):
    """Returns whether two lists of tensors are equal, with NaN equal to NaN."""
    import torch
    return len(left) == len(right) and all(a.shape == b.shape and torch.equal(torch.nan_to_num(a), torch.nan_to_num(b))
                                           for a, b in zip(left, right))


def arguments_of(model):
    """Returns the names of the arguments that the module's forward takes by position."""
    return [name for name, one in inspect.signature(model.forward).parameters.items() if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]


def drawn_shapes(trial):
    """Returns the shapes of the tensors that forward draws at random, as texts over the file's sizes."""
    import torch
    from torch.overrides import TorchFunctionMode
    shapes = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, function, kinds, arguments=(), keywords=None):
            made = function(*arguments, **(keywords or {}))
            if getattr(function, "__name__", "") in ("randn", "rand", "randn_like", "rand_like", "normal"):
                shapes.append(made.shape)
            return made

    with Watch(), torch.no_grad():
        trial.model(*[one.clone() if torch.is_tensor(one) else one for one in trial.inputs])
    names = {size: name for name, size in reversed(trial.sizes.items()) if size > 1}
    return [",".join(names.get(extent, str(extent)) for extent in shape) for shape in shapes]


def check_more_inputs(problem, more):
    """Refuses names in `more`, given with --input, that are not those of the arguments of forward that follow what get_inputs() of the file gives."""
    import torch
    try:
        with torch.device("meta"):
            model, file = problem.build(problem.sizes)
            names, given = arguments_of(model), len(inputs_of(file)) - len(more)
    except Exception:
        return  # whoever builds it next explains the error
    for name, taken in zip(more, names[given:] + [None] * len(more)):
        if name != taken:
            raise Refused(f"--input {name}: " + (f"forward takes {taken} there" if taken else "forward takes no more arguments") +
                          f", for get_inputs() gives {', '.join(names[:given]) or 'nothing'}: " + ("name the arguments that follow in their order" if taken else "leave it out"))


def check_repeats(trial):
    """Refuses modules that no kernel can reproduce: they draw random numbers, or keep state outside of parameters and buffers."""
    import torch
    model = trial.model
    state = {name: tensor.clone() for name, tensor in trial.all_state.items()}

    def run(one, seed):
        torch.manual_seed(seed)
        with torch.no_grad():
            taken = [t.clone() if torch.is_tensor(t) else t for t in trial.inputs]
            given = {name: tensor.clone() for name, tensor in state.items()}
            return outputs_of(torch.func.functional_call(one, given, tuple(taken)))

    first, second = run(model, 1), run(model, 2)
    if [tuple(one.shape) for one in first] != [tuple(one.shape) for one in second]:
        raise Refused("the shapes of forward's outputs differ between two calls: they depend on data or on chance; return "
                      "tensors whose shapes follow from the inputs' shapes")
    if not same(first, second):
        dropout = any(isinstance(one, torch.nn.modules.dropout._DropoutNd) and one.p > 0
                      or isinstance(one, torch.nn.RNNBase) and one.dropout > 0 for one in model.modules())
        if dropout and trial.problem.training:
            raise Drops("forward drops elements at random (dropout is active, for the module is in training mode): bring it "
                        "in with --eval, or set p = 0")
        left, shapes = arguments_of(model)[len(trial.inputs):], drawn_shapes(trial)
        if 0 < len(left) == len(shapes):
            raise Refused(f"forward draws {' and '.join(left)} at random where it is not given them, so its answer is not a function of its inputs: give "
                          "them, as in " + " ".join(f"--input '{name}=float32[{shape}]'" for name, shape in zip(left, shapes)))
        raise Refused("forward draws random numbers or reads what changes from call to call (a count, the time), so its answer is not a function "
                      "of its inputs: pass them in as an input")
    torch.manual_seed(3)
    other, _ = trial.problem.build(trial.sizes)
    if not same(first, run(other, 1)):
        raise Refused("two instances with the same parameters and buffers give different answers: the module keeps numbers drawn "
                      "at random (or the host's state) in plain attributes; register them with register_buffer")


def check_declared(trial, names, base):
    """Refuses a reference whose results differ in number, shape or dtype from the outputs of its definition."""
    import torch
    torch.manual_seed(1)
    with torch.no_grad():
        made = outputs_of(trial.model(*[one.clone() if torch.is_tensor(one) else one for one in trial.inputs]))
    if len(made) != len(names):
        raise Refused(f"run of {trial.problem.file} returns {len(made)} tensors, and the definition has {len(names)} outputs "
                      f"({', '.join(names)}): let them agree")
    _, outputs = trial.problem.run_file(trial.sizes)["get_shapes"]()
    for i, (one, name) in enumerate(zip(made, names)):
        if list(one.shape) != outputs[i][1]:
            raise Refused(f"run of {trial.problem.file} gives {name} the shape {list(one.shape)}, and the definition says {outputs[i][1]} there: "
                          "let them agree")
        if str(one.dtype) != base[1][("out", i)][1]:
            raise Refused(f"run of {trial.problem.file} gives {name} as {str(one.dtype).replace('torch.', '')}, and the definition says "
                          f"{outputs[i][0]}: let them agree")


def at_timed_sizes(defined, problem, shapes, dims, expressions, fixed, notes):
    """Returns (dims, expressions, shapes) of a board's problem at its benchmarks' sizes. Shapes were found at small sizes."""
    largest = {name: problem.written[name] for name in defined["small"]}
    base = shapes.at({})
    settings = [name for name in largest if name not in dims
                and all(works(shapes, base, {name: one}) == base[0] for one in {*defined["values"][name], 2 * problem.sizes[name]})]
    rigid = [name for name in largest if name not in dims and name not in settings]
    for name in settings + rigid:  # the problem's text has their number in the largest benchmark
        del problem.sizes[name]
    if rigid:  # the multiples of the other sizes cannot be found by trying: uses what all cases have in common
        shapes = Shapes(problem, shapes.device)
        dims, expressions = find_dimensions(shapes, fixed, notes, defined["multiples"])
    kept = []
    for case in defined["timed"]:
        sizes = {name: case[name] for name in dims}
        if all(case[name] == largest[name] for name in rigid) and sizes not in kept and sizes != {name: largest[name] for name in dims}:
            kept.append(sizes)
    left = sum(any(case[name] != largest[name] for name in rigid) for case in defined["timed"])
    if left:
        notes.append(f"{left} benchmarks are left out, for they have other numbers than " + ", ".join(f"{name} = {largest[name]}" for name in rigid))
    if settings:
        notes.append(f"no shape follows from {', '.join(settings)}: what the values of the inputs owe to it is not drawn")
    defined["timed"] = kept
    for name, dim in dims.items():
        common = min(defined["multiples"][name], MOST_MULTIPLE if rigid else USUAL_MULTIPLE)
        if common > 1 and dim["multiple"] % common:
            notes.append(f"{name} is a multiple of {common} in every case of the problem, and so in hidden ones")
        dim["multiple"] = math.lcm(dim["multiple"], common)
        dim["from"], dim["size"] = dim["size"], largest[name]
    return dims, expressions, shapes


def check_accepted(problem, trial, outputs, kinds, notes):
    """Runs the board's own check on the answer that the judge will compare kernels with, and notes it if the check refuses it."""
    import torch
    rounded_outputs = [one.to(getattr(torch, kinds[i].replace("torch.", ""))) for i, one in enumerate(outputs)]
    try:
        torch.manual_seed(1)
        accepted, told = problem.run_file(trial.sizes)["accepts"](trial.inputs, rounded_outputs)
    except Exception as error:
        notes.append(f"the problem's own check could not be asked on the CPU ({type(error).__name__}: {first_line(error)})")
        return
    if not accepted:
        notes.append(f"the problem's own check refuses the answer computed in double precision ({told.strip()[:200]}): its bound is narrower than "
                     "the rounding of its reference, and a kernel that is right here may fail there")


def scaled_errors(result, reference, floor):
    """Returns (worst scaled error, rms error divided by the rms) of a whole tensor, as the judge computes them."""
    import torch
    result, reference = result.double(), reference.double()
    kept = torch.isfinite(reference)
    if not bool(kept.all()):
        result, reference = result[kept], reference[kept]
    if reference.numel() == 0:
        return 0.0, 0.0
    if not bool(torch.isfinite(result).all()):
        return math.inf, math.inf
    rms = reference.square().mean().sqrt().item()
    error = (result - reference).abs()
    worst = (error / torch.clamp(reference.abs(), min=max(rms, floor, 1e-300))).max().item()
    return worst, error.square().mean().sqrt().item() / max(rms, 1e-300)


class SmallTrials:
    """Evaluates the module at small sizes in double precision and in float32, once for each size and draw. Keeps the errors, not the results."""

    def __init__(self, problem, seed, kinds):
        """`kinds`: the dtype of each output, by number."""
        self.problem, self.seed, self.kinds, self.known = problem, seed, kinds, {}

    def errors(self, sizes, draw):
        """Returns {("out", number) or ("state", name): (largest scaled error in float32, error of results that cancel)} of results in floating
        point and of buffers that forward changes; empty for a draw with which the module does not run: the judge says so when it makes one."""
        import torch
        key = (tuple(sorted(sizes.items())), draw)
        if key not in self.known:
            self.known[key] = {}
            try:
                trial = Trial(self.problem, {**self.problem.sizes, **sizes}, self.seed + draw, collect=False)
                (exact, state, _), (told, told_state, _) = trial.run(), trial.run("float32")
            except Exception:
                return self.known[key]
            found = {("out", i): (self.kinds[i], *pair) for i, pair in enumerate(zip(exact, told))}
            found.update({("state", name): (was.dtype, state[name], told_state[name]) for name, was in trial.state.items()
                          if not torch.equal(state[name], as_dtype(was, torch.float64))})
            self.known[key] = {name: (scaled_errors(result, right, 0.0)[0], cancelled_error(result, right, dtype))
                               for name, (dtype, right, result) in found.items() if dtype.is_floating_point and right.shape == result.shape}
        return self.known[key]

    def float32_error(self, sizes, draws):
        """Returns the largest scaled error in float32 at these sizes, for so many sets of inputs and weights."""
        return max((error for draw in range(draws) for error, _ in self.errors(sizes, draw).values()), default=0.0)


def cancelled_error(result, reference, dtype):
    """Returns the largest error of results below their rms, shown in `dtype`, if small results are relatively less accurate than large
    ones, because they cancel; otherwise 0."""
    import torch
    unit = ROUNDOFF[DTYPES[str(dtype)]]
    result, reference = result.to(dtype).double(), reference.double()
    kept = torch.isfinite(reference) & torch.isfinite(result) & (reference != 0)
    result, reference = result[kept], reference[kept]
    if reference.numel() == 0:
        return 0.0
    rms = reference.square().mean().sqrt().item()
    error, size = (result - reference).abs(), reference.abs()
    small, large = size < rms / 10, size >= rms
    if not bool(small.any()) or not bool(large.any()):
        return 0.0
    beside = error / size
    if beside[small].max().item() < 8 * max(beside[large].max().item(), unit / 4):
        return 0.0
    worst = error[size < rms].max().item()
    return worst if worst < MOST_CANCELLED * rms else 0.0


def stressed(inputs, kind, generator):
    """Returns inputs of the same shapes drawn as `kind`, one of STRESS."""
    import torch
    made = []
    for one in inputs:
        if not torch.is_tensor(one) or not one.is_floating_point():
            made.append(one)
        elif kind == "heavy_tailed":
            size = torch.exp(2 * torch.randn(one.shape, generator=generator)) * torch.randn(one.shape, generator=generator).sign()
            made.append(size.to(one.dtype))
        elif kind == "cancelling":
            sign = (torch.arange(one.numel()) % 2 * 16 - 8).reshape(one.shape)
            made.append((sign + torch.randn(one.shape, generator=generator)).to(one.dtype))
        elif kind == "constant":
            made.append(torch.full_like(one, 0.7))
        elif kind == "zero":
            made.append(torch.zeros_like(one))
        else:
            made.append(torch.linspace(-3, 3, max(1, one.numel())).reshape(one.shape).to(one.dtype))
    return made


STRESS = ("heavy_tailed", "cancelling", "constant", "zero", "sorted")


def measure_precision(trials, results, notes):
    """Returns ({output: measured errors}, whether inputs may be stressed) from evaluations of the module in honest and dishonest precisions.

    `results(trial_run)` returns the tensors to be judged, by name. Inputs may not be stressed if rounding them changes results in
    double precision much (for example the variance of equal numbers): then there is no right answer for kernels.
    """
    import torch
    measured = {}
    usable = {}
    steady = True
    for trial in trials:
        reference = results(trial.run())
        rows = {}
        for precision in ("float32", "tf32", "bfloat16", "float16"):
            try:
                rows[precision] = results(trial.run(precision))
                usable.setdefault(precision, "")
            except Exception as error:
                usable[precision] = first_line(error)
        for name, expected in reference.items():
            into = measured.setdefault(name, {"honest_rms": 0.0, "honest_max": 0.0, "dishonest": {}, "stress_max": 0.0, "cancelled": 0.0})
            if not expected["floating"]:
                continue
            floor = 1e-300
            for precision, found in rows.items():
                # Results are rounded to the output's dtype, which is no error of the precision.
                shown = found[name]["value"].to(expected["dtype"])
                worst, rms = scaled_errors(shown, expected["value"], floor)
                if precision.startswith("float32"):
                    into["honest_rms"], into["honest_max"] = max(into["honest_rms"], rms), max(into["honest_max"], worst)
                    into["cancelled"] = max(into["cancelled"], cancelled_error(shown, expected["value"], expected["dtype"]))
                elif precision == "tf32" and rms == scaled_errors(rows["float32"][name]["value"].to(expected["dtype"]), expected["value"], floor)[1]:
                    pass  # the module has no matrix product, so that tf32 changes nothing
                else:
                    known = into["dishonest"].get(precision, math.inf)
                    into["dishonest"][precision] = min(known, rms)
        generator = torch.Generator().manual_seed(5)
        for kind in STRESS:
            inputs = stressed(trial.inputs, kind, generator)
            try:
                expected, found = results(trial.run(inputs=inputs)), results(trial.run("float32", inputs=inputs))
                moved = results(trial.run(inputs=[
                    one.double() * (1 + ROUNDOFF[DTYPES[str(one.dtype)]] * (2 * torch.rand(one.shape, generator=generator) - 1))
                    if torch.is_tensor(one) and one.is_floating_point() else one for one in inputs]))
            except Exception:
                continue  # the module fails on such values; the judge draws them nevertheless
            for name, one in expected.items():
                if one["floating"]:
                    shift, _ = scaled_errors(moved[name]["value"], one["value"], ROUNDOFF[DTYPES[str(one["dtype"])]])
                    steady = steady and shift <= LARGEST_C_MAX
                    worst, _ = scaled_errors(found[name]["value"].to(one["dtype"]), one["value"], ROUNDOFF[DTYPES[str(one["dtype"])]])
                    if math.isfinite(worst):
                        measured[name]["stress_max"] = max(measured[name]["stress_max"], worst)
    for precision, why in usable.items():
        if why:
            notes.append(f"the module does not run in {precision} ({why}): its tolerance was derived without that")
    if not steady:
        notes.append("results at equal or cancelling inputs are rounding errors alone: inputs are drawn as get_inputs draws them, and "
                     "never stressed")
    return measured, steady


def measure_cancelling(small, corners, measured):
    """Raises `cancelled` of each output to the largest error in float32 of results that cancel at these sizes (Ranges.corners).

    A sum over one channel may be nearly nothing where one over many cannot: at the sizes of the trials no result cancels then."""
    for draw in range(FEW_DRAWS):
        for sizes in corners:
            for name, (_, cancelled) in small.errors(sizes, draw).items():
                if name in measured:
                    measured[name]["cancelled"] = max(measured[name]["cancelled"], cancelled)


def growth(elements, tried):
    """Returns by which factor, at least 1, the largest error among `elements` results exceeds that among `tried` ones, at least 16: it grows
    with the logarithm of their number, if the chance of an error falls exponentially with its size."""
    return max(1.0, math.log(max(elements, 2)) / math.log(max(tried, 16)))


def tolerance_of(name, measured, dtype, notes, few=False, stress=(), ordinary=0.0, by_element=False, largest=1.0, statistic=False):
    """Returns the fields of [tolerance.NAME]. `few`: whether a slice of the output may have so few elements that all of them cancel.
    `stress`: the output's stress_errors(). `ordinary`: rms of the output for the file's own inputs. `by_element`: nothing is added up.
    `largest`: growth() of its errors to the file's sizes. `statistic`: it is a buffer of a module whose outputs tell precisions apart."""
    if dtype not in ROUNDOFF:
        return {"c_max": 0.0, "c_rms": 0.0}
    unit = ROUNDOFF[dtype]
    honest = max(measured["honest_rms"], unit / 4)
    cheats = {precision: rms for precision, rms in measured["dishonest"].items()
              if math.isfinite(rms) and rms > 0 and (dtype in ("float32", "float64") or precision not in ("tf32",))}
    if dtype in ("float16", "bfloat16"):
        # An output of few bits hides lower precision inside, except sums in the output's own dtype or a narrower one.
        cheats = {precision: rms for precision, rms in cheats.items() if precision == dtype or ROUNDOFF[precision] > unit}
    told = {"honest_rms": honest, "dishonest": min(cheats.values()) if cheats else 0.0,
            "least": min(cheats, key=cheats.get) if cheats else ""}
    if cheats and told["dishonest"] >= LEAST_GAP * honest:
        c_rms = max(math.sqrt(honest * told["dishonest"]), 1.25 * honest)
        c_rms = min(c_rms, 100 * max(honest, unit))  # enough for sums in any order
    else:
        c_rms = HONEST_ROOM * honest
        if not statistic:
            told["narrow"] = True
            notes.append(f"{name}: honest results ({honest:.2g}) and lower precisions ({told['dishonest']:.2g}) lie too near each other "
                         "to be told apart; the tolerance lets honest ones pass")
    if statistic and c_rms < STATISTIC_ROOM * unit:
        c_rms = STATISTIC_ROOM * unit
        told["statistic"] = True
    c_max = largest * max(20 * c_rms, HONEST_ROOM * measured["honest_max"], HONEST_ROOM * measured["stress_max"], 2 * unit)
    if c_max > LARGEST_C_MAX:
        c_max = max(LARGEST_C_MAX, HONEST_ROOM * measured["honest_max"])
    cancelled, worst = ABS_ROOM * measured["cancelled"] if few else 0.0, absolute_part(stress, c_max, unit)
    most = MOST_FORGIVEN * c_max * ordinary
    if cancelled > 0 and cancelled >= min(ABS_ROOM * worst, most):
        told["abs"] = rounded(cancelled)
        notes.append(f"{name}: errors up to abs = {told['abs']:g} are forgiven, because small results of short rows are differences of larger numbers and keep their rounding errors")
    elif worst > 0 and most > 0:
        told["abs"] = rounded(min(ABS_ROOM * worst, most))
        notes.append(f"{name}: errors up to abs = {told['abs']:g} are forgiven, for at some stress values the module in float32 is itself off by {worst:.2g} where its result is small"
                     + (" (less than twelve times that, because more would hide errors of ordinary results)" if ABS_ROOM * worst > most else ""))
    forgiven = max(told.get("abs", 0.0), UNDERFLOW)
    if by_element and dtype == "float32" and c_max < C_SMALL and accurate(stress, forgiven):
        told.update({"c_small": C_SMALL, "abs": forgiven})
    return {"c_max": rounded(c_max), "c_rms": rounded(c_rms), **{key: value for key, value in told.items()}}


def hold_to(output, asked, notes):
    """Reduces `c_max` to the workload's own relative tolerance. `asked`: that tolerance, {"max_rtol", "max_atol", …}."""
    told, unit = output["tolerance"], ROUNDOFF.get(output["dtype"])
    relative = asked.get("max_rtol")
    if unit is None or not isinstance(relative, (int, float)):
        return
    if told["c_max"] > relative >= 2 * unit:
        told["c_max"] = float(relative)
    ratio = asked.get("required_matched_ratio", 1.0)
    notes.append(f"{output['name']}: the benchmark asks |err| <= {asked.get('max_atol', 0.0)} + {relative} |ref| of {100 * ratio:g} % of the elements; "
                 f"every element is held to c_max = {told['c_max']}, and all together to c_rms")


def covered_specials(trial, results):
    """Returns the special values on which float32 gives the same results as double precision, without NaN."""
    import torch
    covered = []
    for name, value in (("inf", math.inf), ("-inf", -math.inf), ("subnormal", 1e-40)):
        inputs = []
        for one in trial.inputs:
            if torch.is_tensor(one) and one.is_floating_point() and one.numel() > 0:
                one = one.clone()
                one.reshape(-1)[:: 7] = value
            inputs.append(one)
        try:
            expected, found = results(trial.run(inputs=inputs)), results(trial.run("float32", inputs=inputs))
        except Exception:
            continue
        right = True
        for key, one in expected.items():
            if one["floating"]:
                mine = found[key]["value"].double()
                theirs = one["value"].to(torch.float32).double()
                right = right and not bool(torch.isnan(theirs).any()) and not bool(torch.isnan(mine).any())
                right = right and bool((torch.isinf(mine) == torch.isinf(theirs)).all())
        if right:
            covered.append(name)
    return covered


def scale_and_offset(values):
    """Returns the scale and offset of a [[tensor]]'s values, which its stress values have too."""
    return [float(values.get(key, usual)) if not isinstance(values.get(key), str) else usual for key, usual in (("scale", 1.0), ("offset", 0.0))]


def special_values(shape, axis, scale, offset, special, start, generator):
    """Returns float64 numbers of the kinds that the judge calls special values (src/tuner/values/draw.h). Each row has one kind.

    `axis`: the slice axis, along which each index is a row; -1: each run along the last axis is one. `special`: names of the special
    numbers that occur. `start`: the kind of the first row, equal for all inputs of a launch.
    """
    import torch
    rows = shape[axis] if axis >= 0 else math.prod(shape[:-1])
    columns = math.prod(shape) // max(1, rows)

    def uniform(*size):
        return torch.rand(*size, generator=generator, dtype=torch.float64)

    usual = torch.randn(rows, columns, generator=generator, dtype=torch.float64) * scale + offset
    kind = ((torch.arange(rows) + start) % 10)[:, None]
    of_row = torch.randint(0, 1 << 20, (rows, 1), generator=generator)
    sign = torch.where(uniform(rows, columns) < 0.5, -1.0, 1.0)
    column = torch.arange(columns)[None, :]
    subnormal = 2.0 ** -126 * uniform(rows, columns) * sign if "subnormal" in special else usual * 2.0 ** -14
    minus_infinity = -math.inf if "-inf" in special else 0.0
    drawn = uniform(rows, columns)
    power = torch.where(kind == 0, -14 + of_row % 7, torch.where(kind == 1, -7 + of_row % 15, torch.where(kind == 2, 7, 0)))
    made = usual * 2.0 ** power.double()
    made = torch.where((kind == 3) & (column % 32 == of_row % 32), usual * 8, made)  # every 32nd is large
    made = torch.where(kind == 4, usual + (8 + 8 * uniform(rows, 1)) * abs(scale), made)  # far from zero
    made = torch.where(kind == 5, torch.where(of_row % 4 == 0, 0.0 * sign, usual[:, :1]), made)  # all equal
    sprinkled = torch.where(drawn < 0.25, 0.0 * sign, torch.where(drawn < 0.5, subnormal if "subnormal" in special else usual, usual))
    if "inf" in special:
        sprinkled = torch.where((drawn > 0.97) & (of_row % 2 == 1), math.inf, sprinkled)
    made = torch.where(kind == 6, sprinkled, made)
    if "-inf" in special:
        made = torch.where((kind == 7) & ((of_row % 4 == 0) | (column > 0) & (drawn < 0.5)), minus_infinity, made)  # masked
    made = torch.where((kind == 8) & (column // 4 != (columns - 1) // 4) & (column // 4 % 2 == of_row % 2), minus_infinity, made)  # by groups
    made = torch.where(kind == 9, subnormal, made)
    if axis < 0:
        return made.reshape(shape)
    order = [axis] + [i for i in range(len(shape)) if i != axis]
    return made.reshape([shape[i] for i in order]).permute([order.index(i) for i in range(len(shape))])


def stress_set(kind, inputs, specs, start, generator):
    """Returns forward's arguments with stress values as the judge draws them. `kind`: one of JUDGED; `inputs`: the file's own. `specs`: for
    each one its shape's expressions, its scale and offset, its slice axis (-1: none) and the special numbers that occur; None: an
    argument that the judge does not stress."""
    import torch
    made = []
    for one, spec in zip(inputs, specs):
        if kind == "usual" or spec is None or one.numel() == 0 or one.dim() == 0:
            made.append(one)
            continue
        (scale, offset), axis, special = spec
        if kind == "special":
            values = special_values(list(one.shape), axis, scale, offset, special, start, generator)
        else:
            normal = torch.randn(one.shape, generator=generator, dtype=torch.float64)
            if kind == "heavy_tailed":
                values = torch.exp(2 * normal) * scale * torch.randn(one.shape, generator=generator, dtype=torch.float64).sign()
            elif kind == "cancelling":
                values = ((torch.arange(one.numel()) % 2 * -16 + 8).reshape(one.shape) + normal * 0.25) * scale
            else:  # sorted
                values = torch.linspace(-3, 3, one.numel(), dtype=torch.float64).reshape(one.shape) * scale + offset
        made.append(values.to(one.dtype))
    return made


JUDGED = ("usual", "special", "heavy_tailed", "cancelling", "sorted")


def stress_errors(trial, results, specs, slice_axes, few, kinds=JUDGED, first=0):
    """Returns {output: [(errors, results' magnitudes, sizes)]} of the module in float32 on the judge's stress values, for floating-point outputs.

    An error counts only where the result is finite. A size is that by which the judge divides the error: that of the result itself, or the
    rms of its slice or the scale floor if that is larger. `slice_axes`: each output's slice axis, -1 if it is judged whole. `few`: {output:
    whether its smallest slices are short}; such a result may be alone in its slice, so the rms does not help it. `kinds`: those of JUDGED that are
    drawn. `first`: the sort of special values in the first row, for the first of `kinds`.
    """
    import torch
    generator = torch.Generator().manual_seed(29)
    found = {}
    for start, kind in enumerate(kinds, first):
        inputs = stress_set(kind, trial.inputs, specs, start, generator)
        try:
            expected, mine = results(trial.run(inputs=inputs)), results(trial.run("float32", inputs=inputs))
        except Exception:
            continue  # the module fails on such values; the judge draws them nevertheless
        for name, one in expected.items():
            if not one["floating"] or name not in slice_axes:
                continue
            right, given = one["value"].double(), mine[name]["value"].to(one["dtype"]).double()
            kept = torch.isfinite(right) & torch.isfinite(given)
            axis, own = slice_axes[name], right.abs().clamp(min=torch.finfo(one["dtype"]).tiny)
            size = own
            floor = ROUNDOFF[DTYPES[str(one["dtype"])]] * max((abs(spec[0][0]) for spec in specs if spec), default=1.0)
            if not few[name]:
                squares = torch.where(kept, right, 0).square()
                others = [i for i in range(right.dim()) if i != axis]
                rms = squares.mean().sqrt() if axis < 0 else (squares.mean(others, keepdim=True) if others else squares).sqrt()
                size = torch.maximum(size, rms.expand_as(size))
            found.setdefault(name, []).append(((given - right).abs()[kept], own[kept], size.clamp(min=floor)[kept]))
    return found


def absolute_part(stress, c_max, unit):
    """Returns the worst of the errors that c_max would refuse in another kernel that is no more exact than the module; 0: there is none.
    `stress`: an output's stress_errors()."""
    worst = 0.0
    for errors, _, sizes in stress:
        refused = errors[errors > max(c_max / HONEST_ROOM, 2 * unit) * sizes]
        worst = max(worst, refused.max().item() if refused.numel() else 0.0)
    return worst


def accurate(stress, absolute):
    """Returns whether all results, however small, have few errors beside themselves, but for errors up to `absolute`."""
    return len(stress) == len(JUDGED) and all(bool(((errors <= ACCURATE * own) | (errors <= absolute)).all()) for errors, own, _ in stress)


def special_errors(trial, results, specs, slice_axes, tolerances, stressed):
    """Returns {output: (largest error in float32 beside the size by which the judge divides it, number of results)} if these inputs alone have
    special values; empty: the module fails on them.

    The errors leave out what `abs` forgives. Inputs of few rows are tried several times, so that each sort of special values occurs. `stressed`:
    inputs' numbers. `tolerances`: {output: the fields of its [tolerance]}; the other arguments are stress_errors()'s.
    """
    only = [spec if i in stressed else None for i, spec in enumerate(specs)]
    rows = min((one.shape[spec[1]] if spec[1] >= 0 else math.prod(one.shape[:-1]) for one, spec in zip(trial.inputs, only) if spec and one.dim()), default=SORTS)
    worst = {}
    for start in range(0, SORTS, max(1, min(rows, SORTS))):
        found = stress_errors(trial, results, only, slice_axes, dict.fromkeys(slice_axes, False), ("special",), start)
        for name, ((errors, _, sizes),) in found.items():
            beside = (errors / sizes)[errors > tolerances[name].get("abs", 0.0)]
            error, count = worst.get(name, (0.0, 0))
            worst[name] = max(error, beside.max().item() if beside.numel() else 0.0), count + errors.numel()
    return worst


def settle_special(trials, results, specs, slice_axes, tolerances, counts, notes):
    """Raises each output's c_max to four times the largest error in float32 at special values, as far as c_max may go. Returns the numbers of the
    inputs that are not to be stressed, because errors grow beyond that; c_max is then that of the others.

    An example of such an input is the first state of a recurrence: if it is large, rounding errors grow with each step. `trials`: functions that
    make trials of growing sizes; a later one is made only if an error comes near a tolerance at the sizes before. `counts`: {output: elements
    at the file's sizes}. The other arguments are special_errors()'s.
    """
    stressed = {i for i, spec in enumerate(specs) if spec}

    def allowed(name, error, tried):
        return HONEST_ROOM * error * growth(counts.get(name, 1), tried)

    def excess(found):
        """Returns by which factor an error exceeds what c_max may at most allow; infinite if the module fails."""
        return max((allowed(name, *one) / max(LARGEST_C_MAX, tolerances[name]["c_max"]) for name, one in found.items()), default=math.inf)

    made, errors = [], {}
    for make in trials if stressed else ():
        made.append(make())
        for name, one in special_errors(made[-1], results, specs, slice_axes, tolerances, stressed).items():
            errors[name] = max(errors.get(name, one), one)
        if all(allowed(name, *one) <= tolerances[name]["c_max"] for name, one in errors.items()):
            return set()
    usual = set()
    while errors and excess(errors) > 1 and usual < stressed:
        without = {i: special_errors(made[-1], results, specs, slice_axes, tolerances, stressed - usual - {i}) for i in sorted(stressed - usual)}
        best = min(without, key=lambda i: excess(without[i]))
        usual.add(best)
        errors = without[best]
    for name, one in errors.items():
        most = rounded(min(max(LARGEST_C_MAX, tolerances[name]["c_max"]), allowed(name, *one)))
        if most > tolerances[name]["c_max"]:
            tolerances[name]["c_max"] = most
            notes.append(f"output {name[1]}: c_max = {most:g}, for at special values and larger sizes the module in float32 is itself off by {one[0]:.2g} of the scale")
    return usual


def find_slice(shapes, dims, expressions, trial, results, state_names, changed):
    """Returns a dimension along which all outputs are independent, tested by permuting and by leaving out slices; None: there is none."""
    import torch
    if changed:
        return None
    for name in dims:
        axes = {}
        for key, text in expressions.items():
            if text == name:
                axes.setdefault(key[:2], []).append(key[2])
            elif name in text.replace("(", " ").replace(")", " ").split():
                axes.setdefault(key[:2], []).append(-1)
        outputs = {key for key in expressions if key[0] == "out"}
        every = {key[:2] for key in outputs}
        if any(len(found) != 1 or found[0] < 0 for found in axes.values()):
            continue
        if any(key[0] == "state" for key in axes) or not every <= set(axes) or not any(key[0] == "in" for key in axes):
            continue
        size = trial.sizes[name]
        if size < 2:
            continue
        order = torch.randperm(size, generator=torch.Generator().manual_seed(11))
        fewer = order[: max(1, size // 2)]
        whole = results(trial.run())
        try:
            proven = True
            for chosen in (order, fewer):
                inputs = [one.index_select(axes[("in", i)][0], chosen) if ("in", i) in axes else one
                          for i, one in enumerate(trial.inputs)]
                model = model_for(trial.problem, {**trial.sizes, name: len(chosen)}, "float64")
                found = results(evaluate(trial.problem, trial.sizes, model, inputs, trial.all_state))
                for i, (key, one) in enumerate(whole.items()):
                    expected = one["value"].index_select(axes[("out", i)][0], chosen)
                    error, _ = scaled_errors(found[key]["value"], expected, 1e-30)
                    proven = proven and found[key]["value"].shape == expected.shape and error < 1e-9
            if proven:
                return name
        except Exception:
            continue
    return None


def work_of(shapes, dims, base):
    """Returns the number of operations of matrix products as an expression; None: it is no product of sizes and a constant."""
    at = {name: dim["size"] for name, dim in dims.items()}
    count = flops_at(shapes, {})
    if not count:
        return None
    factors, product = [], 1
    for name, dim in dims.items():
        doubled = flops_at(shapes, {name: 2 * dim["size"]})
        if doubled == count:
            continue
        if doubled == 2 * count:
            factors.append(name)
            product *= at[name]
        elif doubled == 4 * count:
            factors += [name, name]
            product *= at[name] ** 2
        else:
            return None
    if count % product != 0:
        return None
    return " * ".join([str(count // product)] + factors)


def operators_of(trial):
    """Returns the names of the operators that forward calls, in order, without those that only move or view tensors."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, arguments=(), keywords=None):
            found.append(function.__name__.split(".")[0] if hasattr(function, "__name__") else str(function))
            return function(*arguments, **(keywords or {}))

    with Watch():
        trial.run("float32")
    plumbing = {"detach", "view", "t", "transpose", "expand", "clone", "_unsafe_view", "reshape", "permute", "unsqueeze", "squeeze",
                "_to_copy", "alias", "empty", "empty_like", "slice", "select", "split", "unbind", "contiguous", "_reshape_alias"}
    named = [one for one in found if one not in plumbing]
    return [one for i, one in enumerate(named) if i == 0 or one != named[i - 1]]


def workload_of(operators, trial, results):
    """Returns the task's class, from the names of the operators that forward calls."""
    names = set(operators)
    if any("convolution" in one for one in names):
        return "convolution"
    products = {"mm", "addmm", "bmm", "baddbmm", "matmul", "linear", "mv", "dot"}
    if any("attention" in one for one in names) or ("bmm" in names and any("softmax" in one for one in names)):
        return "attention"
    if names & products:
        return "gemm"
    if any(one in names for one in ("embedding", "gather", "index", "index_select", "scatter", "scatter_add")):
        return "gather"
    reduces = ("sum", "mean", "max", "min", "softmax", "norm", "var", "std", "cumsum", "cumprod", "pool", "arg", "prod", "loss", "any", "all")
    if any(word in one for one in names for word in reduces if one not in ("maximum", "minimum", "clamp_max", "clamp_min")):
        return "reduction"
    return "elementwise"


def describe(job):
    """Returns the answer for a job."""
    torch = load_torch()
    torch.set_num_threads(job["threads"] or 1)  # trials are small: one thread is enough
    notes = []
    defined = problem_of(job, notes) if "definition" in job else board_problem(job, notes) if "board" in job else None
    board = defined.get("board") if defined else None
    text = defined["text"] if defined else job["text"] if "text" in job else text_of(job)
    problem = Problem(text, job["file"], job["class"], job["training"])
    for name in defined["constant"] if defined else ():
        del problem.sizes[name]
    if board:
        problem.sizes.update(defined["small"])  # cheap sizes: generate_input may loop over rows
    for name, size in job.get("sizes", {}).items() if not board else ():
        if name not in problem.sizes:
            raise Refused(f"--case {name}={size}: {job['file']} has no module-level whole number {name}"
                          + (f"; it has {', '.join(problem.sizes)}" if problem.sizes else ""))
        problem.sizes[name] = size
    for name in ("get_inputs",):
        if f"def {name}" not in text:
            raise Refused(f"{job['file']} has no {name}(): KernelBench's form is a class Model with get_inputs() and "
                          "get_init_inputs(); for a module of a package say --from package.module:Class --input x=float32[rows,width]")
    if job.get("more_inputs"):
        check_more_inputs(problem, job["more_inputs"])
    shapes = DeclaredShapes(problem) if defined and not board else Shapes(problem, "meta")
    base = shapes.at({})
    if isinstance(base, str) and defined and not board:
        raise Refused(f"{job['file']}: at the sizes of its first workload {base}: mend the constraints, or give other sizes with --case")
    if isinstance(base, str):
        # The meta device has no values: on the CPU the module may work, or fails with its own message.
        shapes = Shapes(problem, "cpu")
        base_error = base
        try:
            base = shapes._run(problem.sizes)
            if shapes._run(problem.sizes, 1) != base:
                raise Refused("the shapes of forward's outputs depend on data or on chance: return tensors whose shapes follow from the "
                              "inputs' shapes")
        except Refused:
            raise
        except Exception as error:
            raise Refused(explain(error, f"{problem.class_name} of {problem.file}")) from error
        shapes.known[()] = base
        notes.append(f"shapes were found by running the module, which looks at values ({base_error})")
    if not defined:
        for leader, names in tied_sizes(shapes, set(job["fixed"])):
            changed = tie(text, problem, (leader, names))
            if changed is None:
                notes.append(f"{' and '.join(names)} are fixed: the module takes other numbers only if they are equal; give them one module-level name")
                continue
            text = changed
            problem = Problem(text, job["file"], job["class"], job["training"])
            problem.sizes.update({name: size for name, size in shapes.problem.sizes.items() if name in problem.sizes})
            notes.append(f"{' and '.join(names)} are one size: the module takes other numbers only if they are equal, so reference.py says {leader} for all of them")
        if problem is not shapes.problem:
            shapes = Shapes(problem, shapes.device)
            base = shapes.at({})
    for key, (rank, dtype) in base[1].items():
        what = {"in": "input", "state": "the module's", "out": "output"}[key[0]] + f" {key[1]}"
        dtype_name(dtype, what)
        if rank > 8:
            raise Refused(f"{what} has {rank} axes, and tensors of a task have 8 at most: reshape it inside forward")
    dims, expressions = find_dimensions(shapes, set(job["fixed"]), notes)
    if board:
        dims, expressions, shapes = at_timed_sizes(defined, problem, shapes, dims, expressions, set(job["fixed"]), notes)
    base = shapes.at({})
    ranges = Ranges(shapes, base, dims)
    seed = job["seed"]
    small = SmallTrials(problem, seed, {i: getattr(torch, dtype.replace("torch.", "")) for (kind, i), (_, dtype) in base[1].items() if kind == "out"})
    if dims and not defined:
        low = dict(ranges.low)
        uncertain = ranges.raise_least(lambda sizes: small.float32_error(sizes, DRAWS if flops_at(shapes, sizes) <= SMALL_FLOPS else FEW_DRAWS))
        if uncertain:
            notes.append(f"{', '.join(f'{name} >= {ranges.low[name]}' for name in dims if ranges.low[name] != low[name])}: at smaller sizes the "
                         f"module in float32 is itself off by {uncertain:.2g}, because rounding errors grow there, so that right kernels could not be told from wrong ones")

    trial_sizes = ranges.most(TRIAL_ELEMENTS, TRIAL_FLOPS, 4096) if dims else {}
    if not dims:
        count = elements_at(shapes, base, {})
        if count > 64 * TRIAL_ELEMENTS:
            raise Refused(f"the module has {count} elements at its only sizes, too many to try: write its sizes as module-level names")
    try:
        trials = [Trial(problem, {**problem.sizes, **sizes}, seed, collect=i == 0) for i, sizes in enumerate((trial_sizes, ranges.high if dims else {}))]
        trial = trials[0]
        for one in trials:
            check_repeats(one)
    except Refused:
        raise
    except Exception as error:
        raise Refused(explain(error, f"{problem.class_name} of {problem.file}")) from error

    if defined and not board:
        for one in trials:
            check_declared(one, defined["outputs"], base)
    try:
        outputs, after, taken = trial.run()
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"the module does not run in double precision ({type(error).__name__}: {first_line(error)}): build its "
                      "constants in the dtype of its inputs (torch.zeros_like, x.new_tensor), so that a float64 reference exists") from error
    for i, one in enumerate(outputs):
        wanted = [evaluate_text(str(expressions[("out", i, axis)]), trial.sizes) for axis in range(base[1][("out", i)][0])]
        if list(one.shape) != wanted:
            raise Refused(f"the module does not run in double precision: output {i} has the shape {list(one.shape)} there and {wanted} otherwise; "
                          "let it not reinterpret the bytes of its inputs, so that a float64 reference exists")
    if shapes.device == "cpu":  # the module looks at values, so that other values may give other shapes
        generator = torch.Generator().manual_seed(5)
        for kind in STRESS:
            try:
                found = [list(one.shape) for one in trial.run(inputs=stressed(trial.inputs, kind, generator))[0]]
            except Exception:
                continue  # the module fails on such values; the judge draws them nevertheless
            if found != [list(one.shape) for one in outputs]:
                raise Refused(f"the shapes of forward's outputs depend on data ({found} for {kind.replace('_', ' ')} inputs): return tensors whose "
                              "shapes follow from the inputs' shapes")
    for one, was in zip(taken, trial.inputs):
        if torch.is_tensor(one) and not torch.equal(torch.nan_to_num(one), torch.nan_to_num(as_dtype(was, one.dtype))):
            raise Refused("forward changes one of its inputs in place: clone it first, and return the result")
    double = {name: as_dtype(tensor, torch.float64) for name, tensor in trial.state.items()}
    changed = [name for name in trial.state if not torch.equal(torch.nan_to_num(after[name]), torch.nan_to_num(double[name]))]

    float_kinds = {i: base[1][("out", i)][1] for i in range(len(outputs))}

    def results(run):
        made, state_after, _ = run
        found = {}
        for i, value in enumerate(made):
            dtype = getattr(torch, float_kinds[i].replace("torch.", ""))
            found[("out", i)] = {"value": value.detach(), "dtype": dtype, "floating": dtype.is_floating_point}
        for name in changed:
            dtype = trial.state[name].dtype
            found[("state", name)] = {"value": state_after[name].detach(), "dtype": dtype, "floating": dtype.is_floating_point}
        return found

    measured, steady = measure_precision(trials, results, notes)
    if dims and not defined:
        measure_cancelling(small, ranges.corners(ranges.low), measured)
    slice_name = find_slice(shapes, dims, expressions, trials[-1], results, list(trial.state), changed)
    specials = covered_specials(trials[-1], results) if steady else []
    operators = operators_of(trials[-1])

    signature = arguments_of(trial.model)
    inputs = []

    def not_finite(run):
        return sum(int((~one["value"].isfinite()).sum()) for one in results(run).values() if one["floating"])

    def mask_of(tensor, extents, run, again=None):
        """Returns mask_values of an input or a buffer with these extents. `run(mask)` evaluates the module with another mask."""
        usual = not_finite(trial.run())

        def infinite(mask):
            try:
                return not_finite(run(mask)) > usual
            except Exception:  # the module fails with such a mask
                return True

        return mask_values(tensor, extents.index(slice_name) if slice_name in extents else -1, infinite, again)

    declared_values = problem.run_file(problem.sizes)["get_values"]() if defined and not board else {}
    if board:
        check_accepted(problem, trial, outputs, float_kinds, notes)
    for i, one in enumerate(trial.inputs):
        name = signature[i] if i < len(signature) else f"input{i}"
        if not torch.is_tensor(one):
            if not isinstance(one, (int, float, bool)) and one is not None:
                raise Refused(f"get_inputs gives a {type(one).__name__} for {name}: pass tensors and numbers alone")
            inputs.append({"name": name, "value": one})
            if defined and not board:
                if name in defined["scalars"]:
                    inputs[-1]["scalar"] = defined["scalars"][name]
                continue
            notes.append(f"{name} = {one} is a number, not a tensor: it stays what it is")
            continue
        shape = [expressions[("in", i, axis)] for axis in range(one.dim())]
        if name in declared_values:
            values, note = declared_values[name], ""
        elif is_mask(one):
            values, note = mask_of(one, shape, lambda mask, i=i: trial.run(inputs=trial.inputs[:i] + [mask] + trial.inputs[i + 1:]), trial.again[i])
        else:
            values, note = input_values(one, trial.bounds, dims, trial.sizes)
        if note:
            notes.append(f"{name}: {note}")
        inputs.append({"name": name, "dtype": dtype_name(one.dtype, f"input {name}"), "shape": shape, "values": values,
                       "stress": steady, "boolean": one.dtype == torch.bool})
    state = []
    # Weights are drawn by sizes that they or other weights have. Another dimension may have the same size here by chance.
    of_weights = " ".join(str(text) for key, text in expressions.items() if key[0] == "state").replace("(", " ").replace(")", " ").split()
    fans = [(name, trial.sizes[name]) for name in dims if name in of_weights]
    for name, tensor in trial.state.items():
        shape = [expressions[("state", name, axis)] for axis in range(tensor.dim())]
        own = [(" * ".join(parenthesized(text) for text in shape[1:]), math.prod(tensor.shape[1:]))] if tensor.dim() > 1 else []
        layer = name.rsplit(".", 1)[0] + ".weight" if "." in name else "weight"
        if layer in trial.state and trial.state[layer].dim() > 1:
            texts = [expressions[("state", layer, axis)] for axis in range(1, trial.state[layer].dim())]
            own.append((" * ".join(parenthesized(text) for text in texts), math.prod(trial.state[layer].shape[1:])))
        if is_mask(tensor) and name not in changed:
            values, note = mask_of(tensor, shape, lambda mask, name=name: trial.run(state={name: mask}), tensor)
            if note:
                notes.append(f"{name}: {note}")
        else:
            values = state_values(name, torch.cat([one.flatten() for one in trial.drawn[name]]), own + fans)
            if tensor.is_floating_point() and bool(((tensor == 0) | (tensor == 1)).all()) and 0 < tensor.double().mean().item() < 1:
                notes.append(f"{name} holds 0 and 1 alone and is drawn as ordinary numbers, which are neither: if it is a mask, make it one in the file "
                             "(register it as torch.bool), for otherwise it masks nothing here")
        state.append({"name": name, "dtype": dtype_name(tensor.dtype, f"the module's {name}"), "shape": shape,
                      "role": "inout" if name in changed else "in",
                      "parameter": name in dict(trial.model.named_parameters()), "boolean": tensor.dtype == torch.bool,
                      "values": values})

    def few_elements(kind, name, axes):
        """Returns whether the judge's smallest slices of the output ("out", number) or buffer ("state", name), which has so many axes, are short."""
        texts = [expressions[(kind, name, axis)] for axis in range(axes)]
        return math.prod(evaluate_text(str(text), ranges.low) for text in texts if text != slice_name) <= FEW_ELEMENTS

    few = {("out", i): few_elements("out", i, one.dim()) for i, one in enumerate(outputs)}
    axes = {key: next((axis for axis in range(one.dim()) if expressions[(*key, axis)] == slice_name), -1)
            for key, one in [(("in", i), one) for i, one in enumerate(trial.inputs) if torch.is_tensor(one)] + [(("out", i), one) for i, one in enumerate(outputs)]}
    specs = [(scale_and_offset(inputs[i]["values"]), axes[("in", i)], specials) if torch.is_tensor(one) and one.is_floating_point() else None
             for i, one in enumerate(trials[-1].inputs)]
    stress = stress_errors(trials[-1], results, specs, {key: axes[key] for key in few}, few) if steady else {}

    workload = workload_of(operators, trial, results)
    counts = counts_of(base[0])
    made = []
    for i, one in enumerate(outputs):
        dtype = dtype_name(float_kinds[i], f"output {i}")
        value = one.double()
        finite = value[torch.isfinite(value)]
        name = defined["outputs"][i] if defined and not board else "out" if len(outputs) == 1 else f"out{i}"
        made.append({"name": name, "dtype": dtype, "boolean": float_kinds[i] == "torch.bool",
                     "shape": [expressions[("out", i, axis)] for axis in range(one.dim())],
                     "tolerance": tolerance_of(f"output {i}", measured[("out", i)], dtype, notes, few[("out", i)], stress.get(("out", i), ()),
                                               finite.square().mean().sqrt().item() if finite.numel() else 0.0, workload == "elementwise",
                                               growth(counts.get(("out", i), 1), one.numel()))})
        if defined and defined["tolerance"]:
            hold_to(made[-1], defined["tolerance"], notes)
        if finite.numel() > 1 and finite.std().item() <= 1e-6 * finite.abs().max().item():
            notes.append(f"output {i} is the same number everywhere: a kernel that answers a constant may pass")
    if dims and steady and not defined:
        def sizes_within(limits):
            return {**problem.sizes, **ranges.most(*limits, 1 << 20)}

        usual = settle_special([lambda limits=limits: Trial(problem, sizes_within(limits), seed, collect=False) for limits in STEADY_LIMITS], results, specs,
                               {key: axes[key] for key in few}, {("out", i): one["tolerance"] for i, one in enumerate(made)}, counts, notes)
        largest = sizes_within(STEADY_LIMITS[-1]) if usual else {}
        for i in sorted(usual):
            inputs[i]["stress"] = False
            notes.append(f"{inputs[i]['name']}: never stressed, for at special values and larger sizes ({', '.join(f'{name} = {largest[name]}' for name in dims)}) "
                         "rounding errors of the module in float32 grow beyond every tolerance")
    told_apart = any(one["dtype"] in ROUNDOFF and "narrow" not in one["tolerance"] for one in made)
    for one in state:
        if one["role"] == "inout":
            key = "state", one["name"]
            one["tolerance"] = tolerance_of(one["name"], measured[key], one["dtype"], notes, few_elements(*key, len(one["shape"])),
                                            largest=growth(counts.get(key, 1), trial.state[one["name"]].numel()), statistic=told_apart)

    odd = [ranges.odd(share) for share in (0.3, 0.75)] if dims else []
    checks = []
    for sizes in [ranges.low, *odd, ranges.high]:
        if dims and sizes not in checks and works(shapes, base, sizes) is not None:
            checks.append(sizes)
    alone = ranges.alone() if dims else set()
    seed_text, reasons = "", ["buffers that forward changes"]
    if not changed:
        reasons = []
        named = {i: one["name"] for i, one in enumerate(inputs) if "dtype" in one}
        for make in (seed_of, image_seed_of):
            made_of = [make(one, expressions, named, list(trial.state), [tensor["name"] for tensor in made]) for one in (trials[-1], trials[0])]
            # The seed was written at two sizes. If the texts differ, it has a number that depends on the sizes, such as 1 / sqrt(width).
            differ = made_of[0] != made_of[1] and made_of[0][0] and made_of[1][0]
            seed_text, reason = ("", "numbers that change with the sizes") if differ else next((one for one in made_of if not one[0]), made_of[0])
            if seed_text:
                break
            reasons.append(reason)
    if "[[call]]" in seed_text:
        notes.append("seed.cu: products and convolutions by a library's calls ([[call]]), what stands between them by plain kernels")
    elif seed_text:
        notes.append("seed.cu: plain kernels")
    else:
        notes.append(f"there is no seed.cu: no first version is known for {reasons[-1]}")  # image_seed_of's reason: it knows more operators
    return {
        "seed": seed_text, "timed": defined["timed"] if defined else [], "summary": defined["summary"] if defined else "",
        "definition": defined["name"] if defined and not board else "", "board": board,
        "text": text, "torch": torch.__version__, "python": sys.version.split()[0], "inputs": inputs, "state": state, "outputs": made,
        "dims": [{"name": name, "size": dim["size"], "multiple": dim["multiple"], "low": ranges.low[name], "high": ranges.high[name],
                  "alone": name in alone} for name, dim in dims.items()],
        "checks": checks, "slice": slice_name or "", "special": specials, "flops": work_of(shapes, dims, base) or "",
        "class": workload, "operators": operators, "notes": notes, "costs": None if defined else costs_of(problem),
    }


def main():
    job = json.load(sys.stdin)
    plain = sys.stdout
    sys.stdout = sys.stderr  # the problem file may print
    try:
        try:
            answer = describe(job)
        except Drops:
            if not job["or_eval"]:
                raise
            answer = describe({**job, "training": False})
            answer["eval"] = True
            answer["notes"].append("brought in as --eval does: in training mode the module drops elements at random")
    except Refused as refusal:
        answer = {"error": str(refusal)}
    except MemoryError as error:
        answer = {"error": explain(error, job["file"])}
    except Exception as error:
        answer = {"error": explain(error, job["file"])}
    sys.stdout = plain
    tell(answer)


main()
