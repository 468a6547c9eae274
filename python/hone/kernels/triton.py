# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns Triton kernels into candidates.

    import triton, triton.language as tl
    from hone.kernels.triton import export

    @triton.jit
    def relu(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.maximum(tl.load(x + i, mask=i < n), 0.0), mask=i < n)

    export("relu.honek", relu, {"x": "x:*fp32", "out": "out:*fp32", "n": "n:i32", "BLOCK": 1024},
           grid=["ceil_div(n, BLOCK)"], arch=90)

Compiling needs no GPU. `hone eval relu relu.honek --device cuda:0` judges the file.
"""
import re

from hone.kernels.candidate import ExportError, Image, Launch, Workspace, shape_conditions, write_candidate

# Number of parameters that Triton 3.x appends to a kernel's own: scratch memory, and memory of its profiler.
_SCRATCH_PARAMETERS = 2
_INTEGERS = {"i1": "bool", "i32": "i32", "u32": "u32", "i64": "i64", "u64": "u64"}
_FLOATS = {"fp32": "f32", "fp64": "f64"}
_DIVISOR = 16  # Triton knows of an argument either that this divides it, or nothing


class _Argument:
    """One parameter of the kernel that is passed at launch: its type in Triton's notation, and its text and value in the plan."""

    def __init__(self, parameter, text):
        value, colon, kind = text.rpartition(":")
        if not colon or not value:
            raise ExportError(
                f"argument '{parameter}': '{text}' does not name its type: write \"VALUE:TYPE\" with Triton's names, such as "
                f"\"x:*fp16\" for a tensor of the task, \"rows * d:i32\" or \"eps:fp32\""
            )
        self.parameter, self.value, self.type = parameter, value.strip(), kind.strip()
        self.pointer = self.type.startswith("*")
        if self.pointer:
            self.plan = self.value
        elif self.type in _INTEGERS:
            self.plan = f"{self.value}:{_INTEGERS[self.type]}"
        elif self.type in _FLOATS:
            self.plan = f"{self.value}:{_FLOATS[self.type]}"
        else:
            raise ExportError(
                f"argument '{parameter}': a launch plan passes no {self.type}: use a pointer, {', '.join(_INTEGERS)}, {' or '.join(_FLOATS)}"
            )

    @property
    def divisible(self):
        """Returns the condition under which Triton may assume that _DIVISOR divides the argument; empty if Triton never asks."""
        if self.pointer:
            tensor, plus, offset = self.value.partition("+")
            # An offset counts elements. The pointer keeps its alignment if the offset is a multiple of 16 elements.
            return f"align({tensor.strip()}) % {_DIVISOR} == 0" + (f" && ({offset.strip()}) % {_DIVISOR} == 0" if plus else "")
        return f"({self.value}) % {_DIVISOR} == 0" if self.type in _INTEGERS and self.type != "i1" else ""


def _import_triton():
    try:
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
        from triton.runtime.autotuner import Autotuner, Heuristics
    except ImportError as error:
        raise ExportError(f"Triton could not be imported ({error}): install it with `pip install triton`") from error
    if int(triton.__version__.split(".")[0]) < 3:
        raise ExportError(f"Triton {triton.__version__} is too old: use 3.4 or newer")
    return triton, GPUTarget, ASTSource, Autotuner, Heuristics


def _configurations(function, options):
    """Returns the function without its tuner, and (constants, options) of each configuration to be tried."""
    _, _, _, Autotuner, Heuristics = _import_triton()
    configurations = [({}, dict(options))]
    while isinstance(function, (Autotuner, Heuristics)):
        if isinstance(function, Heuristics):
            raise ExportError("the kernel has @triton.heuristics, which computes constants from each call: give them as constants instead")
        configurations = []
        for config in function.configs:
            launch_options = {"num_warps": config.num_warps, "num_stages": config.num_stages, "num_ctas": config.num_ctas}
            if getattr(config, "maxnreg", None):
                launch_options["maxnreg"] = config.maxnreg
            configurations.append((dict(config.kwargs), {**launch_options, **options}))
        function = function.fn
    if not hasattr(function, "arg_names"):
        raise ExportError(f"{function!r} is no Triton kernel: it lacks @triton.jit")
    return function, configurations


def _with_constants(text, constants):
    """Returns an expression in which the names of constants, as whole words, are replaced by their values."""
    numbers = {name: str(int(value)) for name, value in constants.items() if isinstance(value, int)}
    return re.sub(r"[A-Za-z_][A-Za-z_0-9]*", lambda word: numbers.get(word.group(), word.group()), str(text))


def _grid(grid, constants, num_ctas):
    if callable(grid):
        grid = grid(constants)
    if isinstance(grid, (str, int)):
        grid = [grid]
    extents = [_with_constants(extent, constants) for extent in grid]
    if not 1 <= len(extents) <= 3:
        raise ExportError(f"the grid has {len(extents)} extents; give 1 to 3")
    if num_ctas > 1:
        extents[0] = f"({extents[0]}) * {num_ctas}"
    return tuple(extents)


def _launch(kernel, passed, grid, constants, conditions, config, number):
    """Returns the launch of one compiled kernel. `passed`: the arguments that are its parameters, in order."""
    metadata = kernel.metadata
    if getattr(metadata, "tensordesc_meta", None):
        raise ExportError("the kernel takes a tensor descriptor from the host: pass the pointer and make the descriptor inside it")
    if getattr(metadata, "profile_scratch_size", 0):
        raise ExportError("the kernel was compiled for Triton's profiler, which wants memory of its own: compile it without instrumentation")
    num_ctas = getattr(metadata, "num_ctas", 1)
    extents = _grid(grid, constants, num_ctas)
    workspaces, scratch = (), "0:u64"
    if size := getattr(metadata, "global_scratch_size", 0):
        scratch = f"scratch{number}"
        blocks = " * ".join(f"({extent})" for extent in extents)
        workspaces = (Workspace(scratch, f"max({blocks}, 1) * {size}", max(getattr(metadata, "global_scratch_align", 1), 256)),)
    args = [argument.plan for argument in passed] + [scratch, "0:u64"][:_SCRATCH_PARAMETERS]
    return Launch(
        kernel=metadata.name,
        image=Image(kernel.asm["cubin"]),
        grid=extents,
        block=(32 * metadata.num_warps,),
        args=tuple(args),
        shared=metadata.shared,
        cluster=(num_ctas,) if num_ctas > 1 else (),
        cooperative=bool(getattr(metadata, "launch_cooperative_grid", False)),
        when=" && ".join(conditions),
        config=config,
        workspaces=workspaces,
    )


def _check_grid_is_bound(grid, shape):
    extents = [grid] if isinstance(grid, (str, int)) else [] if callable(grid) else list(grid)
    if extents and not shape and all(isinstance(extent, int) and extent != 1 for extent in extents):
        raise ExportError(
            f"the grid {tuple(extents)} is right for one shape: write it over the task's dimensions, such as [\"ceil_div(n, BLOCK)\"], "
            f"or name the shape, such as shape={{\"n\": 4096}}; other shapes then fall back to the task's seed"
        )


def launches_of(function, arguments, grid, *, arch, shape=None, specialise=True, **options):
    """Compiles `function` and returns its launches (hone.kernels.Launch). The parameters are those of `export`."""
    triton, GPUTarget, ASTSource, _, _ = _import_triton()
    _check_grid_is_bound(grid, shape)
    function, configurations = _configurations(function, options)
    unknown = [name for name in arguments if name not in function.arg_names]
    if unknown:
        raise ExportError(f"the kernel has no parameter '{unknown[0]}'; it has {', '.join(function.arg_names)}")
    launches = []
    for config, (tuned, own_options) in enumerate(configurations):
        values_by_parameter = {**arguments, **tuned}
        defaults = {p.name: p.default for p in function.params if p.has_default}
        passed, constants, signature = [], {}, {}
        for parameter in function.params:
            if parameter.name not in values_by_parameter and parameter.name not in defaults:
                raise ExportError(f"the kernel's parameter '{parameter.name}' is not given")
            value = values_by_parameter.get(parameter.name, defaults.get(parameter.name))
            if parameter.is_constexpr or not isinstance(value, str):
                constants[parameter.name] = value
                signature[parameter.name] = "constexpr"
            else:
                passed.append(_Argument(parameter.name, value))
                signature[parameter.name] = passed[-1].type
        if not passed:
            raise ExportError("no argument of the kernel is a text: tensors are given as \"x:*fp32\", with the name that the task has")
        skipped = {p.name for p in function.params if p.do_not_specialize or p.do_not_specialize_on_alignment}
        divisible = [a for a in passed if specialise and a.divisible and a.parameter not in skipped]
        # The most specialised variant comes first, because the first launch whose condition holds runs.
        for divisible_names in ([divisible, []] if divisible else [[]]):
            positions = {name: i for i, name in enumerate(function.arg_names)}
            source = ASTSource(
                fn=function,
                signature=signature,
                constexprs={(positions[name],): value for name, value in constants.items()},
                attrs={(positions[a.parameter],): [["tt.divisibility", _DIVISOR]] for a in divisible_names},
            )
            kernel = triton.compile(source, target=GPUTarget("cuda", int(arch), 32), options=own_options)
            conditions = shape_conditions(shape) + [a.divisible for a in divisible_names]
            launches.append(_launch(kernel, passed, grid, constants, conditions, config, len(launches)))
    return launches


def export(path, function, arguments, grid, *, arch, shape=None, specialise=True, **options):
    """Compiles a Triton kernel and writes it as a candidate.

    path: the .honek file.
    function: the result of @triton.jit, or of @triton.autotune: each configuration then becomes a choice of the
        tunable CONFIG, of which the first is the default and `hone tune` finds the fastest.
    arguments: by the kernel's parameter. A text "VALUE:TYPE" is passed at launch: VALUE as a launch plan writes it (a tensor of
        the task, perhaps with an offset in elements; an expression over its dimensions; a scalar of it), TYPE in Triton's
        notation. Anything else is a constant that is compiled in.
    grid: 1 to 3 expressions over the task's dimensions and the kernel's constants, or a function of the constants that
        returns them. A grid of plain numbers needs `shape`.
    arch: the compute capability without its dot, for example 90.
    shape: the only shape that the candidate is for, for example {"rows": 64}; the task's seed serves the others.
    specialise: also compiles a variant for arguments that 16 divides, as Triton's launcher does; it runs when they are.
    options: of Triton's compiler: num_warps, num_stages, num_ctas, maxnreg, …
    Raises ExportError for what a launch plan cannot express. Triton's own errors are passed on.
    """
    return write_candidate(path, launches_of(function, arguments, grid, arch=arch, shape=shape, specialise=specialise, **options))


def export_compiled(path, kernel, arguments, grid, *, shape=None):
    """Writes a kernel that Triton has already compiled: the result of `function[grid](…)` or `function.warmup(…, grid=…)`.

    The kernel is launched only if the facts hold with which it was compiled: arguments that 16 divides, arguments that are 1. The other parameters
    are those of `export`; constants may be left out of `arguments`.
    """
    _import_triton()
    _check_grid_is_bound(grid, shape)
    source = kernel.src
    names = list(source.signature)
    constants = {names[path[0]]: value for path, value in source.constants.items() if len(path) == 1}
    attributes = {names[path[0]] for path, facts in source.attrs.items() if any(fact[0] == "tt.divisibility" for fact in facts)}
    passed, conditions = [], shape_conditions(shape)
    for name, kind in source.signature.items():
        value = arguments.get(name)
        if kind == "constexpr":
            # Triton compiles an argument that is 1 as a constant.
            if isinstance(value, str):
                conditions.append(f"({_Argument(name, value).value}) == {int(constants[name])}")
            continue
        if not isinstance(value, str):
            raise ExportError(f"the kernel's parameter '{name}' is not given: write its value, such as \"{name}:{kind}\"")
        argument = _Argument(name, value)
        if argument.type != kind:
            raise ExportError(f"argument '{name}' is given as {argument.type}, and the kernel was compiled for {kind}")
        passed.append(argument)
        if name in attributes:
            conditions.append(argument.divisible)
    return write_candidate(path, [_launch(kernel, passed, grid, constants, conditions, 0, 0)])
