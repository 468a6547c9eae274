# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""lift_test.py: tests what is lifted from a finished module, and how its plan is run again, on a fake driver that this file defines.

Needs no GPU and no PyTorch. The driver has memory at fixed addresses and kernels that are Python functions. A plan takes the
whole way: allocations by lift.py's allocator, the sealed file, the player's memory, graph, guards and times.
"""
import ctypes
import fcntl
import json
import os
import socket
import struct
import sys
import unittest
from unittest import mock

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "tuner", "torch")
room = {"__name__": "room"}
for name in ("problem", "frames", "driver", "device_plan", "lift", "stage", "player"):
    with open(os.path.join(SCRIPTS, name + ".py"), encoding="utf-8") as source:
        exec(compile(source.read().split("\ntry:\n    main()")[0], name + ".py", "exec"), room)

BASE, SPAN, OWN, GRANULE = 1 << 43, 1 << 30, 1 << 45, 2 << 20
room["Allocator"].CHUNK = GRANULE


def written(pointer, value, kind=ctypes.c_void_p):
    ctypes.cast(pointer, ctypes.POINTER(kind))[0] = value


class FakeDriver:
    """Imitates a GPU's driver in memory: reservations, mappings, modules of Python functions, graphs that run at once."""

    def __init__(self, kernels):
        self.kernels = kernels
        self.reserved, self.memory, self.room = [], {}, {}
        self.handles, self.next, self.free_at = {}, 100, 1 << 40
        self.launches, self.taken, self.most = 0, [], None  # most: bytes of memory that there are; None: any number
        self.order, self.kernels_launched, self.local = [], [], 0  # what was enqueued beside copies and fills; bytes of local memory of any function

    def __call__(self, name, *arguments):
        code = self.attempt(name, *arguments)
        if code != 0:
            raise room["DriverError"](name, code, f"error {code}")

    made, word = room["Driver"].made, room["Driver"].word

    def attempt(self, name, *arguments):
        call = getattr(self, name, None)
        return (call(*arguments) if call else 0) or 0

    def new(self, what):
        self.next += 1
        self.handles[self.next] = what
        return self.next

    def find(self, address, size):
        for begin, data in self.memory.items():
            if begin <= address and address + size <= begin + len(data):
                return data, address - begin
        raise room["DriverError"]("an access", 700, f"an illegal address {address:#x}")

    def read(self, address, size):
        data, at = self.find(address, size)
        return bytes(data[at:at + size])

    def write(self, address, value):
        data, at = self.find(address, len(value))
        data[at:at + len(value)] = value

    # -- memory
    def cuMemAddressReserve(self, out, size, alignment, address, flags):
        if address in self.taken:
            address += GRANULE
        self.reserved.append((address, size))
        written(out, address, ctypes.c_uint64)

    def cuMemAddressFree(self, address, size):
        self.reserved.remove((address, size))

    def cuMemCreate(self, out, size, properties, flags):
        if self.most is not None and size + sum(len(data) for data in self.memory.values()) > self.most:
            return room["OUT_OF_MEMORY"]
        written(out, self.new(size), ctypes.c_uint64)

    def cuMemMap(self, address, size, offset, handle, flags):
        if not any(begin <= address and address + size <= begin + length for begin, length in self.reserved) or size % GRANULE:
            return 1
        self.memory[address] = bytearray(os.urandom(16) * (size // 16))

    def cuMemUnmap(self, address, size):
        del self.memory[address]

    def cuMemAlloc_v2(self, out, size):
        self.free_at += (size + 4095) // 4096 * 4096 + 4096
        self.memory[self.free_at] = bytearray(size)
        written(out, self.free_at, ctypes.c_uint64)

    def cuMemFree_v2(self, address):
        del self.memory[address]

    def cuMemHostAlloc(self, out, size, flags):
        self.pinned = ctypes.create_string_buffer(size)
        written(out, ctypes.addressof(self.pinned))

    def cuMemHostGetDevicePointer_v2(self, out, pointer, flags):
        written(out, 4096, ctypes.c_uint64)

    def cuIpcOpenMemHandle_v2(self, out, handle, flags):
        written(out, int.from_bytes(bytes(handle)[:8], "little"), ctypes.c_uint64)

    def cuMemcpyHtoD_v2(self, address, source, size):
        self.write(address, ctypes.string_at(source, size))

    def cuMemcpyDtoH_v2(self, target, address, size):
        ctypes.memmove(target, self.read(address, size), size)

    def cuMemcpyDtoDAsync_v2(self, target, source, size, stream):
        self.write(target, self.read(source, size))

    def cuMemsetD8Async(self, address, value, count, stream):
        self.write(address, bytes([value]) * count)

    def cuMemsetD32Async(self, address, value, count, stream):
        self.write(address, struct.pack("<I", value) * count)

    # -- modules and graphs
    def cuDevicePrimaryCtxRetain(self, out, ordinal):
        written(out, 1)

    def cuStreamCreate(self, out, flags):
        written(out, 2)

    def cuEventCreate(self, out, flags):
        written(out, 3)

    def cuEventRecord(self, event, stream):
        self.order.append("event")

    def cuDeviceGetAttribute(self, out, number, device):
        written(out, {16: 3, 97: 1000, 39: 1536}[number], ctypes.c_int)  # processors, bytes of shared memory, threads of a processor

    def cuCtxGetLimit(self, out, limit):
        written(out, 1024, ctypes.c_uint64)

    def cuFuncGetAttribute(self, out, number, function):
        written(out, {3: self.local}[number], ctypes.c_int)

    def cuLaunchKernel(self, function, blocks, _, __, threads, ___, ____, shared, *more):
        self.order.append(self.handles[function.value][1])
        self.kernels_launched.append((self.handles[function.value][1], blocks, threads, shared))

    def cuEventElapsedTime(self, out, begin, end):
        written(out, 0.25, ctypes.c_float)

    def cuModuleLoadData(self, out, data):
        text = data if isinstance(data, bytes) else bytes(data)
        written(out, self.new({"text": text, "variables": {}}))

    def cuModuleUnload(self, module):
        for address in self.handles.pop(module.value)["variables"].values():
            del self.memory[address]

    def cuModuleGetGlobal_v2(self, out, size, module, name):
        variables = self.handles[module.value]["variables"]
        if name not in variables:
            address = ctypes.c_uint64()
            self.cuMemAlloc_v2(ctypes.byref(address), 8)
            variables[name] = address.value
        written(out, variables[name], ctypes.c_uint64)
        written(size, 8, ctypes.c_size_t)

    def cuModuleGetFunction(self, out, module, name):
        written(out, self.new((self.handles[module.value], name.decode())))

    def cuGraphCreate(self, out, flags):
        written(out, self.new({"nodes": [], "edges": []}))

    def add(self, out, graph, node):
        number = self.new(node)
        self.handles[graph.value]["nodes"].append(number)
        written(out, number)

    def cuGraphAddKernelNode_v2(self, out, graph, _, __, pointer):
        node = ctypes.cast(pointer, ctypes.POINTER(room["KernelNode"]))[0]
        module, name = self.handles[node.function]
        sizes = self.kernels[name][0]
        values = [ctypes.string_at(node.parameters[i], size) for i, size in enumerate(sizes)]
        self.add(out, graph, lambda: self.kernels[name][1](self, module, *(int.from_bytes(value, "little") for value in values)))

    def cuGraphAddMemsetNode(self, out, graph, _, __, pointer, context):
        node = room["MemsetNode"].from_buffer_copy(ctypes.cast(pointer, ctypes.POINTER(room["MemsetNode"]))[0])
        self.add(out, graph, lambda: self.write(node.address, node.value.to_bytes(4, "little")[:node.element] * node.width))

    def cuGraphAddEmptyNode(self, out, graph, _, __):
        self.add(out, graph, lambda: None)

    def cuGraphAddDependencies_v2(self, graph, sources, targets, data, count):
        self.handles[graph.value]["edges"] += [(sources[i], targets[i]) for i in range(count)]

    def cuGraphInstantiateWithFlags(self, out, graph, flags):
        written(out, graph.value)

    def cuGraphLaunch(self, executable, stream):
        graph = self.handles[executable.value]
        self.launches += 1
        self.order.append("graph")
        left = list(reversed(graph["nodes"]))  # the last node runs first, unless an edge says otherwise
        while left:
            node = next(one for one in left if not any(target == one and source in left for source, target in graph["edges"]))
            left.remove(node)
            self.handles[node]()


def add_kernel(driver, module, source, weight, out, count):
    """Computes out[i] = source[i] + weight[i] + the value of the module's variable."""
    constant, = struct.unpack("<q", driver.read(module["variables"][b"constant"], 8))
    for i in range(count):
        a, b = (struct.unpack("<i", driver.read(at + 4 * i, 4))[0] for at in (source, weight))
        driver.write(out + 4 * i, struct.pack("<I", (a + b + constant) & 0xffffffff))


def count_kernel(driver, module, counter, out):
    """Counts its launches in memory, and writes the count to out[0]."""
    value, = struct.unpack("<i", driver.read(counter, 4))
    driver.write(counter, struct.pack("<i", value + 1))
    driver.write(out, struct.pack("<i", value))


KERNELS = {"add": ([8, 8, 8, 4], add_kernel), "count": ([8, 8], count_kernel)}
COUNT = 100


class Lifting(unittest.TestCase):
    def setUp(self):
        self.driver = FakeDriver(KERNELS)
        room["Driver"] = lambda: self.driver
        self.player = object.__new__(room["Player"])
        self.player.driver, self.player.shared, self.player.plan, self.player.poison = self.driver, None, None, 0
        self.player.open({"ordinal": 0, "base": BASE, "span": SPAN, "own": OWN, "flush_bytes": 4096})
        shared = ctypes.c_uint64()
        self.driver.cuMemAlloc_v2(ctypes.byref(shared), 8192)
        self.shared = shared.value
        self.player.memory({"handle": shared.value.to_bytes(64, "little").hex(), "inputs": [[[0, 4 * COUNT]], [[1024, 4 * COUNT]]],
                            "outputs": [[[4096, 4 * COUNT]], [[5120, 4 * COUNT]]]})

    def plan(self, change=None, kernel="add", seal=True):
        """Returns the file of a plan of one kernel, as lift.py writes it: with memory by lift.py's allocator, on another driver."""
        stage = FakeDriver({})
        memory = room["Allocator"](stage, 0, BASE, SPAN)
        x, weight, out = (memory.allocate(4 * COUNT, 0) for _ in range(3))
        writer = room["PlanWriter"]()
        values = struct.pack(f"<{COUNT}i", *range(COUNT))
        word = lambda value: value.to_bytes(8, "little").hex()
        parameters = {"add": [word(x), word(weight), word(out), COUNT.to_bytes(4, "little").hex()], "count": [word(weight), word(out)]}[kernel]
        header = {"base": BASE, "bytes": SPAN, "chunks": memory.chunks, "foreign": [], "blocks": [[a, 4 * COUNT] for a in (x, weight, out)],
                  "kept": [[weight, 4 * COUNT, writer.blob([values], len(values))]], "inputs": [[x, 4 * COUNT]], "outputs": [[out, 4 * COUNT]],
                  "modules": [{"cubin": writer.blob([b"code"], 4), "globals": [["constant", 8, writer.blob([struct.pack("<q", 1000)], 8)]]}],
                  "functions": [{"module": 0, "name": kernel, "attributes": {"8": 0}}],
                  "nodes": [{"kind": "kernel", "function": 0, "grid": [1, 1, 1], "block": [1, 1, 1], "shared": 0, "parameters": parameters, "attributes": {}}],
                  "edges": []}
        if change:
            change(header, x, weight, out)
        return writer.finish(header)

    def load(self, descriptor):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            self.player.frames = room["Frames"](theirs.fileno())
            socket.send_fds(ours, [b"p"], [descriptor])
            os.close(descriptor)
            self.player.load({})

    def run_with(self, values, request=None):
        self.driver.write(self.shared, struct.pack(f"<{COUNT}i", *values))
        answer = self.player.run(request or {"guards": True})
        return answer, struct.unpack(f"<{COUNT}i", self.driver.read(self.shared + 4096, 4 * COUNT))

    def test_a_plan_runs_on_inputs_that_its_capture_never_saw(self):
        self.load(self.plan())
        for begin in (7, 70):
            answer, results = self.run_with(range(begin, begin + COUNT))
            self.assertIsNone(answer["guards"])
            self.assertEqual(results, tuple(begin + 2 * i + 1000 for i in range(COUNT)))

    def test_nothing_is_kept_between_launches(self):
        self.load(self.plan(kernel="count"))
        first = [self.run_with([0] * COUNT)[1] for _ in range(3)]
        self.assertEqual([results[0] for results in first], [0, 0, 0])
        # Elements that the kernel does not write hold the launch's poison, of which there are two.
        self.assertEqual({results[1] for results in first}, {struct.unpack("<i", struct.pack("<I", word))[0] for word in room["POISONS"]})

    def test_a_write_behind_a_tensor_is_seen(self):
        def longer(header, x, weight, out):
            header["nodes"][0]["parameters"][3] = (COUNT + 1).to_bytes(4, "little").hex()
        self.load(self.plan(longer))
        answer, _ = self.run_with(range(COUNT))
        self.assertIn("behind a tensor of 400 bytes", answer["guards"])

    def test_a_changed_input_comes_back_changed(self):
        def onto_input(header, x, weight, out):
            header["nodes"][0]["parameters"][2] = x.to_bytes(8, "little").hex()
        self.load(self.plan(onto_input))
        self.run_with(range(COUNT))
        self.assertNotEqual(struct.unpack(f"<{COUNT}i", self.driver.read(self.shared, 4 * COUNT)), tuple(range(COUNT)))

    def test_edges_order_the_nodes(self):
        def after_a_memset(header, x, weight, out):
            header["nodes"].append({"kind": "memset", "address": out, "pitch": 0, "value": 0, "element": 4, "width": COUNT, "height": 1})
            header["nodes"].append({"kind": "empty"})
            header["edges"] += [[1, 2, "00" * 8], [2, 0, "00" * 8]]
        self.load(self.plan(after_a_memset))
        self.assertEqual(self.run_with(range(COUNT))[1][5], 1010)

        def before_it(header, *places):
            after_a_memset(header, *places)
            header["edges"] = [[0, 1, "00" * 8]]
        self.load(self.plan(before_it))
        self.assertEqual(self.run_with(range(COUNT))[1][5], 0)

    def test_times_are_one_a_launch(self):
        self.load(self.plan())
        self.driver.write(self.shared, bytes(4 * COUNT))
        before = self.driver.launches
        self.assertEqual(self.player.time({"slots": [0, 0, 0], "kept": []})["times"], [250.0] * 3)
        self.assertEqual(self.driver.launches - before, 3)

    def test_timed_launches_have_the_inputs_of_their_slots_and_results_of_some_are_kept(self):
        self.load(self.plan())
        for slot in range(2):
            self.driver.write(self.shared + 1024 * slot, struct.pack(f"<{COUNT}i", *range(7000 * slot, 7000 * slot + COUNT)))
        results = lambda slot: struct.unpack(f"<{COUNT}i", self.driver.read(self.shared + 4096 + 1024 * slot, 4 * COUNT))
        answer = self.player.time({"slots": [0, 1, 0, 1], "kept": [1], "guards": True})
        self.assertEqual((len(answer["times"]), answer["guards"]), (4, None))
        self.assertEqual(results(0), (0,) * COUNT)
        self.assertEqual(results(1), tuple(7000 + 2 * i + 1000 for i in range(COUNT)))
        self.player.time({"slots": [0, 1], "kept": [0, 1]})
        self.assertEqual(results(0), tuple(2 * i + 1000 for i in range(COUNT)))

    def test_a_write_behind_a_tensor_is_seen_in_a_timed_launch(self):
        def longer(header, x, weight, out):
            header["nodes"][0]["parameters"][3] = (COUNT + 1).to_bytes(4, "little").hex()
        self.load(self.plan(longer))
        self.driver.write(self.shared, bytes(4 * COUNT))
        self.assertIn("behind a tensor of 400 bytes", self.player.time({"slots": [0, 0, 0], "kept": [0], "guards": True})["guards"])

    def test_shared_and_local_memory_are_filled_before_each_launch_and_outside_of_the_time(self):
        self.driver.local = 40
        self.load(self.plan())
        self.driver.write(self.shared, bytes(4 * COUNT))
        self.driver.order.clear()
        self.player.run({})
        self.player.time({"slots": [0, 0], "kept": []})
        fills = ["hone_scrub_shared", "hone_scrub_local"]
        self.assertEqual(self.driver.order, [*fills, "graph", *2 * [*fills, "hone_touch", "event", "graph", "event"]])
        # 3 processors of 1,536 threads, 1,000 bytes of shared memory for a block; frames of the function's 40 bytes and the stack's 1,024, rounded up
        shared, local = (next(one for one in self.driver.kernels_launched if one[0] == name) for name in fills)
        self.assertEqual((shared[1:], local[1:]), ((3, 1024, 1000), (9, 512, 0)))
        self.assertIn(b"frame[1072]", self.driver.handles[self.player.scrub.value]["text"])

    def test_memory_of_another_layout_takes_no_new_plan(self):
        self.load(self.plan())
        self.player.release({})
        larger = ctypes.c_uint64()
        self.driver.cuMemAlloc_v2(ctypes.byref(larger), 8192)
        self.player.memory({"handle": larger.value.to_bytes(64, "little").hex(), "inputs": [[[512, 4 * COUNT]]], "outputs": [[[2048, 4 * COUNT]]]})
        self.driver.write(larger.value + 512, struct.pack(f"<{COUNT}i", *range(COUNT)))
        self.player.run({})
        self.assertEqual(struct.unpack(f"<{COUNT}i", self.driver.read(larger.value + 2048, 4 * COUNT)), tuple(2 * i + 1000 for i in range(COUNT)))

    def test_a_second_plan_leaves_nothing_of_the_first(self):
        self.load(self.plan())
        mapped = len(self.driver.memory)
        self.load(self.plan())
        self.assertEqual(len(self.driver.memory), mapped)
        self.assertEqual(len([a for a in self.driver.memory if BASE <= a < BASE + SPAN]), 1)
        self.player.forget({})
        self.assertFalse([a for a in self.driver.memory if BASE <= a < BASE + SPAN])

    def test_a_failed_allocation_is_the_reason_whatever_comes_after_it(self):
        stage = FakeDriver({})
        stage.most = 3 * GRANULE
        memory = room["Allocator"](stage, 0, BASE, SPAN)
        self.assertEqual(memory.give(2 * GRANULE - 512, 0, None), BASE)
        self.assertEqual(memory.give(5 * GRANULE, 0, None), 0)
        self.assertEqual(memory.fault, "the GPU's memory is full: beside 4 MiB for the module and what it computes, 12 MiB are not free")
        self.assertEqual(len(stage.memory), 1, "nothing of the failed block is mapped")
        lifter = object.__new__(room["Lifter"])
        lifter.memory = memory
        with self.assertRaisesRegex(room["NotLifted"], "^the GPU's memory is full: "):
            lifter.check_memory()
        judged = object.__new__(room["Stage"])
        judged.lifter = lifter

        def illegal(request):
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

        for op in ("build", "draw", "run"):  # each of them may be the next to use the tensor at address 0
            with mock.patch.object(room["Stage"], op, lambda self, request: illegal(request)):
                self.assertEqual(judged.answer({"op": op}), {"error": memory.fault})
                memory.fault, fault = None, memory.fault
                self.assertIn("illegal memory access", judged.answer({"op": op})["error"])
                memory.fault = fault
        plan = os.memfd_create("plan")
        with mock.patch.object(room["Stage"], "lift", lambda self, request: {"plan": {}, "descriptor": plan}):
            self.assertEqual(judged.answer({"op": "lift"}), {"error": memory.fault})
        with self.assertRaises(OSError):  # the plan's file is closed
            os.fstat(plan)

    def test_plans_that_cannot_be_run_are_refused_with_the_reason(self):
        def elsewhere(header, *_):
            header["base"] = BASE + SPAN
        def outside(header, *_):
            header["chunks"] = [[BASE + SPAN, GRANULE]]
        def other_sizes(header, *_):
            header["outputs"][0][1] = 8
        for change, words in ((elsewhere, "other addresses"), (outside, "outside of its addresses"), (other_sizes, "other inputs or outputs")):
            with self.subTest(words), self.assertRaisesRegex(room["Broken"], words):
                self.load(self.plan(change))

    def test_memory_that_something_else_allocated_is_mapped_where_it_was(self):
        def foreign(header, x, weight, out):
            header["foreign"] = [[(1 << 44) + 512, 4 * COUNT]]
            header["kept"].append([(1 << 44) + 512, 4 * COUNT, 0])
            header["nodes"][0]["parameters"][1] = ((1 << 44) + 512).to_bytes(8, "little").hex()
        self.load(self.plan(foreign))
        self.assertEqual(self.run_with([0] * COUNT)[1][3], 1003)
        # If the address is taken, the plan is loaded without this memory, and a kernel that needs it fails.
        self.driver.taken.append(1 << 44)
        self.load(self.plan(foreign))
        with self.assertRaisesRegex(room["DriverError"], "illegal address"):
            self.run_with([0] * COUNT)

    def test_a_file_that_can_still_change_is_no_plan(self):
        descriptor = os.memfd_create("plan", os.MFD_ALLOW_SEALING)
        os.write(descriptor, b"HONELIFT" + bytes(100))
        with self.assertRaisesRegex(room["BadPlan"], "not sealed"):
            room["PlanFile"](descriptor)
        fcntl.fcntl(descriptor, room["ADD_SEALS"], room["SEALS"])
        with self.assertRaises(Exception):
            room["PlanFile"](descriptor)
        os.close(descriptor)

    def test_a_plan_that_is_cut_off_is_refused(self):
        header = json.dumps({"blobs": [[4096, 1 << 30]]}).encode()
        for place, length in ((4096, len(header)), (4096, len(header) + 1), (1 << 62, 1)):  # a blob, the header's end, and its place are outside
            descriptor = os.memfd_create("plan", os.MFD_ALLOW_SEALING)
            os.write(descriptor, (b"HONELIFT" + struct.pack("<QQ", place, length)).ljust(4096, b"\0") + header)
            fcntl.fcntl(descriptor, room["ADD_SEALS"], room["SEALS"])
            with self.assertRaisesRegex(room["BadPlan"], "cut off"):
                room["PlanFile"](descriptor)
            os.close(descriptor)


class Allocations(unittest.TestCase):
    def setUp(self):
        self.memory = room["Allocator"](FakeDriver({}), 0, BASE, SPAN)

    def test_blocks_have_guards_between_them_and_are_used_again_by_their_own_stream(self):
        a, b = self.memory.allocate(1000, 0), self.memory.allocate(1000, 0)
        self.assertGreaterEqual(b - (a + 1000), self.memory.GUARD)
        self.memory.take(a, 1000, 0, None)
        self.assertNotEqual(self.memory.allocate(1000, 2), a)  # another stream may still use the memory
        self.assertEqual(self.memory.allocate(990, 0), a)

    def test_a_small_request_does_not_take_a_large_block(self):
        a = self.memory.allocate(64 << 20, 0)
        self.memory.take(a, 64 << 20, 0, None)
        self.assertNotEqual(self.memory.allocate(512, 0), a)

    def test_what_does_not_fit_is_said_and_gives_no_address(self):
        self.assertEqual(self.memory.give(SPAN + 1, 0, None), 0)
        self.assertIn("addresses", self.memory.fault)

    def test_a_plan_maps_the_granules_of_its_blocks_and_no_others(self):
        small, large = self.memory.allocate(1000, 0), self.memory.allocate(5 * GRANULE, 0)
        unused = self.memory.allocate(5 * GRANULE, 0)
        last = self.memory.allocate(1000, 0)
        ranges = self.memory.around({small: 1000, last: 1000})
        self.assertEqual([begin for begin, _ in ranges], [BASE, last // GRANULE * GRANULE])
        self.assertTrue(all(begin % GRANULE == 0 and size % GRANULE == 0 for begin, size in ranges))
        self.assertFalse(any(begin <= unused + GRANULE < begin + size for begin, size in ranges))
        whole = self.memory.around({small: 1000, large: 5 * GRANULE, unused: 5 * GRANULE, last: 1000})
        self.assertEqual(whole, [[BASE, self.memory.ready - BASE]])

    def test_what_is_born_in_a_capture_is_known_with_its_largest_size(self):
        a = self.memory.allocate(1000, 2)
        self.memory.take(a, 1000, 0, 2)
        self.memory.born = {}
        self.assertEqual(self.memory.allocate(900, 2), a)
        self.memory.take(a, 900, 0, 2)
        self.assertEqual(self.memory.allocate(950, 2), a)
        self.assertEqual(self.memory.born, {a: 950})


def cubin(kernel, code, variable):
    """Returns an ELF file with one kernel and one variable, as small as possible."""
    names = b"\0.shstrtab\0.strtab\0.symtab\0.text." + kernel + b"\0.nv.global\0"
    strings = b"\0" + variable + b"\0"
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x11, 0, 5, 0, 8)
    parts, offset, sections = [names, strings, symbols, code], 64, [(0,) * 8]
    for part, (name, kind, link, info) in zip(parts, ((b".shstrtab", 3, 0, 0), (b".strtab", 3, 0, 0), (b".symtab", 2, 2, 0),
                                                      (b".text." + kernel, 1, 0, 40 << 24))):
        sections.append((names.index(name + b"\0"), kind, 0, 0, offset, len(part), link, info))
        offset += len(part)
    sections.append((names.index(b".nv.global"), 8, 0, 0, offset, 1 << 20, 0, 0))
    table = b"".join(struct.pack("<IIQQQQII", name, kind, flags, address, at, size, link, info) + bytes(16)
                     for name, kind, flags, address, at, size, link, info in sections)
    head = b"\x7fELF" + bytes(28) + struct.pack("<QQIHHHHHH", 0, offset, 0, 64, 0, 0, 64, len(sections), 1)
    return head + b"".join(parts) + table


class Cubins(unittest.TestCase):
    def test_kernels_and_variables_are_found(self):
        one = room["Cubin"](cubin(b"fused", b"code!", b"table"))
        self.assertEqual(one.kernels, {"fused": b"code!"})
        self.assertEqual(one.registers, {"fused": 40})
        self.assertEqual(one.variables, [("table", 8)])

    def test_a_cubin_in_memory_ends_where_its_last_part_does(self):
        data = cubin(b"fused", b"code!", b"table")
        more = data + b"something else"
        self.assertEqual(room["Cubin"].length(lambda at, count: more[at:at + count]), len(data))

    def test_what_is_no_cubin_is_refused(self):
        with self.assertRaises(room["BadPlan"]):
            room["Cubin"](b"// PTX")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
