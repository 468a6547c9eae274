# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Exports one Triton kernel of a file as a candidate of a task: `hone eval TASK kernel.py::function`.

Reads one JSON object on standard input: {"file", "folder", "function", "arch", "out", "modules": {name: source of hone.kernels},
"tensors": {name: dtype}, "scalars": {name: dtype}, "dims": [names]}. Writes the .honek file "out" and one line on standard
output, "hone: " and a JSON object: {} or {"error": sentence}.
"""
import importlib.util
import json
import sys
import types

TYPES = {"float64": "fp64", "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "uint32": "u32",
         "int16": "i16", "int8": "i8", "uint8": "u8", "uint64": "u64", "bool": "i1", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
         "float8_e8m0fnu": "u8", "float4_e2m1fn_x2": "u8", "int4_x2": "u8"}
KEYS = ("grid", "arguments", "shape", "specialise")  # Hone's keys of a file's `launch`; others are options of Triton's compiler


class Refused(Exception):
    """One sentence for the user: what is wrong, and the remedy."""


def told(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    # Triton's errors give the place in their first line and the reason in the last.
    shown = [line[:200] for line in dict.fromkeys(lines[:1] + lines[-1:])] or ["no message"]
    return f"{type(error).__name__}: {' … '.join(shown)}"


def add_package(modules):
    """Makes this program's own hone.kernels importable, in place of an installed one."""
    for name in ("hone", "hone.kernels", *modules):
        module = types.ModuleType(name)
        module.__path__ = []
        sys.modules[name] = module
    for name, text in modules.items():
        exec(compile(text, name, "exec"), sys.modules[name].__dict__)


def load(path, folder):
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("hone_kernel_file", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["hone_kernel_file"] = module
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise Refused(f"{path} needs a package that is missing ({told(error)}): install it for {sys.executable}, or name another interpreter in "
                      "HONE_PYTHON") from error
    except Exception as error:
        raise Refused(f"{path} fails when it is imported ({told(error)}): mend it") from error
    return module


def inner(function):
    while not hasattr(function, "arg_names") and hasattr(function, "fn"):
        function = function.fn
    return function


def arguments_of(job, function, given):
    """Returns the kernel's arguments: those that the file gives, else the tensor, scalar or dimension of the parameter's name."""
    found = dict(given)
    tuned = {name for config in getattr(function, "configs", []) for name in config.kwargs}
    for parameter in inner(function).params:
        name = parameter.name
        if name in found or name in tuned:
            continue
        if parameter.is_constexpr:
            if not parameter.has_default:
                raise Refused(f"{job['file']}: the constant {name} of {job['function']} has no value: launch = {{\"arguments\": {{\"{name}\": 1024}}, …}} gives one")
        elif name in job["tensors"]:
            found[name] = f"{name}:*{TYPES[job['tensors'][name]]}"
        elif name in job["scalars"]:
            found[name] = f"{name}:fp64" if job["scalars"][name] == "float64" else f"{name}:fp32"
        elif name in job["dims"]:
            found[name] = f"{name}:i32"
        elif not parameter.has_default:
            known = ", ".join([*job["tensors"], *job["scalars"], *job["dims"]])
            raise Refused(f"{job['file']}: the parameter {name} of {job['function']} is no tensor, number or dimension of the task, which has {known}: say what "
                          f"it is, launch = {{\"arguments\": {{\"{name}\": \"{job['dims'][0] if job['dims'] else 'n'}:i32\"}}, …}}")
    return found


def export_of(job):
    try:
        import triton  # noqa: F401
    except ImportError as error:
        raise Refused(f"Triton does not load in {sys.executable} ({told(error)}): install it there (pip install triton), or name another interpreter in "
                      "HONE_PYTHON") from error
    add_package(job["modules"])
    from hone.kernels.candidate import ExportError
    from hone.kernels.triton import export
    module = load(job["file"], job["folder"])
    function = getattr(module, job["function"], None)
    if function is None or not hasattr(inner(function), "arg_names"):
        kernels = [name for name, one in vars(module).items() if hasattr(inner(one), "arg_names") and hasattr(inner(one), "params")]
        raise Refused(f"{job['file']} has no Triton kernel {job['function']}: " + (f"it has {', '.join(kernels)}" if kernels else "it has none; @triton.jit makes one"))
    launch = getattr(module, f"launch_{job['function']}", getattr(module, "launch", None))
    if not isinstance(launch, dict) or "grid" not in launch:
        raise Refused(f"{job['file']} does not say on which grid {job['function']} runs: write launch = {{\"grid\": [\"ceil_div(n, BLOCK)\"]}} into it, over the "
                      f"task's dimensions ({', '.join(job['dims'])}) and the kernel's constants")
    given = launch.get("arguments", {})
    options = {name: value for name, value in launch.items() if name not in KEYS}
    try:
        export(job["out"], function, arguments_of(job, function, given), launch["grid"], arch=job["arch"], shape=launch.get("shape"),
               specialise=launch.get("specialise", True), **options)
    except ExportError as error:
        raise Refused(f"{job['file']}: {error}") from error
    except Refused:
        raise
    except Exception as error:
        raise Refused(f"{job['file']}: Triton does not compile {job['function']} ({told(error)}): mend it") from error


def main():
    job = json.load(sys.stdin)
    plain, sys.stdout = sys.stdout, sys.stderr  # what the file prints goes to standard error
    try:
        export_of(job)
        answer = {}
    except Refused as refusal:
        answer = {"error": str(refusal)}
    print("hone: " + json.dumps(answer), file=plain, flush=True)


main()
