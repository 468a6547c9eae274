# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a first candidate for a chain of operators with matrix products. Stands before image_seed.py in one script.

forward's operators are recorded while it runs. If all of them are matrix products, elementwise operators (ELEMENTWISE) or operators
on rows (ROWS), the products become [[call]] entries of a launch plan, and the operators between them kernels; otherwise there is no
seed. In its text `@{t:in x}` stands for a tensor of the task ("in", "state" or "out", and its name here) and `@{d:expression}` for
an expression over the file's sizes.
"""
import re


class NoSeed(Exception):
    """There is no seed; the message names the operator that cannot be written."""


# Elementwise operators as C expressions of float arguments {0}, {1}, …, which are the operator's tensors and numbers in their order.
# Comparisons are written so that NaN gives NaN, as in PyTorch.
ELEMENTWISE = {
    "relu": "{0} < 0.0f ? 0.0f : {0}", "sigmoid": "1.0f / (1.0f + expf(-{0}))", "tanh": "tanhf({0})", "exp": "expf({0})", "log": "logf({0})", "pow": "powf({0}, {1})", "neg": "-{0}",
    "abs": "fabsf({0})", "sqrt": "sqrtf({0})", "rsqrt": "rsqrtf({0})", "silu": "{0} / (1.0f + expf(-{0}))", "square": "{0} * {0}",
    "hardswish": "{0} * ({0} + 3.0f < 0.0f ? 0.0f : {0} + 3.0f > 6.0f ? 6.0f : {0} + 3.0f) / 6.0f", "hardsigmoid": "({0} + 3.0f < 0.0f ? 0.0f : {0} + 3.0f > 6.0f ? 6.0f : {0} + 3.0f) / 6.0f",
    "mish": "{0} * tanhf({0} > 20.0f ? {0} : log1pf(expf({0})))", "add": "{0} + {2} * {1}", "sub": "{0} - {2} * {1}", "rsub": "{1} - {2} * {0}", "mul": "{0} * {1}",
    "div": "{0} / {1}", "maximum": "{0} < {1} || {1} != {1} ? {1} : {0}", "minimum": "{0} > {1} || {1} != {1} ? {1} : {0}", "clamp_min": "{0} < {1} ? {1} : {0}", "clamp_max": "{0} > {1} ? {1} : {0}",
    "hardtanh": "{0} < {1} ? {1} : {0} > {2} ? {2} : {0}", "clamp": "{0} < {1} ? {1} : {0} > {2} ? {2} : {0}", "leaky_relu": "{0} > 0.0f ? {0} : {1} * {0}",
    "elu": "{0} > 0.0f ? {2} * {0} : {1} * {2} * expm1f({3} * {0})", "softplus": "{0} > 20.0f ? {0} : log1pf(expf({0}))",
    "gelu": "0.5f * {0} * (1.0f + erff({0} * 0.70710678f))",
    "gelu_tanh": "0.5f * {0} * (1.0f + tanhf(0.79788456f * ({0} + 0.044715f * {0} * {0} * {0})))",
}
DEFAULTS = {"add": [1.0], "sub": [1.0], "leaky_relu": [0.01], "elu": [1.0, 1.0, 1.0], "rsub": [1.0], "hardtanh": [-1.0, 1.0]}
ALIASES = {"view", "_unsafe_view", "reshape", "detach", "alias", "clone", "contiguous", "_reshape_alias"}
ROWS = {"_softmax", "_log_softmax", "native_layer_norm", "sum", "mean", "amax"}


class Node:
    """A tensor of the trace. `kind`: "full" (a row for each row), "row" (a number for each row), "vector" (one row for all),
    "matrix" (a factor of products). `width`: the expression of a row's length."""

    def __init__(self, op, arguments, shape, kind, width, place=None, extra=None):
        self.op, self.arguments, self.shape, self.kind, self.width = op, arguments, tuple(shape), kind, width
        self.place, self.extra = place, extra  # place: the plan's tensor that holds the elements; None: they are not written yet


def product(*texts):
    """Returns the product of expressions, with parentheses around those that need them."""
    return " * ".join(f"({text})" if re.search(r"[^\w]", text) else text for text in texts) or "1"


def number(value):
    """Returns a float literal in C."""
    value = float(value)
    if not math.isfinite(value):
        raise NoSeed("a number that is not finite")
    return repr(value) + "f"


def elementwise(name, arguments, keywords, node):
    """Returns (operator, arguments for ELEMENTWISE: node(tensor) for a tensor, C text for a number)."""
    import torch
    op = "gelu_tanh" if name == "gelu" and keywords.get("approximate") == "tanh" else name
    if op not in ELEMENTWISE:
        raise NoSeed(name)
    given = list(arguments) + [value for key, value in keywords.items() if key != "approximate"]
    if name == "softplus":  # ELEMENTWISE knows it with PyTorch's default beta and threshold only
        if any(float(value) != one for one, value in zip([1.0, 20.0], given[1:])):
            raise NoSeed(f"{name} with other parameters")
        given = given[:1]
    if name == "clamp" and (len(given) < 3 or given[1] is None or given[2] is None):
        if len(given) > 2 and given[1] is None:
            op, given = "clamp_max", [given[0], given[2]]
        else:
            op, given = "clamp_min", given[:2]
    if name == "pow" and not isinstance(given[1], (int, float)):
        raise NoSeed("pow with a tensor as its exponent")
    if name == "pow" and float(given[1]) in (1.0, 2.0):  # powf of a negative number by 2.0f is exact too, and slower
        op, given = ("square", given[:1]) if float(given[1]) == 2.0 else ("mul", [given[0], 1.0])
    made = [node(one) if torch.is_tensor(one) else number(one) for one in given]
    wanted = 1 + max(int(one) for one in re.findall(r"\{(\d)\}", ELEMENTWISE[op]))
    defaults = [number(one) for one in DEFAULTS.get(op, [])]
    while len(made) < wanted and defaults:
        made.append(defaults[len(defaults) - (wanted - len(made))])
    if len(made) != wanted:
        raise NoSeed(f"{name} with other parameters")
    return op, made


class Trace:
    """Records forward's operators as Nodes."""

    def __init__(self, leaves, rows):
        self.known, self.keep, self.rows, self.order = {}, [], rows, []
        for tensor, node in leaves:
            self.set(tensor, node)

    def set(self, tensor, node):
        self.known[id(tensor)] = node
        self.keep.append(tensor)

    def node(self, tensor):
        if id(tensor) not in self.known:
            raise NoSeed("a tensor that forward makes of nothing")
        return self.known[id(tensor)]

    def add(self, tensor, op, arguments, kind, width, extra=None):
        """Records the result of an operator, which must be a matrix of float32, or a number for each row."""
        node = Node(op, arguments, tensor.shape, kind, width, extra=extra)
        count = math.prod(node.shape)
        if str(tensor.dtype) != "torch.float32" or count != (self.rows if kind == "row" else self.rows * node.shape[-1]):
            raise NoSeed(f"{op}, whose result is no matrix of float32 with a row for each row")
        self.order.append(node)
        self.set(tensor, node)

    def record(self, name, arguments, keywords, result):
        """Records one operator of forward."""
        import torch
        if name in ALIASES:
            node = self.node(arguments[0])
            if result.dim() == 0 or node.kind != "full" or node.shape[-1] != result.shape[-1]:
                raise NoSeed(f"{name} to another length of rows")
            moved = Node(node.op, node.arguments, result.shape, node.kind, node.width, extra=node.extra)
            moved.same = getattr(node, "same", node)
            return self.set(result, moved)
        if name == "t":
            node = self.node(arguments[0])
            if node.kind != "matrix":
                raise NoSeed("a transposed tensor that is no weight")
            return self.set(result, Node("t", [node], result.shape, "turned", node.width))
        if name in ("addmm", "mm"):
            if keywords:
                raise NoSeed(f"{name} with factors")
            bias, left, right = (arguments if name == "addmm" else (None, *arguments))
            left, right = self.node(left), self.node(right)
            turned = right.kind == "turned"
            weight = right.arguments[0] if turned else right
            if left.kind != "full" or weight.kind != "matrix" or (bias is not None and self.node(bias).kind != "vector"):
                raise NoSeed(f"{name} of other tensors than rows and a weight")
            return self.add(result, "matmul", [left, weight] + ([self.node(bias)] if bias is not None else []), "full",
                            weight.extra[0 if turned else 1], extra=turned)
        if name in ROWS:
            return self.row_operator(name, arguments, keywords, result)
        op, made = elementwise(name, arguments, keywords, self.node)
        nodes = [one for one in made if isinstance(one, Node)]
        full = [one for one in nodes if one.kind == "full"]
        if any(one.kind not in ("full", "row", "vector") for one in nodes) or any(one.width != full[0].width for one in full):
            raise NoSeed(f"{name} of matrices of different widths")
        if full and any(one.kind == "vector" and one.width != full[0].width or one.kind == "row" and one.shape[-1:] != (1,) for one in nodes):
            raise NoSeed(f"{name} with a tensor that is spread in another way")
        if not full and any(one.kind != "row" for one in nodes):
            raise NoSeed(f"{name} of weights alone")
        self.add(result, op, made, "full" if full else "row", full[0].width if full else "1")

    def row_operator(self, name, arguments, keywords, result):
        """Records an operator on rows."""
        node = self.node(arguments[0])
        first = result[0] if name == "native_layer_norm" else result
        dims = list(arguments[1]) if isinstance(arguments[1], (list, tuple)) else [arguments[1]]
        last = len(node.shape) - 1
        if node.kind != "full" or len(dims) != 1:
            raise NoSeed(f"{name} over more than rows")
        if name == "native_layer_norm":
            if dims[0] != node.shape[-1] or any(one is not None and self.node(one).kind != "vector" for one in arguments[2:4]):
                raise NoSeed("a layer normalization over more than rows")
            weights = [self.node(one) for one in arguments[2:4] if one is not None]
            return self.add(first, name, [node] + weights, "full", node.width, extra=(number(arguments[4]), arguments[2] is not None, arguments[3] is not None))
        if dims[0] % len(node.shape) != last or keywords.get("dtype") is not None:
            raise NoSeed(f"{name} over another axis than the last")
        full = name in ("_softmax", "_log_softmax")
        self.add(first, name, [node], "full" if full else "row", node.width if full else "1")


class Writer:
    """Writes the seed's text."""

    def __init__(self, rows):
        self.rows, self.plan, self.code, self.step, self.helpers = rows, "", "", 0, set()

    def load(self, node, pointers):
        """Returns C for the element of a stored tensor, and adds the tensor to the kernel's pointers."""
        index = {"full": "r * width + c", "row": "r", "vector": "c"}[node.kind]
        if node.place not in pointers:
            pointers.append(node.place)
        return f"p{pointers.index(node.place)}[{index}]"

    def value(self, node, pointers, lines, names):
        """Returns the name of a C++ variable that holds the node's element, and adds the lines that define it to `lines`."""
        node = getattr(node, "same", node)
        if node not in names:
            if node.place is not None:
                text = self.load(node, pointers)
            else:
                made = [self.value(one, pointers, lines, names) if isinstance(one, Node) else one for one in node.arguments]
                text = ELEMENTWISE[node.op].format(*made)
            names[node] = f"v{len(names)}"
            lines.append(f"    const float {names[node]} = {text};")
        return names[node]

    def lambda_of(self, node, pointers):
        """Returns a C++ lambda at(c) that computes the node's element in column c of row r."""
        lines = []
        result = self.value(node, pointers, lines, {})
        return "  const auto at = [&](long long c) {\n" + "\n".join(lines) + f"\n    return {result};\n  }};\n"

    def launch(self, grid, pointers, out, width, body, comment):
        """Adds a kernel and its launch as the next step."""
        name = f"step_{self.step}"
        reads = ", ".join(f"const float* p{i}" for i in range(len(pointers)))
        names = ", ".join(f'"{one}"' for one in pointers + [out])
        self.plan += (f'\n[[launch]]\nstep   = {self.step}\nkernel = "{name}"\ngrid   = ["{grid}"]\nblock  = ["256"]\n'
                      f'args   = [{names}, "@{{d:{self.rows}}}:i64", "@{{d:{width}}}:i64"]\n')
        self.code += f"\n// {comment}\n__global__ void {name}({reads}, float* out, long long rows, long long width) {{\n{body}}}\n"
        self.step += 1

    def elements(self, node, out):
        """Writes a kernel that computes all elements of a node and stores them in `out`."""
        pointers = []
        at = self.lambda_of(node, pointers)
        width = node.width if node.kind == "full" else "1"
        body = ("  const long long i = blockIdx.x * 256LL + threadIdx.x;\n  if (i >= rows * width) return;\n  const long long r = i / width;\n" + at
                + "  out[i] = at(i % width);\n")
        self.launch(f"ceil_div(@{{d:{product(self.rows, width)}}}, 256)", pointers, out, width, body, "One thread an element.")

    def over_rows(self, node, out):
        """Writes a kernel with a block per row for an operator on rows."""
        pointers = []
        at = self.lambda_of(node.arguments[0], pointers)
        body = "  const long long r = blockIdx.x;\n  if (r >= rows) return;\n" + at
        each = "  for (long long c = threadIdx.x; c < width; c += 256) "
        if node.op in ("_softmax", "_log_softmax"):
            self.helpers |= {"Largest", "Sum"}
            body += f"  float most = -INFINITY, sum = 0.0f;\n{each}most = fmaxf(most, at(c));\n  most = Largest(most);\n{each}sum += expf(at(c) - most);\n  sum = Sum(sum);\n"
            body += each + ("out[r * width + c] = expf(at(c) - most) / sum;\n" if node.op == "_softmax" else "out[r * width + c] = at(c) - most - logf(sum);\n")
        elif node.op == "native_layer_norm":
            self.helpers.add("Sum")
            eps, weighted, biased = node.extra
            rest = list(node.arguments[1:])
            scale = f" * {self.load(rest.pop(0), pointers)}" if weighted else ""
            shift = f" + {self.load(rest.pop(0), pointers)}" if biased else ""
            # Sums are in double precision, since a row's mean may be large compared with its spread.
            body += (f"  double sum = 0.0, squares = 0.0;\n{each}sum += at(c);\n  const double mean = Sum(sum) / static_cast<double>(width);\n"
                     f"{each}squares += (at(c) - mean) * (at(c) - mean);\n  const double scale = rsqrt(Sum(squares) / static_cast<double>(width) + {eps});\n"
                     f"{each}out[r * width + c] = static_cast<float>((at(c) - mean) * scale){scale}{shift};\n")
        else:
            largest = node.op == "amax"
            self.helpers.add("Largest" if largest else "Sum")
            body += f"  float result = {'-INFINITY' if largest else '0.0f'};\n" + each
            body += "result = fmaxf(result, at(c));\n  result = Largest(result);\n" if largest else "result += at(c);\n  result = Sum(result);\n"
            body += f"  if (threadIdx.x == 0) out[r] = result{' / static_cast<float>(width)' if node.op == 'mean' else ''};\n"
        self.launch(f"@{{d:{self.rows}}}", pointers, out, node.arguments[0].width, body, "One block a row.")

    def matmul(self, node, out):
        """Writes a matrix product as a [[call]]."""
        left, weight = getattr(node.arguments[0], "same", node.arguments[0]), node.arguments[1]
        self.plan += (f'\n[[call]]\nstep = {self.step}\nop   = "matmul"\na    = "{left.place}"\nb    = "{weight.place}"\nout  = "{out}"\n'
                      f'm    = "@{{d:{self.rows}}}"\nn    = "@{{d:{node.width}}}"\nk    = "@{{d:{left.width}}}"\n')
        self.plan += "transpose_b = true\n" if node.extra else ""
        self.plan += f'bias = "{node.arguments[2].place}"\n' if len(node.arguments) > 2 else ""
        self.step += 1

    def text(self, workspaces):
        """Returns the seed. `workspaces`: [(name, width)]."""
        reduce = ("\n// {0} over the threads of a block, for all of them.\ntemplate <typename T>\n__device__ T {0}(T value) {{\n  __shared__ T parts[256];\n  __syncthreads();\n"
                  "  parts[threadIdx.x] = value;\n  __syncthreads();\n  for (int half = 128; half > 0; half /= 2) {{\n"
                  "    if (threadIdx.x < half) parts[threadIdx.x] = {1};\n    __syncthreads();\n  }}\n  return parts[0];\n}}\n")
        other = "parts[threadIdx.x + half]"
        code = "".join(reduce.format(name, f"fmaxf(parts[threadIdx.x], {other})" if name == "Largest" else f"parts[threadIdx.x] + {other}") for name in sorted(self.helpers))
        scratch = "".join(f'[[workspace]]\nname  = "{name}"\nbytes = "@{{d:{product(self.rows, width)} * 4}}"\n\n' for name, width in workspaces)
        return ("// A first version, made of forward's operators: products by a library's calls, and what stands between them by plain kernels.\n/*hone\n"
                + (scratch + self.plan).lstrip("\n").replace("\n\n\n", "\n\n") + "*/\n" + (code + self.code).lstrip("\n"))


def traced_forward(trial, start, expressions, inputs_named, state_named):
    """Runs forward once and returns (trace, outputs). start([(tensor, extents, place)]) of inputs and state makes the trace, whose
    record() is called for each operator."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode
    if any(str(one.dtype) != "torch.float32" for one in list(trial.inputs) + list(trial.state.values()) if torch.is_tensor(one)):
        raise NoSeed("inputs of other dtypes than float32")
    model = model_for(trial.problem, trial.sizes, "float32")
    given = {name: as_dtype(tensor, torch.float32).clone() for name, tensor in trial.all_state.items()}
    taken = [as_dtype(one, torch.float32).clone() if torch.is_tensor(one) else one for one in trial.inputs]
    leaves = []
    for i, one in enumerate(taken):
        if torch.is_tensor(one):
            leaves.append((one, [expressions[("in", i, axis)] for axis in range(one.dim())], f"@{{t:in {inputs_named[i]}}}"))
    for name in state_named:
        leaves.append((given[name], [expressions[("state", name, axis)] for axis in range(given[name].dim())], f"@{{t:state {name}}}"))
    trace = start(leaves)

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, function, kinds, arguments=(), keywords=None):
            result = function(*arguments, **(keywords or {}))
            trace.record(function.__name__.split(".")[0], arguments, keywords or {}, result)
            return result

    with torch.no_grad(), Watch():
        made = outputs_of(torch.func.functional_call(model, given, tuple(taken)))
    return trace, made


def seed_of(trial, expressions, inputs_named, state_named, outputs_named):
    """Returns (text, "") or ("", why there is no seed). The names of inputs, state and outputs are those of the task's description."""
    try:
        def start(leaves):
            first = next((one for one in leaves if one[0].dim() > 1 and "{t:in " in one[2]), None)
            if first is None:
                raise NoSeed("inputs without rows")
            leading = first[1][:-1]
            nodes = []
            for one, texts, place in leaves:
                if "{t:in " in place:
                    kind = "full" if one.dim() > 1 and texts[:-1] == leading else "vector" if one.dim() == 1 else "matrix"
                else:
                    kind = {1: "vector", 2: "matrix"}.get(one.dim(), "other")
                nodes.append((one, Node("leaf", [], one.shape, kind, texts[-1] if texts else "1", place, texts)))
            made = Trace(nodes, math.prod(first[0].shape[:-1]))
            made.rows_text = product(*leading)
            return made

        trace, made = traced_forward(trial, start, expressions, inputs_named, state_named)
        rows_text = trace.rows_text
        outputs = [getattr(trace.node(one), "same", trace.node(one)) for one in made]
        if not any(node.op == "matmul" for node in trace.order):
            raise NoSeed("no matrix product")
        if len(set(outputs)) != len(outputs) or any(node.op == "leaf" for node in outputs):
            raise NoSeed("an output that is an input, or given twice")
        lefts = {getattr(node.arguments[0], "same", node.arguments[0]) for node in trace.order if node.op == "matmul"}
        writer, workspaces = Writer(rows_text), []
        for node in trace.order:
            if not (node in outputs or node in lefts or node.op == "matmul" or node.op in ROWS):
                continue
            if node in outputs:
                out = f"@{{t:out {outputs_named[outputs.index(node)]}}}"
            else:
                out = f"scratch_{len(workspaces)}"
                workspaces.append((out, node.width))
            (writer.matmul if node.op == "matmul" else writer.over_rows if node.op in ROWS else writer.elements)(node, out)
            node.place = out
        return writer.text(workspaces), ""
    except NoSeed as reason:
        return "", str(reason)
    except Exception as error:  # an unforeseen form of an operator: the task is usable without a seed
        return "", f"{type(error).__name__}: {first_line(error)}"
