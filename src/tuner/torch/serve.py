# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a task's PyTorch module in double precision for the judge. Follows problem.py in one text.

Descriptor 3 is a stream socket with frames (src/base/frames.h), 4 a memory file that the judge maps too. The first frame
names the module; each later one asks for outputs at some sizes, with places of inputs and results in the memory file.
torch_reference.cc is the other side and lists the fields.
"""
import mmap
import os
import struct
import time

FRAMES, MEMORY = 3, 4


def read_exactly(count):
    parts = []
    while count > 0:
        part = os.read(FRAMES, count)
        if not part:
            os._exit(0)  # the judge has gone
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def receive():
    head = read_exactly(16)
    magic, header_bytes, blobs, descriptors = struct.unpack("<4sIII", head)
    if magic != b"HNF1" or blobs != 0 or descriptors != 0:
        raise ValueError("what came is no frame of the judge's")
    return json.loads(read_exactly(header_bytes))


def send(answer):
    header = json.dumps(answer).encode()
    message = struct.pack("<4sIII", b"HNF1", len(header), 0, 0) + header
    while message:
        message = message[os.write(FRAMES, message):]


class Server:
    def __init__(self, job):
        self.job = job
        self.problem = Problem(job["text"], job["file"], job["class"], job["training"])
        self.models = {}
        self.memory, self.bytes = None, 0

    def model(self, sizes, precision):
        key = (tuple(sorted(sizes.items())), precision)
        if key not in self.models:
            self.models.clear()  # one at a time: weights may be large
            self.models[key] = model_for(self.problem, sizes, precision)
        return self.models[key]

    def answer(self, request):
        import torch
        if request["bytes"] > self.bytes:
            self.memory = mmap.mmap(MEMORY, request["bytes"], mmap.MAP_SHARED)
            self.bytes = request["bytes"]
        sizes = {self.job["sizes"].get(name, name): size for name, size in request["dims"].items()}
        sizes = {name: size for name, size in sizes.items() if name in self.problem.sizes}

        def place(one, dtype):
            count = math.prod(one["shape"])
            if count == 0:
                return torch.empty(one["shape"], dtype=dtype)
            return torch.frombuffer(self.memory, dtype=dtype, count=count, offset=one["offset"]).reshape(one["shape"])

        tensors = {one["name"]: place(one, getattr(torch, one["dtype"])) for one in request["tensors"]}
        state = {name: tensors[tensor] for tensor, name in self.job["state"].items()}
        inputs = [tensors[one["tensor"]] if "tensor" in one else one["value"] for one in self.job["inputs"]]
        precision = request.get("precision", "float64")
        model = self.model(sizes, precision)
        for name, tensor in state_of(model).items():  # counters, which are no tensors of the task
            if name not in state:
                state[name] = tensor
        results, after, _ = evaluate(self.problem, sizes, model, inputs, state, precision)
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


def main():
    job = receive()
    try:
        load_torch()
        import torch
        if job.get("threads"):
            torch.set_num_threads(job["threads"])
        server = Server(job)
    except Refused as refusal:
        send({"error": str(refusal)})
        return
    send({"torch": torch.__version__})
    while True:
        request = receive()
        started = time.perf_counter()
        try:
            server.answer(request)
            send({"seconds": time.perf_counter() - started})
        except Refused as refusal:
            send({"error": str(refusal)})
        except Exception as error:
            send({"error": explain(error, "the module")})


main()
