# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns kernels of CuTe DSL (nvidia-cutlass-dsl) into candidates.

    compiled = cute.compile(relu, x, out, n, options="--gpu-arch sm_90a --keep-cubin --keep-ptx")   # on any machine
    export("relu.honek", compiled, ["struct:{x, rows * d:i32}", "struct:{out, rows * d:i32}", "rows * d:i32"], grid=["ceil_div(rows * d, 256)"])

Tensors are compiled without data by cute.runtime.make_fake_compact_tensor, and the environment variable CUTE_DSL_ARCH names the GPU, so that no GPU
is needed. The machine code, the kernel's name and its block are taken from what cute.compile returned. The host function around the kernel is not
used; what it passed to the kernel is stated here. `hone eval relu relu.honek --device cuda:0` judges the file.
"""
import re

from hone.kernels.candidate import ExportError, Image, Launch, shape_conditions, write_candidate


def _kernel_of(compiled, kernel):
    names = list(getattr(compiled, "kernel_info", None) or {})
    if kernel is None:
        if len(names) != 1:
            raise ExportError(f"the compiled function launches {len(names)} kernels ({', '.join(names)}): name one with kernel=")
        return names[0]
    chosen = [name for name in names if kernel in name]
    if len(chosen) != 1:
        raise ExportError(f"kernel='{kernel}' is in {len(chosen)} names of the compiled function's kernels: {', '.join(names)}")
    return chosen[0]


def parameters_of(compiled, kernel=None):
    """Returns the sizes in bytes of the kernel's parameters, in order: 8 for a tensor of fixed layout, more for one with dynamic sizes or strides."""
    name = _kernel_of(compiled, kernel)
    text = getattr(compiled, "__ptx__", None)
    entry = re.search(rf"\.entry\s+{re.escape(name)}\s*\((.*?)\)\s*([^{{]*)\{{", text or "", re.S)
    if not entry:
        raise ExportError("the compiled function has no PTX to read its parameters from: compile it with options=\"--keep-cubin --keep-ptx\"")
    sizes = []
    for parameter in entry.group(1).split(","):
        array = re.search(r"\.b8\s+\S+\[(\d+)\]", parameter)
        number_type = re.search(r"\.[usbf](\d+)\s", parameter)
        if array or number_type:
            sizes.append(int(array.group(1)) if array else int(number_type.group(1)) // 8)
    block = re.search(r"\.reqntid\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?", entry.group(2))
    return name, sizes, [int(parameter) for parameter in block.groups() if parameter] if block else []


def export(path, compiled, arguments, grid, *, kernel=None, block=None, shared=0, cluster=(), shape=None):
    """Writes a compiled function's kernel as a candidate.

    path: the .honek file.
    compiled: the result of cute.compile, with options="--keep-cubin --keep-ptx".
    arguments: the kernel's parameters in order, as a launch plan writes them: for a tensor of fixed layout the name of a tensor of the task,
        for one with dynamic sizes or strides "struct:{x, n:i32}" (the pointer, then each dynamic size and stride), for a number "n:i32".
    grid, block, cluster: expressions over the task's dimensions. Without `block`, the kernel's own is used.
    kernel: a part of the kernel's name, if the function launches several.
    shared: bytes of dynamic shared memory that the launch asks for.
    shape: the only shape that the candidate is for: {"rows": 64}; the task's seed serves the others.

    Raises ExportError if the arguments do not fit the kernel.
    """
    name, sizes, own_block = parameters_of(compiled, kernel)
    code = getattr(compiled, "__cubin__", None)
    if not code:
        raise ExportError("the compiled function kept no machine code: compile it with options=\"--keep-cubin --keep-ptx\"")
    if len(arguments) != len(sizes):
        raise ExportError(f"{name} takes {len(sizes)} arguments of {', '.join(map(str, sizes))} bytes, and {len(arguments)} are given")
    args = []
    for number, (text, size) in enumerate(zip(arguments, sizes)):
        if text.startswith("struct:{"):
            text = f"struct:Tensor{number}{text[len('struct:'):]}"
        elif size > 8:
            raise ExportError(f"argument {number} of {name} is a tensor with dynamic sizes or strides, {size} bytes: write \"struct:{{{text}, rows * d:i32}}\" with "
                              "each of them after the pointer")
        args.append(text)
    block = [str(one) for one in (block or own_block)]
    if not block:
        raise ExportError(f"{name} does not say how many threads a block has: give block=")
    return write_candidate(path, [Launch(kernel=name, image=Image(bytes(code)), grid=tuple(map(str, grid)), block=tuple(block), args=tuple(args),
                                         shared=shared, cluster=tuple(map(str, cluster)), when=" && ".join(shape_conditions(shape)))])
