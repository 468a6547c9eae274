# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds how the extents of a problem's tensors follow from its sizes, by building it at other sizes. Stands behind problem.py in
one script.

Problems are built on PyTorch's meta device, where tensors have shapes and no memory, so that any size is cheap.
"""

import re

MOST_SHIFT = 64  # the largest a, in an extent such as (d + a) / stride + 1 with a = 2 * padding - kernel
MOST_STRIDE = 16


class CheapShapes:
    """A context in which operators that PyTorch's meta device computes slowly make results of the right shapes at once.

    RNN, LSTM and GRU make as many matrix products as they need, without steps: otherwise the device goes through every step of a
    sequence, which takes seconds per call. A batch normalization makes nothing but its result: otherwise it runs a dozen operators in
    Python, which takes most of the time of a deep network.
    """

    def __init__(self, device):
        self.device, self.plain, self.norm = device, {}, None

    def __enter__(self):
        import torch
        if self.device != "meta":
            return
        for kind in (torch.nn.RNN, torch.nn.LSTM, torch.nn.GRU):
            self.plain[kind], kind.forward = kind.forward, self.replaced(kind.forward)
        self.norm = torch.nn.functional.batch_norm
        torch.nn.functional.batch_norm = self.normalized(self.norm)

    def __exit__(self, *_):
        import torch
        for kind, forward in self.plain.items():
            kind.forward = forward
        if self.norm is not None:
            torch.nn.functional.batch_norm = self.norm

    @staticmethod
    def normalized(plain):
        import torch

        def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
            channels = [one.numel() for one in (running_mean, running_var, weight, bias) if one is not None]
            width = input.shape[1] if input.dim() > 1 else 0
            if width == 0 or any(one != width for one in channels) or training and input.numel() // width < 2:
                return plain(input, running_mean, running_var, weight, bias, training, momentum, eps)  # raises PyTorch's own error
            return torch.empty_like(input)

        return batch_norm

    @staticmethod
    def replaced(plain):
        import torch

        def forward(self, input, hx=None):
            if not torch.is_tensor(input) or input.dim() not in (2, 3):
                return plain(self, input, hx)
            directions, gates, size = 2 if self.bidirectional else 1, {"LSTM": 4, "GRU": 3}.get(self.mode, 1), self.proj_size or self.hidden_size
            batch = () if input.dim() == 2 else (input.shape[0 if self.batch_first else 1],)
            state = [(self.num_layers * directions, *batch, one) for one in ((size, self.hidden_size) if self.mode == "LSTM" else (size,))]
            given = [] if hx is None else list(hx) if isinstance(hx, (tuple, list)) else [hx]
            if input.shape[-1] != self.input_size or given and [tuple(one.shape) for one in given] != state:
                raise RuntimeError(f"{type(self).__name__} of inputs of {self.input_size} and states of {state} is given {list(input.shape)} and "
                                   f"{[list(one.shape) for one in given]}")
            steps = math.prod(input.shape[:-1])
            for layer in range(self.num_layers * directions):
                for width in (self.input_size if layer < directions else size * directions, size):
                    torch.mm(input.new_empty(steps, width), input.new_empty(width, gates * self.hidden_size))
                if self.proj_size:
                    torch.mm(input.new_empty(steps, self.hidden_size), input.new_empty(self.hidden_size, size))
            made = [input.new_empty(one) for one in state]
            return input.new_empty(*input.shape[:-1], size * directions), tuple(made) if self.mode == "LSTM" else made[0]

        return forward


class Shapes:
    """Finds the extents of one problem at given sizes. `device`: "meta", or "cpu" if the module depends on values."""

    def __init__(self, problem, device):
        self.problem, self.device = problem, device
        self.known = {}

    def at(self, changed):
        """Returns ({extent's key: number}, {tensor's key: (axes, dtype)}), or a sentence that says why the problem fails. Keys of extents
        are ("in", number, axis), ("state", name, axis) or ("out", number, axis). `changed`: the sizes that differ from the file's."""
        key = tuple(sorted(changed.items()))
        if key not in self.known:
            sizes = {**self.problem.sizes, **changed}
            try:
                self.known[key] = self._run(sizes)
            except Refused:
                raise
            except Exception as error:
                self.known[key] = f"{type(error).__name__}: {first_line(error)}"
        return self.known[key]

    def _run(self, sizes, seed=0):
        import torch
        torch.manual_seed(seed)
        with torch.device(self.device), torch.no_grad(), CheapShapes(self.device):
            model, names = self.problem.build(sizes)
            inputs = inputs_of(names)
            state = state_of(model)
            found = {("in", i): one for i, one in enumerate(inputs) if torch.is_tensor(one)}
            found.update({("state", name): one for name, one in state.items() if not counter(name, one)})
            before = {key: (tuple(one.shape), str(one.dtype)) for key, one in found.items()}
            results = outputs_of(model(*inputs))
        before.update({("out", i): (tuple(one.shape), str(one.dtype)) for i, one in enumerate(results)})
        extents = {(*key, axis): size for key, (shape, _) in before.items() for axis, size in enumerate(shape)}
        kinds = {key: (len(shape), dtype) for key, (shape, dtype) in before.items()}
        return extents, kinds


class DeclaredShapes(Shapes):
    """Finds extents by the problem's own get_shapes() (definition.py), without running the module."""

    def __init__(self, problem):
        super().__init__(problem, "meta")

    def _run(self, sizes, seed=0):
        inputs, outputs = self.problem.run_file(sizes)["get_shapes"]()
        named = {("in", i): one for i, one in enumerate(inputs) if one is not None}
        named.update({("out", i): one for i, one in enumerate(outputs)})
        extents = {(*key, axis): size for key, (_, shape) in named.items() for axis, size in enumerate(shape)}
        if any(size <= 0 for size in extents.values()):
            raise ValueError("an axis has no elements")
        return extents, {key: (len(shape), "torch." + dtype) for key, (dtype, shape) in named.items()}


def works(shapes, base, sizes):
    """Returns the extents at these sizes; None: the problem fails, has other tensors, or a tensor becomes empty there.

    In some versions, PyTorch's meta device accepts a convolution whose kernel is larger than its input: its result is empty.
    """
    found = shapes.at(sizes)
    if isinstance(found, str) or found[1] != base[1]:
        return None
    return found[0] if all(size > 0 or base[0][key] == 0 for key, size in found[0].items()) else None


def multiple_of(shapes, base, name, size, others, least=1):
    """Returns (number of which sizes of `name` must be multiples, None), or (None, why the module works at no other size). The number
    is itself a multiple of `least`."""
    for unit in (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128):
        if unit > size or size % unit != 0 or unit % least != 0:
            continue
        tries = [unit * count for count in (size // unit + 1, size // unit + 2, size // unit + 3, max(1, size // unit - 1))]
        if all(works(shapes, base, {**others, name: one}) is not None for one in tries):
            return unit, None
    told = shapes.at({**others, name: size + 1})
    return None, told if isinstance(told, str) else "the number or the kind of tensors would change, or one would be empty"


def depends(shapes, base, name, size, unit):
    """Returns the keys of the extents that change with `name`, at the next multiple or at one of a few later ones."""
    changed = set()
    for count in (1, 2, 3, 17):
        other = works(shapes, base, {name: size + unit * count})
        changed |= {key for key in base[0] if other is not None and other[key] != base[0][key]}
    return changed


def fit_one(name, points):
    """Returns an expression over the size `name` that gives all pairs (size, extent); None: none was found."""
    (x0, y0) = points[0]
    if all(x == y for x, y in points):
        return name
    if all(x * y0 == y * x0 for x, y in points) and y0 % x0 == 0:
        return f"{y0 // x0} * {name}"
    if y0 > 1 and x0 % y0 == 0 and all(x * y0 == y * x0 for x, y in points):
        return f"{name} / {x0 // y0}"
    if all(y - x == y0 - x0 for x, y in points) and abs(y0 - x0) <= 1 << 20:
        return f"{name} {'+' if y0 > x0 else '-'} {abs(y0 - x0)}"
    (x1, y1) = points[-1]
    if x1 != x0 and (y1 - y0) % (x1 - x0) == 0:
        slope = (y1 - y0) // (x1 - x0)
        rest = y0 - slope * x0
        if slope > 0 and all(slope * x + rest == y for x, y in points):
            return f"{slope} * {name} {'+' if rest > 0 else '-'} {abs(rest)}"
    for stride in range(2, MOST_STRIDE + 1):
        # Several forms may agree at these points. One whose dividend is never negative is right at small sizes too.
        for rest, shift in sorted(((rest, shift) for rest in (1, 0, 2, -1) for shift in range(-MOST_SHIFT, MOST_SHIFT + 1)),
                                  key=lambda one: (abs(one[0] - 1), abs(one[1]))):
            if all(x + shift >= 0 and (x + shift) // stride + rest == y for x, y in points):
                inner = name if shift == 0 else f"({name} {'+' if shift > 0 else '-'} {abs(shift)})"
                return f"{inner} / {stride}" + (f" {'+' if rest > 0 else '-'} {abs(rest)}" if rest else "")
    return None


def parenthesized(text):
    """Returns the expression, in parentheses if it is a sum, a difference or a quotient."""
    return f"({text})" if any(sign in text for sign in "+-/") else text


class Fitter:
    def __init__(self, shapes, base, sizes, units):
        self.shapes, self.base, self.sizes, self.units = shapes, base, sizes, units

    def points(self, key, name):
        """Returns the pairs (size of `name`, extent) at sizes where the problem works."""
        size, unit = self.sizes[name], self.units[name]
        found = []
        for one in [size + unit * count for count in (0, 1, 2, 3, 4, 5, 7, 12, 17)] + [unit * count for count in range(1, 6)]:
            extents = works(self.shapes, self.base, {name: one})
            if extents is not None:
                found.append((one, extents[key]))
        return found

    def value(self, key, changed):
        """Returns the extent at changed sizes; None: the problem does not work there."""
        extents = works(self.shapes, self.base, changed)
        return None if extents is None else extents[key]

    def fit(self, key, names):
        """Returns an expression over the sizes `names` for the extent `key`; None: none was found."""
        size = self.base[0][key]
        if not names:
            return str(size)
        singles = {name: fit_one(name, self.points(key, name)) for name in names}
        if len(names) == 1:
            return singles[names[0]]
        at = {name: self.sizes[name] for name in names}
        # Tries a constant times the product of the sizes, then a sum of multiples of them, then a product of expressions of one size each (a
        # flattened convolution). The last comes last because its quotient of large numbers is close to a sum at many sizes.
        texts = []
        product = math.prod(at.values())
        if size % product == 0:
            texts.append(" * ".join(([str(size // product)] if size != product else []) + list(names)))
        slopes = [re.fullmatch(rf"(?:(\d+) \* )?{name}(?: [+-] \d+)?", singles[name] or "") for name in names]
        if all(slopes):
            slopes = [int(one[1] or 1) for one in slopes]
            rest = size - sum(slope * at[name] for slope, name in zip(slopes, names))
            texts.append(" + ".join(f"{slope} * {name}" if slope != 1 else name for slope, name in zip(slopes, names))
                         + (f" {'+' if rest > 0 else '-'} {abs(rest)}" if rest else ""))
        if all(isinstance(one, str) for one in singles.values()):
            # The extent is prod f_i(d_i) / E0^(n-1), where f_i is the extent as an expression of size d_i alone, and E0 the extent at the
            # file's sizes.
            power = size ** (len(names) - 1)
            texts.append("(" + " * ".join(f"({singles[name]})" for name in names) + f") / {power}")
        if len(names) == 2:  # a difference (a convolution's result) or a quotient (the groups of a row)
            for one, other in (names, names[::-1]):
                rest = size - at[one] + at[other]
                texts.append(f"{one} - {other}" + (f" {'+' if rest > 0 else '-'} {abs(rest)}" if rest else ""))
                texts.append(f"{one} / {other}")
        for text in texts:
            if len(text) < 200 and self.holds(text, key, names):
                return text
        return None

    def holds(self, text, key, names):
        """Returns whether the expression gives the extent at other sizes, of which at least three must work."""
        tried = 0
        tries = []
        for step in range(1, 9):
            changed = {name: self.sizes[name] + self.units[name] * ((step * (3 + 2 * i)) % 11) for i, name in enumerate(names)}
            if step > 6:  # at much larger sizes, an expression that is only close fails
                changed = {name: size * (2 + (step + i) % 3) for i, (name, size) in enumerate(changed.items())}
            tries.append(changed)
        if "/" in text and len(names) == 2:  # one size may have to divide the other: tries multiples of both
            tries += [{name: self.sizes[name] * factor for name, factor in zip(names, factors)} for factors in ((2, 1), (2, 2), (3, 1), (4, 2), (1, 2), (2, 4))]
        for changed in tries:
            expected = self.value(key, changed)
            if expected is None:
                continue
            tried += 1
            if evaluate_text(text, changed) != expected:
                return False
        return tried >= 3


def evaluate_text(text, sizes):
    """Returns the value of an expression of whole numbers as Hone computes it: division truncates. No number is negative here."""
    return eval(compile(text.replace("/", "//"), "expression", "eval"), {"__builtins__": {}}, dict(sizes))


def tied_sizes(shapes, fixed_by_user):
    """Returns [(name, names)]: sizes that are the same number, and that the module takes at other numbers only if they are the same there too.

    An example is a vector of `batch` numbers that is broadcast along the `width` of a matrix. `name` stands first in the file.
    """
    base, rigid = shapes.at({}), {}
    for name, size in shapes.problem.sizes.items():
        if size > 1 and name not in fixed_by_user and any(extent == size for extent in base[0].values()) and multiple_of(shapes, base, name, size, {})[0] is None:
            rigid.setdefault(size, []).append(name)
    found = []
    for size, names in rigid.items():
        pairs = [[one, other] for i, one in enumerate(names) for other in names[i + 1:]]
        for tied in ([names] if len(names) > 2 else []) + pairs:
            others = [works(shapes, base, dict.fromkeys(tied, size + step)) for step in (1, 2, 3, -1)]
            if not any(name in one for name in tied for _, one in found) and all(one is not None for one in others):
                found.append((tied[0], tied))
    return found


def tie(text, problem, tied):
    """Returns the file's text with the first of some sizes written in place of the numbers of the others; None: it cannot be written so.

    `tied`: a group of tied_sizes().
    """
    leader, names = tied
    nodes = {name: held(holder, key) for name, holder, key in places(problem.tree) if name in names}
    # `height = width = 64` has one number for both, and a tuple's numbers are known only once the tuple is.
    spots = {name: (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset) for name, node in nodes.items()}
    if len(set(spots.values())) != len(names) or leader not in simple_names(problem.tree):
        return None
    lines = text.encode().splitlines(keepends=True)
    for name in sorted((one for one in names if one != leader), key=lambda one: spots[one], reverse=True):
        first, begin, last, end = spots[name]
        if first != last or spots[leader] > spots[name]:
            return None
        lines[first - 1] = lines[first - 1][:begin] + leader.encode() + lines[first - 1][end:]
    return b"".join(lines).decode()


def simple_names(tree):
    """Returns the module-level names that a statement of their own sets to a whole number, and no other statement sets."""
    found = [statement.targets[0].id for statement in tree.body
             if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)]
    whole = [name for name, holder, key in places(tree) if key is None and whole_constant(held(holder, key)) is not None]
    return {name for name in whole if found.count(name) <= 1}


def find_dimensions(shapes, fixed_by_user, notes, least=None):
    """Returns (dims, expressions): the sizes that vary, {name: {"size", "multiple"}}, and {extent's key: text} for every extent.

    A size that the module fixes, or whose effect on an extent is no single expression, keeps the file's number; `notes` gets the
    reason. `least`: {name: number of which the size is a multiple}, as far as that is known beforehand.
    """
    base = shapes.at({})
    if isinstance(base, str):
        raise Refused(base)
    sizes, units, effects = {}, {}, {}
    for name, size in shapes.problem.sizes.items():
        if name in fixed_by_user:
            notes.append(f"{name} = {size} is fixed: --fix")
            continue
        unit, why = multiple_of(shapes, base, name, size, {}, (least or {}).get(name, 1))
        if unit is None:
            # A number that is an extent of no tensor is a setting and no size: it gets no note.
            if any(extent == size for extent in base[0].values()):
                notes.append(f"{name} = {size} is fixed: at other sizes the module fails ({why})")
            continue
        effect = depends(shapes, base, name, size, unit)
        if effect:
            sizes[name], units[name], effects[name] = size, unit, effect
    inputs = {name: any(key[0] == "in" for key in effects[name]) for name in sizes}
    while True:
        fitter = Fitter(shapes, base, sizes, units)
        expressions, unfit = {}, None
        for key in base[0]:
            names = [name for name in sizes if key in effects[name]]
            expressions[key] = fitter.fit(key, names)
            if expressions[key] is None:
                unfit = (key, names)
                break
        if unfit is None:
            return {name: {"size": sizes[name], "multiple": units[name]} for name in sizes}, expressions
        key, names = unfit
        # A size on which no input's shape depends is given up before one on which an input's shape does.
        given_up = min(names, key=lambda name: (inputs[name], -list(sizes).index(name)))
        notes.append(f"{given_up} = {sizes[given_up]} is fixed: how the shape of {' '.join(map(str, key[:2]))} follows from "
                     f"{' and '.join(names)} cannot be said in one expression")
        for table in (sizes, units, effects):
            del table[given_up]
