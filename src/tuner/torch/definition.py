# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a PyTorch problem of a benchmark's definition. Stands behind problem.py in one script.

A definition is a JSON file of FlashInfer-Bench or SOL-ExecBench: axes, inputs and outputs whose shapes are names of axes, and a
reference `run` in Python. Its workloads are lines of JSON with a size for every axis that varies. The problem that is made of
both has a class `Model` that calls `run`, `get_inputs()`, and two functions that other problems lack. They state what must
otherwise be found out by running the problem at many sizes:

* `get_shapes()` returns ([(dtype, shape) for each input, None for a number], [(dtype, shape) for each output]), and fails if a
  constraint of the definition does not hold;
* `get_values()` returns how each input is drawn, by name, in the form of a task's `values`.
"""
import os
import struct

MOST_TIMED = 8  # at most so many workloads become timed cases
HELD = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int64", "int32", "int16", "int8", "bool",
        "float4_e2m1", "float4_e2m1fn_x2")
PACKED = ("float4_e2m1", "float4_e2m1fn_x2")  # pairs: a byte of a task, and a float4_e2m1fn_x2 for `run`
BYTES = ("bool", *PACKED)  # dtypes that are bytes in a task
INTEGERS = ("int64", "int32", "int16", "int8")
RANDOM_BOUND = 1024  # FlashInfer-Bench draws integers below this if nothing says what they mean
STORED = {"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn",
          "F8_E5M2": "float8_e5m2", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool"}


def read_json(text, file, what):
    """Returns the JSON object in `text`. `what` says in the error what the file should be."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise Refused(f"{file} is no JSON ({first_line(error)}): give {what}") from error
    if not isinstance(value, dict):
        raise Refused(f"{file} holds no JSON object: give {what}")
    return value


def identifier(name, what, file):
    """Returns `name`, which must be an identifier. `what`: axis or tensor, for the error."""
    import keyword
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise Refused(f"{file}: {what} {name!r} is no name that Python takes: rename it in the definition and its reference")
    return name


def names_in(expression):
    """Returns the names that an expression uses."""
    return {one.id for one in ast.walk(expression) if isinstance(one, ast.Name)}


class Definition:
    """A definition's fields, checked. `axes`: {name: its size, None if it varies, or the text of an expression}."""

    def __init__(self, text, file):
        self.file = file
        fields = read_json(text, file, "a definition of FlashInfer-Bench or SOL-ExecBench")
        for key, kind in (("name", str), ("axes", dict), ("inputs", dict), ("outputs", dict), ("reference", str)):
            if not isinstance(fields.get(key), kind) or (kind is str and not fields[key]):
                raise Refused(f"{file} has no '{key}', or not as a {'text' if kind is str else 'table'}: a definition holds name, axes, "
                              "inputs, outputs and reference")
        self.name, self.reference = fields["name"], fields["reference"]
        self.summary = first_line(fields.get("description") or self.name)
        self.custom = fields.get("custom_inputs_entrypoint") or ""  # the reference's function that draws inputs; empty: none
        self.axes = {}
        for name, axis in fields["axes"].items():
            identifier(name, "axis", file)
            kind = axis.get("type") if isinstance(axis, dict) else None
            if kind == "const" and type(axis.get("value")) is int and axis["value"] >= 0:
                self.axes[name] = axis["value"]
            elif kind == "var":
                self.axes[name] = None
            elif kind == "expr" and isinstance(axis.get("expression"), str):
                self.axes[name] = self.expression(axis["expression"], f"axis {name}")
            else:
                raise Refused(f"{file}: axis {name} is neither const with a value, var nor expr with an expression: give it one of the three")
        self.inputs = {name: self.tensor(name, one) for name, one in fields["inputs"].items()}
        self.outputs = {name: self.tensor(name, one) for name, one in fields["outputs"].items()}
        for name in self.outputs:
            if name in self.inputs:
                raise Refused(f"{file}: {name} is an input and an output: give the output another name")
            if self.outputs[name][1] is None:
                raise Refused(f"{file}: output {name} is a number and no tensor: give it the shape []")
            if self.outputs[name][0] in PACKED:
                raise Refused(f"{file}: output {name} is {self.outputs[name][0]}, which a reference in PyTorch cannot answer: write the task by hand, as "
                              "tasks/mxfp4_quantize is, or take a definition of another dtype")
        if not self.outputs:
            raise Refused(f"{file} has no outputs: a kernel is judged by what it writes")
        try:
            tree = ast.parse(self.reference)
        except SyntaxError as error:
            raise Refused(f"{file}: line {error.lineno} of reference is not Python that {sys.version.split()[0]} reads ({error.msg}): "
                          "mend it") from error
        imported = {alias.name.split(".")[0] for one in ast.walk(tree) if isinstance(one, ast.Import) for alias in one.names}
        imported |= {(one.module or "").split(".")[0] for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
        for kernels in ("triton", "cutlass", "cuda", "flashinfer"):
            if kernels in imported:
                raise Refused(f"{file}: reference imports {kernels}, whose kernels nothing here can evaluate in double precision: write run in "
                              "PyTorch's operators")
        runs = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "run"]
        if not runs:
            raise Refused(f"{file}: reference has no function run at its top level: that is what the inputs are handed to")
        if self.custom and not any(isinstance(one, ast.FunctionDef) and one.name == self.custom for one in tree.body):
            raise Refused(f"{file}: custom_inputs_entrypoint names {self.custom}, and reference has no such function at its top level: mend the name")
        arguments = runs[-1].args
        taken = [one.arg for one in arguments.posonlyargs + arguments.args]
        self.by_name = set(taken) == set(self.inputs) and not arguments.posonlyargs
        if not self.by_name and len(taken) != len(self.inputs) and not arguments.vararg:
            raise Refused(f"{file}: run takes {len(taken)} arguments ({', '.join(taken)}), and the definition has {len(self.inputs)} "
                          f"inputs ({', '.join(self.inputs)}): let them agree")
        self.conditions, self.offsets, self.unsaid = [], {}, []
        for one in fields.get("constraints") or []:
            self.constrain(one)

    def expression(self, text, what):
        """Returns a Python expression in normal form. `what` says in the error where it stands."""
        try:
            tree = ast.parse(text, mode="eval")
        except (SyntaxError, ValueError) as error:
            raise Refused(f"{self.file}: {what} says '{text}', which is no Python expression: mend it") from error
        return ast.unparse(tree)

    def tensor(self, name, one):
        """Returns (dtype, names of axes, or None for a number) of an input or output."""
        identifier(name, "tensor", self.file)
        dtype, shape = (one.get("dtype"), one.get("shape")) if isinstance(one, dict) else (None, None)
        if dtype not in HELD:
            raise Refused(f"{self.file}: {name} is {dtype}, which tasks do not hold: they hold {', '.join(HELD)}; widen it in a definition of "
                          "your own, or take a definition of another dtype")
        if shape is None:
            if dtype in PACKED:
                raise Refused(f"{self.file}: {name} is a number of 4 bits: give it a shape, or another dtype")
            return dtype, None
        for axis in shape:
            if axis not in self.axes and not (isinstance(axis, str) and axis.isdigit()):
                raise Refused(f"{self.file}: {name} has an axis {axis}, which 'axes' does not have: name it there")
        return dtype, [str(int(axis)) if axis.isdigit() else axis for axis in shape]

    def constrain(self, text):
        """Records a constraint: an axis that follows from others, offsets into an axis, a condition on sizes, or one on values (unsaid)."""
        text = self.expression(text, "a constraint")
        tree = ast.parse(text, mode="eval").body
        if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and isinstance(tree.ops[0], ast.Eq):
            for left, right in ((tree.left, tree.comparators[0]), (tree.comparators[0], tree.left)):
                if not isinstance(left, ast.Name) or left.id not in self.axes:
                    continue
                last = self.last_of(right)
                if last:
                    self.offsets[last] = left.id
                    return
                follows = names_in(right)
                if self.axes[left.id] is None and follows and follows <= set(self.axes) and not self.reaches(follows, left.id):
                    self.axes[left.id] = ast.unparse(right)
                    return
        if names_in(tree) <= set(self.axes) | {"min", "max"}:
            self.conditions.append(text)
        else:
            self.unsaid.append(text)

    def reaches(self, names, axis):
        """Returns whether an axis among `names` is `axis` or follows from it."""
        for name in names:
            if name == axis:
                return True
            if isinstance(self.axes.get(name), str) and self.reaches(names_in(ast.parse(self.axes[name], mode="eval")) & set(self.axes), axis):
                return True
        return False

    def last_of(self, node):
        """Returns the input whose last element the expression is (indptr[-1], indptr[-1].item(), int(indptr[-1])); None: it is another."""
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
                return self.last_of(node.func.value)
            if isinstance(node.func, ast.Name) and node.func.id == "int" and len(node.args) == 1:
                return self.last_of(node.args[0])
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and ast.unparse(node.slice) == "-1":
            name = node.value.id
            if name in self.inputs and self.inputs[name][0] in INTEGERS and len(self.inputs[name][1] or []) == 1:
                return name
        return None

    def extents(self, shape, sizes):
        """Returns the extents of a shape, given all axes' sizes. An axis may be a number."""
        return [int(axis) if axis.isdigit() else sizes[axis] for axis in shape]

    def sizes(self, var):
        """Returns all axes' sizes, given those of the axes that vary (`var`)."""
        known = {name: size for name, size in self.axes.items() if isinstance(size, int)}
        known.update(var)
        for _ in self.axes:
            for name, text in self.axes.items():
                if isinstance(text, str) and name not in known:
                    try:
                        known[name] = eval(text, {"__builtins__": {}, "min": min, "max": max}, dict(known))
                    except NameError:
                        continue
        return known

    def free(self):
        """Returns the axes that vary."""
        return [name for name, size in self.axes.items() if size is None]


class Workload:
    """A line of the workloads' file. `var`: sizes of the axes that vary. `inputs`: {name: ("random",), ("scalar", value),
    ("safetensors", path, key), or ("custom",) where the definition's own function draws it}. `trace`: whether the line is one of
    FlashInfer-Bench, with the workload in a trace, and not of SOL-ExecBench."""

    def __init__(self, line, definition, file):
        fields = read_json(line, file, "lines of JSON, each a workload")
        self.trace = isinstance(fields.get("workload"), dict)
        if self.trace:  # in FlashInfer-Bench a line is a trace that has the workload in it
            if fields.get("definition") not in (None, definition.name):
                raise Refused(f"{file} is about {fields['definition']}, and {definition.file} is {definition.name}: give the workloads of this definition")
            fields = fields["workload"]
        self.tolerance = fields.get("tolerance") if isinstance(fields.get("tolerance"), dict) else None
        axes, inputs = fields.get("axes"), fields.get("inputs")
        if not isinstance(axes, dict) or not isinstance(inputs, dict):
            raise Refused(f"{file} has no 'axes' or no 'inputs': a workload names a size for every axis that varies and says where each input comes from")
        self.var = {}
        for name in definition.free():
            size = axes.get(name)
            if type(size) is not int or size < 0:
                raise Refused(f"{file} has no size for the axis {name}: give it as a whole number")
            self.var[name] = size
        sizes = definition.sizes(self.var)
        for name, size in axes.items():
            if name in sizes and sizes[name] != size:
                raise Refused(f"{file} gives {name} = {size}, and by the definition it is {sizes[name]}: mend the workload, or the definition's constraints")
        self.inputs = {}
        for name in definition.inputs:
            one = inputs.get(name, {"type": "random"})
            kind = one.get("type") if isinstance(one, dict) else None
            if kind == "custom" and not definition.custom:
                raise Refused(f"{file} draws {name} by code of the definition (custom), and {definition.file} names none: give it "
                              "custom_inputs_entrypoint, the reference's function that draws the inputs")
            if kind == "custom":
                self.inputs[name] = ("custom",)
            elif kind == "scalar" and isinstance(one.get("value"), (int, float)):
                self.inputs[name] = ("scalar", one["value"])
            elif kind == "safetensors" and isinstance(one.get("path"), str) and isinstance(one.get("tensor_key"), str):
                self.inputs[name] = ("safetensors", one["path"], one["tensor_key"])
            elif kind == "random":
                self.inputs[name] = ("random",)
            else:
                raise Refused(f"{file}: input {name} is neither random, custom, a scalar with a value nor safetensors with path and tensor_key: give it one of these")
            if (definition.inputs[name][1] is None) != (self.inputs[name][0] == "scalar"):
                what = "a number" if definition.inputs[name][1] is None else "a tensor"
                raise Refused(f"{file} gives {name} as {self.inputs[name][0]}, and by the definition it is {what}: mend the workload")


def stored_tensor(files, path, key, file):
    """Returns a tensor of a safetensors file. `files`: {path in the workloads: path on disk, empty if there is no such file}."""
    import torch
    where = files.get(path, "")
    if not where:
        raise Refused(f"{file} reads {path}, and there is no such file beside it or in a folder above: fetch the data set's blobs, or give sizes with "
                      "--case for inputs drawn at random")
    try:
        with open(where, "rb") as stored:
            head = stored.read(8)
            if head.startswith(b"version "):
                raise Refused(f"{path} is only a pointer to a file in Git LFS: fetch it with git lfs pull")
            length = struct.unpack("<Q", head)[0]
            if length > 100 << 20:
                raise ValueError("its header is too long")
            header = json.loads(stored.read(length))
            if key not in header:
                raise Refused(f"{path} has no tensor {key}: it has {', '.join(name for name in header if name != '__metadata__')}; mend the workload")
            entry = header[key]
            dtype = getattr(torch, STORED[entry["dtype"]])
            begin, end = entry["data_offsets"]
            if not 0 <= begin <= end or end - begin != math.prod(entry["shape"]) * dtype.itemsize:
                raise ValueError("its offsets do not fit its shape")
            stored.seek(8 + length + begin)
            data = stored.read(end - begin)
        if len(data) != end - begin:
            raise ValueError("it ends early")
        if not data:
            return torch.empty(entry["shape"], dtype=dtype)
        return torch.frombuffer(bytearray(data), dtype=dtype).reshape(entry["shape"])
    except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
        raise Refused(f"{path} is no safetensors file that can be read ({first_line(error)}): fetch it again") from error


def integer_values(tensor, name, sizes, shape, notes):
    """Returns how the judge draws integers like those in `tensor`: as offsets, or as indices below the least axis that bounds them."""
    flat = tensor.flatten().long()
    if flat.numel() == 0:
        return {"distribution": "index", "bound": "1"}
    low, high = int(flat.min()), int(flat.max())
    if len(shape) == 1 and flat.numel() > 1 and int(flat[0]) == 0 and bool((flat[1:] >= flat[:-1]).all()):
        for axis, size in sizes.items():
            if size == high:
                return {"distribution": "offsets", "bound": axis}
    spec = {"distribution": "index"}
    if low < 0:
        rest = flat[flat >= 0]
        if low == -1 and rest.numel() > 0:
            spec["padding"] = rounded(1 - rest.numel() / flat.numel())
        else:
            notes.append(f"{name} holds numbers down to {low}, and is drawn from 0")
    elif low > 0:
        notes.append(f"{name} holds numbers from {low}, and is drawn from 0")
    bounds = sorted((size, axis) for axis, size in sizes.items() if size > high and axis not in shape[-1:])
    spec["bound"] = bounds[0][1] if bounds and bounds[0][0] <= 2 * (high + 1) else str(high + 1)
    return spec


def named_values(name, shape, sizes):
    """Returns how an input of floats with this name, shape and extents is drawn, or None: standard normal. SOL-ExecBench's harness takes such names at
    their word, so that references may need what the names say, such as a variance that is positive. What it fills with one number is
    drawn around that number, because a kernel could leave out a factor of ones."""
    base = name.rstrip("0123456789")
    if base.removesuffix("_weight").endswith("norm") and base.endswith("_weight"):
        return {"distribution": "normal", "scale": 0.25, "offset": 1.0}
    if base.removesuffix("_bias").endswith("norm") and base.endswith("_bias"):
        return {"distribution": "normal", "scale": 0.25}
    if base.split("_")[-1] in ("rstd", "std", "variance", "var"):
        return {"distribution": "uniform", "low": 0.1, "high": 2.5}
    if base in ("cos", "sin", "cos_cached", "sin_cached", "rope_cos", "rope_sin"):
        return {"distribution": "uniform", "low": -1.0, "high": 1.0}
    ranges = {"A": (-1.0, -0.001), "A_log": (-5.0, -1.0), "g": (-5.0, 0.0)}
    if name in ranges:
        return {"distribution": "uniform", "low": ranges[name][0], "high": ranges[name][1]}
    if name in ("attn_weights", "attention_weights", "routing_weights"):  # they add up to 1
        return {"distribution": "uniform", "low": 0.0, "high": rounded(2.0 / max(1, sizes[-1]))}
    words = base.split("_")
    if len(shape) > 1 and (words[-1] in ("weight", "weights", "proj", "projs") or words[-2:] == ["weight", "matrix"]):
        return {"distribution": "normal", "scale": rounded(1.0 / math.sqrt(max(1, sizes[-1])))}
    return None


class ProblemText:
    """Writes the problem file for a definition, at the sizes of one workload."""

    def __init__(self, definition, workload, files, file, notes):
        self.definition, self.workload, self.notes = definition, workload, notes
        self.values = {}
        sizes = definition.sizes(workload.var)
        for name, (dtype, shape) in definition.inputs.items():
            if shape is None:
                continue
            source = workload.inputs[name]
            extents = definition.extents(shape, sizes)
            stored = stored_tensor(files, source[1], source[2], file) if source[0] == "safetensors" and dtype not in PACKED else None
            if stored is not None and list(stored.shape) != extents:
                raise Refused(f"{file}: {source[2]} of {source[1]} has the shape {list(stored.shape)}, and by the definition {name} has "
                              f"{extents}: mend the workload")
            if name in definition.offsets:
                self.values[name] = {"distribution": "offsets", "bound": definition.offsets[name]}
            elif dtype in BYTES:
                self.values[name] = {"distribution": "index", "bound": "2" if dtype == "bool" else "256"}
            elif source[0] == "custom":  # how it is drawn is found out by drawing it
                notes.append(f"{name} is drawn to resemble what {definition.custom} of the definition gives")
            elif dtype in INTEGERS:
                if stored is None:
                    bound = min(RANDOM_BOUND, 128 if dtype == "int8" else RANDOM_BOUND)
                    self.values[name] = {"distribution": "index", "bound": str(bound)}
                    notes.append(f"{name} is drawn from 0 to {bound - 1}, for nothing says what its numbers mean: set its bound in task.toml")
                else:
                    self.values[name] = integer_values(stored, name, sizes, shape, notes)
                    notes.append(f"{name} is drawn as what {source[1]} holds looks: {json.dumps(self.values[name])}")
            elif stored is None:
                told = None if workload.trace or dtype.startswith("float8") else named_values(name, shape, extents)
                self.values[name] = told or {"distribution": "normal"}
                if told:
                    notes.append(f"{name} is drawn as SOL-ExecBench's harness takes its name: {json.dumps(told)}")
            else:
                told, note = input_values(stored.float() if stored.dtype.itemsize == 1 else stored, {}, {}, {})
                self.values[name] = told
                notes.append(f"{name} is drawn as what {source[1]} holds looks: {json.dumps(told)}" + (f" ({note})" if note else ""))

    def drawn(self, name, dtype, shape):
        """Returns Python code that draws one input of run."""
        if shape is None:
            return repr(self.workload.inputs[name][1])
        if self.workload.inputs[name][0] == "custom":
            return f"_custom[{json.dumps(name)}]" + (".view(torch.uint8)" if dtype in BYTES else f".to(torch.{dtype})")
        extents = "(" + ", ".join(shape) + ("," if len(shape) == 1 else "") + ")"
        held = "uint8" if dtype in BYTES else dtype
        spec = self.values[name]
        if spec["distribution"] == "offsets":
            return f"_offsets({shape[0]}, {spec['bound']}, torch.{held})"
        if spec["distribution"] == "index":
            return f"torch.randint(0, max(1, {spec['bound']}), {extents}, dtype=torch.{held})"
        if held.startswith("float8"):  # PyTorch cannot draw float8
            made = "torch.rand" if spec["distribution"] == "uniform" else "torch.randn"
            scale, offset = ((spec["high"] - spec["low"], spec["low"]) if spec["distribution"] == "uniform"
                             else (spec.get("scale", 1.0), spec.get("offset", 0.0)))
            return f"({made}({extents}) * {scale!r} + {offset!r}).to(torch.{held})"
        if spec["distribution"] == "uniform":
            return f"torch.rand({extents}, dtype=torch.{held}) * {spec['high'] - spec['low']!r} + {spec['low']!r}"
        scale, offset = spec.get("scale", 1.0), spec.get("offset", 0.0)
        text = f"torch.randn({extents}, dtype=torch.{held})"
        return text + (f" * {scale!r}" if scale != 1.0 else "") + (f" + {offset!r}" if offset != 0.0 else "")

    def text(self):
        """Returns the problem file."""
        definition = self.definition
        head = f"# The definition {definition.name} as a PyTorch problem, written by `hone new` from {definition.file}.\nimport torch\n\n"
        placed = set()
        plain = {name: size for name, size in definition.axes.items() if isinstance(size, int)} | self.workload.var
        for name in definition.axes:
            if name in plain:
                head += f"{name} = {plain[name]}\n"
                placed.add(name)
        waiting = [name for name, text in definition.axes.items() if isinstance(text, str)]
        while waiting:
            ready = [name for name in waiting if names_in(ast.parse(definition.axes[name], mode="eval")) - {"min", "max"} <= placed]
            if not ready:
                raise Refused(f"{definition.file}: the axes {', '.join(waiting)} follow from one another in a circle: give one of them a value")
            for name in ready:
                head += f"{name} = {definition.axes[name]}\n"
                placed.add(name)
                waiting.remove(name)

        def told(tensors):
            return "[" + ", ".join("None" if shape is None else f"(\"{'uint8' if dtype in BYTES else dtype}\", [{', '.join(shape)}])"
                                   for dtype, shape in tensors.values()) + "]"

        views = {"bool": "to(torch.bool)", **{one: "view(torch.float4_e2m1fn_x2)" for one in PACKED}}
        masks = "".join(f"        {name} = {name}.{views[dtype]}\n" for name, (dtype, shape) in definition.inputs.items()
                        if dtype in BYTES and shape is not None)
        handed = ", ".join(f"{name}={name}" if definition.by_name else name for name in definition.inputs)
        # Offsets begin at 0 and end at their bound, which takes two elements.
        needed = definition.conditions + [f"{definition.inputs[name][1][0]} >= 2" for name, spec in self.values.items() if spec["distribution"] == "offsets"]
        conditions = "".join(f"    assert {one}, {json.dumps(one + ' does not hold')}\n" for one in dict.fromkeys(needed))
        drawn = ",\n            ".join(self.drawn(name, *one) for name, one in definition.inputs.items())
        made = ""
        if any(source[0] == "custom" for source in self.workload.inputs.values()):
            numbers = "".join(f", {json.dumps(name)}: {source[1]!r}" for name, source in self.workload.inputs.items() if source[0] == "scalar")
            axes = ", ".join(f"{json.dumps(name)}: {name}" for name in definition.axes)
            made = f"    _custom = {definition.custom}({{{axes}{numbers if axes else numbers[2:]}}}, torch.device(\"cpu\"))\n"
        return f"""{head}
# The definition's own reference.
{definition.reference.rstrip()}


class _Casts(torch.overrides.TorchFunctionMode):
    \"\"\"Lets `run` compute in another precision than it names, so that what it rounds to float32 or less stays double.\"\"\"

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def __torch_function__(self, function, kinds, arguments=(), keywords=None):
        def kept(value):
            narrow = isinstance(value, torch.dtype) and value.is_floating_point and value != torch.float64
            return self.dtype if narrow else value

        if getattr(function, "__name__", "") in ("float", "half", "bfloat16") and arguments and torch.is_tensor(arguments[0]):
            return arguments[0].to(self.dtype)
        return function(*map(kept, arguments), **{{name: kept(value) for name, value in (keywords or {{}}).items()}})


class Model(torch.nn.Module):
    precision = None  # that of `run` unless the judge asks for another

    def to(self, *arguments, **keywords):
        for one in (*arguments, *keywords.values()):
            self.precision = one if isinstance(one, torch.dtype) else self.precision
        return super().to(*arguments, **keywords)

    def forward(self, {', '.join(definition.inputs)}):
{masks}        if self.precision is not None:
            with _Casts(self.precision):
                made = run({handed})
        else:
            made = run({handed})
        if isinstance(made, dict):
            made = [made[name] for name in {json.dumps(list(definition.outputs))}]
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        return tuple(one.to(torch.uint8) if one.dtype == torch.bool else one for one in made)


def _offsets(rows, total, dtype):
    inner = torch.randint(0, total + 1, (max(rows - 2, 0),)).sort().values
    return torch.cat([torch.zeros(1, dtype=torch.int64), inner, torch.full((1,), total)])[-rows:].to(dtype)


def get_inputs():
{made}    return [{drawn}]


def get_init_inputs():
    return []


def get_shapes():
{conditions}    return {told(definition.inputs)}, {told(definition.outputs)}


def get_values():
    return {json.dumps(self.values)}
"""


def problem_of(job, notes):
    """Returns a definition and its workloads as a problem: the problem's text, and what else describe.py needs to know."""
    definition = Definition(job["definition"], job["file"])
    file = job.get("workload_file") or "--case"
    numbered = [(number, line) for number, line in enumerate(job.get("workloads", "").splitlines(), 1) if line.strip()]
    asked = job.get("sizes", {})
    for name in asked:
        if name not in definition.free():
            raise Refused(f"--case {name}={asked[name]}: {job['file']} has no axis {name} that varies"
                          + (f"; it has {', '.join(definition.free())}" if definition.free() else ""))
    workloads = [Workload(line, definition, f"{file}:{number}") for number, line in numbered]
    if not workloads:
        missing = [name for name in definition.free() if name not in asked]
        numbers = [name for name, (_, shape) in definition.inputs.items() if shape is None]
        if missing or numbers:
            what = "sizes for " + ", ".join(missing) if missing else "values for " + ", ".join(numbers)
            raise Refused(f"{job['file']} needs {what}: give its workloads with --workload FILE.jsonl"
                          + ("" if numbers else ", or sizes with --case " + ",".join(f"{name}=128" for name in missing)))
        drawn = {name: {"type": "custom"} for name in definition.inputs} if definition.custom else {}
        workloads = [Workload(json.dumps({"axes": asked, "inputs": drawn}), definition, file)]
    elif asked:
        one = workloads[0]
        one.var.update(asked)
        one.inputs = {name: ("random",) if source[0] == "safetensors" else source for name, source in one.inputs.items()}
        workloads = [one]
    numbers = [{name: source for name, source in one.inputs.items() if source[0] == "scalar"} for one in workloads]
    alike = [one for one, told in zip(workloads, numbers) if told == numbers[0]]
    if len(alike) < len(workloads):
        notes.append(f"{len(workloads) - len(alike)} of {len(workloads)} workloads have other numbers than "
                     + ", ".join(f"{name} = {source[1]}" for name, source in numbers[0].items()) + ": they are left out")
    shapes = []
    for one in alike:
        if all(one.var != other.var for other in shapes) and all(size > 0 for size in one.var.values()):
            shapes.append(one)
    if not shapes:
        raise Refused(f"{file} has only workloads with sizes of 0: give one in which every axis has elements")
    shapes.sort(key=lambda one: -math.prod(one.var.values()))
    if len(shapes) > MOST_TIMED:
        notes.append(f"{MOST_TIMED} of {len(shapes)} workloads' sizes are timed, from the largest to the smallest: --case times another")
        shapes = [shapes[round(i * (len(shapes) - 1) / (MOST_TIMED - 1))] for i in range(MOST_TIMED)]
    for text in definition.unsaid:
        notes.append(f"the constraint {text} is about values, which are drawn without it")
    for name, (_, shape) in definition.inputs.items():
        if shape is None:
            notes.append(f"{name} = {shapes[0].inputs[name][1]}, as the workloads say")
    problem = ProblemText(definition, shapes[0], job.get("files", {}), file, notes)
    return {"text": problem.text(), "name": definition.name, "constant": [name for name, size in definition.axes.items() if isinstance(size, int)],
            "timed": [one.var for one in shapes[1:]], "outputs": list(definition.outputs), "summary": definition.summary,
            "scalars": {name: dtype for name, (dtype, shape) in definition.inputs.items() if shape is None and dtype in ROUNDOFF},
            "tolerance": next((one.tolerance for one in alike if one.tolerance), None)}
