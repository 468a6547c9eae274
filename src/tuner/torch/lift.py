# SPDX-FileCopyrightText: 2026 The Hone Authors
# SPDX-License-Identifier: Apache-2.0
"""Captures the work that a module's forward gives the GPU, as a plan for player.py. Stands behind device_plan.py and driver.py in a
stage's script.

Three things are prepared before PyTorch uses the GPU: PyTorch allocates from a range of addresses that the player reserves too;
every module of device code that is loaded is copied; and code that nvcc compiles launches on the thread's own default stream
instead of the legacy one, which cannot be captured. Then forward is run a few times on that stream, so that everything that is
compiled or set up lazily exists. Then it is run once more while the stream is captured into a graph, in which nothing executes. The
graph's nodes, the modules, and the contents of memory before the capture make the plan.

All this happens in a process that runs the submission's code and is not trusted: a plan is judged by what it computes in the player.
"""
import bisect
import copy
import gc

PER_THREAD_STREAM = 2  # cudaStreamPerThread, a handle with this value
WARM_UPS = 3
MOST_KEPT = 3 << 30  # bytes of memory's contents in a plan; the sandbox limits a file to 4 GiB
PIECE_BYTES = 4 << 20  # what is copied from the GPU to a plan at a time
NODE_KINDS = {3: "a call on the host", 4: "a graph within the graph", 6: "a wait for an event", 7: "an event", 8: "a signal to outside",
              9: "a wait for outside", 10: "an allocation of the driver's", 11: "a deallocation of the driver's", 12: "operations on words",
              13: "a condition"}


class NotLifted(Exception):
    """forward cannot be captured as work for the GPU alone; the message says why, in a sentence."""


class Allocator:
    """Serves PyTorch's allocations from one reservation: by the smallest block that the same stream has freed and that is not much
    too large, else by new memory at the end.

    Between two blocks are at least GUARD bytes that belong to neither.
    """

    GUARD, ALIGN, CHUNK = 512, 512, 64 << 20

    def __init__(self, driver, ordinal, base, span):
        self.driver, self.mapper = driver, Mapper(driver, ordinal)
        if not self.mapper.reserve(base, span):
            raise NotLifted(f"the addresses from {base:#x} on are taken in this process")
        self.base, self.end, self.next, self.ready = base, base + span, base, base
        self.blocks = {}   # blocks in use, address: [bytes asked for, bytes taken, stream]
        self.free = {}     # freed blocks, stream: [(bytes, address)], sorted
        self.chunks = []   # memory that is mapped: [address, bytes]
        self.born = None   # {address: bytes} of blocks given since the capture began; None: no capture
        self.fault = None
        make, end = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p), \
            ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int, ctypes.c_void_p)
        self.callbacks = (make(self.give), end(self.take))  # must live as long as PyTorch may call them

    def install(self):
        """Makes PyTorch allocate its GPU memory here."""
        import torch
        made = torch._C._cuda_customAllocator(*(ctypes.cast(one, ctypes.c_void_p).value for one in self.callbacks))
        torch.cuda.memory.change_current_allocator(torch.cuda.memory._CUDAAllocator(made))

    def give(self, size, _, stream):
        """Allocates for PyTorch. Returns 0 if there is no memory; `fault` then says why.

        PyTorch takes 0 for an address, and its next kernel ends with an illegal memory access. So whatever comes after a fault is an error
        because of the fault, which is reported in its place.
        """
        try:
            return self.allocate(size, stream or 0)
        except Exception as error:  # an exception cannot pass through PyTorch from here
            self.fault = self.fault or str(error)
            return 0

    def allocate(self, size, stream):
        """Returns the address of a block of `size` bytes for a stream."""
        if size <= 0:
            return 0
        room = (size + self.ALIGN - 1) // self.ALIGN * self.ALIGN + self.GUARD
        free = self.free.setdefault(stream, [])
        place = bisect.bisect_left(free, (room, 0))
        if place < len(free) and free[place][0] <= room + room // 4 + 4096:
            room, address = free.pop(place)
        else:
            address = self.next
            if address + room > self.ready:
                more = max(self.CHUNK, address + room - self.ready)
                more = (more + Mapper.GRANULE - 1) // Mapper.GRANULE * Mapper.GRANULE
                if self.ready + more > self.end:
                    raise NotLifted("forward needs more addresses than are reserved")
                try:
                    self.mapper.map(self.ready, more)
                except DriverError as error:
                    if error.code != OUT_OF_MEMORY:
                        raise
                    raise NotLifted(f"the GPU's memory is full: beside {(self.ready - self.base) >> 20} MiB for the module and what it "
                                    f"computes, {(more + (1 << 20) - 1) >> 20} MiB are not free") from error
                self.chunks.append([self.ready, more])
                self.ready += more
            self.next = address + room
        self.blocks[address] = [size, room, stream]
        if self.born is not None:
            self.born[address] = max(size, self.born.get(address, 0))
        return address

    def around(self, blocks):
        """Returns the ranges of whole granules, [[address, bytes]] in order, that contain these blocks ({address: bytes}) and their guards."""
        ranges = []
        for address, size in sorted(blocks.items()):
            begin = address // Mapper.GRANULE * Mapper.GRANULE
            end = min(self.ready, (address + size + self.GUARD + Mapper.GRANULE - 1) // Mapper.GRANULE * Mapper.GRANULE)
            if ranges and begin <= ranges[-1][0] + ranges[-1][1]:
                ranges[-1][1] = max(ranges[-1][1], end - ranges[-1][0])
            else:
                ranges.append([begin, end - begin])
        return ranges

    def take(self, address, size, _, stream):
        """Takes a block back from PyTorch."""
        block = self.blocks.pop(address or 0, None)
        if block is not None:
            bisect.insort(self.free[block[2]], (block[1], address))


class Callback(ctypes.Structure):
    _fields_ = [("site", ctypes.c_int), ("name", ctypes.c_char_p), ("parameters", ctypes.POINTER(ctypes.c_void_p)),
                ("result", ctypes.POINTER(ctypes.c_int))]


class Resource(ctypes.Structure):
    _fields_ = [("context", ctypes.c_void_p), ("stream", ctypes.c_void_p), ("module", ctypes.c_void_p)]


class LoadedModule(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint32), ("size", ctypes.c_size_t), ("cubin", ctypes.c_void_p)]


class Modules:
    """Copies all device code that is loaded into this process, in callbacks of CUPTI."""

    RESOURCE, MODULE_LOADED, DRIVER, EXIT = 3, 6, 1, 1
    LOADS = {18: "file", 19: "image", 20: "image", 21: "image"}  # cuModuleLoad, cuModuleLoadData, …Ex, cuModuleLoadFatBinary

    def __init__(self):
        self.cubins = []     # in the order in which they were loaded
        self.by_handle = {}  # module's handle: its cubin, None if the loaded image was no cubin
        self.index, self.indexed = {}, 0
        self.fault = None
        library = self.cupti()
        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p)
        self.callback, self.subscriber = kind(self.told), ctypes.c_void_p()
        self.library = library
        if library.cuptiSubscribe(ctypes.byref(self.subscriber), self.callback, None) != 0:
            raise NotLifted("CUPTI's callbacks are taken, or not to be had")
        for domain, number in [(self.RESOURCE, self.MODULE_LOADED)] + [(self.DRIVER, number) for number in self.LOADS]:
            if library.cuptiEnableCallback(1, self.subscriber, domain, number) != 0:
                raise NotLifted("CUPTI's callbacks cannot be enabled")

    @staticmethod
    def cupti():
        """Returns CUPTI's library: PyTorch's own, which it loads for its profiler, or one beside PyTorch's libraries, or the toolkit's. PyTorch
        may still be loading."""
        import glob
        import importlib.util
        packages = os.path.dirname(os.path.dirname(importlib.util.find_spec("torch").origin))
        names = sorted(glob.glob(packages + "/nvidia/*/lib/libcupti.so.*")) + ["libcupti.so.13", "libcupti.so.12"]
        names += sorted(glob.glob("/usr/local/cuda/lib64/libcupti.so.*")) + sorted(glob.glob("/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.*"))
        for name in names:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
        raise NotLifted("libcupti is not there, which tells what device code is loaded")

    def told(self, _, domain, number, data):
        """Handles a callback: a module was loaded, or a call of the driver that loads one has returned."""
        try:
            if domain == self.RESOURCE and number == self.MODULE_LOADED:
                module = LoadedModule.from_address(Resource.from_address(data).module)
                self.cubins.append(ctypes.string_at(module.cubin, module.size))
            elif domain == self.DRIVER and number in self.LOADS:
                call = Callback.from_address(data)
                if call.site == self.EXIT and call.result[0] == 0:
                    handle = ctypes.c_void_p.from_address(call.parameters[0]).value
                    image = self.image(call.parameters[1], self.LOADS[number])
                    self.by_handle[handle] = image if image else None
        except Exception as error:  # an exception cannot pass through the driver
            self.fault = f"{type(error).__name__}: {error}"

    @staticmethod
    def image(address, kind):
        """Returns the cubin that a call has loaded from memory or from a file; None: the image has another form, such as PTX."""
        if kind == "file":
            with open(ctypes.string_at(address), "rb") as file:
                data = file.read()
            return data if data[:4] == b"\x7fELF" else None
        if ctypes.string_at(address, 4) != b"\x7fELF":
            return None
        return ctypes.string_at(address, Cubin.length(lambda at, count: ctypes.string_at(address + at, count)))

    def find(self, driver, function, name):
        """Returns the cubin that contains a kernel."""
        module = driver.made("cuFuncGetModule", function).value
        if self.by_handle.get(module):
            return self.by_handle[module]
        for cubin in self.cubins[self.indexed:]:
            try:
                parsed = Cubin(cubin)
            except Exception:
                continue
            for kernel in parsed.kernels:
                self.index.setdefault(kernel, []).append((cubin, parsed))
        self.indexed = len(self.cubins)
        found = self.index.get(name, [])
        if len({parsed.kernels[name] for _, parsed in found}) > 1:
            registers = attribute(driver, function, 4)
            found = [one for one in found if one[1].registers[name] == registers] or found
        if not found:
            raise NotLifted(f"the code of kernel {name[:200]} was not seen when it was loaded")
        return found[-1][0]


def attribute(driver, function, number):
    """Returns a CUfunction_attribute of a kernel."""
    value = ctypes.c_int()
    driver("cuFuncGetAttribute", ctypes.byref(value), number, function)
    return value.value


class Constants:
    """Makes a mode that records the tensors which forward copies from the host to the GPU. With `replay`, they are copied on the GPU
    instead, which can be captured."""

    @staticmethod
    def make():
        import torch
        from torch.overrides import TorchFunctionMode
        makers = (torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.to, torch.Tensor.cuda)

        class Mode(TorchFunctionMode):
            replay, kept, taken = False, [], 0

            def __torch_function__(self, function, kinds, arguments=(), keywords=None):
                keywords = keywords or {}
                if function not in makers or not arguments or (torch.is_tensor(arguments[0]) and arguments[0].is_cuda):
                    return function(*arguments, **keywords)
                source = arguments[0].clone() if torch.is_tensor(arguments[0]) else copy.deepcopy(arguments[0])
                if not self.replay:
                    made = function(*arguments, **keywords)
                    if torch.is_tensor(made) and made.is_cuda:
                        self.kept.append((function, source, made.clone()))
                    return made
                if self.taken < len(self.kept):
                    maker, before, made = self.kept[self.taken]
                    same = torch.equal(source, before) if torch.is_tensor(source) and torch.is_tensor(before) else \
                        not torch.is_tensor(source) and not torch.is_tensor(before) and source == before
                    if maker is function and same:
                        self.taken += 1
                        return made.clone()
                return function(*arguments, **keywords)

        mode = Mode()
        mode.kept = []
        return mode


class Lifter:
    KEPT_ATTRIBUTES = (2, 4, 5, 8, 9, 10, 11, 14)  # CUlaunchAttributeID: cooperative, clusters, priority, memory domains, shared memory
    FUNCTION_ATTRIBUTES = (8, 9, 14)               # CUfunction_attribute: dynamic shared memory, its share of the L1 cache, large clusters

    def __init__(self, ordinal, base, span):
        self.driver, self.ordinal = Driver(), ordinal
        self.driver("cuInit", 0)
        self.modules = Modules()
        self.context = self.driver.made("cuDevicePrimaryCtxRetain", ordinal)
        self.driver("cuCtxSetCurrent", self.context)
        self.memory = Allocator(self.driver, ordinal, base, span)  # PyTorch uses it after install()
        # Memory that the GPU can write to directly. It is small enough to stay in the processor's cache until it is written to a plan.
        address = self.driver.made("cuMemHostAlloc", PIECE_BYTES, 0).value
        self.piece = (ctypes.c_char * PIECE_BYTES).from_address(address)

    def install(self):
        """Makes the calling thread and PyTorch use what was prepared, perhaps by another thread."""
        self.driver("cuCtxSetCurrent", self.context)
        self.memory.install()

    def capture(self, forward, inputs):
        """Captures forward on inputs in the reservation, and returns (graph, results, {address: bytes} of the blocks before the capture)."""
        import torch
        stream = torch.cuda.ExternalStream(PER_THREAD_STREAM, device=torch.device("cuda", self.ordinal))
        with torch.no_grad(), torch.cuda.stream(stream):
            self.check_memory()  # for the weights and the inputs
            for _ in range(WARM_UPS):
                forward(*inputs)
                self.check_memory()
                stream.synchronize()
            try:
                return self.capture_once(forward, inputs)
            except NotLifted:
                self.check_memory()
                # forward may copy constants from the host to the GPU, which cannot be captured: it is run once to keep them on the GPU.
                constants = Constants.make()
                with constants:
                    forward(*inputs)
                    constants.replay = True
                    return self.capture_once(forward, inputs)

    def capture_once(self, forward, inputs):
        """Captures one call of forward, as capture() does, without keeping constants."""
        import torch
        torch.cuda.synchronize()
        gc.collect()
        gc.disable()
        before = {address: block[0] for address, block in self.memory.blocks.items()}
        self.memory.born = {}
        self.driver("cuStreamBeginCapture_v2", PER_THREAD_STREAM, 2)
        error = made = None
        try:
            result = forward(*inputs)
            made = [result] if isinstance(result, torch.Tensor) else list(result)
            made = [one.contiguous() for one in made]
        except Exception as caught:
            error = caught
        graph = ctypes.c_void_p()
        code = self.driver.attempt("cuStreamEndCapture", PER_THREAD_STREAM, ctypes.byref(graph))
        gc.enable()
        if isinstance(error, SystemError):  # an exception in the allocator's callbacks, whose own message is lost
            raise NotLifted("forward cannot be captured: it waits for the GPU, or copies from or to the host")
        if error is not None:
            raise NotLifted(f"forward cannot be captured: {told(error)}"[:1500])
        if code != 0 or not graph.value:
            raise NotLifted(f"forward cannot be captured (error {code}): it waits for the GPU, or leaves a stream that is not joined")
        self.check_memory()
        return graph, made, before

    def check_memory(self):
        """Raises NotLifted if memory could not be allocated."""
        if self.memory.fault:
            raise NotLifted(self.memory.fault)

    def export(self, graph, before, inputs, outputs):
        """Writes the plan of a captured graph. Returns its file's descriptor, and a summary of it."""
        self.writer, self.header = PlanWriter(), {"modules": [], "functions": []}
        self.module_numbers, self.function_numbers, self.foreign = {}, {}, {}
        nodes, edges = self.nodes(graph)
        ours = {address for address, _ in inputs}
        kept = [(address, size) for address, size in sorted(before.items()) if address not in ours]
        kept += sorted(self.foreign.items())
        if sum(size for _, size in kept) > MOST_KEPT:
            raise NotLifted(f"more than {MOST_KEPT >> 30} GiB lie in memory before forward")
        blocks = dict(before)
        for address, size in self.memory.born.items():
            blocks[address] = max(size, blocks.get(address, 0))
        self.memory.born = None
        chunks = self.memory.around(blocks)
        header = {**self.header, "base": self.memory.base, "bytes": self.memory.end - self.memory.base, "chunks": chunks,
                  "foreign": sorted(self.foreign.items()), "blocks": sorted(blocks.items()), "inputs": inputs, "outputs": outputs,
                  "kept": [[address, size, self.copied(address, size)] for address, size in kept], "nodes": nodes, "edges": edges}
        kinds = [node["kind"] for node in nodes]
        summary = {"kernels": kinds.count("kernel"), "other_nodes": len(kinds) - kinds.count("kernel"), "modules": len(header["modules"]),
                   "kept_bytes": sum(size for _, size in kept), "mapped_bytes": sum(size for _, size in chunks),
                   "foreign": len(self.foreign)}
        return self.writer.finish(header), summary

    def launch(self, graph):
        """Runs a captured graph once and destroys it."""
        executable = self.driver.made("cuGraphInstantiateWithFlags", graph, 0)
        self.driver("cuGraphLaunch", executable, PER_THREAD_STREAM)
        self.driver("cuCtxSynchronize")
        self.driver("cuGraphExecDestroy", executable)
        self.driver("cuGraphDestroy", graph)

    def copied(self, address, size):
        """Copies memory of the GPU into a blob and returns its number."""
        def pieces():
            for at in range(0, size, len(self.piece)):
                count = min(len(self.piece), size - at)
                self.driver("cuMemcpyDtoH_v2", self.piece, address + at, count)
                yield memoryview(self.piece)[:count]
        return self.writer.blob(pieces(), size)

    def nodes(self, graph):
        """Returns (nodes, edges) of a captured graph, in the form of the plan's header."""
        count = ctypes.c_size_t()
        self.driver("cuGraphGetNodes", graph, None, ctypes.byref(count))
        handles = (ctypes.c_void_p * max(1, count.value))()
        if count.value:  # the driver refuses an empty list
            self.driver("cuGraphGetNodes", graph, handles, ctypes.byref(count))
        handles = list(handles)[:count.value]
        nodes = []
        for handle in handles:
            kind = ctypes.c_int()
            self.driver("cuGraphNodeGetType", handle, ctypes.byref(kind))
            if kind.value == 0:
                nodes.append(self.kernel(handle))
            elif kind.value == 1:
                nodes.append(self.copy(handle))
            elif kind.value == 2:
                one = MemsetNode()
                self.driver("cuGraphMemsetNodeGetParams", handle, ctypes.byref(one))
                self.look_at(bytes(one))
                nodes.append({"kind": "memset", **{name: getattr(one, name) for name, _ in MemsetNode._fields_}})
            elif kind.value == 5:
                nodes.append({"kind": "empty"})
            else:
                raise NotLifted(f"the captured graph holds {NODE_KINDS.get(kind.value, f'a node of kind {kind.value}')}")
        self.driver("cuGraphGetEdges_v2", graph, None, None, None, ctypes.byref(count))
        number = {handle: i for i, handle in enumerate(handles)}
        sources, targets = (ctypes.c_void_p * max(1, count.value))(), (ctypes.c_void_p * max(1, count.value))()
        data = (EdgeData * max(1, count.value))()
        if count.value:
            self.driver("cuGraphGetEdges_v2", graph, sources, targets, data, ctypes.byref(count))
        return nodes, [[number[sources[i]], number[targets[i]], bytes(data[i]).hex()] for i in range(count.value)]

    def kernel(self, handle):
        """Returns the node of a kernel's launch."""
        node = KernelNode()
        self.driver("cuGraphKernelNodeGetParams_v2", handle, ctypes.byref(node))
        function = node.function
        if not function:
            function = self.driver.made("cuKernelGetFunction", node.kernel).value
        places, offset, size = [], ctypes.c_size_t(), ctypes.c_size_t()
        while self.driver.attempt("cuFuncGetParamInfo", function, len(places), ctypes.byref(offset), ctypes.byref(size)) == 0:
            places.append((offset.value, size.value))
        if node.parameters:
            parameters = [ctypes.string_at(node.parameters[i], size) for i, (_, size) in enumerate(places)]
        elif node.extra:
            buffer = node.extra[1]  # extra: [1 (a buffer follows), its address, 2 (its size follows), the size's address, 0]
            parameters = [ctypes.string_at(buffer + offset, size) for offset, size in places]
        else:
            parameters = []
        if len(parameters) != len(places):
            raise NotLifted("a kernel's parameters cannot be read")
        for one in parameters:
            self.look_at(one)
        attributes, value = {}, ctypes.create_string_buffer(64)
        for number in self.KEPT_ATTRIBUTES:
            ctypes.memset(value, 0, 64)
            if self.driver.attempt("cuGraphKernelNodeGetAttribute", handle, number, value) == 0 and any(value.raw):
                attributes[number] = value.raw.hex()
        if attributes.get(4, "").startswith("01000000" * 3) and attribute(self.driver, function, 10) == 0:
            del attributes[4]  # a cluster of one block is the same as no cluster, unless the kernel requires clusters
        return {"kind": "kernel", "function": self.function(function), "grid": list(node.grid), "block": list(node.block),
                "shared": node.shared, "parameters": [one.hex() for one in parameters], "attributes": attributes}

    def function(self, function):
        """Returns the number of a kernel's entry in the plan's header, and adds the entry, with the module, if it is new."""
        if function in self.function_numbers:
            return self.function_numbers[function]
        name = ctypes.c_char_p()
        self.driver("cuFuncGetName", ctypes.byref(name), function)
        text = name.value.decode()
        cubin = self.modules.find(self.driver, function, text)
        key = hash(cubin)
        if key not in self.module_numbers:
            module, values = self.driver.made("cuFuncGetModule", function), []
            for variable, _ in Cubin(cubin).variables:
                address, size = ctypes.c_uint64(), ctypes.c_size_t()
                if self.driver.attempt("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, variable.encode()) == 0:
                    values.append([variable, size.value, self.copied(address.value, size.value)])
            self.header["modules"].append({"cubin": self.writer.blob([cubin], len(cubin)), "globals": values})
            self.module_numbers[key] = len(self.header["modules"]) - 1
        attributes = {number: attribute(self.driver, function, number) for number in self.FUNCTION_ATTRIBUTES}
        self.header["functions"].append({"module": self.module_numbers[key], "name": text, "attributes": attributes})
        self.function_numbers[function] = len(self.header["functions"]) - 1
        return self.function_numbers[function]

    def copy(self, handle):
        """Returns the node of a copy within the GPU's memory."""
        node = CopyNode()
        self.driver("cuGraphMemcpyNodeGetParams", handle, ctypes.byref(node))
        for side in ("source", "target"):
            kind, address = getattr(node, side + "_type"), getattr(node, side + "_device")
            if kind not in (2, 4) or not self.of_device(address):
                raise NotLifted("the captured graph copies between the GPU and the host's memory")
        self.look_at(bytes(node))
        return {"kind": "copy", **{name: getattr(node, name) or 0 for name, _ in CopyNode._fields_}}

    def of_device(self, address):
        """Returns (begin, bytes) of the allocation of device memory that contains an address; None: there is none."""
        kind, begin, size = ctypes.c_uint(), ctypes.c_uint64(), ctypes.c_size_t()
        if self.driver.attempt("cuPointerGetAttribute", ctypes.byref(kind), 2, address) != 0 or kind.value != 2:
            return None
        if self.driver.attempt("cuPointerGetAttribute", ctypes.byref(begin), 11, address) != 0 or \
                self.driver.attempt("cuPointerGetAttribute", ctypes.byref(size), 12, address) != 0:
            return None
        return begin.value, size.value

    def look_at(self, data):
        """Records the device memory, not allocated by PyTorch, that the 64-bit words in a node's arguments point to."""
        for at in range(0, len(data) - 7, 8):
            word = int.from_bytes(data[at:at + 8], "little")
            if word < 1 << 32 or word >= 1 << 57 or self.memory.base <= word < self.memory.end:
                continue
            found = self.of_device(word)
            if found:
                self.foreign[found[0]] = found[1]
