# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns kernels that PyTorch's Inductor wrote into candidates.

    import torch
    from hone.kernels.inductor import export, kernels

    (kernel,) = kernels(torch.relu, torch.empty(64, 4096, device="cuda"), dynamic=True)
    export("relu.honek", kernel, {"in_ptr0": "x", "out_ptr0": "out", "xnumel": "rows * d"}, arch=90)

Inductor writes Triton code for tensors on a GPU alone, so `kernels` needs one. `hone eval relu relu.honek --device cuda:0` judges the file.
"""
import dataclasses
import re

from hone.kernels import triton as _triton
from hone.kernels.candidate import ExportError, write_candidate


@dataclasses.dataclass
class Kernel:
    """A Triton kernel that Inductor wrote, in the configuration that it chose."""

    name: str
    function: object  # the result of @triton.jit
    signature: dict  # type of each parameter in Triton's notation, "constexpr" for a constant
    constants: dict  # by parameter
    options: dict  # of Triton's compiler: num_warps, num_stages
    grid: str  # Inductor's name for how the grid follows from sizes: "Grid1D", …

    @property
    def source(self):
        """Returns the Triton code of the kernel."""
        return self.function.src

    @property
    def sizes(self):
        """Returns the sizes that are compiled in, by name: Inductor assigns them at the head of the kernel unless shapes are dynamic."""
        return {name: int(value) for name, value in re.findall(r"^\s*([xyzr]\d*_?numel) = (\d+)\s*$", self.source, re.M)}


def _import_torch():
    try:
        import torch
        from torch._inductor.codecache import PyCodeCache
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner
    except ImportError as error:
        raise ExportError(f"PyTorch's Inductor could not be imported ({error}): install torch 2.6 or newer, and triton") from error
    return torch, PyCodeCache, CachingAutotuner


def _kernel_of(name, tuner):
    config = tuner.launchers[0].config if tuner.launchers else tuner.configs[0]
    signature = dict(tuner.triton_meta["signature"])
    constants = {**{key: value for key, value in tuner.triton_meta.get("constants", {}).items() if isinstance(key, str)}, **config.kwargs}
    options = {"num_warps": config.num_warps, "num_stages": config.num_stages}
    return Kernel(name, tuner.fn, signature, {key: value for key, value in constants.items() if key in tuner.fn.arg_names}, options,
                  str(tuner.inductor_meta.get("grid_type", "")))


def kernels(function, *inputs, dynamic=None):
    """Compiles `function` by torch.compile, calls it with `inputs`, and returns the kernels that Inductor wrote for it.

    function: a function of tensors, or a module.
    inputs: tensors on a GPU.
    dynamic: as torch.compile takes it; with True sizes are arguments of the kernels, otherwise they are compiled in.
    """
    torch, PyCodeCache, CachingAutotuner = _import_torch()
    if not any(torch.is_tensor(one) and one.is_cuda for one in inputs):
        raise ExportError("Inductor writes Triton code for tensors on a GPU alone: give inputs with device=\"cuda\"")
    torch._dynamo.reset()
    before = list(PyCodeCache.modules)
    with torch.no_grad():
        torch.compile(function, dynamic=dynamic)(*inputs)
    compiled_kernels = [_kernel_of(name, value) for module in PyCodeCache.modules if not any(module is one for one in before)
                        for name, value in vars(module).items() if isinstance(value, CachingAutotuner)]
    unique = {one.name: one for one in compiled_kernels}
    if not unique:
        raise ExportError("Inductor wrote no Triton kernel for this function: what it calls may be a library's, such as a matrix product")
    return list(unique.values())


def launches_of(kernel, arguments, grid=None, *, arch, shape=None):
    """Compiles `kernel` and returns its launches (hone.kernels.Launch). The parameters are those of `export`."""
    if kernel.sizes and shape is None:
        given = ", ".join(f"{name} = {value}" for name, value in kernel.sizes.items())
        raise ExportError(f"the kernel {kernel.name} was compiled for {given}: name that shape with shape=, or call kernels(…, dynamic=True)")
    given = dict(kernel.constants)
    for name, kind in kernel.signature.items():
        if kind == "constexpr":
            continue
        value = arguments.get(name, kernel.sizes.get(name))
        if value is None:
            raise ExportError(f"the kernel's parameter '{name}' ({kind}) is not given; its code names {', '.join(kernel.signature)}")
        given[name] = f"{value}:{kind}"
    if grid is None:
        blocks = {"Grid1D": "x", "Grid2D": "xy", "Grid3D": "xyz"}.get(kernel.grid)
        if blocks is None:
            raise ExportError(f"the kernel {kernel.name} has a grid of Inductor's kind '{kernel.grid}': give it as grid=")
        of = lambda axis: arguments.get(f"{axis}numel", kernel.sizes.get(f"{axis}numel"))
        grid = [f"ceil_div({of(axis)}, {kernel.constants.get(axis.upper() + 'BLOCK', 1)})" for axis in blocks]
    return _triton.launches_of(kernel.function, given, grid, arch=arch, shape=shape, **kernel.options)


def export(path, kernel, arguments, grid=None, *, arch, shape=None):
    """Writes a kernel of Inductor's as a candidate.

    path: the .honek file.
    kernel: one of those that `kernels` returned.
    arguments: by the names in the kernel's code (`kernel.source` shows it), what they are in the task: tensors, and expressions over its dimensions.
        Sizes that were compiled in may be left out.
    grid: 1 to 3 expressions over the task's dimensions; without it, the grid follows from the sizes as Inductor's does.
    arch: the compute capability without its dot, for example 90.
    shape: the only shape that the candidate is for: {"rows": 64}; the task's seed serves the others.

    Raises ExportError for what a launch plan cannot express. Errors of PyTorch and Triton are passed on.
    """
    return write_candidate(path, launches_of(kernel, dict(arguments), grid, arch=arch, shape=shape))
