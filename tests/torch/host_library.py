# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs Python files that `hone apply` wrote on the CPU: the host's compiler builds their kernels against the fake CUDA runtime
(src/tuner/interop/fake), which runs them a thread at a time, and ctypes launches them as it would on a GPU."""
import contextlib
import os
import re
import subprocess
import types

FAKE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "tuner", "interop", "fake")


def library(source, folder, name):
    """Builds a generated source for the CPU and returns the library's path. Every kernel in it is registered with the fake runtime."""
    source = re.sub(r"inline const void\* (HoneKernel\d+)\(\) \{ return reinterpret_cast<const void\*>\(&(.+)\); \}",
                    r'\g<0> static const bool registered_\1 = (RunKernel("\2", \1(), &\2), true);', source)
    path = os.path.join(folder, name)
    with open(path + ".cu", "w", encoding="utf-8") as file:
        file.write(source)
    subprocess.run(["c++", "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-I" + FAKE, "-o", path + ".so", "-x", "c++", path + ".cu"], check=True)
    return path + ".so"


@contextlib.contextmanager
def on_the_cpu(torch, folder, asked):
    """Makes torch.utils.cpp_extension.load_inline build for the CPU, and torch.cuda's streams and devices nothing. `asked` gets load_inline's arguments."""
    import torch.utils.cpp_extension as extension

    def load_inline(name, cpp_sources, cuda_sources, is_python_module, no_implicit_headers, **flags):
        asked.append({"name": name, "source": cuda_sources[0], "as_module": is_python_module, "light": no_implicit_headers, **flags})
        return library(cuda_sources[0], folder, name)

    kept = extension.load_inline, torch.cuda.device, torch.cuda.current_stream
    extension.load_inline = load_inline
    torch.cuda.device = lambda _: contextlib.nullcontext()
    torch.cuda.current_stream = lambda: types.SimpleNamespace(cuda_stream=0)
    try:
        yield
    finally:
        extension.load_inline, torch.cuda.device, torch.cuda.current_stream = kept


def cpu_copy(path):
    """Writes a copy of an exported file that takes tensors on the CPU, beside it, and returns its path."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count('_device.type != "cuda"') != 1:
        raise ValueError(f"{path} does not refuse tensors on the CPU")
    with open(path[:-3] + "_cpu.py", "w", encoding="utf-8") as file:
        file.write(text.replace('_device.type != "cuda"', '_device.type != "cpu"'))
    return path[:-3] + "_cpu.py"
