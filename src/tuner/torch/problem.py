# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds a PyTorch problem at given sizes. All scripts of this folder that run a problem begin with this file.

A problem is a Python file with a class (`Model`), `get_inputs()` and `get_init_inputs()`; its sizes are module-level names
with whole numbers. A size is changed in the file's syntax tree before the file is run, so that names which depend on it
(`hidden = 4 * width`) change too.
"""
import ast
import contextlib
import copy
import json
import math
import sys
import types


class Refused(Exception):
    """The problem or an option cannot be used. The message is one sentence for the user: what is wrong, and the remedy."""


def first_line(error):
    """Returns the first line of an error's message, at most 300 characters."""
    lines = [line for line in str(error).strip().splitlines() if line.strip()]
    return (lines[0].strip() if lines else type(error).__name__)[:300]


def wake_gpu(ordinal=None):
    """Starts CUDA's driver in a thread, and with `ordinal` makes that GPU's context, which PyTorch then uses.

    Either takes tenths of a second, in which PyTorch can be imported. Nothing is reported: PyTorch meets the same errors later.
    """
    import ctypes
    import threading

    def wake():
        try:
            driver, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
            if driver.cuInit(0) == 0 and ordinal is not None and driver.cuDeviceGet(ctypes.byref(device), ordinal) == 0:
                driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
        except (OSError, AttributeError):
            pass

    threading.Thread(target=wake, daemon=True).start()


def load_torch():
    """Imports and returns torch, without TF32, and with warnings of operators that are not deterministic."""
    try:
        import torch
    except Exception as error:  # a broken installation fails in many ways
        raise Refused(f"PyTorch does not load in {sys.executable} ({first_line(error)}): install it there "
                      "(pip install torch), or name another interpreter in HONE_PYTHON") from error
    # torch.use_deterministic_algorithms would also import the compiler's 850 modules, which takes as long as importing torch itself.
    torch.set_deterministic_debug_mode("warn")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    return torch


def versions(on_gpu):
    """Returns PyTorch's version, and on a GPU also those of the libraries that compute its convolutions and products."""
    import ctypes
    import torch

    def text(number):
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"

    told = torch.__version__
    try:
        if on_gpu and torch.version.cuda:
            told += f", cuDNN {text(torch.backends.cudnn.version())}"
            library = ctypes.CDLL(f"libcublasLt.so.{torch.version.cuda.split('.')[0]}")
            library.cublasLtGetVersion.restype = ctypes.c_size_t
            told += f", cuBLASLt {text(library.cublasLtGetVersion())}"
    except (OSError, AttributeError, RuntimeError, TypeError):  # PyTorch was built without the library, or holds it in another way
        pass
    return told


def explain(error, doing):
    """Returns a sentence for the user about an exception that the user's file raised."""
    import socket
    import urllib.error
    told = f"{type(error).__name__}: {first_line(error)}"
    text = str(error).lower()
    seen, chain = set(), error
    while chain is not None and id(chain) not in seen:
        seen.add(id(chain))
        if isinstance(chain, (socket.gaierror, urllib.error.URLError, ConnectionError)):
            return (f"{doing} needs the network ({told}), which the file does not get: build the module without what it "
                    "downloads (weights=None)")
        chain = chain.__cause__ or chain.__context__
    if any(word in text for word in ("name resolution", "connection error", "offline mode", "max retries exceeded")):
        return (f"{doing} needs the network ({told}), which the file does not get: build the module without what it "
                "downloads (weights=None)")
    if isinstance(error, MemoryError) or "not enough memory" in text or "allocate memory" in text:
        return f"{doing} takes more memory than it is given ({told}): make the sizes smaller, or raise the limit with --memory"
    if isinstance(error, PermissionError):
        return (f"{doing} failed ({told}): the file runs in a sandbox, which starts no programs and writes only into a folder of its own; leave "
                "that out")
    if isinstance(error, ModuleNotFoundError):
        return f"{doing} failed ({told}): install that package for {sys.executable}, or put its code into the file"
    if ("cuda" in text or "nvidia" in text) and any(word in text for word in ("not compiled", "no nvidia", "driver", "invalid device", "no cuda")):
        return f"{doing} asks for a GPU ({told}): leave the device out, Hone places the tensors"
    return f"{doing} failed ({told}): mend the file, then try again"


def whole_constant(node):
    """Returns the value of an expression of whole constants; None: it is another expression."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.BinOp):
        left, right = whole_constant(node.left), whole_constant(node.right)
        if left is None or right is None:
            return None
        if isinstance(node.op, ast.Add):
            return left + right
        if isinstance(node.op, ast.Sub):
            return left - right
        if isinstance(node.op, ast.Mult):
            return left * right
        if isinstance(node.op, ast.FloorDiv):
            return left // right if right else None
        if isinstance(node.op, ast.Pow) and 0 <= right < 64:
            return left ** right
        if isinstance(node.op, ast.LShift) and 0 <= right < 64:
            return left << right
    return None


MOST_LISTED = 4  # the longest list whose numbers are taken for sizes


def held(holder, key):
    """Returns the value's node at a place: (holder, key) as in places()."""
    return holder[key] if isinstance(holder, list) else holder.value


def places(tree):
    """Returns [(name, holder, key)]: where the value of each module-level name stands, in a statement (key is None) or in a list.

    The numbers of `shape = (64, 32)` are called shape_0 and shape_1, and that of `shape = (64,)` shape, unless the file has these names.
    """
    found, listed = [], []
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name):
            found.append((target.id, statement, None))
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) <= MOST_LISTED:
                listed += [(target.id if len(value.elts) == 1 else f"{target.id}_{i}", value.elts, i) for i in range(len(value.elts))]
        elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            found += [(one.id, value.elts, i) for i, one in enumerate(target.elts) if isinstance(one, ast.Name)]
    taken = {name for name, holder, key in found if whole_constant(held(holder, key)) is not None}
    return found + [one for one in listed if one[0] not in taken]


class Problem:
    """A problem file. `sizes`: its module-level whole numbers by name. build() and run_file() take other numbers for them."""

    def __init__(self, text, file, class_name="Model", training=True):
        self.file, self.class_name, self.training = file, class_name, training
        try:
            self.tree = ast.parse(text, file)
        except SyntaxError as error:
            raise Refused(f"{file}:{error.lineno}: {error.msg}: it is not Python that {sys.version.split()[0]} reads; mend "
                          "the line") from error
        # "height = width = 64" is two sizes.
        body = []
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign) and len(statement.targets) > 1 and whole_constant(statement.value) is not None:
                body += [ast.copy_location(ast.Assign([target], statement.value), statement) for target in statement.targets]
            else:
                body.append(statement)
        self.tree.body = body
        self.sizes = {}
        for name, holder, key in places(self.tree):
            number = whole_constant(held(holder, key))
            if number is not None and 0 < number < 1 << 40:
                self.sizes[name] = number
        self.written = dict(self.sizes)

    def model_needs_sizes(self):
        """Returns whether the module may be another at other sizes: anything but get_inputs() reads a module-level name that is assigned, or
        could read one in a way that is not seen here."""
        assigned, read = set(), set()
        for statement in self.tree.body:
            if isinstance(statement, (ast.Assign, ast.AnnAssign)):
                assigned |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            elif not (isinstance(statement, ast.FunctionDef) and statement.name == "get_inputs"):
                read |= {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
                read |= {name.split(".")[0] for node in ast.walk(statement) if isinstance(node, (ast.Import, ast.ImportFrom))
                               for name in [alias.asname or alias.name for alias in node.names]}
        return bool(read & (assigned | {"globals", "vars", "eval", "exec", "sys"}))

    def run_file(self, sizes):
        """Runs the file with `sizes` in place of its own numbers, and returns its module-level names."""
        tree = self.tree
        if any(self.written.get(name) != size for name, size in sizes.items()):
            tree = copy.deepcopy(tree)
            for name, holder, key in list(places(tree)):
                was = held(holder, key)
                if name in sizes and whole_constant(was) is not None:
                    number = ast.copy_location(ast.Constant(sizes[name]), was)
                    if isinstance(holder, list):
                        holder[key] = number
                    else:
                        holder.value = number
        module = types.ModuleType("hone_problem")
        module.__file__ = self.file
        sys.modules["hone_problem"] = module
        exec(compile(tree, self.file, "exec"), module.__dict__)
        return module.__dict__

    def build(self, sizes, dtype=None, seed=None, make=None):
        """Returns (module, names): a new instance at these sizes, and the file's names. `dtype`: of its floating-point state, if given.

        `seed`: of PyTorch's random numbers, before the file runs and again before the class does, as KernelBench's harness
        sets it. `make`: another class that takes the same arguments.
        """
        import torch
        if seed is not None:
            torch.manual_seed(seed)
        names = self.run_file(sizes)
        if self.class_name not in names:
            others = [name for name, one in names.items() if isinstance(one, type) and issubclass(one, torch.nn.Module)
                      and one.__module__ == "hone_problem"]
            raise Refused(f"{self.file} has no class {self.class_name}"
                          + (f", and has {', '.join(others)}: call it {self.class_name}" if others else ": write a class derived from nn.Module")
                          + ", for KernelBench's form is a class Model with get_inputs() and get_init_inputs(); or name a class with "
                          "--from package.module:Class --input x=float32[rows,width]")
        init = names["get_init_inputs"]() if "get_init_inputs" in names else []
        kind = names[self.class_name] if make is None else make
        if seed is not None:
            torch.manual_seed(seed)
        if isinstance(init, dict):
            model = kind(**init)
        elif len(init) == 2 and isinstance(init[0], (list, tuple)) and isinstance(init[1], dict):
            model = kind(*init[0], **init[1])
        else:
            model = kind(*init)
        if not isinstance(model, torch.nn.Module):
            raise Refused(f"{kind.__name__} of {self.file} is no torch.nn.Module: derive it from nn.Module")
        if not self.training:
            model.eval()
        if dtype is not None:
            model.to(dtype)
        return model, names


def text_of(job):
    """Returns a module's source, found without running it, with the text added that it lacks to be a problem."""
    import importlib.util
    sys.path.insert(0, job["folder"])
    try:
        found = importlib.util.find_spec(job["module"])
    except Exception as error:
        raise Refused(f"{job['module']} cannot be found ({type(error).__name__}: {first_line(error)}): install its package for "
                      f"{sys.executable}, or go to the folder that holds it") from error
    if found is None or not found.origin or not found.origin.endswith(".py"):
        raise Refused(f"there is no Python source of a module {job['module']}: install its package for {sys.executable}, or go to "
                      "the folder that holds it")
    with open(found.origin, encoding="utf-8") as source:
        text = source.read()
    sys.path.pop(0)
    for statement in ast.walk(ast.parse(text, job["module"])):
        if isinstance(statement, ast.ImportFrom) and statement.level > 0:
            raise Refused(f"{job['module']} imports from its own package (line {statement.lineno}): reference.py must stand alone; "
                          "copy the class and what it needs into one file with get_inputs() and get_init_inputs()")
    return text + job["added"]


def state_of(model):
    """Returns the module's parameters and buffers by name, in its order; shared ones once."""
    state = {}
    seen = set()
    for name, tensor in list(model.named_parameters(remove_duplicate=True)) + list(model.named_buffers(remove_duplicate=True)):
        if id(tensor) not in seen:
            seen.add(id(tensor))
            state[name] = tensor
    return state


def counter(name, tensor):
    """Returns whether a buffer only counts calls, as batch normalization's num_batches_tracked: no result depends on it."""
    return name.split(".")[-1] == "num_batches_tracked" and tensor.numel() == 1


def inputs_of(names):
    """Returns the list of forward's arguments that the file's get_inputs() gives."""
    inputs = names["get_inputs"]()
    if not isinstance(inputs, (list, tuple)):
        given = "nothing" if inputs is None else f"a {type(inputs).__name__}"
        raise Refused(f"get_inputs() returns {given}: return a list of forward's arguments in their order")
    return list(inputs)


def outputs_of(result):
    """Returns the tensors in forward's result, in order."""
    import torch
    if torch.is_tensor(result):
        if result.layout != torch.strided:
            raise Refused("forward returns a sparse tensor: return a dense one (to_dense())")
        return [result]
    if result is None:
        raise Refused("forward returns nothing: return a tensor or a tuple of tensors")
    if isinstance(result, dict) or hasattr(result, "keys"):
        raise Refused("forward returns a dict: return a tensor or a tuple of tensors (write a small Model around it that "
                      "picks them)")
    if isinstance(result, (tuple, list)):
        found = []
        for one in result:
            if torch.is_tensor(one) or isinstance(one, (tuple, list)):
                found.extend(outputs_of(one))
            elif one is not None:
                raise Refused(f"forward returns a {type(one).__name__} among its outputs: return tensors alone")
        if found:
            return found
    raise Refused(f"forward returns a {type(result).__name__}: return a tensor or a tuple of tensors")


def as_dtype(tensor, dtype):
    """Returns a copy of the tensor, in `dtype` if it is floating-point."""
    return tensor.to(dtype, copy=True) if tensor.is_floating_point() else tensor.clone()


def seed_generators(seed):
    """Seeds PyTorch's random numbers on the CPU and on GPUs in use. torch.manual_seed takes half a millisecond more, because for each kind of
    device that is not there it writes down the stack."""
    import torch
    torch.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        for generator in torch.cuda.default_generators:
            generator.manual_seed(seed)


PRODUCTS = ("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
            "conv_transpose2d", "conv_transpose3d", "bilinear", "__matmul__", "__rmatmul__", "scaled_dot_product_attention")


def round_mantissa(tensor, bits):
    """Returns float32 numbers rounded to `bits` bits of mantissa, ties to even, as tensor cores round their factors."""
    import torch
    drop = 23 - bits
    whole = tensor.contiguous().view(torch.int32)
    bias = ((whole >> drop) & 1) + (1 << (drop - 1)) - 1
    rounded = ((whole + bias) >> drop) << drop
    return torch.where(torch.isfinite(tensor), rounded.view(torch.float32).reshape(tensor.shape), tensor)


def rounding_mode(bits):
    """Returns a TorchFunctionMode in which matrix products and convolutions round their float32 factors to `bits` bits of mantissa."""
    import torch
    from torch.overrides import TorchFunctionMode

    class RoundFactors(TorchFunctionMode):
        met = False

        def __torch_function__(self, function, kinds, arguments=(), keywords=None):
            if getattr(function, "__name__", "") in PRODUCTS:
                self.met = True

                def rounded(value):
                    if torch.is_tensor(value) and value.dtype == torch.float32:
                        return round_mantissa(value.detach(), bits)
                    if isinstance(value, (list, tuple)):
                        return type(value)(rounded(one) for one in value)
                    return value

                arguments = tuple(rounded(value) for value in arguments)
            return function(*arguments, **(keywords or {}))

    return RoundFactors()


# How forward may be evaluated. The first is the reference; "honest" are orders and precisions that a kernel may use,
# "dishonest" ones drop half of the mantissa of float32 somewhere.
PRECISIONS = ("float64", "float32", "bfloat16", "float16", "tf32")


def evaluate(problem, sizes, model, inputs, state, precision="float64"):
    """Runs forward on these inputs with this state, and returns (outputs, state afterwards, the inputs afterwards).

    `inputs`: forward's arguments in order; `state`: tensors by the module's names, which are not changed. `model` is of the
    sizes; its own state does not matter. "tf32" is float32 with the factors of products rounded to 10 bits.
    """
    import torch
    dtype = {"float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}.get(precision, torch.float32)
    given = {name: as_dtype(tensor, dtype) for name, tensor in state.items()}
    taken = [as_dtype(one, dtype) if torch.is_tensor(one) else one for one in inputs]
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype if dtype != torch.bfloat16 and dtype != torch.float16 else torch.float32)
    try:
        seed_generators(0)
        with torch.no_grad():
            if precision == "tf32":
                with rounding_mode(10):
                    result = torch.func.functional_call(model, given, tuple(taken))
            else:
                result = torch.func.functional_call(model, given, tuple(taken))
    finally:
        torch.set_default_dtype(before)
    return outputs_of(result), given, taken


@contextlib.contextmanager
def undrawn():
    """Makes torch.nn.init leave parameters as they are: drawing those of a large module on the host takes a second."""
    import torch
    init, plain = torch.nn.init, {}

    def leaving(function):
        def fill(tensor, *arguments, **keywords):
            return tensor if isinstance(tensor, torch.nn.Parameter) else function(tensor, *arguments, **keywords)
        return fill

    for name, function in vars(init).items():
        if name.endswith("_") and not name.startswith("_") and callable(function):
            plain[name] = function
    for name, function in plain.items():
        setattr(init, name, leaving(function))
    try:
        yield
    finally:
        for name, function in plain.items():
            setattr(init, name, function)


def model_for(problem, sizes, precision="float64"):
    """Returns an instance whose own constants have the precision's dtype."""
    import torch
    dtype = {"float64": torch.float64, "bfloat16": torch.bfloat16, "float16": torch.float16}.get(precision, torch.float32)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype if precision == "float64" else torch.float32)
    try:
        seed_generators(0)
        model, _ = problem.build(sizes)
        return model.to(dtype)
    finally:
        torch.set_default_dtype(before)


def bare_model(problem, sizes, precision, device, given):
    """Returns what model_for() does, on a device, but for the weights of the names `given`: they are empty, and evaluate() must be given them."""
    with undrawn():
        model = model_for(problem, sizes, precision).to(device)
    for name, tensor in state_of(model).items():
        if name in given:
            tensor.data = tensor.data.new_empty(0)
    return model
