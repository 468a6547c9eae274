# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns TileLang kernels into candidates.

    import tilelang.language as T
    from hone.kernels.tilelang import export

    def relu(block=1024):
        n = T.dynamic("n")
        @T.prim_func
        def main(x: T.Tensor((n,), "float32"), out: T.Tensor((n,), "float32")):
            with T.Kernel(T.ceildiv(n, block), threads=128) as b:
                for i in T.Parallel(block):
                    out[b * block + i] = T.max(x[b * block + i], 0.0)
        return main

    export("relu.honek", relu(), {"n": "rows * d"}, arch="90a")

TileLang generates CUDA C++, which nvcc compiles; neither step needs a GPU. Grid, block, shared memory and the order of arguments are TileLang's own.
`hone eval relu relu.honek --device cuda:0` judges the file.
"""
import os
import re
import subprocess
import tempfile

from hone.kernels.candidate import ExportError, Image, Launch, shape_conditions, write_candidate

# The launch plan's names for C++ types of numbers in generated kernels.
_NUMBERS = {"int": "i32", "int32_t": "i32", "int64_t": "i64", "long": "i64", "float": "f32", "double": "f64"}


def _import_tilelang():
    try:
        import tilelang
        from tilelang import env
        from tvm.target import Target
    except ImportError as error:
        raise ExportError(f"TileLang could not be imported ({error}): install it with `pip install tilelang`") from error
    return tilelang, env, Target


def _parameters(source, kernel):
    """Returns (type, name) of each parameter of the kernel, in the order in which the generated source declares them."""
    declared = re.search(rf"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s+)?{re.escape(kernel)}\s*\(([^)]*)\)", source)
    if not declared:
        raise ExportError(f"the source that TileLang generated declares no kernel {kernel}: this version of TileLang is not known")
    parameters = []
    for declaration in filter(None, (part.strip() for part in declared.group(1).split(","))):
        declaration_words = re.sub(r"__restrict__|__grid_constant__|\bconst\b", " ", declaration).replace("*", " * ").split()
        parameters.append((" ".join(declaration_words[:-1]), declaration_words[-1]))
    return parameters


def _expression(value, values):
    """Returns an extent of TVM's as a launch plan writes it, with `values` in place of its names."""
    text = str(value).replace("//", "/")
    text = re.sub(r"T\.(min|max)\(", r"\1(", text)
    text = re.sub(r"T\.int(?:32|64)\((\d+)\)", r"\1", text)
    text = re.sub(r"T\.Cast\(\"int(?:32|64)\", ([A-Za-z_]\w*)\)", r"\1", text)
    if not re.fullmatch(r"[\w\s()+\-*/%,]*", text):
        raise ExportError(f"the extent {text} of the grid is none that a launch plan can say: give the grid with grid=")
    return re.sub(r"[A-Za-z_]\w*", lambda word: word.group() if word.group() in ("min", "max") else f"({_value(word.group(), values)})", text)


def _value(name, values):
    return str(values.get(name, name))


def _compile(source, arch, env):
    """Compiles generated source with nvcc and returns the cubin."""
    nvcc = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        command = [nvcc if os.path.exists(nvcc) else "nvcc", "-cubin", "-O3", "-std=c++20", "-w", f"-arch=sm_{arch}", f"-I{env.TILELANG_TEMPLATE_PATH}",
                   f"-I{env.CUTLASS_INCLUDE_DIR}", "-o", path + "bin", path]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except OSError as error:
            raise ExportError(f"nvcc could not be run ({error}): install the CUDA toolkit, or set CUDA_HOME to it") from error
        if done.returncode != 0:
            raise ExportError(f"nvcc does not compile what TileLang generated: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'no message'}")
        with open(path + "bin", "rb") as file:
            return file.read()


def launches_of(program, arguments=None, *, arch, grid=None, shape=None):
    """Compiles `program` and returns a list with its only launch (hone.kernels.Launch). The parameters are those of `export`."""
    tilelang, env, Target = _import_tilelang()
    values = dict(arguments or {})
    with Target({"kind": "cuda", "arch": f"sm_{arch}"}) as target:
        artifact = tilelang.lower(program, target=target)
    kernels = list(artifact.device_mod.functions_items())
    if len(kernels) != 1:
        raise ExportError(f"the program has {len(kernels)} kernels: export one with one T.Kernel")
    kernel = str(kernels[0][1].attrs["global_symbol"])
    attributes = kernels[0][1].attrs
    extents = {str(name): extent for name, extent in attributes["thread_extent"].items()}
    passed = []
    for kind, name in _parameters(artifact.kernel_source, kernel):
        if kind == "CUtensorMap":
            raise ExportError(f"the kernel takes {name}, a tensor map that TileLang makes on the host: copy without it, T.copy(…, disable_tma=True)")
        if kind.endswith("*"):
            passed.append(_value(name, values))
        elif kind in _NUMBERS:
            passed.append(f"{_value(name, values)}:{_NUMBERS[kind]}")
        else:
            raise ExportError(f"the kernel takes {name} as {kind}, which a launch plan does not pass")
    if grid is None:
        grid = [_expression(extents[f"blockIdx.{axis}"], values) for axis in "xyz" if f"blockIdx.{axis}" in extents] or ["1"]
    block = [str(extents[f"threadIdx.{axis}"]) for axis in "xyz" if f"threadIdx.{axis}" in extents]
    while len(block) > 1 and block[-1] == "1":
        block.pop()
    if any(not extent.isdigit() for extent in block):
        raise ExportError(f"the block has {' x '.join(block)} threads: give numbers")
    return [Launch(kernel=kernel, image=Image(_compile(artifact.kernel_source, arch, env)), grid=tuple(map(str, grid)), block=tuple(block),
                   args=tuple(passed), shared=int(attributes.get("dyn_shared_memory_buf", 0)), when=" && ".join(shape_conditions(shape)))]


def export(path, program, arguments=None, *, arch, grid=None, shape=None):
    """Compiles a TileLang program and writes it as a candidate.

    path: the .honek file.
    program: the result of @T.prim_func, with one T.Kernel. Its dynamic sizes (T.dynamic) become arguments of the launch.
    arguments: by TileLang's names, what parameters and dynamic sizes are in the task: a tensor of the task, or an expression over its
        dimensions. A name that is left out is the task's own.
    arch: the compute capability, with its letter if kernels use what only that variant has: "90a".
    grid: expressions over the task's dimensions, if TileLang's own grid cannot be expressed.
    shape: the only shape that the candidate is for, if sizes are fixed in the program: {"rows": 64}; the task's seed serves the others.

    Raises ExportError for what a launch plan cannot express, and for what nvcc refuses. TileLang's own errors are passed on.
    """
    return write_candidate(path, launches_of(program, arguments, arch=arch, grid=grid, shape=shape))
