# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a task's PyTorch module in double precision for the judge. Stands behind problem.py, frames.py, driver.py, shapes.py and costs.py in one script.

Descriptor 3 is a stream socket with frames (src/base/process/frames.h), 4 a memory file that the judge maps too. The first frame
names the module; each later one asks for outputs at some sizes, with places of inputs and results in the memory file.
torch_reference.cc is the other side and lists the fields.
"""
import mmap
import os
import time

FRAMES, MEMORY = Frames(3), 4
ROOM = 5  # free memory that evaluating a module on the GPU is taken to need, in sizes of its inputs and results
KEPT_SHARE = 40    # this part of the GPU's memory is kept from one evaluation to the next: allocating it takes as long as a small evaluation
SMALL = 64         # an evaluation is small if its tensors are a share of 1 / SMALL of what is kept
MOST_MODELS = 64   # modules that are kept, of as many sizes: a verdict needs about twenty


class Shared:
    """Device memory as PyTorch takes it: bytes at an address."""

    def __init__(self, address, count):
        self.__cuda_array_interface__ = {"shape": (count,), "typestr": "|u1", "data": (address, False), "version": 3}


class Server:
    def __init__(self, job):
        self.job = job
        self.problem = Problem(job["text"], job["file"], job["class"], job["training"])
        self.models, self.needs_sizes = {}, self.problem.model_needs_sizes()
        self.memory, self.bytes = None, 0
        self.shared = None  # the judge's block of the GPU's memory, as a tensor of bytes; None: none is mapped
        self.mapped = None  # its (address, bytes, handle)
        self.mapper = None
        self.gpu = gpu_of(job)
        self.most_kept = 0
        if self.gpu is not None:
            import torch
            self.most_kept = torch.cuda.mem_get_info(self.gpu)[1] // KEPT_SHARE

    def model(self, sizes, precision, device):
        """Returns the module at these sizes, which is kept. Its own weights are dropped: each evaluation brings the task's."""
        key = (tuple(sorted(sizes.items())) if self.needs_sizes else (), precision, device)
        if key not in self.models:
            if len(self.models) >= MOST_MODELS:
                self.models.pop(next(iter(self.models)))
            self.models[key] = bare_model(self.problem, sizes, precision, device, set(self.job["state"].values()))
        return self.models[key]

    def file_sizes(self, dims):
        """Returns the sizes of the problem's file for the task's dimensions."""
        sizes = {self.job["sizes"].get(name, name): size for name, size in dims.items()}
        return {name: size for name, size in sizes.items() if name in self.problem.sizes}

    def operators(self, dims):
        """Returns what the module's operators cost, computed from shapes."""
        costs = costs_of(self.problem, self.file_sizes(dims))
        if costs is None:
            raise Refused(f"PyTorch's meta device cannot say what the module's operators cost at {dims}: it looks at values, or does not run there")
        return {"costs": costs}

    def answer(self, request):
        """Evaluates the module for a request and writes the results to the memory file."""
        import torch
        shared = request.get("shared", False)
        if not shared and request["bytes"] > self.bytes:
            self.memory = mmap.mmap(MEMORY, request["bytes"], mmap.MAP_SHARED)
            self.bytes = request["bytes"]
        sizes = self.file_sizes(request["dims"])

        def place(one, dtype):
            count = math.prod(one["shape"])
            if count == 0:
                return torch.empty(one["shape"], dtype=dtype)
            if shared:
                return self.shared[one["offset"]:one["offset"] + count * dtype.itemsize].view(dtype).reshape(one["shape"])
            return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=one["offset"]).reshape(one["shape"])

        tensors = {one["name"]: place(one, getattr(torch, one["dtype"])) for one in request["tensors"]}
        precision = request.get("precision", "float64")
        results = None
        # Only the linter asks for other precisions: it needs the results of the CPU's arithmetic.
        if self.gpu is not None and precision == "float64":
            try:
                results, after = self.compute(tensors, sizes, precision, self.gpu)
            except Refused:
                raise
            except Exception as error:  # too little memory on the GPU, or an operator without a double version there: uses the CPU
                print(f"on the GPU: {error}", file=sys.stderr)
        if results is None:
            torch.cuda.empty_cache()
            results, after = self.compute(tensors, sizes, precision, "cpu")
        made = dict(zip(self.job["outputs"], results))
        for one in request["results"]:
            name = one["name"]
            result = made[name] if name in made else after[self.job["state"][name]]
            if list(result.shape) != one["shape"]:
                raise Refused(f"the module gives {name} the shape {list(result.shape)}, and the task says {one['shape']}")
            if result.is_complex():
                raise Refused(f"the module's {name} is complex, which tasks do not hold: return its parts")
            if result.numel():
                place(one, torch.float64).copy_(result)
        if shared:
            torch.cuda.synchronize()
        del results, after, made, result, tensors
        # A small evaluation makes PyTorch reserve little, and asking how much it has takes a tenth of a millisecond.
        if self.gpu is not None and request["bytes"] * SMALL > self.most_kept and torch.cuda.memory_reserved(self.gpu) > self.most_kept:
            torch.cuda.empty_cache()  # the judge's process needs the memory

    def share(self, size, descriptors):
        """Maps the judge's block of `size` bytes, whose descriptor came, in place of an earlier one; 0: maps none. Returns whether it is mapped: it is
        not if the module would have too little memory beside it, and would be evaluated on the CPU."""
        import torch
        self.unmap()
        if size == 0:
            return False
        # The block is taken already.
        if size * (ROOM - 1) > torch.cuda.mem_get_info(self.gpu)[0]:
            torch.cuda.empty_cache()
            if size * (ROOM - 1) > torch.cuda.mem_get_info(self.gpu)[0]:
                return False
        if self.mapper is None:
            self.mapper = Mapper(Driver(), self.job["gpu"])
        address, handle = self.mapper.map_shared(size, descriptors[0])
        self.mapped = address, size, handle
        try:
            self.shared = self.tensor_at(address, size)
        except Exception:
            self.unmap()
            raise
        return True

    def tensor_at(self, address, size):
        """Returns the GPU's memory at an address as a tensor of bytes."""
        import torch
        made = torch.as_tensor(Shared(address, size), device=self.gpu)
        if made.data_ptr() != address:  # the judge would never see results in a copy
            raise RuntimeError("PyTorch has copied the memory of the judge's block")
        return made

    def unmap(self):
        """Ends the mapping of the judge's block, if there is one."""
        import torch
        if self.mapped is not None:
            address, size, handle = self.mapped
            self.shared = self.mapped = None
            torch.cuda.synchronize()
            self.mapper.unmap(address, size, handle)
            self.mapper.driver("cuMemAddressFree", address, size)

    def compute(self, tensors, sizes, precision, device):
        """(outputs, state afterwards) by the module on `device`, from tensors of the judge's memory."""
        import torch
        with torch.device(device):  # of tensors that forward itself makes
            here = {name: tensor.to(device).bool() if name in self.job["booleans"] else tensor.to(device) for name, tensor in tensors.items()}
            state = {name: here[tensor] for tensor, name in self.job["state"].items()}
            inputs = [here[one["tensor"]] if "tensor" in one else one["value"] for one in self.job["inputs"]]
            model = self.model(sizes, precision, device)
            for name, tensor in state_of(model).items():  # state that is no tensor of the task: counters
                if name not in state:
                    state[name] = tensor
            results, after, _ = evaluate(self.problem, sizes, model, inputs, state, precision)
            return results, after


def gpu_of(job):
    """Returns the GPU that the job names; None: it names none, or this PyTorch cannot use it."""
    import torch
    if job.get("gpu", -1) < 0 or not torch.cuda.is_available():
        return None
    try:
        device = torch.device("cuda", job["gpu"])
        torch.cuda.set_device(device)
        torch.ones(2, device=device, dtype=torch.float64).sum().item()
        return device
    except Exception:  # for example, this PyTorch is built for another generation of GPUs
        return None


def main():
    job = FRAMES.receive()
    if job.get("gpu", -1) >= 0:
        wake_gpu(job["gpu"])
    try:
        load_torch()
        import torch
        if job.get("threads"):
            torch.set_num_threads(job["threads"])
        server = Server(job)
    except Refused as refusal:
        FRAMES.send({"error": str(refusal)})
        return
    device = "CPU" if server.gpu is None else torch.cuda.get_device_name(server.gpu)
    FRAMES.send({"torch": versions(server.gpu is not None), "device": device})
    while True:
        request = FRAMES.receive(descriptors=1)
        started = time.perf_counter()
        try:
            if "share" in request:
                FRAMES.send({"shared": server.share(request["share"], FRAMES.received)})
                continue
            if "operators" in request:
                FRAMES.send(server.operators(request["operators"]))
                continue
            server.answer(request)
            FRAMES.send({"seconds": time.perf_counter() - started})
        except Refused as refusal:
            FRAMES.send({"error": str(refusal)})
        except Exception as error:
            FRAMES.send({"error": explain(error, "the module")})
        finally:
            for descriptor in FRAMES.received:
                os.close(descriptor)
            FRAMES.received = []


try:
    main()
except Gone:  # the judge has closed the socket
    os._exit(0)
