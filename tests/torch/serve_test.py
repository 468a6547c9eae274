# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""serve_test.py: tests what the judge's reference process keeps from one evaluation to the next. Needs PyTorch but no GPU.

The block of a GPU's memory that the judge shares with this process is a memory file here, which a stand-in for CUDA's driver maps.
"""
import mmap
import os
import socket
import struct
import sys
import unittest
from unittest import mock

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "tuner", "torch")
room = {"__name__": "room"}
for name in ("problem", "frames", "driver", "shapes", "costs", "serve"):
    with open(os.path.join(SCRIPTS, name + ".py"), encoding="utf-8") as source:
        exec(compile(source.read().split("\ntry:\n    main()")[0], name + ".py", "exec"), room)
import torch

PROBLEM = """
import torch
rows, width = 6, 5

class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cell = torch.nn.GRU(width, width, batch_first=True)
        self.norm = torch.nn.BatchNorm1d(width)
        self.out = torch.nn.Linear(width, width, bias=False)
        self.again = torch.nn.Linear(width, width)
        self.again.weight = self.out.weight
        self.offset = torch.full((width,), 0.25)

    def forward(self, x):
        made, _ = self.cell(x.unsqueeze(0))
        return self.again(self.out(self.norm(made.squeeze(0)))) + self.offset

def get_inputs():
    return [torch.rand(rows, width)]

def get_init_inputs():
    return [width]
"""


class Evaluations(unittest.TestCase):
    def setUp(self):
        problem = room["Problem"](PROBLEM, "problem.py")
        model, _ = problem.build({})
        self.state = [name for name, tensor in room["state_of"](model).items() if not room["counter"](name, tensor)]
        self.server = room["Server"]({"text": PROBLEM, "file": "problem.py", "class": "Model", "training": True, "inputs": [{"tensor": "x"}],
                                      "outputs": ["out"], "state": {name.replace(".", "_"): name for name in self.state}, "booleans": [],
                                      "sizes": {}})
        self.file = os.memfd_create("memory")
        room["MEMORY"] = self.file
        self.addCleanup(os.close, self.file)

    def evaluate(self, rows, width, seed):
        """Returns the server's results (out, running mean) and the module's own, in double precision, with drawn weights."""
        torch.manual_seed(seed)
        own, _ = room["Problem"](PROBLEM, "problem.py").build({"rows": rows, "width": width}, dtype=torch.float64)
        own.offset = own.offset.double()
        for tensor in room["state_of"](own).values():
            if tensor.is_floating_point():
                tensor.data = torch.rand(tensor.shape).double() + 0.1
        x = torch.rand(rows, width)
        given = {"x": x, **{name.replace(".", "_"): tensor.detach() for name, tensor in room["state_of"](own).items() if name in self.state}}
        tensors, results, at = [], [], 0
        for name, tensor in given.items():
            tensors.append({"name": name, "dtype": "float64" if name != "x" else "float32", "shape": list(tensor.shape), "offset": at})
            at += (tensor.numel() * tensor.element_size() + 255) // 256 * 256
        for name, shape in (("out", [rows, width]), ("norm_running_mean", [width])):
            results.append({"name": name, "shape": shape, "offset": at})
            at += (8 * shape[0] * (shape[1] if len(shape) > 1 else 1) + 255) // 256 * 256
        os.ftruncate(self.file, max(at, os.fstat(self.file).st_size))
        memory = mmap.mmap(self.file, at)
        for one in tensors:
            data = given[one["name"]].contiguous().numpy().tobytes()
            memory[one["offset"]:one["offset"] + len(data)] = data
        self.server.answer({"dims": {"rows": rows, "width": width}, "tensors": tensors, "results": results, "bytes": at})
        made = [torch.frombuffer(memory, dtype=torch.float64, count=max(1, torch.Size(one["shape"]).numel()), offset=one["offset"]).reshape(one["shape"]).clone()
                for one in results]
        with torch.no_grad():
            right = own(x.double())
        return made, [right, own.norm.running_mean]

    def test_modules_of_many_sizes_are_kept_without_their_weights_and_answer_with_the_tasks(self):
        with mock.patch.object(self.server.problem, "build", wraps=self.server.problem.build) as build:
            for seed, (rows, width) in enumerate([(6, 5), (3, 4), (6, 5), (3, 4), (7, 5), (6, 5)]):
                made, right = self.evaluate(rows, width, seed)
                for mine, wanted in zip(made, right):
                    self.assertLess((mine - wanted).abs().max().item(), 1e-12, f"{rows} x {width}, seed {seed}")
            self.assertEqual(build.call_count, 3)
        for model in self.server.models.values():
            held = [name for name, tensor in room["state_of"](model).items() if tensor.numel() > 1]
            self.assertEqual(held, [], "a kept module holds no weights")

    def test_a_module_for_given_weights_draws_none_and_leaves_the_initialisers_as_they_were(self):
        plain = torch.nn.init.kaiming_uniform_
        with mock.patch.object(torch.nn.init, "kaiming_uniform_", wraps=plain) as draw:
            model = room["bare_model"](self.server.problem, {}, "float64", "cpu", self.state)
            self.assertEqual(draw.call_count, 0)
            self.assertIs(torch.nn.init.kaiming_uniform_, draw)
            self.assertEqual((model.out.weight.dtype, model.out.weight.numel(), model.offset.dtype, model.offset.tolist()),
                             (torch.float64, 0, torch.float64, [0.25] * 5))
            room["model_for"](self.server.problem, {})
            self.assertEqual(draw.call_count, 2)

    def test_a_module_that_reads_no_size_is_made_once(self):
        def needs(body, added=""):
            text = f"import math\nrows, width = 6, 5\nheads = 2 * width\n{added}\nclass Model:\n    def forward(self, x):\n        return {body}\n" \
                   "def get_inputs():\n    return [rows, width]\ndef get_init_inputs():\n    return []\n"
            return room["Problem"](text, "problem.py").model_needs_sizes()

        self.assertFalse(needs("x * math.pi"))
        for body, added in (("x * width", ""), ("x * heads", ""), ("x * half()", "def half():\n    return rows / 2"), ("x * globals()['rows']", ""),
                            ("x * math.sqrt(eval('rows'))", ""), ("x * sys.modules[__name__].rows", "import sys")):
            self.assertTrue(needs(body, added), body)
        self.assertTrue(self.server.needs_sizes)
        text = PROBLEM.replace("rows, width = 6, 5", "rows, columns = 6, 5").replace("(rows, width)", "(rows, columns)").replace("[width]", "[5]")
        plain = room["Server"]({"text": text, "file": "problem.py", "class": "Model", "training": True, "state": {}})
        self.assertIs(plain.model({"rows": 2, "width": 5}, "float64", "cpu"), plain.model({"rows": 3, "width": 5}, "float64", "cpu"))

    def test_no_more_modules_are_kept_than_the_limit(self):
        for rows in range(2, 2 + room["MOST_MODELS"] + 3):
            self.server.model({"rows": rows, "width": 2}, "float64", "cpu")
        self.assertEqual(len(self.server.models), room["MOST_MODELS"])


class FakeDriver:
    """Stands in for CUDA's driver: a block is a memory file, and `mapped` holds the mappings by address."""

    made, word, __call__ = room["Driver"].made, room["Driver"].word, room["Driver"].__call__

    def __init__(self):
        self.next, self.reserved, self.handles, self.mapped, self.fails = 1 << 30, {}, {}, {}, None

    def attempt(self, name, *arguments):
        return 2 if name == self.fails else getattr(self, name)(*arguments) or 0

    def cuGetErrorName(self, code, out):
        out._obj.value = b"CUDA_ERROR_OUT_OF_MEMORY"

    def cuMemImportFromShareableHandle(self, out, descriptor, kind):
        self.next += 1 << 30
        self.handles[self.next] = os.dup(descriptor)
        out._obj.value = self.next

    def cuMemAddressReserve(self, out, size, alignment, address, flags):
        self.next += 1 << 30
        self.reserved[self.next] = size
        out._obj.value = self.next

    def cuMemAddressFree(self, address, size):
        assert self.reserved.pop(address) == size and address not in self.mapped

    def cuMemMap(self, address, size, offset, handle, flags):
        assert self.reserved[address] == size == os.fstat(self.handles[handle]).st_size
        self.mapped[address] = mmap.mmap(self.handles[handle], size)

    def cuMemSetAccess(self, address, size, access, count):
        assert address in self.mapped

    def cuMemUnmap(self, address, size):
        return 0 if self.mapped.pop(address, None) else 1

    def cuMemRelease(self, handle):
        os.close(self.handles.pop(handle))


class SharedMemory(unittest.TestCase):
    def setUp(self):
        self.driver = FakeDriver()
        text = "import torch\nrows = 6\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        return x * 2 + 1\n" \
               "def get_inputs():\n    return [torch.rand(rows)]\n"
        self.server = room["Server"]({"text": text, "file": "problem.py", "class": "Model", "training": True, "inputs": [{"tensor": "x"}],
                                      "outputs": ["out"], "state": {}, "booleans": [], "sizes": {}})
        self.server.job["gpu"], self.server.gpu, self.server.most_kept = 0, "cpu", 4096
        self.free = 1 << 30

        def tensor_at(address, size):
            return torch.frombuffer(self.driver.mapped[address], dtype=torch.uint8, count=size)

        for patch in (mock.patch.object(torch.cuda, "synchronize"), mock.patch.object(torch.cuda, "empty_cache"),
                      mock.patch.object(torch.cuda, "mem_get_info", lambda _: (self.free, 1 << 30)),
                      mock.patch.object(self.server, "tensor_at", tensor_at), mock.patch.dict(room, {"Driver": lambda: self.driver})):
            patch.start()
            self.addCleanup(patch.stop)

    def block(self, size):
        descriptor = os.memfd_create("block")
        self.addCleanup(os.close, descriptor)
        os.ftruncate(descriptor, size)
        return descriptor, mmap.mmap(descriptor, size)

    def evaluate(self, memory, values):
        """Returns the server's results for these inputs, which the judge writes to its own mapping of the block."""
        memory[:4 * len(values)] = torch.tensor(values).numpy().tobytes()
        self.server.answer({"dims": {"rows": len(values)}, "tensors": [{"name": "x", "dtype": "float32", "shape": [len(values)], "offset": 0}],
                            "results": [{"name": "out", "shape": [len(values)], "offset": 256}], "bytes": 256 + 8 * len(values), "shared": True})
        return torch.frombuffer(memory, dtype=torch.float64, count=len(values), offset=256).tolist()

    def test_a_block_stays_mapped_for_all_evaluations_until_another_replaces_it(self):
        descriptor, memory = self.block(4096)
        self.assertTrue(self.server.share(4096, [descriptor]))
        (address,) = self.driver.mapped
        for values in ([1.0, 2.0], [3.0], [5.0, 6.0, 7.0]):
            self.assertEqual(self.evaluate(memory, values), [2 * value + 1 for value in values])
            self.assertEqual(list(self.driver.mapped), [address])
        larger, wider = self.block(8192)
        before = bytes(memory)
        self.assertTrue(self.server.share(8192, [larger]))
        self.assertNotIn(address, self.driver.mapped)
        self.assertEqual((len(self.driver.mapped), len(self.driver.reserved), len(self.driver.handles)), (1, 1, 1), "nothing of the first block is held")
        self.assertEqual(self.evaluate(wider, [9.0]), [19.0])
        self.assertEqual(bytes(memory), before, "the first block is written no more")
        self.assertFalse(self.server.share(0, []))
        self.assertEqual((self.driver.mapped, self.driver.reserved, self.driver.handles), ({}, {}, {}))

    def test_without_room_for_the_module_no_block_is_mapped(self):
        descriptor, _ = self.block(4096)
        self.free = 3 * 4096
        self.assertFalse(self.server.share(4096, [descriptor]))
        self.assertEqual((self.driver.mapped, self.driver.handles), ({}, {}))
        self.free = 4 * 4096
        self.assertTrue(self.server.share(4096, [descriptor]))

    def test_a_block_that_cannot_be_mapped_leaves_nothing(self):
        descriptor, _ = self.block(4096)
        for self.driver.fails in ("cuMemImportFromShareableHandle", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"):
            with self.assertRaisesRegex(room["DriverError"], f"{self.driver.fails} gave CUDA_ERROR_OUT_OF_MEMORY"):
                self.server.share(4096, [descriptor])
            self.assertEqual((self.driver.mapped, self.driver.reserved, self.driver.handles), ({}, {}, {}), self.driver.fails)
            self.assertIsNone(self.server.shared)
        self.driver.fails = None
        with mock.patch.object(self.server, "tensor_at", side_effect=RuntimeError("a copy")), self.assertRaisesRegex(RuntimeError, "a copy"):
            self.server.share(4096, [descriptor])
        self.assertEqual((self.driver.mapped, self.driver.reserved, self.driver.handles), ({}, {}, {}))
        self.assertTrue(self.server.share(4096, [descriptor]))


class Descriptors(unittest.TestCase):
    def test_a_frame_may_bring_a_descriptor_where_one_is_expected(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            frames = room["Frames"](theirs.fileno())
            text = b'{"share": 4096}'
            head = struct.pack("<4sIII", b"HNF1", len(text), 0, 1)
            read, write = os.pipe()
            for cut in (16, 3, 31):  # a stream may come in pieces
                socket.send_fds(ours, [(head + text)[:cut]], [read])
                ours.send((head + text)[cut:] + struct.pack("<4sIII", b"HNF1", 2, 0, 0) + b"{}")
                self.assertEqual(frames.receive(descriptors=1), {"share": 4096})
                (descriptor,) = frames.received
                os.write(write, b"x")
                self.assertEqual(os.read(descriptor, 1), b"x")
                os.close(descriptor)
                self.assertEqual((frames.receive(descriptors=1), frames.received), ({}, []))
            socket.send_fds(ours, [head + text], [read])
            with self.assertRaises(ValueError):
                frames.receive()
            frames.peer.close()
            os.close(read)
            os.close(write)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(unittest.main())
