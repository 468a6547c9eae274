# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns Helion kernels into candidates.

    import torch, helion, helion.language as hl
    from hone.kernels.helion import export

    @helion.kernel(static_shapes=False)
    def relu(x: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        for tile in hl.tile(x.size(0)):
            out[tile] = torch.relu(x[tile])
        return out

    export("relu.honek", relu, (torch.empty(4096),), helion.Config(block_sizes=[1024]), {"x_size_0": "rows * d", "x_stride_0": 1, "out_stride_0": 1},
           grid=["ceil_div(rows * d, 1024)"], arch=90)

Helion generates Triton code for a configuration, which is compiled as a kernel of Triton's (hone.kernels.triton); neither step needs a GPU. The host
code around the launch is run once on tensors without a device, to see what it passes to the kernel. `hone eval relu relu.honek --device cuda:0`
judges the file.
"""
import atexit
import importlib.util
import os
import shutil
import tempfile

from hone.kernels import triton as _triton
from hone.kernels.candidate import ExportError, write_candidate


def _import_helion():
    try:
        import helion
        import torch
    except ImportError as error:
        raise ExportError(f"Helion could not be imported ({error}): install it with `pip install helion`") from error
    return helion, torch


def generated(kernel, example, config):
    """Returns the text of the Triton code that Helion generates for `example` in `config`."""
    _import_helion()
    try:
        return kernel.bind(tuple(example)).to_triton_code(config)
    except AttributeError as error:
        raise ExportError(f"{kernel!r} is no Helion kernel ({error}): @helion.kernel makes one") from error


def _module_of(text):
    """Returns the generated code as a module. Triton reads a kernel's source from its file, which is kept until the process ends."""
    folder = tempfile.mkdtemp(prefix="hone-helion-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = os.path.join(folder, "generated.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    spec = importlib.util.spec_from_file_location("hone_helion_generated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def calls_of(kernel, example, config):
    """Returns what the host function launches for `example`: (Triton's function, grid, {parameter: value}, options) of each launch."""
    _, torch = _import_helion()
    module = _module_of(generated(kernel, example, config))
    recorded_launches = []

    def launcher(function, grid, *arguments, **options):
        inner = function
        while not hasattr(inner, "arg_names"):
            inner = inner.fn
        recorded_launches.append((inner, grid, dict(zip(inner.arg_names, arguments)), options))

    host = getattr(module, kernel.name if hasattr(kernel, "name") else kernel.fn.__name__)
    host(*[one.to("meta") if torch.is_tensor(one) else one for one in example], _launcher=launcher)
    if not recorded_launches:
        raise ExportError("the kernel launches nothing for this example: give one with elements")
    return recorded_launches


def launches_of(kernel, example, config, arguments, grid=None, *, arch, shape=None):
    """Compiles `kernel` and returns its launches (hone.kernels.Launch). The parameters are those of `export`."""
    _, torch = _import_helion()
    calls = calls_of(kernel, example, config)
    if len(calls) != 1:
        raise ExportError(f"the kernel launches {len(calls)} kernels of Triton's for one call: export one that is one loop over tiles")
    function, own_grid, passed, options = calls[0]
    types = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.int64: "i64", torch.int32: "i32",
             torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "i1", torch.float8_e4m3fn: "fp8e4nv", torch.float8_e5m2: "fp8e5"}
    constexpr = {one.name for one in function.params if one.is_constexpr}
    arguments_by_name = {}
    for name, value in passed.items():
        if name in constexpr:
            arguments_by_name[name] = value
        elif torch.is_tensor(value):
            if value.dtype not in types:
                raise ExportError(f"the kernel's {name} is {value.dtype}, which a launch plan does not pass")
            arguments_by_name[name] = f"{arguments.get(name, name)}:*{types[value.dtype]}"
        elif isinstance(arguments.get(name), int):
            arguments_by_name[name] = arguments[name]  # a constant that is compiled in, as a stride of 1 is
        elif name in arguments:
            arguments_by_name[name] = f"{arguments[name]}:{'fp32' if isinstance(value, float) else 'i32'}"
        elif shape is not None:
            arguments_by_name[name] = f"{value}:{'fp32' if isinstance(value, float) else 'i32'}"  # the value that the example has
        else:
            raise ExportError(f"the kernel is passed {name} = {value}: say what it is in the task, such as {{\"{name}\": \"rows * d\"}}, or name the one shape of "
                              "the example with shape=")
    if grid is None:
        grid = [int(one) for one in own_grid]
    known = {"num_warps", "num_stages", "num_ctas", "maxnreg"}
    return _triton.launches_of(function, arguments_by_name, grid, arch=arch, shape=shape, **{name: value for name, value in options.items() if name in known})


def export(path, kernel, example, config, arguments=None, grid=None, *, arch, shape=None):
    """Writes a Helion kernel in one configuration as a candidate.

    path: the .honek file.
    kernel: the result of @helion.kernel.
    example: arguments of a call, on the CPU; with static_shapes the sizes are compiled in, and `shape` must name them.
    config: a helion.Config, for example one that the autotuner found.
    arguments: by the generated names of the kernel's parameters, what they are in the task: tensors, and expressions over the task's
        dimensions; a whole number is compiled in. A tensor that is left out has the task's own name. `generated(kernel, example, config)` shows the names.
    grid: expressions over the task's dimensions; without it the example's own grid, which needs `shape`.
    arch: the compute capability without its dot, for example 90.
    shape: the only shape that the candidate is for: {"rows": 64}; the task's seed serves the others.

    Raises ExportError for what a launch plan cannot express. Errors of Helion and Triton are passed on.
    """
    return write_candidate(path, launches_of(kernel, example, config, dict(arguments or {}), grid, arch=arch, shape=shape))
